"""Base of runners whose jobs other ranks of the host may join; see ``cluster.joint``."""

from operator import attrgetter
from typing import Any

import numpy as np

from ..cluster.protocols import JobRunner


class Joinable(JobRunner):
    """The methods of a JobRunner that ``can_join``, passed on to ``_engine``."""

    can_join = True
    _engine: Any

    table_full, can_be_shared, waited, is_shared = (
        property(attrgetter(f"_engine.{name}")) for name in ("table_full", "can_be_shared", "waited", "is_shared")
    )

    def share(self, shared: bool) -> None:
        self._engine.share(shared)

    def join(self, run: int, job: np.void, sequence: int, sequence_at: int, nodes_at: int) -> None:
        self.open(run)
        self.begin(job)
        self.share(True)
        self._engine.watch(sequence_at, sequence, nodes_at)
