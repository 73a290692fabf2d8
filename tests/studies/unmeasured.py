"""Rows of a study that were never measured, but could have been."""


def row(ranks, seconds, repeat=0, study="scaling", **asked):
    """Return a row; ``nodes`` and other figures of the result go with the options, in upper case."""
    result = {name.lower(): asked.pop(name) for name in list(asked) if name.isupper()}
    workers = max(1, ranks - 1)
    return {
        "study": study,
        "point": {"game": "othello", **asked, "ranks": ranks},
        "repeat": repeat,
        "result": {"ranks": ranks, "workers": workers, "seconds": seconds, **result},
        "meta": {"cpu": "some CPU", "mpi": "some MPI"},
    }
