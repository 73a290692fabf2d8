"""The method ``merged`` of the GPU's expectimax: levels of afterstates without repeats, in launches or in one."""

import numpy as np

from ..errors import UserError
from .expectimax_tables import JUDGE

SOURCE = "expectimax.cu"
_MOST_LEVELS, _FEW, _FOUND = 6, 4, 5
_FULL, _LEAVES, _ARRIVED, _COUNTERS = 12, 13, 14, 15
_GUESS = 4.0, 20.0  # boards of the first level a root, and from one level to the next, in the middle of a game
_SPARE, _LEAST = 1.5, 1024  # room for more boards, in all and besides
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
    """threads: of a block; blocks: of a multiprocessor, which registers are shared out for; boards: of the largest level
    that a launch may have, so that it takes a few milliseconds; whole: whether a search is a single launch, whose blocks
    wait for one another: None, where it has up to ``_FEW`` roots.
    """

    def __init__(self, gpu, judge, threads=128, blocks=8, boards=1 << 20, whole=None):
        self._gpu, self._judge, self._threads, self._most, self._whole = gpu, judge, threads, boards, whole
        macros = judge.macros | {"THREADS": threads, "BLOCKS": blocks}
        names = "plant_roots", "grow_level", "judge_level", "back_level", "choose_moves", "search_whole"
        self.kernels = {name: gpu.kernel(SOURCE, name, **macros) for name in names}
        self._shared = self._bytes_of_block(macros)
        whole = self.kernels["search_whole"]
        self._blocks = gpu.multiprocessors * min(blocks, whole.resident(threads, self._shared))
        self._resident = {name: kernel.resident(threads, self._shared) for name, kernel in self.kernels.items()}
        self._counters = gpu.array(_COUNTERS, np.uint64)
        self._counters.zero()
        self._arrived = 0  # blocks at meetings so far
        self._parameters = np.zeros((), _PARAMETERS)
        self._parameters["by"], self._parameters["counters"] = judge.record, self._counters.address
        self._levels = [None] * _MOST_LEVELS  # Arrays of each
        self._roots = 0  # that there is room for
        self._growth = {}  # by the number of levels: boards of each that a root had, lately

    def _bytes_of_block(self, macros):
        bytes_ = self._gpu.array(1, np.uint32)
        self._gpu.kernel(SOURCE, "batch_bytes", **macros)(np.array([bytes_.address], np.uint64), 1, 1)
        return int(bytes_.get()[0]) * self._threads // 32

    def search(self, roots, rest):
        """Return (values, float64 (n, 5), leaves) of roots, uint64 (n, 2), which are searched ``rest`` plies below them.

        All of them are the player's turn and rest counts from after the move, or all have one tile due.
        """
        levels = max(1, -(-rest // 2))
        if levels > _MOST_LEVELS:
            raise UserError(f"expectimax on a GPU is for {2 * _MOST_LEVELS + 1} plies at most")
        out, leaves, at = np.empty((len(roots), _FOUND)), 0, 0
        while at < len(roots):
            growth = self._growth.setdefault(levels, _GUESS[0] * _GUESS[1] ** np.arange(levels))
            share = max(1, int(self._most / growth.max()))
            some = roots[at : at + share]
            self._make_room(growth, len(some))
            found, counters = self._launch(some, levels, rest - 2 * (levels - 1))
            if counters[_FULL]:
                self._growth[levels] = 2 * growth
                continue
            self._growth[levels] = np.maximum(counters[:levels] / len(some), 0.8 * growth)
            out[at : at + share] = found
            leaves += int(counters[_LEAVES])
            at += len(some)
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
            raise UserError(f"expectimax takes {need >> 20} MiB of the GPU's memory, {free >> 20} MiB are free: fewer layers")
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
        found = self._found.get(n) or self._found.setdefault(n, self._gpu.array(_FOUND * n + _COUNTERS, np.float64))
        p["found"] = found.address
        if self._whole if self._whole is not None else n <= _FEW:
            self.kernels["search_whole"](p, self._blocks, self._threads, self._shared)
            self._arrived += 2 * levels * self._blocks
        else:
            self._launch_phases(n, levels)
        values = found.get()
        return values[: _FOUND * n].reshape(n, _FOUND), values[_FOUND * n :].view(np.uint64)

    def _launch_phases(self, roots, levels):
        p, kernels, threads, shared = self._parameters, self.kernels, self._threads, self._shared
        kernels["plant_roots"](p, min(-(-4 * roots // threads), self._blocks), threads)
        for kernel, order in (("grow_level", range(levels - 1)), ("judge_level", [levels - 1]),
                              ("back_level", range(levels - 2, -1, -1))):  # fmt: skip
            for level in order:
                p["level"] = level
                kernels[kernel](p, self._gpu.multiprocessors * self._resident[kernel], threads, shared)
        kernels["choose_moves"](p, self._blocks, threads)
