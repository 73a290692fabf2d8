"""Every message between master and workers: its layout in one place, versioned.

A message is a header and a payload, sent as one buffer of bytes. The payload of JOBS and RESULTS is an array of
records whose dtype the kind of job defines; nothing on this path is pickled.

=========  ==================  ===============================================================
type       direction           payload
=========  ==================  ===============================================================
SETUP      master → worker     JSON: kind of job and its setup; opens run ``run``
READY      worker → master     none: the runner is compiled
START      master → worker     none: all are ready; timers count from here
JOBS       master → worker     job records, done in this order
RESULTS    worker → master     result records
PROGRESS   worker → master     one int64: boards of the job at work so far, once a second
STOP       master → worker     none: drop queued jobs, stop the running one, send its result
STOPPED    worker → master     none: nothing of this run is left to do
END        master → worker     none: the run is over
METRICS    worker → master     one ``METRICS_RECORD``
QUIT       master → worker     none: leave
=========  ==================  ===============================================================
"""

from typing import NamedTuple

import numpy as np

VERSION = 1
SETUP, READY, START, JOBS, RESULTS, PROGRESS, STOP, STOPPED, END, METRICS, QUIT = range(1, 12)

HEADER = np.dtype([("version", np.uint16), ("type", np.uint16), ("run", np.uint32), ("size", np.uint64)])

METRICS_RECORD = np.dtype([
    ("wall", np.float64), ("busy", np.float64), ("communication", np.float64), ("idle", np.float64),
    ("cpu", np.float64), ("jobs", np.int64), ("messages", np.int64), ("bytes", np.int64),
])  # fmt: skip


class Message(NamedTuple):
    """A decoded message; ``run`` tells searches apart, so that late messages of an old one are known as such."""

    type: int
    run: int
    payload: np.ndarray = np.empty(0, np.uint8)  # uint8


class Outgoing(NamedTuple):
    """A message and the rank that it goes to."""

    to: int
    message: Message


def from_records(records):
    """Return an array of records as a payload."""
    return np.ascontiguousarray(records).view(np.uint8).reshape(-1)


def to_records(payload, dtype):
    """Return the records of a payload."""
    return payload.view(dtype)


def encode(message):
    """Return a message as one uint8 buffer."""
    header = np.zeros(1, HEADER)
    header[0] = VERSION, message.type, message.run, len(message.payload)
    return np.concatenate((header.view(np.uint8), message.payload))


def decode(buffer):
    """Return the Message in a uint8 buffer; raises ValueError if another version of the program wrote it."""
    header = buffer[: HEADER.itemsize].view(HEADER)[0]
    if header["version"] != VERSION or header["size"] != len(buffer) - HEADER.itemsize:
        raise ValueError(f"message of version {header['version']}, {len(buffer)} bytes; expected version {VERSION}")
    return Message(int(header["type"]), int(header["run"]), buffer[HEADER.itemsize :].copy())
