"""The page of the command line, made of the parsers: ``python -m distsearch.cli.reference`` writes it to stdout."""

from .arguments import COMMANDS, command_of, parser_of

_HEAD = """# Command line
Made by `python -m distsearch.cli.reference` from the declarations of options.

A command is started as `distsearch COMMAND`, or on several ranks as `mpirun -n N distsearch COMMAND`. `distsearch
COMMAND --help` prints what this page says about it, and `distsearch help GAME` what a game takes.

The exit status is 0 for a result, 1 where a check failed or ranks were lost, 2 for input that makes no sense, and 128
plus the signal's number after a signal. stdout has results only; progress and refusals go to stderr.
"""


def reference():
    """Return the page as Markdown."""
    rows = [f"| [`{name}`](#{name}) | {text} |" for name, text in COMMANDS.items()]
    parts = [f"{_HEAD}\n" + "\n".join(["| command | purpose |", "|---|---|", *rows])]
    for name, text in COMMANDS.items():
        if name == "study":
            studies = command_of(name).STUDIES.items()
            parts += [f"## {name}\n{_sentence(text)}"]
            parts += [_section("###", f"{name} {study}", row.help, parser_of(name, study)) for study, row in studies]
        else:
            parts.append(_section("##", name, text, parser_of(name)))
    return "\n\n".join(parts)


def _section(marks, title, text, parser):
    actions = [action for action in parser._actions if action.dest != "help"]
    rows = [f"| {_spelling(action)} | {_expanded(action.help)} |" for action in actions]
    positional = " ".join(_optional(action) for action in actions if not action.option_strings)
    heading = f"{marks} {title}\n{_sentence(text)}\n\n`distsearch {title}{f' {positional}' if positional else ''}`"
    return f"{heading}\n\n" + "\n".join(["| argument | meaning |", "|---|---|", *rows]) if rows else heading


def _sentence(text):
    return f"{text[0].upper()}{text[1:]}."


def _optional(action):
    several = " ..." if action.nargs == "*" else ""
    return f"[{action.metavar}{several}]" if action.nargs in ("?", "*") else action.metavar


def _spelling(action):
    names = ", ".join(action.option_strings)
    return f"`{names} {action.metavar}`" if names and action.nargs != 0 else f"`{names or action.metavar}`"


def _expanded(text):
    """Return a help text as argparse prints it, with what Markdown would read as markup quoted."""
    return (text or "").replace("%%", "%").replace("|", "\\|").replace("*", "\\*")


if __name__ == "__main__":
    print(reference())
