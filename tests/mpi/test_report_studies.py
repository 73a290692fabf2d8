"""Studies of reports on the ranks of a launch: every way has the same scores, and nobody is left behind."""

from distsearch.studies import brothers, othellox

from ..studies.reports import made, small, tables


def test_brothers_on_several_ranks(comm, agree, monkeypatch):
    all_boards = brothers.boards
    monkeypatch.setattr(brothers, "boards", lambda count, seed: all_boards(min(count, 10), seed))
    chosen = small(brothers.STUDY, lambda point: point["depth"] == 4)
    status, text, complaints = made(chosen, comm)
    failure = status or complaints
    if comm.Get_rank() == 0 and not failure:
        boards = {cells[1]: float(cells[3]) for cells in tables(text)["The maximum depth"][1:]}
        pruned = boards["Brothers"] <= boards["Par+AB"] <= boards["Par+Base"] and boards["AB"] < boards["Base"]
        failure = "" if pruned and boards["Base"] == boards["Par+Base"] else boards
    agree(not failure, failure)


def test_othellox_on_several_ranks(comm, agree, tmp_path, monkeypatch):
    """The parallel evaluation among ranks, and the same from the file."""
    monkeypatch.setattr(othellox, "_SPREAD_DEPTHS", (3, 3))
    chosen = small(othellox.STUDY, lambda point: point["part"] == "evaluation")
    output = tmp_path if comm.Get_rank() == 0 else None
    for _ in range(2):
        status, text, complaints = made(chosen, comm, output)
        failure = status or complaints
        if comm.Get_rank() == 0 and not failure:
            rows = tables(text)["The parallel evaluation of one board at a time, 8x8"][1:]
            kept = len((tmp_path / "othellox.jsonl").read_text().splitlines())
            expected = list(range(1, min(comm.Get_size(), 5) + 1))
            failure = "" if [int(cells[0]) for cells in rows] == expected and kept == len(expected) else text
        agree(not failure, failure)
