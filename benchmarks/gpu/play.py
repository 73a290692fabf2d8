"""Whole games of 2048 and 2584 on a GPU: moves a second beside one CPU rank, and where the time goes.

    python benchmarks/gpu/play.py              on a card: about four minutes, a line of JSON a row
    python benchmarks/gpu/play.py --emulated   the same script where there is no card, on a handful of games

``same``: games from the start to the end by `play` with --device gpu and cpu: how many records are equal, and the sums
of scores. With layers a few games differ: two moves that are worth the same but for the last bit.

``moves``: many games at once, which begin at places drawn evenly from games (that the evaluation plays
with 0 layers) and go on for some seconds after a warm-up. Games that end make room for others. Shares of the wall time
are of one process: `wait` for the values, `ask` (upload and launches), `round` (the compiled loop: best moves, chance,
next boards), and `rest`. `cpu`: one rank's fastest way to play the same boards on, in moves a CPU second.
"""

import argparse
import json
import tempfile
import time
from pathlib import Path

import numpy as np

from distsearch import evaluation, games
from distsearch.api import devices
from distsearch.api.options import resolve
from distsearch.api.session import Session
from distsearch.engines import batched_play, self_play
from distsearch.engines.expectimax_engine import Expectimax
from distsearch.engines.player import Player
from distsearch.engines.self_play import SHALLOW, Shallow
from distsearch.games.interface import as_state
from distsearch.gpu import device
from distsearch.jobs.chance import GAME_PART
from distsearch.jobs.gpu_expectimax import GpuGamesRunner
from distsearch.testing.emulated_gpu import EmulatedGpu

_CASES = ("2048", "ntuple"), ("2584", "ntuple"), ("2048", "rows")
_SAME = ("2048", "rows", 0, 50), ("2584", "ntuple", 0, 20), ("2048", "ntuple", 0, 10), ("2048", "rows", 1, 50)
_WARM_UP, _SECONDS = 2.0, 6.0  # of each row
_CPU_SECONDS = 3.0
_SPAN = {1: 2000, 3: 200, 5: 40, 7: 4}  # moves of a job on a CPU, by plies
_GAMES = 16_384  # at once


def show(**row):
    rounded = {name: float(f"{each:.4g}") if isinstance(each, float) else each for name, each in row.items()}
    print(json.dumps(rounded), flush=True)


def compared(name, wanted, layers, count):
    """Play the same games on both; show how many are equal."""
    found, lines = {}, {}
    with tempfile.TemporaryDirectory() as folder:
        for where in ("gpu", "cpu"):
            path = Path(folder) / where
            with Session(device=where) as session:
                found[where] = session.play(name, count, seed=1, evaluation=wanted, layers=layers, record=str(path))
            lines[where] = path.read_text().splitlines()
    equal = sum(ours == cpu for ours, cpu in zip(*lines.values(), strict=True))
    seconds = {where: summary.seconds for where, summary in found.items()}
    show(
        row="same",
        game=name,
        evaluation=wanted,
        layers=layers,
        games=count,
        equal=equal,
        sums=[sum(summary.scores) for summary in found.values()],
        gpu_seconds=seconds["gpu"],
        cpu_seconds=seconds["cpu"],
    )


def places(game, rules, chosen, count, most):
    """Return states (uint64, (n, 2)) on the player's turn: all of some games that the evaluation plays, shuffled."""
    player = Shallow(game, rules, Expectimax(game, rules, chosen, points=chosen.points))
    player.begin([game.start(rules).state] * count, [1] * count, range(count), [0] * count, most, most, recorded=True)
    while not player.advance(1 << 30):
        pass
    found = []
    for codes, line in zip(player.codes, player.table, strict=True):
        state = game.start(rules).state
        for code in codes[: line[self_play.COUNT]].tolist():
            if int(state[1]) >> 62 == 0:
                found.append(state)
            state = as_state(game.play(state, rules, np.int64(code))[0])
    return np.random.default_rng(1).permutation(np.array(found, np.uint64))


class Clocked:
    """Has some calls' wall seconds added up by name."""

    def __init__(self):
        self.seconds = {}

    def wrap(self, what, method, name):
        call = getattr(what, method)

        def clocked(*args):
            began = time.perf_counter()
            found = call(*args)
            self.seconds[name] = self.seconds.get(name, 0.0) + time.perf_counter() - began
            return found

        setattr(what, method, clocked)


class OnGpu:
    """A runner of games that always has as many at work."""

    def __init__(self, gpu, setup, states, plies, count):
        self._states, self._plies, self._next, self._ended = states, plies, 0, 0
        self._runner = GpuGamesRunner(setup, gpu)
        self._runner.compile()
        self._runner.open(1)
        self._clocks = Clocked()
        for method, name in (("found", "wait"), ("begin", "ask")):
            self._clocks.wrap(self._runner._search, method, name)
        self._clocks.wrap(self._runner._games, "go_on", "round")
        self._add(count)

    def _add(self, count):
        jobs = np.zeros(count, self._runner.job_dtype)
        numbers = np.arange(self._next, self._next + count)
        jobs["node"], jobs["depth"], jobs["seed"] = numbers, self._plies, numbers
        jobs["state"], jobs["drawn"] = self._states[numbers % len(self._states)], 1
        self._next += count
        self._runner.add(jobs)

    def go_on(self, seconds):
        """Play for so long; return (moves, evaluations, launches, wall seconds, CPU seconds, seconds by name)."""
        self._clocks.seconds.clear()
        before, evaluated = self._moves(), self._runner.boards
        began, cpu, turns = time.perf_counter(), time.process_time(), 0
        while (took := time.perf_counter() - began) < seconds:
            records = self._runner.advance()
            if len(records):
                self._ended += int(records["moves"].sum())
                evaluated -= int(records["boards"].sum())
                self._add(len(records))
            turns += 1
        cpu = time.process_time() - cpu
        return self._moves() - before, self._runner.boards - evaluated, turns, took, cpu, dict(self._clocks.seconds)

    def _moves(self):
        table = self._runner._games.table
        at_work = [group.rows for group in (*self._runner._ready, self._runner._asked) if group is not None]
        return self._ended + sum(int(table[rows, batched_play.MOVES].sum()) for rows in at_work)


def cpu_rate(game, rules, chosen, states, plies, seconds):
    """Return moves a CPU second of one rank."""
    engine, moves, began, at = Expectimax(game, rules, chosen, points=chosen.points), 0, time.process_time(), 0
    engine.compile()
    together, player = Shallow(game, rules, engine), Player(game, rules, engine)
    (together if plies <= SHALLOW else player).compile()
    began = time.process_time()
    while time.process_time() - began < seconds:
        state = states[at % len(states)]
        if plies <= SHALLOW:
            together.begin([state], [plies], [at], [1], 2 * _SPAN[plies], GAME_PART)
            together.advance(1 << 50)
            moves += int(together.table[0, self_play.MOVES])
        else:
            player.begin(as_state(state), plies, at, 1, 2 * _SPAN[plies])
            player.advance(1 << 50)
            moves += player.moves
        at += 1
    return moves / (time.process_time() - began)


def measured(gpu, name, wanted, layers, emulated, states):
    """Show the row of a game, an evaluation and a number of layers."""
    options, game, rules = resolve(name, layers=layers, evaluation=wanted)
    chosen, plies = evaluation.find(game, wanted, rules), 2 * layers + 1
    count = 40 if emulated else _GAMES
    runner = OnGpu(gpu, options.setup("game"), states, plies, count)
    runner.go_on(0.1 if emulated else _WARM_UP)
    moves, evaluated, turns, took, cpu_spent, parts = runner.go_on(0.5 if emulated else _SECONDS)
    cpu = cpu_rate(game, rules, chosen, states, plies, 0.3 if emulated else _CPU_SECONDS)
    shares = {part: round(parts.get(part, 0.0) / took, 3) for part in ("wait", "ask", "round")}
    shares["rest"] = round(1 - sum(shares.values()), 3)
    show(
        row="moves",
        game=name,
        evaluation=wanted,
        layers=layers,
        games=count,
        moves_per_second=moves / took,
        us_a_move=took / max(moves, 1) * 1e6,
        round_us_a_move=parts.get("round", 0.0) / max(moves, 1) * 1e6,
        ask_us_a_launch=parts.get("ask", 0.0) / turns * 1e6,
        moves_a_launch=moves / turns,
        evaluated_per_second=evaluated / took,
        cpu_share=cpu_spent / took,
        shares=shares,
        cpu_moves_per_second=cpu,
        times=moves / took / cpu,
    )


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--emulated", action="store_true", help="without a card, a handful of games")
    parser.add_argument("--cases", type=int, default=len(_CASES), help="how many of the games and evaluations")
    args = parser.parse_args()
    if args.emulated:
        devices.chosen = lambda comm, name: EmulatedGpu() if name == "gpu" else None
    for name, wanted, layers, count in _SAME[:1] if args.emulated else _SAME:
        compared(name, wanted, layers, 3 if args.emulated else count)
    gpu = EmulatedGpu() if args.emulated else device.Gpu()
    for name, wanted in _CASES[: args.cases]:
        game = games.find(name)
        rules = game.rules()
        states = places(game, rules, evaluation.find(game, wanted, rules), 2 if args.emulated else 64, 1 << 16)
        for layers in (0, 1) if args.emulated else (0, 1, 2, 3):
            measured(gpu, name, wanted, layers, args.emulated, states)


if __name__ == "__main__":
    main()
