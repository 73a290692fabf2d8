"""Where a rank's time goes."""

from . import trace


class Timers:
    """Where a worker's time goes, in seconds: three clocks, none of them worked out from the others.

    The caller tells by ``communicated`` and ``waited``; work adds to ``busy`` (wall) and ``cpu``. trace: a ``Trace`` of
    the same, or None.
    """

    def __init__(self, clock, events=0):
        self.trace = trace.Trace(events) if events else None
        self.started = clock()
        self.busy = self.communication = self.idle = self.cpu = 0.0
        self.jobs = self.messages = self.bytes = 0

    def communicated(self, began, ended):
        self.communication += max(ended - began, 0.0)
        if self.trace:
            self.trace.slice(trace.COMMUNICATION, began, ended)

    def waited(self, began, ended):
        self.idle += max(ended - began, 0.0)
        if self.trace:
            self.trace.slice(trace.IDLE, began, ended)
