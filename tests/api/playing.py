"""Every kind of player, on boards so small that a game takes a moment."""

TWO_PLAYERS = [
    ("othello", "4x4", {"depth": 2}),
    ("othello", "4x4", {"depth": 1, "evaluation": "discs"}),
    ("othello", "4x4", {"exact": True}),
    ("othello", "4x4", {"depth": 3, "algorithm": "minimax"}),
    ("othello", "4x4", {"depth": 3, "ordering": "static"}),
    ("othello", "4x4", {"nodes": 300}),
    ("othello", "4x4", {"algorithm": "random"}),
    ("connect4", "4x4", {"depth": 4}),
    ("connect4", "4x5", {"exact": True}),
    ("connect4", "4x4", {"depth": 2, "algorithm": "minimax"}),
    ("connect4", "4x4", {"nodes": 200}),
]
AGAINST_CHANCE = [
    ("2048", "2x2", {"depth": 3}),
    ("2048", "2x2", {"algorithm": "expectiminimax", "depth": 3}),
    ("2048", "2x2", {"algorithm": "minimax", "depth": 3}),
    ("2048", "2x2", {"algorithm": "alphabeta", "depth": 3}),
    ("2048", "2x2", {"algorithm": "averaged", "depth": 2, "runs": 3}),
    ("2048", "2x2", {"algorithm": "ida", "nodes": 50, "runs": 3}),
    ("2048", "2x2", {"algorithm": "mcts", "nodes": 50, "runs": 3}),
    ("2584", "2x2", {"algorithm": "mcts", "evaluation": "playout", "nodes": 50, "runs": 2}),
    ("2048", "3x3", {"algorithm": "random"}),
    ("2584", "2x2", {"layers": 1}),
    ("2584", "2x2", {"algorithm": "alphabeta", "layers": 1}),
    ("2584", "2x3", {"algorithm": "random"}),
]
