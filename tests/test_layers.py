"""The packages form layers: each imports from those below it alone, and no modules import one another in a circle."""

import ast
from pathlib import Path

import pytest

import distsearch

PACKAGE = Path(distsearch.__file__).parent
LAYERS = (
    "core",
    "games",
    "evaluation",
    "engines",
    "gpu",
    "cluster",
    "jobs",
    "tree",
    "formats",
    "books",
    "api",
    "learning",
    "server",
    "programs",
    "studies",
    "cli",
)


def modules():
    """The package's modules by their dotted name below it; that of a package is its ``__init__``."""
    found = {}
    for path in sorted(PACKAGE.rglob("*.py")):
        parts = path.relative_to(PACKAGE).with_suffix("").parts
        found[".".join(parts[:-1] if parts[-1] == "__init__" else parts)] = path
    return found


def imports_of(name, path, known):
    """Names of the modules that a module imports, at its top level or inside functions."""
    package = name.split(".") if path.name == "__init__.py" and name else name.split(".")[:-1]
    found = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.ImportFrom) and node.level:
            base = package[: len(package) - node.level + 1] + (node.module.split(".") if node.module else [])
        elif isinstance(node, ast.ImportFrom) and node.module.split(".")[0] == "distsearch":
            base = node.module.split(".")[1:]
        else:
            continue
        for each in node.names:
            whole = ".".join([*base, each.name])
            found.add(whole if whole in known else ".".join(base))
    return found - {""}


@pytest.fixture(scope="module")
def imported():
    known = modules()
    return {name: imports_of(name, path, known) for name, path in known.items() if name not in ("", "__main__")}


def test_every_package_is_a_layer():
    folders = {path.parent.name for path in PACKAGE.glob("*/__init__.py")}
    assert folders == {*LAYERS, "testing"}  # the tests of games are shipped, and nothing imports them
    assert {path.name for path in PACKAGE.glob("*.py")} == {"__init__.py", "__main__.py"}


def test_imports_go_down(imported):
    wrong = []
    for name, found in imported.items():
        own = name.split(".")[0]
        if own == "testing":
            continue
        above = LAYERS[LAYERS.index(own) + 1 :] + ("testing",)
        wrong += [f"{name} imports {each}" for each in sorted(found) if each.split(".")[0] in above]
    assert not wrong


def test_no_modules_import_one_another_in_a_circle(imported):
    done, path = set(), []

    def visit(name):
        assert name not in path, " -> ".join([*path[path.index(name) :], name])
        if name in done:
            return
        path.append(name)
        for each in sorted(imported.get(name, ())):
            visit(each)
        path.pop()
        done.add(name)

    for name in imported:
        visit(name)
