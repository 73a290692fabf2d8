"""The method ``merged`` of the GPU's expectimax: levels of afterstates without repeats, in launches or in one."""

import time

import numpy as np

from ..core.errors import UserError
from .expectimax_tables import EVALUATOR
from .structs import COUNTER, struct, typed

SOURCE = "expectimax.cu"
MOST_LEVELS, _FEW = 6, 4
FOUND = 5  # numbers of a root: what its moves are worth, and itself; behind those of all roots the counters
MOST_PLIES = 2 * MOST_LEVELS + 1
_KERNELS = "search_whole", "plant_roots", "grow_level", "evaluate_level", "back_level", "choose_moves"
FULL, _LEAVES, _COUNTERS = 12, 13, 15
_GUESS = 4.0, 20.0  # boards of the first level a root, and from one level to the next, in the middle of a game
_SPARE, _LEAST = 1.5, 1024  # room for more boards, in all and besides
_ONCE_MORE = 1.25  # the room that was too small: of games, boards grow from launch to launch
_FORGET = 0.8  # of what roots had, from one launch to the next
_ALL = 1 << 30  # blocks: as many as are at work at a time
_ITEMS = 16  # of a board and a kind of tile, at most
_LEVEL = struct(
    "Level",
    [
        ("boards", typed("ulonglong2*")),  # cells alone; a tile is due
        ("values", typed("double*")),
        ("firsts", typed("unsigned*")),  # of each batch: where its edges begin
        ("edges", typed("uint2*")),  # of each item: which boards of the next level sliding to either side makes
        ("slots", typed("unsigned long long*")),
        ("capacity", "u4"),  # boards; there is room for all items that so many boards can have
        ("mask", "u4"),  # slots - 1
    ],
)
_PARAMETERS = struct(
    "Parameters",
    [
        ("by", EVALUATOR),
        ("levels", _LEVEL, MOST_LEVELS),
        ("few", "u8", 2 * _FEW),
        ("states", typed("const ulonglong2*")),  # the roots; 0: they are in ``few``
        ("planted", typed("unsigned*")),  # of a root: four afterstates
        ("found", typed("double*")),  # of a root FOUND; behind them the counters
        ("counters", typed("unsigned long long*")),
        ("arrived", COUNTER),  # at meetings of earlier launches
        ("launch", COUNTER),  # of few roots: its number
        ("ended", typed("unsigned long long*")),  # where the host looks for that
        ("roots", "i4"),
        ("level_count", "i4"),
        ("level", "i4"),  # of this phase
        ("rest", "i4"),  # plies below the last level's boards: 0, 1 (chance) or 2
    ],
)
_BATCH_BYTES = struct("BatchBytes", [("bytes", typed("unsigned*"))])


class AfterstateLevels:
    """Searches of many roots go in launches of their own for each phase; few roots in a single launch, whose blocks
    wait for one another.

    threads: of a block; blocks: of a multiprocessor, which registers are shared out for; batch: boards that a warp
    takes up at a time, a power of two; boards: of the largest level of a launch, so that it takes a few milliseconds.
    few: up to so many roots go together; whole_blocks, whole_batch: the same, of such a launch.
    """

    def __init__(
        self, gpu, evaluator, threads=128, blocks=8, batch=None, boards=1 << 22, few=_FEW, whole_blocks=1, whole_batch=1
    ):
        self._gpu, self._evaluator, self._threads, self._most, self._few = gpu, evaluator, threads, boards, few
        kinds = evaluator.macros["KINDS"]
        self._batch = batch or (8 if kinds <= 2 else 4 if kinds <= 4 else 2), whole_batch
        self._blocks = blocks, whole_blocks
        self._kernels = {}  # by name: the kernel, its blocks and its bytes of shared memory
        self._counters = gpu.array(_COUNTERS, np.uint64)
        self._counters.zero()
        self._arrived = self._launches = 0  # blocks at meetings, and launches of few roots, so far
        self._parameters = np.zeros((), _PARAMETERS)
        self._parameters["by"], self._parameters["counters"] = evaluator.record, self._counters.address
        self._levels = [None] * MOST_LEVELS  # Arrays of each
        # few roots are found in memory that the kernel writes itself: a copy takes as long as a small search
        self._ended_at = FOUND * few + _COUNTERS  # behind all that is found
        self._few_found = gpu.pinned(self._ended_at + 1, np.float64)
        self._parameters["ended"] = self._few_found.address + 8 * self._ended_at
        self._launched = 0.0  # when, by the host's clock, few roots were
        self._roots = 0  # that there is room for
        self._growth = {}  # by the number of levels: boards of each that a root had, lately
        self._fits = {}  # by the same: roots of a launch
        self._ready = None  # the levels, the roots and their growth that there is room for
        self._asked, self._at = None, 0  # (roots, levels, plies below the last one); how many have their values
        self._under_way = 0  # roots of the launch that the GPU is at

    def compile(self):
        """Compile, or load from disk, all kernels."""
        for name in _KERNELS:
            self._kernel(name)

    def _kernel(self, name):
        """Return a kernel, as many blocks of it as are at work at a time, and the shared bytes of a block."""
        if name not in self._kernels:
            whole = name == "search_whole"
            macros = self.macros(whole)
            found = self._gpu.array(1, np.uint32)
            self._gpu.kernel(SOURCE, "batch_bytes", **macros)(np.array((found.address,), _BATCH_BYTES), 1, 1)
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
        return self._evaluator.macros | sizes | ({"WHOLE": 1} if whole else {})

    def search(self, roots, rest):
        """Return (values: float64 (n, 5), leaves) of roots, uint64 (n, 2), searched to ``rest`` plies below them.

        All of them are the player's turn and rest counts from after the move, or all have one tile due.
        """
        self.begin(roots, rest)
        return self.result()

    def begin(self, roots, rest):
        """Have the GPU search roots, as ``search`` does; the call returns while it is at it."""
        levels, rest = _levels_of(rest)
        self._asked, self._at = (roots, levels, rest), 0
        self._launch_next()

    def search_there(self, address, n, rest):
        """Search n roots, no more than ``at_once``, that are on the GPU; return the address of what is found.

        The call returns while the GPU is at it. Where the kernels find that there is no room, they say so in the
        counter FULL behind what is found; the caller tells ``note``.
        """
        levels, rest = _levels_of(rest)
        self._prepare(levels, n)
        self._parameters["states"] = address
        self._launch(n, levels, rest, self._found)
        return self._found.address

    def note(self, rest, n, boards, full):
        """Take in how many boards each level of n roots had, and whether they found no room."""
        levels, _ = _levels_of(rest)
        self._note_growth(levels, n, boards, full)

    def result(self):
        """Return what ``search`` does, of the roots that ``begin`` was given last."""
        roots, levels, _ = self._asked
        out, leaves = np.empty((len(roots), FOUND)), 0
        while n := self._under_way:
            values = self._values_found(n)
            counters = values[FOUND * n :].view(np.uint64)
            self._note_growth(levels, n, counters, counters[FULL])
            if not counters[FULL]:
                out[self._at : self._at + n] = values[: FOUND * n].reshape(n, FOUND)
                leaves += int(counters[_LEAVES])
                self._at += n
            self._launch_next()
        return out, leaves

    def _values_found(self, n):
        if n > self._few:
            return self._found.part(FOUND * n + _COUNTERS).get()
        end = FOUND * n + _COUNTERS
        self._few_found.wait_for(self._ended_at, self._launches)
        values = self._few_found.values[:end].copy()
        self._gpu.busy_seconds += time.perf_counter() - self._launched
        return values

    def at_once(self, rest):
        """Return how many roots a launch takes, by what the latest ones were like."""
        return self._fitting(_levels_of(rest)[0])

    def _fitting(self, levels):
        if levels not in self._fits:
            growth = self._growth.setdefault(levels, [_GUESS[0] * _GUESS[1] ** level for level in range(levels)])
            self._fits[levels] = max(1, int(self._most / max(growth)))
        return self._fits[levels]

    def _note_growth(self, levels, n, counters, full):
        if n <= self._few and not full:
            return
        self._fits.pop(levels, None)
        if full:
            self._growth[levels] = [2 * boards for boards in self._growth[levels]]
        else:
            old, lately = self._growth[levels], (counters[:levels] / n).tolist()
            self._growth[levels] = [max(new, _FORGET * each) for new, each in zip(lately, old, strict=True)]

    def _launch_next(self):
        """Launch the next roots of those that were asked for, as many as a launch takes."""
        roots, levels, rest = self._asked
        n = self._under_way = min(len(roots) - self._at, self._fitting(levels))
        if not n:
            return
        some = roots[self._at : self._at + n]
        self._prepare(levels, n)
        self._parameters["states"] = 0 if n <= _FEW else self._states.address
        if n <= _FEW:
            self._parameters["few"][: 2 * n] = some.reshape(-1)
        else:
            self._states.part(2 * n).set(some.reshape(-1))
        self._launch(n, levels, rest, self._few_found if n <= self._few else self._found)

    def _prepare(self, levels, n):
        """Have room for n roots."""
        self._fitting(levels)  # knows by now what to expect
        growth = self._growth[levels]
        if self._ready != (levels, n, growth):  # else all is as it was
            self._make_room(growth, n)
            self._ready = levels, n, growth

    def _make_room(self, growth, roots):
        """Have arrays for so many roots, whose levels have so many boards each."""
        levels = self._parameters["levels"]
        for at, boards in enumerate(growth):
            capacity = int(_SPARE * boards * roots) + _LEAST
            items = _ITEMS * self._evaluator.macros["KINDS"] if at + 1 < len(growth) else 0
            slots = 1 << (2 * capacity - 1).bit_length()
            if not self._levels[at] or levels["capacity"][at] < capacity or self._levels[at][3].nbytes < 8 * items:
                more = _ONCE_MORE if self._levels[at] else 1
                self._allocate(at, int(more * capacity), items, slots)
            # of a large table few searches need all, and each clears what it has used
            levels["mask"][at] = min(slots, self._levels[at][4].shape[0]) - 1
        if self._roots < roots:
            self._roots = 1 << (roots - 1).bit_length()
            self._states = self._gpu.array(2 * self._roots, np.uint64)
            self._planted = self._gpu.array(4 * self._roots, np.uint32)
            self._found = self._gpu.array(FOUND * self._roots + _COUNTERS, np.float64)
            self._parameters["planted"] = self._planted.address

    def _allocate(self, at, capacity, items, slots):
        """Make arrays of a level for so many boards, items a board and slots; raises UserError if they do not fit."""
        self._levels[at] = None  # first of all what was there goes
        need, free = capacity * (16 + 8 + 4 + 8 * items) + 8 * slots, self._gpu.free()
        if need > free:
            mib, left = need >> 20, free >> 20
            raise UserError(f"expectimax takes {mib} MiB of the GPU's memory, {left} MiB are free: fewer layers")
        boards = ((capacity, 2), np.uint64), (capacity, np.float64), (capacity, np.uint32)
        sizes = *boards, (capacity * items, np.uint64), (slots, np.uint64)
        self._levels[at] = [self._gpu.array(*each) for each in sizes]
        self._levels[at][4].zero()
        self._parameters["levels"][at] = (*(each.address for each in self._levels[at]), capacity, 0)

    def _launch(self, n, levels, rest, found):
        """Launch a search of n roots, whose last level has ``rest`` plies below it; ``found``: where results go."""
        p = self._parameters
        p["found"] = found.address
        p["roots"], p["level_count"], p["rest"], p["arrived"] = n, levels, rest, self._arrived
        if n <= self._few:
            self._launched = time.perf_counter()
            self._launches += 1
            p["launch"] = self._launches
            # meetings: one after each phase but the first and the last, which are one block's
            blocks = self._run("search_whole", 1 if levels == 1 else _ALL, timed=found is not self._few_found)
            self._arrived += 2 * (levels - 1) * blocks
        else:
            self._launch_phases(n, levels)

    def _launch_phases(self, roots, levels):
        self._run("plant_roots", -(-4 * roots // self._threads))
        for level in range(levels - 1):
            self._run("grow_level", level=level)
        self._run("evaluate_level", level=levels - 1)
        for level in reversed(range(levels - 1)):
            self._run("back_level", level=level)
        self._run("choose_moves")

    def _run(self, name, most=_ALL, level=0, timed=True):
        """Launch a kernel with up to so many blocks; return how many."""
        kernel, blocks, shared = self._kernel(name)
        self._parameters["level"] = level
        kernel(self._parameters, min(blocks, most), self._threads, shared, timed)
        return min(blocks, most)


def _levels_of(rest):
    """Return (the levels of a search to so many plies below its roots, the plies below the last level)."""
    levels = max(1, -(-rest // 2))
    if levels > MOST_LEVELS:
        raise UserError(f"expectimax on a GPU is for {MOST_PLIES} plies at most")
    return levels, rest - 2 * (levels - 1)
