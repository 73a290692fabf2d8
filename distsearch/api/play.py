"""Games against chance from end to end, spread over whatever cluster there is."""

from contextlib import nullcontext
from numbers import Integral
from typing import Any

from .. import games
from ..core.errors import UserError
from ..formats.game_records import GameRecords
from ..jobs.self_play import HANDED_OUT, GamesPool
from ..jobs.two_player import KINDS
from .applicability import check
from .compiling import Recipe, compile_with_notice
from .facts import Facts, compact
from .metrics import summary
from .options import CHANCES, DEEPEST, checked_seed
from .play_summary import Summary
from .run import run

_MOST_GAMES = 10**6
DEFAULT_GAMES = 100


def play(options, count, seed, cluster, progress, interrupted, record=None):
    """Play ``count`` games; return their Summary. Raises UserError for what makes no sense.

    Without a limit of time the games depend on options and seed (a whole number from 0 on) alone. record: the name of
    a file to make, with a line for each game, see ``GameRecords``.
    """
    game: Any = games.find(options.game)  # a ``ChanceGame`` whose tiles grow
    _check(options, count, record)
    checked_seed(seed)
    rules = game.rules(options.board, **options.rules)
    board = f"{options.board[0]}x{options.board[1]}"
    asked = {
        "game": game.NAME,
        "board": board,
        "evaluation": options.evaluation,
        "depth": options.depth,
        "min_probability": options.min_probability or 0.0,
        "chance": options.chance or CHANCES[0],
        "seed": seed,
    }
    limits = {"depth_by_empty": options.depth_by_empty, "node_limit": options.nodes, "time": options.time}
    asked |= {name: value for name, value in limits.items() if value}
    heading = {**asked, **options.rules}
    with nullcontext() if record is None else GameRecords(record, game, rules, heading) as records:
        setup = options.setup("game") | {"recorded": record is not None}
        runner = KINDS["game"](setup)
        compile_with_notice(options.game, runner.compile, progress, Recipe.of_setup(setup), interrupted)
        ended = None if records is None else records.add
        pool = GamesPool(game, rules, options.depth or DEEPEST, count, seed, ended)
        took = run(
            cluster, setup, pool, progress, interrupted, _describe(pool), prefetch=options.prefetch, **HANDED_OUT
        )
    over = sorted(pool.over, key=lambda played: played.number)
    return Summary(
        **asked,
        asked=count,
        scores=[played.score for played in over],
        largest=[game.largest(played.state, rules) for played in over],
        moves=pool.moves,
        nodes=pool.nodes,
        expanded=pool.expanded,
        seconds=took.seconds,
        cpu_seconds=pool.cpu,
        ranks=cluster.ranks,
        workers=cluster.workers,
        jobs=pool.jobs,
        complete=pool.done,
        slowest=pool.slowest,
        **summary(took.workers),
    )


def _check(options, count, record):
    check(options, {"play": True, "record": record})
    if not isinstance(count, Integral) or not 1 <= int(count) <= _MOST_GAMES:
        raise UserError(f"games {count!r:.40} is not a number of games from 1 to {_MOST_GAMES}")


def _describe(pool):
    def describe(_, seconds):
        more = f"{compact(pool.moves)} moves, {compact(pool.moves / max(seconds, 1e-9))} moves/s"
        return Facts(seconds, pool.nodes, counted="games", done=len(pool.over), total=pool.games, more=more)

    return describe
