"""How long a scaling study will take, before it is measured: from the rows there are, and from one rank's time.

How well a search scales is what the study is for, so there are two bounds: as if n workers were n times as fast as one,
and as if they were no faster. A policy that adds boards, as ``pool`` does, may take longer than both.
"""

import json
import statistics

from .countdown import clock_time
from .grid import work_of, workers_of


def unknown(runs, rows):
    """Return {work: a Run of it} of those works of which no row tells what one worker takes."""
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


def forecast(runs, rows, tried):
    """Return {runs, done, least, most, whole} of the Runs that are still to be done, of plain types.

    rows: of the study so far; tried: {work: (seconds of one worker, whether it was done by then)}; least, most: seconds
    of all runs if workers scale perfectly, and if they win nothing; whole: False if a work took longer than it was
    tried for, so that all of them take longer than told.
    """
    alone, points = _alone(rows), _measured(rows)
    least = most = 0.0
    for run in runs:
        if _text(run.point) in points:
            seconds = statistics.fmean(points[_text(run.point)])
            least, most = least + seconds, most + seconds
            continue
        work = work_of(run.point)
        seconds = alone[work] if work in alone else tried[work][0]
        least, most = least + seconds / workers_of(run.point["ranks"]), most + seconds
    whole = all(done for _, done in tried.values())
    return {"runs": len(runs), "done": len(rows), "least": round(least, 3), "most": round(most, 3), "whole": whole}


def text(found):
    """Return a forecast as lines for people."""
    runs = f"{found['runs']} run{'s' * (found['runs'] != 1)} to do, {found['done']} done"
    if not found["runs"]:
        return runs
    about = "about" if found["whole"] else "more than"
    return (
        f"{runs}\n{about} {clock_time(found['least'])} if workers share the work perfectly, {about} "
        f"{clock_time(found['most'])} if they win nothing; pool may take longer, for it adds boards"
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
