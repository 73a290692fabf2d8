"""A search on virtual workers: what it would take on a cluster, found out on one core."""

import hashlib
import json
import os
from dataclasses import dataclass, replace

from .. import games
from ..cluster.local import LocalCluster
from ..cluster.simulated import NETWORKS, Faults, Network, Processors, SimulatedCluster
from ..core import jit
from ..core.errors import UserError
from ..engines.pvs.table import DEFAULT_MIB, new_shared_table
from ..engines.pvs.visits import Visits
from ..jobs.two_player import kinds
from ..tree.submaster_source import SHARES
from .chance import searcher_of
from .explain import Explanation, explain
from .progress import compact
from .result import Outcome

_MEASURED = 0.5  # CPU seconds of search that a rate is measured over


@dataclass
class Machine:
    """The virtual cluster. Times in seconds; None for what the network's preset or a measurement is to fill in."""

    workers: int = 8
    network: str = "host"
    latency: float | None = None
    bandwidth: float | None = None  # bytes a second
    delay: float = 0.0  # mean of a random extra delay of each message
    rate: float | None = None  # boards a second of a worker while the others rest
    busy_rate: float | None = None  # the same while all work
    spread: float = 0.0  # relative standard deviation of the workers' rates
    jitter: float = 0.0  # and of the time of a slice
    message_cost: float | None = None  # of the master for a message
    seed: int = 0
    table: int = DEFAULT_MIB  # MiB of a host's transposition table
    hosts: int = 1  # each with a table of its own, that its workers share
    groups: int = 0  # sub-masters, besides the workers
    faults: Faults | None = None

    def __post_init__(self):
        if not 1 <= self.workers <= 100_000:
            raise UserError(f"workers {self.workers} is not a number from 1 to 100000")
        if not 1 <= self.hosts <= self.workers:
            raise UserError(f"hosts {self.hosts} is not a number from 1 to {self.workers}, the workers")
        if not 0 <= self.groups <= self.workers:
            raise UserError(f"groups {self.groups} is not a number from 0 to {self.workers}, the workers")
        if 0 < self.groups < self.hosts:
            raise UserError(f"groups {self.groups} is less than hosts {self.hosts}: a group is of one host")
        if self.network not in NETWORKS:
            raise UserError(f"network '{self.network[:40]}' is not {' or '.join(NETWORKS)}")
        for name in ("latency", "delay", "spread", "jitter", "message_cost"):
            value = getattr(self, name)
            if value is not None and not 0 <= value <= 1e6:
                raise UserError(f"{name.replace('_', '-')} {value:g} is not a number from 0 to 1000000")
        for name in ("bandwidth", "rate", "busy_rate"):
            value = getattr(self, name)
            if value is not None and not 1 <= value <= 1e18:  # where a step takes ages, the clock's digits run out
                raise UserError(f"{name.replace('_', '-')} {value:g} is not a number from 1 to 1e18")

    def cluster(self, visits=None):
        """Return the SimulatedCluster; ``rate`` must be known. visits: as for ``kinds``."""
        preset, given = NETWORKS[self.network], {}
        for name, value in (("latency", self.latency), ("bandwidth", self.bandwidth), ("jitter", self.delay)):
            if value is not None:
                given[name] = value
        costs = {} if self.message_cost is None else {"message": self.message_cost}
        processors = Processors(self.rate, self.busy_rate, spread=self.spread, jitter=self.jitter, **costs)
        network = Network(**{**preset._asdict(), **given})
        kinds = [self.kinds(visits) for _ in range(self.hosts)]
        return SimulatedCluster(kinds, self.workers, network, processors, self.seed, self.faults, self.groups, SHARES)

    def kinds(self, visits=None):
        """Return the kinds of job, with a new table; visits: the ``Visits`` that engines write to, or None."""
        return kinds(new_shared_table(self.table), visits)


@dataclass
class Simulation:
    """The Outcome of a simulated search beside that of the sequential engine."""

    outcome: Outcome
    sequential: Outcome
    machine: Machine
    master_share: float  # of the virtual time, how much the master worked
    explanation: Explanation | None = None  # where the boards go, if that was asked

    @property
    def figures(self):
        """Speedup and efficiency (by ranks, and by workers) over the sequential engine at the workers' rate.

        Of a search that was stopped they are None, and so is what it took more than the sequential one.
        """
        seconds = self.sequential.nodes / self.machine.rate
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
        busy = "" if machine.busy_rate is None else f" ({compact(machine.busy_rate)} while all work)"
        return (
            f"{self.outcome.to_text()}\n"
            f"  simulated  {machine.workers} workers of {compact(machine.rate)} boards/s each{busy}, network "
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
    """Return the Simulation of a search of ``position``; explained: with an explanation of where the boards go.

    The sequential engine searches it first, for the figures, unless ``sequential`` is its Outcome. If the machine has
    no rate, it is the one that this computer reached when first asked, kept beside the compiled code, so that a
    simulation can be repeated. Raises UserError if it is to explain what it cannot.
    """
    if options.against_chance and not options.takes_table:
        raise UserError(f"simulate knows no {options.algorithm} in a game against chance, but expectimax")
    if explained:
        _check_explained(options)
    kind = searcher_of(options)
    one, many = (Visits(), Visits()) if explained else (None, None)
    alone = kind(replace(options, load_factor=1, layers=None), LocalCluster(machine.kinds(one)), progress, interrupted)
    if machine.rate is None:
        machine = replace(machine, rate=_rate(options, alone, position))
    if sequential is None:
        sequential = next(alone.search([position]))
    cluster = machine.cluster(visits=many)
    outcome = next(kind(options, cluster, progress, interrupted).search([position]))
    found = Simulation(outcome, sequential, machine, cluster.master_share)
    if explained:
        visits = many.columns()
        found.explanation = explain(one.columns(), visits, max(0, outcome.nodes - int(visits["boards"].sum())))
    return found


def _check_explained(options):
    """Raise UserError if boards cannot be explained: there must be a table, and the same work for all workers."""
    if not options.tabled:
        raise UserError("explain is for games of two players, searched with a transposition table")
    if options.deepening:
        raise UserError("explain needs depth or exact: what ends by time or nodes is other work on other workers")


def _rate(options, searcher, position):
    """Return this computer's boards a CPU second under these options, measured once."""
    asked = json.dumps(options.setup()) + games.tag(searcher.game)
    name = hashlib.sha256(asked.encode()).hexdigest()[:16]
    kept = jit.CACHE / f"{name}.rate"
    if not kept.exists():
        kept.parent.mkdir(parents=True, exist_ok=True)
        fresh = kept.with_suffix(f".{os.getpid()}")
        fresh.write_text(f"{searcher.rate(position, _MEASURED):.4g}\n")
        fresh.replace(kept)  # at once: another process may be reading
    return float(kept.read_text())
