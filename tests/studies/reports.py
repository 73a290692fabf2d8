"""Studies of reports at a size for tests."""

from argparse import Namespace

from distsearch.api.progress import Silent
from distsearch.api.session import Session
from distsearch.studies.rank_pool import Stage
from distsearch.studies.reports import report


def small(study, wanted):
    """Return a study of those of its measurements whose points are wanted, each once."""

    def chosen(plan):
        def measurements(study_size):
            return [each for each in plan.measurements(study_size) if each.repeat == 0 and wanted(each.point)]

        return plan._replace(measurements=measurements)

    plans = {plan: chosen(plan) for plan in study.plans}
    chosen_ones = [each._replace(plans=tuple(plans[plan] for plan in each.plans)) for each in study.content]
    return study._replace(content=tuple(chosen_ones))


def made(study, comm=None, output=None):
    """Make a study on the ranks of ``comm``; return (status, text, complaints), the last two empty but on rank 0."""
    told, complained = [], []
    stage = Stage(comm, _Never(), Silent(), told.append, complained.append, Session, ["study", study.name])
    args = Namespace(full=False, repeats=None, seed=5, output=output, only=None, list=False)
    status = report.run(study, args, stage)
    return status, "".join(told), [line for line in complained if "measurements to make" not in line]


class _Never:
    """No signal comes."""

    signal, exit_status = None, 0

    def __enter__(self):
        return self

    def __exit__(self, *_):
        pass


def tables(text):
    """Return {heading: rows of cells} of the tables of a study's text, in which columns are two blanks apart."""
    found = {}
    for part in text.split("\n\n"):
        lines = part.splitlines()
        rows = [
            [cell.strip() for cell in line.split("  ") if cell.strip()] for line in lines if not line.startswith("#")
        ]
        found[lines[0].removeprefix("# ")] = rows
    return found


def row(point, repeat=0, **result):
    """A row as ``results`` keeps them, of a study that does not matter."""
    return {"study": "x", "point": point, "repeat": repeat, "result": result, "meta": {}}
