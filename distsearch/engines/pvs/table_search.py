"""What engines with a transposition table share: kernels, arrays, salts, and how a search is run in slices."""

import hashlib

import numpy as np

from ... import games
from ...core import jit
from ...core.jit import compiled
from ...core.packing import packed, unpacked
from ...core.pages import HugePages
from ...core.pointers import address, new_record, set_fields
from ...games.interface import MAX_MOVES, PASS, as_state
from ..alphabeta import LINE_LENGTH, Result
from ..saved_path import check_path, check_within
from . import drivers, kernels, remote_hosts, side_tables, table_exchange, visits, work_splitting
from . import table as tt
from .abdada import SharedSearch
from .growing_table import LONG, LOST_A_STEP, Growing
from .layout import ANSWER, CONTROL, FRAME, REQUEST

# what a search in progress has in the control block, behind the table's part; the rest is the engine's, or follows from
# the request
_IN_PROGRESS = "nodes", "top", "hits", "shared_hits", "stores", "evaluated", "low", "high", "latest", "best_root_move"
_IN_PROGRESS += "depth", "complete", "window_low", "window_high", "root_depth"
# What a saved search may have: scores, ends of windows, nodes.
_SCORES, _WINDOWS, _MOST_NODES = (-int(kernels.INFINITY), int(kernels.INFINITY)), (-(1 << 32), 1 << 32), 1 << 60
_SEPARATE = 1  # depth from the smallest shared nodes to those whose moves ranks search together
# How much more depth a node must have for other hosts to be told that ranks search it, and for it to belong to a host:
# of those tried best for two hosts of 8 on FFO #45 to #49.
_MARKED, _OWNED = 5, 10
_NO_ORDERS = np.zeros(0, np.uint64)
_PER_PAGE = 50_000  # nodes, 5 ms, after which the shared table's next page, 1 to 5 ms, pays


@compiled
def no_bounds(s, r, depth_left, beta):
    return -kernels.INFINITY, kernels.INFINITY, np.uint64(0)


@compiled
def itself(s, r):
    return s


class TableSearch(SharedSearch):
    """A pausable search with a table: the part that does not depend on the question.

    table: the shared table (uint64, length a multiple of 8; empty: none), of this engine or of several, or a
    ``Growing``; name: of the kernels; tag: what tells this engine's entries from others', as far as game and rules
    array do not; functions: what templates are bound to; templates: in an order in which each needs those before it;
    limits: see ``SOLVER`` in ``games.interface``; part: searches are parts of a larger one: they use the shared table
    from the start, and scores beyond a window are told as they are known.
    """

    driver = None  # the template that runs the search
    _visits = None  # where visits are written, if they are

    def __init__(self, game, rules, table, name, tag, functions, templates, limits, part):
        self.name, self._game, self._rules = name, game, rules
        self.functions = functions
        self._width = game.words(rules)
        bound = jit.specialise_all(templates, name, functions)
        bound["drive"] = bound[self.driver.__name__]
        entries = drivers.begin, drivers.run, drivers.extract_pv, drivers.batch
        self._kernels = jit.specialise_all(entries, name, bound)
        self._growing = table if isinstance(table, Growing) else None
        self._shared = np.zeros(0, np.uint64) if table is None else self._growing.words if self._growing else table
        self._l1 = tt.new_l1_table()
        self._request, self._searched = 0, 0
        self._control = control = new_record(CONTROL)
        self._where = address(control)
        salt = hashlib.sha256(f"{games.tag(game)} {tag}".encode() + rules.tobytes()).digest()
        self._salts = [np.frombuffer(salt[:8], np.uint64)[0], 0]
        self._shared_from, self._share_order_from = limits["shared"] + 1, tt.NEVER
        set_fields(control, part=part, salt=self._salts[0], null_windows=1, order_from=tt.NEVER, visits_from=tt.NEVER)
        set_fields(control, bottom=limits["bottom"], table_from=limits["table"], cut_from=limits["cut"])
        set_fields(control, wait_up_to=self._shared_from + _SEPARATE, owned_from=self._shared_from + _OWNED)
        buckets = side_tables.buckets(self._shared)
        self._first = self._growing.first if self._growing else buckets
        self._table = control["table"]
        tt.set_buckets(self._table, self._first, self._first)
        later = limits["shared"] if buckets else tt.NEVER
        words, mask = 2 * tt.BUCKET * buckets, len(self._l1) // 2 - 1
        set_fields(self._table, bucket_words=words, shared_from_later=later, l1_mask=mask)
        self._pages, self._unpaid = HugePages(self._shared[: 2 * tt.BUCKET * self._first]), 0
        self.share(False)
        self._allocate(game.moves_left(game.start(rules).state, rules))

    def _allocate(self, moves_left):
        kernels.unmark_all(self._control, 0)  # of the frames until now
        # a pass may stand between any two moves, and one frame holds the end
        frames = 2 * moves_left + 4
        self._states = np.zeros(frames * self._width, np.uint64)
        self._frames = np.zeros(frames, FRAME)
        self._moves = np.zeros(frames * MAX_MOVES, np.int16)
        self._scores = np.zeros(frames * MAX_MOVES, np.int64)
        set_fields(self._table, l1=address(self._l1), shared=address(self._shared))
        self._control["capacity"] = moves_left
        for name in ("rules", "moves", "scores", "states", "frames"):
            self._control[name] = address(getattr(self, f"_{name}"))
        if self._visits:
            self.explain(self._visits)

    def compile(self):
        """Compile, or load from disk, every kernel, by a search of a few nodes."""
        control, state = self._control, self._game.start(self._rules).state
        told, control["visits_from"] = control["visits_from"], tt.NEVER
        self._begin(state, 1, -kernels.INFINITY, kernels.INFINITY)
        self.advance(10)
        self.result()
        self.batch(np.array([state], np.uint64), np.zeros(1, REQUEST), 0)
        self.compile_sharing()
        self.forget()
        control["nodes"], control["visits_from"] = 0, told

    def compile_sharing(self):
        """Compile, or load from disk, what searches need that several workers share, besides ``begin``."""
        self._begin(self._game.start(self._rules).state, 1, -kernels.INFINITY, kernels.INFINITY)
        self.narrow(-kernels.INFINITY, kernels.INFINITY)
        self.split_off(1)
        self.import_updates(np.zeros((0, 2), np.uint64))
        self.set_remote_marks(np.zeros((0, 2), np.uint64), 0, 0)
        if self._table["buckets"]:
            self.export_updates((0, 0))
        Growing.compile()

    def share(self, shared):
        """Have other ranks with the same shared table take part in this search, or not; see ``abdada``."""
        control = self._control
        if self.is_shared:
            kernels.unmark_all(control, 0)  # else other ranks would wait for what no rank searches
        if shared:
            set_fields(control, defer_from=self._shared_from, share_order_from=self._share_order_from, next_look=0)
            self._table["shared_from"] = self._table["shared_from_later"]
        else:
            set_fields(control, defer_from=tt.NEVER, share_order_from=tt.NEVER, next_look=tt.NEVER, sequence_at=0)

    def explain(self, log):
        """Write visits to a ``visits.Visits`` from now on, of nodes that ranks would share."""
        if self._visits is None:
            number = log.add(self)
        else:  # there are more frames now
            self.end_visits()
            number = int(self._block["head"]["engine"])
        self._visits = log
        self._block = visits.new_block(log, number, len(self._frames), self.nodes)
        set_fields(self._control, visits_from=self._shared_from, visits=address(self._block))

    def end_visits(self):
        """End all visits of a search that is explained."""
        visits.settle(address(self._block), self._control["nodes"])

    def drop(self):
        """Note, where it is explained, that what comes of the search begun last is thrown away."""
        if self._visits:
            self._visits.drop(self._block)

    @property
    def table_at(self):
        """Address of the shared table, the same for engines that share it."""
        return int(self._table["shared"])

    @property
    def question(self):
        """(state, low, high, depth) of the search begun last: its window, and the plies or moves to search."""
        return self._state, *(int(self._control[name]) for name in ("window_low", "window_high", "root_depth"))

    @property
    def can_be_shared(self):
        """Whether the search begun last is large enough for several ranks, and there is a table to share it by."""
        control = self._control
        large = control["root_depth"] > self._shared_from and not control["complete"]
        return bool(large and self._table["buckets"] and not control["repeatable"])

    def forget(self):
        """Leave nothing in the L1 table, so that a search does not depend on those before it."""
        self._l1[:] = 0

    def clear(self):
        """Forget everything: entries so far belong to a salt that is not used again."""
        self._salts[1] += 1
        salt = int(self._salts[0]) + self._salts[1] * 0x9E3779B97F4A7C15 & 2**64 - 1
        self._control["salt"] = np.uint64(salt)
        self.age(int(self._table["generation"]) + 1)

    def age(self, request):
        """Take entries from now on for those of a request, by its number: a later one's displace them first."""
        self._table["generation"] = request % tt.GENERATIONS
        if request != self._request:
            self._request, self._searched, self._table["lost"] = request, 0, 0

    def _begin(self, state, depth, low, high):
        self._state = state
        if not self._kernels["begin"](state, self._where, depth, low, high):
            self._allocate(int(self._game.moves_left(state, self._rules)))
            self._kernels["begin"](state, self._where, depth, low, high)

    def advance(self, budget):
        """Search on for about ``budget`` nodes; return whether the answer is known."""
        control = self._control
        if not control["complete"]:
            before = self.nodes
            self._follow_growth()
            control["budget"] = budget
            control["complete"] = self._kernels["run"](self._state, self._where)
            self._pay(self.nodes - before)
            if self._visits:
                self._visits.empty()
        return bool(control["complete"])

    def _pay(self, nodes):
        """Make a page of the shared table huge if searches so far have paid for it, or have the table grow."""
        self._unpaid += nodes
        if self._unpaid > _PER_PAGE and self._pages.left:
            self._pages.make_one()
            self._unpaid -= _PER_PAGE
        elif self._growing:
            self._searched += nodes
            self._grow()

    def _grow(self):
        """Have the shared table grow if this search is long, or what it is a part of, and has lost as many entries."""
        control = self._control
        nodes = self._searched if control["part"] else control["nodes"]
        if self._table["lost"] >= LOST_A_STEP and nodes >= LONG:
            self._table["lost"] = 0
            self._growing.grow()

    def _follow_growth(self):
        """Use as much of the shared table as this rank or another has had it grow."""
        if self._growing and (buckets := self._growing.buckets) != self._table["buckets"]:
            tt.set_buckets(self._table, self._first, buckets)

    def _in_use(self):
        """How many frames the search begun last needs, and how many of the moves."""
        frames = max(int(self._control["top"]), 0) + 1
        last = self._frames[frames - 1]
        return frames, int(last["first"] + last["count"])

    def save(self):
        """Return the search begun last as bytes, none if its nodes must not depend on an interruption."""
        control = self._control
        if control["repeatable"]:
            return b""
        frames, moves = self._in_use()
        progress = np.array([self._table["replaced"], *(control[name] for name in _IN_PROGRESS)])
        states, frames = self._states[: frames * self._width], self._frames[:frames].view(np.int64)
        return packed(progress, states, frames, self._moves[:moves], self._scores[:moves])

    def restore(self, content):
        """Go on with a search that ``save`` gave, in its window; one of the same state must have been begun.

        Raises ValueError, with the begun search as it was, for what no such search could have given.
        """
        progress = np.zeros(1 + len(_IN_PROGRESS), np.int64)
        frames = self._frames.view(np.int64)
        places = progress, self._states, frames, self._moves, self._scores
        progress, states, frames, moves, scores = unpacked(content, *places)
        saved = dict(zip(_IN_PROGRESS, progress[1:].tolist(), strict=True))
        if saved["top"] == -1:  # between two questions: the begun search has its own first one
            return
        self._check(saved, states, frames, moves, scores)
        frames = frames.view(FRAME)
        for place, part in zip((self._states, self._moves, self._scores), (states, moves, scores), strict=True):
            place[: len(part)] = part
        self._frames[: len(frames)] = frames
        self._table["replaced"] = max(0, int(progress[0]))
        set_fields(self._control, **saved)
        self._frames["marked"] = 0  # another process may have set those marks

    def _check(self, saved, states, frames, moves, scores):
        """Raise ValueError unless a search from the begun one's state could be as it was saved."""
        top, width = saved["top"], self._width
        whole = len(frames) == (top + 1) * len(FRAME) and len(states) == (top + 1) * width
        if not (whole and len(frames) and len(moves) == len(scores)):
            raise ValueError("arrays of other lengths")
        frames, deepest = frames.view(FRAME), int(self._control["root_depth"])
        if states[:width].tolist() != self._states[:width].tolist():
            raise ValueError("another position")
        progress = np.array([tuple(saved.values())], [(name, np.int64) for name in saved])
        counted = dict.fromkeys(("nodes", "hits", "shared_hits", "stores", "evaluated"), (0, _MOST_NODES))
        window = dict.fromkeys(("latest", "window_low", "window_high"), _WINDOWS)
        check_within(progress, **counted, **window, low=_SCORES, high=_SCORES)
        check_within(progress, complete=(0, 0), root_depth=(0, deepest), depth=(0, _MOST_NODES))
        counted = dict.fromkeys(("evaluated_before", "nodes_before", "waits"), (0, _MOST_NODES))
        check_within(frames, **counted, again=(0, 1), depth_left=(1, deepest))
        most_probes = MAX_MOVES if self.functions.get("SELECTIVE") else 0
        check_within(frames, undeferred=(0, MAX_MOVES), probe=(0, most_probes))
        check_within(frames, **dict.fromkeys(("alpha", "beta", "given"), _WINDOWS))
        check_within(frames, **dict.fromkeys(("best", "floor", "ceiling"), _SCORES))
        exact = bool(self.functions["EXACT"])
        if exact and frames["depth_left"][0] != deepest or saved["window_low"] >= saved["window_high"]:
            raise ValueError("another question")

        def follows(k, m):
            before, here = (int(frames["depth_left"][i]) for i in (k - 1, k))
            if m is None:
                return frames["probe"][k - 1] > 0 and here < before
            return frames["probe"][k - 1] == 0 and here == before - (m != PASS or not exact)

        check_path(self._game, self._rules, states.reshape(-1, width), frames, moves, follows)
        listed = {kernels.NO_MOVE, *moves.tolist()}
        if not {saved["best_root_move"], *frames["best_move"].tolist()} <= listed:
            raise ValueError("a best move that is none")

    def narrow(self, low, high):
        """Have the score of the search begun last matter, from now on, no further than from ``low`` to ``high``.

        The search keeps what it has found that still matters, and ``result`` answers as if it had been begun in the
        part of its window that is between them. Raises ValueError, with nothing done, if there is no such part.
        """
        low = max(int(low), int(self._control["window_low"]))
        high = min(int(high), int(self._control["window_high"]))
        if low >= high:
            raise ValueError(f"a window from {low} to {high} leaves nothing to ask")
        work_splitting.narrow(self._control, low, high)

    def split_off(self, least_left):
        """Split off the upper part of the tree, with its untried moves, and go on with the subtree at work.

        Returns levels as ``work_splitting.levels`` reads them, from the root down to the first one whose first move is
        done and which has untried moves to positions with at least ``least_left`` left; None, with nothing done, if
        there is none. The search is now that of the position after ``moves[tried]`` of the last level, in its window
        there. Nodes and ``evaluated`` go on from those so far: leaves that were cut off above count here and nowhere
        else. A score that was known before the search has no line.

        The exact solver splits off what is above its question at work: the first level's window is that question's,
        and its floor and ceiling are the bounds by those before it.
        """
        frames, moves = self._in_use()
        out = np.empty(frames * work_splitting.HEAD + moves, np.int64)
        n = work_splitting.split_off(self._control, self._width, int(least_left), out)
        if n == 0:
            return None
        self._state = as_state(self._states[: self._width])
        root = self._kernels["root_hash"](self._state, self._rules, self._control)
        self._frames["hash"][0] = np.uint64(root)
        return out[:n]

    @property
    def table_counts(self):
        """(hits, those of the shared table, stores, replacements) of the search begun last."""
        control = self._control
        hits, shared_hits, stores = (int(control[name]) for name in ("hits", "shared_hits", "stores"))
        return hits, shared_hits, stores, int(self._table["replaced"])

    def result(self, brief=False):
        """Return the Result so far.

        Of a complete search the score is the true one, or the end of the window that it lies at or beyond unless the
        game is over, and the line goes as far as it can be proved from the tables (brief: it is the best move). Of a
        stopped one the score is a lower bound, or −INFINITY.
        """
        control, line = self._control, np.zeros(LINE_LENGTH, np.int16)
        score, length = self._kernels["extract_pv"](self._state, self._where, address(line), int(brief))
        complete, evaluated = bool(control["complete"]), int(control["evaluated"])
        return Result(score, complete, line[:length].tolist(), self.nodes, 0, evaluated)

    def export_updates(self, since):
        """Return what other hosts must be told: entries, orders and marks, and how many of the first two there were.

        since: how many entries and orders there were when they were told last. There must be a shared table.
        """
        entries, entries_so_far = table_exchange.export_entries(self._shared, since[0])
        orders, orders_so_far = table_exchange.export_orders(self._shared, since[1])
        marks = table_exchange.export_marks(self._shared, self._shared_from + _MARKED)
        marks[:, 0] ^= self._table["question"].view(np.uint64)
        return entries, orders, marks, (entries_so_far, orders_so_far)

    def import_updates(self, entries, orders=_NO_ORDERS):
        """Take in what other hosts have told, as ``table_exchange`` returned it there."""
        self._follow_growth()
        table_exchange.import_entries(self._table, entries)
        if self._table["buckets"]:
            table_exchange.import_orders(self._table, orders)

    def set_remote_marks(self, marks, hosts, host):
        """Note what other hosts search, see ``remote_hosts``; without a shared table nothing can be shared."""
        if self._table["buckets"]:
            remote_hosts.set_remote_marks(self._table, marks, hosts, host)

    def batch(self, states, requests, budget):
        """Do searches one after another, as by ``begin``, ``advance`` and ``result``, until about ``budget`` nodes.

        states: uint64, shape (searches, words); requests: a REQUEST for each, see ``layout``. Returns (answers, lines)
        of those that came to their end, or to their own budget: an ANSWER for each, and int16 of shape (n,
        LINE_LENGTH). If they are fewer than the requests, the next one is at work.
        """
        answers, lines = np.empty(len(requests), ANSWER), np.zeros((len(requests), LINE_LENGTH), np.int16)
        if len(requests) == 0:
            return answers, lines
        like = as_state(states[0])
        self._follow_growth()
        n, at_work = self._kernels["batch"](
            like, self._where, states.ravel(), requests, answers, address(lines), budget
        )
        if n < len(requests):
            self._state = as_state(states[n])
            if not at_work:
                self._begin(self._state, *(int(requests[n][name]) for name in ("depth", "low", "high")))
        else:
            self._state = as_state(states[-1])
        self._pay(int(answers["nodes"][:n].sum()) + (self.nodes if at_work else 0))
        if self._visits:
            self._visits.empty()
        return answers[:n], lines[:n]
