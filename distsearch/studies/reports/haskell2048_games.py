"""The trial of the report on 2048 in parallel Haskell (Columbia), as games: the same search in five ways.

All five find the same moves up to ties, so what differs is the time a move. Base and AB have one rank for each game;
the others search each move by all ranks, from the same par depth.
"""

from .haskell2048 import THEIRS
from .playing import Entrant, measurements, table_of
from .study import Exhibit, Plan, Study
from .tables import UNKNOWN

_SEARCH, _PARALLEL = "algorithm=expectiminimax,evaluation=haskell,depth=7", "par-depth=3"
_GAMES = 1, 20
_ENTRANTS = [
    Entrant("Base", f"{_SEARCH},pruning=none", _GAMES),
    Entrant("AB", f"{_SEARCH},pruning=alphabeta", _GAMES),
    Entrant("Par+Base", f"{_SEARCH},{_PARALLEL},pruning=none,policy=pool", _GAMES, "tree"),
    Entrant("Par+AB", f"{_SEARCH},{_PARALLEL},pruning=alphabeta,policy=pool", _GAMES, "tree"),
    Entrant("Brothers", f"{_SEARCH},{_PARALLEL},pruning=alphabeta,policy=brothers", _GAMES, "tree"),
]
_TRIALS = ", ".join(f"{way} {seconds:.2f}" for way, (seconds, _) in THEIRS.items())
_NOTE = (
    "Depth 7 in plies. A move with one legal reply is not searched. Theirs are mean seconds of a trial on 8 cores, "
    f"{_TRIALS}; whether a trial is a game is {UNKNOWN}."
)


def _sections(found, study_size):
    return [table_of(found, "Games by five ways to search", 512, _NOTE)]


_PLAYED = Plan(measurements(_ENTRANTS), (4, 10))
_EXHIBITS = (Exhibit("games", "7", "the trial as games, by five ways", (_PLAYED,), _sections),)
STUDY = Study("haskell2048-games", "2048 in parallel Haskell: its trial as games", _EXHIBITS)
