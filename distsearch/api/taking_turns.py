"""A call that can be paused in its middle, from within: what a worker runs in slices although it is not written so."""

import threading
from collections.abc import Callable


class PausableCall:
    """A call in a thread of its own, which runs only while the caller is in ``resume``: the two never run together.

    ``done``: it has returned.
    """

    def __init__(self, function: Callable[[], object]):
        self._resumed, self._paused = threading.Semaphore(0), threading.Semaphore(0)
        self._error: BaseException | None = None
        self.done = False
        # a daemon: one that is never resumed again must not keep the process from ending
        threading.Thread(target=self._run, args=(function,), daemon=True).start()

    def _run(self, function):
        self._resumed.acquire()
        try:
            function()
        except BaseException as error:
            self._error = error
        self.done = True
        self._paused.release()

    def resume(self) -> bool:
        """Run until the call pauses or returns; return whether it is done. Raises what the call raises."""
        if not self.done:
            self._resumed.release()
            self._paused.acquire()
            if self._error is not None:
                raise self._error
        return self.done

    def pause(self) -> None:
        """Return from ``resume``, and wait for the next one; for the call itself."""
        self._paused.release()
        self._resumed.acquire()
