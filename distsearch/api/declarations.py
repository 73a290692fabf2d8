"""How options are declared: each once, as an annotated field of a dataclass; all that lists options is derived.

    depth: Annotated[int | None, Option("depth limit (default: none)", "N", unit="plies", low=1, high=1000)] = None

From such fields come the flags of the command line, the fields of the service and their checks, the JSON Schema, the
pages of the documentation, and the signatures of the library.
"""

import difflib
import functools
import inspect
import math
import re
import types
from collections.abc import Callable
from dataclasses import MISSING, dataclass, fields
from numbers import Integral, Real
from typing import Any, NamedTuple, get_args, get_type_hints

from ..core.errors import UserError

_KINDS = {str: (str, "a text"), int: (Integral, "a whole number"), float: (Real, "a number"), bool: (bool, "a bool")}
_WORDS = {str: "text", int: "whole number", float: "number", bool: "True or False"}


@dataclass(frozen=True)
class Option:
    """An option's declaration: all but its name, its type and its default."""

    help: str  # what it does, its unit and its default
    metavar: str | None = None  # what stands for the value in usage lines
    unit: str = ""  # what a number counts
    low: float | None = None  # the least value
    high: float | None = None  # the greatest value
    above: float | None = None  # values must be greater than this
    below: float | None = None  # values must be less than this
    choices: tuple[str, ...] = ()  # the texts that it may be
    check: Callable[[Any], object] | None = None  # raises UserError for a wrong value, in place of the bounds
    parse: Callable[[str], Any] | None = None  # makes the value of a text; raises UserError
    commands: str = ""  # commands that have it as a flag, with spaces between
    group: str | None = None  # the title under which the commands' help lists it
    short: str | None = None  # a flag of one letter, such as "-a"
    served: bool = False  # whether the service takes it
    decides: bool = True  # whether it decides what a search answers, and not only how soon


class Declared(NamedTuple):
    """An option of a dataclass: its name, Python type (without None), default, and Option."""

    name: str
    type: Any
    default: Any
    option: Option

    @property
    def type_text(self) -> str:
        """Its type and unit in words."""
        words = " or ".join(self.option.choices) or _WORDS.get(self.type, str(self.type))
        return f"{words} of {self.option.unit}" if self.option.unit else words

    def parse(self, text: str) -> Any:
        """Return the checked value of a text of the command line; raises UserError."""
        if self.option.parse is not None:
            return self.option.parse(text)
        value = text
        if self.type is int:
            if not re.fullmatch(r"[+-]?[0-9]{1,30}", text):
                raise UserError(f"{shown(self.name)} '{text[:20]}' is not a whole number{self._range}")
            value = int(text)
        elif self.type is float:
            try:
                value = float(text)
            except ValueError as error:
                raise UserError(f"{shown(self.name)} '{text[:20]}' is not a number{self._range}") from error
        self.check(value)
        return value

    def check(self, value: Any) -> None:
        """Raise UserError for a value of another type, or out of bounds."""
        option = self.option
        if self.type in _KINDS:
            kind, meaning = _KINDS[self.type]
            if not isinstance(value, kind) or kind is not bool and isinstance(value, bool):
                meaning = "True or False" if kind is bool else f"{meaning}{self._range}"
                raise UserError(f"{shown(self.name)} {value!r:.40} is not {meaning}")
        if self.option.choices:
            among(self.name, value, self.option.choices)
        elif option.check is not None:
            option.check(value)
        elif self.type in (int, float) and not self._is_within(value):
            number = f"{value}" if self.type is int else f"{value:g}"
            raise UserError(f"{shown(self.name)} {number} is not a number{self._range}")

    def _is_within(self, value):
        option = self.option
        return (
            math.isfinite(value)
            and (option.low is None or value >= option.low)
            and (option.high is None or value <= option.high)
            and (option.above is None or value > option.above)
            and (option.below is None or value < option.below)
        )

    @property
    def _range(self):
        """The unit and the bounds in words, with a space before."""
        option, shown_number = self.option, "{:g}".format if self.type is float else str
        low, high, above, below = (
            None if end is None else shown_number(end) for end in (option.low, option.high, option.above, option.below)
        )
        ends = [] if low is None else [f"from {low}"]
        ends += [] if above is None else [f"above {above}"]
        if high is not None:
            ends.append(f"to {high}" if low is not None else f"and up to {high}")
        if below is not None:
            ends.append(f"and below {below}")
        upwards = ["on"] if low is not None and len(ends) == 1 else []
        return "".join(f" {part}" for part in [*(["of", option.unit] if option.unit else []), *ends, *upwards])


@functools.cache
def declared(cls: type) -> dict[str, Declared]:
    """Return the options that a dataclass declares, by name."""
    hints, found = get_type_hints(cls, include_extras=True), {}
    for each in fields(cls):
        annotation = hints[each.name]
        options = [extra for extra in getattr(annotation, "__metadata__", ()) if isinstance(extra, Option)]
        if options:
            default = each.default_factory() if each.default_factory is not MISSING else each.default
            found[each.name] = Declared(each.name, _without_none(get_args(annotation)[0]), default, options[0])
    return found


def _without_none(annotation):
    if isinstance(annotation, types.UnionType):
        (annotation,) = [part for part in get_args(annotation) if part is not types.NoneType]
    return annotation


def of_command(cls: type, command: str) -> dict[str, Declared]:
    """Return the options of a dataclass that a command has as flags, by name."""
    return {name: each for name, each in declared(cls).items() if command in each.option.commands.split()}


def given(values: Any, cls: type) -> dict[str, Any]:
    """Return those of an object's attributes that are options of a dataclass and are not None, by name."""
    every = vars(values)
    return {name: every[name] for name in declared(cls) if every.get(name) is not None}


def check_values(options: Any) -> None:
    """Raise UserError unless every option of a dataclass's instance has its type and is within its bounds."""
    for name, each in declared(type(options)).items():
        value = getattr(options, name)
        if value is not None or each.default is not None:
            each.check(value)


def check_names(names, cls: type) -> None:
    """Raise UserError for a name that is none of a dataclass's options, with the one that it resembles."""
    known = declared(cls)
    for name in names:
        if name not in known:
            raise UserError(f"{name[:40]} is no option{suggestion(name, known)}")


def suggestion(name: str, known) -> str:
    """Return "; did you mean …?" for the one of the known names that a name resembles, "" if it resembles none."""
    close = difflib.get_close_matches(name, list(known), 1, 0.6)
    return f"; did you mean {close[0]}?" if close else ""


def among(name: str, value: Any, allowed) -> None:
    """Raise UserError unless a value is one of the allowed texts."""
    if value not in allowed:
        raise UserError(f"{shown(name)} '{value!s:.40}' is not {' or '.join(allowed)}")


def shown(name: str) -> str:
    """Return the name of an option as people write it."""
    return name.replace("_", "-")


def json_schema(cls: type, served: bool = False) -> dict:
    """Return the JSON Schema of a dataclass's options as an object; served: of those that the service takes."""
    every = {name: each for name, each in declared(cls).items() if each.option.served or not served}
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "type": "object",
        "properties": {name: _schema_of(each) for name, each in every.items()},
        "additionalProperties": False,
    }


def _schema_of(each):
    option, words = each.option, {str: "string", int: "integer", float: "number", bool: "boolean"}
    bounds = {"minimum": option.low, "maximum": option.high, "enum": list(option.choices) or None}
    bounds |= {"exclusiveMinimum": option.above, "exclusiveMaximum": option.below, "default": each.default}
    found = {"type": words.get(each.type, "array"), "description": option.help}
    return found | {name: value for name, value in bounds.items() if value not in (None, ())}


def documented(cls: type) -> Callable:
    """Return a decorator of a function with ``**options``: its signature and docstring list those of a dataclass."""

    def decorate(function):
        signature = inspect.signature(function)
        own = [each for each in signature.parameters.values() if each.kind is not inspect.Parameter.VAR_KEYWORD]
        names = {each.name for each in own}
        more = {name: each for name, each in declared(cls).items() if name not in names}
        keywords = [
            inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=each.default, annotation=each.type_text)
            for name, each in more.items()
        ]
        function.__signature__ = signature.replace(parameters=[*own, *keywords])
        if function.__doc__ is not None:  # it is under python -OO
            lines = (f"{name} ({each.type_text}): {each.option.help}" for name, each in more.items())
            function.__doc__ = "\n\n".join([inspect.cleandoc(function.__doc__), "Options:", "\n".join(lines)])
        return function

    return decorate
