"""A position as a program gives it to a search: a text, or a ``Board``. Standard library alone, for clients use it."""

from collections.abc import Mapping
from typing import Any, Protocol, runtime_checkable

from ..core.errors import UserError


@runtime_checkable
class HasPosition(Protocol):
    """What a search needs of a ``Board``."""

    @property
    def game(self) -> str:
        """The game's name."""
        ...

    @property
    def size(self) -> str:
        """Rows x columns, such as ``6x8``."""
        ...

    @property
    def rules(self) -> dict[str, str]:
        """The game's own options by name."""
        ...

    @property
    def position(self) -> str:
        """The text that searches take."""
        ...

    def check_asked(self, game: str, given: Mapping[str, Any]) -> None:
        """Raise UserError where a search asks for another game, or its other fields for another size or rules."""
        ...


def asked(game: str, position: str | HasPosition, given: Mapping[str, Any]) -> tuple[str, dict[str, Any]]:
    """Return (a position's text, what a Board says of the other fields of a search: board and rules).

    given: fields that are there. Raises UserError where they do not mean what a Board is.
    """
    if isinstance(position, str):
        return position, {}
    if not isinstance(position, HasPosition):
        raise UserError(f"position {position!r:.40} is neither a text nor a Board")
    position.check_asked(game, given)
    return position.position, {"board": position.size, "rules": position.rules}
