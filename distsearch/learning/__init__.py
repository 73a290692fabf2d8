"""Learning: weights of evaluations that come of playing, and what a program learns of its own searches."""
