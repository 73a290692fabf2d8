"""Memory that the ranks of a host share. All ranks here are of one host; a short one is a rank that finds less room."""

import re
from pathlib import Path

import numpy as np
import pytest

from distsearch.cluster import shared_memory
from distsearch.cluster.shared_memory import SharedWords
from distsearch.core.errors import UserError

MORE_THAN_ANY = 1 << 22  # MiB
ROOM = 3  # MiB of a short host
WORDS = 1 << 17  # in a MiB

pytestmark = pytest.mark.mpi(min_size=2)  # a rank alone shares nothing, see tests/cluster/test_shared_memory.py
short_ranks = pytest.mark.parametrize("short", [0, -1], ids=["first", "last"])


@pytest.fixture
def share(comm):
    """``share(mib, less=False)``: SharedWords of all ranks, closed after the test; collective."""
    made = []

    def make(mib, **options):
        made.append(SharedWords(comm, mib, nobody_is_alone, **options))
        return made[-1]

    yield make
    for words in made:
        words.close()


def nobody_is_alone(mib):
    raise AssertionError("an array for a process alone was asked for")


@pytest.fixture
def give_room(comm, monkeypatch):
    """``give_room(rank, mib)``: that rank (-1: the last) finds so much room on its host, all others any amount."""

    def give(rank, mib):
        chosen = comm.Get_rank() == rank % comm.Get_size()
        monkeypatch.setattr(shared_memory, "_room", lambda: mib if chosen else MORE_THAN_ANY)

    return give


def refusal(share, mib, **options):
    """The text of this rank's UserError, or None if it got its array."""
    try:
        share(mib, **options)
    except UserError as error:
        return str(error)
    return None


def offered(text):
    """The size that a refusal offers instead."""
    return int(re.search(r"--table ([0-9]+)$", text)[1])


def shared_bytes():
    """Bytes of this process's address space that others may share."""
    spans = [line.split()[0] for line in Path("/proc/self/maps").read_text().splitlines() if line.split()[1][3] == "s"]
    return sum(int(end, 16) - int(start, 16) for start, end in (span.split("-") for span in spans))


# --- what is shared ---


@pytest.mark.parametrize("mib", [1, 7, 64])
def test_the_array_is_zero_at_first(mib, share, agree):
    words = share(mib)
    agree(words.words.dtype == np.uint64, words.words.dtype)
    agree((words.mib, len(words.words)) == (mib, mib * WORDS), f"{words.mib} MiB, {len(words.words)} words")
    agree(not words.words.any(), "not zero")


def test_every_rank_sees_what_the_others_wrote(share, agree, comm):
    words, rank, ranks = share(2).words, comm.Get_rank(), comm.Get_size()
    comm.Barrier()
    words[rank::ranks] = rank + 1
    comm.Barrier()
    wrong = np.flatnonzero(words != np.arange(len(words)) % ranks + 1)
    agree(len(wrong) == 0, f"{len(wrong)} wrong words, first {wrong[:1]}")


def test_each_array_is_another(share, agree, comm):
    first, second = share(1).words, share(1).words
    comm.Barrier()
    if comm.Get_rank() == comm.Get_size() - 1:
        first[:] = 1
    comm.Barrier()
    agree(first.all(), "the first array lacks what was written")
    agree(not second.any(), "the second array has what was written to the first")


def test_closing_gives_the_memory_back(share, agree, comm):
    before = shared_bytes()
    words = share(32)
    words.words[comm.Get_rank() :: 512] = 1
    opened = shared_bytes()
    comm.Barrier()
    words.close()
    agree(opened - before >= 32 << 20, f"{opened - before:,} bytes of an array of 32 MiB")
    agree(shared_bytes() - before < 1 << 20, f"{shared_bytes() - before:,} bytes are left")
    agree(words.words is None, "the array is still there")
    words.close()  # once more does no more
    agree(share(1).words is not None, "no array after another was closed")


# --- hosts without room ---


@pytest.mark.parametrize("less", [False, True])
def test_as_much_as_there_is_room_for_is_given(less, share, give_room, agree):
    give_room(0, ROOM)
    words = share(ROOM, less=less)
    agree((words.mib, len(words.words)) == (ROOM, ROOM * WORDS), f"{words.mib} MiB")


@short_ranks
def test_every_rank_refuses_what_one_host_has_no_room_for(short, share, give_room, agree, comm):
    give_room(short, ROOM)
    for mib in (ROOM + 1, 100, MORE_THAN_ANY):
        text = refusal(share, mib)
        agree(text is not None and f"table {mib}:" in text, text)
        agree(text == comm.bcast(text), text)
    agree(offered(text) == ROOM, text)
    agree(refusal(share, offered(text)) is None, "what was offered is refused")


def test_what_no_host_has_room_for_is_refused(share, agree):
    text = refusal(share, MORE_THAN_ANY)
    agree(text is not None and 0 < offered(text) < MORE_THAN_ANY, text)


@short_ranks
def test_less_will_do_where_it_may(short, share, give_room, agree, comm):
    give_room(short, ROOM)
    words = share(64, less=True)
    agree((words.mib, len(words.words)) == (ROOM, ROOM * WORDS), f"{words.mib} MiB")
    comm.Barrier()
    words.words[comm.Get_rank()] = 1
    comm.Barrier()
    agree(words.words.sum() == comm.Get_size(), words.words[:8])


@short_ranks
@pytest.mark.parametrize("less", [False, True])
def test_a_host_without_any_room_is_refused_on_every_rank(less, short, share, give_room, agree):
    give_room(short, 0)
    text = refusal(share, 64, less=less)
    agree(text is not None and "room for 0 MiB" in text, text)


# --- arrays that grow ---


@short_ranks
def test_one_that_grows_leaves_half_of_the_room_to_others(short, share, give_room, agree):
    give_room(short, 100)
    words = share(4096, less=True, first=8)
    agree((words.mib, len(words.words)) == (50, 50 * WORDS), f"{words.mib} MiB")


@short_ranks
def test_one_that_grows_begins_with_what_it_may(short, share, give_room, agree):
    give_room(short, 100)
    agree((mib := share(4096, less=True, first=64).mib) == 64, f"{mib} MiB")
    give_room(short, ROOM)
    agree((mib := share(4096, less=True, first=64).mib) == ROOM, f"{mib} MiB")


def test_the_least_that_any_rank_wants_counts(share, agree, comm):
    words = share(30 + comm.Get_rank(), less=True, first=8)
    agree(words.mib == 30, f"{words.mib} MiB")


def test_memory_is_provided_before_it_is_written_to(share, agree, comm, monkeypatch):
    words = share(8, less=True, first=2)
    comm.Barrier()
    begin = comm.Get_rank() << 12
    agree(words.back(begin, begin + (1 << 12)), "there was none")
    words.words[begin // 8] = 1 + comm.Get_rank()
    comm.Barrier()
    agree(words.words[:: 1 << 9][: comm.Get_size()].tolist() == list(range(1, 1 + comm.Get_size())), "not shared")

    def full(*_):
        raise OSError("No space left on device")

    monkeypatch.setattr(shared_memory.os, "posix_fallocate", full)
    agree(not words.back(0, 1 << 12), "a file system that is full has memory")
