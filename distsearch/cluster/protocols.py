"""The interfaces of the cluster: sources of work for the master, and runners of jobs for the workers.

The cluster knows no kind of job. Job and result records are numpy structured arrays whose dtypes the source and the
runner define. A job record has a field ``job_id``; a result record has that and ``seconds``, the time of the job.
Records of jobs whose windows change have ``low`` and ``high`` too.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import NamedTuple

import numpy as np

# Fields of a result record that add up over jobs.
TABLE_COUNTS = "table_hits", "table_far_hits", "table_stores", "table_replacements"
COSTS = "nodes", "ordering_nodes", "evaluated", *TABLE_COUNTS, "seconds", "cpu"


class TopNode(NamedTuple):
    """A node near the root of the tree that a source shares out; scores are those of the side to move there.

    A bound or a window's end is None where it is infinite.
    """

    id: int
    parent: int  # -1 of the root
    move: int | None  # the code of what led here, None where that is no move
    status: str  # waiting, sent (a worker has it), grown (it has children) or done (nothing more is asked of it)
    depth_left: int  # plies (in an exact search of a game of two players: moves) to be searched from here
    worker: int | None = None  # that has it as a job
    alpha: float | None = None  # the window in which its score is asked for
    beta: float | None = None
    low: float | None = None  # what is known of the score
    high: float | None = None
    cost: int | None = None  # nodes searched below it so far, None where that is not counted


def breadth_first(children: Callable[[int], Sequence[int]], most: int) -> list[int]:
    """Return up to ``most`` nodes of a tree from node 0 on, by their plies; parents come before their children."""
    found = [0]
    for node in found:
        found += children(node)[: most - len(found)]
    return found


class WorkSource(ABC):
    """Hands out jobs and takes their results in. It sends no messages and reads no clock."""

    result_dtype: np.dtype
    joint = False  # idle ranks of a host may join a job at work there, see ``joint``
    by_host = False  # a host gets one job at a time, which its ranks search together
    spans_hosts = False  # several hosts may search the same job, see ``copies``
    updates_jobs = False  # ``job_updates`` has something to say of jobs at work
    offloads = False  # workers with many slots offload parts of their jobs to the others
    offloaded = 0  # how many such parts there are
    offload_depth = 0  # the largest depth left of an offloaded part; 0: not known
    reserved = 0  # of the jobs that wait, those that some workers do not get
    progress: dict = {}  # job id → payload of PROGRESS, of jobs that an earlier run had begun

    @property
    @abstractmethod
    def waiting(self) -> int:
        """How many jobs can be handed out now."""

    @property
    @abstractmethod
    def done(self) -> bool:
        """Whether nothing more is needed."""

    @abstractmethod
    def take(self, count: int, worker: int) -> np.ndarray:
        """Return up to ``count`` job records for a worker.

        It may return none; the master asks again after the next result or a ``More`` event.
        """

    @abstractmethod
    def finish(self, results: np.ndarray) -> None:
        """Take result records in."""

    @abstractmethod
    def lost(self, worker: int) -> None:
        """Have the jobs of a lost worker wait again; no result of them will come."""

    def takes_any(self, worker: int) -> None:
        """Note that a worker which has handed jobs back takes any from now on: its GPU has failed."""

    def top(self, most: int) -> list[TopNode]:
        """Return up to ``most`` nodes of the tree that is searched, from the root on; none where there is no tree."""
        return []

    def job_updates(self, idle_workers: int) -> Iterable:
        """Return what is new of jobs at work: (worker, fields of an UPDATE_RECORD) each.

        idle_workers: how many have no job, -1 where nothing must be split.
        """
        return ()

    def moved(self, job: int, worker: int) -> None:
        """Note that a job has lost its worker, but another worker has it as well."""

    def on_split(self, job: int, remainder: int, subtree: np.ndarray) -> None:
        """Take in the subtree (uint8) that a worker split off a job; the worker goes on with the job ``remainder``."""

    def on_export(self, job: int, words: np.ndarray) -> list[int]:
        """Take in the root, a job, that a sub-master exports; return the ids of the jobs made of it that go on there.

        words: int64, the root's children as the sub-master's source exports them.
        """
        raise NotImplementedError

    def on_offload(self, worker: int, rows: np.ndarray) -> None:
        """Take in rows of OFFLOAD: parts that a worker offloads from now on, or no longer."""

    def offload_results(self) -> Mapping:
        """Return what has become of offloaded parts: worker → rows of OFFLOAD_RESULT."""
        return {}


class SubmasterSource(WorkSource):
    """A source whose jobs come from the rank above its sub-master, and whose answers go there."""

    job_dtype: np.dtype
    awaits_ids = False  # exported roots have no ids yet

    @property
    def done(self) -> bool:
        """No: more jobs may come at any time."""
        return False

    @abstractmethod
    def begin(self, jobs: np.ndarray) -> None:
        """Take job records in."""

    @abstractmethod
    def update(self, records: np.ndarray) -> None:
        """Take in what is new of jobs: UPDATE_RECORDs."""

    @abstractmethod
    def answers(self, ended: bool) -> np.ndarray:
        """Return the result records of answered jobs; ended: of all jobs, for the workers have stopped."""

    def splits(self) -> Iterable:
        """Return (job, remainder, subtree) of what workers have split off since the latest call."""
        return ()

    def exports(self) -> Iterable:
        """Export roots that must be split; return (job, words) of each, see ``WorkSource.on_export``."""
        return ()

    def assign_ids(self, job: int, numbers: list[int]) -> None:
        """Take in the job ids of the children of an exported root that go on here."""


class Runner(ABC):
    """Does the jobs of one setup. It is made from a dictionary of game, rules and search."""

    job_dtype: np.dtype
    result_dtype: np.dtype
    slots: int = 1  # jobs at work at a time
    failed = False  # its jobs came back undone, and its worker must make another runner
    can_join = False  # ranks of a host can search one of its jobs together
    spans_hosts = False  # and so can several hosts
    table_full = 0.0  # the share of its table that is used, 0 to 1
    engine = None  # for sources that need the same bounds and move order

    def compile(self) -> None:
        """Compile, or load from disk, all that jobs need."""

    def open(self, run: int) -> None:
        """Note that a run of this number has begun."""

    @property
    @abstractmethod
    def nodes(self) -> int:
        """Nodes of the jobs at work so far."""

    def unsearched(self, jobs: np.ndarray) -> np.ndarray:
        """Return the result records of jobs that were not begun."""
        records = np.zeros(len(jobs), self.result_dtype)
        records["job_id"] = jobs["job_id"]
        return records


class JobRunner(Runner):
    """Does one job at a time, in slices."""

    job_id = 0  # of the job begun last
    batches = False  # ``batch`` does several small jobs in one call

    @abstractmethod
    def begin(self, job: np.void) -> None:
        """Begin a job, a record."""

    @abstractmethod
    def advance(self, budget: int) -> bool:
        """Search on for about ``budget`` nodes; return whether the job is done."""

    @abstractmethod
    def result(self, seconds: float, cpu: float) -> np.ndarray:
        """Return the result record (shape (1,)) of the job begun last, done or not, with the seconds it took."""

    def batch(self, jobs: np.ndarray, budget: int) -> np.ndarray:
        """Do job records one after another for about ``budget`` nodes; return the records of those that are done.

        If there are fewer records than jobs, the next job is at work. The worker fills the times in.
        """
        raise NotImplementedError

    def save(self) -> bytes:
        """Return the progress of the job begun last; empty: it would have to begin again."""
        return b""

    def restore(self, job: np.void, content: bytes) -> None:
        """Go on with a job from where ``save`` was called."""
        self.begin(job)

    def narrow(self, low: int, high: int) -> None:
        """Narrow the window of the job begun last."""

    def split_off(self, remainder: int, min_depth_left: int) -> np.ndarray | None:
        """Split a subtree with at least so much left off the job; go on with what remains as the job ``remainder``.

        Returns the subtree as bytes (uint8); None if there is none, and the job is the same.
        """

    # Of runners that ``can_join``.

    can_be_shared = False  # the job begun last is large enough for several ranks
    is_shared = False  # it is searched so that other ranks can take part
    waited = 0  # time for which it has waited for other ranks, in nodes

    def share(self, shared: bool) -> None:
        """Search together with other ranks of the host, or alone from now on."""

    def join(self, run: int, job: np.void, sequence: int, sequence_at: int, nodes_at: int) -> None:
        """Begin a job (a record) that another rank is at, to search it together.

        The search stops when the word at address ``sequence_at`` is not ``sequence`` any more, and writes its nodes to
        address ``nodes_at``.
        """
        raise NotImplementedError

    def job_now(self) -> np.ndarray:
        """Return the record of the job begun last as it is now: narrower, or only a part of it."""
        raise NotImplementedError

    # Of runners that ``spans_hosts``, see ``exchange``.

    def export_updates(self, since: tuple[int, int]) -> tuple[np.ndarray, np.ndarray, np.ndarray, tuple[int, int]]:
        """Return (entries, orders, marks, until): what other hosts must know of the job, from ``since`` on."""
        raise NotImplementedError

    def import_updates(self, entries: np.ndarray, orders: np.ndarray) -> None:
        """Take in the entries and orders of other hosts."""

    def set_remote_marks(self, marks: np.ndarray, hosts: int, host: int) -> None:
        """Take in the marks of other hosts: the positions that they search."""


class BatchRunner(Runner):
    """Does many jobs at a time, as a GPU needs them; ``nodes`` is the sum over the jobs at work.

    Once it has ``failed``, it has returned records of all its jobs, which are not complete. Where a run's source
    ``offloads``, other workers search parts of a few large jobs.
    """

    slots: int = 2

    @property
    @abstractmethod
    def at_work(self) -> int:
        """Jobs that have no result yet."""

    @abstractmethod
    def add(self, jobs: np.ndarray) -> None:
        """Take job records in."""

    @abstractmethod
    def advance(self) -> np.ndarray:
        """Advance all jobs, for 25 ms at most; return the records of those that are done, without times."""

    @abstractmethod
    def stop(self) -> np.ndarray:
        """Give all jobs up; return their records."""

    def has(self, job: int) -> bool:
        """Whether a job has no result yet and can be narrowed or dropped."""
        return False

    def narrow(self, job: int, low: int, high: int) -> None:
        """Narrow the window of a job."""

    def drop(self, job: int) -> np.ndarray:
        """Give a job up; return its record."""
        raise NotImplementedError

    def offload(self, count: int, depth_left: int) -> None:
        """Offload so many parts of the jobs from now on, of at most so much depth left (0: any)."""

    def new_offloads(self) -> np.ndarray:
        """Return what is new of offloaded parts: rows of OFFLOAD in one array."""
        return np.zeros(0, np.int64)

    def on_offload_results(self, rows: np.ndarray) -> None:
        """Take in rows of OFFLOAD_RESULT."""
