"""Opening books: positions of a game's first plies with their scores and best moves."""
