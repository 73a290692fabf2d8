"""Signals to a worker, which goes on and tells rank 0, which decides."""

import signal

import numpy as np

from .messages import Message, MessageType, from_records, to_records

caught: list[int] = []  # numbers of signals, in order, that are not yet reported to rank 0


def catch() -> None:
    """From now on note signals to end; SIGUSR1, to save, is ignored, for rank 0 gets its own."""
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, lambda number, _: caught.append(number))
    signal.signal(signal.SIGUSR1, signal.SIG_IGN)


def message_of(rank: int) -> Message:
    """Return the message about the first signal that this rank has ``caught``, and clear them all."""
    number, caught[:] = caught[0], []
    return Message(MessageType.TOLD_TO_END, 0, from_records(np.array([rank, number])))


def to_signal(message: Message) -> tuple[int, int]:
    """Return (rank, number of the signal) of a TOLD_TO_END message."""
    rank, number = to_records(message.payload, np.int64).tolist()
    return rank, number
