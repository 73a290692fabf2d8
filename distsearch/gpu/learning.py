"""Networks of tuples that learn on a GPU: from games that stay there, and from games that others have played.

What is learnt, and which games are played, is as in ``learning.td``: chance is a function of seed and number of a game,
and one game at a time changes weights as the CPU does, to the last bit, but for coherence (weights that one board looks
up twice take their rate from the traces before) and for a search, which adds up in another order. Many games at once
read what others have learnt so far; each addition is atomic, so none is lost, but in which order they come is up to the
GPU. Source of a thread a step, all at once: the report on 2584 on GPUs.
"""

import time

import numpy as np

from ..core.errors import UserError
from ..evaluation.tuple_network import sizes
from ..games.interface import board_size
from ..games.sliding import KINDS, SPAWNS
from .expectimax_merged import MOST_LEVELS, AfterstateLevels
from .expectimax_tables import MOST_STAGES, learning_images, make_learning_evaluator
from .structs import COUNTER, struct, typed

SOURCE = "learning.cu"
WATCH, FORWARD, BACKWARD, RECORD = range(4)  # what games are played for
MOST_TUPLES = 16
FINISHED = 1 << 14  # games that may end in a launch
RECORDED = 1 << 24  # moves of them that are recorded
MOST_MOVES = 1 << 17  # of a recorded game, as in the source
# Games at once: of networks with a large tuple, of others, and where games learn at every move. They learn from weights
# that lack what others are about to add, which goes well until it does not at all: docs/gpu/learning.md. Where a search
# takes most of a move's time, fewer of them are learning at the same time, and more are played.
GAMES, GAMES_SMALL, GAMES_FORWARD, GAMES_SEARCHED = 256, 64, 64, 1024
# With coherence more games learn well, and networks of small tuples need more of them to be fast.
GAMES_COHERENT, GAMES_COHERENT_SMALL = 512, 2048
_LARGE = 6  # cells of a tuple: games share fewer of its weights
# games at work at the start, and finished games for each one at work; with two or three layers few learn at a time
FIRST, RAMP, RAMP_SEARCHED = 16, 16, 4
SLICE, SLICE_OF_RAMP = 20e-3, 1e-3  # seconds of a launch
_PATH = 1 << 13  # afterstates that a game keeps to learn from; longer games learn in parts
_THREADS = 128
_BLOCKS = 4  # resident on a multiprocessor by the launch bounds of the one-layer search
_CERTAIN = 2.0**62

_LEARNT = struct(
    "Learnt",
    [
        ("weights", typed("float*")),
        ("traces", typed("float*")),  # of each weight the sum of its errors and that of their sizes
        ("rate", "f8"),
        ("steps", "i8"),  # n
        ("stage_size", "i8"),  # weights of a stage
        ("begins", "i4", MOST_STAGES),  # of stages after the first: the code of the largest tile
    ],
)
_BACKWARD = struct(  # how far a path has learnt from its end to its beginning
    "Backward",
    [
        ("brought", "f8"),  # points of the next n moves
        ("ahead", "f8"),  # what the afterstate that they lead to is worth; 0 at the end of a game
        ("left", "i4"),  # afterstates to learn from; 0: it is not learning
        ("last", "i4"),  # of the path
    ],
)
_SLOT = struct(
    "Slot",
    [
        ("board", "u8", 2),
        ("before", "u8", 2),  # the last afterstate
        ("stream", "u8"),
        ("number", "i8"),  # -1: none
        ("drawn", "i4"),
        ("length", "i4"),
        ("score", "i4"),
        ("played", "i4"),
        ("worth", "f4"),  # of the last afterstate, when it was chosen
        ("again", "i4"),  # 1: it was over once, and went on from its middle
        ("ended", "i4"),  # 1: it learns since it is over; 0: since its path is full
        ("back", _BACKWARD),
    ],
)
GAME = struct(  # a game that is over
    "Finished",
    [
        ("number", "i4"),  # from the phase's first on
        ("score", "i4"),
        ("largest", "i4"),  # the code of its largest tile
        ("moves", "i4"),
        ("words", "i8"),  # where its moves begin among the words of what is recorded
    ],
)
_COUNTERS = struct(
    "Counters",
    [
        ("next", COUNTER),
        ("words", COUNTER),
        ("moves", COUNTER),
        ("boards", COUNTER, MOST_LEVELS),  # of each level of a search, at most
        ("finished", "u4"),
        ("at_work", "u4"),
        ("full", "u4"),  # searches that found no room
    ],
)
_PLAY = struct(
    "Play",
    [
        ("learnt", _LEARNT),
        ("slots", typed("Slot*")),
        ("states", typed("uint64_t*")),  # of each slot's path
        ("gains", typed("int*")),
        ("values", typed("float*")),
        ("moves", typed("unsigned*")),  # of each slot's game, 16 a word
        ("records", typed("unsigned*")),  # moves of games that are over
        ("counters", typed("Counters*")),
        ("finished", typed("Finished*")),
        ("seed", "u8"),
        ("chances", "f8", 8),
        ("codes", "i4", 8),
        ("first", "i8"),  # numbers of games
        ("limit", "i8"),
        ("record_room", "i8"),  # words
        ("slice", "i8"),  # nanoseconds of a launch
        ("kinds", "i4"),
        ("games", "i4"),
        ("room", "i4"),
        ("mode", "i4"),
        ("budget", "i4"),
        ("finished_room", "i4"),
        ("restart", "i4"),  # 1: games go on from their middles when they are over
    ],
)
_MOVES = struct(
    "Moves",
    [
        ("play", _PLAY),
        ("found", typed("const double*")),  # by a search of these games' boards
        ("roots", typed("uint64_t*")),  # the boards of all games for the next search
        ("first", "i4"),  # slot
        ("count", "i4"),
        ("searched", "i4"),  # 0: games begin, and none moves
        ("last", "i4"),  # 1: of this launch
    ],
)
_REPLAY = struct(
    "Replay",
    [
        ("rules", _PLAY),  # seed, first, and what chance does
        ("games", typed("const Finished*")),
        ("places", typed("const int64_t*")),  # where each path begins
        ("records", typed("const unsigned*")),
        ("states", typed("uint64_t*")),
        ("gains", typed("int*")),
        ("count", "i4"),
    ],
)
_LEARN = struct(
    "Learn",
    [
        ("learnt", _LEARNT),
        ("states", typed("uint64_t*")),
        ("gains", typed("int*")),
        ("places", typed("const int64_t*")),  # of each game, and behind them the end
        ("values", typed("float*")),  # of each step
        ("count", "i4"),  # games; of kernels values and apply: steps
        ("combined", "i4"),  # apply: whether a warp adds once to a weight that several of its threads change
    ],
)


def defines(game, tuples, symmetric, coherent=False, moves_at_once=4, stages=1, searching=0, dead_boards=False):
    """Return the macros by which the kernels are compiled for a network; game: a module.

    moves_at_once: 1, 2 or 4 moves of a board that are looked at side by side; stages: how many; searching: threads of a
    block that searches each move one layer deep, 0 for none; dead_boards: as of a ``GpuLearner``.
    """
    masks = "".join(f"TUPLE({sum(1 << cell for cell in cells):#x})" for cells in tuples)
    how = {"SYMMETRIC": int(symmetric), "COHERENT": int(coherent), "AT_ONCE": moves_at_once, "STAGES": stages}
    how |= {"SEARCHING": searching, "BLOCKS": _BLOCKS} if searching else {"SEARCHING": 0}
    how |= {"DEAD_BOARDS": int(dead_boards)}
    return {"GAME": game.NAME, "TUPLES": masks, **how}


def games_at_once(tuples, forward=False, layers=0, coherent=False):
    """Return how many games go well at once with a network, by its tuples and the layers of a search."""
    large, small = (GAMES_COHERENT, GAMES_COHERENT_SMALL) if coherent else (GAMES, GAMES_SMALL)
    games = large if max(map(len, tuples)) >= _LARGE else small
    return min(games, GAMES_FORWARD) if forward else max(games, GAMES_SEARCHED if layers else 0)


def check(game, rules, tuples, symmetric, layers=0):
    """Raise UserError unless a GPU can learn such a network of a game (a module), where so many layers are searched."""
    if board_size(rules) != (4, 4):
        raise UserError("learning on a GPU is for boards of 4x4; others take --device cpu")
    if len(tuples) > MOST_TUPLES:
        raise UserError(f"learning on a GPU is for {MOST_TUPLES} tuples at most; more take --device cpu")
    if layers > 1:
        learning_images(game, tuples, symmetric)


class GpuLearner:
    """Weights on a GPU, and games that change them.

    gpu: see ``device.Gpu``; game, rules, tuples, symmetric, coherent, rate, seed: as of ``learning.learner.Learner``;
    games: how many are played at once; room: afterstates that each keeps; moves_at_once: see ``defines``;
    threads: of a block; recorded: moves of finished games that a launch may record; ramp: while games teach, as many
    are at once as a ``ramp``-th of those that have ended, but FIRST at least (default: RAMP or RAMP_SEARCHED); 0: all,
    from the beginning; restart: whether games that are over go on from the middle of their path, if they learn
    backwards; layers: of the search for each move, 0 for none; steps: n of n-step targets; stages: as of a ``Learner``;
    dead_boards: as of a ``Learner``; alone: whether a game searches one layer by a block of its own, not all games
    together. Raises UserError for what a GPU cannot do, and if its memory is too small.

    ``moves``: made so far; ``over``: whether no game of the phase is at work or left.
    """

    collisions = 0, 0  # as of a ``Learner``: additions are atomic

    def __init__(
        self,
        gpu,
        game,
        rules,
        tuples,
        symmetric,
        coherent,
        rate,
        seed,
        games=GAMES,
        room=_PATH,
        moves_at_once=4,
        threads=_THREADS,
        recorded=RECORDED,
        ramp=None,
        restart=False,
        layers=0,
        steps=1,
        stages=(),
        dead_boards=False,
        alone=True,
    ):
        check(game, rules, tuples, symmetric, layers)
        self._gpu, self._room, self._games = gpu, room, games
        self._words = 1 if game.BITS == 4 else 2  # of an afterstate on the GPU
        self._images, self._threads = 8 if symmetric else 1, threads
        self._learners = min(games, games_at_once(tuples, coherent=coherent)) if layers else games
        alone = alone and layers == 1
        self._lanes = threads if alone else moves_at_once * self._images  # of a game
        of_stage = sum(sizes(tuples, 1 << game.BITS))
        self._size, self._coherent = of_stage * (len(stages) + 1), coherent
        self._recorded = max(recorded, MOST_MOVES)
        self._check_memory()
        searching = threads if alone else 0
        macros = defines(game, tuples, symmetric, coherent, moves_at_once, len(stages) + 1, searching, dead_boards)
        names = "play", "make_moves", "replay", "learn", "values", "apply"
        self._kernels = {name: gpu.kernel(SOURCE, name, **macros) for name in names}
        self._weights = gpu.array(self._size, np.float32)
        self._traces = gpu.array((self._size, 2), np.float32) if coherent else None
        self._slots, self._counters = gpu.array(games, _SLOT), gpu.array(1, _COUNTERS)
        self._finished = gpu.array(FINISHED, GAME)
        self._arrays = {}  # by name: what is made when it is needed
        self._p = p = np.zeros(1, _PLAY)[0]
        begins = np.zeros(MOST_STAGES, np.int32)
        begins[: len(stages)] = stages
        traces = self._traces.address if coherent else 0
        p["learnt"] = self._weights.address, traces, rate, steps, of_stage, begins
        p["slots"], p["counters"], p["finished"] = (
            each.address for each in (self._slots, self._counters, self._finished)
        )
        p["seed"], p["kinds"], p["games"], p["room"], p["finished_room"] = seed, rules[KINDS], games, room, FINISHED
        for kind in range(int(rules[KINDS])):
            p["codes"][kind] = rules[SPAWNS + 3 * kind]
            p["chances"][kind] = np.float64(rules[SPAWNS + 3 * kind + 2]) / _CERTAIN
        self._search = self._roots = None
        if layers and not alone:
            at = self._weights.address
            evaluator = make_learning_evaluator(game, rules, tuples, symmetric, stages, at, dead_boards)
            self._search, self._roots = AfterstateLevels(gpu, evaluator), gpu.array(2 * games, np.uint64)
            self._search.compile()
        self._plies, self._moves_a_launch = 2 * layers, 1
        self.moves, self.over, self._next = 0, True, 0
        self._ramp = ramp if ramp is not None else RAMP if layers < 2 else RAMP_SEARCHED
        self._ended, self._restart = 0, restart
        self._taken = None  # that were taken, see ``take_steps``

    def _check_memory(self):
        each = 8 * self._words + 8  # bytes of an afterstate
        bytes_ = 4 * self._size * (3 if self._coherent else 1) + self._games * (_SLOT.itemsize + self._room * each)
        free = self._gpu.free()
        if bytes_ > free:
            raise UserError(
                f"weights and games take {bytes_ >> 20} MiB of GPU memory, and {free >> 20} are free; use fewer or "
                "smaller tuples, or fewer games at once"
            )

    def upload(self, weights, traces=None):
        """Take the weights, float32, and with coherence the traces, float32, shape (n, 2)."""
        self._weights.set(np.ravel(weights))
        if self._coherent:
            self._traces.set(traces)

    def download(self, weights, traces=None):
        """Write what was learnt to arrays as those of ``upload``."""
        np.ravel(weights)[:] = self._weights.get()
        if self._coherent:
            traces[:] = self._traces.get()

    def begin(self, first, begin, end, mode):
        """Begin a phase: games by their numbers, told apart from ``first`` on; mode: of WATCH to RECORD."""
        p = self._p
        p["first"], p["limit"], p["mode"] = first, end, mode
        p["restart"] = self._restart and mode == BACKWARD
        if mode == BACKWARD:
            p["states"] = self._array("states", self._games * self._room * self._words, np.uint64).address
            p["gains"] = self._array("gains", self._games * self._room, np.int32).address
            p["values"] = self._array("state_values", self._games * self._room, np.float32).address
        if mode == RECORD:
            p["moves"] = self._array("moves", self._games * MOST_MOVES // 16, np.uint32).address
            p["record_room"] = self._recorded // 16
            p["records"] = self._array("records", self._recorded // 16, np.uint32).address
        slots = np.zeros(self._games, _SLOT)
        slots["number"] = -1
        self._slots.set(slots)
        self._next, self.over, self._ended = begin, begin >= end, first

    def stop(self):
        """Begin no more games; those at work are played to their ends."""
        self._p["limit"] = min(int(self._p["limit"]), self._next)

    def launch(self, seconds=SLICE, budget=-1):
        """Play on for so many seconds, or ``budget`` moves of each game; return those that ended (GAME)."""
        if self.over:
            return np.zeros(0, GAME)
        p = self._p
        p["games"] = games = self._at_once()
        p["slice"], p["budget"] = int((seconds if games == self._games else SLICE_OF_RAMP) * 1e9), budget
        counters = np.zeros(1, _COUNTERS)
        counters["next"] = self._next
        self._counters.set(counters)
        if self._search is None:
            self._kernels["play"](p, -(-games * self._lanes // self._threads), self._threads)
            counters = self._counters.get()[0]
        else:
            counters = self._search_and_move(p["slice"] / 1e9, budget)
        self._next = min(int(counters["next"]), max(self._next, int(p["limit"])))
        self.moves += int(counters["moves"])
        count = min(int(counters["finished"]), FINISHED)
        self._ended += count
        self.over = not counters["at_work"] and self._next >= int(p["limit"])
        self._recorded_words = min(int(counters["words"]), self._recorded // 16)
        return self._finished.part(count).get()

    def _search_and_move(self, seconds, budget):
        """Have all games make as many moves as take about so many seconds, or ``budget``; return the counters."""
        games, began = int(self._p["games"]), time.perf_counter()
        steps = self._moves_a_launch if budget < 0 else budget
        each = min(games, self._search.at_once(self._plies))  # of a search
        self._move(0, games, 0, last=steps == 0)
        for step in range(steps):
            for first in range(0, games, each):
                count = min(each, games - first)
                found = self._search.search_there(self._roots.address + 16 * first, count, self._plies)
                self._move(first, count, found, last=step == steps - 1)
        counters = self._counters.get()[0]
        self._search.note(self._plies, each, counters["boards"], counters["full"])
        took = (time.perf_counter() - began) / max(steps, 1)
        self._moves_a_launch = int(min(max(seconds / took, 1), 2 * self._moves_a_launch))
        return counters

    def _move(self, first, count, found, last=False):
        """Have some games make the moves that a search has found, or begin where it is at the address 0."""
        p = np.zeros(1, _MOVES)[0]
        p["play"], p["found"], p["roots"] = self._p, found, self._roots.address
        p["first"], p["count"], p["searched"], p["last"] = first, count, found != 0, last
        self._kernels["make_moves"](p, -(-count * self._lanes // self._threads), self._threads)

    def _at_once(self):
        """Return how many games are played at once in the next launch."""
        if self._p["mode"] == WATCH or not self._ramp:
            return self._games
        return min(self._games, max(FIRST, self._ended // self._ramp))

    def records(self, games):
        """Return (the games of a launch, the words of their moves), without gaps."""
        if not len(games):
            return games, np.zeros(0, np.uint32)
        words, lengths = self._arrays["records"].part(self._recorded_words).get(), -(-games["moves"] // 16)
        games = games.copy()
        begins, games["words"] = games["words"].copy(), np.cumsum(lengths) - lengths
        where = np.repeat(begins - games["words"], lengths) + np.arange(lengths.sum())
        return games, words[where]

    def learn_recorded(self, games, words):
        """Learn from games (GAME) of this phase that any GPU has played, by the words of their moves, each backward."""
        if not len(games):
            return
        self._taken = None  # these take their place
        games = games[np.argsort(-games["moves"], kind="stable")]  # the longest first: no GPU waits for one at the end
        places = np.concatenate([[0], np.cumsum(games["moves"], dtype=np.int64)])
        with_moves = self._path(int(places[-1]))
        given = [self._filled(name, each) for name, each in (("games", games), ("places", places), ("words", words))]
        replay = np.zeros(1, _REPLAY)[0]
        replay["rules"], replay["count"] = self._p, len(games)
        replay["games"], replay["places"], replay["records"] = (each.address for each in given)
        replay["states"], replay["gains"] = with_moves
        self._kernels["replay"](replay, -(-len(games) // self._threads), self._threads)
        self._learn_games(with_moves, given[1].address, len(games))

    def take_steps(self, states, gains, starts):
        """Take recorded games for ``update_steps`` and ``update_games``, one behind another.

        states: their afterstates, uint64, shape (n, 2), as the CPU has them; gains: what the move to each brought,
        int32, shape (n,); starts: where each game begins, and n behind them, int64, rising. Raises UserError if they do
        not fit the GPU's memory.
        """
        starts, n = np.asarray(starts, np.int64), len(states)
        need = n * (8 * self._words + 8) + starts.nbytes  # with the values of all steps
        names = "path_states", "path_gains", "places", "values"  # which are made anew, or kept
        free = self._gpu.free() + sum(self._arrays[name].nbytes for name in names if name in self._arrays)
        if need > free:
            raise UserError(
                f"{n:,} moves take {need >> 20} MiB of GPU memory, and {free >> 20} are free; take fewer games at a "
                "time, or use --device cpu"
            )
        marked = np.concatenate([np.asarray(gains, np.int32), [-1]])
        marked[starts] = -1
        where = self._path(n)
        self._filled("path_states", np.ascontiguousarray(states[:, : self._words]).ravel())
        self._filled("path_gains", marked.astype(np.int32))
        self._taken = where, self._filled("places", starts).address, len(starts) - 1, n

    def update_steps(self, combined=False):
        """Learn from all steps that were taken at once: a thread each, errors are from weights as they were.

        combined: whether threads of a warp that change the same weight, as neighbours in a game do, add once; not with
        coherence.
        """
        self._learn_steps("values")
        self._learn_steps("apply", combined and not self._coherent)

    def values(self):
        """Return what the afterstates that were taken are worth, float32."""
        self._learn_steps("values")
        return self._arrays["values"].part(self._taken[3]).get()

    def update_games(self):
        """Learn from all games that were taken, each from its end to its beginning."""
        where, places, games, _ = self._taken
        self._learn_games(where, places, games)

    def _learn_games(self, path, places, games):
        """Learn backward, from as many games side by side as do so where games are played without a search: half."""
        values = self._array("path_values", self._arrays["path_gains"].shape[0], np.float32).address
        side_by_side = min(games, -(-min(self._at_once(), self._learners) // 2))
        self._learn("learn", path, places, games, side_by_side, self._images, values)

    def _learn_steps(self, name, combined=False):
        where, places, _, n = self._taken
        values = self._array("values", n + 1, np.float32)
        self._learn(name, where, places, n, -(-n // self._threads), self._threads, values.address, combined)

    def _learn(self, name, path, places, count, blocks, threads, values=0, combined=False):
        p = np.zeros(1, _LEARN)[0]
        p["combined"] = combined
        p["learnt"], p["places"], p["values"], p["count"] = self._p["learnt"], places, values, count
        p["states"], p["gains"] = path
        self._kernels[name](p, blocks, threads)

    def _path(self, n):
        """Return addresses of states and gains with room for n afterstates and a gain behind them."""
        return (
            self._array("path_states", max(1, n) * self._words, np.uint64).address,
            self._array("path_gains", n + 1, np.int32).address,
        )

    def _filled(self, name, values):
        """Return an array of that name whose first elements are these."""
        array = self._array(name, len(values), values.dtype)
        array.part(len(values)).set(values)
        return array

    def _array(self, name, size, dtype):
        """Return the array of that name, a new one if it is too small."""
        if name not in self._arrays or self._arrays[name].shape[0] < size:
            margin = size // 4 if self._arrays.pop(name, None) is not None else 0  # it grows, and may again
            self._arrays[name] = self._gpu.array(size + margin, dtype)
        return self._arrays[name]
