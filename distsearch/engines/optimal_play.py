"""Optimal play of a whole game of one player against chance: the exact value of every position that can come up.

``moves_left`` falls with every move of the player and of chance, so the positions with the same number of moves left, a
*layer*, depend on lower layers alone. One pass from the start downwards finds all positions, and one back upwards gives
each its value: value iteration in an order in which one iteration is enough (backward induction; Bellman, "Dynamic
Programming", 1957). Positions that symmetry makes the same count once, where the game has ``book_canonical``.

The positions of a layer are in an open hash table (linear probing): their states one after another, and slots with
their numbers. Ranks share the positions by a hash, see ``owner_of``.
"""

from typing import Any, NamedTuple

import numpy as np

from .. import games
from ..core import jit
from ..core.errors import UserError
from ..core.jit import compiled
from ..games import lanes
from ..games.interface import CHANCE, END, MAX_MOVES, ChanceGame, Rules, as_state
from .pvs.table_search import itself

EMPTY = -1  # a slot
_LEAST_SLOTS = 64
PLAYER, BY_CHANCE, OVER, REACHED = range(4)  # what a position is
NO_TILE = 0  # as a target: points count

kind = moves = outcomes = play = key = moves_left = canonical = reached = None  # bound for each game


def never_reached(s, r, value):
    """Of a game whose tiles do not grow."""
    return False


def owner_of(s, r, ranks):
    """Return the rank that has a position: by the high half of its key, since slots go by the low one."""
    return np.int64((key(s, r) >> np.uint64(32)) % np.uint64(ranks))


def find(s, r, words, slots):
    """Return (slot, number) of a state in a table of states, number EMPTY where it is not there yet."""
    width, mask = len(s), np.uint64(len(slots) - 1)
    slot = key(s, r) & mask
    while slots[slot] != EMPTY and lanes.load(s, words, slots[slot] * width) != s:
        slot = slot + np.uint64(1) & mask
    return slot, slots[slot]


def insert(like, r, rows, count, layer, words, slots, size):
    """Add states to a table of ``size`` states which has room for all of them; return its new size.

    rows: uint64 of shape (n, width + 1), of which those count whose last word is ``layer``; words: uint64, states one
    after another; slots: int64.
    """
    for i in range(count):
        if rows[i, len(like)] == layer:
            s = lanes.load(like, rows[i], 0)
            slot, number = find(s, r, words, slots)
            if number == EMPTY:
                lanes.store(words, size * len(like), s)
                slots[slot] = size
                size += 1
    return size


def rehash(like, r, words, size, slots):
    """Enter the first ``size`` states, all different, in slots that are all EMPTY."""
    mask = np.uint64(len(slots) - 1)
    for number in range(size):
        slot = key(lanes.load(like, words, number * len(like)), r) & mask
        while slots[slot] != EMPTY:
            slot = slot + np.uint64(1) & mask
        slots[slot] = number


def successors(
    like, r, words, first, last, target, rows, counts, owners, places, weights, begins, kinds, out, probability
):
    """Write what comes after states ``first`` to ``last`` − 1 of a layer; return the first that there was no room for.

    rows: uint64 (ranks, room, width + 1), for each owner canonical states and their layers; counts: int64, how many of
    each; owners, places: int64, for each successor whose it is, and its row among those; weights: float64, the points
    that a move brings, or a probability; begins: int64, where the successors of each state begin, and those of the last
    one end; kinds: uint8, what each state is. target: the tile to reach, or NO_TILE.
    """
    width, ranks, room = len(like), len(rows), len(rows[0])
    edge = fullest = 0
    begins[0] = 0
    for i in range(first, last):
        if edge + MAX_MOVES > len(owners) or fullest + MAX_MOVES > room:
            return i
        s = lanes.load(like, words, i * width)
        n, what = np.int64(0), kind(s, r)
        if target != NO_TILE and reached(s, r, target):
            kinds[i - first] = REACHED
        elif what == CHANCE:
            kinds[i - first] = BY_CHANCE
            n = np.int64(outcomes(s, r, out, probability, 0))
        elif what == END:
            kinds[i - first] = OVER
        else:
            kinds[i - first] = PLAYER
            n = np.int64(moves(s, r, out, 0))
        for j in range(n):
            child, points = play(s, r, np.int64(out[j]))
            child = canonical(child, r)
            owner = owner_of(child, r, ranks)
            row = counts[owner]
            lanes.store(rows[owner, row], 0, child)
            rows[owner, row, width] = np.uint64(moves_left(child, r))
            counts[owner] = row + 1
            fullest = max(fullest, row + 1)
            owners[edge], places[edge] = owner, row
            weights[edge] = probability[j] if what == CHANCE else np.float64(0 if target != NO_TILE else points)
            edge += 1
        begins[i - first + 1] = edge
    return last


def look_up(like, r, rows, count, layer, words, slots, values, found):
    """Write the values (float64) of the rows of a layer to ``found``; return how many were there."""
    there = 0
    for i in range(count):
        if rows[i, len(like)] == layer:
            _, number = find(lanes.load(like, rows[i], 0), r, words, slots)
            if number != EMPTY:
                found[i] = values[number]
                there += 1
    return there


@compiled
def _evaluate(count, owners, places, weights, begins, kinds, found, offsets, values):
    """Write the values (float64) of ``count`` states.

    found: float64, values of the rows of ``successors``, those of each owner from offsets[owner] (int64) on.
    """
    for i in range(count):
        value = 1.0 if kinds[i] == REACHED else 0.0
        for edge in range(begins[i], begins[i + 1]):
            of_successor = found[offsets[owners[edge]] + places[edge]]
            if kinds[i] == BY_CHANCE:
                value += weights[edge] * of_successor
            elif edge == begins[i] or weights[edge] + of_successor > value:
                value = weights[edge] + of_successor
        values[i] = value


_TEMPLATES = find, owner_of, insert, rehash, successors, look_up


class Successors(NamedTuple):
    """What comes after some states of a layer; see ``successors``, whose arrays these are."""

    rows: np.ndarray
    counts: np.ndarray
    owners: np.ndarray
    places: np.ndarray
    weights: np.ndarray
    begins: np.ndarray
    kinds: np.ndarray


class Layer:
    """The positions of a layer that one rank has.

    words: uint64 of shape (size, width), their states; values: float64, None until they are known.
    """

    def __init__(self, kernels: "Kernels", width: int):
        self._kernels, self.size = kernels, 0
        self._words = np.zeros((_LEAST_SLOTS // 2, width), np.uint64)
        self._slots = np.full(_LEAST_SLOTS, EMPTY, np.int64)
        self.values: np.ndarray | None = None

    @property
    def words(self) -> np.ndarray:
        return self._words[: self.size]

    def insert(self, rows: np.ndarray, layer: int) -> None:
        """Add those of some states with their layers (uint64, shape (n, width + 1)) that are of this layer."""
        needed = self.size + np.count_nonzero(rows[:, -1] == layer)
        if needed > len(self._words):
            room = 1 << (int(needed) - 1).bit_length()
            grown = np.zeros((room, rows.shape[1] - 1), np.uint64)
            grown[: self.size] = self.words
            self._words = grown
            self._index(2 * room)
        self.size = self._kernels.insert(rows, layer, self._words, self._slots, self.size)

    def pack(self) -> None:
        """Keep no more memory than the states take."""
        self._words = self.words.copy()
        self.forget_slots()

    def forget_slots(self) -> None:
        """Free them; ``look_up`` makes them again."""
        self._slots = np.zeros(0, np.int64)

    def look_up(self, rows: np.ndarray, layer: int, found: np.ndarray) -> int:
        """Write the values of those of some states that are of this layer to ``found``; return how many there were."""
        if not len(self._slots):
            self._index(max(_LEAST_SLOTS, 2 << (self.size - 1).bit_length()))
        return self._kernels.look_up(rows, layer, self._words, self._slots, self.values, found)

    def _index(self, slots):
        self._slots = np.full(slots, EMPTY, np.int64)
        self._kernels.rehash(self._words, self.size, self._slots)


class Kernels:
    """The kernels of one game and board."""

    def __init__(self, game: ChanceGame, rules: Rules, target: int = NO_TILE):
        if game.PLAYERS != 1 or not hasattr(game, "outcomes"):
            raise UserError(f"{game.NAME} is not a game of one player against chance")
        hooks: Any = games.knowledge(game)
        if target != NO_TILE and not hasattr(hooks, "reached"):
            raise UserError(f"{game.NAME} has no tiles to reach")
        functions = games.functions(game) | {"outcomes": game.outcomes}
        functions["canonical"] = getattr(hooks, "book_canonical", getattr(hooks, "canonical", itself))
        functions["reached"] = getattr(hooks, "reached", never_reached)
        self._kernels = jit.specialise_all(_TEMPLATES, f"{games.tag(game)}_optimal_play", functions)
        self._rules, self._target = rules, target
        self._canonical, self._moves_left = functions["canonical"], game.moves_left
        self._like, self.width = game.start(rules).state, game.words(rules)
        self._out, self._probability = np.zeros(MAX_MOVES, np.int16), np.zeros(MAX_MOVES)

    def row_of(self, state) -> np.ndarray:
        """Return the row of a state: its canonical state and its layer."""
        state = as_state(self._canonical(as_state(state), self._rules))
        return np.array([[*state, self._moves_left(state, self._rules)]], np.uint64)

    def owner_of(self, row, ranks) -> int:
        return self._kernels["owner_of"](as_state(row[:-1]), self._rules, ranks)

    def insert(self, rows, layer, words, slots, size):
        return self._kernels["insert"](
            self._like, self._rules, rows, len(rows), np.uint64(layer), words.reshape(-1), slots, size
        )

    def rehash(self, words, size, slots):
        self._kernels["rehash"](self._like, self._rules, words.reshape(-1), size, slots)

    def look_up(self, rows, layer, words, slots, values, found):
        return self._kernels["look_up"](
            self._like, self._rules, rows, len(rows), np.uint64(layer), words.reshape(-1), slots, values, found
        )

    def new_successors(self, ranks: int, room: int, states: int) -> Successors:
        """Return arrays for the successors of so many states: room for so many rows of each rank."""
        return Successors(
            rows=np.zeros((ranks, room, self.width + 1), np.uint64),
            counts=np.zeros(ranks, np.int64),
            owners=np.zeros(ranks * room, np.int64),
            places=np.zeros(ranks * room, np.int64),
            weights=np.zeros(ranks * room),
            begins=np.zeros(states + 1, np.int64),
            kinds=np.zeros(states, np.uint8),
        )

    def successors(self, words, first, into: Successors) -> int:
        """Write what comes after the states from ``first`` on; return the first that there was no room for."""
        into.counts[:] = 0
        last = min(len(words), first + len(into.kinds))
        return self._kernels["successors"](
            self._like,
            self._rules,
            words.reshape(-1),
            first,
            last,
            self._target,
            into.rows,
            into.counts,
            into.owners,
            into.places,
            into.weights,
            into.begins,
            into.kinds,
            self._out,
            self._probability,
        )

    def successors_of(self, state) -> tuple[int, np.ndarray, np.ndarray]:
        """Return (what a state is, its successors as uint64 of shape (n, words), their weights)."""
        into = self.new_successors(1, MAX_MOVES, 1)
        self.successors(np.array([state], np.uint64), 0, into)
        count = into.counts[0]
        return int(into.kinds[0]), into.rows[0, :count, :-1], into.weights[:count]

    def evaluate(self, count, of: Successors, found, values):
        """Write the values of ``count`` states; of: their successors; found: values of its rows, owner by owner."""
        offsets = np.cumsum(of.counts) - of.counts
        _evaluate(count, of.owners, of.places, of.weights, of.begins, of.kinds, found, offsets, values)
