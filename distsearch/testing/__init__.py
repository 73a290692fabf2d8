"""What the tests of games share; shipped, so that a game of another package can be held to the same contract."""
