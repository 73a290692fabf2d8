"""Studies on the ranks of one launch: parties of any size, one after another, and no rank left behind."""

import contextlib
import itertools
import json
import traceback

import pytest

from distsearch.api.progress import Silent
from distsearch.api.session import Session
from distsearch.cli.arguments import parse
from distsearch.core.errors import UserError
from distsearch.studies.rank_pool import Ranks, Stage
from distsearch.studies.scaling import sweep as scaling_sweep

from ..api.solving import late_lines

SMALL = {"game": "othello", "board": "4x4", "exact": True}
SCORE = -10  # of its start


def test_parties_of_every_size_search_one_after_another(comm, agree, rng):
    found = []
    with Ranks(comm, Session) as ranks:
        if ranks is not None:
            sizes = list(range(1, comm.Get_size() + 1)) * 2
            rng.shuffle(sizes)
            for size in sizes:
                with ranks.session(size, table=1) as session:
                    found.append((session.ranks, session.search(**SMALL).score))
            assert found == [(size, SCORE) for size in sizes]
            assert len(ranks.places) == ranks.size == comm.Get_size()
    agree((ranks is None) == (comm.Get_rank() > 0), ranks)


@pytest.mark.parametrize("wrong", [{"ranks": 0}, {"ranks": 1000}, {"table": 1 << 22}], ids=str)
def test_what_is_refused_ends_nothing(comm, agree, wrong):
    """A refusal is on the ranks of the party alone; the next party may have others."""
    refused = ""
    with Ranks(comm, Session) as ranks:
        if ranks is not None:
            size = comm.Get_size()
            try:
                with ranks.session(**{"ranks": size, "table": 1, **wrong}) as session:
                    refused = "no refusal"
                    session.search(**SMALL)
            except UserError:
                refused = "refused"
            with ranks.session(size, table=1) as session:
                assert session.search(**SMALL).score == SCORE
    agree(comm.Get_rank() > 0 or refused == "refused", refused)


def test_an_error_lets_the_others_go(comm, agree):
    failure = ""
    try:
        with Ranks(comm, Session) as ranks:
            if ranks is not None:
                with ranks.session(comm.Get_size(), table=1):
                    raise UserError("mine")
    except UserError as error:
        failure = str(error)
    agree(failure == ("" if comm.Get_rank() else "mine"), failure)


def test_launches_follow_one_another(comm, agree):
    scores = []
    for _, size in itertools.product(range(2), (1, comm.Get_size())):
        with Ranks(comm, Session) as ranks:
            if ranks is not None:
                with ranks.session(size, table=1) as session:
                    scores.append(session.search(**SMALL).score)
    agree(scores == ([] if comm.Get_rank() else [SCORE] * 4), scores)


@pytest.fixture
def sweep(comm, agree, monkeypatch):
    """``sweep(*arguments)``: run a scaling study on all ranks; returns (status, what it wrote, its complaints)."""
    monkeypatch.setattr(scaling_sweep, "_WARM", 0.01)
    monkeypatch.setattr(scaling_sweep, "SHORT", 0.0)  # tests' runs are: tests/cli has the warning

    def run(*arguments):
        argv = ["study", "scaling", *map(str, arguments)]
        said, complaints = [], []
        stage = Stage(comm, Quiet(), Silent(), said.append, complaints.append, Session, argv)
        failure, status = "", None
        try:
            status = scaling_sweep.run(parse(argv), stage)
        except UserError as error:
            status = str(error)
        except Exception:
            failure = traceback.format_exc()
        agree(not failure, failure)
        agree(comm.Get_rank() == 0 or (status, said, complaints) == (0, [], []), (status, said))
        return comm.bcast((status, said, complaints))

    return run


class Quiet(contextlib.nullcontext):
    """Interrupts that never come."""

    signal, exit_status = None, 0


def test_a_sweep_of_all_numbers_of_ranks(sweep, comm, agree):
    small = "othello", "startpos", "--board", "4x4", "--exact", "--repeats", 2, "--load-factor", "1,3", "--json"
    status, said, complaints = sweep(*small, "--table", 1)
    rows = [json.loads(text) for text in said]
    size = comm.Get_size()
    agree((status, complaints) == (0, []), (status, complaints))
    agree(len(rows) == 3 * 2 * size, len(rows))  # split, and pool at two load factors
    agree(sorted({row["result"]["ranks"] for row in rows}) == list(range(1, size + 1)))
    for row in rows:
        workers = max(1, row["point"]["ranks"] - 1)
        agree(row["result"]["scores"] == [SCORE], row)
        agree(row["result"]["workers"] == len(row["result"]["per_worker"]) == workers, row)
        agree(sum(row["meta"]["hosts"].values()) == row["point"]["ranks"], row)
        agree(row["result"]["complete"], row)
    order = [(row["point"]["policy"], row["point"]["ranks"]) for row in rows]
    agree(order != sorted(order), order)


def test_a_sweep_over_positions_weak_and_strong(sweep, comm, agree, rng, tmp_path):
    lines, scores = late_lines(rng, 60)
    path = comm.bcast(tmp_path / "lines")
    if comm.Get_rank() == 0:
        path.write_text("\n".join(lines))
    small = "connect4", "--positions", path, "--exact", "--repeats", 1, "--json", "--policy", "split", "--table", 1
    for weak in ([], ["--weak-scaling", "positions"]):
        status, said, complaints = sweep(*small, *weak)
        agree((status, complaints) == (0, []), (status, complaints))
        for row in map(json.loads, said):
            result = row["result"]
            wanted = 60 // max(1, comm.Get_size() - 1) * result["workers"] if weak else 60
            agree(result["positions"] == wanted, result["positions"])
            agree(result["scores"] == scores[:wanted], result["scores"])


def test_a_refusal_is_one_line_of_the_first_rank(sweep, comm, agree):
    status, said, _ = sweep("othello", "--ranks", 1000)
    agree((status, said) == (f"ranks 1000 is more than this launch has: {comm.Get_size()}", []), status)
    status, said, _ = sweep("othello", "startpos", "--board", "4x4", "--depth", 2, "--repeats", 1, "--table", 1)
    agree(status == 0 and "efficiency" in said[0], said)


def test_what_is_measured_is_what_a_search_tells(comm, agree, sweep):
    """A pool of plain alpha-beta visits the same nodes whatever the timing."""
    asked = "othello", "--depth", 6, "--ordering", "static", "--load-factor", 3, "--ranks", comm.Get_size()
    _, said, _ = sweep(*asked, "--repeats", 2, "--json")
    options = {"depth": 6, "ordering": "static", "load_factor": 3.0}
    found = None
    with Session(comm, table=0) as session:
        if session is not None:
            found = session.search("othello", json.loads(said[0])["point"]["position"], **options).to_dict()
    found = comm.bcast(found)
    names = "score", "move", "jobs", "tree_nodes", "ranks", "workers", "load_factor", "depth", "algorithm", "policy"
    for row in map(json.loads, said):
        result = row["result"]
        agree(result["nodes"] == found["nodes"], (result["nodes"], found["nodes"]))
        agree([result[name] for name in names] == [found[name] for name in names], result)
        agree(result["nodes"] > 100 and result["seconds"] > 0, result)
