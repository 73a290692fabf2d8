"""Perft from end to end, spread over whatever cluster there is."""

import json
from dataclasses import dataclass

from .. import __version__, games
from ..core.errors import UserError
from ..engines.perft import MAX_DEPTH
from ..formats.checkpoint import NO_CHECKPOINT, source_and_seconds
from ..tree.perft_pool import PerftPool
from .facts import Facts, compact
from .metrics import RunFigures, summary
from .run import prepare, run

_TARGET = 64  # subtrees a worker: they differ more in size than a search's


@dataclass
class Count(RunFigures):
    """The positions below one position: counts[d] of them at depth d."""

    game: str
    board: str
    position: str
    depth: int
    counts: list

    def to_json(self) -> str:
        """Return the counts as one line of JSON; ``nodes`` is the count at the last depth."""
        return json.dumps({**self._shown(), "nodes": self.counts[-1], "version": __version__})

    def to_text(self) -> str:
        """Return the counts as a table."""
        rows = "\n".join(f"{depth:>7} {count:>24,}" for depth, count in enumerate(self.counts))
        rate = self.counts[-1] / max(self.seconds, 1e-9)
        stopped = "" if self.complete else " (stopped early: counts are too low)"
        return (
            f"{self.game} {self.board}  {self.position}\n  depth                positions\n{rows}\n"
            f"{self.seconds:.2f} s, {compact(rate)} leaves/s, {self.ranks} rank{'s' * (self.ranks > 1)}, "
            f"{self.jobs} jobs{stopped}"
        )


def perft(options, depth, positions, cluster, progress, interrupted, checkpoint=NO_CHECKPOINT):
    """Return a Count of each position to ``depth`` plies; raises UserError for a depth out of range.

    checkpoint: a ``checkpoint.CheckpointHandle``.
    """
    if not 0 <= depth <= MAX_DEPTH:
        raise UserError(f"depth {depth} is not from 0 to {MAX_DEPTH}")
    game = games.find(options.game)
    rules = game.rules(options.board, **options.rules)
    setup = options.setup("perft")
    _, grower = prepare(setup, game, rules, progress, interrupted)
    states = [position.state for position in positions]
    # growing costs more a position than counting: a single worker needs no pool
    target = _TARGET * cluster.workers if cluster.workers > 1 else 1
    snapshot, before = source_and_seconds(checkpoint.state)
    pool = PerftPool(grower, states, depth, target, snapshot)

    def describe(_, seconds):
        return Facts(before + seconds, done=pool.finished, total=pool.jobs, depth_at_work=depth)

    def save(seconds):
        def state():
            return {"source": pool.snapshot(cluster.request_progress(cluster.current)), "seconds": before + seconds}

        checkpoint.maybe_save(state)

    took = run(cluster, setup, pool, progress, interrupted, describe, prefetch=options.prefetch, save=save)
    return [
        Count(
            game=game.NAME,
            board="{}x{}".format(*options.board),
            position=game.text(position, rules),
            depth=depth,
            counts=pool.counts[i].tolist(),
            seconds=before + took.seconds,
            cpu_seconds=pool.cpu,
            ranks=cluster.ranks,
            workers=cluster.workers,
            jobs=pool.jobs,
            complete=pool.done,
            **summary(took.workers),
        )
        for i, position in enumerate(positions)
    ]
