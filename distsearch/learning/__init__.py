"""Learning: evaluations that come of playing."""
