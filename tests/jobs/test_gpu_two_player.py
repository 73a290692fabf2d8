"""Ranks with a GPU, an emulated one, in searches like any other: the same scores, moves that are best, jobs steered."""

import itertools
import json
import random

import numpy as np
import pytest

from distsearch import games
from distsearch.api import devices
from distsearch.api.options import Options
from distsearch.api.session import Session
from distsearch.cluster.messages import Message, MessageType
from distsearch.cluster.worker import Worker
from distsearch.core.errors import UserError
from distsearch.games.interface import END, legal_moves, step
from distsearch.jobs import gpu_two_player
from distsearch.jobs.gpu_kinds import on_gpu
from distsearch.jobs.gpu_two_player import GpuTwoPlayerRunner
from distsearch.jobs.two_player import KINDS, TO_THE_END
from distsearch.testing.emulated_gpu import EmulatedGpu, EmulatedKernel

GAMES = [("connect4", "6x7", 31), ("othello", "6x6", 25)]


def late(game, board, plies, count, seed):
    """Return texts of positions after so many random moves, none of which is over."""
    module, chance, found = games.find(game), random.Random(seed), []
    rules = module.rules(tuple(map(int, board.split("x"))))
    while len(found) < count:
        position = module.start(rules)
        for _ in range(plies):
            moves = legal_moves(module, position, rules)
            if not moves:
                break
            position = step(module, position, rules, chance.choice(moves))
        if legal_moves(module, position, rules):
            found.append(module.text(position, rules))
    return found


@pytest.fixture
def with_gpu(monkeypatch):
    monkeypatch.setattr(devices, "chosen", lambda comm, name: EmulatedGpu(1))


@pytest.mark.parametrize(("game", "board", "plies"), GAMES, ids=str)
def test_a_session_with_a_gpu_has_the_scores_of_one_without(game, board, plies, with_gpu, seed):
    lines = late(game, board, plies, 6, seed)
    with Session(device="gpu") as session:
        found = list(session.solve(game, lines, board))
    with Session() as session:
        expected = list(session.solve(game, lines, board))
        assert [each.score for each in found] == [each.score for each in expected]
        assert all(each.complete and each.bound == "exact" for each in found)
        module = games.find(game)
        rules = module.rules(tuple(map(int, board.split("x"))))
        for line, outcome in zip(lines, found, strict=True):
            moved = step(module, module.parse(line, rules), rules, module.parse_move(outcome.move, rules))
            if legal_moves(module, moved, rules):
                text = module.text(moved, rules)
                assert -next(iter(session.solve(game, [text], board))).score == outcome.score


def test_two_runs_of_one_setup_are_at_work_at_once(with_gpu, seed):
    lines = late("connect4", "6x7", 33, 4, seed)
    with Session(device="gpu") as session:
        first, second = session.solve("connect4", lines), session.solve("connect4", lines[::-1])
        found = [[each.score for each in pair] for pair in zip(first, second, strict=True)]
    scores = [one for one, _ in found]
    assert [other for _, other in found] == scores[::-1]


@pytest.mark.parametrize(
    ("asked", "said"),
    [
        ({"game": "othello", "evaluation": "static"}, "by evaluation discs or complex or patterns, not static"),
        ({"game": "othello", "board": "10x10"}, "boards of up to 64 squares, not 10x10"),
        ({"game": "othello", "selective": 0.9}, "give selective 1"),
        ({"game": "connect4", "nodes": 1000}, "goes without nodes"),
        ({"game": "connect4", "algorithm": "minimax"}, "for all else use --device cpu"),
        ({"game": "connect4", "board": "2x17"}, "at most 16 columns"),
    ],
    ids=str,
)
def test_searches_that_no_gpu_does_are_refused(asked, said, with_gpu):
    with Session(device="gpu") as session, pytest.raises(UserError, match=said):
        session.search(**{"depth": None if "nodes" in asked else 4, **asked})


def test_what_else_no_gpu_does_is_refused(with_gpu):
    with pytest.raises(UserError, match="GPU|device g"), Session(device="gpu", submasters=1):
        pass
    with pytest.raises(UserError, match="GPU|device g"), Session(device="gpu") as session:
        session.perft("othello", 2)


DEEP = [
    ("connect4", {"depth": 5}, 12),
    ("connect4", {"depth": 6, "board": "5x4"}, 16),  # the end is in sight
    ("othello", {"depth": 3}, 20),
    ("othello", {"depth": 2, "evaluation": "complex"}, 20),
    ("othello", {"depth": 5, "board": "4x4", "evaluation": "complex"}, 7),
    ("othello", {"depth": 3, "board": "6x6", "all_moves": True}, 12),
    ("othello", {"depth": 3, "board": "6x6", "rules": {"empties": "none"}, "evaluation": "discs"}, 24),
]


@pytest.mark.parametrize(("game", "asked", "plies"), DEEP, ids=str)
def test_searches_to_a_depth_are_those_of_a_core(game, asked, plies, with_gpu, seed):
    board = asked.get("board", "6x7" if game == "connect4" else "8x8")
    lines = late(game, board, plies, 3, seed)
    found = {}
    for device in ("cpu", "gpu"):
        with Session(device=device) as session:
            outcomes = [session.search(game, line, **asked) for line in lines]
            limit = {name: value for name, value in asked.items() if name != "all_moves"}
            scores = [each.score for each in session.solve(game, lines, **limit)]
        found[device] = [(each.score, each.depth, each.bound, each.proved, each.moves) for each in outcomes], scores
        assert all(each.gpu_seconds for each in outcomes) == (device == "gpu")
    assert found["gpu"] == found["cpu"]
    module = games.find(game)
    rules = module.rules(tuple(map(int, board.split("x"))), **asked.get("rules", {}))
    with Session() as session:  # the moves of the GPU, which came last, have the score
        for line, outcome in zip(lines, outcomes, strict=True):
            moved = step(module, module.parse(line, rules), rules, module.parse_move(outcome.move, rules))
            if legal_moves(module, moved, rules) and asked["depth"] > 1:
                deep = session.search(
                    game, module.text(moved, rules), **{**asked, "depth": asked["depth"] - 1, "all_moves": False}
                )
                assert -deep.score == outcome.score


@pytest.mark.parametrize(
    ("game", "board", "plies", "asked"),
    [
        ("connect4", "6x7", 28, {"exact": True}),
        ("othello", "6x6", 25, {"exact": True}),
        ("othello", "4x4", 6, {"depth": 5, "evaluation": "complex"}),
        ("connect4", "5x4", 6, {"depth": 6}),
    ],
    ids=str,
)
def test_lines_go_on_to_the_end_and_keep_the_score(game, board, plies, asked, with_gpu, monkeypatch, seed):
    monkeypatch.setattr(gpu_two_player, "_LINE_SECONDS", 60.0)
    module = games.find(game)
    rules = module.rules(tuple(map(int, board.split("x"))))
    lines = late(game, board, plies, 4, seed)
    with Session(device="gpu") as session:
        found = [session.search(game, line, board=board, **asked) for line in lines]
    for line, outcome in zip(lines, found, strict=True):
        position = module.parse(line, rules)
        for text in outcome.pv:
            position = step(module, position, rules, module.parse_move(text, rules))
        over = module.kind(position.state, rules) == END
        assert over or len(outcome.pv) == asked.get("depth")
        if over and outcome.proved:
            sign = 1 if len(outcome.pv) % 2 == 0 else -1
            assert sign * module.final(position.state, rules) == outcome.score


@pytest.fixture
def with_lines(seed):
    """(runner, records so far) of three jobs whose scores are known, and whose lines are searched."""
    setup = {"kind": "solve", "game": "connect4", "board": [6, 7], "options": {}}
    runner = on_gpu(KINDS, EmulatedGpu(2), among_others=True)["solve"](setup)
    runner.compile()
    runner.open(1)
    runner.add(jobs_of(runner, "connect4", "6x7", late("connect4", "6x7", 26, 3, seed)))
    records = [runner.advance()]
    while runner.at_work and runner._lines is None:
        records.append(runner.advance())
    return runner, np.concatenate(records)


def test_scores_that_are_known_are_not_lost_with_their_lines(with_lines, monkeypatch):
    runner, records = with_lines
    while runner.at_work:
        (dropped,) = runner.drop(100 + runner.at_work - 1)
        assert (dropped["complete"], np.isfinite(dropped["score"])) == (1, True)
        records = np.append(records, runner.stop())
    assert records["complete"].all()


def test_a_gpu_that_fails_at_the_lines_gives_scores_back(with_lines, failing, capsys):
    runner, records = with_lines
    failing(after=0)
    while runner.at_work:
        records = np.append(records, runner.advance())
    assert records["complete"].all()
    assert len(records) == 3


def test_lines_that_take_too_long_are_cut(with_gpu, monkeypatch, seed):
    monkeypatch.setattr(gpu_two_player, "_LINE_SECONDS", 0.0)
    monkeypatch.setattr(gpu_two_player, "_LINE_SHARE", 0.0)
    with Session(device="gpu") as session:
        found = session.search("othello", late("othello", "8x8", 20, 1, seed)[0], depth=3, evaluation="complex")
    assert (found.complete, len(found.pv)) == (True, 1)


def test_a_gpu_goes_deeper_and_deeper_until_a_limit_of_time(with_gpu):
    with Session(device="gpu") as session:
        found = session.search("othello", "f5d6c3d3c4f4f6", board="8x8", time=1.5, selective=1)
        assert (found.complete, found.gpu_seconds > 0, found.depth >= 1) == (True, True, True)


def jobs_of(runner, game, board, lines):
    module = games.find(game)
    rules = module.rules(tuple(map(int, board.split("x"))))
    jobs = np.zeros(len(lines), runner.job_dtype)
    jobs["job_id"], jobs["depth"] = np.arange(len(lines)) + 100, TO_THE_END
    jobs["low"], jobs["high"] = -(10**6), 10**6
    jobs["state"] = [module.parse(line, rules).state for line in lines]
    return jobs


def runner_of(game, board, evaluation=None):
    """Return the runner of exact searches, or of those to a depth by an evaluation."""
    setup = {"kind": "solve", "game": game, "board": list(map(int, board.split("x"))), "options": {}, "brief": True}
    if evaluation:
        setup |= {"kind": "deep", "evaluation": evaluation, "selective": None, "repeatable": False}
    runner = on_gpu(KINDS, EmulatedGpu(2))[setup["kind"]](setup)
    runner.compile()
    runner.open(1)
    return runner


@pytest.fixture(params=[*GAMES, ("connect4", "6x7", 12, "outcome"), ("othello", "8x8", 20, "complex")], ids=str)
def made(request, seed):
    """(runner, jobs) of a game, to the end or to a depth."""
    game, board, plies, *evaluation = request.param
    runner = runner_of(game, board, *evaluation)
    jobs = jobs_of(runner, game, board, late(game, board, plies, 5, seed))
    if evaluation:
        jobs["depth"] = 4
    return runner, jobs


def test_jobs_are_dropped_and_stopped_one_by_one(made):
    runner, jobs = made
    runner.add(jobs[:3])
    runner.add(jobs[3:])
    assert runner.at_work == 5
    (dropped,) = runner.drop(101)
    assert (dropped["job_id"], dropped["complete"]) == (101, 0)
    assert not runner.has(101)
    records = [runner.advance()]
    left = {100, 102, 103, 104} - set(records[0]["job_id"].tolist())
    for node in sorted(left)[:1]:
        records.append(runner.drop(node))
    records.append(runner.stop())
    assert sorted(np.concatenate(records)["job_id"].tolist()) == [100, 102, 103, 104]
    assert (runner.at_work, runner.nodes) == (0, 0)


def test_end_games_join_the_batch_at_work(seed):
    """The next launch is under way while results are told; a batch that is full leaves the rest for the next one."""
    runner = runner_of("othello", "6x6")
    jobs = jobs_of(runner, "othello", "6x6", late("othello", "6x6", 23, 30, seed))
    runner._on_gpu._ROOM = 25
    runner._on_gpu.solver._parameters["limit"] = 20_000  # nanoseconds
    launches, launch = [], runner._on_gpu.solver.launch
    runner._on_gpu.solver.launch = lambda: (launches.append(runner._on_gpu.solver.room), launch())
    records, given = [], 0
    while given < 30 or runner.at_work:
        if given < 30:
            runner.add(jobs[given : given + 6])
            given += 6
        records.append(runner.advance())
    records = np.concatenate(records)
    assert sorted(records["job_id"].tolist()) == list(range(100, 130))
    assert records["complete"].all()
    assert launches[0] == 19
    assert 0 in launches
    by_core = KINDS["solve"](json.loads(json.dumps(runner._setup)))
    expected = {}
    for job in jobs:
        by_core.begin(job)
        while not by_core.advance(1 << 30):
            pass
        (record,) = by_core.result(0.0, 0.0)
        expected[int(job["job_id"])] = record["score"]
    assert dict(zip(records["job_id"].tolist(), records["score"].tolist(), strict=True)) == expected


def test_end_games_that_are_too_large_go_back_once():
    """To ranks without a GPU; what comes again has none to go to."""
    setup = {"kind": "solve", "game": "othello", "board": [6, 6], "options": {}, "brief": True}
    runner = on_gpu(KINDS, EmulatedGpu(2), among_others=True, hands_back=True)["solve"](setup)
    runner.compile()
    runner.open(1)
    assert len(runner.stop()) == 0
    jobs = jobs_of(runner, "othello", "6x6", [*late("othello", "6x6", 16, 2, 1), *late("othello", "6x6", 25, 2, 1)])
    runner.add(jobs)
    assert runner.at_work == 4
    records = [runner.advance()]
    assert records[0]["job_id"][:2].tolist() == [100, 101]
    assert not records[0]["complete"][:2].any()
    while runner.at_work:
        records.append(runner.advance())
    runner.add(jobs[:1])
    while runner.at_work:
        records.append(runner.advance())
    done = np.concatenate(records)
    assert sorted(done["job_id"][done["complete"] != 0].tolist()) == [100, 102, 103]
    runner.open(2)  # in which nothing has come back yet; a subtree never goes back
    subtree = jobs[1:2].copy()
    subtree["job_id"] = -5
    runner.add(jobs[:1])
    runner.add(subtree)
    assert runner.advance()["job_id"].tolist()[0] == 100
    assert runner.stop()["job_id"].tolist() == [-5]


def test_nodes_add_up_and_what_is_no_work_for_a_gpu_is_the_cpus(made):
    runner, jobs = made
    runner._on_gpu.fits = lambda states: np.arange(len(states)) % 2 == 0
    runner.add(jobs)
    records = [runner.advance()]
    while runner.at_work:
        records.append(runner.advance())
    records = np.concatenate(records)
    assert sorted(records["job_id"].tolist()) == [100, 101, 102, 103, 104]
    assert records["complete"].all()
    assert runner.nodes == 0
    assert records["nodes"].sum() > 0


@pytest.mark.parametrize(
    ("game", "board", "plies", "more"), [("connect4", "5x4", 8, ["1122"]), (*GAMES[1], [])], ids=str
)
def test_what_is_counted_on_the_gpu_is_told(game, board, plies, more, seed):
    runner = runner_of(game, board)
    jobs = jobs_of(runner, game, board, late(game, board, plies, 5, seed) + more)
    runner.add(jobs)
    records = [runner.advance()]
    while runner.at_work:
        records.append(runner.advance())
    records, counted = np.concatenate(records), runner._on_gpu.counts
    assert [int(records[name].sum()) for name in ("nodes", "table_hits")] == [counted["nodes"], counted["hits"]]
    assert counted["nodes"] > 0


@pytest.fixture
def failing(monkeypatch):
    """A function after which launches fail, but for so many."""

    def fail(after):
        launches, launch = itertools.count(), EmulatedKernel.__call__

        def failing(kernel, *what):
            if next(launches) >= after:
                raise UserError("CUDA: cuCtxSynchronize failed: unspecified launch failure")
            return launch(kernel, *what)

        monkeypatch.setattr(EmulatedKernel, "__call__", failing)

    return fail


def test_alone_a_gpu_that_fails_ends_the_search(with_gpu, failing, seed):
    failing(after=1)
    lines = late("connect4", "6x7", 25, 3, seed)
    with pytest.raises(UserError, match="unspecified launch failure"), Session(device="gpu") as session:
        list(session.solve("connect4", lines))


def test_among_others_its_jobs_go_back(failing, seed, capsys):
    setup = {"kind": "solve", "game": "connect4", "board": [6, 7], "options": {}, "brief": True}
    kinds = on_gpu(KINDS, EmulatedGpu(2), among_others=True)
    runner = kinds["solve"](setup)
    runner.compile()
    runner.open(1)
    failing(after=0)
    runner.add(jobs_of(runner, "connect4", "6x7", late("connect4", "6x7", 25, 3, seed)))
    records = runner.advance()
    assert runner.failed
    assert sorted(records["job_id"].tolist()) == [100, 101, 102]
    assert not records["complete"].any()
    assert not runner.at_work
    assert "goes on without its GPU: CUDA: cuCtxSynchronize failed" in capsys.readouterr().err
    assert not isinstance(kinds["solve"](setup), GpuTwoPlayerRunner)


def test_a_kernel_that_cannot_be_made_leaves_a_rank_its_core(monkeypatch, capsys):
    def refused(*_, **__):
        raise UserError("nvcc cannot compile connect4_solver.cu: unsupported gpu architecture")

    monkeypatch.setattr(EmulatedGpu, "kernel", refused)
    setup = {"kind": "solve", "game": "connect4", "board": [6, 7], "options": {}}
    with pytest.raises(UserError, match="unsupported gpu architecture"):
        on_gpu(KINDS, EmulatedGpu(2))["solve"](setup).compile()
    worker = Worker(on_gpu(KINDS, EmulatedGpu(2), among_others=True))
    (ready,) = worker.handle(Message(MessageType.SETUP, 1, np.frombuffer(json.dumps(setup).encode(), np.uint8)))
    assert (ready.type, len(ready.payload)) == (MessageType.READY, 0)
    chance = Options("2584", layers=1, evaluation="rows").setup()
    (ready,) = Worker(on_gpu(KINDS, EmulatedGpu(2), among_others=True)).handle(
        Message(MessageType.SETUP, 1, np.frombuffer(json.dumps(chance).encode(), np.uint8))
    )
    assert (ready.type, len(ready.payload)) == (MessageType.READY, 0)
    assert "unsupported gpu architecture" in capsys.readouterr().err


def test_memory_that_does_not_hold_a_batch_is_said(monkeypatch):
    setup = {"kind": "solve", "game": "connect4", "board": [6, 7], "options": {}, "brief": True}
    runner = on_gpu(KINDS, EmulatedGpu(2))["solve"](setup)
    runner.compile()
    runner.open(1)
    monkeypatch.setattr(EmulatedGpu, "free", lambda gpu: 1000)
    runner.add(jobs_of(runner, "connect4", "6x7", late("connect4", "6x7", 25, 300, 1)))
    with pytest.raises(UserError, match="MiB of memory left"):
        runner.advance()
