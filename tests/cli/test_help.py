"""Help, version, and the other way in."""

import json
import subprocess
import sys

import pytest

from distsearch import __version__
from distsearch.api.declarations import declared
from distsearch.api.options import Options

from .asking import ask, assert_refused


@pytest.mark.parametrize(
    "command", [[], ["search"], ["solve"], ["perft"], ["play"], ["tune"], ["sample"], ["info"]], ids=" ".join
)
@pytest.mark.parametrize("option", ["-h", "--help"])
def test_help_is_printed_where_results_are(command, option):
    answer = ask(*command, option)
    assert answer.status == 0
    assert answer.out.startswith("usage: distsearch")
    assert answer.err == ""


def test_version():
    assert ask("--version") == (0, f"distsearch {__version__}\n", "")


def test_the_package_can_be_run():
    command = [sys.executable, "-m", "distsearch", "--version"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout, done.stderr) == (0, f"distsearch {__version__}\n", "")


@pytest.mark.parametrize(
    ("topic", "named"),
    [
        ([], ["usage: distsearch", "search", "games: 2048, 2584, connect4, othello"]),
        (["othello"], ["two", "4x4 to 16x16, default 8x8", "empties=winner or none", "complex", "minimax"]),
        (["2048"], ["one, against chance", "spawn=a text, default 2:0.9,4:0.1", "ida", "expectiminimax"]),
        (["connect4"], ["none"]),
        (["solve"], ["usage: distsearch solve", "--positions FILE"]),
        (["study"], ["usage: distsearch study", "scaling"]),
        (["study", "scaling"], ["--weak-scaling HOW"]),
    ],
    ids=str,
)
def test_help_about_a_game_or_a_command(topic, named):
    answer = ask("help", *topic)
    assert (answer.status, answer.err) == (0, "")
    assert [text for text in named if text not in answer.out] == []


def test_the_schema_is_json_and_has_every_option():
    (schema,) = [json.loads(ask("help", "schema").out)]
    assert schema["properties"].keys() == declared(Options).keys()
    assert schema["properties"]["depth"] == {
        "type": "integer",
        "description": declared(Options)["depth"].option.help,
        "minimum": 1,
        "maximum": 1000,
    }


@pytest.mark.parametrize("topic", [["chess"], ["study", "chess"], ["--chess"]], ids=str)
def test_help_about_nothing_is_refused(topic):
    assert_refused(ask("help", *topic), "chess")
