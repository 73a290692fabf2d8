"""Studies of reports on the ranks of a launch: every way has the same scores, and no rank is left behind."""

from distsearch.studies.reports import connect4, haskell2048, othellox, td2584

from ..studies.reports import made, small, tables


def test_brothers_on_several_ranks(comm, agree, monkeypatch):
    sample = haskell2048.sample_positions
    monkeypatch.setattr(haskell2048, "sample_positions", lambda count, seed: sample(min(count, 10), seed))
    chosen = small(haskell2048.STUDY, lambda point: point.get("depth") == 4)
    status, text, complaints = made(chosen, comm)
    failure = status or complaints
    if comm.Get_rank() == 0 and not failure:
        nodes = {cells[1]: float(cells[3]) for cells in tables(text)["The maximum depth"][1:]}
        pruned = nodes["Brothers"] <= nodes["Par+AB"] <= nodes["Par+Base"] and nodes["AB"] < nodes["Base"]
        failure = "" if pruned and nodes["Base"] == nodes["Par+Base"] else nodes
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
            expected = [(each, str(n)) for each in ("static", "complex") for n in range(1, min(comm.Get_size(), 5) + 1)]
            failure = "" if [tuple(cells[:2]) for cells in rows] == expected and kept == len(expected) else text
        agree(not failure, failure)


def test_2584_on_several_ranks(comm, agree, monkeypatch):
    """All ranks learn, and share a board's tree; values are those of one."""
    ranks = comm.Get_size()
    monkeypatch.setitem(td2584._LEARNT, 0, (100, 100))

    def wanted(point):
        tree = point["part"] == "tree" and (point["layers"], point["class"]) == (2, "late") and point["ranks"] <= ranks
        return tree or point["part"] == "curve" and point["layers"] == 0

    status, text, complaints = made(small(td2584.STUDY, wanted), comm)
    right = (status, complaints) == (0, [])
    if comm.Get_rank() == 0:
        found = tables(text)
        (learnt,) = found["Learning with 0 to 3 layers"][1:]
        right = right and learnt[1:3] == ["CPU", "100"] and learnt[-1] == str(ranks)
        most = max(n for n in (1, 2, 3, 5) if n <= ranks)
        right = right and found["CPU tree-parallel search"][-1][1:3] == ["late", str(most)]
    agree(right, (text, complaints))


def test_connect4_on_several_ranks(comm, agree, monkeypatch):
    """All ranks have the scores of one, or the study complains."""
    monkeypatch.setitem(connect4._COUNTS, "L3_R1", (10, 10))
    chosen = small(connect4.STUDY, lambda point: point["class"] == "L3_R1" and not point["way"].startswith("GPU"))
    status, text, complaints = made(chosen, comm)
    right = (status, complaints) == (0, [])
    if comm.Get_rank() == 0:
        ways = [cells[0] for cells in tables(text)["Connect 4, 10 positions, class L3_R1 (end, easy)"][1:]]
        shared = [f"{n} ranks" for n in (3, 5) if n <= comm.Get_size()]
        right = right and ways == [
            "sequential",
            *(f"negamax as listed{of}" for of in ("", ", S = 1", ", S = 4", ", S = 4, ending at wins")),
            *shared,
        ]
    agree(right, (text, complaints))
