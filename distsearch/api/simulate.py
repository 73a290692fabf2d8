"""A search on virtual workers: what it would take on a cluster, found out on one core."""

import contextlib
import hashlib
import json
import math
import os
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import partial
from typing import Annotated

from .. import games
from ..cluster.local import InProcessCluster
from ..cluster.simulated import NETWORKS, Faults, Network, Processors, SimulatedCluster
from ..core import archive
from ..core.errors import UserError
from ..core.kernel_cache import FOLDER
from ..engines.pvs.table import DEFAULT_MIB, new_shared_table
from ..engines.pvs.visits import Visits
from ..jobs.two_player import kinds
from ..tree.submaster_source import SHARES
from .applicability import check
from .chance import searcher_of
from .declarations import Option, check_values
from .explain import Explanation, explain
from .facts import compact
from .result import Outcome

# Where a step takes ages, the clock's digits run out.
_amount, _speed = partial(Option, low=0, high=10**6), partial(Option, low=1, high=10**18)
_MEASURED = 0.5  # CPU seconds of search that a rate is measured over


@dataclass
class Machine:
    """The virtual cluster. Times in seconds; None for what the network's preset or a measurement is to fill in."""

    workers: Annotated[int, Option("virtual workers (default 8)", "N", low=1, high=100_000)] = 8
    network: Annotated[
        str, Option("latency and bandwidth of host (default) or tcp", "NAME", choices=tuple(NETWORKS))
    ] = "host"
    latency: Annotated[float | None, _amount("of a message, in seconds (default: the network's)", "SECONDS")] = None
    bandwidth: Annotated[float | None, _speed("bytes a second (default: the network's)", "BYTES")] = None
    delay: Annotated[
        float, _amount("mean of a random extra delay of each message, in seconds (default 0)", "SECONDS")
    ] = 0.0
    rate: Annotated[float | None, _speed("nodes a second of one worker (default: measured here)", "NODES")] = None
    busy_rate: Annotated[float | None, _speed("the same while all workers are busy (default: as rate)", "NODES")] = None
    spread: Annotated[float, _amount("relative deviation of the workers' rates (default 0)", "X")] = 0.0
    jitter: Annotated[float, _amount("relative deviation of the time of a slice (default 0)", "X")] = 0.0
    message_cost: Annotated[
        float | None, _amount("of the master for a message, in seconds (default: measured)", "SECONDS")
    ] = None
    seed: Annotated[int, Option("seed of everything random (default 0)", "N")] = 0
    table: Annotated[
        int, Option("MiB of each host's transposition table (default 64), 0 for none", "MIB", low=0, high=1 << 22)
    ] = DEFAULT_MIB
    hosts: Annotated[
        int, Option("hosts that the workers are on, each with a table that they share (default 1)", "N", low=1)
    ] = 1
    submasters: Annotated[
        int, Option("sub-masters besides the workers, each in charge of a part of them (default 0)", "N", low=0)
    ] = 0
    faults: Faults | None = None

    def __post_init__(self):
        check_values(self)
        if self.hosts > self.workers:
            raise UserError(f"hosts {self.hosts} is not a number from 1 to {self.workers}, the workers")
        if self.submasters > self.workers:
            raise UserError(f"submasters {self.submasters} is not a number from 0 to {self.workers}, the workers")
        if 0 < self.submasters < self.hosts:
            raise UserError(f"submasters {self.submasters} is less than hosts {self.hosts}: each is of one host")

    def cluster(self, visits=None):
        """Return the SimulatedCluster; ``rate`` must be known. visits: as for ``kinds``."""
        preset, given = NETWORKS[self.network], {}
        for name, value in (("latency", self.latency), ("bandwidth", self.bandwidth), ("jitter", self.delay)):
            if value is not None:
                given[name] = value
        costs = {} if self.message_cost is None else {"message": self.message_cost}
        assert self.rate is not None
        processors = Processors(self.rate, self.busy_rate, spread=self.spread, jitter=self.jitter, **costs)
        network = Network(**{**preset._asdict(), **given})
        kinds = [self.kinds(visits) for _ in range(self.hosts)]
        return SimulatedCluster(
            kinds,
            self.workers,
            network,
            processors,
            seed=self.seed,
            faults=self.faults,
            submasters=self.submasters,
            shares=SHARES,
        )

    def kinds(self, visits=None):
        """Return the kinds of job, with a new table; visits: the ``Visits`` that engines write to, or None."""
        return kinds(new_shared_table(self.table), visits)


@dataclass
class Simulation:
    """The Outcome of a simulated search next to that of the sequential engine."""

    outcome: Outcome
    sequential: Outcome
    machine: Machine
    master_share: float  # of the virtual time, how much the master worked
    explanation: Explanation | None = None  # where the nodes go, if that was asked

    @property
    def figures(self):
        """Speedup and efficiency (by ranks, and by workers) over the sequential engine at the workers' rate.

        Of a search that was stopped they are None, and so is what it took more than the sequential one.
        """
        seconds = self.sequential.nodes / (self.machine.rate or math.nan)
        speedup = seconds / self.outcome.seconds if self.outcome.seconds else 0.0
        of_all = {
            "speedup": round(speedup, 4),
            "efficiency": round(speedup / self.outcome.ranks, 4),
            "efficiency_by_workers": round(speedup / self.outcome.workers, 4),
            "search_overhead": round(self.outcome.nodes / max(1, self.sequential.nodes), 4),
        }
        return {
            **(of_all if self._complete else dict.fromkeys(of_all)),
            "idle_share": self.outcome.time_share.get("idle", 0.0),
            "master_share": round(self.master_share, 4),
            "rate": self.machine.rate,
            "busy_rate": self.machine.busy_rate,
            "seed": self.machine.seed,
        }

    @property
    def _complete(self):
        return self.outcome.complete and self.sequential.complete

    def to_json(self):
        """Return one line of JSON: the outcome's fields, ``figures``, and the explanation as ``explain``."""
        explained = {} if self.explanation is None else {"explain": self.explanation.to_dict()}
        return json.dumps({**self.outcome.to_dict(), **self.figures, "simulated": True, **explained})

    def to_text(self):
        """Return the outcome as a table, with the figures, and the explanation, below."""
        figures, machine = self.figures, self.machine
        rate = compact(machine.rate or math.nan)
        busy = "" if machine.busy_rate is None else f" ({compact(machine.busy_rate)} while all work)"
        return (
            f"{self.outcome.to_text()}\n"
            f"  simulated  {machine.workers} workers of {rate} nodes/s each{busy}, network "
            f"{machine.network}, seed {machine.seed}\n"
            f"  speedup    {self._speedup_text()}, master busy {figures['master_share']:.1%}"
            + ("" if self.explanation is None else f"\n{self.explanation.to_text()}")
        )

    def _speedup_text(self):
        if not self._complete:
            return "unknown, since the search was stopped"
        figures = self.figures
        return (
            f"{figures['speedup']:.2f}, efficiency {figures['efficiency']:.1%} "
            f"({figures['efficiency_by_workers']:.1%} by workers), search overhead {figures['search_overhead']:.2f}"
        )


def simulate(options, machine, position, progress, interrupted, explained=False, sequential=None):
    """Return the Simulation of a search of ``position``; explained: with an explanation of where the nodes go.

    The sequential engine searches it first, for the figures, unless ``sequential`` is its Outcome. If the machine has
    no rate, it is the one that this computer reached when first asked, kept with the compiled code, so that a
    simulation can be repeated. Raises UserError for an explanation that it cannot give.
    """
    check(options, {"simulate": True, "explain": explained})
    kind = searcher_of(options)
    one, many = Visits(), Visits()  # written to only for an explanation
    alone = kind(
        replace(options, load_factor=1, layers=None),
        InProcessCluster(machine.kinds(one if explained else None)),
        progress,
        interrupted,
    )
    if machine.rate is None:
        machine = replace(machine, rate=_rate(options, alone, position))
    if sequential is None:
        sequential = _only(alone.search([position]))
    cluster = machine.cluster(visits=many if explained else None)
    outcome = _only(kind(options, cluster, progress, interrupted).search([position]))
    found = Simulation(outcome, sequential, machine, cluster.master_share)
    if explained:
        visits = many.columns()
        found.explanation = explain(one.columns(), visits, max(0, outcome.nodes - int(visits["nodes"].sum())))
    return found


def _only(outcomes: Iterator[Outcome | None]) -> Outcome:
    outcome = next(outcomes)
    assert outcome is not None
    return outcome


def _rate(options, searcher, position):
    """Return this computer's nodes a CPU second under these options, measured once."""
    asked = json.dumps(options.setup()) + games.tag(searcher.game)
    name = hashlib.sha256(asked.encode()).hexdigest()[:16]
    kept = FOLDER.path / f"{name}.rate"
    with contextlib.suppress(OSError, ValueError):
        return float(kept.read_text())
    rate = searcher.rate(position, _MEASURED)
    with contextlib.suppress(OSError):  # no room, or nowhere to write
        archive.replace(kept, lambda file: file.write(b"%.4g\n" % rate), kept.with_suffix(f".{os.getpid()}"))
    return rate
