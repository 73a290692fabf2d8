"""How long a scaling study will take, before it is measured: from the rows there are, and from one rank's time.

How well a search scales is what the study is for, so there are two bounds: as if n workers were n times as fast as one,
and as if they were no faster. A policy that adds nodes, as ``pool`` does, may take longer than both.
"""

import json
import statistics

from ...api.facts import clock_time
from .grid import work_of, workers_of


def untimed(runs, rows):
    """Return {work: a GridRun of it} of those works of which no row tells what one worker takes."""
    known, found = _alone(rows), {}
    points = _measured(rows)
    for run in runs:
        work = work_of(run.point)
        if work not in known and _text(run.point) not in points:
            before = found.get(work)
            # on one rank all policies begin alike, but this one is the fastest
            if before is None or run.point["policy"] == "split" != before.point["policy"]:
                found[work] = run
    return found


def estimate(runs, rows, tried):
    """Return an estimate for the Runs that are still to be done: a dict of plain types.

    rows: of the study so far; tried: {work: (seconds of one worker, whether it was done by then)}; runs: how
    many these are; done: rows; seconds_ideal, seconds_without_speedup: of all runs if n workers are n times as fast as
    one, and if they are no faster; complete: False if a work took longer than it was tried for, so that both are too
    small.
    """
    alone, points = _alone(rows), _measured(rows)
    ideal = without = 0.0
    for run in runs:
        if _text(run.point) in points:
            seconds = statistics.fmean(points[_text(run.point)])
            ideal, without = ideal + seconds, without + seconds
            continue
        work = work_of(run.point)
        seconds = alone[work] if work in alone else tried[work][0]
        ideal, without = ideal + seconds / workers_of(run.point["ranks"]), without + seconds
    seconds = {"seconds_ideal": round(ideal, 3), "seconds_without_speedup": round(without, 3)}
    return {"runs": len(runs), "done": len(rows), **seconds, "complete": all(done for _, done in tried.values())}


def text(found):
    """Return an estimate as lines for people."""
    runs = f"{found['runs']} run{'s' * (found['runs'] != 1)} to do, {found['done']} done"
    if not found["runs"]:
        return runs
    about = "about" if found["complete"] else "more than"
    ideal, without = clock_time(found["seconds_ideal"]), clock_time(found["seconds_without_speedup"])
    return (
        f"{runs}\n{about} {ideal} with ideal speedup, {about} {without} with none; "
        "the policy pool may take longer, for it searches more nodes"
    )


def _text(point):
    return json.dumps(point, sort_keys=True)


def _measured(rows):
    """Return {point: seconds of its runs}."""
    found = {}
    for row in rows:
        found.setdefault(_text(row["point"]), []).append(row["result"]["seconds"])
    return found


def _alone(rows):
    """Return {work: seconds of one worker}, by the policy that was fastest."""
    found = {}
    for row in rows:
        if workers_of(row["point"]["ranks"]) == 1:
            work, seconds = work_of(row["point"]), row["result"]["seconds"]
            found[work] = min(seconds, found.get(work, seconds))
    return found
