"""Run Python code and write the names of the functions that numba compiled: ``python compiling.py FOLDER MODULE ...``.

The module is run as by ``python -m``, with the arguments that follow. A function that is loaded from the disk cache is
not compiled. Each process writes one JSON list to a file of its own in FOLDER.
"""

import json
import os
import runpy
import sys
from pathlib import Path

from numba.core import event


def main():
    folder, module = sys.argv[1:3]
    sys.argv[:] = [module, *sys.argv[3:]]
    with event.install_recorder("numba:compile") as compiled:
        try:
            runpy.run_module(module, run_name="__main__", alter_sys=True)
        finally:
            names = [seen.data["dispatcher"].py_func.__qualname__ for _, seen in compiled.buffer if seen.is_start]
            Path(folder, f"{os.getpid()}.json").write_text(json.dumps(names))


if __name__ == "__main__":
    main()
