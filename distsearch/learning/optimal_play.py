"""The value of every position of a small game against chance, by all ranks together; see ``engines.optimal_play``.

Each rank has those positions of every layer that a hash gives it. All go through the layers together, in rounds: each
writes what comes after some of its positions, and tells it to the ranks that have these, or asks them for the values.
"""

from collections.abc import Callable, Iterator
from typing import NamedTuple

import numpy as np

from .. import __version__
from ..core import archive
from ..core.errors import UserError
from ..engines.optimal_play import BY_CHANCE, NO_TILE, OVER, REACHED, Kernels, Layer
from ..games.interface import MAX_MOVES, ChanceGame, Rules, board_size
from .rank_group import agreed

KIND = "optimal play"  # what a file's header calls it
_ROOM = 1 << 16  # rows for all owners in a round
_LEAST_ROOM = 4 * MAX_MOVES  # for each
_STATES = 1 << 14  # of a rank in a round
_NO_LAYER = -1
_DONE, _GO_ON, _STOP, _FAIL = range(4)  # what ranks say before a round


class Solved(NamedTuple):
    """value: of the first position; positions: that have a value, those in which chance moves among them; layers."""

    value: float
    positions: int
    layers: int


class OptimalPlay:
    """Solves a game on all ranks of ``comm`` (an mpi4py communicator; None: this process alone), collectively.

    target: the tile to reach with the highest probability; NO_TILE: the most points are wanted. stopped(): asked
    between rounds on every rank; once any says so, InterruptedError is raised on all. ``layers``: this rank's, by the
    number of moves left.
    """

    def __init__(
        self,
        game: ChanceGame,
        rules: Rules,
        target: int = NO_TILE,
        comm=None,
        stopped: Callable[[], bool] = lambda: False,
    ):
        self._kernels = Kernels(game, rules, target)
        rows, columns = board_size(rules)
        self._what = {"game": game.NAME, "board": f"{rows}x{columns}", "target": target}
        self._ranks = _Ranks(comm)
        self._stopped = stopped
        self._successors = self._kernels.new_successors(
            self._ranks.size, max(_LEAST_ROOM, _ROOM // self._ranks.size), _STATES
        )
        self._start = self._kernels.row_of(game.start(rules).state)
        self.layers: dict[int, Layer] = {}
        self._wrong = ""  # what this rank found wrong: all ranks raise it before the next round
        self._deepest = 1  # the most layers from a position down to a successor

    def solve(self) -> Solved:
        """Find all positions, and give each its value."""
        mine = self._kernels.owner_of(self._start[0], self._ranks.size) == self._ranks.rank
        self._enter(self._start[: int(mine)])
        order = self._find_all()
        upwards, looked_up = order[::-1], 0
        for layer in upwards:
            self._evaluate(layer)
            while upwards[looked_up] <= layer - self._deepest:  # no layer above asks for it any more
                self._layer(upwards[looked_up]).forget_slots()
                looked_up += 1
        positions = self._ranks.sum(sum(each.size for each in self.layers.values()))
        return Solved(float(self.values_of(self._start[:, :-1])[0]), positions, len(order))

    def values_of(self, states: np.ndarray) -> np.ndarray:
        """Return the values (float64) of states (uint64, shape (n, words)), the same ones on every rank.

        Raises KeyError for one that cannot come up.
        """
        rows = np.concatenate([self._kernels.row_of(state) for state in states])
        found = np.zeros(len(rows))
        if self._ranks.sum(self._look_up(rows, found)) < len(rows):
            raise KeyError("a position that cannot come up")
        return self._ranks.sum(found)

    def played(self, count: int, seed: int) -> list[float]:
        """Play games as well as can be; return what each brought: points, or 1 where the target was reached, else 0."""
        random = np.random.default_rng(seed)
        return [self._played(random) for _ in range(count)]

    def _played(self, random):
        if self._ranks.most(int(self._stopped())):
            raise InterruptedError("stopped")
        state, total = self._start[0, :-1], 0.0
        while True:
            what, children, weights = self._kernels.successors_of(state)
            if what in (OVER, REACHED):
                return total + (what == REACHED)
            if what == BY_CHANCE:
                chosen = random.choice(len(weights), p=weights)
            else:
                chosen = int(np.argmax(weights + self.values_of(children)))
                total += weights[chosen]
            state = children[chosen]

    def save(self, path) -> None:
        """Write all positions and their values to a file, see ``docs/records.md``; raises UserError, on all ranks."""
        order = sorted(set().union(*self._ranks.all_of(list(self.layers))), reverse=True)
        parts = [self._ranks.gathered((self._layer(layer).words, self._layer(layer).values)) for layer in order]
        agreed(self._ranks.comm, lambda: self._write(path, order, parts) if self._ranks.rank == 0 else None)

    def _write(self, path, order, parts):
        sizes = [sum(len(words) for words, _ in of_layer) for of_layer in parts]
        arrays = {
            "moves_left": np.array(order, np.int64),
            "positions": np.array(sizes, np.int64),
            "states": np.concatenate([words for of_layer in parts for words, _ in of_layer]),
            "values": np.concatenate([values for of_layer in parts for _, values in of_layer]),
        }
        try:
            archive.save(path, KIND, {**self._what, "version": __version__}, arrays)
        except OSError as error:
            raise UserError(f"cannot write {str(path)[:200]}: {error.strerror or error}") from error

    def _find_all(self):
        """Find all positions; return the layers that have any, the highest first."""
        order, waiting = [], set(self.layers)
        while (layer := self._ranks.most(max(waiting, default=_NO_LAYER))) != _NO_LAYER:
            order.append(layer)
            waiting.discard(layer)
            for _ in self._rounds(layer):
                rows, _ = self._ranks.exchanged(self._by_owner())
                if len(rows) and int(rows[:, -1].max()) >= layer:
                    self._wrong = "moves_left does not fall with every move"
                    continue
                waiting.update(self._enter(rows))
                if len(rows):
                    self._deepest = max(self._deepest, layer - int(rows[:, -1].min()))
            self._layer(layer).pack()
        self._deepest = self._ranks.most(self._deepest)
        return order

    def _evaluate(self, layer):
        """Give the positions of a layer their values; all lower layers have theirs."""
        own = self._layer(layer)
        own.values = np.zeros(own.size)
        for first, last in self._rounds(layer):
            rows, counts = self._ranks.exchanged(self._by_owner())
            found = np.zeros(len(rows))
            if self._look_up(rows, found) < len(rows):
                self._wrong = f"a position below layer {layer} has no value"
            answers = self._ranks.exchanged(np.split(found, np.cumsum(counts)[:-1]))[0]
            self._kernels.evaluate(last - first, self._successors, answers, own.values[first:last])

    def _layer(self, layer):
        if layer not in self.layers:
            self.layers[layer] = Layer(self._kernels, self._kernels.width)
        return self.layers[layer]

    def _enter(self, rows):
        """Add states with their layers to what this rank has; return these layers."""
        found = np.unique(rows[:, -1]).tolist()
        for layer in found:
            self._layer(layer).insert(rows, layer)
        return found

    def _rounds(self, layer) -> Iterator[tuple[int, int]]:
        """Write the successors of a layer's states, some in each round; yields (first, last) of these states.

        All ranks have the same number of rounds.
        """
        own, last = self._layer(layer), 0
        while True:
            wish = _FAIL if self._wrong else _STOP if self._stopped() else _GO_ON if last < own.size else _DONE
            wanted = self._ranks.most(wish)
            if wanted == _FAIL:
                raise AssertionError(self._wrong or "another rank has found something wrong")
            if wanted == _STOP:
                raise InterruptedError("stopped")
            if wanted == _DONE:
                return
            first, last = last, self._kernels.successors(own.words, last, self._successors)
            yield first, last

    def _by_owner(self):
        """Return the rows written last, for each owner."""
        return [rows[:count] for rows, count in zip(self._successors.rows, self._successors.counts, strict=True)]

    def _look_up(self, rows, found):
        """Write what this rank knows of the values of rows to ``found``; return of how many it knows."""
        known = [layer for layer in np.unique(rows[:, -1]).tolist() if layer in self.layers]
        return sum(self.layers[layer].look_up(rows, layer, found) for layer in known)


class _Ranks:
    """What the ranks of a communicator (None: this process alone) agree on and exchange."""

    def __init__(self, comm):
        self.comm = comm if comm is not None and comm.Get_size() > 1 else None
        self.rank, self.size = (0, 1) if self.comm is None else (comm.Get_rank(), comm.Get_size())

    def most(self, number: int) -> int:
        """Return the largest of all ranks' numbers."""
        if self.comm is None:
            return number
        from mpi4py import MPI

        return self.comm.allreduce(number, MPI.MAX)

    def sum(self, numbers):
        """Return the sum of all ranks' numbers, or arrays."""
        return numbers if self.comm is None else self.comm.allreduce(numbers)

    def all_of(self, each):
        """Return what all ranks have, in their order."""
        return [each] if self.comm is None else self.comm.allgather(each)

    def gathered(self, each):
        """Return on rank 0 what all ranks have, in their order, on others only this rank's."""
        return [each] if self.comm is None else self.comm.gather(each) or [each]

    def exchanged(self, parts):
        """Send each rank its part (arrays alike but for their lengths).

        Returns what the ranks sent this one, one array in the order of ranks, and how many rows each of them sent.
        """
        if self.comm is None:
            return parts[0], [len(parts[0])]
        counts = np.array([len(part) for part in parts])
        theirs = np.empty_like(counts)
        self.comm.Alltoall(counts, theirs)
        sent = np.concatenate(parts)
        width = sent[:1].size if len(sent) else int(np.prod(sent.shape[1:]))
        received = np.empty((theirs.sum(), *sent.shape[1:]), sent.dtype)
        self.comm.Alltoallv((sent, counts * width), (received, theirs * width))
        return received, theirs
