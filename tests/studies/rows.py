"""Rows of scaling studies as tests make them up."""

POINT = {
    "game": "othello",
    "board": "4x4",
    "depth": 3,
    "exact": False,
    "algorithm": "alphabeta",
    "evaluation": "complex",
    "ordering": None,
    "min_probability": None,
    "ranks": 1,
    "policy": "split",
    "load_factor": None,
    "prefetch": 2,
    "table": 64,
    "weak": None,
    "position": "startpos",
    "positions": 1,
}
RESULT = {
    "seconds": 1.0,
    "nodes": 1000,
    "boards_per_second": 1000,
    "workers": 1,
    "scores": [3],
    "load_balance": 1.0,
    "time_share": {"busy": 0.9, "communication": 0.06, "idle": 0.04},
}


def row(seconds=1.0, nodes=1000, repeat=0, scores=(3,), **point):
    """Return a row: so many nodes in so many seconds, as it takes them at a point."""
    point = {**POINT, **point}
    measured = {"seconds": seconds, "nodes": nodes, "boards_per_second": round(nodes / seconds)}
    result = {**RESULT, **measured, "workers": max(1, point["ranks"] - 1), "scores": list(scores)}
    meta = {"version": "1", "commit": "abc", "mpi": "an MPI", "hosts": {"here": point["ranks"]}, "cpu": "a CPU"}
    return {"study": "scaling", "point": point, "repeat": repeat, "result": result, "meta": meta}


def columns(text):
    """Return the lines of numbers of a table, as [{name: number, or None for "-"}], one list a part."""
    parts = []
    for line in text.splitlines():
        if line.startswith("#ranks"):
            names = line[1:].split()
            parts.append([])
        elif line and not line.startswith("#"):
            values = [None if cell == "-" else float(cell) for cell in line.split()]
            parts[-1].append(dict(zip(names, values, strict=True)))
    return parts
