"""What all studies of reports share: what is measured, kept, left out and shown."""

import importlib.util
import json
from argparse import Namespace
from types import SimpleNamespace

import pytest

from distsearch.api.progress import Silent
from distsearch.api.session import Session
from distsearch.core.errors import UserError
from distsearch.studies.rank_pool import Stage
from distsearch.studies.reports import report
from distsearch.studies.reports.directions import larger
from distsearch.studies.reports.study import DIRECTIONS, Exhibit, MeasuredRows, Measurement, Plan, Study, StudySize
from distsearch.studies.reports.tables import Figure, Table

ROWS = [
    {"point": {"ranks": ranks, "way": way}, "result": {"seconds": seconds, "time_share": {"idle": 0.5}}}
    for ranks, way, seconds in ((1, "a", 4.0), (1, "a", 2.0), (1, "a", 9.0), (2, "a", 3.0), (2, "b", 1.0))
]


class Studied:
    """A study of squares, which notes what it measured; the last one takes ranks or a GPU that are not here."""

    def __init__(self, count=3, **last):
        self.measured, self.last, self.count, self.cubed = [], last, count, False
        self.interrupts = Interrupts()
        self.told, self.complained = [], []

    def measurements(self, study_size):
        def body(number):
            self.measured.append(number)
            return {"square": number * number, "seed": study_size.seed}

        found = [Measurement({"number": i}, lambda bench, i=i: body(i)) for i in range(self.count)]
        return [*found, Measurement({"number": 99}, lambda bench: body(99), **self.last)] if self.last else found

    def sections(self, found, study_size):
        rows = [(number, found.median("square", number=number)) for number in found.points("number")]
        return [Table("Squares", ("number", "square"), rows), Table("Nothing", ("number",), [])]

    def cubes(self, study_size):
        return [
            Measurement({"cubed": i}, lambda bench, i=i: self.measured.append(-i) or {"cube": i**3}) for i in (1, 2)
        ]

    def sections_of_cubes(self, found, study_size):
        series = [(number, found.median("cube", cubed=number)) for number in found.points("cubed")]
        return [Figure("Cubes", "number", "cube", {"cubes": series})]

    def grow(self, found):
        return [larger("Fig 2", "cubes grow", *(found.values("cube", cubed=i) for i in (2, 1)))]

    def complaints(self, found):
        return ["two of them"] if found.median("square", number=2) == 4 else []

    def run(self, output=None, full=False, complaints=False, **asked):
        more = [self.complaints] if complaints else []
        squares = Exhibit("squares", "Fig 1", "squares", (Plan(self.measurements, (2, 9)),), self.sections)
        cubes = Exhibit(
            "cubes", "", "cubes", (Plan(self.cubes, (1, 3)),), self.sections_of_cubes, DIRECTIONS, self.grow
        )
        study = Study("squares", "A report on squares", (squares, cubes)[: 2 if self.cubed else 1], *more)
        args = Namespace(
            **{"full": full, "repeats": None, "seed": 7, "output": output, "only": None, "list": False, **asked}
        )
        stage = Stage(
            None, self.interrupts, Silent(), self.told.append, self.complained.append, Session, ["study", "x"]
        )
        return report.run(study, args, stage)


class Interrupts:
    """A signal that comes after so many looks at it."""

    def __init__(self, looks=None):
        self.looks, self.exit_status = looks, 0

    def __enter__(self):
        return self

    def __exit__(self, *_):
        pass

    @property
    def signal(self):
        if self.looks is None:
            return None
        self.looks -= 1
        if self.looks >= 0:
            return None
        self.exit_status = 143
        return 15


def test_tables_come_on_stdout_and_nothing_is_kept(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    studied = Studied()
    assert studied.run() == 0
    assert studied.told[0].split("\n\n")[0] == "# A report on squares"
    assert (
        "# Squares\n# $ distsearch study squares --only squares --seed 7\nnumber  square\n0            0\n"
        in studied.told[0]
    )
    assert "Nothing" not in studied.told[0]
    assert list(tmp_path.iterdir()) == []


def test_what_was_measured_is_not_measured_again(tmp_path):
    folder = tmp_path / "a" / "b"
    assert Studied(2).run(folder) == 0
    again = Studied(4)
    assert again.run(folder) == 0
    assert again.measured == [2, 3]
    rows = [json.loads(line) for line in (folder / "squares.jsonl").read_text().splitlines()]
    assert [row["result"]["square"] for row in rows] == [0, 1, 4, 9]
    assert rows[0]["meta"]["arguments"] == "study x"
    assert rows[0]["meta"]["seed"] == 7
    fewer = Studied(1)
    assert fewer.run(folder) == 0
    assert fewer.measured == []
    assert "1       1" not in fewer.told[0]
    assert "| 0 | 0 |" in (folder / "squares.md").read_text()


def test_an_interrupt_keeps_what_is_whole(tmp_path):
    studied = Studied(5)
    studied.interrupts = Interrupts(looks=5)  # two a measurement: the third is cut short
    assert studied.run(tmp_path) == 143
    assert studied.measured == [0, 1, 2]
    assert len((tmp_path / "squares.jsonl").read_text().splitlines()) == 2
    rest = Studied(5)
    assert rest.run(tmp_path) == 0
    assert rest.measured == [2, 3, 4]


@pytest.mark.parametrize(("last", "why"), [({"ranks": 8}, "1 rank: what takes 8"), ({"gpus": 1}, "a GPU")], ids=str)
def test_what_cannot_be_had_here_is_left_out_with_a_note(last, why, tmp_path, monkeypatch):
    monkeypatch.setattr(report, "_gpus", lambda: 0)
    studied = Studied(1, **last)
    assert studied.run(tmp_path) == 0
    assert studied.measured == [0]
    assert why in studied.told[0]
    assert why in (tmp_path / "squares.md").read_text()


def test_what_another_launch_measured_stays_in_the_tables(tmp_path, monkeypatch):
    monkeypatch.setattr(report, "_gpus", lambda: 1)
    assert Studied(1, gpus=1).run(tmp_path) == 0
    monkeypatch.setattr(report, "_gpus", lambda: 0)
    again = Studied(2, gpus=1)
    assert again.run(tmp_path) == 0
    assert again.measured == [1]
    for text in (again.told[0], (tmp_path / "squares.md").read_text()):
        assert "9,801" in text
        assert "left out" not in text


def test_a_gpu_is_used_where_there_is_one(monkeypatch):
    monkeypatch.setattr(report, "_gpus", lambda: 1)
    studied = Studied(1, gpus=1)
    assert studied.run() == 0
    assert studied.measured == [0, 99]
    assert "left out" not in studied.told[0]


def test_what_is_wrong_is_told_and_fails():
    studied = Studied()
    assert studied.run(complaints=True) == 1
    told, wrong = studied.complained
    assert told == "squares: measurements to make: 3; on two cores they take about 2:00"
    assert wrong == "squares: two of them"
    assert studied.told


def test_some_exhibits_alone(tmp_path):
    studied = Studied(2)
    studied.cubed = True
    assert studied.run(tmp_path, only=["cubes"]) == 0
    assert studied.measured == [-1, -2]
    assert "Squares" not in studied.told[0]
    assert "# $ distsearch study squares --only cubes --seed 7" in studied.told[0]
    assert studied.run(tmp_path) == 0
    assert studied.measured == [-1, -2, 0, 1]  # what is known already is not measured again
    assert studied.run(tmp_path, only=["cubes"]) == 0
    assert "Squares" not in studied.told[-1]
    assert "### Squares" in (tmp_path / "squares.md").read_text()  # the folder keeps what it has
    with pytest.raises(UserError, match="squares has no exhibit fig9, but squares, cubes"):
        studied.run(only=["fig9"])


def test_a_list_of_exhibits_measures_nothing(tmp_path):
    studied = Studied(2)
    studied.cubed = True
    assert studied.run(tmp_path / "none", list=True) == 0
    assert studied.measured == []
    assert not (tmp_path / "none").exists()
    rows = [line.split("  ") for line in studied.told[0].splitlines() if line.startswith(("squares", "cubes"))]
    assert [[cell.strip() for cell in row if cell.strip()] for row in rows] == [
        ["squares", "Fig 1", "squares", "no value survives", "2:00"],
        ["cubes", "this study's own", "cubes", "directions", "1:00"],
    ]


def test_the_time_is_told_beforehand(tmp_path):
    """Two minutes for all squares, of which half are known the second time; and one for cubes."""
    assert Studied(2).run(tmp_path) == 0
    studied = Studied(4)
    studied.cubed = True
    assert studied.run(tmp_path) == 0
    assert studied.complained == ["squares: measurements to make: 4; on two cores they take about 2:00"]
    again = Studied(4)
    again.cubed = True
    assert again.run(tmp_path) == 0
    assert again.complained == []


def test_every_exhibit_is_written_in_each_format(tmp_path):
    studied = Studied(2)
    studied.cubed = True
    assert studied.run(tmp_path) == 0
    written = {path.name for path in tmp_path.iterdir()}
    names = "squares-squares-1", "squares-cubes", "squares-directions"  # squares-squares-2 has nothing
    assert {f"{name}.{ending}" for name in names for ending in ("csv", "tex")} <= written
    assert (tmp_path / "squares-squares-1.csv").read_text() == "number,square\n0,0\n1,1\n"
    assert r"\label{tab:squares-cubes}" in (tmp_path / "squares-cubes.tex").read_text()
    text = (tmp_path / "squares.md").read_text()
    assert "### Squares\n\nIn the report: Fig 1; of theirs: no value survives." in text
    assert "| Fig 2 | cubes grow | 8 and 1, once each | held |" in text
    if importlib.util.find_spec("matplotlib"):
        assert {"squares-cubes.png", "squares-cubes.svg"} <= written


def test_a_folder_that_cannot_be_made(tmp_path):
    (tmp_path / "file").touch()
    with pytest.raises(UserError, match="cannot make the folder"):
        Studied().run(tmp_path / "file" / "below")


def test_rows_by_their_points():
    found = MeasuredRows(ROWS)
    assert found.points("ranks") == [1, 2]
    assert found.points("way", ranks=2) == ["a", "b"]
    assert found.points("depth") == []
    assert found.median("seconds", ranks=1) == 4.0
    assert found.median("seconds", ranks=3) is None
    assert found.median("time_share.idle", ranks=1) == 0.5
    assert found.median("time_share.busy.x", ranks=1) is None
    assert found.spread(1, "seconds", ranks=1) == [(1, 4.0, 2.0, 9.0)]
    assert found.spread(1, "seconds", ranks=5) == []


def test_study_size_says_what_to_take():
    laptop, cluster = StudySize(ranks=5), StudySize(full=True, ranks=64, seed=3)
    assert (laptop.choose(1, 2), cluster.choose(1, 2)) == (1, 2)
    assert laptop.command("x") == "mpirun -n 5 distsearch study x --seed 1"
    assert cluster.command("x") == "mpirun -n 64 distsearch study x --full --seed 3"
    assert StudySize(repeats=2).command("x") == "distsearch study x --repeats 2 --seed 1"
    assert StudySize().command("x") == "distsearch study x --seed 1"


def test_a_bench_searches_and_calls(monkeypatch):
    stage = Stage(None, SimpleNamespace(signal=None), Silent(), print, print, Session, [])
    with stage.ranks() as ranks:
        bench = report.Bench(ranks, stage.interrupts, stage.progress)
        found = bench.search(["startpos"], table=0, game="othello", board="4x4", exact=True, ordering="static")
        assert (found["score"], found["ranks"], found["complete"]) == (-10, 1, True)
        assert bench.call(_called, number=4) == (None, 4, False)


def _called(comm, number, interrupted=None):
    return comm, number, interrupted()
