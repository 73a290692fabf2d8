"""Coverage-guided fuzzing of the parsers, each in a process of its own: python -m tests.fuzz [TARGET ...] --seconds N.

Prints a line for each target; the status is 1 if something was found, and 77 where atheris is not installed.
"""

import argparse
import importlib.util
import json
import os
import re
import sys
import tempfile
import time
import traceback
from pathlib import Path
from typing import NamedTuple

from .target import Target, is_accepted, kept_inputs
from .worker import FOUND, fuzz

_SKIPPED = 77
_PROGRESS = re.compile(r"^#(\d+)\t.*?cov: (\d+) ft: (\d+)", re.MULTILINE)
_ENDED = re.compile(r"^stat::number_of_executed_units: (\d+)", re.MULTILINE)


class Run(NamedTuple):
    """What came of a target: inputs tried, edges and features covered, seconds, and texts of what was found."""

    name: str
    runs: int
    seconds: float
    edges: int
    features: int
    findings: list[str]

    def __str__(self):
        outcome = f"{len(self.findings)} found" if self.findings else "nothing found"
        numbers = f"{self.runs:>10,} {self.seconds:>8.1f} {self.edges:>6} {self.features:>8}"
        return "\n".join([f"{self.name:<26} {numbers}  {outcome}", *self.findings])


def main(argv: list[str] | None = None) -> int:
    """Fuzz the targets of a command line; return the exit status."""
    args = _parsed(argv)
    if importlib.util.find_spec("atheris") is None:
        print("skipped, for atheris is not installed: pip install '.[fuzz]'")
        return _SKIPPED
    from .targets import TARGETS

    names = args.targets or list(TARGETS)
    if unknown := [name for name in names if name not in TARGETS]:
        print(f"no target {', '.join(unknown)}; there is {', '.join(TARGETS)}", file=sys.stderr)
        return 2
    folder = Path(args.folder or tempfile.mkdtemp(prefix="distsearch-fuzz-"))
    print(f"seed {args.seed}, what is found goes to {folder}")
    seeds = {name: _seeds(name, TARGETS[name]) for name in names}
    print(f"{'target':<26} {'runs':>10} {'seconds':>8} {'edges':>6} {'features':>8}", flush=True)
    failed = 0
    for name in names:
        run = _run(name, TARGETS[name], seeds[name], args, folder / name)
        print(run, flush=True)
        failed |= bool(run.findings)
    return failed


def _parsed(argv):
    parser = argparse.ArgumentParser(prog="python -m tests.fuzz", description=__doc__.partition("\n")[0])
    parser.add_argument("targets", nargs="*", metavar="TARGET", help="by default all")
    parser.add_argument("--seconds", type=int, default=60, metavar="N", help="of each target (default 60)")
    parser.add_argument("--seed", type=int, default=int(time.time()), metavar="N", help="default: from the clock")
    parser.add_argument(
        "--folder", metavar="FOLDER", help="a new one, for inputs and reports (default: a temporary one)"
    )
    return parser.parse_args(argv)


def _seeds(name: str, target: Target) -> list[bytes]:
    """Return a target's seeds, all of which it accepts; what it needs compiled is compiled by that."""
    found = target.seeds()
    assert all(is_accepted(target, data) for data in found), f"a seed of {name} is refused"
    for data in kept_inputs(name):
        is_accepted(target, data)
    return found


def _run(name: str, target: Target, seeds: list[bytes], args, folder: Path) -> Run:
    folder.mkdir(parents=True)
    began, report = time.monotonic(), folder / "report.txt"
    child = os.fork()
    if child == 0:
        _fuzz_and_end(name, target, seeds, args, folder, report)
    status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    seconds, text = time.monotonic() - began, report.read_text(errors="replace")
    findings = []
    if (folder / FOUND).exists():
        for found in map(json.loads, (folder / FOUND).read_text().splitlines()):
            findings.append(f"  {found['kind']}: {found['input']}\n{_indented(found['text'])}")
    if status != 0:
        last = "\n".join(text.splitlines()[-12:])
        findings.append(f"  the process ended with status {status}: {folder}\n{_indented(last)}")
    progress, ended = _PROGRESS.findall(text), _ENDED.search(text)
    runs, edges, features = map(int, progress[-1]) if progress else (0, 0, 0)
    return Run(name, int(ended[1]) if ended else runs, seconds, edges, features, findings)


def _fuzz_and_end(name, target, seeds, args, folder, report):
    """Fuzz in this process, whose output goes to a file, and end it."""
    status = 1
    try:
        descriptor = os.open(report, os.O_WRONLY | os.O_CREAT, 0o644)
        os.dup2(descriptor, 1)
        os.dup2(descriptor, 2)
        fuzz(name, target, seeds, args.seconds, args.seed, folder)
        status = 0
    except SystemExit as leaving:  # libFuzzer has come to its end
        status = leaving.code if isinstance(leaving.code, int) else int(leaving.code is not None)
    except BaseException:
        traceback.print_exc()
    finally:
        sys.stderr.flush()
        os._exit(status)


def _indented(text):
    return "\n".join(f"    {line}" for line in text.rstrip().splitlines()[-8:])


if __name__ == "__main__":
    sys.exit(main())
