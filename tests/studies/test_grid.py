"""Which runs a scaling study has."""

import pytest

from distsearch.cli.arguments import parse
from distsearch.core.errors import UserError
from distsearch.studies.scaling import grid


def runs(*arguments, size=5):
    args = parse(["study", "scaling", *map(str, arguments)])
    return grid.runs(args, size)


def values(found, name):
    return sorted({run.point[name] for run in found}, key=str)


@pytest.mark.parametrize(
    ("size", "ranks"),
    [
        (1, [1]),
        (5, [1, 2, 3, 4, 5]),
        (8, [*range(1, 9)]),
        (9, [1, 2, 4, 8, 9]),
        (32, [1, 2, 4, 8, 16, 32]),
        (48, [1, 2, 4, 8, 16, 32, 48]),
    ],
)
def test_numbers_of_ranks_where_none_are_named(size, ranks):
    assert grid.default_ranks(size) == ranks


def test_the_grid_is_whole_and_each_run_once():
    asked = "--ranks 1,2,4 --policy split,pool --load-factor 1,2,4 --prefetch 1,2 --board 4x4,6x6 --depth 3 --repeats 2"
    found = runs("othello", *asked.split())
    assert len(found) == 3 * 2 * 2 * (1 + 3) * 2  # a load factor is for pool alone
    assert len({repr((run.point, run.repeat)) for run in found}) == len(found)
    assert values(found, "load_factor") == [1.0, 2.0, 4.0, None]
    assert {run.point["load_factor"] for run in found if run.point["policy"] == "split"} == {None}
    assert all(run.options.load_factor == run.point["load_factor"] for run in found)
    assert all(run.options.prefetch == run.point["prefetch"] for run in found)


@pytest.mark.parametrize("game", ["othello", "connect4", "2048", "2584"])
def test_every_game_has_a_work_of_its_own(game):
    found = runs(game)
    assert values(found, "ranks") == [1, 2, 3, 4, 5]
    assert values(found, "policy") == (["pool"] if game.startswith("2") else ["pool", "split"])
    assert len({run.point["position"] for run in found}) == 1


def test_points_are_flat_and_of_json():
    for run in runs("othello", "--depth", 3) + runs("2048", "--layers", 1):
        for value in run.point.values():
            assert value is None or isinstance(value, str | int | float | bool)


def test_weak_scaling_by_depth_adds_a_ply_for_each_doubling():
    found = runs("othello", "--depth", 3, "--weak-scaling", "depth", "--policy", "split", size=9)
    depths = {run.point["ranks"]: run.point["depth"] for run in found}
    assert depths == {1: 3, 2: 3, 4: 4, 8: 5, 9: 6}
    assert all(run.options.depth == run.point["depth"] for run in found)
    assert len({repr(grid.series_of(run.point)) for run in found}) == 1


def test_weak_scaling_by_positions_gives_each_worker_as_many(tmp_path):
    (tmp_path / "lines").write_text("4\n44\n444\n4444\n3\n33\n333\n3333\n")
    asked = "connect4", "--positions", tmp_path / "lines", "--depth", 4, "--policy", "split"
    found = runs(*asked, "--weak-scaling", "positions", size=4)
    assert {run.point["ranks"]: len(run.positions) for run in found} == {1: 2, 2: 2, 3: 4, 4: 6}
    assert len({repr(grid.series_of(run.point)) for run in found}) == 1
    strong = runs(*asked)
    assert values(strong, "positions") == [8]
    assert values(strong, "file") == values(found, "file")


def test_calls_of_one_number_of_ranks_each_can_give_each_worker_as_many(tmp_path):
    (tmp_path / "lines").write_text("4\n44\n444\n4444\n3\n33\n333\n3333\n")
    shared = "--policy", "split", "--weak-scaling", "positions"
    asked = "connect4", "--positions", tmp_path / "lines", "--depth", 4, *shared
    found = [run for ranks in (1, 2, 4) for run in runs(*asked, "--per-worker", 2, "--ranks", ranks)]
    assert {run.point["ranks"]: len(run.positions) for run in found} == {1: 2, 2: 2, 4: 6}
    assert len({repr(grid.series_of(run.point)) for run in found}) == 1
    with pytest.raises(UserError, match="too few for 4 workers"):
        runs(*asked, "--per-worker", 3)


def test_the_same_file_under_another_name_is_the_same_work(tmp_path):
    for name in "ab":
        (tmp_path / name).write_text("4453\n")
    a, b = (runs("connect4", "--positions", tmp_path / name, "--depth", 2)[0].point for name in "ab")
    assert a == b


def test_a_seed_deals_what_chance_puts_down():
    apply_initial_chance = [
        runs("2048", "startpos", "--layers", 1, "--seed", seed)[0].point["position"] for seed in (1, 1, 2)
    ]
    assert apply_initial_chance[0] == apply_initial_chance[1] != apply_initial_chance[2]


@pytest.mark.parametrize(
    ("arguments", "names"),
    [
        (["othello", "--ranks", "1,6"], "ranks 6"),
        (["othello", "--ranks", "0"], "ranks 0"),
        (["othello", "--ranks", "1,,2"], "ranks"),
        (["othello", "--ranks", "two"], "ranks two"),
        (["othello", "--policy", "best"], "policy 'best'"),
        (["othello", "--policy", "split", "--load-factor", "2"], "load-factor"),
        (["othello", "--load-factor", "0"], "load-factor 0"),
        (["othello", "--prefetch", "0"], "prefetch 0"),
        (["othello", "--board", "8x99"], "8x99"),
        (["othello", "--depth", "0"], "depth 0"),
        (["othello", "--depth", "3", "--exact"], "exact"),
        (["othello", "--repeats", "0"], "repeats 0"),
        (["othello", "--weak-scaling", "positions"], "--positions"),
        (["othello", "--weak-scaling", "depth", "--exact"], "weak-scaling depth"),
        (["2048", "--weak-scaling", "depth"], "weak-scaling depth"),
        (["othello", "startpos", "--positions", "lines"], "exclude"),
        (["othello", "--positions", "none"], "none"),
        (["othello", "--positions", "lines"], "line 1"),
        (["connect4", "--positions", "empty"], "no position"),
        (["connect4", "--positions", "lines", "--weak-scaling", "positions"], "fewer"),
        (["connect4", "--positions", "lines", "--per-worker", "1"], "per-worker goes with"),
        (["connect4", "--positions", "lines", "--weak-scaling", "positions", "--per-worker", "0"], "per-worker 0"),
        (["othello", "xyz"], "position"),
        (["2048", "--policy", "brothers"], "brothers"),
        (["othello", "--ordering", "static", "--policy", "split"], "split"),
        (["chess"], "chess"),
    ],
)
def test_what_makes_no_sense_is_refused(arguments, names, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "lines").write_text("4453\n")
    (tmp_path / "empty").touch()
    with pytest.raises(UserError, match=names):
        runs(*arguments)
