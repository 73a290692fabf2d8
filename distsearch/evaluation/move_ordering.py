"""Settings of the shallow searches by which exact searches order a node's moves, see ``engines.pvs.move_ordering``."""

from typing import NamedTuple


class MoveOrdering(NamedTuple):
    """They change how many nodes an exact search takes, never its score."""

    least_left: int  # moves left in the game from which on moves are ordered so, at first by searches of 0 plies
    left_per_ply: int  # how many more moves left make the searches a ply deeper
    knowledge_weight: int  # units of the evaluation that a point of the game's own scores of moves counts


# of those tried best on FFO #40 to #44, and on 11 positions of 6×6 after 7 and 8 random moves
OTHELLO_8X8 = MoveOrdering(12, 3, 12)
OTHELLO_6X6 = MoveOrdering(11, 3, 8)
