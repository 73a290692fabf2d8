"""Which kinds of job a GPU does, many at a time: the runner of each, in the place of a core's.

Records of jobs and results are those of the runners on a CPU, so ranks with and without a GPU work on one search. Jobs
that a GPU cannot do, the same rank does on its CPU.
"""

import platform
from collections.abc import Callable
from typing import Any

from ..core.errors import UserError, print_error
from . import gpu_expectimax, gpu_two_player

_BY_CHANCE = {"expectimax": gpu_expectimax.GpuExpectimaxRunner, "game": gpu_expectimax.GpuGamesRunner}


def check(setup: dict[str, Any], depth: int | None = None) -> None:
    """Raise UserError unless a GPU does the jobs of a setup, of searches to so many plies if they are to a depth."""
    if setup["kind"] in _BY_CHANCE:
        gpu_expectimax.check(setup, depth)
    elif setup["kind"] in gpu_two_player.KINDS:
        gpu_two_player.check(setup)
    else:
        raise UserError(
            "device gpu searches games of two players to a depth and to the end (--exact), and searches and plays 2048 "
            "and 2584 by expectimax; for all else use --device cpu"
        )


def on_gpu(
    kinds: dict[str, Callable[[dict], Any]],
    gpu: Any,
    among_others: bool = False,
    everywhere: bool = False,
    hands_back: bool = False,
) -> dict[str, Callable[[dict], Any]]:
    """Return the kinds of job of a rank with a GPU; kinds: those of one without.

    among_others: if the GPU fails, the rank says so and goes on without it, and its jobs go back to the source;
    everywhere: all workers have one; hands_back: whether end games that are too large for the GPU go back to the
    source, which has workers without one.
    """
    rank_gpu = _RankGpu(gpu, among_others, hands_back)

    def with_gpu(kind, make):
        def made(setup):
            if rank_gpu.gpu is None:
                return kinds[kind](setup)
            try:
                check(setup)
            except UserError:  # where a GPU is required, the option was refused before
                return kinds[kind](setup)
            return make(setup)

        return made

    def two_player(kind):
        def make(setup):
            # a search to a depth is one job, in which a GPU beats a few cores, not many
            if setup.get("part") and not (gpu_two_player.does_parts(setup) and (kind == "solve" or everywhere)):
                return kinds[kind](setup)
            return gpu_two_player.GpuTwoPlayerRunner(setup, rank_gpu, kinds[kind])

        return make

    def by_chance(runner):
        return lambda setup: runner(setup, rank_gpu.gpu, rank_gpu.fails)

    made = {kind: two_player(kind) for kind in gpu_two_player.KINDS}
    made |= {kind: by_chance(runner) for kind, runner in _BY_CHANCE.items()}
    return type(kinds)({**kinds, **{kind: with_gpu(kind, make) for kind, make in made.items()}})


class _RankGpu:
    """The GPU of a rank, until it fails."""

    def __init__(self, gpu, among_others, hands_back):
        self.gpu, self._among_others, self.hands_back = gpu, among_others, hands_back

    def fails(self, error):
        if not self._among_others:
            raise error
        if self.gpu is not None:
            print_error(f"distsearch: a rank on {platform.node()} goes on without its GPU: {error}")
        self.gpu = None
