"""The two methods of a report on 2584 for the GPU's expectimax, which ``merged`` is measured against."""

import numpy as np

from ..core.errors import UserError
from .expectimax_tables import EVALUATOR
from .structs import struct, typed

_THREADS = 256
_FOUND = 5  # of a root: the values of its moves, and its own


def _layers(rest):
    if rest % 2:
        raise UserError("whole layers alone: plies that are odd where it is the player's turn, even where chance's")
    return rest // 2


def _blocks(gpu, kernel, tasks):
    return max(1, min(-(-tasks // _THREADS), gpu.multiprocessors * kernel.resident(_THREADS)))


class _Method:
    """What both have: kernels, and roots that are searched some at a time."""

    def __init__(self, gpu, evaluator, source, names):
        self._gpu, self._evaluator = gpu, evaluator
        self._kernels = {name: gpu.kernel(source, name, **evaluator.macros) for name in names}

    def _run(self, name, record, tasks):
        kernel = self._kernels[name]
        kernel(record, _blocks(self._gpu, kernel, tasks), _THREADS)


_PATHS = struct(
    "Paths",
    [
        ("by", EVALUATOR),
        ("states", typed("const ulonglong2*")),  # the roots: all of them the player's turn, or all chance's
        ("values", typed("Value*")),  # of all paths
        ("found", typed("double*")),  # of a root: the values of its moves, and its own
        ("each", "u8"),  # paths of a root
        ("roots", "i4"),
        ("layers", "i4"),
        ("by_chance", "i4"),
        ("pad", "i4"),
    ],
)
_REDUCTION = struct(  # count: of nodes of chance
    "Reduction", [("by", EVALUATOR), ("from", typed("const Value*")), ("to", typed("Value*")), ("count", "u8")]
)


class Naive(_Method):
    """A thread a path. paths: of a launch, at most."""

    def __init__(self, gpu, evaluator, paths=1 << 28):
        super().__init__(gpu, evaluator, "expectimax_paths.cu", ("walk_paths", "reduce_paths", "finish_paths"))
        self._paths = paths

    def search(self, roots, rest):
        """As ``AfterstateLevels.search``; leaves are paths, valid or not."""
        layers, by_chance = _layers(rest), int(roots[0, 1]) >> 62
        outcomes = 16 * self._evaluator.macros["KINDS"]
        each = (1 if by_chance else 4) * (4 * outcomes) ** layers
        item = 4 if self._evaluator.macros["PARTS"] == 64 else 8
        share = max(1, min(self._paths // each, len(roots)))
        need = share * each * item * (1 + 1 / outcomes)
        if need > self._gpu.free():
            raise UserError(f"a path a thread takes {int(need) >> 20} MiB of the GPU's memory: fewer layers")
        values = [self._gpu.array(share * each // (4 * outcomes) ** i * item, np.uint8) for i in range(layers + 1)]
        out = np.empty((len(roots), _FOUND))
        for at in range(0, len(roots), share):
            some = roots[at : at + share]
            out[at : at + share] = self._search(some, layers, by_chance, each, values)
        return out, len(roots) * each

    def _search(self, roots, layers, by_chance, each, values):
        n, outcomes = len(roots), 16 * self._evaluator.macros["KINDS"]
        states, found = self._gpu.upload(roots), self._gpu.array((n, _FOUND), np.float64)
        addresses = states.address, values[0].address, found.address
        record = np.array((self._evaluator.record, *addresses, each, n, layers, by_chance, 0), _PATHS)
        self._run("walk_paths", record, n * each)
        for i in range(layers):
            count = n * each // (4 * outcomes) ** (i + 1)
            reduction = np.array((self._evaluator.record, values[i].address, values[i + 1].address, count), _REDUCTION)
            self._run("reduce_paths", reduction, 32 * count)
        record["values"] = values[layers].address
        self._run("finish_paths", record, n)
        return found.get()


_NODE = struct(  # the player is to move; first: where its afterstates begin; legal: a bit for each move
    "Node", [("state", typed("State", "V16")), ("first", "u4"), ("legal", "u4")], align=16
)
_AFTER = struct(  # first, count: its nodes
    "After",
    [
        ("state", typed("State", "V16")),
        ("value", "f8"),
        ("first", "u4"),
        ("count", "u4"),
        ("gain", "i4"),
        ("pad", "i4"),
    ],
    align=16,
)
_LEVELS = struct(
    "Levels",
    [
        ("by", EVALUATOR),
        ("states", typed("const ulonglong2*")),
        ("nodes", typed("Node*")),  # of this phase
        ("afterstates", typed("After*")),  # above these nodes, or below, as the phase has it
        ("below", typed("After*")),  # afterstates below these nodes, where both are needed
        ("found", typed("double*")),  # of a root: the values of its moves, and its own
        ("counters", typed("unsigned long long*")),  # how many of both there are
        ("roots", "u4"),
        ("readable", "u4"),  # what the lists at work have room for, and so hold of what their counters say
        ("writable", "u4"),
        ("from", "i4"),  # which counters
        ("to", "i4"),
        ("pad", "i4"),
    ],
)
_FULL, _LEAVES, _LISTS = 0, 1, 2  # counters


class Multilevel(_Method):
    """Level by level. afterstates: of a launch, at most."""

    def __init__(self, gpu, evaluator, afterstates=1 << 25):
        names = "first_nodes", "first_afterstates", "slide_nodes", "spawn_nodes", "evaluate_afterstates"
        names += "reduce_afterstates", "finish_nodes", "finish_afterstates"
        super().__init__(gpu, evaluator, "expectimax_levels.cu", names)
        self._most = afterstates
        self._growth = {}  # by layers and whose turn it is: how long lists get for a root, lately
        self._arrays = {}

    def search(self, roots, rest):
        """As ``AfterstateLevels.search``."""
        layers, by_chance = _layers(rest), int(roots[0, 1]) >> 62
        key = layers, by_chance
        out, leaves, at = np.empty((len(roots), _FOUND)), 0, 0
        while at < len(roots):
            growth = self._growth.setdefault(key, np.array(self._guess(layers, by_chance)))
            share = max(1, int(self._most / growth.max()))
            some = roots[at : at + share]
            found, counters = self._search(some, layers, by_chance, growth)
            if counters[_FULL]:
                self._growth[key] = 2 * growth
                continue
            self._growth[key] = np.maximum(counters[_LISTS:] / len(some), 0.8 * growth)
            out[at : at + share] = found
            leaves += int(counters[_LEAVES])
            at += len(some)
        return out, leaves

    @staticmethod
    def _guess(layers, by_chance):
        """Lengths of the lists for a root: nodes, afterstates, nodes and so on, from the root's own on."""
        lengths = [1.0]
        for step in range(2 * layers + 1 - by_chance):
            lengths.append(lengths[-1] * (12.0 if (step + by_chance) % 2 else 3.5))
        return [0.0, *lengths] if by_chance else lengths

    def _lists(self, growth, roots):
        """Return (Array, capacity) of each list, nodes and afterstates by turns."""
        lists = []
        for i, length in enumerate(growth):
            capacity, item = int(1.5 * length * roots) + 1024, (_AFTER if i % 2 else _NODE).itemsize
            array = self._arrays.get(i)
            if array is None or array.shape[0] < capacity * item:
                self._arrays.pop(i, None)
                array = None
                if capacity * item > self._gpu.free():
                    raise UserError(f"a list of {capacity:,} boards does not fit the GPU's memory: fewer layers")
                array = self._arrays[i] = self._gpu.array(capacity * item, np.uint8)
            lists.append((array, capacity))
        return lists

    def _search(self, roots, layers, by_chance, growth):
        """Return (values, counters)."""
        n, lists = len(roots), self._lists(growth, len(roots))
        states, found = self._gpu.upload(roots), self._gpu.array((n, _FOUND), np.float64)
        start = np.zeros(_LISTS + len(lists), np.uint64)
        start[_LISTS + by_chance] = n
        counters = self._gpu.upload(start)
        p = np.zeros((), _LEVELS)
        p["by"], p["roots"] = self._evaluator.record, n
        p["states"], p["found"], p["counters"] = states.address, found.address, counters.address

        def run(name, at, to=None):
            """Run a kernel on list ``at`` and the one or two below it; to: the list that it writes."""
            odd = at % 2
            for field, which in (("nodes", at + odd), ("afterstates", at + 1 - odd), ("below", at + 1 + odd)):
                p[field] = lists[which][0].address if which < len(lists) else 0
            p["from"], p["readable"] = _LISTS + at, lists[at][1]
            if to is not None:
                p["to"], p["writable"] = _LISTS + to, lists[to][1]
            self._run(name, p, max(1024, int(16 * growth[at] * n)))

        last = len(lists) - 1
        run("first_afterstates" if by_chance else "first_nodes", by_chance)
        for at in range(by_chance, last):
            run("spawn_nodes" if at % 2 else "slide_nodes", at, at + 1)
        run("evaluate_afterstates", last)
        for at in range(last - 2, 0, -2):
            run("reduce_afterstates", at)
        run("finish_afterstates" if by_chance else "finish_nodes", by_chance)
        return found.get(), counters.get()
