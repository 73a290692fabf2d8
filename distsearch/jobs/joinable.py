"""What runners have in common whose jobs other ranks of the host may join; see ``cluster.joint``."""


class Joinable:
    """Passes on to ``_engine`` what a worker asks of such a runner."""

    @property
    def table_full(self):
        """The share of the shared table that is used, 0 to 1."""
        return self._engine.table_full

    @property
    def can_be_shared(self):
        """Whether the job begun last is large enough for several ranks."""
        return self._engine.can_be_shared

    @property
    def waited(self):
        """Time for which the job begun last has waited for other ranks, in boards."""
        return self._engine.waited

    @property
    def is_shared(self):
        """Whether the job begun last is searched so that other ranks can take part."""
        return self._engine.is_shared

    def share(self, shared):
        """Search together with other ranks of the host, or alone."""
        self._engine.share(shared)

    def join(self, run, job, sequence, sequence_at, boards_at):
        """Begin a job (a record) that another rank is at, to search it together.

        The search stops when the word at address ``sequence_at`` is not ``sequence`` any more, and writes its boards to
        address ``boards_at``.
        """
        self.open(run)
        self.begin(job)
        self.share(True)
        self._engine.watch(sequence_at, sequence, boards_at)
