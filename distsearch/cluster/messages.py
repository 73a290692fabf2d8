"""Every message between master and workers: its layout in one place, versioned.

A message is a header and a payload, sent as one buffer of bytes. The payload of JOBS and RESULTS is an array of
records whose dtype the kind of job defines; nothing on this path is pickled.

=========  ==================  ===============================================================
type       direction           payload
=========  ==================  ===============================================================
SETUP      master → worker     JSON: kind of job and its setup, to be ready for
READY      worker → master     the setup's runner is compiled: int64, jobs it has at work at once, or none for one
OPEN       master → worker     one ``OPEN_RECORD``: whose the run is, and of which setup
JOBS       master → worker     job records, done in this order
RESULTS    worker → master     result records
PROGRESS   worker → master     one int64: boards of the job at work so far, once a second
STOP       master → worker     none: drop queued jobs, stop the one at work, send its result
STOPPED    worker → master     none: nothing of this run is left to do
END        master → worker     none: the run is over
START      master → worker     timers count from here; int64, events of a timeline to keep, none for no timeline
ASK        master → worker     what do the timers say? int64, 1: for the last time, and with the timeline
METRICS    worker → master     one ``METRICS_RECORD``; of a sub-master, one for each of its workers
FORGET     master → worker     none: no run of this setup will come any more
QUIT       master ↔ worker     none: leave; in answer: I do
SAVE       master → worker     none: how far is the job at work?
SAVED      worker → master     a ``SAVED_RECORD`` and a runner's bytes; none if there is nothing to tell
RESUME     master → worker     a job record, and what was SAVED of this job by an earlier run
STEER      master → worker     ``STEER_RECORD`` of jobs of which less is wanted than was, or a part for others
GAVE       worker → master     one ``GAVE_RECORD``, and the part of a job's tree that the worker gave away, as its
                               kind writes it
RESTART    master → worker     none: you were taken for lost; forget all runs. Not a run's number: a life's
RESTARTED  worker → master     none: done, of the same life
PING       master ↔ worker     none: are you there?
PONG       master ↔ worker     none: yes
HOSTS      master → worker     int64: a job, the number of the worker's host among those that search it together, and
                               the worker of each that has it; fewer than two: nobody else does any more
UPDATE     worker → worker     uint64: what hosts tell one another of such a job, see ``exchange``
HANDED     worker → master     a sub-master parts with a job: int64, the job, and what its source tells of it
NAMED      master → worker     in answer: int64, the job, and the numbers of the jobs made of it that go on there
LOST       worker → master     a sub-master's worker is lost, or back: int64, its rank, and 1 or 0
TRACE      worker → master     after END, before METRICS: the events of a run's timeline
LEND       master → worker     int64: how many parts of this run's jobs to lend out at a time, and the most that is to
                               be left of each
LENT       worker → master     int64, rows: a part's job and number, its window and what is left, its state; it is not
                               wanted any more where the window is empty
RETURNED   master → worker     int64, rows: a part's number, and bounds of its score
=========  ==================  ===============================================================

A message belongs to the run whose number its header holds; SETUP, READY and FORGET hold a setup's number instead,
RESTART and RESTARTED a life's (see ``master``). That of a QUIT is 1 if workers were lost: MPI would wait for them, so
the others answer and leave one by one.
"""

import struct
from typing import NamedTuple

import numpy as np

VERSION = 11
SETUP, READY, OPEN, JOBS, RESULTS, PROGRESS, STOP, STOPPED, END, START, ASK, METRICS, FORGET, QUIT = range(1, 15)
SAVE, SAVED, RESUME, STEER, GAVE, RESTART, RESTARTED, PING, PONG, HOSTS, UPDATE = range(15, 26)
HANDED, NAMED, LOST, TRACE, LEND, LENT, RETURNED = range(26, 33)

HEADER = struct.Struct("<HHIQ")  # version, type, run, bytes of the payload: a multiple of 8, as its records want it

# Workers share their time fairly among clients, and by weight among a client's runs. joint: 1 if ranks of the same host
# may join the run's jobs, see ``joint``.
OPEN_RECORD = np.dtype([("setup", np.uint32), ("client", np.uint32), ("weight", np.float64), ("joint", np.int64)])

# A job at work: its node, and the seconds that it has taken so far.
SAVED_RECORD = np.dtype([("node", np.int32), ("seconds", np.float64), ("cpu", np.float64)])

# A job's window, within the one it had; it is dropped, and answered as far as it is, where low >= high. If ``least``
# is not 0, a part of its tree with at least so much left is wanted as soon as it has one; what the worker then keeps is
# the job ``rest``.
STEER_RECORD = np.dtype(
    [("node", np.int32), ("low", np.int32), ("high", np.int32), ("rest", np.int32), ("least", np.int32)]
)
steer_record = struct.Struct("=5i").pack
GAVE_RECORD = np.dtype([("node", np.int32), ("rest", np.int32)])

METRICS_RECORD = np.dtype(
    [  # rank: whose they are, where a sub-master tells of its workers
        ("rank", np.int64),
        ("wall", np.float64),
        ("busy", np.float64),
        ("communication", np.float64),
        ("idle", np.float64),
        ("cpu", np.float64),
        ("jobs", np.int64),
        ("messages", np.int64),
        ("bytes", np.int64),
        ("table_full", np.float64),  # the share of its host's table that is used, 0 to 1
    ]
)


# Bytes of a message with results. MPI takes one of 4 KiB at once; of a larger one it passes a piece on at each look at
# the mail, which takes slice after slice.
LARGEST = 4000

RETURNED_FIELDS = 3  # numbers of a row

_NOTHING = np.empty(0, np.uint8)


class Message(NamedTuple):
    """A decoded message; ``run`` tells runs apart, so that late messages of an old one are known as such.

    payload: uint8; what is only to be sent may be bytes as well, which takes less to make.
    """

    type: int
    run: int
    payload: np.ndarray | bytes = _NOTHING


class Outgoing(NamedTuple):
    """A message and the rank that it goes to."""

    to: int
    message: Message


def from_records(records):
    """Return an array of records as a payload."""
    return np.frombuffer(np.ascontiguousarray(records), np.uint8) if records.size else _NOTHING


def to_records(payload, dtype):
    """Return the records of a payload."""
    return np.frombuffer(payload, dtype) if len(payload) else np.empty(0, dtype)


def to_lost(message):
    """Return (rank, whether it is lost) of a LOST message."""
    rank, lost = to_records(message.payload, np.int64).tolist()
    return rank, bool(lost)


def encode(message):
    """Return a message as one buffer of bytes."""
    kind, run, payload = message
    return bytearray().join((HEADER.pack(VERSION, kind, run, len(payload)), payload))


def decode(buffer):
    """Return the Message in a buffer of bytes, which it keeps; raises ValueError if it is none of this version."""
    if len(buffer) < HEADER.size:
        raise ValueError(f"message of {len(buffer)} bytes; a header takes {HEADER.size}")
    version, kind, run, size = HEADER.unpack_from(buffer)
    if version != VERSION or size != len(buffer) - HEADER.size:
        raise ValueError(f"message of version {version}, {len(buffer)} bytes; expected version {VERSION}")
    return Message(kind, run, np.frombuffer(buffer, np.uint8, size, HEADER.size) if size else _NOTHING)
