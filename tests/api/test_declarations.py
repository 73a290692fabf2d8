"""Options declared as fields: their checks, and what is derived from them."""

import inspect
from dataclasses import dataclass
from typing import Annotated

import pytest

from distsearch.api.declarations import (
    Option,
    check_names,
    check_values,
    declared,
    documented,
    given,
    json_schema,
    of_command,
    suggestion,
)
from distsearch.core.errors import UserError


@dataclass
class Sail:
    """Options of every type."""

    hull: object = None  # no option
    masts: Annotated[int, Option("masts", "N", low=1, high=3, commands="rig sink")] = 1
    area: Annotated[float | None, Option("sails", "A", unit="square metres", above=0, below=900.5)] = None
    flag: Annotated[str, Option("colours", "NAME", choices=("red", "black"), served=True)] = "red"
    crew: Annotated[int, Option("hands", "N", low=0)] = 0
    name: Annotated[str | None, Option("her name")] = None
    sunk: Annotated[bool, Option("whether she lies below")] = False


@pytest.mark.parametrize(
    ("wrong", "words"),
    [
        ({"masts": 0}, "masts 0 is not a number from 1 to 3"),
        ({"masts": 4}, "masts 4 is not a number from 1 to 3"),
        ({"masts": 1.0}, "masts 1.0 is not a whole number from 1 to 3"),
        ({"masts": True}, "masts True is not a whole number from 1 to 3"),
        ({"masts": None}, "masts None is not a whole number from 1 to 3"),
        ({"area": 0}, "area 0 is not a number of square metres above 0 and below 900.5"),
        ({"area": 900.5}, "area 900.5 is not a number of square metres above 0 and below 900.5"),
        ({"area": float("nan")}, "area nan is not a number of square metres above 0 and below 900.5"),
        ({"area": "5"}, "area '5' is not a number of square metres above 0 and below 900.5"),
        ({"flag": "white"}, "flag 'white' is not red or black"),
        ({"crew": -1}, "crew -1 is not a number from 0 on"),
        ({"name": 3}, "name 3 is not a text"),
        ({"sunk": 1}, "sunk 1 is not True or False"),
    ],
    ids=str,
)
def test_values_out_of_bounds_are_refused(wrong, words):
    with pytest.raises(UserError) as refused:
        check_values(Sail(**wrong))
    assert str(refused.value) == words


def test_the_usual_values_and_those_at_the_bounds_are_taken():
    for fine in ({}, {"masts": 3}, {"area": 1e-9}, {"flag": "black"}, {"crew": 10**18}, {"sunk": True}):
        check_values(Sail(**fine))


@pytest.mark.parametrize(
    ("name", "text", "value"), [("masts", "+2", 2), ("area", "1e2", 100.0), ("flag", "black", "black")]
)
def test_texts_are_read(name, text, value):
    assert declared(Sail)[name].parse(text) == value


@pytest.mark.parametrize(
    ("name", "text"), [("masts", ""), ("masts", "1.5"), ("masts", "٣"), ("area", "x"), ("flag", "")]
)
def test_texts_that_are_no_values_are_refused(name, text):
    with pytest.raises(UserError, match=f"^{name} '{text}' is not "):
        declared(Sail)[name].parse(text)


def test_names_are_listed_by_command_and_mistyped_ones_refused():
    assert list(declared(Sail)) == ["masts", "area", "flag", "crew", "name", "sunk"]
    assert list(of_command(Sail, "rig")) == ["masts"]
    check_names(["masts", "sunk"], Sail)
    with pytest.raises(UserError, match="^mast is no option; did you mean masts?"):
        check_names(["mast"], Sail)
    assert suggestion("quarterdeck", declared(Sail)) == ""


def test_what_is_given_is_told_from_what_is_not():
    assert given(Sail(masts=2, sunk=False), Sail) == {"masts": 2, "flag": "red", "crew": 0, "sunk": False}


def test_the_schema_has_types_and_bounds():
    schema = json_schema(Sail)
    assert schema["properties"]["area"] == {
        "type": "number",
        "description": "sails",
        "exclusiveMinimum": 0,
        "exclusiveMaximum": 900.5,
    }
    assert schema["properties"]["flag"]["enum"] == ["red", "black"]
    assert list(json_schema(Sail, served=True)["properties"]) == ["flag"]


def test_signatures_and_docstrings_list_the_options():
    @documented(Sail)
    def launch(place: str, masts: int = 2, **options):
        """Launch her."""

    parameters = inspect.signature(launch).parameters
    assert list(parameters) == ["place", "masts", "area", "flag", "crew", "name", "sunk"]
    assert parameters["flag"].default == "red"
    assert "area (number of square metres): sails" in launch.__doc__
