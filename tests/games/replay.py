"""Records played over by the games' plain twins."""

from distsearch import games

from .connect4_twin import Connect4Twin
from .othello_twin import OthelloTwin
from .sliding_twin import twin_of
from .test_contract import TicTacToeTwin


def twin(name, board):
    """The plain twin of a game; board: (rows, columns)."""
    plain = {"othello": OthelloTwin, "connect4": Connect4Twin, "tictactoe": lambda *_: TicTacToeTwin()}
    return plain[name](*board) if name in plain else twin_of(name, board)


def replayed(line):
    """Return (score for the side that moves first, last position, twin) of a line of a record (dict), move by move.

    Fails where a move is not legal or the game is not over at its end.
    """
    plain = twin(line["game"], games.parse_board(line["board"]))
    position, score, moves = plain.start(), 0, line["moves"].split()
    if "start" in line:  # it is found by playing the moves that lead there
        moves = path_to(plain, line["start"]) + moves
    for move in moves:
        assert move in plain.moves(position), (move, line)
        position, points = plain.play(position, move)
        score += points
    assert plain.kind(position) == "end"
    final = plain.final(position)
    return score + (-final if position[1] == "O" else final), position, plain


def path_to(plain, text):
    """Return moves of a twin from the start to the position of a text, which is a few plies away."""
    reached = [(plain.start(), [])]
    while reached:
        following = []
        for position, moves in reached:
            if plain.text(position) == text:
                return moves
            following += [(plain.play(position, m)[0], [*moves, m]) for m in plain.moves(position)]
        reached = following
    raise AssertionError(f"no way to {text}")
