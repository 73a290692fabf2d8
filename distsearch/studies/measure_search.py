"""One search, or one file of positions, measured: what it found and what it took, as ``search --json`` tells it."""

from ..api.metrics import summary
from ..api.solve import Answers, InMemoryPositions, StreamSolver

_FOUND = "score", "unit", "move", "depth", "proved"  # of one position
_COUNTS = "nodes", "ordering_nodes", "jobs", "tree_nodes", "table_hits", "table_stores", "table_replacements"  # sums
_SUMS = "seconds", "cpu_seconds", "startup_seconds", "master_seconds"
_TIMERS = "wall", "busy", "communication", "idle", "cpu", "gpu", "jobs", "messages", "bytes"


def measure(session, options, positions):
    """Have the Positions of a list searched under checked Options; return a row's ``result``, of plain types.

    One position is searched as ``search`` does it, several as ``solve`` does. Figures are those of ``search --json``;
    seconds are wall time from when all workers were ready. ``scores`` are those of all positions in their order, None
    for what was not finished; ``score``, ``unit``, ``move``, ``depth`` and ``proved`` are of a single one. Not
    ``complete``: an interrupt has ended it.
    """
    searcher = session.searcher(options)
    if len(positions) == 1 or searcher.deepening:
        found = [outcome for outcome in searcher.search(positions) if outcome is not None]
        took = {name: sum(getattr(outcome, name) for outcome in found) for name in _SUMS}
        workers = _added([outcome.per_worker for outcome in found])
    else:
        found, took, workers = _solved(session, searcher, positions)
    complete = len(found) == len(positions) and all(outcome.complete for outcome in found)
    result = {
        "ranks": session.ranks,
        "workers": session.cluster.workers,
        "complete": complete,
        "positions": len(positions),
        **{name: round(seconds, 6) for name, seconds in took.items()},
        **{name: sum(getattr(outcome, name) for outcome in found) for name in _COUNTS},
        "scores": [outcome.score if outcome.complete else None for outcome in found],
    }
    result["boards_per_second"] = round(result["nodes"] / took["seconds"]) if took["seconds"] else 0
    if len(positions) == len(found) == 1:
        result.update((name, getattr(found[0], name)) for name in _FOUND)
    result["algorithm"], result["policy"] = options.algorithm, options.policy
    result["load_factor"] = options.wanted_subtrees(session.cluster.workers) / session.cluster.workers
    return {**result, **summary(workers), "per_worker": workers}


def _solved(session, searcher, positions):
    """Return (Outcomes, seconds by name, per-worker times) of many positions that are a stream."""
    words = searcher.game.words(searcher.rules)
    solving = StreamSolver(session, searcher, InMemoryPositions.of(positions, words))
    answers = Answers.of(searcher, solving)
    found = [outcome for part in solving for outcome in answers.outcomes(part)]
    took = solving.taken()
    seconds = {name: getattr(took, name) for name in _SUMS if name != "cpu_seconds"}
    return found, {**seconds, "cpu_seconds": sum(outcome.cpu_seconds for outcome in found)}, took.workers


def _added(runs):
    """Return the sum of several runs' per-worker times."""
    workers = {}
    for run in runs:
        for each in run:
            none = {"rank": each["rank"], **dict.fromkeys((*_TIMERS, "table_full"), 0)}
            before = workers.setdefault(each["rank"], none)
            before.update((name, round(before[name] + each[name], 6)) for name in _TIMERS)
            before["table_full"] = max(before["table_full"], each["table_full"])
    return list(workers.values())
