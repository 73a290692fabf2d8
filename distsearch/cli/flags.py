"""Flags made of declared options, and options made of parsed flags."""

import argparse
import inspect

from ..api.declarations import given, of_command, shown
from ..api.options import Options, Resources, games_by_rule, resolve
from ..core.errors import UserError
from ..formats.checkpoint import policy_in
from ..formats.weights_file import named

_MOST = 1000  # entries of a list
_RULE = "rule "  # what the names of parsed rules begin with: no other argument's does


def add_options(parser, options, as_lists=False):
    """Add a flag for each of these Declared by name; as_lists: each takes several values, with commas between."""
    grouped = isinstance(parser, argparse.ArgumentParser)  # in a group of arguments there are no further ones
    groups = {group.title: group for group in parser._action_groups}
    for name, each in options.items():
        option, flags = each.option, [f"--{shown(name)}"]
        title = option.group if grouped else None
        if title is not None and title not in groups:
            groups[title] = parser.add_argument_group(title)
        more = {"dest": name, "default": None, "help": option.help.replace("%", "%%")}
        if each.type is bool:
            more["action"] = "store_true"
        else:
            more |= {"type": checked(_list_of(each) if as_lists else each.parse)}
            more["metavar"] = f"{option.metavar},..." if as_lists else option.metavar
        where = parser if title is None else groups[title]
        where.add_argument(*([option.short] if option.short else []), *flags, **more)


def _list_of(each):
    return lambda text: list(dict.fromkeys(map(each.parse, text.split(",")[:_MOST])))


def checked(parse):
    """A type of argparse, which refuses on every rank alike: where only the first did, the others would wait for it."""

    def typed(text):
        try:
            return parse(text)
        except UserError as error:
            raise argparse.ArgumentTypeError(str(error)) from error

    return typed


def number(name, low=0):
    """Return a type of argparse: a whole number from ``low`` on, of 15 digits at most."""

    def parse(text):
        if not text.isascii() or not text.isdigit() or len(text) > 15 or int(text) < low:
            raise UserError(
                f"{name} {text[:20] or repr(text)} is not a whole number from {low} on, of 15 digits at most"
            )
        return int(text)

    return checked(parse)


def numbers(name, low=0):
    """Return a type of argparse: ``1,2,4`` as a list of whole numbers from ``low`` on, each once."""
    one = number(name, low)
    return lambda text: list(dict.fromkeys(map(one, text.split(",")[:_MOST])))


def names(what):
    """Return a type of argparse: ``pool,split`` as a list of texts, each once."""

    def parse(text):
        found = text.split(",")[:_MOST]
        if not all(found):
            raise UserError(f"{what} '{text[:40]}' is not names with commas between")
        return list(dict.fromkeys(found))

    return checked(parse)


def add_game(parser, position=True, rules=True, optional=False):
    """Add a game, its position and what its rules are, and ``--json``."""
    parser.add_argument("game", metavar="GAME", nargs="?" if optional else None, help="its name: `distsearch help`")
    if position:
        parser.add_argument("position", metavar="POSITION", nargs="?", help="as text (default: startpos)")
    parser.add_argument("--board", metavar="RxC", help="rows x columns (default: the game's usual board)")
    if rules:
        add_rules(parser)
    parser.add_argument("--json", action="store_true", help="print one JSON object a line")


def add_rules(parser):
    """Add the flag of a game's own options; ``add_rules_by_name`` adds theirs, once the parser has all others."""
    parser.add_argument(
        "--rule",
        type=checked(_rule),
        action="append",
        metavar="NAME=VALUE",
        help="one of the game's own options, which `distsearch help GAME` lists; may be given several times",
    )


def add_rules_by_name(parser):
    """Add a flag for each of the games' own options, where ``--rule`` is one; no flag takes the place of another.

    Other packages name options as they like; ``--rule`` gives those that are called like a flag.
    """
    taken = parser._option_string_actions
    for name, owners in games_by_rule().items() if "--rule" in taken else ():
        if (flag := f"--{shown(name)}") not in taken:
            text = f"of {' and '.join(f'{game.NAME} ({values_of(game, name)})' for game in owners)}"
            more = {"dest": f"{_RULE}{name}", "metavar": "RULE", "help": text.replace("%", "%%")}
            taken["--rule"].container.add_argument(flag, **more)


def values_of(game, name):
    """Return the values of a game's own option in words."""
    values = game.OPTIONS[name]
    default = values[0] if values else inspect.signature(game.rules).parameters[name].default
    return f"{' or '.join(values) if values else 'a text'}, default {default}"


def rules_of(args):
    """Return the game's own options of parsed arguments as texts by name; raises UserError."""
    given_by_flag = {dest: value for dest, value in vars(args).items() if dest.startswith(_RULE) and value is not None}
    return {**dict(args.rule or ()), **{dest.removeprefix(_RULE): value for dest, value in given_by_flag.items()}}


def _rule(text):
    name, equals, value = text.partition("=")
    if not name or not equals:
        raise UserError(f"'{text[:40]}' is not NAME=VALUE, such as empties=none")
    return name, value


def add_resources(parser, command):
    """Add what a command runs on."""
    add_options(parser, of_command(Resources, command))


def resources_of(args):
    """Return the Resources of parsed arguments; raises UserError."""
    asked = of_command(Resources, args.command)
    return Resources(**{name: value for name, value in given(args, Resources).items() if name in asked})


def add_search(parser, command):
    """Add the flags of a command that searches: its options, what it runs on, a timeline, a checkpoint."""
    add_options(parser, of_command(Options, command))
    add_run(parser, command)


def add_run(parser, command):
    """Add what a search runs on, the flag of a timeline, and those of a file that it can go on from."""
    add_resources(parser, command)
    add_trace(parser)
    parser.add_argument("--checkpoint", metavar="FILE", help="save there how far it is, once a minute and at signals")
    parser.add_argument("--resume", action="store_true", help="go on where the checkpoint says, if there is one")


def add_trace(parser):
    """Add the flag of a timeline."""
    parser.add_argument("--trace", metavar="FILE", help="write a timeline of the ranks, for ui.perfetto.dev or Chrome")


def add_seed(parser, help, default=0):
    """Add the flag of a seed; its default follows the help."""
    help = f"{help} (default {default})"
    parser.add_argument("--seed", type=number("seed"), default=default, metavar="N", help=help)


def asked_of(args, without=()):
    """Return the options of a search by name that parsed arguments give, but for some names; raises UserError."""
    flags = given(args, Options).keys() & of_command(Options, args.command)
    asked = {name: vars(args)[name] for name in sorted(flags - set(without))}
    if "evaluation" in asked:
        asked["evaluation"] = named(asked["evaluation"], args.game)
    return asked


def options_of(args, without=(), checkpoint=None, **more):
    """Return (Options, game module, rules array) of parsed arguments; raises UserError.

    without: names of flags that are no options of this search; checkpoint: name of a file to resume from; more: options
    that stand in for what is not given.
    """
    asked = {**more, **asked_of(args, without)}
    if checkpoint is not None and not asked.keys() & {"policy", "ordering", "nodes", "algorithm"}:
        asked["policy"] = policy_in(checkpoint)  # the default depends on what may change: the load factor
    return resolve(args.game, args.board, args.rules, **asked)
