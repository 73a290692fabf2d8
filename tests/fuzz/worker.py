"""One target under atheris, in a process that does nothing else."""

import hashlib
import importlib
import json
import os
import random
import sys
from pathlib import Path

from . import files, instrument
from .target import CORPUS, MOST_INPUT, Target, bounded, finding

FOUND = "found.jsonl"  # in the folder of a run: a line for each kind of finding
_OWN = 0.7  # of the mutations are the target's; the others are libFuzzer's, which knows what was compared with what
_PATIENCE = 60  # seconds of one input, after which libFuzzer ends the process
_MOST_MIB = 4096


def fuzz(name: str, target: Target, seeds: list[bytes], seconds: int, seed: int, folder: Path) -> None:
    """Fuzz a target for so many seconds; the process ends with that. folder: an empty one, for what is found.

    libFuzzer's report goes to stderr, findings to a file, their inputs next to it.
    """
    atheris = importlib.import_module("atheris")
    files.folder.cache_clear()  # that is the parent's
    for each in dict.fromkeys(function for cover in target.covers for function in instrument.functions(cover)):
        atheris.instrument_func(each)
    corpus = folder / "corpus"
    corpus.mkdir()
    for number, data in enumerate(seeds):
        (corpus / f"seed-{number}").write_bytes(data)
    kept = _Findings(folder)

    def one(data):
        found = finding(target, data)
        if found is not None:
            kept.add(found, data)

    def mutated(data, most, number):
        rng = random.Random(number)
        if rng.random() < _OWN:
            return target.mutate(data, rng)[:most]
        return atheris.Mutate(data, most)

    how = [f"-max_total_time={seconds}", f"-max_len={MOST_INPUT}", f"-timeout={_PATIENCE}", f"-seed={seed}"]
    how += [f"-rss_limit_mb={_MOST_MIB}", f"-artifact_prefix={folder}/", "-print_final_stats=1"]
    more = [str(CORPUS / name)] if (CORPUS / name).is_dir() else []
    atheris.Setup([sys.argv[0], *how, str(corpus), *more], one, custom_mutator=mutated)
    with bounded():
        atheris.Fuzz()


class _Findings:
    """Keeps one input of each kind of finding, and writes it at once: a process may end at any time."""

    def __init__(self, folder):
        self._folder, self._kinds = folder, set()

    def add(self, found, data):
        if found.kind in self._kinds:
            return
        self._kinds.add(found.kind)
        path = self._folder / f"found-{hashlib.sha256(data).hexdigest()[:12]}"
        path.write_bytes(data)
        with open(self._folder / FOUND, "a") as file:
            print(json.dumps({"kind": found.kind, "input": os.fspath(path), "text": found.text}), file=file)
