"""The nodes near a root as people look at them: what is asked of each, what is known, which worker has it."""

import numpy as np

from ..cluster.protocols import TopNode, breadth_first
from .layout import GROWN, INFINITY, NONE, SENT
from .nodes import NodeArray

_COLUMNS = ["parent", "move", "status", "depth_left", "job_id", "alpha", "beta", "low", "high", "cost", "over"]
_WORDS = {SENT: "sent", GROWN: "grown"}


def top(nodes: NodeArray, workers: np.ndarray, fixed: bool, most: int) -> list[TopNode]:
    """Return up to ``most`` TopNodes from node 0 down.

    workers: of jobs by id, int64; fixed: every node is searched once, whatever becomes known of others.
    """
    shown = breadth_first(nodes.children_of, most)
    found, done = [], {NONE: False}
    rows = nodes.records[_COLUMNS][shown].tolist()
    for i, row in zip(shown, rows, strict=True):
        parent, move, status, depth_left, job_id, alpha, beta, low, high, cost, over = row
        done[i] = bool(over) or _is_answered(alpha, beta, low, high) or not fixed and done[parent]
        worker = int(workers[job_id]) if status == SENT and not done[i] else None
        word = "done" if done[i] else _WORDS.get(status, "waiting")
        led = None if parent == NONE else move
        ends = _finite(alpha), _finite(beta), _finite(low), _finite(high)
        found.append(TopNode(i, parent, led, word, depth_left, worker, *ends, cost))
    return found


def _is_answered(alpha, beta, low, high):
    """Whether something is known, and no more is asked: a node that has known nothing yet may still be asked."""
    is_asked = alpha < beta and low < beta and high > alpha and low < high
    return not is_asked and (low > -INFINITY or high < INFINITY)


def _finite(score):
    return score if abs(score) < INFINITY else None
