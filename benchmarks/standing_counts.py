"""Figures of the standing bars that do not depend on time: nodes, virtual workers, messages and bytes.

Every group of them can be measured anywhere with the same result, so tests/studies/test_standing.py checks the quick
ones; ``benchmarks/standing`` checks all.
"""

import functools
import random
from collections.abc import Callable
from functools import partial
from shlex import quote
from typing import NamedTuple

from benchmarks.standing_figures import exact, least, most
from distsearch import games
from distsearch.api.options import Options
from distsearch.api.progress import Silent
from distsearch.api.simulate import Machine, simulate
from distsearch.api.two_player import TwoPlayerSearcher
from distsearch.cluster.local import InProcessCluster
from distsearch.engines.pvs.table import new_shared_table
from distsearch.games.random_play import random_positions
from distsearch.jobs.two_player import kinds
from distsearch.studies.bench import bench

WORKERS = 2, 15, 63  # virtual ones
_TABLE = 64  # MiB
_sequential = {}  # Outcome of one worker by what is searched

# random play, so many plies of it: 40 and 20 of Othello, 10 and 8 of Connect 4
_ENDING = "--O-XO-X-OXXOOOXOOXOOOOX--OXXOXX--XXXO-XOOOOXO----OXXO-----XXOO- X"
_MIDGAME = "---O-------O-----XXXXX----XOOXX--XOXOX---O-OXO-----O-XO--------- X"
_CONNECT4, _CONNECT4_LARGER = "5777741413", "77753121"

# the FFO suite's #40 to #44, with their scores
_FFO = {
    40: ("O--OOOOX-OOOOOOXOOXXOOOXOOXOOOXXOOOOOOXX---OOOOX----O--X-------- X", 38),
    41: ("-OOOOO----OOOOX--OOOOOO-XXXXXOO--XXOOX--OOXOXX----OXXO---OOO--O- X", 0),
    42: ("--OOO-------XX-OOOOOOXOO-OOOOXOOX-OOOXXO---OOXOO---OOOXO--OOOO-- X", 6),
    43: ("--XXXXX---XXXX---OOOXX---OOXXXX--OOXXXO-OOOOXOO----XOX----XXXXX- O", -12),
    44: ("--O-X-O---O-XO-O-OOXXXOOOOOOXXXOOOOOXX--XXOOXO----XXXX-----XXX-- O", -14),
}


class Group(NamedTuple):
    """how: a command line, or what is like one; measure() → {figure: dict}, see ``standing_figures``; full: it takes
    longer than a test may.
    """

    how: str
    measure: Callable
    full: bool = False


class Case(NamedTuple):
    """One search for virtual workers. position: a text; rate: nodes a second of a worker; score: if it is known."""

    game: str
    position: str
    limit: dict
    rate: float
    score: int | None = None


def lines_of(game, plies, count, seed):
    """Return so many positions as texts, each so many plies of random play from the start; the same for a seed."""
    module = games.find(game)
    rules = module.rules()
    drawn = random_positions(module, rules, range(plies, plies + 1), count, random.Random(seed))
    return [module.text(position, rules) for position in drawn]


def _ffo(number):
    position, score = _FFO[number]
    return Case("othello", position, {"exact": True}, 2.8e7, score)


def _midgame(**limit):
    return Case("othello", _MIDGAME, {"evaluation": "patterns", **limit}, 9e6)


def _connect4(position):
    return Case("connect4", position, {"exact": True}, 3e7)


def _flags(limit):
    """Return options as the command line has them."""
    return " ".join(
        f"--{name.replace('_', '-')}{'' if value is True else f' {value}'}" for name, value in limit.items()
    )


def _simulated(case):
    """Return the Group of a search by each number of virtual workers."""
    how = f"distsearch simulate {case.game} {quote(case.position)} {_flags(case.limit)} --rate {case.rate:g}"
    return f"{how} --workers {','.join(map(str, WORKERS))}, one after another", partial(_simulate, case)


@functools.cache  # several figures are of the same search
def _searched(game, position, limit, machine):
    """Return the Simulation of a search; limit and machine: options, as pairs of name and value."""
    options, module = Options(game, **dict(limit)), games.find(game)
    parsed, asked = module.parse(position, module.rules(options.board)), (game, position, limit)
    known = _sequential.get(asked)
    found = simulate(options, Machine(**dict(machine)), parsed, Silent(), lambda: False, sequential=known)
    _sequential[asked] = found.sequential
    return found


def _simulate(case):
    one_answer = "selective" not in case.limit  # which is not promised to leave out the same at any number of ranks
    found = {}
    for workers in WORKERS:
        machine = ("workers", workers), ("rate", case.rate)
        result = _searched(case.game, case.position, tuple(case.limit.items()), machine)
        alone = result.sequential
        if case.score not in (None, alone.score):
            raise AssertionError(f"{alone.score} instead of {case.score}: {case.position}")
        if one_answer and result.outcome.score != alone.score:
            raise AssertionError(f"{result.outcome.score} by {workers} workers, {alone.score} by one: {case.position}")
        found["score"], found["nodes of one worker"] = exact(alone.score), most(alone.nodes)
        found[f"overhead of {workers} workers"] = most(round(result.figures["search_overhead"], 3))
        found[f"speedup of {workers} workers"] = least(round(result.figures["speedup"], 3))
    return found


def _hosts(number, workers, hosts):
    """Return the Group of an exact search of an FFO position by virtual workers of several hosts."""
    machine = {"workers": workers, "hosts": hosts, "network": "tcp", "rate": 2.8e7}
    how = f"distsearch simulate othello {quote(_FFO[number][0])} --exact {_flags(machine)}"
    return how, partial(_simulate_hosts, *_FFO[number], machine)


def _simulate_hosts(position, score, machine):
    result = _searched("othello", position, (("exact", True),), tuple(machine.items()))
    if result.outcome.score != score:
        raise AssertionError(f"{result.outcome.score} instead of {score}: {position}")
    return {
        "overhead": most(round(result.figures["search_overhead"], 3)),
        "speedup": least(round(result.figures["speedup"], 3)),
    }


def _messages(limit, machine):
    """Return the Group of what jobs of FFO #40 cost in messages and bytes."""
    position = _FFO[40][0]
    how = f"distsearch simulate othello {quote(position)} {_flags(limit)} {_flags(machine)}"
    return how, partial(_message, position, limit, machine)


def _message(position, limit, machine):
    outcome = _searched("othello", position, tuple(limit.items()), tuple(machine.items())).outcome
    return {
        "jobs": most(outcome.jobs),
        "messages a job": most(round(outcome.messages / outcome.jobs, 3)),
        "bytes a job": most(round(outcome.bytes / outcome.jobs, 1)),
    }


def _solved(game, plies, count, seed):
    """Return the Group of the nodes that exact searches of random positions take."""
    how = f"distsearch bench {game} --exact --positions FILE, {count} positions of {plies} random plies, seed {seed}"
    return how, partial(_solve, game, plies, count, seed)


def _solve(game, plies, count, seed):
    options = Options(game, exact=True)
    searcher = TwoPlayerSearcher(options, InProcessCluster(kinds(new_shared_table(_TABLE))), Silent(), lambda: False)
    positions = [searcher.game.parse(text, searcher.rules) for text in lines_of(game, plies, count, seed)]
    found = list(searcher.search(positions))
    return {
        "sum of scores": exact(int(sum(outcome.score for outcome in found))),
        "nodes": most(sum(outcome.nodes for outcome in found)),
    }


def _bench():
    rows, signature = bench(Silent(), lambda: False)
    return {"signature": exact(signature), **{name: most(nodes) for name, nodes, _ in rows}}


def groups():
    """Return {name: Group}, the quick ones first."""
    return {
        "bench": Group("distsearch bench", _bench),
        "solve connect4": Group(*_solved("connect4", 12, 40, 1)),
        "solve othello": Group(*_solved("othello", 44, 20, 1)),
        "simulate FFO #40": Group(*_simulated(_ffo(40))),
        "simulate othello ending": Group(*_simulated(Case("othello", _ENDING, {"exact": True}, 2.8e7))),
        "simulate connect4": Group(*_simulated(_connect4(_CONNECT4))),
        "simulate FFO #40, 4 hosts": Group(*_hosts(40, 63, 4)),
        "simulate patterns": Group(*_simulated(_midgame(depth=11))),
        "messages of split": Group(*_messages({"exact": True}, {"workers": 15, "rate": 2.8e7})),
        "messages of split, 4 hosts": Group(
            *_messages({"exact": True}, {"workers": 16, "hosts": 4, "network": "tcp", "rate": 2.8e7})
        ),
        "messages of pool": Group(
            *_messages(
                {"evaluation": "complex", "depth": 10, "policy": "pool", "load_factor": 16},
                {"workers": 15, "rate": 2e7},
            )
        ),
        **{f"simulate FFO #{number}": Group(*_simulated(_ffo(number)), full=True) for number in (41, 42, 43, 44)},
        "simulate connect4, larger": Group(*_simulated(_connect4(_CONNECT4_LARGER)), full=True),
        "simulate patterns, larger": Group(*_simulated(_midgame(depth=13)), full=True),
        "simulate patterns, selective": Group(*_simulated(_midgame(depth=14, selective=0.9)), full=True),
        "simulate patterns, selective, larger": Group(*_simulated(_midgame(depth=17, selective=0.9)), full=True),
    }
