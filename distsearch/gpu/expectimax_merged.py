"""The method ``merged`` of the GPU's expectimax: levels of afterstates without repeats, in launches or in one."""

import numpy as np

from ..errors import UserError
from .expectimax_tables import JUDGE

SOURCE = "expectimax.cu"
_MOST_LEVELS, _FEW, _FOUND = 6, 4, 5
_FULL, _LEAVES, _ARRIVED, _COUNTERS = 12, 13, 14, 15
_GUESS = 4.0, 20.0  # boards of the first level a root, and from one level to the next, in the middle of a game
_SPARE, _LEAST = 1.5, 1024  # room for more boards, in all and besides
_FORGET = 0.8  # of what roots had, from one launch to the next
_KEPT = 8  # numbers of roots whose arrays are kept
_ITEMS = 16  # of a board and a kind of tile, at most
_LEVEL = np.dtype(
    [
        ("boards", "u8"), ("values", "u8"), ("firsts", "u8"), ("edges", "u8"), ("slots", "u8"), ("capacity", "u4"),
        ("mask", "u4"),
    ],
    align=True,
)  # fmt: skip
_PARAMETERS = np.dtype(
    [
        ("by", JUDGE), ("levels", _LEVEL, _MOST_LEVELS), ("few", "u8", 2 * _FEW), ("states", "u8"), ("planted", "u8"),
        ("found", "u8"), ("counters", "u8"), ("arrived", "u8"), ("roots", "i4"), ("level_count", "i4"), ("level", "i4"),
        ("rest", "i4"),
    ],
    align=True,
)  # fmt: skip


class Merged:
    """Searches of many roots go in launches of their own for each phase; few roots in a single launch, whose blocks
    wait for one another.

    threads: of a block; blocks: of a multiprocessor, which registers are shared out for; batch: boards that a warp
    takes up at a time, a power of two; boards: of the largest level of a launch, so that it takes a few milliseconds.
    few: up to so many roots go together; whole_blocks, whole_batch: the same, of such a launch.
    """

    def __init__(self, gpu, judge, threads=128, blocks=8, batch=None, boards=1 << 22, few=_FEW, whole_blocks=1,
                 whole_batch=2):  # fmt: skip
        self._gpu, self._judge, self._threads, self._most, self._few = gpu, judge, threads, boards, few
        kinds = judge.macros["KINDS"]
        self._batch = batch or (8 if kinds <= 2 else 4 if kinds <= 4 else 2), whole_batch
        self._blocks = blocks, whole_blocks
        self._kernels = {}  # by name: the kernel, its blocks and its bytes of shared memory
        self._counters = gpu.array(_COUNTERS, np.uint64)
        self._counters.zero()
        self._arrived = 0  # blocks at meetings so far
        self._parameters = np.zeros((), _PARAMETERS)
        self._parameters["by"], self._parameters["counters"] = judge.record, self._counters.address
        self._levels = [None] * _MOST_LEVELS  # Arrays of each
        self._roots = 0  # that there is room for
        self._growth = {}  # by the number of levels: boards of each that a root had, lately
        self._ready = None  # the levels, the roots and their growth that there is room for

    def _kernel(self, name):
        """Return a kernel, as many blocks of it as are at work at a time, and the shared bytes of a block."""
        if name not in self._kernels:
            whole = name == "search_whole"
            macros = self.macros(whole)
            found = self._gpu.array(1, np.uint32)
            self._gpu.kernel(SOURCE, "batch_bytes", **macros)(np.array([found.address], np.uint64), 1, 1)
            shared = int(found.get()[0]) * self._threads // 32
            kernel = self._gpu.kernel(SOURCE, name, **macros)
            blocks = kernel.resident(self._threads, shared)
            if whole:
                blocks = min(blocks, self._blocks[1])
            self._kernels[name] = kernel, self._gpu.multiprocessors * blocks, shared
        return self._kernels[name]

    def macros(self, whole):
        """Return what the source is compiled with for the single launch, or for those of phases."""
        sizes = {"THREADS": self._threads, "BLOCKS": self._blocks[0], "BATCH": self._batch[whole]}
        return self._judge.macros | sizes | ({"WHOLE": 1} if whole else {})

    def search(self, roots, rest):
        """Return (values: float64 (n, 5), leaves) of roots, uint64 (n, 2), searched to ``rest`` plies below them.

        All of them are the player's turn and rest counts from after the move, or all have one tile due.
        """
        levels = max(1, -(-rest // 2))
        if levels > _MOST_LEVELS:
            raise UserError(f"expectimax on a GPU is for {2 * _MOST_LEVELS + 1} plies at most")
        out, leaves, at = np.empty((len(roots), _FOUND)), 0, 0
        while at < len(roots):
            growth = self._growth.setdefault(levels, [_GUESS[0] * _GUESS[1] ** level for level in range(levels)])
            some = roots[at : at + max(1, int(self._most / max(growth)))]
            n = len(some)
            if self._ready != (levels, n, growth):  # else all is as it was
                self._make_room(growth, n)
                self._ready = levels, n, growth
            found, counters = self._launch(some, levels, rest - 2 * (levels - 1))
            if counters[_FULL]:
                self._growth[levels] = [2 * boards for boards in growth]
                continue
            if n > self._few:
                lately = (counters[:levels] / n).tolist()
                self._growth[levels] = [max(new, _FORGET * old) for new, old in zip(lately, growth, strict=True)]
            out[at : at + n] = found
            leaves += int(counters[_LEAVES])
            at += n
        return out, leaves

    def _make_room(self, growth, roots):
        """Have arrays for so many roots, whose levels have so many boards each."""
        levels = self._parameters["levels"]
        for at, boards in enumerate(growth):
            capacity = int(_SPARE * boards * roots) + _LEAST
            items = _ITEMS * self._judge.macros["KINDS"] if at + 1 < len(growth) else 0
            slots = 1 << (2 * capacity - 1).bit_length()
            if not self._levels[at] or levels["capacity"][at] < capacity or self._levels[at][3].nbytes < 8 * items:
                self._allocate(at, capacity, items, slots)
            # of a large table few searches need all, and each clears what it has used
            levels["mask"][at] = min(slots, self._levels[at][4].shape[0]) - 1
        if self._roots < roots:
            self._roots = 1 << (roots - 1).bit_length()
            self._states = self._gpu.array((self._roots, 2), np.uint64)
            self._planted = self._gpu.array(4 * self._roots, np.uint32)
            self._found = {}
            self._parameters["states"], self._parameters["planted"] = self._states.address, self._planted.address

    def _allocate(self, at, capacity, items, slots):
        """Make arrays of a level for so many boards, items a board and slots; raises UserError if they do not fit."""
        self._levels[at] = None  # first of all what was there goes
        need, free = capacity * (16 + 8 + 4 + 8 * items) + 8 * slots, self._gpu.free()
        if need > free:
            mib, left = need >> 20, free >> 20
            raise UserError(f"expectimax takes {mib} MiB of the GPU's memory, {left} MiB are free: fewer layers")
        sizes = (
            ((capacity, 2), np.uint64), (capacity, np.float64), (capacity, np.uint32), (capacity * items, np.uint64),
            (slots, np.uint64),
        )  # fmt: skip
        self._levels[at] = [self._gpu.array(*each) for each in sizes]
        self._levels[at][4].zero()
        self._parameters["levels"][at] = (*(each.address for each in self._levels[at]), capacity, 0)

    def _launch(self, roots, levels, rest):
        """Return (values of roots and their moves, counters)."""
        n, p = len(roots), self._parameters
        p["roots"], p["level_count"], p["rest"], p["arrived"] = n, levels, rest, self._arrived
        if n <= _FEW:
            p["few"][: 2 * n] = roots.reshape(-1)
        else:
            given = np.zeros((self._roots, 2), np.uint64)
            given[:n] = roots
            self._states.set(given)
        if n not in self._found:
            if len(self._found) > _KEPT:
                self._found.clear()
            self._found[n] = self._gpu.array(_FOUND * n + _COUNTERS, np.float64)
        found = self._found[n]
        p["found"] = found.address
        if n <= self._few:
            self._arrived += 2 * levels * self._run("search_whole")  # meetings: one after each phase but the last
        else:
            self._launch_phases(n, levels)
        values = found.get()
        return values[: _FOUND * n].reshape(n, _FOUND), values[_FOUND * n :].view(np.uint64)

    def _launch_phases(self, roots, levels):
        self._run("plant_roots", -(-4 * roots // self._threads))
        for level in range(levels - 1):
            self._run("grow_level", level=level)
        self._run("judge_level", level=levels - 1)
        for level in reversed(range(levels - 1)):
            self._run("back_level", level=level)
        self._run("choose_moves")

    def _run(self, name, most=1 << 30, level=0):
        """Launch a kernel with up to so many blocks; return how many."""
        kernel, blocks, shared = self._kernel(name)
        self._parameters["level"] = level
        kernel(self._parameters, min(blocks, most), self._threads, shared)
        return min(blocks, most)
