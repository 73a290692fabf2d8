"""An agent for Kaggle's ConnectX: the column that a search finds in most of the time that a move may take.

python examples/kaggle_connectx.py

plays a game between it and Kaggle's own agent, with ``kaggle-environments`` installed. Elsewhere ``agent`` is all that
a program needs. The first move on a machine compiles for some seconds, which come off ``remainingOverageTime``.
"""

import atexit
import contextlib
from typing import Any

import distsearch

_SHARE = 0.8  # of the time of a move
_FOUR = 4
_STACK = contextlib.ExitStack()
SESSION = _STACK.enter_context(distsearch.Session())
atexit.register(_STACK.close)


def agent(observation: Any, configuration: Any) -> int:
    """Return the number of the column, from 0 on, to drop a stone into.

    observation: ``board``, a list of 0, 1 and 2 row by row from the top, and ``mark``, whose turn it is, 1 or 2;
    configuration: ``rows``, ``columns``, ``inarow`` and ``actTimeout``, in seconds. Raises ValueError unless four in a
    row win.
    """
    if configuration.inarow != _FOUR:
        raise ValueError(f"inarow {configuration.inarow}: it is Connect Four that is searched")
    stones = "".join("-XO"[stone] for stone in observation.board)
    found = SESSION.search(
        "connect4",
        f"{stones} {'XO'[observation.mark - 1]}",
        board=f"{configuration.rows}x{configuration.columns}",
        time=_SHARE * configuration.actTimeout,
    )
    if found.move is None:  # nothing was known in time
        return observation.board.index(0)
    return int(found.move, 36) - 1  # columns are named 1 to 9, then a, b, …


def main() -> None:
    try:
        from kaggle_environments import make
    except ImportError as error:
        raise SystemExit("it takes kaggle-environments (pip install kaggle-environments)") from error
    environment = make("connectx", debug=True)
    environment.run([agent, "negamax"])
    print(environment.render(mode="ansi"))


if __name__ == "__main__":
    main()
