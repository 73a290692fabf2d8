"""What passes between the service's sockets and its queue, which has the searches done."""

from collections.abc import Callable, Container, Hashable, Sequence
from itertools import count

from ..api.options import Options
from ..api.result import Outcome
from ..core.errors import UserError
from ..games.interface import Position

_NUMBERS = count(1)


class Refused(UserError):  # noqa: N818
    """A message or a request that is not taken.

    code: one of ``schema.ERRORS``; index: of the position that is the reason, if one is.
    """

    def __init__(self, code: str, text: str, index: int | None = None):
        super().__init__(text)
        self.code, self.index = code, index


def _nobody(*_: object) -> None:
    """Stands for a listener."""


class Request:
    """Positions to search, for a client.

    client: hashable, one for each connection; options: ``options.Options``; positions: list of
    ``games.interface.Position``; priority: int from -10 to 10, the highest first; progress: seconds between two partial
    answers, or None for none; label: by which a watch finds it, or None; number: of no other request of this process;
    nodes: searched for it, once it is over. Its maker sets what is called:

    ``on_answer(index, outcome)``    the ``outcome.Outcome`` of a position, once for each, in any order
    ``on_progress(index, outcome)``  what is known of a position so far
    ``on_end(state, text)``          once and last: state "done", "cancelled", "failed" or "refused"; text: why
    """

    def __init__(
        self,
        client: Hashable,
        options: Options,
        positions: Sequence[Position],
        priority: int = 0,
        progress: float | None = None,
        label: str | None = None,
    ):
        self.label, self.number = label, next(_NUMBERS)
        self.client, self.options, self.positions = client, options, positions
        self.priority, self.progress, self.nodes = priority, progress, 0
        self.on_answer: Callable[[int, Outcome], None] = _nobody
        self.on_progress: Callable[[int, Outcome], None] = _nobody
        self.on_end: Callable[[str, str], None] = _nobody

    def without(self, known: Container[int]) -> "Request":
        """Return a Request of the positions at other indices than these, whose answers go to this one's listeners."""
        left = [index for index in range(len(self.positions)) if index not in known]
        positions = [self.positions[index] for index in left]
        found = Request(self.client, self.options, positions, self.priority, self.progress)
        found.on_answer = lambda index, outcome: self.on_answer(left[index], outcome)
        found.on_progress = lambda index, outcome: self.on_progress(left[index], outcome)
        return found
