"""Games and searches against chance on a rank with a GPU, an emulated one: what a CPU does, from end to end."""

import itertools
import json
from collections import Counter

import numpy as np
import pytest

from distsearch import evaluation, games
from distsearch.api import devices
from distsearch.api.options import resolve
from distsearch.api.session import Session
from distsearch.core.errors import UserError
from distsearch.engines.expectimax import Expectimax
from distsearch.engines.player import Player, seed_of
from distsearch.games.interface import CHANCE, as_state
from distsearch.jobs import gpu_expectimax
from distsearch.jobs.chance import game_job
from distsearch.jobs.gpu_expectimax import GpuExpectimaxRunner, GpuGamesRunner
from distsearch.jobs.gpu_kinds import on_gpu
from distsearch.jobs.self_play import GamesPool
from distsearch.jobs.two_player import KINDS
from distsearch.testing.emulated_gpu import EmulatedGpu, EmulatedKernel

from .driving import do

SUM = "monotonicity+0.1*smoothness+2.7*free"
BOARDS = "2,4,8,16,0,2,4,8,0,0,2,4,0,0,0,2", "64,32,16,8,2,4,8,4,0,2,0,2,0,0,0,0"


@pytest.fixture
def with_gpu(monkeypatch):
    monkeypatch.setattr(devices, "chosen", lambda comm, name: EmulatedGpu(1))


@pytest.fixture
def crowded(monkeypatch):
    """Ranks that have room for a few games, in many groups."""
    monkeypatch.setattr(gpu_expectimax, "_SLOTS", 11)
    monkeypatch.setattr(GpuGamesRunner, "slots", 11)
    monkeypatch.setattr(gpu_expectimax, "_AT_ONCE", 3)
    monkeypatch.setattr(gpu_expectimax, "_FEW", 2)


def played(path, device, game, count, seed, **options):
    """Play games; return (the Summary, the lines of their record)."""
    with Session(device=device) as session:
        found = session.play(game, count, seed=seed, record=str(path), **options)
    return found, [json.loads(line) for line in path.read_text().splitlines()]


def same(tmp_path, game, count, seed, **options):
    """Assert that a GPU plays the games of a CPU."""
    ours, lines = played(tmp_path / "gpu", "gpu", game, count, seed, **options)
    cpu, expected = played(tmp_path / "cpu", "cpu", game, count, seed, **options)
    assert lines == expected
    assert (ours.scores, ours.largest, ours.moves) == (cpu.scores, cpu.largest, cpu.moves)
    assert 0 < ours.nodes <= cpu.nodes  # equal boards are evaluated once
    return ours


@pytest.mark.parametrize(("game", "wanted"), [("2048", "rows"), ("2048", SUM), ("2584", "rows")])
def test_games_are_those_of_a_cpu_line_for_line(game, wanted, with_gpu, tmp_path, seed):
    same(tmp_path, game, 4, seed, evaluation=wanted, layers=0)


def test_games_in_many_groups_and_other_tiles_are_the_same(with_gpu, crowded, tmp_path, seed):
    found = same(tmp_path, "2048", 24, seed, layers=0, spawn="2:0.6,4:0.3,8:0.1", chance="uniform")
    assert found.jobs > 24  # some took several parts, of several lengths


def test_summaries_without_a_record_are_the_same(with_gpu, crowded, seed):
    scores = []
    for device in ("gpu", "cpu"):
        with Session(device=device) as session:
            scores.append(session.play("2584", 14, seed=seed, evaluation="rows", depth=1).scores)
    assert scores[0] == scores[1]


@pytest.mark.parametrize(
    ("game", "wanted", "layers"), [("2048", "rows", 1), ("2584", "ntuple_3x4", 1), ("2048", "free", 2)]
)
def test_every_move_is_a_best_one_and_chance_is_that_of_the_game(game, wanted, layers, seed):
    module = games.find(game)
    rules = module.rules()
    chosen = evaluation.find(module, wanted, rules)
    runner, records = run_of(game, wanted, 2 * layers + 1, 2, seed, looks=40)
    engine = Expectimax(module, rules, chosen, points=chosen.points)
    chance = Player(module, rules, engine)
    for record in records:
        state, turns, moves, score = module.start(rules).state, 0, 0, 0
        for code in record["codes"][: record["length"]].tolist():
            if int(module.kind(state, rules)) == CHANCE:
                chance.begin(state, 1, seed_of(seed, int(record["job_id"])), turns, 1)
                chance.advance(1)
                assert chance.codes == [code]
                turns += 1
            else:
                engine.begin(state, 2 * layers + 1)
                assert engine.advance(1 << 40)
                values = engine.result().values
                best = max(values.values())
                assert values[code] >= best - 1e-5 * max(1.0, abs(best))
                moves += 1
            state, points = module.play(state, rules, np.int64(code))
            state, score = as_state(state), score + int(points)
        assert (turns, moves, score) == (record["chance_steps"], record["moves"], record["score"])
        assert state == as_state(record["state"])


def run_of(game, wanted, depth, count, seed, looks):
    """Have a runner play games for so many looks; return (it, their records)."""
    module = games.find(game)
    setup = {
        "kind": "game",
        "game": game,
        "board": [4, 4],
        "options": {},
        "evaluation": wanted,
        "uniform_chance": False,
        "points": evaluation.learnt(module, wanted),
        "recorded": True,
        "min_probability": 0.0,
        "nodes": 0,
        "seconds": 0.0,
    }
    runner = GpuGamesRunner(setup, EmulatedGpu(seed % 1000))
    runner.open(1)
    jobs = np.zeros(count, game_job(2))
    jobs["job_id"], jobs["depth"] = range(count), depth
    jobs["state"] = module.start(module.rules()).state
    jobs["seed"] = [seed_of(seed, node) for node in range(count)]
    runner.add(jobs)
    records = [runner.advance() for _ in range(looks)]
    return runner, np.concatenate([*records, runner.stop()])


@pytest.mark.parametrize("looks", [0, 1, 2, 7, 60])
def test_what_is_stopped_is_told_as_far_as_it_is(looks, crowded, seed):
    runner, records = run_of("2048", "rows", 1, GpuGamesRunner.slots, seed, looks)
    assert Counter(records["job_id"].tolist()) == Counter(range(11))
    assert (records["length"][(records["complete"] > 0) & (records["over"] == 0)] >= 128).all()  # the shortest part
    assert (runner.at_work, runner.nodes) == (0, 0)
    assert (records["nodes"].sum() > 0) == (looks > 1)
    assert (records["moves"] > 0).any() == (looks > 1)
    assert len(runner.stop()) == 0


def test_among_others_the_jobs_of_a_gpu_that_fails_go_back(monkeypatch, capsys, seed):
    options, game, rules = resolve("2048", "4x4", depth=1, evaluation="rows")
    kinds = on_gpu(KINDS, EmulatedGpu(seed % 1000), among_others=True)
    setup = options.setup("game") | {"recorded": True}
    runner, plain, launch = kinds["game"](setup), KINDS["game"](setup), EmulatedKernel.__call__
    runner.compile()
    runner.open(1)
    launches = itertools.count()

    def failing(kernel, *what):
        if next(launches) > 40:
            raise UserError("CUDA: cuCtxSynchronize failed: unspecified launch failure")
        return launch(kernel, *what)

    monkeypatch.setattr(EmulatedKernel, "__call__", failing)
    pools = [GamesPool(game, rules, options.depth, 4, seed % 1000, lambda played: None) for _ in range(2)]
    runner.add(pools[0].take(4, 1))
    while not runner.failed:
        pools[0].finish(runner.advance())
        if runner.at_work == 0 and not runner.failed:
            runner.add(pools[0].take(4, 1))
    assert runner.at_work == 0
    assert "goes on without its GPU: CUDA: cuCtxSynchronize failed" in capsys.readouterr().err
    assert type(kinds["game"](setup)) is type(plain)
    for pool in pools:
        while not pool.done:
            pool.finish(do(plain, pool.take(1, 1)[0]))
    found = [sorted((played.number, played.score, played.moves) for played in pool.over) for pool in pools]
    assert found[0] == found[1]


@pytest.mark.parametrize("where", ["values", "open"])
def test_among_others_the_searches_of_a_gpu_that_fails_go_back(where, monkeypatch, capsys, seed):
    """While it searches, or when a run needs weights of its own; the jobs keep their states."""
    options, _, _ = resolve("2048", "4x4", layers=1, evaluation="rows")
    setup = options.setup()
    kinds = on_gpu(KINDS, EmulatedGpu(seed % 1000), among_others=True)
    runner, plain = kinds["expectimax"](setup), KINDS["expectimax"](setup)
    runner.compile()

    def fail(*what, **how):
        raise UserError("CUDA: cuMemAlloc failed: out of memory")

    monkeypatch.setattr(runner._search, "values", fail)
    if where == "open":
        runner._search = None
        monkeypatch.setattr(EmulatedGpu, "array", fail)
    runner.open(1)
    jobs = np.zeros(3, runner.job_dtype)
    jobs["job_id"], jobs["depth"] = (5, 6, 7), 2
    jobs["state"] = games.find("2048").parse(BOARDS[0], games.find("2048").rules()).state
    runner.add(jobs)
    records = runner.advance()
    assert runner.failed and runner.at_work == 0
    assert (records["job_id"].tolist(), records["complete"].any()) == ([5, 6, 7], False)
    assert "goes on without its GPU: CUDA: cuMemAlloc failed" in capsys.readouterr().err
    assert type(kinds["expectimax"](setup)) is type(plain)


REFUSED = [
    ({"depth": 1, "min_probability": 0.1}, "min-probability"),
    ({"time": 0.1}, "time"),
    ({"nodes": 9}, "nodes"),
    ({"depth": 1, "depth_by_empty": ((3, 5),)}, "depth-by-empty"),
    ({"depth": 1, "board": "3x3"}, "4x4"),
    ({"depth": 14}, "13 plies"),
    ({"depth": 3, "algorithm": "averaged"}, "expectimax"),
]


@pytest.mark.parametrize(("options", "said"), REFUSED, ids=str)
def test_what_a_gpu_does_not_play_is_refused(options, said, with_gpu):
    with Session(device="gpu") as session, pytest.raises(UserError, match=said):
        session.play("2048", 1, **options)


@pytest.mark.parametrize(
    "options", [each for each, _ in REFUSED if "depth_by_empty" not in each and "nodes" not in each], ids=str
)
def test_what_a_gpu_does_not_search_is_refused(options, with_gpu):
    with Session(device="gpu") as session, pytest.raises(UserError, match="device gpu|GPU"):
        session.search("2048", **options)


def test_where_a_gpu_is_no_must_a_core_does_what_it_cannot(with_gpu, seed):
    scores = []
    for device in ("auto", "cpu"):
        with Session(device=device) as session:
            scores.append(session.play("2048", 3, "3x3", seed=seed, depth=1).scores)
    assert scores[0] == scores[1]


@pytest.mark.parametrize("position", ["startpos", *BOARDS])
@pytest.mark.parametrize(("layers", "options"), [(1, {}), (1, {"load_factor": 40}), (2, {"all_moves": True})], ids=str)
def test_searches_find_what_a_cpu_does(position, layers, options, with_gpu, monkeypatch):
    calls, advance = [], GpuExpectimaxRunner.advance
    monkeypatch.setattr(GpuExpectimaxRunner, "advance", lambda runner: calls.append(1) or advance(runner))
    outcomes = []
    for device in ("gpu", "cpu"):
        with Session(device=device) as session:
            outcomes.append(session.search("2048", position, layers=layers, **options))
    ours, cpu = outcomes
    assert calls
    assert (ours.complete, ours.bound, ours.depth) == (True, "exact", 2 * layers + 1)
    assert ours.score == pytest.approx(cpu.score, rel=1e-5)
    if options.get("all_moves"):
        assert [each["move"] for each in ours.moves] == [each["move"] for each in cpu.moves]
        for each, other in zip(ours.moves, cpu.moves, strict=True):
            assert each["score"] == pytest.approx(other["score"], rel=1e-5)


def test_searches_of_chance_and_of_no_plies_go_together(seed):
    """Jobs of several depths, with tiles due or none, in one message."""
    module = games.find("2584")
    rules, wanted = module.rules(), "rows"
    setup = {
        "kind": "expectimax",
        "game": "2584",
        "board": [4, 4],
        "options": {},
        "evaluation": wanted,
        "uniform_chance": True,
        "points": False,
    }
    runner = GpuExpectimaxRunner(setup, EmulatedGpu(seed % 1000))
    runner.open(1)
    state = as_state(np.array([0x21, 0], np.uint64))  # a 1 and a 2... next to one another
    due = module.start(rules).state
    jobs = np.zeros(6, runner.job_dtype)
    jobs["job_id"], jobs["depth"] = range(6), [3, 0, 2, 3, 2, 1]
    jobs["state"] = [state, state, due, due, state, state]
    runner.add(jobs)
    records = []
    while runner.at_work:
        records.append(runner.advance())
    records = np.concatenate(records)
    engine = Expectimax(module, rules, evaluation.find(module, wanted, rules), uniform_chance=True)
    assert sorted(records["job_id"].tolist()) == list(range(6))
    assert records["complete"].all()
    for record in records:
        job = jobs[record["job_id"]]
        engine.begin(as_state(job["state"]), int(job["depth"]))
        assert engine.advance(1 << 40)
        assert record["value"] == pytest.approx(engine.result().value, rel=1e-5)
    runner.add(jobs)
    assert (runner.stop()["complete"] == 0).all()
    assert runner.at_work == 0
