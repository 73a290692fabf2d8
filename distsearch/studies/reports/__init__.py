"""Studies of published reports: their figures next to ours."""
