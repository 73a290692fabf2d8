"""What goes with what: the one table of it, for every command, the service and the library.

A row holds for the options that it names, where these are given. Its predicate looks at what was asked, an ``Options``
or parsed arguments, and at the names and values of what was given; if it does not hold, the option is refused in the
words "OPTION goes with …" or "OPTION is for …". Commands stand in the table like options.
"""

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

from .. import games
from ..core.errors import UserError
from ..evaluation import PLAYOUT
from .declarations import shown

SAMPLED = "averaged", "ida", "mcts"
BY_NODES = "ida", "mcts"  # sampled runs without a depth


class Row(NamedTuple):
    """options: their names, with spaces between; fits(asked, given); reason: what follows the name in a refusal."""

    options: str
    fits: Callable[[Any, Mapping], bool]
    reason: str


def _two_players(o, given):
    return not o.against_chance


def _takes_table(o, given):
    """Whether the ranks of a host share a table under parsed arguments."""
    against_chance = o.game in games.names() and games.find(o.game).PLAYERS == 1
    with_table = "expectimax" if against_chance else "alphabeta"
    return o.algorithm in (None, with_table) and o.ordering is None and o.nodes is None


ROWS = (
    # games of one kind alone
    Row("exact window ordering", _two_players, "is for games of two players; {o.game} is a game against chance"),
    Row(
        "layers min_probability chance depth_by_empty",
        lambda o, given: o.against_chance,
        "is for games against chance, such as 2048; not for {o.game}",
    ),
    # algorithms of games against chance
    Row(
        "pruning par_depth",
        lambda o, given: o.has_adversary,
        "goes with expectiminimax, minimax and alphabeta in games against chance; not with {o.algorithm} in {o.game}",
    ),
    Row(
        "runs seed", lambda o, given: o.algorithm in SAMPLED, "goes with averaged, ida and mcts, not with {o.algorithm}"
    ),
    Row("width", lambda o, given: o.algorithm == "averaged", "goes with averaged, not with {o.algorithm}"),
    Row(
        "nodes",
        lambda o, given: not o.against_chance or o.algorithm in ("expectimax", *BY_NODES),
        "goes with expectimax, ida and mcts in a game against chance, not with {o.algorithm}",
    ),
    Row(
        "nodes",
        lambda o, given: o.algorithm not in BY_NODES or not o.timed,
        "goes without time and clock in {o.algorithm}",
    ),
    Row(
        "evaluation",
        lambda o, given: o.evaluation != PLAYOUT or o.algorithm == "mcts",
        "playout, games of random moves, goes with mcts",
    ),
    Row(
        "min_probability chance",
        lambda o, given: o.algorithm == "expectimax",
        "goes with expectimax, not with {o.algorithm}",
    ),
    Row(
        "load_factor",
        lambda o, given: o.algorithm not in SAMPLED,
        "goes with trees that are shared out, not with the sampled runs of {o.algorithm}",
    ),
    Row(
        "pruning",
        lambda o, given: o.algorithm == "expectiminimax",
        "goes with expectiminimax; {o.algorithm} prunes as its name says",
    ),
    Row(
        "depth layers",
        lambda o, given: o.algorithm not in BY_NODES,
        "goes without {o.algorithm}, which is limited by nodes (of each run) or time",
    ),
    # depths
    Row("layers", lambda o, given: "depth" not in given, "goes without depth: the one stands for the other"),
    Row(
        "depth_by_empty",
        lambda o, given: o.depth is not None and not o.deepening,
        "goes with depth or layers, and without time, clock and nodes",
    ),
    Row("par_depth", lambda o, given: not o.depth_by_empty, "goes without depth-by-empty: the depth must be known"),
    Row("par_depth", lambda o, given: o.load_factor is None, "goes without load-factor, in whose place it is"),
    Row("par_depth", lambda o, given: o.depth is not None, "goes with depth or layers"),
    # exact searches, and such as leave nodes out
    Row(
        "clock",
        lambda o, given: o.time is o.nodes is None and not o.exact,
        "goes without time, nodes and exact: it says how long each move is searched",
    ),
    Row("exact", lambda o, given: o.depth is o.time is o.nodes is None, "goes without depth, time and nodes"),
    Row("window", lambda o, given: o.solving, "goes with exact and alphabeta, and without ordering"),
    Row(
        "probcut_params",
        lambda o, given: o.selective is not None or o.tabled and not o.exact and o.depth is o.nodes is None,
        "goes with selective, or with a limit of time alone",
    ),
    Row("selective", _two_players, "is for games of two players; {o.game} is a game against chance"),
    Row(
        "exact",
        lambda o, given: o.selective in (None, 1),
        "goes without selective, which leaves out what is only likely not to matter",
    ),
    Row("selective", lambda o, given: o.tabled, "goes with alphabeta and its table, not with minimax or an ordering"),
    Row(
        "rank_cut",
        lambda o, given: o.algorithm == "alphabeta" and not o.exact and o.ordering in ("shallow", "shallow:1"),
        "goes with alphabeta and ordering shallow, by which moves were counted, to a depth, time or nodes",
    ),
    # policies
    Row(
        "policy",
        lambda o, given: (
            o.policy in ("pool", "brothers")
            if o.has_adversary
            else o.policy == "pool" or o.tabled or o.takes_table and o.policy == "split"
        ),
        "{o.policy} goes with the search with a table; pool goes with all",
    ),
    Row(
        "policy",
        lambda o, given: o.policy == "pool" or o.nodes is None,
        "{o.policy} goes without nodes, which must be repeatable; pool goes with them",
    ),
    Row(
        "policy",
        lambda o, given: not o.has_adversary or o.policy != "brothers" or o.pruned,
        "{o.policy} goes with alpha-beta: where nothing is pruned, no worker has to wait",
    ),
    # what a search runs on, and what is kept of it
    Row("table", _takes_table, "goes with alphabeta and expectimax, and without ordering and nodes"),
    Row(
        "device",
        lambda o, given: not given.get("submasters"),
        "gpu and auto go without submasters, whose first ranks do no jobs",
    ),
    Row("trace", lambda o, given: not given.get("submasters"), "goes without submasters, which have no timeline"),
    Row("resume", lambda o, given: "checkpoint" in given, "goes with checkpoint, which names the file to resume from"),
    Row("checkpoint", _two_players, "is for games of two players; {o.game} is a game against chance"),
    Row(
        "book",
        lambda o, given: o.asks_for_best and "trace" not in given,
        "goes with searches for the best move, by exact, time or no limit; not with depth, nodes, window, minimax, an "
        "ordering or trace",
    ),
    # commands
    Row(
        "search",
        lambda o, given: o.nodes is None or o.algorithm != "expectimax",
        "{o.game} goes without nodes, which depend on the number of workers: give depth, layers or time; "
        "nodes goes with ida and mcts, and with play",
    ),
    Row("search", lambda o, given: o.clock is None, "{o.game} goes without clock, which is for the moves of a game"),
    Row(
        "solve",
        lambda o, given: o.limited,
        "{o.game} needs depth, layers or time: in a game against chance no search is exact",
    ),
    Row(
        "seed_of_start",
        lambda o, given: o.runs is not None or o.against_chance and given.get("position", "startpos") == "startpos",
        "goes with startpos of a game against chance, and with averaged, ida and mcts",
    ),
    Row(
        "check",
        _two_players,
        "is for games of two players, whose scores are whole numbers; {o.game} is a game against chance",
    ),
    Row(
        "obf",
        lambda o, given: o.game == "othello" and o.exact and o.window is None,
        "is for exact searches of othello, whose scores are discs, without window",
    ),
    Row(
        "play", lambda o, given: o.limited, "needs depth, layers, nodes, time or clock: how much each move is searched"
    ),
    Row(
        "opponent openings random_plies sprt",
        _two_players,
        "is for games of two players; {o.game} is a game against chance",
    ),
    Row("record", lambda o, given: o.time is None, "goes without time: a record must be the same again"),
    Row(
        "tune",
        lambda o, given: o.time is None and o.against_chance,
        "is for games against chance whose evaluation has weights, with depth or layers",
    ),
    Row(
        "simulate",
        lambda o, given: not o.against_chance or o.takes_table,
        "goes with expectimax in a game against chance, not with {o.algorithm}",
    ),
    Row("explain", lambda o, given: o.tabled, "is for games of two players, searched with a transposition table"),
    Row(
        "explain",
        lambda o, given: not o.deepening,
        "goes with depth or exact: what ends by time or nodes is other work on other workers",
    ),
    # studies of scaling, and files of positions
    Row("per_worker", lambda o, given: o.weak_scaling == "positions", "goes with --weak-scaling positions"),
    Row("positions", lambda o, given: o.position is None, "goes without POSITION: the two exclude each other"),
)
_NAMES = {"seed_of_start": "seed"}  # options whose meaning is another one somewhere


def check(asked: Any, given: Mapping, rows: tuple[Row, ...] = ROWS) -> None:
    """Raise UserError for the first option given that does not go with what was asked.

    given: what to look at, by name; what is None or False counts as not given.
    """
    given = {name: value for name, value in given.items() if value is not None and value is not False}
    for row in rows:
        for name in row.options.split():
            if name in given and not row.fits(asked, given):
                raise UserError(f"{_NAMES.get(name, shown(name))} {row.reason.format(o=asked)}")
