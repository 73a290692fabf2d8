"""What can be asked of searches by sampled runs, checked: ``averaged`` and ``ida``."""

from .. import games
from ..core.errors import UserError
from ..engines import ida

ALGORITHMS = "averaged", "ida"
RUNS = {"averaged": 10, "ida": 16}  # unless asked for otherwise
WIDTH = 3
BOARDS = 20_000  # of a run of ida: 10 to 20 ms
_MOST_RUNS, _MOST_WIDTH = 10_000, 256


def check(options):
    """Check what is asked of sampled runs, and give what is not asked its default; raises UserError."""
    algorithm = options.algorithm
    if algorithm not in ALGORITHMS:
        if (options.runs, options.width, options.seed) != (None, None, None):
            raise UserError("runs, width and their seed go with the algorithms averaged (runs, width) and ida (runs)")
        return
    if options.min_probability is not None or options.chance is not None or options.load_factor is not None:
        raise UserError(f"min-probability, chance and load factor are not for {algorithm}, whose chance is sampled")
    options.runs = RUNS[algorithm] if options.runs is None else options.runs
    if not 1 <= options.runs <= _MOST_RUNS:
        raise UserError(f"runs {options.runs} is not a number from 1 to {_MOST_RUNS}")
    options.seed = options.seed or 0
    if options.seed < 0:
        raise UserError(f"seed {options.seed} is not a whole number from 0 on")
    (_check_averaged if algorithm == "averaged" else _check_ida)(options)


def _check_averaged(options):
    options.width = WIDTH if options.width is None else options.width
    if not 1 <= options.width <= _MOST_WIDTH:
        raise UserError(f"width {options.width} is not a number from 1 to {_MOST_WIDTH}")


def _check_ida(options):
    if not ida.plays(games.find(options.game)):
        raise UserError(f"ida is for games of sliding tiles, such as 2048; {options.game} is not one")
    if options.width is not None or options.depth is not None:
        raise UserError("ida goes without width, depth and layers: nodes, of each run, or time limit it")
    if options.nodes is not None and options.time is not None:
        raise UserError("ida goes with nodes or time, not with both")
    if options.nodes is None and options.time is None:
        options.nodes = BOARDS
