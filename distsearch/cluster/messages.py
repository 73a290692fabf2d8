"""Every message between master and workers: its layout in one place, versioned.

A message is a header and a payload, sent as one buffer of bytes. The payload of JOBS and RESULTS is an array of
records whose dtype the kind of job defines; nothing on this path is pickled.

A message belongs to the run whose number its header holds; SETUP, READY and FORGET hold a setup's number instead,
RESET and RESET_DONE the worker's epoch (see ``master``), METRICS_REQUEST and
METRICS may hold NO_RUN. That of a QUIT is 1 if workers were lost: MPI would wait for
them, so the others answer and leave one by one.
"""

import struct
from enum import IntEnum
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import DTypeLike

VERSION = 16


class MessageType(IntEnum):
    """Types of message, with direction and payload; w: a worker, or a sub-master in its place."""

    SETUP = 1  # master → w: JSON, kind of job and its setup, to be ready for
    READY = 2  # w → master: the setup's runner is compiled; int64, its slots (jobs at work at once), or none for one
    OPEN = 3  # master → w: one OPEN_RECORD: the client and the setup of the run
    JOBS = 4  # master → w: job records, done in this order
    RESULTS = 5  # w → master: result records
    NODE_COUNT = 6  # w → master: int64, nodes of the job at work so far, once a second
    STOP = 7  # master → w: drop queued jobs, stop the one at work, send its result
    STOPPED = 8  # w → master: nothing of this run is left to do
    END = 9  # master → w: the run is over
    START = 10  # master → w: timers count from here; int64, events of a timeline to keep, none for no timeline
    METRICS_REQUEST = 11  # master → w: send METRICS; int64, 1: for the last time, and with the timeline
    METRICS = 12  # w → master: one METRICS_RECORD; of a sub-master, one for each of its workers
    FORGET = 13  # master → w: no run of this setup will come any more
    QUIT = 14  # master ↔ w: leave; in answer: it does
    PROGRESS_REQUEST = 15  # master → w: send PROGRESS of the job at work
    PROGRESS = 16  # w → master: a PROGRESS_RECORD and a runner's bytes; empty if the job would begin again
    RESTORE_PROGRESS = 17  # master → w: a job record, and the PROGRESS of this job in an earlier run
    JOB_UPDATE = 18  # master → w: UPDATE_RECORDs: jobs whose window is narrower, or off which a subtree must be split
    SPLIT = 19  # w → master: one SPLIT_RECORD, and the subtree split off a job, as its kind writes it
    RESET = 20  # master → w: you were declared lost, drop all runs; the header holds the worker's epoch, not a run
    RESET_DONE = 21  # w → master: done, of the same epoch
    PING = 22  # master ↔ w: are you there?
    PONG = 23  # master ↔ w: yes
    HOSTS = 24  # master → w: int64, a job, the number of w's host among those that search it together, and the owner
    #             on each of them; fewer than two: no other host searches it any more
    TT_UPDATE = 25  # w → w: uint64, transposition-table entries and more of such a job, see ``exchange``
    EXPORT = 26  # sub-master → master: int64, a job whose root it exports, and its children as the source has them
    EXPORT_IDS = 27  # in answer: int64, the job, and the ids of the jobs made of it that go on there
    WORKER_LOST = 28  # sub-master → master: int64, a worker's rank, and 1 if it is lost, 0 if it has rejoined
    TIMELINE = 29  # w → master: after END, before METRICS: the events of a run's timeline
    OFFLOAD_REQUEST = 30  # master → w: int64, how many parts of this run's jobs to offload at a time, and the most
    #                       depth left of each
    OFFLOAD = 31  # w → master: int64, rows: a part's job and number, its window and depth left, its state; the part
    #               ends where the window is empty
    OFFLOAD_RESULT = 32  # master → w: int64, rows: a part's number, and bounds of its score
    FAILED = 33  # w → master: UTF-8, why w can do no job of this run
    TOLD_TO_END = 34  # w → master: int64, a rank and the number of the signal that it got


_TYPES = (None, *MessageType)  # by number; a call of the enum takes twelve times as long

HEADER = struct.Struct("<HHIQ")  # version, type, run, bytes of the payload: a multiple of 8, as its records want it

# Workers share their time fairly among clients, and by weight among a client's runs. joint: 1 if ranks of the same host
# may join the run's jobs, see ``joint``.
OPEN_RECORD = np.dtype([("setup", np.uint32), ("client", np.uint32), ("weight", np.float64), ("joint", np.int64)])

# A job at work, and the seconds that it has taken so far.
PROGRESS_RECORD = np.dtype([("job_id", np.int32), ("seconds", np.float64), ("cpu", np.float64)])

# A job's window, within the one it had; it is dropped, and answered as far as it is, where low >= high. If
# ``min_depth_left`` is not 0, a subtree with at least so much left must be split off as soon as there is one, and the
# worker goes on with the job ``remainder``.
UPDATE_RECORD = np.dtype(
    [("job_id", np.int32), ("low", np.int32), ("high", np.int32), ("remainder", np.int32), ("min_depth_left", np.int32)]
)
update_record = struct.Struct("=5i").pack
SPLIT_RECORD = np.dtype([("job_id", np.int32), ("remainder", np.int32)])

METRICS_RECORD = np.dtype(
    [  # rank: of the worker, in the METRICS of a sub-master
        ("rank", np.int64),
        ("wall", np.float64),
        ("busy", np.float64),
        ("communication", np.float64),
        ("idle", np.float64),
        ("cpu", np.float64),
        ("gpu", np.float64),  # seconds that its GPU was at work
        ("jobs", np.int64),
        ("messages", np.int64),
        ("bytes", np.int64),
        ("table_full", np.float64),  # the share of its host's table that is used, 0 to 1
        ("nodes", np.int64),
        ("at_work", np.int64),  # jobs, another rank's included that it has joined
        ("queued", np.int64),  # jobs that wait at the worker
        ("slots", np.int64),  # jobs at work at once, more than one on a GPU
    ]
)


NO_RUN = 0  # runs are numbered from 1

# Bytes of a message with results. MPI takes one of 4 KiB at once; of a larger one it passes a piece on at each look at
# the mail, which takes slice after slice.
LARGEST = 4000

OFFLOAD_RESULT_FIELDS = 3  # numbers of a row

_NOTHING = np.empty(0, np.uint8)


class Message(NamedTuple):
    """A decoded message; ``run`` tells runs apart, so that late messages of an old one are known as such.

    payload: uint8, or, in a message to send, bytes, which take less time to make.
    """

    type: MessageType
    run: int
    payload: Any = _NOTHING

    def __repr__(self):
        return f"<{self.type.name} of {self.run}, {len(self.payload)} bytes>"


class Outgoing(NamedTuple):
    """A message and the rank that it goes to."""

    to: int
    message: Message


def from_records(records: np.ndarray) -> np.ndarray:
    """Return an array of records as a payload."""
    return np.frombuffer(np.ascontiguousarray(records), np.uint8) if records.size else _NOTHING


def to_records(payload: np.ndarray | bytes, dtype: DTypeLike) -> np.ndarray:
    """Return the records of a payload."""
    return np.frombuffer(payload, dtype) if len(payload) else np.empty(0, dtype)


def to_lost(message: Message) -> tuple[int, bool]:
    """Return (rank, whether it is lost) of a WORKER_LOST message."""
    rank, lost = to_records(message.payload, np.int64).tolist()
    return rank, bool(lost)


def failed(run: int, failure: str) -> Message:
    """Return a FAILED message: why no job of a run can be done."""
    return Message(MessageType.FAILED, run, np.frombuffer(failure.encode(errors="replace"), np.uint8))


def encode(message: Message) -> bytearray:
    """Return a message as one buffer of bytes."""
    kind, run, payload = message
    return bytearray().join((HEADER.pack(VERSION, kind, run, len(payload)), payload))


def decode(buffer: Any) -> Message:
    """Return the Message in a buffer of bytes, which it keeps; raises ValueError if it is none of this version."""
    if len(buffer) < HEADER.size:
        raise ValueError(f"message of {len(buffer)} bytes; a header takes {HEADER.size}")
    version, kind, run, size = HEADER.unpack_from(buffer)
    if version != VERSION or size != len(buffer) - HEADER.size or not 0 < kind < len(_TYPES):
        raise ValueError(f"message of version {version}, type {kind}, {len(buffer)} bytes; expected version {VERSION}")
    return Message(_TYPES[kind], run, np.frombuffer(buffer, np.uint8, size, HEADER.size) if size else _NOTHING)
