"""Iterative deepening as a source of work: one pool after another, each a ply deeper."""


class Deepening:
    """Hands out the jobs of pools of growing depth, one pool at a time.

    make_pool(depth) makes the pool of an iteration; it goes on until ``deepest`` plies, until no line was cut off by
    the depth (the score is then the game's), or until the boards of finished jobs exceed ``nodes``. An iteration that
    would exceed them counts for nothing, so the answer depends on the budget and not on timing; the first always
    counts.
    """

    def __init__(self, make_pool, deepest, nodes=None):
        self._make_pool, self._deepest, self._nodes = make_pool, deepest, nodes
        self.boards = self.ordering_boards = self.jobs = 0  # of finished jobs, all iterations
        self.cpu = 0.0  # seconds, of the same
        self.depth = 1  # of the pool at work
        self.done = False
        self.proved = False  # the last completed iteration searched every line to the end of the game
        self.completed = None  # the pool of the last completed iteration
        self.completed_depth = self.completed_boards = 0
        self.pool = make_pool(1)
        self._go_deeper()

    @property
    def result_dtype(self):
        return self.pool.result_dtype

    @property
    def waiting(self):
        return self.pool.waiting

    @property
    def _spent(self):
        return self.boards + self.ordering_boards

    def take(self, count, worker):
        """See ``Pool.take``; empty while the last jobs of an iteration are out."""
        limited = self._nodes is not None and self.completed is not None
        return self.pool.take(count, worker, max(1, self._nodes - self._spent) if limited else 0)

    def finish(self, results):
        """See ``Pool.finish``; goes on to the next depth when an iteration is complete."""
        self.pool.finish(results)
        self.jobs += len(results)
        self.boards += int(results["boards"].sum())
        self.ordering_boards += int(results["ordering_boards"].sum())
        self.cpu += float(results["cpu"].sum())
        exceeded = self._nodes is not None and self._spent > self._nodes
        if self.completed is not None and (exceeded or not results["complete"].all()):
            self.done = True  # a job is only incomplete if a budget or the end of the run stopped it
            return
        self._go_deeper()

    def _go_deeper(self):
        while self.pool.done and not self.done:
            self.completed, self.completed_depth, self.completed_boards = self.pool, self.depth, self.boards
            self.proved = not self.pool.totals()["evaluated"].any()
            spent = self._nodes is not None and self._spent >= self._nodes
            if self.proved or spent or self.depth >= self._deepest:
                self.done = True
            else:
                self.depth += 1
                self.pool = self._make_pool(self.depth)
