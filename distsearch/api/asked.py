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


def asked(game: str, position: str | HasPosition, given: Mapping[str, Any]) -> tuple[str, dict[str, Any]]:
    """Return (a position's text, what a Board says of the other fields of a search: board and rules).

    given: fields that are there. Raises UserError where a Board is of another game, size or rules.
    """
    if isinstance(position, str):
        return position, {}
    if not isinstance(position, HasPosition):
        raise UserError(f"position {position!r:.40} is neither a text nor a Board")
    of: dict[str, Any] = {"board": position.size, "rules": position.rules}
    for name, own, wanted in [("game", position.game, game), *((each, of[each], given.get(each)) for each in of)]:
        if wanted is not None and wanted != own:
            raise UserError(f"{name} {wanted!s:.40} is not that of the Board, {own}")
    return position.position, {name: value for name, value in of.items() if value}
