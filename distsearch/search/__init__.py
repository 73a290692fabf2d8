"""Sequential engines over any game."""
