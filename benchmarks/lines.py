"""What benchmarks of policies share: the arguments that say which lines of a file, on how many workers, by which."""

import argparse
from pathlib import Path


def numbers(text):
    return [int(number) for number in text.split(",")]


def parser(description, policies):
    """Return an ArgumentParser with the arguments that all have; policies: names, the default."""
    made = argparse.ArgumentParser(description=description, formatter_class=argparse.RawDescriptionHelpFormatter)
    made.add_argument("game")
    made.add_argument("positions", type=Path)
    made.add_argument("--lines", type=numbers, default=[1], help="numbers of lines, from 1")
    made.add_argument("--workers", type=numbers, default=[31])
    made.add_argument("--policies", type=lambda text: text.split(","), default=policies)
    made.add_argument("--depth", type=int)
    made.add_argument("--table", type=int, default=256, help="MiB")
    return made
