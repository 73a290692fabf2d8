"""A root that is handed up: its children become jobs of their own, and whoever has time gets those nobody has begun.

A sub-master's tree has a root for each of its jobs. Asked for a part, it parts with a root that it has grown: the
children that are at work here go on as roots, and the others are told with what is known of their scores. Above, the
job's node gets the same children. The arguments of the compiled functions are as ``asking`` has them.
"""

from ..core.jit import compiled
from .dispatch import forget, sent, tell_of_later
from .layout import JOB_NODE, JOB_WORKER
from .nodes import ALPHA, BETA, CHILDREN, ELDEST, FIRST, GROWN, HIGH, LEFT, LOW, MOVE, NONE, PARENT, STATUS, WAITING
from .ready_queue import is_asked
from .windows import ask, improved, pass_on, settle

# Columns of what is told of a child: it goes on where it was if ALPHA_ is below BETA_.
MOVE_, LOW_, HIGH_, ALPHA_, BETA_ = range(5)
TOLD = 5


@compiled
def can_hand_up(c, root, least):
    """Whether a root with at least so much left has a child at work."""
    if c[STATUS, root] != GROWN or c[LEFT, root] <= least or not is_asked(c, root):
        return False
    for i in range(c[FIRST, root], c[FIRST, root] + c[CHILDREN, root]):
        if c[STATUS, i] != WAITING and is_asked(c, i):
            return True
    return False


@compiled
def hand_up(c, t, heap, jobs, w, root, told):
    """Part with a root; write what is to be told of its children to ``told``, int64 of shape (children, TOLD)."""
    for k in range(c[CHILDREN, root]):
        i = c[FIRST, root] + k
        told[k, MOVE_], told[k, LOW_], told[k, HIGH_] = c[MOVE, i], c[LOW, i], c[HIGH, i]
        told[k, ALPHA_] = told[k, BETA_] = 0
        if c[STATUS, i] != WAITING and is_asked(c, i):
            told[k, ALPHA_], told[k, BETA_] = c[ALPHA, i], c[BETA, i]
        elif ask(c, t, heap, jobs, w, 0, i, 0, 0):
            pass_on(c, t, heap, jobs, w, i)
        c[PARENT, i] = NONE
    c[ALPHA, root] = c[BETA, root] = 0


@compiled
def take_over(c, t, heap, jobs, w, job, eldest, told, numbers):
    """Give the children that a job's node has just got what was told of them; those at work are jobs ``numbers``."""
    node, n = jobs[JOB_NODE, job], 0
    for k in range(len(told)):
        i = c[FIRST, node] + k
        c[LOW, i], c[HIGH, i] = max(c[LOW, i], told[k, LOW_]), min(c[HIGH, i], told[k, HIGH_])
        if told[k, ALPHA_] < told[k, BETA_]:
            sent(c, jobs, numbers[n], i, told[k, ALPHA_], told[k, BETA_], jobs[JOB_WORKER, job])
            n += 1
    forget(t, jobs, job)
    c[ELDEST, node] = c[FIRST, node] + eldest
    settle(c, node)
    improved(c, t, heap, jobs, w, node)
    pass_on(c, t, heap, jobs, w, node)
    for k in range(n):
        tell_of_later(c, t, jobs, numbers[k])
