"""The runs of a scaling study: which points there are, checked before anything is measured."""

import functools
import hashlib
import itertools
import math
from typing import NamedTuple

from ... import games
from ...api.applicability import check
from ...api.chance import begun
from ...api.options import Options, resolve
from ...core.errors import UserError
from ...engines.pvs.table import DEFAULT_MIB
from ...formats.positions import Lines
from ...tree.policies import POLICIES

ALL_UP_TO = 8  # ranks: so few are all tried where none are named, beyond them their number doubles
# ten seconds and more on one rank: a position for the game's usual board, the limit, and the evaluation under that
_WORKS = {
    "othello": ("f5d6c3d3c4f4c5b3c2e6c6b4b5d2e3a6c1b6f3d1", {"depth": 18, "evaluation": "complex"}),
    "connect4": ("4444436", {"depth": 25}),
    "2048": ("2,4,8,16,4,2,4,32,8,0,2,64,4,2,8,128", {"layers": 7, "evaluation": "rows"}),
    "2584": ("1,3,8,21,0,1,5,34,0,0,3,55,0,0,0,144", {"layers": 6, "evaluation": "rows"}),
}
_SAME_WORK = "ranks", "policy", "load_factor", "prefetch", "table", "from_depth", "per_worker", "weak"


class GridRun(NamedTuple):
    """point: what a row has; options: an Options; positions: Positions; table: MiB for ``Ranks.session``."""

    point: dict
    repeat: int
    options: Options
    positions: list
    table: int | None


def work_of(point):
    """Return what of a point its scores depend on, as a text: nothing that shares out work or remembers it."""
    return repr(sorted((name, value) for name, value in point.items() if name not in _SAME_WORK))


def series_of(point):
    """Return all of a point that one curve over ranks has in common, a dict."""
    grown = {"depth": "depth", "positions": "positions"}.get(point["weak"])
    return {name: value for name, value in point.items() if name not in ("ranks", grown)}


def workers_of(ranks):
    """Return how many workers a number of ranks has: the first one is the master, unless it is alone."""
    return max(1, ranks - 1)


def default_ranks(size):
    """Return the numbers of ranks that a launch of so many tries."""
    if size <= ALL_UP_TO:
        return list(range(1, size + 1))
    doubled = [1 << i for i in range(size.bit_length())]
    return doubled if size in doubled else [*doubled, size]


def runs(args, size):
    """Return the Runs of all points and repeats that arguments ask for on a launch of so many ranks; raises UserError.

    args: as ``distsearch study scaling`` has them.
    """
    ranks = args.ranks or default_ranks(size)
    if max(ranks) > size:
        raise UserError(f"ranks {max(ranks)} is more than this launch has: {size}")
    found = {}
    for board, policy in itertools.product(args.board or [None], _policies(args)):
        for load_factor, prefetch in itertools.product(_load_factors(args, policy), args.prefetch or [2]):
            sharing = {"policy": policy, "load_factor": load_factor, "prefetch": prefetch}
            for count in ranks:
                run = _run(args, board, sharing, count, max(ranks))
                found[repr(sorted(run.point.items(), key=str))] = run
    return [run._replace(repeat=repeat) for run in found.values() for repeat in range(args.repeats)]


def _policies(args):
    if args.policy is not None:
        return args.policy
    tabled = args.algorithm in (None, "alphabeta") and args.ordering is None
    return ["split", "pool"] if tabled and not _against_chance(args) else ["pool"]


def _against_chance(args):
    return games.find(args.game).PLAYERS == 1


def _load_factors(args, policy):
    """Return the load factors of a policy, None for the usual one, or where there is none to choose."""
    if args.load_factor is None:
        return [None]
    ahead = {name for name in _policies(args) if _against_chance(args) or POLICIES[name].expands_ahead}
    if not ahead:
        raise UserError("load-factor goes with the policies pool and window")
    return args.load_factor if policy in ahead else [None]


def _run(args, board, sharing, ranks, most):
    """Return the first of the Runs of one point."""
    limit = _limit(args)
    if args.weak_scaling == "depth":
        limit = _grown(args, limit, ranks)
    given = {**limit, **{name: value for name, value in sharing.items() if value is not None}}
    for name in ("algorithm", "evaluation", "ordering", "min_probability"):
        if getattr(args, name) is not None:
            given[name] = getattr(args, name)
    options, module, rules = resolve(args.game, board, args.rules, **given)
    check(options, {"table": args.table})
    tabled = options.tabled
    point = {
        "game": args.game,
        "board": "{}x{}".format(*options.board),
        **options.rules,
        "depth": options.depth,
        "exact": options.exact,
        "algorithm": options.algorithm,
        "evaluation": options.evaluation,
        "ordering": options.ordering,
        "min_probability": options.min_probability,
        "ranks": ranks,
        **sharing,
        "table": (args.table or DEFAULT_MIB) if tabled else 0,
        "weak": args.weak_scaling,
    }
    if args.weak_scaling == "depth":
        point["from_depth"] = options.depth - _more(ranks)
    positions = _positions(args, options, module, rules, point, most)
    return GridRun(point, 0, options, positions, args.table if tabled else 0)


def _limit(args):
    given = {name: getattr(args, name) for name in ("depth", "layers", "exact") if getattr(args, name) is not None}
    if given:
        return given
    if args.game not in _WORKS:
        raise UserError(f"study scaling {args.game} needs --depth or --exact")
    return _WORKS[args.game][1]


def _more(ranks):
    """Return by how many plies weak scaling is deeper: one for each doubling of the workers."""
    return int(math.log2(workers_of(ranks)))


def _grown(args, limit, ranks):
    if _against_chance(args) or "depth" not in limit:
        raise UserError("weak-scaling depth goes with a depth, in games of two players; positions go with all")
    return {**limit, "depth": limit["depth"] + _more(ranks)}


def _positions(args, options, module, rules, point, most):
    """Return the Positions of a run, and add to its point which they are."""
    if args.per_worker is not None and args.weak_scaling != "positions":
        raise UserError("per-worker goes with --weak-scaling positions")
    if args.positions is None:
        if args.weak_scaling == "positions":
            raise UserError("weak-scaling positions needs --positions FILE, of which every worker gets as many")
        position = _position(args, options, module, rules)
        point["position"], point["positions"] = module.text(position, rules), 1
        return [position]
    if args.position is not None:
        raise UserError("position and --positions exclude each other")
    positions, point["file"] = _of_file(args.positions, args.game, options.board, tuple(options.rules.items()))
    if args.weak_scaling == "positions":
        point["per_worker"] = args.per_worker or len(positions) // workers_of(most)
        if not point["per_worker"]:
            raise UserError(f"{args.positions} has {len(positions)} positions, fewer than there are workers")
        if point["per_worker"] * workers_of(most) > len(positions):
            raise UserError(
                f"per-worker {args.per_worker}: {args.positions} has {len(positions)} positions, too few for "
                f"{workers_of(most)} workers"
            )
        positions = positions[: point["per_worker"] * workers_of(point["ranks"])]
    point["positions"] = len(positions)
    return positions


def _position(args, options, module, rules):
    text = args.position
    if text is None and args.game in _WORKS and options.board == module.BOARDS[1]:
        text = _WORKS[args.game][0]
    text = text or "startpos"
    return begun(module, text, module.parse(text, rules), rules, args.seed)


@functools.lru_cache(maxsize=16)
def _of_file(path, game, board, own):
    """Return (the Positions of a file, a name for what it holds: its digest); raises UserError at a bad line."""
    module = games.find(game)
    rules = module.rules(board, **dict(own))
    try:
        file = open(path, "rb", buffering=0)  # noqa: SIM115, closed below; unlike os.open it refuses a folder
    except (OSError, ValueError) as error:
        raise UserError(f"cannot read {path[:200]}: {getattr(error, 'strerror', None) or error}") from error
    positions = []
    with file:
        lines = Lines(module, rules, file.fileno())
        while not lines.ended:
            chunk = lines.read(1 << 12, wait=0.1)
            if chunk is None:
                continue
            for index, text in chunk.errors:
                raise UserError(f"{path[:200]}: line {chunk.first + index}: {text}")
            positions += [chunk.position(index) for index in range(chunk.size) if chunk.good[index]]
    if not positions:
        raise UserError(f"{path[:200]} holds no position")
    texts = "\n".join(module.text(position, rules) for position in positions)
    return positions, hashlib.sha256(texts.encode()).hexdigest()[:16]
