"""The table of a scaling study, in the manner of MPI's benchmarks: lines with ``#``, then columns of numbers."""

import json
import math
import statistics

from ...core.errors import UserError
from .. import results
from .grid import series_of, work_of

_COLUMNS = (  # name, width, format
    *(("ranks", 5, "d"), ("workers", 8, "d"), ("time[s]", 12, ".6f")),
    *(("nodes/s", 13, ".0f"), ("speedup", 9, ".3f"), ("eff.time", 9, ".3f"), ("eff.nodes", 11, ".3f")),
    *(("balance", 8, ".3f"), ("comm[%]", 8, ".2f"), ("idle[%]", 8, ".2f"), ("overhead", 9, ".3f")),
)
_CLEARLY = 0.95  # of the time: most policies are the same on one rank, and differ by what else the machine does
_NEEDED = {
    "point": (
        *("game", "board", "depth", "exact", "algorithm", "evaluation", "ordering", "weak"),
        *("ranks", "policy", "load_factor", "prefetch", "table", "positions"),
    ),
    "result": ("seconds", "nodes", "boards_per_second", "workers", "scores", "load_balance", "time_share"),
}


def run(args, stage):
    """Print the table of files; return the exit status, 1 if scores differ."""
    if not stage.is_first:
        return 0
    rows = checked(row for row in results.read(args.files) if row["study"] == "scaling")
    if not rows:
        raise UserError(f"no row of study scaling in {', '.join(args.files)}")
    stage.write(table(rows))
    differences = disagreements(rows)
    for text in differences:
        stage.print_error(text)
    return 1 if differences else 0


def checked(rows):
    """Return a list of rows but those of runs that were interrupted; raises UserError if one lacks what is needed."""
    rows = [row for row in rows if row["result"].get("complete") is not False]
    for row in rows:
        lacking = [name for part, names in _NEEDED.items() for name in names if name not in row[part]]
        if lacking:
            raise UserError(f"a row of study scaling has no {', '.join(lacking)}")
        ranks, seconds = row["point"]["ranks"], row["result"]["seconds"]
        if not (isinstance(ranks, int) and ranks > 0 and isinstance(seconds, int | float) and 0 < seconds < math.inf):
            raise UserError(f"a row of study scaling tells {str(seconds)[:20]} seconds on {str(ranks)[:20]} ranks")
    return rows


def disagreements(rows):
    """Return a line for each work whose scores are not the same in all rows: by the rules of the house a mistake."""
    first, found = {}, {}
    for row in rows:
        work = work_of(row["point"])
        before = first.setdefault(work, row)
        if row["result"]["scores"] != before["result"]["scores"] and work not in found:
            found[work] = f"scores differ: {_scores(before)}, {_scores(row)}"
    return list(found.values())


def _scores(row):
    scores, point = row["result"]["scores"], row["point"]
    told = scores[0] if len(scores) == 1 else f"{len(scores)} positions"
    return f"{told} by {point['ranks']} ranks with {point['policy']}"


def table(rows):
    """Return the table of rows: a part for each series, a line of it for each number of ranks, medians of repeats."""
    curves = {}
    for row in rows:
        key = json.dumps(series_of(row["point"]), sort_keys=True)
        curves.setdefault(key, {}).setdefault(row["point"]["ranks"], []).append(row)
    curves = {key: dict(sorted(curve.items())) for key, curve in sorted(curves.items(), key=_order)}
    best = _fastest(curves.values())
    return "\n\n".join([_origin(rows), *(_part(curve, best) for curve in curves.values())])


def _order(item):
    point = next(iter(item[1].values()))[0]["point"]
    names = "game", "board", "position", "weak", "depth", "policy", "load_factor", "prefetch"
    return [(value is not None, str(type(value)), value) for value in map(point.get, names)]


def _origin(rows):
    """Return the lines that say what measured the rows, each distinct thing once."""
    every = [row["meta"] for row in rows]

    def distinct(tell):
        return "; ".join(dict.fromkeys(text for text in map(tell, every) if text))

    def places(meta):
        hosts = ", ".join(meta.get("hosts", {}))
        return f"{hosts} ({meta.get('cpu')}, {meta.get('cores')} cores)"

    return "\n".join(
        (
            f"# distsearch {distinct(_version)}, {distinct(lambda meta: meta.get('mpi'))}",
            f"# {distinct(places)}",
            f"# {distinct(lambda meta: meta.get('arguments') and 'distsearch ' + meta['arguments'])}",
        )
    )


def _version(meta):
    commit = meta.get("commit") or ""
    return f"{meta.get('version')} {commit[:10]}{'+' * commit.endswith('+')}".strip()


def _median(rows, value):
    return statistics.median(value(row["result"]) for row in rows)


def _time(result):
    return result["seconds"]


def _fastest(curves):
    """Return {work: (ranks, seconds, how) of what was fastest on the fewest ranks that the work was done on}."""
    best = {}
    for curve in curves:
        for ranks, rows in curve.items():
            point = rows[0]["point"]
            found = ranks, _median(rows, _time), _sharing_text(point)
            best[work_of(point)] = min(best.get(work_of(point), found), found)
    return best


def _part(curve, best):
    """Return the lines of one series; curve: number of ranks → rows."""
    base = next(iter(curve))
    rows = curve[base]
    point = rows[0]["point"]
    header = [f"# {_work_text(point)}", f"# {_sharing_text(point)}; {_repeats_text(curve)}", _base_text(point, base)]
    header += _tables_got(curve, point["table"])
    fewest, seconds, how = best[work_of(point)]
    if fewest != base or seconds < _CLEARLY * _median(rows, _time):
        plural = "s" * (fewest > 1)
        header.append(f"# the fastest here on {fewest} rank{plural}: {how}, {seconds:.4f} s")
    names = " ".join(f"{name:>{width}}" for name, width, _ in _COLUMNS)
    lines = [_line(_values(ranks, each, base, rows)) for ranks, each in curve.items()]
    return "\n".join([*header, f"#{names}", *lines])


def _work_text(point):
    what = point.get("position") or f"{_amount(point)} of file {point.get('file')}"
    limit = "to the end" if point["exact"] else f"depth {point['depth']}"
    if point["weak"] == "depth":
        limit = f"depth {point['from_depth']} and a ply for each doubling of the workers"
    if point["weak"] == "positions":
        limit += ", weak scaling"
    evaluation = None if point["exact"] else point["evaluation"]
    how = [point["algorithm"], evaluation, point["ordering"] and f"ordering {point['ordering']}"]
    return ", ".join([f"{point['game']} {point['board']}", what, limit, *filter(None, how)])


def _amount(point):
    if point["weak"] == "positions":
        return f"{point['per_worker']} positions a worker"
    return f"{point['positions']} positions"


def _sharing_text(point):
    factor = "" if point["load_factor"] is None else f" at load factor {point['load_factor']:g}"
    table = f", table {point['table']} MiB" if point["table"] else ""
    return f"policy {point['policy']}{factor}, prefetch {point['prefetch']}{table}"


def _tables_got(curve, asked):
    """Return a line where ranks had another table than asked for, which those of a host share if it has room; or []."""
    got = {}
    for ranks, rows in curve.items():
        for mib in sorted({row["result"].get("table_mib", asked) for row in rows} - {asked}):
            got.setdefault(mib, []).append(str(ranks))
    parts = [f"{mib} MiB on {', '.join(ranks)} rank{'s' * (ranks != ['1'])}" for mib, ranks in got.items()]
    return [f"# the table was smaller for want of shared memory: {'; '.join(parts)}"] if parts else []


def _repeats_text(curve):
    counts = sorted({len(rows) for rows in curve.values()})
    return f"medians of {' to '.join(map(str, dict.fromkeys((counts[0], counts[-1]))))} runs"


def _base_text(point, base):
    fewest = "" if base == 1 else ", the fewest there are"
    over = f"{base} rank{'s' * (base > 1)}{fewest}"
    weak = point["weak"]
    told = {None: "speedup and overhead are", "positions": "speedup, in positions a second, is"}.get(weak)
    told = told or "efficiency, in nodes a second, is"  # what a ply more multiplies the work by, nothing here tells
    return f"# {told} over {over}; efficiency divides by all ranks, the master among them"


def _values(ranks, rows, base, alone):
    """Return the columns of a line, None for what cannot be told; alone: rows of the base."""
    point, seconds, rate = rows[0]["point"], _median(rows, _time), _median(rows, _rate)
    scale = ranks / base
    more = {None: 1.0, "positions": point["positions"] / alone[0]["point"]["positions"]}.get(point["weak"])
    speedup = None if more is None or not seconds else more * _median(alone, _time) / seconds
    quicker = rate / _median(alone, _rate) if _median(alone, _rate) else None
    nodes = _median(alone, _nodes)
    return (
        ranks,
        int(_median(rows, lambda result: result["workers"])),
        seconds,
        rate,
        speedup,
        speedup and speedup / scale,
        quicker and quicker / scale,
        _median(rows, lambda result: result["load_balance"]),
        100 * _median(rows, lambda result: result["time_share"].get("communication", 0.0)),
        100 * _median(rows, lambda result: result["time_share"].get("idle", 0.0)),
        _median(rows, _nodes) / nodes if nodes and not point["weak"] else None,
    )


def _rate(result):
    return result["boards_per_second"]


def _nodes(result):
    return result["nodes"]


def _line(values):
    cells = (
        f"{'-':>{width}}" if value is None else f"{value:>{width}{form}}"
        for value, (_, width, form) in zip(values, _COLUMNS, strict=True)
    )
    return " " + " ".join(cells)
