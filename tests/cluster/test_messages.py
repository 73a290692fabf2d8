"""Messages as bytes."""

import numpy as np
import pytest

from distsearch.cluster import messages
from distsearch.cluster.messages import Message, MessageType, decode, encode, from_records, to_records

from .toys import JOB

TYPES = list(MessageType)


def test_types_are_numbered_without_gaps():
    assert [int(kind) for kind in TYPES] == list(range(1, len(TYPES) + 1))


def test_a_message_shows_its_type():
    assert repr(Message(MessageType.JOBS, 7, b"12345678")) == "<JOBS of 7, 8 bytes>"


@pytest.mark.parametrize("kind", TYPES)
@pytest.mark.parametrize("size", [0, 1, 7, 100_000])
def test_a_message_reads_back(kind, size, rng):
    message = Message(kind, rng.randrange(2**32), np.frombuffer(rng.randbytes(size), np.uint8))
    buffer = encode(message)
    assert len(buffer) == messages.HEADER.size + size
    found = decode(buffer)
    assert (found.type, found.run) == (message.type, message.run)
    assert found.payload.tobytes() == message.payload.tobytes()


@pytest.mark.parametrize(
    "dtype",
    [
        JOB,
        messages.METRICS_RECORD,
        messages.OPEN_RECORD,
        messages.PROGRESS_RECORD,
        messages.UPDATE_RECORD,
        messages.SPLIT_RECORD,
        np.dtype(np.int64),
    ],
    ids=["jobs", "metrics", "run", "progress", "job update", "split", "numbers"],
)
@pytest.mark.parametrize("count", [0, 1, 50])
def test_records_read_back(dtype, count, rng):
    records = np.frombuffer(rng.randbytes(2 * count * dtype.itemsize), dtype)[::2]
    found = to_records(decode(encode(Message(MessageType.JOBS, 1, from_records(records)))).payload, dtype)
    assert found.tobytes() == records.tobytes()


def test_a_payload_is_not_copied():
    buffer = encode(Message(MessageType.JOBS, 1, np.arange(10, dtype=np.uint8)))
    assert np.shares_memory(decode(buffer).payload, np.frombuffer(buffer, np.uint8))


def test_another_version_is_refused():
    buffer = encode(Message(MessageType.JOBS, 1))
    buffer[0] += 1  # the version's lower byte
    with pytest.raises(ValueError, match="version"):
        decode(buffer)


@pytest.mark.parametrize("change", [lambda buffer: buffer[:-1], lambda buffer: buffer + b"\0"])
def test_a_message_of_another_length_is_refused(change):
    with pytest.raises(ValueError, match="bytes"):
        decode(change(encode(Message(MessageType.JOBS, 1, np.arange(10, dtype=np.uint8)))))


def test_a_part_of_a_header_is_refused():
    with pytest.raises(ValueError):
        decode(encode(Message(MessageType.JOBS, 1))[:5])
