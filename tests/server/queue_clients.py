"""Ranks for a queue in this process, one or several virtual ones, and requests that keep what they are told."""

import time

from distsearch.api.book import WITHOUT, BookAnswers
from distsearch.api.chance import searcher_of
from distsearch.api.options import resolve
from distsearch.api.session import Session
from distsearch.cluster.simulated import NETWORKS, Processors, SimulatedCluster
from distsearch.jobs.two_player import KINDS
from distsearch.server.request import Request

EASY = ("67773775553433522221211211515", "777775655565574642422232113121")  # Connect 4 with about 30 stones ...
SCORES = (-2, 6)  # ... and their exact scores
LONG = {"game": "othello", "exact": True}  # takes years


class VirtualRanks:
    """What a queue wants of a session, over a simulated cluster of three workers; faults: what goes wrong there."""

    table_mib = 0

    def __init__(self, faults=None):
        processors = Processors(1e6, jitter=0.3, spread=0.2)
        self.cluster = SimulatedCluster(KINDS, 3, NETWORKS["host"], processors, faults=faults)

    def searcher(self, options):
        return searcher_of(options)(options, self.cluster)

    def check_gpu(self, setup, depth):
        """There is none."""

    def book(self, options):
        return BookAnswers(None, options, self.cluster)

    def close(self):
        self.cluster.close()


def alone(**how):
    """Return a Session of this process."""
    return Session(book=WITHOUT, **how).__enter__()


class Asked(Request):
    """A request for texts; ``answers`` is {index: Outcome}, ``ends`` what it was told at the end.

    It sees for itself that an answer comes once, and nothing after the end.
    """

    def __init__(self, *texts, client=1, priority=0, progress=None, **options):
        options, game, rules = resolve(**{"game": "connect4", **options})
        positions = [game.parse(text, rules) for text in texts or EASY[:1]]
        super().__init__(client, options, positions, priority, progress)
        self.answers, self.partial, self.ends = {}, [], []
        self.on_answer, self.on_progress, self.on_end = self._answer, self._progress, self._end

    def _answer(self, index, outcome):
        assert not self.ends
        assert index not in self.answers
        self.answers[index] = outcome

    def _progress(self, index, outcome):
        assert not self.ends
        assert index not in self.answers
        self.partial.append(outcome)

    def _end(self, state, text):
        assert not self.ends
        self.ends.append(state)
        self.why = text


def turn_until(queue, true, seconds=20.0):
    """Let the queue work until ``true()``."""
    end = time.monotonic() + seconds
    while not true():
        assert time.monotonic() < end
        queue.turn()


def finish(queue, seconds=60.0):
    """Let the queue work until nothing is open."""
    turn_until(queue, lambda: queue.idle, seconds)
