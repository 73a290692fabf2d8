"""The service's requests on the way through the cluster: which are at work, which wait, whose turn it is."""

import heapq
import itertools
import time
from collections import OrderedDict, deque
from collections.abc import Iterable
from functools import partial
from typing import Any

from .. import games
from ..api.compiling import Compilation, NotCompiledError, deferred, in_this_process
from ..api.options import Options
from ..api.progress import Silent
from ..api.session import Session
from ..core.errors import UserError, print_error, print_traceback
from .checkpoints import Checkpoints
from .limits import DEFAULTS
from .lines import LinesRequest, compile_for
from .request import Refused, Request
from .running_lines import Lines
from .running_request import Deepenings, Iterated, Positions
from .watchers import Watchers

_AT_WORK = 64  # requests in all; a client that has none may always have one more
_OF_CLIENT = 4  # requests of one client at work
_MOST_SEARCHERS = 64  # that are kept
_GLANCE = 0.02  # seconds between two looks at processes that compile
_SLICE = 0.002  # seconds of the cluster's turns between two looks at the sockets
_LATELY = 2.0  # seconds that the rate is counted over


class RequestQueue:
    """Has requests searched by a session's workers, several at a time, and calls their listeners.

    Each client has a queue, by priority; some requests of each are at work at a time, and the workers share their time
    fairly among the clients that have one (see ``cluster.fair_queue``). So a long search of one does not
    hold the others up. checkpoints: where searches that are cut off are kept, None for nowhere.
    """

    def __init__(
        self,
        session: Session,
        most_requests: int = DEFAULTS.queue,
        most_positions: int = DEFAULTS.queued_positions,
        checkpoints: Checkpoints | None = None,
    ):
        self._session, self._cluster, self._checkpoints = session, session.cluster, checkpoints
        self._most_requests, self._most_positions = most_requests, most_positions
        self._queues = OrderedDict()  # client → heap of (-priority, order, request); first is whose turn it is
        self._orders = itertools.count()
        self._waiting, self._positions = set(), 0  # requests in the queues, and their positions
        self._tasks = {}  # request → task, of those at work
        self.watchers = Watchers(self._cluster, self._tasks, self.status)
        self._active = {}  # client → requests at work
        self._withdrawn = []  # requests that were cancelled while they waited, and have not been told
        self._searchers = OrderedDict()  # options as text → Searcher, the latest used last
        self._compilation = Compilation()
        self._uncompiled = []  # (request or Options to warm, the Recipe of the kernels that it waits for)
        self._readers = {}  # by game: the Recipe that what reads its lines waits for, None once that is over
        self._to_warm = deque()  # functions that return Options, for which no searcher was made yet
        self._warming = {}  # number of a run of hardly any work, by which workers load kernels → its game
        self._answered = self._nodes = 0
        self._began = time.monotonic()
        self._samples = deque([(self._began, 0)])  # (time, nodes)
        self._busy = False

    def warm(self, names: Iterable[str]) -> None:
        """Have kernels for the usual searches of these games compiled or loaded, here and by every worker.

        All of that is done in turns to come. A game that fails fails alone.
        """
        for name in names:
            if games.find(name).PLAYERS == 2:
                self._to_warm.append(partial(Options, name, exact=True))
            self._to_warm.append(partial(Options, name, depth=1))

    def _warm_next(self):
        """Begin to warm what is next, if anything is, one in a turn; return whether there was any."""
        if self._to_warm:
            make_options = self._to_warm.popleft()
            self._guard(lambda: self._begin(make_options()))
            return True
        return False

    def _warm(self, options):
        self._session.book(options)
        searcher = self.searcher(options)
        compile_for(options.game, searcher.progress)
        run = self._cluster.begin(searcher.setups()[0], searcher.trial(), measured=True)
        self._warming[run] = options.game

    def can_read_lines(self, name: str) -> bool:
        """Load what reads lines of a game's positions, or have other processes compile it; return whether that is over.

        Where it fails, reading fails as well.
        """
        recipe = self._readers.get(name)
        if recipe is not None and self._compilation.at_work(recipe):
            return False
        if recipe is not None or name not in self._readers:
            try:
                with deferred() if recipe is None else in_this_process():  # what others could not compile or keep
                    self._guard(lambda: compile_for(name, Silent()))
            except NotCompiledError as missing:
                self._readers[name] = missing.recipe
                self._compilation.add(missing.recipe)
                return False
            self._readers[name] = None
        return True

    def _guard(self, work):
        """Do work that no request is about yet; one may still succeed where this fails."""
        try:
            work()
        except NotCompiledError:
            raise
        except UserError:  # such as a search that no GPU does, where all workers have one
            pass
        except Exception as error:  # there is no memory for it, or a mistake of ours, or of a game's author
            print_traceback(error)

    def _begin(self, asked):
        """Start a request, or warm Options, now or once other processes have compiled the kernels for that."""
        try:
            with deferred():
                self._start_or_warm(asked)
        except NotCompiledError as missing:
            self._uncompiled.append((asked, missing.recipe))
            self._compilation.add(missing.recipe)

    def _take_compiled(self):
        """Go on with what was waiting for kernels; return whether there was any."""
        self._compilation.poll()
        over = [each for each in self._uncompiled if not self._compilation.at_work(each[1])]
        for each in over:
            self._uncompiled.remove(each)
            with in_this_process():  # what other processes could not compile, or not keep
                self._start_or_warm(each[0])
        return bool(over)

    def _start_or_warm(self, asked):
        if isinstance(asked, Request):
            self._start(asked)
        else:
            self._guard(lambda: self._warm(asked))

    def close(self) -> None:
        """End what still compiles."""
        self._compilation.stop()

    @property
    def _compiling(self):
        """Whether kernels for something are being compiled or loaded."""
        for run in [run for run in self._warming if not self._cluster.is_open(run)]:
            game = self._warming.pop(run)
            if failure := self._cluster.failure(run):
                print_error(f"distsearch: usual searches of {game} fail: {failure}")
        return bool(self._to_warm or self._uncompiled or self._warming or self._compilation.busy)

    @property
    def idle(self) -> bool:
        """Whether no request is open."""
        return not (self._tasks or self._waiting or self._withdrawn or self._active)

    def submit(self, request: Request) -> None:
        """Take a request in; raises Refused where there is no room for it, and UserError for what no GPU does."""
        if repr(request.options) not in self._searchers:
            self._session.check_gpu(request.options.setup(), request.options.depth)
        positions = self._positions + len(request.positions)
        full = len(self._waiting) >= self._most_requests or positions > self._most_positions
        if full and request.client in self._queues:  # every client may have one that waits, whatever the others send
            raise Refused("queue_full", f"{len(self._waiting)} requests of {self._positions} positions wait already")
        queue = self._queues.setdefault(request.client, [])
        heapq.heappush(queue, (-request.priority, next(self._orders), request))
        self._waiting.add(request)
        self._positions += len(request.positions)

    def cancel(self, request: Request) -> None:
        """End a request without more answers; ``on_end`` follows in a later turn. More than once does no more."""
        if request in self._tasks:
            self._tasks[request].cancel()
        elif request in self._waiting:
            self._no_longer_waits(request)
            self._withdrawn.append(request)
        elif request in (asked for asked, _ in self._uncompiled):
            self._uncompiled = [each for each in self._uncompiled if each[0] is not request]
            self._is_over(request)
            self._withdrawn.append(request)

    def turn(self) -> bool:
        """Do a little work and tell the listeners of what came of it; return whether anything did."""
        turned, end = False, time.perf_counter() + _SLICE
        while self._cluster.turn():
            turned = True
            if time.perf_counter() > end:
                break
        now = time.monotonic()
        self.watchers.turn(now)
        for request, task in list(self._tasks.items()):
            self._turn(request, task, now)
            turned = turned or task.more
            if task.over:
                self._end(request, task)
                turned = True
        dismissed, admitted, compiled = self._dismiss(), self._admit(), self._take_compiled()
        self._busy = turned or dismissed or admitted or compiled or self._warm_next()  # clients go first
        if now - self._samples[-1][0] > _LATELY / 4:
            self._sample(now)
        return self._busy

    def _turn(self, request, task, now):
        """Have a task go on; a mistake of ours in one must not take the others along."""
        try:
            task.turn(now)
        except Exception as error:
            if isinstance(error, UserError):
                task.fail(str(error))
                return
            print_traceback(error)
            task.fail(f"{type(error).__name__} in the service")

    def _dismiss(self):
        """Tell those that were cancelled while they waited; return whether there were any."""
        withdrawn, self._withdrawn = self._withdrawn, []
        for client in {request.client for request in withdrawn} & self._queues.keys():
            queue = [entry for entry in self._queues[client] if entry[2] in self._waiting]
            if queue:
                heapq.heapify(queue)
                self._queues[client] = queue
            else:
                del self._queues[client]
        for request in withdrawn:
            request.on_end("cancelled", "")
        return bool(withdrawn)

    @property
    def descriptor(self) -> int | None:
        """See ``Cluster.descriptor``."""
        return self._cluster.descriptor

    def awoken(self) -> None:
        """See ``Cluster.awoken``."""
        self._cluster.awoken()

    def pause(self) -> float:
        """Return how many seconds one may wait for clients before the next turn."""
        if self._busy:
            return 0.0
        watched = self.watchers.pause(time.monotonic())
        if self.idle:
            return min(watched, _GLANCE if self._compiling else 1.0)
        return min(watched, self._cluster.pause)

    def searcher(self, options):
        """Return a Searcher for Options: one that is kept, or a new one."""
        name = repr(options)
        if name not in self._searchers:
            if len(self._searchers) >= _MOST_SEARCHERS:
                self._drop()
            self._searchers[name] = self._new_searcher(options)
        self._searchers.move_to_end(name)
        return self._searchers[name]

    def _new_searcher(self, options):
        like = next((searcher for searcher in self._searchers.values() if searcher.serves(options)), None)
        return like.under(options) if like else self._session.searcher(options)

    def _drop(self):
        """Forget the searcher that was not used for longest, and its setup if no other searcher has it."""
        in_use = {searcher for task in self._tasks.values() for searcher in (task.searcher, task.solver)}
        name = next((name for name, searcher in self._searchers.items() if searcher not in in_use), None)
        if name is None:
            return
        kept = {setup for other, searcher in self._searchers.items() if other != name for setup in searcher.setups()}
        for setup in set(self._searchers.pop(name).setups()) - kept:
            self._cluster.drop(setup)

    def _admit(self):
        """Put requests to work, a client after the other; return whether there were any."""
        admitted, refused = False, 0
        while self._queues and refused < len(self._queues):
            client, queue = self._queues.popitem(last=False)
            active = self._active.get(client, 0)
            if active and (active >= _OF_CLIENT or sum(self._active.values()) >= _AT_WORK):
                self._queues[client] = queue
                refused += 1
                continue
            request = heapq.heappop(queue)[2]
            self._no_longer_waits(request)
            if queue:
                self._queues[client] = queue
            admitted, refused = True, 0
            self._active[request.client] = self._active.get(request.client, 0) + 1
            self._begin(request)
        return admitted

    def _no_longer_waits(self, request):
        self._waiting.discard(request)
        self._positions -= len(request.positions)

    def _start(self, request):
        known: dict[int, Any] = {}
        try:
            task = self._lines_task(request)
            if task is None:
                known = self._session.book(request.options).outcomes(request.positions)
            if task is None and len(known) < len(request.positions):
                searcher, left = self.searcher(request.options), request.without(known) if known else request
                if request.options.against_chance:
                    task = Iterated(self._cluster, searcher, left)
                elif searcher.deepening:
                    solver = searcher.solving_options and self.searcher(searcher.solving_options)
                    task = Deepenings(self._cluster, searcher, left, solver)
                else:
                    task = Positions(self._cluster, searcher, left, self._checkpoints)
        except NotCompiledError:
            raise
        except UserError as error:  # such as an evaluation that a board does not have
            self._is_over(request)
            request.on_end("refused", str(error))
            return
        except Exception as error:  # there is no memory for it, or a mistake of ours
            print_traceback(error)
            self._is_over(request)
            request.on_end("failed", str(error) or type(error).__name__)
            return
        for index, outcome in known.items():
            request.on_answer(index, outcome)
        self._answered += len(known)
        if task is not None:
            self._tasks[request] = task
            return
        self._is_over(request)
        request.on_end("done", "")

    def _lines_task(self, request):
        """Return the task of a request for lines that are searched in one run, None for others."""
        options = request.options
        if not isinstance(request, LinesRequest) or options.against_chance or options.deepening or options.all_moves:
            return None
        return Lines(self._cluster, self.searcher(options), request, self._session.book(options))

    def _end(self, request, task):
        del self._tasks[request]
        self._is_over(request)
        self._answered += task.answered
        request.nodes = task.nodes
        self._nodes += task.nodes
        request.on_end(task.state, task.failure)

    def _is_over(self, request):
        self._active[request.client] -= 1
        if not self._active[request.client]:
            del self._active[request.client]

    def _sample(self, now):
        self._samples.append((now, self._nodes_so_far))
        while now - self._samples[0][0] > _LATELY and len(self._samples) > 2:
            self._samples.popleft()

    @property
    def _nodes_so_far(self):
        return self._nodes + sum(task.nodes for task in self._tasks.values())

    def status(self) -> dict[str, Any]:
        """Return what the queue does, as a dictionary of plain types; see ``fields.STATE``."""
        now, nodes = time.monotonic(), self._nodes_so_far
        answered = self._answered + sum(task.answered for task in self._tasks.values())
        since, before = self._samples[0]
        return {
            "state": "compiling" if self._compiling else "serving",
            "ranks": self._cluster.ranks,
            "workers": self._cluster.workers,
            "active": sum(self._active.values()),
            "queued": len(self._waiting),
            "answered": answered,
            "nodes": nodes,
            "boards_per_second": round((nodes - before) / max(now - since, 1e-3)),
            "uptime_seconds": round(now - self._began, 3),
            "games": list(games.usable()),
            "table_mib": self._session.table_mib,
        }
