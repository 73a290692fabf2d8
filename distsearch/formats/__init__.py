"""Files and texts: positions, records of games, checkpoints, answers and timelines, read and written."""
