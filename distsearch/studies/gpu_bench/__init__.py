"""What ``bench --device gpu`` does: every kernel's rate compared with its limit, and with one CPU rank of this program.

No kernel can pass its limit. It is measured in the same run where one operation sets it: turning discs in Othello,
evaluating boards in expectimax. The others follow from the rates of random accesses to an H200's L2 cache and memory
(docs/gpu). benchmarks/gpu measures the same kernels at length, by what is here.
"""

import json
from concurrent.futures import ThreadPoolExecutor

from ... import __version__
from ...api.facts import compact
from .connect4 import Connect4
from .expectimax import Expectimaxes
from .learning import NETWORKS, Learning
from .othello import Othello


def bench_gpu(gpu, interrupted, tiny=False):
    """Yield a row (``timing.row``) for every kernel of a GPU; tiny: sizes for one that is emulated."""
    makers = [lambda: Connect4(gpu, tiny), lambda: Othello(gpu, tiny)]
    makers += [lambda name=name: Expectimaxes(gpu, tiny, name) for name in ("2048", "2584")]
    makers += [lambda each=each: Learning(gpu, tiny, *each) for each in NETWORKS]
    with ThreadPoolExecutor(len(makers)) as threads:  # nvcc compiles for all at once
        made = [threads.submit(make) for make in makers] if not tiny else None
    for i, make in enumerate(makers):
        if interrupted():
            return
        yield from (made[i].result() if made else make()).rows()


def bench_gpu_json(found):
    """Return a row as a line of JSON."""
    rounded = {name: float(f"{each:.5g}") if isinstance(each, float) else each for name, each in found.items()}
    return json.dumps({**rounded, "version": __version__})


HEAD = f"{'kernel':<20} {'unit':<13} {'a second':>9} {'limit':>9} {'of it':>6} {'seconds':>8} {'CPU s':>8} {'times':>7}"


def bench_gpu_text(found):
    """Return a row as a line of the table below HEAD."""
    wrong = f"  {found['wrong']} WRONG" if found.get("wrong") else ""
    rates = f"{compact(found['rate']):>9} {compact(found['limit']):>9} {found['of_limit']:>6.1%}"
    others = f"{found['seconds']:>8.3f} {found['cpu_seconds']:>8.2f} {found['times_cpu']:>7.1f}"
    return f"{found['kernel']:<20} {found['unit']:<13} {rates} {others}{wrong}"
