"""What all searches from end to end have in common: options and positions in, outcomes out, over any cluster."""

import copy
import json
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator
from typing import Any, Self

from .. import evaluation, games
from ..cluster.protocols import WorkSource
from ..evaluation.tuple_network import ENDING
from ..formats.checkpoint import NO_CHECKPOINT
from .applicability import check
from .facts import Facts
from .options import Options
from .progress import Progress
from .result import Outcome
from .run import RunStats, run


class Searcher(ABC):
    """Searches positions of one game and board under one set of options.

    cluster: an InProcessCluster, MpiCluster or SimulatedCluster; interrupted: a function that says whether the user
    wants an end. ``wanted_subtrees``: subtrees in a pool.
    """

    deepening: bool  # whether each position is searched deeper and deeper until a limit ends it; else they are a stream

    def __init__(
        self,
        options: Options,
        cluster: Any,
        progress: Progress | None = None,
        interrupted: Callable[[], bool] = lambda: False,
    ):
        check(options, {"search": True})
        self._cluster, self._interrupted = cluster, interrupted
        self.progress = progress or Progress()
        self.game = games.find(options.game)
        self.rules = self.game.rules(options.board, **options.rules)
        self._setup = options.setup()
        if (
            str(options.evaluation).removesuffix(evaluation.DEAD).endswith(ENDING)
        ):  # a file that does not fit is refused before kernels are compiled
            evaluation.find(self.game, options.evaluation, self.rules)
        self._prepare(options)
        self._take(options)

    @abstractmethod
    def _prepare(self, options):
        """Compile what the search needs, and unpack its weights: before ``_take``, which may need them."""

    def _take(self, options):
        self._options = options
        self.wanted_subtrees = options.wanted_subtrees(self._sharers)

    def give(self, seconds: float) -> None:
        """Set the limit of time of the searches to come, of options that have one."""
        self._options.time = seconds

    def serves(self, options: Options) -> bool:
        """Whether other options are of the same setup."""
        return self._setup == options.setup()

    def under(self, options: Options) -> Self:
        """Return a searcher under other options of the same setup; they share what is compiled."""
        other = copy.copy(self)
        other._take(options)
        return other

    def setups(self) -> list[bytes]:
        """Return the setups that runs of these searches may have."""
        return [json.dumps(self._setup).encode()]

    @abstractmethod
    def trial(self) -> WorkSource:
        """Return a source of hardly any work, whose run has the workers get ready for the first of ``setups``."""

    @abstractmethod
    def search(self, positions: Iterable, checkpoint: Any = NO_CHECKPOINT) -> Iterator[Outcome | None]:
        """Yield an Outcome for each of a list of Positions, in order; checkpoint: a ``CheckpointHandle``, for one.

        After an interrupt some are incomplete; None stands for what was never looked at, or the rest is missing.
        """

    @abstractmethod
    def rate(self, position: Any, seconds: float) -> float:
        """Return the nodes a CPU second of deeper and deeper searches of ``position`` on this processor."""

    @property
    def policy(self) -> str:
        """The name of the policy by which trees are shared out."""
        return str(self._options.policy)

    @property
    def _sharers(self):
        """Those that have subtrees of their own."""
        return self._cluster.workers

    def _run_on_cluster(self, setup, source, describe, limit, **how) -> RunStats:
        """Have a source done by the cluster, with this search's progress, interrupt and prefetch; see ``run``."""
        prefetch = self._options.prefetch
        return run(self._cluster, setup, source, self.progress, self._interrupted, describe, limit, prefetch, **how)

    def _asked(self, position) -> dict[str, Any]:
        """Return the fields of an Outcome that say what was asked, and of which cluster."""
        options, cluster = self._options, self._cluster
        return {
            "game": self.game.NAME,
            "board": f"{options.board[0]}x{options.board[1]}",
            "position": self.game.text(position, self.rules),
            "ranks": cluster.ranks,
            "workers": cluster.workers,
            "algorithm": options.algorithm,
            "policy": self.policy,
            "load_factor": self.wanted_subtrees / self._sharers,
            "selective": options.selective if options.foretelling else None,
            "rank_cut": options.rank_cut,
        }


def facts_of(outcome: Outcome, **more: Any) -> Facts:
    """Return the Facts of a search whose Outcome so far is known, those of ``more`` among them."""
    found = {name: getattr(outcome, name) for name in _OF_OUTCOMES}
    depth = outcome.depth if outcome.score is not None else None
    return Facts(depth=depth, **{**found, **more})


_OF_OUTCOMES = "seconds", "nodes", "move", "score", "unit", "bound", "meaning"
