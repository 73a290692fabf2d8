"""Games of other packages: one that is broken costs that game alone."""

from importlib.metadata import EntryPoint
from types import ModuleType, SimpleNamespace

import pytest

from distsearch import games
from distsearch.api.options import games_by_rule, resolve
from distsearch.cli.arguments import COMMANDS, parse, parser_of
from distsearch.core.errors import UserError
from distsearch.server.schema import _rules

from . import tictactoe
from .plug_ins import installed

OWN = ["2048", "2584", "connect4", "othello"]


class Point(SimpleNamespace):
    """An entry point whose loading gives or raises something."""

    value = "a.module"

    def load(self):
        if isinstance(self.found, BaseException):
            raise self.found
        return self.found


def module(**changes):
    """A module that is tic-tac-toe but for these changes."""
    names = {name: value for name, value in vars(tictactoe).items() if not name.startswith("__")}
    found = ModuleType("a_module")
    vars(found).update({**names, "__file__": tictactoe.__file__, **changes})
    return found


BROKEN = [  # what loading gives or raises, and the words about it
    (ImportError("no such library"), "ImportError: no such library"),
    (SyntaxError("invalid syntax"), "SyntaxError: invalid syntax"),
    (SystemExit(3), "SystemExit: 3"),
    (SimpleNamespace(), "it has no NAME, UNIT, OPTIONS"),
    (module(PLAYERS=3), "PLAYERS is 3, not 1 or 2"),
    (module(OPTIONS=["komi"]), "OPTIONS is ['komi'], not tuples of texts (or None) by name"),
    *((module(OPTIONS={"komi": each}), f"OPTIONS is {{'komi': {each}}}, not tuples") for each in ((1, 2), 5, ())),
    *((module(OPTIONS={each: ("a",)}), f"OPTIONS is {{{each!r}: ('a',)}}, not tuples") for each in ("", "a size", 5)),
    (module(OPTIONS={"komi": None}), "rules() has no parameter komi"),
]


@pytest.mark.parametrize(("found", "words"), BROKEN, ids=lambda value: str(value)[:30])
def test_a_broken_game_is_named_and_the_others_are_there(monkeypatch, found, words):
    with installed(monkeypatch, broken=Point(found=found), tictactoe=EntryPoint("t", tictactoe.__name__, "")):
        assert games.names() == ["2048", "2584", "broken", "connect4", "othello", "tictactoe"]
        assert list(games.usable()) == [*OWN, "tictactoe"]
        (problem,) = games.problems()
        assert problem.startswith(f"game broken (a.module) cannot be used: {words}")
        with pytest.raises(UserError, match="game broken") as told:
            resolve("broken")
        assert str(told.value) == problem
        assert resolve("tictactoe")[1].NAME == "tictactoe"
        assert resolve("othello", empties="none")[0].rules == {"empties": "none"}


def test_a_game_can_be_given_up(monkeypatch):
    with installed(monkeypatch, tictactoe=EntryPoint("t", tictactoe.__name__, "")):
        assert games.find("tictactoe") is tictactoe
        games.give_up("tictactoe", "rank 2 has none")
        assert games.problems() == [f"game tictactoe ({tictactoe.__name__}) cannot be used: rank 2 has none"]
        with pytest.raises(UserError, match="rank 2 has none"):
            games.find("tictactoe")
    assert games.names() == OWN


def test_a_rule_that_is_called_like_an_option_takes_it_from_no_other_game(monkeypatch):
    def rules(board=None, depth="", device="", komi=""):
        return tictactoe.rules()

    other = module(OPTIONS={"depth": None, "device": None, "komi": None}, rules=rules)
    with installed(monkeypatch, other=Point(found=other)):
        assert games_by_rule()["komi"] == [other]
        assert games_by_rule().keys() == {"komi", "empties", "spawn"}
        assert resolve("connect4", depth=3)[0].depth == 3
        with pytest.raises(UserError, match="komi is for tictactoe, not for connect4"):
            resolve("connect4", komi="7")
        options = resolve("other", rules={"depth": "x"}, depth=3, komi="7")[0]
        assert (options.depth, options.rules) == (3, {"depth": "x", "komi": "7"})


TAKEN = "json", "help", "board", "rule", "rules", "id", "op", "game", "position", "trace", "command", "workers"


def test_rules_that_are_called_like_flags_or_fields_take_none_from_the_others(monkeypatch):
    other = module(OPTIONS={**dict.fromkeys(TAKEN, ("a", "b")), "komi": ("50%", "7")})
    with installed(monkeypatch, other=Point(found=other)):
        for command in COMMANDS:
            parser_of(command).format_help()
        args = parse(["search", "connect4", "4", "--json", "--board", "6x7", "--rule", "json=b", "--komi", "7"])
        fields = {field.name: field.type for field in _rules()}
    assert (args.command, args.game, args.position, args.json, args.board) == ("search", "connect4", "4", True, "6x7")
    assert args.rules == {"json": "b", "komi": "7"}
    assert fields.keys() == {"json", "help", "rule", "trace", "command", "workers", "komi", "empties", "spawn"}
