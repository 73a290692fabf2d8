"""Base of the runners of jobs on a GPU: they give their jobs back if the GPU fails."""

from abc import abstractmethod
from collections.abc import Callable

import numpy as np

from ..cluster.protocols import BatchRunner
from ..core.errors import UserError


class GpuRunner(BatchRunner):
    """A BatchRunner that gives all its jobs back, undone, once its GPU fails; from then on it has ``failed``.

    fails(error): what to do when it does; without, the error is raised.
    """

    def __init__(self, fails: Callable[[Exception], None] | None = None):
        self._fails, self.failed = fails, False

    def fail(self, error: Exception) -> None:
        """Go on without the GPU."""
        if self._fails is None:
            raise error
        self._fails(error)
        self.failed = True

    def advance(self) -> np.ndarray:
        """Search on; return the records of the jobs that are done, or of all, given up, if the GPU fails."""
        if self.failed:
            return self.stop()
        try:
            return self._advance()
        except UserError as error:
            self.fail(error)
            return self.stop()

    @abstractmethod
    def _advance(self) -> np.ndarray:
        """Return the records of the jobs that are done."""
