"""The figures that must not fall back, in ``standing.toml``: each with how far it may, and its commit."""

import json
import math
import tomllib
from pathlib import Path

FILE = Path(__file__).with_name("standing.toml")
SLACK = 10  # per cent: nothing here depends on time, but a small change of a search shifts its nodes
_HEAD = """\
# What must not get worse unseen: see docs/standing-bars.md. Written by `benchmarks/standing --update`, which
# leaves what has not changed as it is. A figure may be at most `most`, or at least `least`; or it is `exact`.
# commit: of the measurement; with + behind it, of that commit with edits.
"""


def most(value):
    """Return a figure that should be small, a dict as in the file."""
    return {"measured": value, "most": _times(value, 100 + SLACK)}


def least(value):
    """Return a figure that should be large, a dict as in the file."""
    return {"measured": value, "least": _times(value, 100 - SLACK)}


def _times(value, percent):
    return value * percent // 100 if isinstance(value, int) else round(value * percent / 100, 3)


def exact(value):
    """Return a figure that changes only when it is meant to, a dict as in the file."""
    return {"measured": value, "exact": True}


def read(path=FILE):
    """Return what is kept: {group: {"how": text, "commit": text, figure: dict}}."""
    return tomllib.loads(path.read_text(encoding="utf-8")) if path.exists() else {}


def figures(group):
    """Return the figures of a group that was read: {name: dict}."""
    return {name: value for name, value in group.items() if isinstance(value, dict)}


def regressions(kept, found):
    """Return a line for each figure that is not as it must be.

    kept: of the file, {figure: dict}; found: as measured now, likewise. A figure that is in only one of them is
    one too, or a renamed one would be lost unseen.
    """
    lines = [f"{name}: not measured any more" for name in kept if name not in found]
    for name, figure in found.items():
        value = figure["measured"]
        if name not in kept:
            lines.append(f"{name}: {value:,}, of which no figure is kept")
        elif not _holds(kept[name], value):
            lines.append(f"{name}: {value:,} instead of {_told(kept[name])}")
    return lines


def improvements(kept, found):
    """Return a line for each figure that is better by more than it might have been worse: worth an update."""
    lines = []
    for name, figure in found.items():
        before, value = kept.get(name, {}), figure["measured"]
        better = "most" in before and value < _times(before["measured"], 100 - SLACK)
        better |= "least" in before and value > _times(before["measured"], 100 + SLACK)
        if better:
            lines.append(f"{name}: {value:,} instead of {before['measured']:,}")
    return lines


def _holds(kept, value):
    if kept.get("exact"):
        return value == kept["measured"]
    return value <= kept.get("most", math.inf) and value >= kept.get("least", -math.inf)


def _told(kept):
    if kept.get("exact"):
        return f"{kept['measured']:,}"
    limit = f"at most {kept['most']:,}" if "most" in kept else f"at least {kept['least']:,}"
    return f"{limit} (it was {kept['measured']:,})"


def updated(kept, measured, commit):
    """Return the groups of the file with those measured now; a group that is as it was keeps its commit.

    measured: {group: (how, {figure: dict})}.
    """
    groups = dict(kept)
    for name, (how, found) in measured.items():
        before = kept.get(name, {})
        if before.get("how") != how or figures(before) != found:
            groups[name] = {"how": how, "commit": commit, **found}
    return groups


def write(groups, path=FILE):
    """Write the groups to the file, a table each and a line a figure."""
    tables = [_table(name, group) for name, group in groups.items()]
    path.write_text("\n".join([_HEAD, *tables]), encoding="utf-8")


def _table(name, group):
    # the strings of JSON are those of TOML, but for what no name here has
    lines = [f"[{json.dumps(name, ensure_ascii=False)}]"]
    for key in ("how", "commit"):
        lines.append(f"{key} = {json.dumps(group[key], ensure_ascii=False)}")
    for key, figure in figures(group).items():
        fields = ", ".join(f"{field} = {json.dumps(value)}" for field, value in figure.items())
        lines.append(f"{json.dumps(key, ensure_ascii=False)} = {{ {fields} }}")
    return "\n".join(lines) + "\n"
