"""Games of other packages for a test."""

import contextlib

from distsearch import games


@contextlib.contextmanager
def installed(monkeypatch, **points):
    """Have these entry points be the games of other packages by name, as long as the context lasts."""
    with monkeypatch.context() as patch:
        patch.setattr(games, "_others", lambda: points)
        patch.setattr(games, "_MODULES", dict(games._MODULES))
        yield


def package(folder, **modules):
    """Make a package in a folder that offers these modules as games by name: on PYTHONPATH it counts as installed."""
    about = folder / "own_games-1.0.dist-info"
    about.mkdir()
    (about / "METADATA").write_text("Metadata-Version: 2.1\nName: own-games\nVersion: 1.0\n")
    lines = (f"{name} = {module}\n" for name, module in modules.items())
    (about / "entry_points.txt").write_text(f"[{games.ENTRY_POINTS}]\n{''.join(lines)}")
