"""A game of sliding tiles with its plain twin."""

from distsearch import evaluation, games

from ..games.sliding_twin import twin_of


class SlidingCase:
    """A game, its twin, and random positions of both; evaluated: its first evaluation, unless another one is named."""

    def __init__(self, name, board, rng, evaluated=None, **rules):
        self.game, self.twin, self.rng = games.find(name), twin_of(name, board), rng
        self.rules = self.game.rules(board, **rules)
        self.evaluation = evaluation.find(self.game, evaluated or evaluation.names(self.game)[0], self.rules)

    def state(self, position):
        return self.game.parse(self.twin.text(position), self.rules).state

    def evaluate(self, position):
        return float(self.evaluation.function(self.state(position), self.rules, self.evaluation.tables))

    def position(self, plies):
        """A random position of the twin, so many plies after the beginning."""
        position = self.twin.start()
        for _ in range(plies):
            if not (options := self.twin.moves(position)):
                return self.position(plies)
            position = self.twin.play(position, self.rng.choice(options))[0]
        return position
