"""What engines with a transposition table share: kernels, arrays, salts, and how a search is run in slices."""

import hashlib

import numpy as np

from ... import games
from ...core import jit
from ...core.jit import compiled
from ...core.packing import packed, unpack
from ...core.pages import HugePages
from ...core.pointers import address
from ...games.interface import MAX_MOVES, as_state
from ..alphabeta import LINE_LENGTH, Result
from . import drivers as dr
from . import kernels, remote_hosts, shared_table, table_exchange, visits, work_splitting
from . import table as tt
from .batch import ASKED_SIZE, BOARDS, FOUND_SIZE, HIGHEST, LOWEST, PLIES, batch, begin, report
from .growing_table import LONG, LOST_A_STEP, Growing

# what a search in progress has in the control array; the rest is the engine's, or follows from what was asked
_IN_PROGRESS = [
    tt.REPLACED,
    kernels.BOARDS,
    kernels.TOP,
    kernels.HITS,
    kernels.FAR_HITS,
    kernels.STORES,
    kernels.EVALUATED,
    dr.LOW,
    dr.HIGH,
    dr.LATEST,
    dr.BEST_ROOT_MOVE,
    dr.DEPTH,
    dr.COMPLETE,
    dr.WINDOW_LOW,
    dr.WINDOW_HIGH,
    dr.LEFT_AT_ROOT,
]
_APART = 1  # moves or plies from the smallest shared nodes to those whose moves ranks search together
# How much more must be left for other hosts to be told that ranks are at a node, and for it to belong to a host: of
# those tried best for two hosts of 8 on FFO #45 to #49.
_MARKED, _OWNED = 5, 10
_NO_ORDERS = np.zeros(0, np.uint64)
_PER_PAGE = 50_000  # boards, 5 ms, after which the far table's next page, 1 to 5 ms, pays


@compiled
def no_bounds(s, r, left, beta):
    return -kernels.INFINITY, kernels.INFINITY, np.uint64(0)


@compiled
def itself(s, r):
    return s


class Tabled:
    """A pausable search with a table: the part that does not depend on what is asked.

    far: the far table (uint64, length a multiple of 8; empty: none), of this engine or of several, or a ``Growing``;
    name: of the kernels; tag: what tells this engine's entries from others', as far as game and rules array do not;
    functions: what templates are bound to; templates: in an order in which each needs those before it; limits: see
    ``SOLVER`` in ``games.interface``; part: searches are parts of a larger one: they use the far table from the start,
    and scores beyond a window are told as far as they are known.
    """

    driver = None  # the template that runs the search
    _visits = None  # where visits are written, if they are

    def __init__(self, game, rules, far, name, tag, functions, templates, limits, part):
        self.name, self._game, self._rules = name, game, rules
        self.functions = functions
        self._width = game.words(rules)
        bound = jit.specialise_all(templates, name, functions)
        bound["drive"] = bound[self.driver.__name__]
        self._kernels = jit.specialise_all((begin, report, batch), name, bound)
        self._growing = far if isinstance(far, Growing) else None
        self._far = np.zeros(0, np.uint64) if far is None else self._growing.words if self._growing else far
        self._near = tt.near_table()
        self._request, self._searched = 0, 0
        self._control = np.zeros(dr.CONTROL_SIZE, np.int64)
        salt = hashlib.sha256(f"{games.tag(game)} {tag}".encode() + rules.tobytes()).digest()
        self._salts = [np.frombuffer(salt[:8], np.uint64)[0], 0]
        self._control[dr.PART] = part
        self._control[kernels.SALT] = self._salts[0].view(np.int64)
        self._control[kernels.BOTTOM], self._control[kernels.NULL_WINDOWS] = limits["bottom"], 1
        self._control[kernels.TABLE_LEFT], self._control[kernels.CUT_LEFT] = limits["table"], limits["cut"]
        buckets = shared_table.buckets(self._far)
        self._first = self._growing.first if self._growing else buckets
        tt.set_buckets(self._control, self._first, self._first)
        self._control[tt.FAR_WORDS] = 2 * tt.BUCKET * buckets
        self._pages, self._unpaid = HugePages(self._far[: 2 * tt.BUCKET * self._first]), 0
        self._control[tt.FAR_LEFT_LATER] = limits["far"] if buckets else tt.NEVER
        self._control[tt.NEAR_MASK] = len(self._near) // 2 - 1
        self._control[kernels.RANK_LEFT] = tt.NEVER
        self._shared_left, self._order_left = limits["far"] + 1, tt.NEVER
        self._control[[kernels.APART_LEFT, kernels.OWNED_LEFT]] = self._shared_left + _APART, self._shared_left + _OWNED
        self._control[kernels.VISITS_LEFT] = tt.NEVER
        self.share(False)
        self._allocate(game.moves_left(game.start(rules).state, rules))

    def _allocate(self, moves_left):
        kernels.leave_all(self._control, 0)  # of the frames until now
        # a pass may stand between any two moves, and one frame holds the end
        frames = 2 * moves_left + 4
        self._states = np.zeros(frames * self._width, np.uint64)
        self._frames = np.zeros(frames * kernels.FRAME_SIZE, np.int64)
        self._moves = np.zeros(frames * MAX_MOVES, np.int16)
        self._scores = np.zeros(frames * MAX_MOVES, np.int64)
        places = {
            tt.NEAR: self._near,
            tt.FAR: self._far,
            kernels.RULES: self._rules,
            kernels.MOVES: self._moves,
            kernels.SCORES: self._scores,
            kernels.STATES: self._states,
            kernels.FRAMES: self._frames,
        }
        self._control[[dr.ROOM, kernels.WHERE]] = moves_left, address(self._control)
        for place, array in places.items():
            self._control[place] = address(array)
        self._where = address(self._control)
        if self._visits:
            self.explain(self._visits)

    def compile(self):
        """Compile, or load from disk, every kernel, by a search of a few boards."""
        control, state = self._control, self._game.start(self._rules).state
        told, control[kernels.VISITS_LEFT] = control[kernels.VISITS_LEFT], tt.NEVER
        self._begin(state, 1, -kernels.INFINITY, kernels.INFINITY)
        self.advance(10)
        self.narrow(-kernels.INFINITY, kernels.INFINITY)
        self.give(1)
        self.result()
        self.import_updates(np.zeros((0, 2), np.uint64))
        self.set_remote_marks(np.zeros((0, 2), np.uint64), 0, 0)
        if control[tt.FAR_BUCKETS]:
            self.export_updates((0, 0))
        Growing.compile()
        self.batch(np.array([state], np.uint64), np.zeros((1, ASKED_SIZE), np.int64), 0)
        self.forget()
        control[kernels.BOARDS], control[kernels.VISITS_LEFT] = 0, told

    def share(self, shared):
        """Have other ranks with the same far table take part in this search, or not; see ``abdada``."""
        control = self._control
        if self.is_shared:
            kernels.leave_all(control, 0)  # else other ranks would wait for what nobody is at
        if shared:
            control[[kernels.SHARED_LEFT, kernels.ORDER_LEFT, kernels.LOOK_AT]] = self._shared_left, self._order_left, 0
            control[tt.FAR_LEFT] = control[tt.FAR_LEFT_LATER]
        else:
            control[[kernels.SHARED_LEFT, kernels.ORDER_LEFT, kernels.LOOK_AT, kernels.SEQUENCE_AT]] = (
                tt.NEVER,
                tt.NEVER,
                tt.NEVER,
                0,
            )

    def explain(self, log):
        """Write visits to a ``visits.Visits`` from now on, of nodes that ranks would share."""
        if self._visits is None:
            number = log.add(self)
        else:  # there are more frames now
            self.end_visits()
            number = int(self._block[visits.ENGINE])
        self._visits, frames = log, len(self._frames) // kernels.FRAME_SIZE
        self._block = visits.new_block(log, number, frames, self.boards)
        self._control[[kernels.VISITS_LEFT, kernels.VISITS]] = self._shared_left, address(self._block)

    def end_visits(self):
        """End all visits of a search that is explained, as far as they are."""
        visits.settle(address(self._block), self._control[kernels.BOARDS])

    def drop(self):
        """Note, where it is explained, that what comes of the search begun last is thrown away."""
        if self._visits:
            self._visits.drop(self._block)

    @property
    def table_at(self):
        """Address of the far table, the same for engines that share it."""
        return int(self._control[tt.FAR])

    def watch(self, sequence_at, sequence, boards_at):
        """Stop when another number than ``sequence`` stands at the first address; write boards to the other one."""
        self._control[[kernels.SEQUENCE_AT, kernels.SEQUENCE, kernels.BOARDS_AT]] = sequence_at, sequence, boards_at

    @property
    def is_shared(self):
        return self._control[kernels.SHARED_LEFT] < tt.NEVER

    @property
    def question(self):
        """(state, low, high, left) of the search begun last: its window, and the plies or moves to search."""
        return self._state, *self._control[[dr.WINDOW_LOW, dr.WINDOW_HIGH, dr.LEFT_AT_ROOT]].tolist()

    @property
    def can_be_shared(self):
        """Whether the search begun last is large enough for several ranks, and there is a table to share it by."""
        control = self._control
        large = control[dr.LEFT_AT_ROOT] > self._shared_left and not control[dr.COMPLETE]
        return bool(large and control[tt.FAR_BUCKETS] and not control[dr.FORGETFUL])

    def forget(self):
        """Leave nothing in the near table, so that a search does not depend on those before it."""
        self._near[:] = 0

    def clear(self):
        """Forget everything: entries so far belong to a salt that is not used again."""
        self._salts[1] += 1
        salt = int(self._salts[0]) + self._salts[1] * 0x9E3779B97F4A7C15 & 2**64 - 1
        self._control[kernels.SALT] = np.uint64(salt).view(np.int64)
        self.age(int(self._control[tt.GENERATION]) + 1)

    def age(self, request):
        """Take entries from now on for those of a request, by its number: a later one's displace them first."""
        self._control[tt.GENERATION] = request % tt.GENERATIONS
        if request != self._request:
            self._request, self._searched, self._control[tt.FAR_LOST] = request, 0, 0

    def _begin(self, state, plies, low, high):
        self._state = state
        if not self._kernels["begin"](state, self._where, plies, low, high):
            self._allocate(int(self._game.moves_left(state, self._rules)))
            self._kernels["begin"](state, self._where, plies, low, high)

    @property
    def waited(self):
        """Time for which it has waited for others so far, in boards."""
        return int(self._control[kernels.WAITED])

    @property
    def boards(self):
        """Boards searched so far."""
        return int(self._control[kernels.BOARDS])

    def advance(self, budget):
        """Search on for about ``budget`` boards; return whether the answer is known."""
        control = self._control
        if not control[dr.COMPLETE]:
            before = self.boards
            self._follow_growth()
            control[kernels.BUDGET] = budget
            control[dr.COMPLETE] = self._kernels["drive"](self._state, self._where)
            self._pay(self.boards - before)
            if self._visits:
                self._visits.empty()
        return bool(control[dr.COMPLETE])

    def _pay(self, boards):
        """Make a page of the far table huge if searches so far have paid for it, or have the table grow."""
        self._unpaid += boards
        if self._unpaid > _PER_PAGE and self._pages.left:
            self._pages.make_one()
            self._unpaid -= _PER_PAGE
        elif self._growing:
            self._searched += boards
            self._grow()

    def _grow(self):
        """Have the far table grow if this search is long, or what it is a part of, and has lost as many entries."""
        control = self._control
        boards = self._searched if control[dr.PART] else control[kernels.BOARDS]
        if control[tt.FAR_LOST] >= LOST_A_STEP and boards >= LONG:
            control[tt.FAR_LOST] = 0
            self._growing.grow()

    def _follow_growth(self):
        """Use as much of the far table as this rank or another has had it grow."""
        if self._growing and (buckets := self._growing.buckets) != self._control[tt.FAR_BUCKETS]:
            tt.set_buckets(self._control, self._first, buckets)

    def _in_use(self):
        """How many frames the search begun last needs, and how many of the moves."""
        frames = max(int(self._control[kernels.TOP]), 0) + 1
        last = self._frames[(frames - 1) * kernels.FRAME_SIZE :]
        return frames, int(last[kernels.FIRST] + last[kernels.COUNT])

    def save(self):
        """Return the search begun last as bytes, none if its boards must not depend on an interruption."""
        control = self._control
        if control[dr.FORGETFUL]:
            return b""
        frames, moves = self._in_use()
        return packed(
            control[_IN_PROGRESS],
            self._states[: frames * self._width],
            self._frames[: frames * kernels.FRAME_SIZE],
            self._moves[:moves],
            self._scores[:moves],
        )

    def restore(self, content):
        """Go on with a search that ``save`` gave, in its window; one of the same state must have been begun."""
        progress = np.zeros(len(_IN_PROGRESS), np.int64)
        unpack(content, progress, self._states, self._frames, self._moves, self._scores)
        self._control[_IN_PROGRESS] = progress
        self._frames.reshape(-1, kernels.FRAME_SIZE)[:, kernels.MARKED] = 0  # another process may have set those marks

    def narrow(self, low, high):
        """Have the score of the search begun last matter, from now on, no further than from ``low`` to ``high``.

        The search keeps what it has found that still matters, and ``result`` answers as if it had been begun in the
        part of its window that is between them. Raises ValueError, with nothing done, if there is no such part.
        """
        low = max(int(low), int(self._control[dr.WINDOW_LOW]))
        high = min(int(high), int(self._control[dr.WINDOW_HIGH]))
        if low >= high:
            raise ValueError(f"a window from {low} to {high} leaves nothing to ask")
        work_splitting.narrow(self._where, low, high)

    def give(self, least_left):
        """Give away the upper part of the tree, with its untried moves, and go on with the part at work.

        Returns levels as ``steering.levels`` reads them, from the root down to the first one whose first move is done
        with and which has untried moves to positions with at least ``least_left`` left; None, with nothing done, if
        there is none. The search is now that of the position after ``moves[tried]`` of the last level, in its window
        there. Boards and ``evaluated`` go on from those so far: leaves that were cut off above count here and nowhere
        else. A score that was known before the search has no line.

        The exact solver gives what is above its question at work: the first level's window is that question's, and
        its floor and ceiling are the bounds by those before it.
        """
        frames, moves = self._in_use()
        out = np.empty(frames * work_splitting.HEAD + moves, np.int64)
        n = work_splitting.give(self._where, self._width, int(least_left), out)
        if n == 0:
            return None
        self._state = as_state(self._states[: self._width])
        root = self._kernels["root_hash"](self._state, self._rules, self._control)
        self._frames[kernels.HASH] = np.uint64(root).view(np.int64)
        return out[:n]

    @property
    def table_counts(self):
        """(hits, those of the far table, stores, replacements) of the search begun last."""
        return tuple(self._control[[kernels.HITS, kernels.FAR_HITS, kernels.STORES, tt.REPLACED]].tolist())

    @property
    def table_full(self):
        """The share of the far table's entries that are used, 0 to 1, by a sample of them."""
        return tt.full(self._far[: 2 * tt.BUCKET * int(self._control[tt.FAR_BUCKETS])])

    def result(self, brief=False):
        """Return the Result so far.

        Of a complete search the score is the true one, or the end of the window that it lies at or beyond unless the
        game is over, and the line goes as far as it can be proved from the tables (brief: it is the best move). Of a
        stopped one the score is a lower bound, or −INFINITY.
        """
        control, line = self._control, np.zeros(LINE_LENGTH, np.int16)
        score, length = self._kernels["report"](self._state, self._where, address(line), int(brief))
        complete, evaluated = bool(control[dr.COMPLETE]), int(control[kernels.EVALUATED])
        return Result(score, complete, line[:length].tolist(), self.boards, 0, evaluated)

    def export_updates(self, since):
        """Return what other hosts are to be told: entries, orders and marks, and how many of the first two there were.

        since: how many entries and orders there were when they were told last. There must be a far table.
        """
        entries, entries_so_far = table_exchange.export_entries(self._far, since[0])
        orders, orders_so_far = table_exchange.export_orders(self._far, since[1])
        marks = table_exchange.export_marks(self._far, self._shared_left + _MARKED)
        marks[:, 0] ^= self._control[tt.QUESTION].view(np.uint64)
        return entries, orders, marks, (entries_so_far, orders_so_far)

    def import_updates(self, entries, orders=_NO_ORDERS):
        """Take in what other hosts have told, as ``table_exchange`` returned it there."""
        self._follow_growth()
        table_exchange.import_entries(self._control, entries)
        if self._control[tt.FAR_BUCKETS]:
            table_exchange.import_orders(self._control, orders)

    def set_remote_marks(self, marks, hosts, host):
        """Note what other hosts are at, see ``remote_hosts``; without a far table nothing can be shared."""
        if self._control[tt.FAR_BUCKETS]:
            remote_hosts.set_remote_marks(self._control, marks, hosts, host)

    def batch(self, states, asked, budget):
        """Do searches one after another, as by ``begin``, ``advance`` and ``result``, until about ``budget`` boards.

        states: uint64, shape (searches, words); asked: int64, shape (searches, ASKED_SIZE), see ``batch``. Returns
        (found, lines) of those that came to their end, or to their own budget: int64 of shape (n, FOUND_SIZE), and
        int16 of shape (n, LINE_LENGTH). If they are fewer than asked for, the next one is at work.
        """
        found, lines = np.empty((len(asked), FOUND_SIZE), np.int64), np.zeros((len(asked), LINE_LENGTH), np.int16)
        if len(asked) == 0:
            return found, lines
        like = as_state(states[0])
        self._follow_growth()
        n, at_work = self._kernels["batch"](like, self._where, states.ravel(), asked, found, address(lines), budget)
        if n < len(asked):
            self._state = as_state(states[n])
            if not at_work:
                self._begin(self._state, *asked[n, [PLIES, LOWEST, HIGHEST]].tolist())
        else:
            self._state = as_state(states[-1])
        self._pay(int(found[:n, BOARDS].sum()) + (self.boards if at_work else 0))
        if self._visits:
            self._visits.empty()
        return found[:n], lines[:n]
