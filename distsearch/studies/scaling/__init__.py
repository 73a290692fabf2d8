"""Scaling studies: which runs there are, how they are measured, and their table."""
