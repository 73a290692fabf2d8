"""Signals to a rank other than rank 0: it does not end, for rank 0 decides about that, but tells rank 0."""

import signal

import numpy as np

from .messages import Message, MessageType, from_records, to_records

caught: list[int] = []  # numbers of signals, in order, that nothing was said of yet


def catch() -> None:
    """Note signals that tell this process to end, from now on; a wish to save is for rank 0."""
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, lambda number, _: caught.append(number))
    signal.signal(signal.SIGUSR1, signal.SIG_IGN)


def message_of(rank: int) -> Message:
    """Return what tells rank 0 of the first signal that this rank has ``caught``; it is not said again."""
    number, caught[:] = caught[0], []
    return Message(MessageType.TOLD_TO_END, 0, from_records(np.array([rank, number])))


def to_signal(message: Message) -> tuple[int, int]:
    """Return (rank, number of the signal) of a TOLD_TO_END message."""
    rank, number = to_records(message.payload, np.int64).tolist()
    return rank, number
