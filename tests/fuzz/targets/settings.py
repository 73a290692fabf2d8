"""What people ask for as text: values of options, settings of players, evaluations, rules, whole command lines."""

import contextlib
import functools
from unittest import mock

from distsearch import evaluation, games
from distsearch.api.answer_text import checked_fields
from distsearch.api.clock import clock_text, parse_clock
from distsearch.api.declarations import declared
from distsearch.api.elo import parse_sprt
from distsearch.api.options import Options, Resources, parse_depth_by_empty, parse_seed, parse_window
from distsearch.api.player_settings import parse_settings, player_options
from distsearch.cli import arguments, flags
from distsearch.core.errors import UserError
from distsearch.engines.alphabeta import parse_ordering
from distsearch.evaluation import ntuple
from distsearch.evaluation.tuple_network import parse_tuples
from distsearch.learning.command import parse_iterations
from distsearch.learning.options import TrainOptions
from distsearch.learning.probcut_fit import parse_pairs

from .. import mutation
from ..target import Target
from .positions import text_of

_GAMES = "othello", "connect4", "2048", "2584"


def _same_clock(text):
    assert parse_clock(clock_text(parse_clock(text))) == parse_clock(text)


# by the first byte of an input: what parses the rest, and texts that it takes
_PARSERS = [
    (_same_clock, ("60+0.5", "60")),
    (parse_sprt, ("0,10", "-5,5.5")),
    (parse_seed, ("7",)),
    (parse_window, ("-1,1",)),
    (parse_depth_by_empty, ("2:9,5:7",)),
    (parse_ordering, ("shallow:3", "static")),
    (parse_settings, ("depth=4,evaluation=patterns", "time=0.5,selective=0.95", "random", "depth-by-empty=2:9,5:7")),
    (checked_fields, ("position,score,move", "line")),
    (parse_iterations, ("4096:2,16384:3",)),
    (parse_pairs, ("8:4,6:2",)),
    (functools.partial(parse_tuples, board=(4, 4)), ("0,1,2,3/4,5,6,7",)),
    (functools.partial(ntuple.checked_tuples, games.find("2048"), board=(4, 4)), ("4x6", "0,1,2/5,6")),
    (lambda text: games.checked_board(games.find("othello"), games.parse_board(text)), ("8x8", "6X10")),
    (flags.numbers("ranks", 1), ("1,2,4",)),
    (flags.names("policies"), ("pool,split",)),
]
_DECLARED = [
    each for cls in (Options, Resources, TrainOptions) for each in declared(cls).values() if each.type is not bool
]
_PARSERS += [(each.parse, ()) for each in _DECLARED]


def _read_value(data):
    """A value: what is parsed is checked where it is declared."""
    parse, _ = _PARSERS[data[0] % len(_PARSERS) if data else 0]
    try:
        parse(text_of(data[1:]))
    except flags.argparse.ArgumentTypeError as error:
        raise UserError(error) from error


def _value_seeds():
    return [bytes([i]) + text.encode() for i, (_, texts) in enumerate(_PARSERS) for text in texts]


def _read_player(data):
    """A player's settings: they make options. The first byte chooses the game."""
    name = _GAMES[data[0] % len(_GAMES) if data else 0]
    player_options(name, None, {}, 1, parse_settings(text_of(data[1:])))


def _player_seeds():
    texts = "depth=4,ordering=shallow:2", "time=0.5,table=8", "nodes=1000", "random", "exact"
    chance = "layers=1", "depth=3,spawn=2:1", "algorithm=averaged,runs=3,depth=2", "depth=2,evaluation=rows:1,2,3,1,1,1"
    found = [bytes([i]) + text.encode() for i in (0, 1) for text in texts]
    more = [bytes([i]) + text.encode() for i in (2, 3) for text in chance]
    return [seed for seed in found + more if _is_taken(seed)]


def _is_taken(seed):
    try:
        _read_player(seed)
    except UserError:
        return False
    return True


def _read_evaluation(data):
    """An evaluation's name, and its weights where it has some. The first byte chooses the game."""
    game = games.find(_GAMES[data[0] % len(_GAMES) if data else 0])
    text = text_of(data[1:])
    evaluation.check(game, text)
    with contextlib.suppress(UserError):  # it has none
        evaluation.check(game, evaluation.weights(game, text).evaluation)


def _evaluation_seeds():
    found = [bytes([i]) + name.encode() for i, game in enumerate(_GAMES) for name in evaluation.names(games.find(game))]
    sums = b"rows:1,2,3,1,1,1", b"monotonicity+0.1*smoothness+2.7*free", b"ntuple:dead"
    return [*found, *(b"\2" + text for text in sums)]


def _read_rules(data):
    """A board and a game's own options, each of its values behind a NUL. The first byte chooses the game."""
    game = games.find(_GAMES[data[0] % len(_GAMES) if data else 0])
    board, *values = text_of(data[1:]).split("\0")
    shape = games.checked_board(game, games.parse_board(board))
    options = dict(zip(game.OPTIONS, values, strict=False))
    for name, value in options.items():
        if game.OPTIONS[name] is not None and value not in game.OPTIONS[name]:
            raise UserError(f"{name} has no such value")
    assert game.rules(shape, **options)[:2].tolist() == list(shape)


def _rules_seeds():
    return [b"\0008x8", b"\0006x6\0none", b"\0016x7", b"\0024x4", b"\0024x4\0002:0.9,4:0.1", b"\0033x4\0001:1"]


def _read_command(data):
    """A command line, its words with line breaks between: its options make sense together, or are refused."""
    argv = text_of(data).split("\n")
    with mock.patch.object(arguments.stdout, "write"):
        try:
            args = arguments.parse(argv)
        except SystemExit as leaving:  # --help and --version
            assert not leaving.code
            return
    if args.command in ("search", "solve", "simulate") and args.game is not None:
        flags.options_of(args)
        flags.resources_of(args)


def _command_seeds():
    lines = [
        "search othello f5d6 --depth 3 --json --ordering shallow:2 --evaluation static --table 8",
        "search othello --exact --window -1,1 --board 6x6",
        "solve connect4 --positions - --exact --policy pool --load-factor 4",
        "search 2048 --layers 2 --spawn 2:1 --chance uniform",
        "play 2048 --depth 2 --games 3 --evaluation rows:1,2,3,1,1,1 --record a.jsonl",
        "match othello depth=2 depth=3,evaluation=static --games 4 --sprt 0,10",
        "train 2048 --games 10 --tuples 4x6 --rate 0.1 --stages 16384,32768",
        "perft othello --depth 3 --board 6x6 --rule empties=none",
        "study scaling othello --ranks 1,2 --policy pool,split --depth 3",
        "serve --http 127.0.0.1:0",
        "book othello --check --sample 3",
        "tune 2048 --depth 2 --games 3 --generations 2",
        "nboard --depth 3",
        "--version",
        "help search",
    ]
    return [line.replace(" ", "\n").encode() for line in lines]


_FLAGS = sorted({f"--{name.replace('_', '-')}\n".encode() for cls in (Options, Resources) for name in declared(cls)})
_OPTIONS = "distsearch.api.options", "distsearch.api.declarations", "distsearch.api.applicability"
_EVALUATIONS = (
    "distsearch.evaluation",
    "distsearch.evaluation.weighted_sum:parse",
    "distsearch.evaluation.row_heuristic:parse",
)

TARGETS = {
    "value": Target(
        _read_value,
        _value_seeds,
        (
            *_OPTIONS,
            "distsearch.api.clock",
            "distsearch.api.elo",
            "distsearch.api.player_settings",
            "distsearch.engines.alphabeta:parse_ordering",
            "distsearch.evaluation.tuple_network",
            "distsearch.learning.command",
            "distsearch.learning.probcut_fit:parse_pairs",
            "distsearch.cli.flags",
        ),
    ),
    "player": Target(_read_player, _player_seeds, (*_OPTIONS, "distsearch.api.player_settings", *_EVALUATIONS)),
    "evaluation": Target(_read_evaluation, _evaluation_seeds, _EVALUATIONS),
    "rules": Target(
        _read_rules,
        _rules_seeds,
        ("distsearch.games", "distsearch.games.sliding:parse_spawn", "distsearch.games.othello"),
    ),
    "command-line": Target(
        _read_command,
        _command_seeds,
        (*_OPTIONS, "distsearch.cli.arguments", "distsearch.cli.flags"),
        functools.partial(mutation.of_bytes, tokens=(*_FLAGS, b"--help\n", b"--", b"=")),
    ),
}
