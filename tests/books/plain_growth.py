"""Drop-out expansion in plain Python: positions are keys, the graph is dictionaries, nothing is kept up to date."""

import heapq

import numpy as np

from distsearch.games.interface import END, Position, legal_moves, step


class PlainGrowth:
    """A book that grows to so many positions; searched(key): (score, move, depth) of a position.

    canonical(state), key_of(state): of the game's states; over(score): what a search makes of a final score.
    """

    def __init__(self, game, rules, most, canonical, key_of, searched, over, unit):
        self._game, self._rules, self._canonical, self._key_of = game, rules, canonical, key_of
        self._searched, self._over, self._unit = searched, over, unit
        self.order, self.states, self.below = [], {}, {}  # below: key -> [(move, key or None, final score)]
        self._take(canonical(game.start(rules).state))
        while len(self.order) < most and len(self.below) < len(self.order):
            self._round(most)
        for key in self.order:
            if key not in self.below:
                children = self._children(key)
                if all(child is None or child in self.states for _, child, _, _ in children):
                    self.below[key] = [row[:3] for row in children]

    def _take(self, state):
        key = self._key_of(state)
        if key not in self.states:
            self.order.append(key)
            self.states[key] = state
        return key

    def _children(self, key):
        """(move, key or None, final score, state) of each move, in the game's own order."""
        from distsearch import games

        out = np.zeros(256, np.int16)
        state, found = self.states[key], []
        n = games.functions(self._game)["ordered_moves"](state, self._rules, out, 0)
        assert sorted(out[:n].tolist()) == sorted(legal_moves(self._game, Position(state), self._rules))
        for move in out[:n].tolist():
            child = self._canonical(step(self._game, Position(state), self._rules, move).state)
            ended = self._game.kind(child, self._rules) == END
            final = self._over(int(self._game.final(child, self._rules))) if ended else 0
            found.append((move, None if ended else self._key_of(child), final, child))
        return found

    def _round(self, most):
        wanted = min(max(32, len(self.order) // 8), most - len(self.order))
        before, priorities = len(self.order), self._priorities()
        leaves = [key for key in self.order if key not in self.below]
        leaves.sort(key=lambda key: priorities[key])  # stable
        for key in leaves[:wanted]:
            if len(self.order) - before >= wanted:
                break
            children = self._children(key)
            self.below[key] = [row[:3] for row in children]
            for _, child, _, state in children:
                if child is not None:
                    self._take(state)

    def score(self, key, memory):
        if key not in memory:
            found = self._searched(key)[0]
            if key in self.below:
                found = max(self._value(row, memory) for row in self.below[key])
            memory[key] = found
        return memory[key]

    def _value(self, row, memory):
        _, child, final = row
        return -final if child is None else -self.score(child, memory)

    def _priorities(self):
        """Dijkstra."""
        memory, best, heap = {}, {}, [(0, self.order[0])]
        while heap:
            so_far, key = heapq.heappop(heap)
            if key in best:
                continue
            best[key] = so_far
            for row in self.below.get(key, ()):
                cost = self.score(key, memory) - self._value(row, memory)
                if row[1] is not None:
                    heapq.heappush(heap, (so_far + self._unit + 2 * cost, row[1]))
        return best

    def entries(self):
        """(key, score, move, depth) of each position, by their keys."""
        memory, found = {}, {}

        def entry(key):
            if key not in found:
                score, move, depth = self._searched(key)
                if key in self.below:
                    score = self.score(key, memory)
                    move, child, _ = next(row for row in self.below[key] if self._value(row, memory) == score)
                    depth = 1 if child is None else 1 + entry(child)[3]
                found[key] = key, score, move, min(max(depth, 1), 255)
            return found[key]

        return [entry(key) for key in sorted(self.order)]

    def plies(self):
        """The most plies of any position, the shortest way."""
        level, seen, plies = {self.order[0]}, set(), -1
        while level:
            seen, plies = seen | level, plies + 1
            level = {child for key in level for _, child, _ in self.below.get(key, ()) if child is not None} - seen
        return plies
