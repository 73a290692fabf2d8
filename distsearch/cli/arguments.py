"""What the command line understands: its commands, and the options of each.

Values are checked as far as one option tells; what goes with what is for the library to say.
"""

import argparse
import re
from collections.abc import Callable
from typing import NamedTuple

from .. import __version__
from ..core.errors import UserError
from .study_arguments import STUDIES


class _Parser(argparse.ArgumentParser):
    def error(self, message):
        raise UserError(f"{message} (see {self.prog} --help)")


def parse(argv):
    """Return the parsed arguments; options and positions may stand in any order after the command."""
    program = _Parser(prog="distsearch", description="Search game trees with every core of a cluster.")
    program.add_argument("--version", action="version", version=f"distsearch {__version__}")
    known, rest = _choose(program, "command", _COMMANDS, argv)
    prog, chosen = f"distsearch {known.command}", _COMMANDS[known.command]
    if known.command == "study":
        studies, prog = _Parser(prog=prog, description=chosen.help), f"{prog} "
        known, rest = _choose(studies, "study", STUDIES, rest, known)
        prog, chosen = prog + known.study, STUDIES[known.study]
    parser = _Parser(prog=prog, description=chosen.help)
    chosen.add_arguments(parser)
    return parser.parse_intermixed_args(_spelled(parser, rest), known)


def _choose(parser, what, table, argv, known=None):
    """Return (the namespace with the name, out of a table, that arguments begin with; the arguments behind it)."""
    listed = "\n".join(f"  {name:<9} {row.help}" for name, row in table.items())
    parser.epilog = f"{'studies' if what == 'study' else what + 's'} (each has its own --help):\n{listed}"
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    parser.add_argument(what, metavar=what.upper(), choices=table)
    parser.add_argument("arguments", metavar="...", nargs=argparse.REMAINDER)
    chosen = parser.parse_args(argv, known)
    rest = chosen.arguments
    del chosen.arguments
    return chosen, rest


def _spelled(parser, arguments):
    """Return arguments as argparse understands them: it takes the -1,1 that follows --window for an option."""
    found = []
    for i, argument in enumerate(arguments):
        if argument == "--":
            return found + arguments[i:]
        if re.fullmatch("--[a-z-]+=--", argument):  # it drops this value, and passes a list on
            parser.error(f"argument {argument[:-3]}: '--' is no value")
        if found and found[-1] == "--window" and re.match("[-+](?!-)", argument):
            found[-1] += f"={argument}"
        else:
            found.append(argument)
    return found


def _search_arguments(parser):
    _add_searched(parser)
    _add_sampled_options(_add_chance_options(parser, "of the tiles that startpos begins with, and of sampled runs"))
    parser.add_argument(
        "--parallel",
        metavar="NAME",
        choices=("search", "evaluation"),
        help="search: ranks share the tree (default); evaluation, of othello: they share the squares of each board, "
        "which is slower than one rank alone",
    )
    _add_ranks(parser)
    _add_device(parser)
    _add_trace(parser)
    _add_checkpoint(parser)


def _add_searched(parser):
    _add_game_and_position(parser)
    _add_limits(parser)
    _add_search_options(parser)


def _play_arguments(parser):
    parser.add_argument("game", metavar="GAME")
    parser.add_argument("--games", type=int, metavar="N", help="how many (default 100)")
    limits = parser.add_argument_group("limits of each move")
    limits.add_argument("--depth", type=int, metavar="N", help="plies that are searched")
    limits.add_argument("--nodes", type=int, metavar="N", help="boards that are, deeper and deeper")
    limits.add_argument("--time", type=float, metavar="SECONDS", help="the same for so long")
    _add_player(parser, "of all that chance does", "game, with its moves,")
    _add_device(parser)
    _add_trace(parser)


def _tune_arguments(parser):
    parser.add_argument("game", metavar="GAME")
    parser.add_argument("--games", type=int, metavar="N", help="of every candidate in each generation (default 100)")
    parser.add_argument("--generations", type=int, metavar="N", help="how many (default 20)")
    parser.add_argument("--population", type=int, metavar="N", help="candidates in each of them (default 12)")
    parser.add_argument("--sigma", type=float, metavar="X", help="the first step: 0.3 (default) is about a third")
    parser.add_argument("--depth", type=int, metavar="N", help="plies that are searched for each move (default 3)")
    _add_player(parser, "of candidates and of all that chance does", "generation")


def _train_arguments(parser):
    parser.add_argument("game", metavar="GAME")
    parser.add_argument("--games", type=_count, metavar="N", help="in all (default 100000)")
    network = parser.add_argument_group("the network")
    network.add_argument("--tuples", metavar="T", help="2048: 4x6 ..., 2584: 3x4 ...; or cells: 0,1,2,3/4,5,6,7")
    network.add_argument(
        "--asymmetric", action="store_true", default=None, help="tuples look at the board as it is, not turned as well"
    )
    network.add_argument("--stages", metavar="TILE,...", help="largest tiles with which further stages begin")
    network.add_argument("--optimistic", type=float, metavar="V", help="what boards are worth at first (default 0)")
    learning = parser.add_argument_group("learning")
    learning.add_argument("--rate", type=float, metavar="A", help="(default 0.1; with coherence 1)")
    learning.add_argument(
        "--coherence", action="store_true", default=None, help="a rate for each weight, by its errors"
    )
    learning.add_argument("--forward", action="store_true", default=None, help="at once, not at the end of a game")
    learning.add_argument("--steps", type=_count, metavar="N", help="moves before a target's value (default 1)")
    learning.add_argument("--layers", type=_count, metavar="X", help="of the search for each move: 0 (default) to 3")
    learning.add_argument(
        "--rounds", metavar="N:D,...", help="othello: games and depth of each round, instead of games"
    )
    learning.add_argument("--spawn", metavar="T:P,...", help="tiles that come, with their probabilities")
    learning.add_argument("--seed", type=_chance_seed, metavar="N", help="of all games (default 0)")
    ranks = parser.add_argument_group("many ranks")
    ranks.add_argument("--warm-up", type=_count, metavar="N", help="games that one rank learns from first (default 0)")
    ranks.add_argument(
        "--sharing", type=_count, metavar="N", help="of a host that share a copy of the weights (default: all)"
    )
    ranks.add_argument("--merge", metavar="NAME", help="of what copies have changed: visits (default), sum or mean")
    ranks.add_argument("--merge-every", type=_count, metavar="N", help="games between merges (default 2000)")
    ranks.add_argument(
        "--collisions", action="store_true", default=None, help="count weights that two ranks change at once"
    )
    cards = parser.add_argument_group("GPUs, one a rank")
    cards.add_argument("--device", metavar="NAME", help="cpu (default) or gpu: games and learning stay there")
    cards.add_argument("--at-once", type=_count, metavar="N", help="games that a GPU plays at a time")
    cards.add_argument(
        "--exchange", metavar="NAME", help="games: every GPU learns from those of all (default); weights: merged"
    )
    files = parser.add_argument_group("evaluation and files")
    files.add_argument("--evaluate-every", type=_count, metavar="N", help="games between evaluations (default: none)")
    files.add_argument("--evaluate-games", type=_count, metavar="N", help="of an evaluation (default 100)")
    files.add_argument("--save", metavar="FILE", help="of weights, .npz, for --evaluation")
    files.add_argument("--save-every", type=_count, metavar="N", help="games (default: at the end, and at SIGTERM)")
    files.add_argument("--resume", action="store_true", help="go on with what the file has, if it is there")
    files.add_argument("--compact", action="store_true", help="a small file, which cannot be resumed")
    files.add_argument("--record", metavar="FILE", help="write a line of JSON for each 1,000 games to a new file")
    parser.add_argument("--board", metavar="RxC", help="rows x columns")
    parser.add_argument("--json", action="store_true", help="print one JSON object a line")


def _add_player(parser, seeded, line):
    """What whole games take; seeded: what the seed is of; line: what a line of the record is."""
    _add_evaluation(parser)
    _add_chance_options(parser, seeded)
    parser.add_argument("--record", metavar="FILE", help=f"write a line of JSON a {line} to a new file")
    _add_prefetch(parser)
    _add_game_options(parser)
    _add_ranks(parser)


def _sample_arguments(parser):
    parser.add_argument("game", metavar="GAME")
    parser.add_argument("--record", required=True, metavar="FILE", help="of games, as play --record writes it")
    parser.add_argument(
        "--class",
        dest="stage",
        required=True,
        choices=("starter", "normal", "late"),
        metavar="NAME",
        help="starter, normal or late: after 0-5%%, 40-60%% or 95-100%% of a game's moves",
    )
    parser.add_argument("--count", type=int, default=100, metavar="N", help="how many (default 100)")
    parser.add_argument("--seed", type=_chance_seed, default=0, metavar="N", help="of which ones (default 0)")
    parser.add_argument("--output", metavar="FILE", help="a new file for them, instead of stdout")


def _add_chance_options(parser, seeded=None):
    """Add the options of games against chance; seeded: what ``--seed`` seeds, None: there is no such option."""
    chance = parser.add_argument_group("games against chance")
    chance.add_argument(
        "--layers", type=int, metavar="X", help="instead of --depth: X moves with what follows, and one"
    )
    chance.add_argument(
        "--deeper", metavar="E:D,...", help="depth D for boards with up to E empty cells, --depth for others"
    )
    chance.add_argument("--min-probability", type=float, metavar="P", help="evaluate what is less likely (default 0)")
    chance.add_argument("--chance", metavar="NAME", help="weighted (default), or uniform: as if all were alike")
    chance.add_argument("--spawn", metavar="T:P,...", help="tiles that come, with their probabilities")
    if seeded:
        chance.add_argument("--seed", type=_chance_seed, metavar="N", help=f"{seeded} (default 0)")
    return chance


def _add_sampled_options(group):
    group.add_argument("--runs", type=int, metavar="N", help="of averaged (default 10) and ida (default 16)")
    group.add_argument("--width", type=int, metavar="W", help="tiles that chance does in averaged's runs (default 3)")


def _solve_arguments(parser):
    parser.add_argument("game", metavar="GAME")
    parser.add_argument(
        "--positions",
        metavar="FILE",
        help="a position a line; - for stdin (default: stdin, and plain scores as output)",
    )
    parser.add_argument("--plain", action="store_true", help="plain scores, a line each, with --positions as well")
    parser.add_argument("--check", action="store_true", help="compare with the score that ends each line")
    _add_limits(parser, without="--exact")
    _add_search_options(parser)
    _add_sampled_options(_add_chance_options(parser, "of sampled runs"))
    _add_ranks(parser)
    _add_device(parser)
    _add_trace(parser)
    _add_checkpoint(parser)


def _perft_arguments(parser):
    _add_game_and_position(parser)
    parser.add_argument("--depth", dest="plies", type=int, required=True, metavar="N", help="plies")
    parser.add_argument("--positions", metavar="FILE", help="count below every line of a file; - for stdin")
    _add_prefetch(parser)
    _add_game_options(parser)
    _add_ranks(parser)
    _add_trace(parser)
    _add_checkpoint(parser)


def _bench_arguments(parser):
    parser.add_argument(
        "--messages", action="store_true", help="instead: empty jobs through the master, on 2 ranks or more"
    )
    parser.add_argument(
        "--device", metavar="NAME", help="gpu: instead, the rate of every kernel of a GPU, beside its limit and a CPU"
    )
    parser.add_argument("game", metavar="GAME", nargs="?", help="of --positions")
    parser.add_argument("--positions", metavar="FILE", help="instead: search these, to the limits; - for stdin")
    _add_limits(parser)
    _add_evaluation(parser)
    _add_chance_options(parser, "of sampled runs")
    _add_prefetch(parser)
    _add_game_options(parser)
    _add_log_level(parser)


def _simulate_arguments(parser):
    _add_searched(parser)
    _add_chance_options(parser)
    _add_log_level(parser)
    machine = parser.add_argument_group("the virtual cluster")
    machine.add_argument("--workers", type=int, metavar="N", help="how many (default 8)")
    machine.add_argument("--hosts", type=int, metavar="N", help="that they are on, each with a table (default 1)")
    machine.add_argument(
        "--groups", type=int, metavar="N", help="sub-masters, each in charge of some of the workers (default 0)"
    )
    machine.add_argument("--network", metavar="NAME", help="host (default) or tcp: latency and bandwidth")
    machine.add_argument("--latency", type=float, metavar="SECONDS", help="of a message, instead of the preset's")
    machine.add_argument("--bandwidth", type=float, metavar="BYTES", help="a second, instead of the preset's")
    machine.add_argument("--delay", type=float, metavar="SECONDS", help="mean of a random extra delay of each message")
    machine.add_argument(
        "--rate", type=float, metavar="BOARDS", help="that one worker searches a second (default: measured here)"
    )
    machine.add_argument(
        "--busy-rate", type=float, metavar="BOARDS", help="the same while all workers are busy (default: as --rate)"
    )
    machine.add_argument("--spread", type=float, metavar="X", help="relative deviation of the workers' rates")
    machine.add_argument("--jitter", type=float, metavar="X", help="relative deviation of the time of a slice")
    machine.add_argument("--message-cost", type=float, metavar="SECONDS", help="of the master for a message")
    machine.add_argument("--seed", type=int, metavar="N", help="of everything random (default 0)")
    parser.add_argument(
        "--explain",
        action="store_true",
        help="compare the boards with those of one worker, by cause; with exact or depth",
    )


def _serve_arguments(parser):
    parser.add_argument("--socket", metavar="PATH", help="a Unix socket to serve at, instead of stdin and stdout")
    _add_table(parser)
    _add_ranks(parser)


def _info_arguments(parser):
    parser.add_argument("--json", action="store_true", help="print one JSON object")


def _add_game_and_position(parser):
    parser.add_argument("game", metavar="GAME")
    parser.add_argument("position", metavar="POSITION", nargs="?", help="default: startpos")


def _add_limits(parser, without="5 seconds"):
    limits = parser.add_argument_group(f"limits ({without} if none is given)")
    limits.add_argument("--depth", type=int, metavar="N", help="plies; a pass is one")
    limits.add_argument("--time", type=float, metavar="SECONDS", help="deeper and deeper for so long")
    limits.add_argument("--nodes", type=int, metavar="N", help="the same for so many boards; repeatable; ida: a run")
    limits.add_argument("--exact", action="store_true", default=None, help="to the end of the game")


def _add_search_options(parser):
    parser.add_argument(
        "--algorithm",
        metavar="NAME",
        help="alphabeta (default) or minimax; against chance expectimax (default), expectiminimax, minimax, alphabeta, "
        "averaged or ida",
    )
    _add_evaluation(parser)
    parser.add_argument(
        "--selective",
        type=float,
        metavar="P",
        help="leave out what a shallow search says, with probability P, does not matter: 0.95; not for exact scores",
    )
    parser.add_argument(
        "--fit", metavar="FILE", help="of selective, as python -m distsearch.learning.probcut_fit makes it"
    )
    parser.add_argument("--ordering", metavar="NAME", help="none, static or shallow[:D], of plain alpha-beta")
    parser.add_argument(
        "--policy",
        metavar="NAME",
        help="split (default), brothers, window, or pool (default with a load factor, nodes or plain alpha-beta); "
        "of expectimax split or pool; where chance has an adversary pool (default), or brothers with alpha-beta",
    )
    parser.add_argument(
        "--load-factor", type=float, metavar="F", help="of pool, window; against chance: subtrees a worker (4; alone 1)"
    )
    _add_prefetch(parser)
    _add_table(parser)
    parser.add_argument("--window", metavar="LO,HI", help="tell exact scores apart no further than this: -1,1")
    parser.add_argument("--pruning", metavar="NAME", help="of expectiminimax: alphabeta (default) or none")
    parser.add_argument(
        "--par-depth", type=int, metavar="D", help="where chance has an adversary: jobs are D plies down"
    )
    parser.add_argument("-a", "--all-moves", action="store_true", default=None, help="score every move")
    _add_game_options(parser)


def _add_evaluation(parser):
    parser.add_argument(
        "--evaluation",
        metavar="NAME",
        help="othello: complex (default), patterns ...; 2048: rows ..., ntuple, rows:W,W,W,W,W,W, a sum such as "
        "monotonicity+2.7*free; or a file of weights, FILE.npz of train, FILE.json of tune",
    )


def _add_table(parser):
    parser.add_argument(
        "--table",
        type=_mebibytes,
        metavar="MIB",
        help="of a host's transposition table, or of values in expectimax (default 64; the "
        "former grows in long searches of search, solve and serve, to a quarter of the free memory, 4096 at most)",
    )


def _add_ranks(parser):
    parser.add_argument(
        "--deadline",
        type=_seconds,
        metavar="SECONDS",
        help="a worker not heard from for so long is lost, and others do its work (default: MPI ends the job, or "
        "tells; see docs/faults.md)",
    )
    parser.add_argument(
        "--groups", type=int, metavar="N", help="sub-masters, each with some of the other ranks (default 0)"
    )
    _add_log_level(parser)


def _add_log_level(parser):
    parser.add_argument(
        "--log-level",
        choices=("debug", "info", "warning"),
        metavar="LEVEL",
        help="log what ranks do to stderr: debug (every job), info or warning (default: no log)",
    )


def _add_device(parser):
    parser.add_argument(
        "--device",
        metavar="NAME",
        help="cpu (default), gpu: for each worker, or auto: for a host's first ones, as far as its GPUs go",
    )


def _add_trace(parser):
    parser.add_argument("--trace", metavar="FILE", help="a timeline of the ranks, for ui.perfetto.dev or Chrome")


def _add_checkpoint(parser):
    parser.add_argument("--checkpoint", metavar="FILE", help="save there how far it is, once a minute and at signals")
    parser.add_argument("--resume", action="store_true", help="go on where the checkpoint says, if there is one")


def _add_prefetch(parser):
    parser.add_argument("--prefetch", type=_batches, metavar="N", help="batches of jobs at each worker (default 2)")


def _batches(text):
    from ..api.options import checked_prefetch

    return _number(text, "prefetch", "batches", checked_prefetch)


def _mebibytes(text):
    from ..api.options import checked_table

    return _number(text, "table", "MiB", checked_table)


def _count(text):
    return _number(text, "number", "15 digits at most", int)


def _chance_seed(text):
    return _number(text, "seed", "15 digits at most", int)


def _seconds(text):
    return _number(text, "deadline", "seconds", _checked_deadline)


def _checked_deadline(seconds):
    if seconds < 1:
        raise UserError(f"deadline {seconds} is out of range (1 or more)")
    return seconds


def _number(text, option, what, checked):
    """A checked number, refused on every rank alike: where only the first refused, the others would wait for it."""
    if not re.fullmatch("[0-9]{1,15}", text):
        raise argparse.ArgumentTypeError(f"{option} '{text[:20]}' is not a whole number of {what}")
    try:
        return checked(int(text))
    except UserError as error:
        raise argparse.ArgumentTypeError(str(error)) from error


def _add_game_options(parser):
    parser.add_argument("--board", metavar="RxC", help="rows x columns (othello: 8x8)")
    _add_rule(parser)
    parser.add_argument("--empties", metavar="RULE", help="othello: who gets empty squares, winner (default) or none")
    parser.add_argument("--json", action="store_true", help="print one JSON object a line")


def _add_rule(parser):
    parser.add_argument(
        "--rule",
        type=_rule,
        action="append",
        metavar="NAME=VALUE",
        help="one of the game's own options, such as empties=none; may be given several times",
    )


def _rule(text):
    name, equals, value = text.partition("=")
    if not name or not equals:
        raise argparse.ArgumentTypeError(f"'{text[:40]}' is not NAME=VALUE, such as empties=none")
    return name, value


class _Command(NamedTuple):
    help: str
    add_arguments: Callable


_COMMANDS = {
    "search": _Command("best move and score of one position", _search_arguments),
    "solve": _Command("the same for every line of a file; exact without a limit", _solve_arguments),
    "play": _Command("games against chance: scores, tiles, moves a second", _play_arguments),
    "train": _Command("n-tuple networks by temporal differences; othello: patterns", _train_arguments),
    "tune": _Command("weights of an evaluation that play well, by CMA-ES", _tune_arguments),
    "sample": _Command("boards out of recorded games, by how far these are", _sample_arguments),
    "perft": _Command("count leaf positions by depth", _perft_arguments),
    "simulate": _Command("the same search on virtual workers in virtual time", _simulate_arguments),
    "study": _Command("sweeps over ranks and policies, and the tables of reports", None),
    "bench": _Command("fixed searches with a signature, node rates, message rates", _bench_arguments),
    "serve": _Command("keep the ranks warm and answer requests", _serve_arguments),
    "info": _Command("ranks, hosts, MPI, GPUs, versions; fails if something is wrong", _info_arguments),
}
