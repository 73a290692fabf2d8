"""Sequential engines over any game: each begins a search, runs it in slices and reads its result."""
