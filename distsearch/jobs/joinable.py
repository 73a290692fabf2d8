"""Base of runners whose jobs other ranks of the host may join; see ``cluster.joint``."""


class Joinable:
    """The methods of a JobRunner that ``can_join``, passed on to ``_engine``."""

    can_join = True

    @property
    def table_full(self):
        return self._engine.table_full

    @property
    def can_be_shared(self):
        return self._engine.can_be_shared

    @property
    def waited(self):
        return self._engine.waited

    @property
    def is_shared(self):
        return self._engine.is_shared

    def share(self, shared):
        self._engine.share(shared)

    def join(self, run, job, sequence, sequence_at, boards_at):
        self.open(run)
        self.begin(job)
        self.share(True)
        self._engine.watch(sequence_at, sequence, boards_at)
