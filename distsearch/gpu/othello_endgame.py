"""Othello's end games on a GPU: exact scores of many positions at a time, see ``cuda/endgame.cu``.

The search is that of ``engines.pvs``: principal variation, moves ordered by the replies they leave and by parity at
the end, a table of positions; without its stability, which saves 3 to 6% of the nodes from 10 to 12 empty squares and
would cost as much.
"""

import numpy as np

from ..core.errors import UserError
from ..games import othello
from ..games.interface import board_size
from ..games.othello import AXES, BOARD, COLUMNS, EMPTIES_TO_WINNER, ROWS, SQUARES, STEPS
from .structs import struct, typed

SOURCE = "endgame.cu"
MOST = 24  # empty squares that a kernel can be made for
_WAITS, _SOLVED, _OVER = 0, 1, 2
_LARGEST_SCORE = 64
_COUNTS = 7
_WINDOW = struct("Window", [("low", "i1"), ("high", "i1")])  # of a position; it is given up where low >= high
_PARAMETERS = struct(
    "Parameters",
    [
        ("states", typed("const ulonglong2*")),  # own and other discs of each position
        ("windows", typed("const Window*")),
        ("order", typed("const int*")),  # in which positions are taken
        ("answers", typed("unsigned*")),
        ("table", typed("Entry*")),
        ("kept", typed("char*")),  # of each group what it goes on with in the next launch
        ("next", typed("int*")),  # how many positions are taken
        ("done", typed("int*")),  # how many are answered
        ("working", typed("int*")),  # the position that each group is at, or -1
        ("node_counters", typed("unsigned*")),  # groups below positions, by hash
        ("counts", typed("unsigned long long*")),
        ("table_mask", "u8"),  # entries - 1
        ("salt", "u8"),
        ("limit", "u8"),  # nanoseconds
        ("counter_mask", "u4"),
        ("share_from", "i4"),  # empty squares of positions at which groups are counted
        ("positions", "i4"),
        ("table_from", "i4"),  # empty squares from which on the table is used
        ("to_winner", "i4"),  # 1: empty squares count for the winner
        ("first", "i4"),  # 1: nothing is kept yet
    ],
)
_ANSWER = np.dtype([("score", "i1"), ("move", "i1"), ("state", "u1"), ("unused", "u1")])
_COUNTERS = 1 << 16


class GpuEndgame:
    """Solves batches of positions in launches of a bounded time.

    gpu: of ``device.Gpu``'s kind; rules: of a board of up to 64 squares; table_mib: memory for the table of positions,
    0 for none, used from ``table_from`` empty squares on; share_from: empty squares from which on groups of lanes that
    have no position left share those of others, which takes a table, 0 for never; most: empty squares of a position at
    most (up to 24; more of them take more of the multiprocessors' memory); seconds: of a launch. The others are for
    tuning, see the source: lanes that search a position together, empty squares below which each searches on its own,
    lanes that wait before others wait for them, threads of a block, and blocks of a multiprocessor, which bound a
    thread's registers.
    Raises UserError for another game, a larger board, and what the GPU's memory does not hold.
    """

    def __init__(
        self,
        gpu,
        game,
        rules,
        table_mib=0,
        table_from=7,
        share_from=0,
        most=12,
        seconds=0.02,
        lanes=8,
        leaf=5,
        waiting=8,
        threads=128,
        blocks=2,
    ):
        if game is not othello or int(rules[SQUARES]) > 64:
            raise UserError("the GPU solves end games of othello on boards of up to 64 squares only")
        if not 0 < most <= MOST:
            raise UserError(f"the GPU solves end games of up to {MOST} empty squares")
        share_from = share_from if table_mib else 0
        self._gpu, self._rules, self._most = gpu, rules, most
        self._threads, self._groups = threads, threads // lanes  # groups of a block
        self._kernel = gpu.kernel(
            SOURCE, "endgame", **self.macros(rules, most, lanes, leaf, waiting, threads, blocks, share_from)
        )
        self.registers, self.local_bytes = self._kernel.registers, self._kernel.local_bytes  # of a thread
        frames, frame = max(most - leaf - 1, 1), 40 + -(-most // 8) * 8
        self._kept_bytes = 64 + frames * frame
        keys, levels = -(-most // 4) * 4, max(leaf - 1, 1)
        self._shared = self._groups * (frames * frame + 2 * keys) + threads * levels * 28
        static = 80 * int(rules[SQUARES])  # the rays, which the kernel keeps in the same memory
        self._most_blocks = gpu.multiprocessors * self._kernel.resident(threads, self._shared + static)
        self._parameters = np.zeros((), _PARAMETERS)
        self._parameters["limit"] = int(seconds * 1e9)
        self._parameters["to_winner"] = rules[EMPTIES_TO_WINNER]
        self._parameters["table_from"] = table_from
        self._parameters["salt"] = rules[ROWS] * np.uint64(16) + rules[COLUMNS]
        self._progress = gpu.array(2, np.int32)  # positions taken, and answered
        self._counts = gpu.array(_COUNTS, np.uint64)
        self._kept = gpu.array(self._most_blocks * self._groups * self._kept_bytes, np.uint8)
        self._held = None  # Arrays of the positions, their windows, their order and the answers
        self._table = None
        if table_mib:
            self._make_table(table_mib)
        self._parameters["share_from"] = share_from
        if share_from:
            self._node_counters = gpu.array(_COUNTERS, np.uint32)
            self._working = gpu.array(self._most_blocks * self._groups, np.int32)
            self._parameters["node_counters"], self._parameters["counter_mask"] = (
                self._node_counters.address,
                _COUNTERS - 1,
            )
            self._parameters["working"] = self._working.address

    @staticmethod
    def macros(rules, most, lanes, leaf, waiting, threads, blocks, share_from=0, **_):
        """Return what the source is compiled with, a dictionary."""
        rows, columns = board_size(rules)
        return {
            "BOARD_ROWS": rows,
            "BOARD_COLUMNS": columns,
            "LANES": lanes,
            "LEAF": leaf,
            "MOST": most,
            "WAITING": waiting,
            "THREADS": threads,
            "BLOCKS": blocks,
            "SHARING": int(share_from > 0),
        }

    def _make_table(self, mib):
        entries = 1 << ((mib << 20) // 16).bit_length() - 1
        _check_room(self._gpu, 16 * entries, f"table {mib}")
        self._table = self._gpu.array(2 * entries, np.uint64)
        self._table.zero()
        self._parameters["table"], self._parameters["table_mask"] = self._table.address, entries - 1

    def clear(self):
        """Empty the table."""
        if self._table is not None:
            self._table.zero()

    def begin(self, states, low=None, high=None, room=0):
        """Start to solve positions.

        states: shape (n, 2), uint64; low, high: int32, (n,) or one for all: scores are told apart no further than from
        low to high; room: positions that there is room for in all, where more are added later, which takes
        ``share_from``. Raises UserError if one has more empty squares than ``most``.
        """
        states, left = self._checked(states)
        n, gpu, record = len(states), self._gpu, self._parameters
        self._room = max(n, room)
        if self._held is None or self._held[3].shape[0] < self._room:
            _check_room(gpu, 26 * self._room, f"{self._room} positions")
            self._held = [gpu.array(2 * self._room, np.uint64), gpu.array(self._room, _WINDOW)]
            self._held += [gpu.array(self._room, np.int32), gpu.array(self._room, np.uint32)]
        self._held[3].zero()
        self._windows = np.zeros(self._room, _WINDOW)
        self._progress.zero()
        self._counts.zero()
        for name, array in zip(("states", "windows", "order", "answers"), self._held, strict=True):
            record[name] = array.address
        record["next"], record["done"] = self._progress.address, self._progress.address + 4
        record["counts"], record["kept"] = self._counts.address, self._kept.address
        record["positions"], record["first"] = 0, 1
        self._blocks = min(self._most_blocks, -(-n // self._groups))
        if record["node_counters"]:
            self._node_counters.zero()
            self._working.set(-1)
            self._blocks = self._most_blocks
        self._added, self._changed = [], False
        self._count = 0
        self._take(states, left, low, high)

    def _checked(self, states):
        """Return (states, their numbers of empty squares); raises UserError."""
        states = np.ascontiguousarray(states, np.uint64).reshape(-1, 2)
        left = _count(~(states[:, 0] | states[:, 1]) & self._rules[BOARD])
        if len(left) and left.max() > self._most:
            raise UserError(f"a position has {left.max()} empty squares: here the GPU solves up to {self._most}")
        return states, left

    @property
    def room(self):
        """How many more positions can be added."""
        return self._room - self._count

    def add(self, states, low=None, high=None):
        """Have the launches to come solve more positions, as ``begin`` takes them; there must be ``room`` for them."""
        self._take(*self._checked(states), low, high)

    def _take(self, states, left, low, high):
        """Note positions, which go to the GPU before the next launch."""
        first, self._count = self._count, self._count + len(states)
        windows = self._windows[first : self._count]
        windows["low"] = np.clip(-_LARGEST_SCORE if low is None else low, -_LARGEST_SCORE, _LARGEST_SCORE)
        windows["high"] = np.clip(_LARGEST_SCORE if high is None else high, -_LARGEST_SCORE, _LARGEST_SCORE)
        order = np.arange(len(states))
        if len(states) > self._most_blocks * self._groups or first:  # some wait: the large ones are not to come last
            order = np.argsort(-_largeness(states, left, self._rules), kind="stable")
        if len(states):
            self._added.append((states, first + order))

    def _bring(self):
        """Have the GPU know what was added and changed since the last launch."""
        if self._added:
            first = int(self._parameters["positions"])
            states, order = (np.concatenate(each) for each in zip(*self._added, strict=True))
            self._held[0].part(states.size, 2 * first).set(states.ravel())
            self._held[2].part(len(order), first).set(order)
            if first:  # groups that found none left have counted on
                taken, done = self._progress.get().tolist()
                self._progress.set((min(taken, first), done))
            self._parameters["positions"], self._added, self._changed = self._count, [], True
        if self._changed:
            self._held[1].part(self._count).set(self._windows[: self._count])
            self._changed = False

    def launch(self):
        """Have one launch under way, without waiting for it."""
        self._bring()
        self._kernel(self._parameters, self._blocks, self._threads, self._shared)
        self._parameters["first"] = 0

    def finished(self):
        """Return whether all is done, once the launches so far are."""
        return int(self._progress.get()[1]) == self._count

    def advance(self):
        """Search on for one launch; return whether all is done."""
        if self._count:
            self.launch()
        return self.finished()

    def narrow(self, i, low, high):
        """Have the score of position i matter no further than from low to high, from the next launch on."""
        window = self._windows[i]
        self._windows[i] = max(window["low"], low), min(window["high"], high)
        self._changed = True

    def drop(self, i):
        """Give position i up."""
        self._windows[i] = 0, 0
        self._changed = True

    def result(self):
        """Return (scores, complete, moves) so far, each of shape (n,): int32, bool and int16.

        Scores are cut to the windows, but those of finished games. Moves are best ones, ``PASS`` or ``solver.NO_MOVE``;
        where all scores are below the window any one.
        """
        answers = self._held[3].part(self._count).get().view(_ANSWER)
        windows = self._windows[: self._count]
        scores, state = answers["score"].astype(np.int32), answers["state"]
        low, high = windows["low"].astype(np.int32), windows["high"].astype(np.int32)
        scores = np.where(state == _OVER, scores, np.clip(scores, low, np.maximum(low, high)))
        complete = (state == _SOLVED) | (state == _OVER)
        return np.where(complete, scores, 0), complete, answers["move"].astype(np.int16)

    @property
    def counts(self):
        """What was done since ``begin``: a dictionary of int, see ``Count`` in the source."""
        names = "nodes", "tried", "turns", "ordered", "orders", "hits", "stores"
        return dict(zip(names, self._counts.get().tolist(), strict=True))

    def solve(self, states, low=None, high=None):
        """Return ``result()`` of positions once all are solved."""
        self.begin(states, low, high)
        while not self.advance():
            pass
        return self.result()


def _check_room(gpu, size, what):
    free = gpu.free()
    if size > free:
        raise UserError(f"{what}: it takes {size >> 20} MiB, and the GPU has {free >> 20} MiB free")


def _count(masks):
    """Return how many bits of each uint64 are set, int64."""
    pairs = masks - (masks >> np.uint64(1) & np.uint64(0x5555555555555555))
    fours = (pairs & np.uint64(0x3333333333333333)) + (pairs >> np.uint64(2) & np.uint64(0x3333333333333333))
    bytes_ = fours + (fours >> np.uint64(4)) & np.uint64(0x0F0F0F0F0F0F0F0F)
    return (bytes_ * np.uint64(0x0101010101010101) >> np.uint64(56)).astype(np.int64)


def _largeness(states, left, rules):
    """Return a number (int64) for each position, the greater the more nodes it may take.

    An empty square more makes it 2.2 times as many on average, a move more of the side to move 1.13 times.
    """
    return 7 * left + _count(reach(states[:, 0], states[:, 1], rules))


def reach(own, opp, rules):
    """Return the squares where own may move, shape (n,), uint64, as ``othello.reach``."""
    found = np.zeros_like(own)
    for axis in range(4):
        step, line = rules[STEPS + axis], opp & rules[AXES + axis]
        for shift in (np.left_shift, np.right_shift):
            reached = line & shift(own, step)
            for _ in range(max(board_size(rules)) - 3):
                reached |= line & shift(reached, step)
            found |= shift(reached, step)
    return found & rules[BOARD] & ~(own | opp)
