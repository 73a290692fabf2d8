"""Private pages: what a rank maps over shared memory, what merges make of it, and that nothing of it stays."""

import ctypes
import math
import mmap
import sys
from types import SimpleNamespace

import numpy as np
import pytest

from distsearch import games
from distsearch.core.pointers import set_fields
from distsearch.evaluation import ntuple
from distsearch.evaluation.tuple_network import sizes
from distsearch.learning import private_pages as module
from distsearch.learning import td
from distsearch.learning.cpu_team import shared_size
from distsearch.learning.learner import Learner
from distsearch.learning.merging import PART
from distsearch.learning.private_pages import PAGE, PrivatePages, private_pages
from distsearch.learning.shared_arrays import RESULTS, Arrays

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="memory is mapped as on Linux")
FLOATS = PAGE // 4
RATE = 0.1


class Host:
    """Shared memory, as its ranks see it: each at another address."""

    def __init__(self, weights, coherent=False, ranks=2):
        self.count, self.coherent, self.ranks = weights, coherent, ranks
        self._size = -(-4 * weights * (3 if coherent else 1) // PAGE) * PAGE
        self._memory = mmap.mmap(-1, self._size)
        self._where = ctypes.addressof(ctypes.c_char.from_buffer(self._memory))
        self.shared, self.results = np.zeros(shared_size(ranks), np.int64), np.zeros((RESULTS, 4), np.int64)
        self.games = self.shared[: len(td.SHARED)].view(td.SHARED)[0]
        self.visits = np.zeros(weights, np.uint8)
        self.seen = self.learnt_at(self._where)  # as it is
        self.arrays = [self._arrays(module._Libc().again(self._where, self._size)) for _ in range(ranks)]

    def learnt_at(self, where):
        size = 4 * self.count * (3 if self.coherent else 1)
        return np.frombuffer((ctypes.c_char * size).from_address(where), np.float32)

    def _arrays(self, where):
        learnt = self.learnt_at(where)
        return SimpleNamespace(
            learnt=learnt,
            near=None,
            weights=learnt[: self.count].reshape(1, -1),
            shared=self.shared,
            games=self.games,
            results=self.results,
            traces=learnt[self.count :].reshape(-1, 2) if self.coherent else None,
            visits=self.visits,
        )

    def pages(self, **options):
        return [PrivatePages(arrays, i, self.ranks, RATE, **options) for i, arrays in enumerate(self.arrays)]

    def maps(self):
        """Return how many pieces of memory this process has in the ranks' arrays."""
        begins = [arrays.learnt.ctypes.data for arrays in self.arrays]
        with open("/proc/self/maps") as lines:
            pieces = [int(line.split("-")[0], 16) for line in lines]
        return sum(any(begin <= piece < begin + self._size for begin in begins) for piece in pieces)


def begun(pages, *numbers):
    """Have these pages private on all ranks."""
    for each in pages:
        each._wanted = np.array(numbers)
        each.begin()


def test_a_private_page_is_seen_by_its_rank_alone():
    host = Host(4 * FLOATS)
    host.seen[:] = np.arange(4 * FLOATS)
    first, second = host.pages()
    begun([first], 1, 3)
    assert (host.arrays[0].learnt == host.seen).all()  # it begins with what is shared
    host.arrays[0].learnt[:] += 1
    changed = host.seen != np.arange(4 * FLOATS)
    assert changed.reshape(4, -1).all(1).tolist() == [True, False, True, False]
    assert not changed.reshape(4, -1)[[1, 3]].any()
    assert (first.shared == host.seen).all() and (host.arrays[1].learnt == host.seen).all()
    first.end()
    assert (host.seen == np.arange(4 * FLOATS) + 1).all()
    first.close(), second.close()


@pytest.mark.parametrize("coherent", [False, True])
def test_what_was_not_counted_is_summed_up(coherent):
    """Rare visits, and sums of errors."""
    host = Host(2 * FLOATS, coherent)
    pages = host.pages()
    numbers = np.random.default_rng(1)
    host.seen[:] = base = numbers.integers(0, 100, len(host.seen)).astype(np.float32)
    begun(pages, *range(len(host.seen) // FLOATS))
    for _ in range(3):
        for each, arrays in zip(pages, host.arrays, strict=True):
            change = numbers.integers(-9, 9, len(base)) * (numbers.random(len(base)) < 0.1)
            arrays.learnt[:] += change.astype(np.float32)
            base = base + change
            if numbers.random() < 0.5:
                each.merge()
                assert (arrays.learnt == host.seen).all()
    for each in pages:
        each.end()
    assert (host.seen == base).all() and all((each.learnt == base).all() for each in host.arrays)
    for each in pages:
        each.close()


@pytest.mark.parametrize("coherence", [None, 0.25])
def test_a_change_is_merged_as_if_it_had_been_learnt_after_the_others(coherence):
    host = Host(2 * FLOATS, coherence is not None)
    pages = host.pages(visiting=True)
    host.seen[:] = 100
    if coherence is not None:
        host.arrays[0].traces[:] = -4 * coherence, 4
    begun(pages, *range(len(host.seen) // FLOATS))
    for each, arrays, by in zip(pages, host.arrays, (10, 6), strict=True):
        arrays.weights[0, 5] += by
        arrays.weights[0, 7] += by
        each.counts[each.slots[0] * FLOATS + 5] = 40
        each.counts[each.slots[0] * FLOATS + 7] = 1e6
        each.merge()
        assert not each.counts.any()  # they were of the time since the last merge
    share = 1 - math.exp(-PART * RATE * (coherence or 1) * 40 * td.SAMPLED)
    assert host.seen[5] == pytest.approx(100 + 10 + 6 - share * 10)
    assert host.seen[7] == pytest.approx(106, abs=0.01)  # the last one knows
    assert host.visits[[4, 5, 6, 7]].tolist() == [0, 255, 0, 255]
    for each in pages:
        each.end()
        each.close()


def test_a_weight_of_a_stage_is_first_learnt_by_one():
    host = Host(FLOATS)
    pages = host.pages()
    host.seen[:] = np.nan
    begun(pages, 0)
    for arrays, value in zip(host.arrays, (3, 4), strict=True):
        arrays.learnt[9] = value
    for each in pages:
        each.end()
    assert host.seen[9] == 3 and np.isnan(np.delete(host.seen, 9)).all()
    for each in pages:
        each.close()


@pytest.mark.parametrize("huge", [False, True])
def test_memory_is_given_back(huge):
    host = Host(1 << 21)
    if huge:
        for arrays in host.arrays:
            where = ctypes.c_void_p(arrays.learnt.ctypes.data)
            ctypes.CDLL(None).madvise(where, ctypes.c_size_t(arrays.learnt.nbytes), mmap.MADV_HUGEPAGE)
    host.seen[:] = 1
    before, pages = host.maps(), host.pages()
    begun(pages, 3, 700, 701, 2000)
    assert host.maps() > before
    host.arrays[0].learnt[:] += 1
    for each in pages:
        each.end()
        assert len(each.pages) == 0 and (each.slots == -1).all()
    assert (host.seen == 2).all()
    assert host.maps() <= before + 2 * 8  # pieces that are alike need not become one again
    alias = pages[0]._alias
    for each in pages:
        each.close()
        each.close()
    with open("/proc/self/maps") as lines:
        assert not any(line.startswith(f"{alias:x}-") for line in lines)
    host.arrays[1].learnt[:] += 1
    assert (host.seen == 3).all()


def test_memory_that_is_refused_leaves_the_rest_private(monkeypatch):
    host = Host(8 * FLOATS)
    pages = host.pages()[0]
    private, asked = pages._libc.private, []

    def refused_at_last(size, at):
        asked.append(at)
        if len(asked) > 3:
            raise OSError(12, "no more")
        private(size, at)

    monkeypatch.setattr(pages._libc, "private", refused_at_last)
    begun([pages], 0, 2, 4, 5, 6)
    assert pages.pages.tolist() == [0, 2, 4]
    host.arrays[0].learnt[:] += 1
    assert host.seen.reshape(8, -1).any(1).tolist() == [False, True, False, True, False, True, True, True]
    pages.end()
    assert (host.seen == 1).all()
    pages.close()


def test_few_ranks_and_memory_of_one_process_have_none(monkeypatch):
    assert private_pages(Host(FLOATS).arrays[0], 0, 3, RATE) is None
    assert private_pages(Arrays(None, 1, 4 * FLOATS, False, shared_size(1)), 0, 4, RATE) is None
    monkeypatch.setattr(mmap, "PAGESIZE", 4 * PAGE)
    assert private_pages(Host(FLOATS).arrays[0], 0, 4, RATE) is None


@pytest.mark.parametrize("coherent", [False, True])
def test_ranks_that_take_turns_learn_and_leave_nothing_private(coherent, monkeypatch):
    """The pages that they choose are those that they write; what all have learnt is there at the end of each phase."""
    monkeypatch.setattr(module, "_FIRST", 2000)
    monkeypatch.setattr(module, "_SHORTEST", 500)
    game = games.find("2048")
    tuples = ntuple.checked_tuples(game, "0,1,2,3/4,5,6,7", (4, 4))
    host = Host(sum(sizes(tuples, 16)), coherent, 4)
    pages = host.pages()
    learners = [
        Learner(game, game.rules(), tuples, True, (), arrays, RATE, 1, coherent=coherent, pages=each)
        for arrays, each in zip(host.arrays, pages, strict=True)
    ]
    averages = []
    for phase in range(4):
        set_fields(host.games, next=400 * phase, first=400 * phase, limit=400 * (phase + 1), stop=0)
        for each in pages:
            each.begin()
        at_work = set(range(4))
        while at_work:
            for i in list(at_work):
                before = learners[i].moves
                over = learners[i].run(min(100, pages[i].left))
                pages[i].look(learners[i].moves - before)
                if over:
                    pages[i].end()
                    at_work.remove(i)
        averages.append(host.results[:400, 0].mean())
        assert all((arrays.learnt == host.seen).all() for arrays in host.arrays)
    assert all(each.merges > 10 and each.touches.any() for each in pages)
    assert all(0 < len(each._wanted) <= len(host.seen) // FLOATS for each in pages)
    assert averages[-1] > 1.3 * averages[0] and np.isfinite(host.seen).all()
    for each in pages:
        each.close()
