"""Studies of published reports: their figures beside ours."""
