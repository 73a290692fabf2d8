"""The comparison of the report on a 2048 solver on GPUs (Stony Brook), as games: depths 2 to 7 and their rivals.

Rivals are averaged search, minimax with alpha-beta, IDA*, and Monte-Carlo tree search, which the report leaves to
future work. Its depths, seconds and runs are not known here.
"""

from .playing import Entrant, measurements, table_of
from .study import Exhibit, Plan, Study
from .tables import UNKNOWN

_EVALUATION = "monotonicity+0.1*smoothness+2.7*free"
_GAMES = {2: (20, 100), 3: (20, 100), 4: (10, 100), 5: (10, 100), 6: (2, 100), 7: (1, 20)}
_RIVALS = {
    "averaged, 5 plies": "algorithm=averaged,depth=5",
    "minimax, 5 plies": "algorithm=alphabeta,depth=5",
    "minimax, 7 plies": "algorithm=alphabeta,depth=7",
    "IDA*": "algorithm=ida,runs=8,nodes=2000",
    "Monte-Carlo trees": "algorithm=mcts,runs=4,nodes=1000",
}
_PLAYOUTS = "algorithm=mcts,evaluation=playout,runs=4,nodes=5000"
_ENTRANTS = [
    Entrant(f"expectimax, {depth} plies", f"depth={depth},evaluation={_EVALUATION}", games)
    for depth, games in _GAMES.items()
]
_ENTRANTS.append(Entrant("expectimax, 5 moves a second", f"time=0.2,evaluation={_EVALUATION}", (1, 20)))
_ENTRANTS += [Entrant(label, f"{how},evaluation={_EVALUATION}", (2, 100)) for label, how in _RIVALS.items()]
_ENTRANTS.append(Entrant("Monte-Carlo trees, games of random moves", _PLAYOUTS, (2, 100)))
_NOTE = (
    "Each game has one rank, and all players the same seeds. Plies: of searches, on average; of IDA* moves to a larger"
    f" tile. Seconds are one rank's. The report's own are {UNKNOWN}; of 100 games it had 2048 in 80%."
)


def _sections(found, study_size):
    return [table_of(found, "Games by depth and by rivals", 2048, _NOTE)]


_PLAYED = Plan(measurements(_ENTRANTS), (12, 60))
_EXHIBITS = (
    Exhibit("games", "time-bounded play; methods", "games by depth, by time, and by rivals", (_PLAYED,), _sections),
)
STUDY = Study("gpu2048-games", "A 2048 solver on GPUs: its players' games", _EXHIBITS)
