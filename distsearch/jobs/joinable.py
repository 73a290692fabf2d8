"""Base of runners whose jobs other ranks of the host may join; see ``cluster.joint``."""

from typing import Any

import numpy as np

from ..cluster.protocols import JobRunner


class Joinable(JobRunner):
    """The methods of a JobRunner that ``can_join``, passed on to ``_engine``."""

    can_join = True
    _engine: Any

    @property
    def can_be_shared(self) -> bool:
        return self._engine.can_be_shared

    def share(self, shared: bool) -> None:
        self._engine.share(shared)

    @property
    def is_shared(self) -> bool:
        return self._engine.is_shared

    def join(self, run: int, job: np.void, sequence: int, sequence_at: int, nodes_at: int) -> None:
        self.open(run)
        self.begin(job)
        self.share(True)
        self._engine.watch(sequence_at, sequence, nodes_at)

    @property
    def waited(self) -> int:
        return self._engine.waited

    @property
    def table_full(self) -> float:
        return self._engine.table_full
