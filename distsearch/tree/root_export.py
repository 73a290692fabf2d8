"""Export of a root: its children become jobs of the master above, which may give those not begun to any worker.

A sub-master's tree has a root for each of its jobs. When the master requests a split, the sub-master exports a root
that it has grown. The children that are at work here go on as roots, and the master gets them all, with the bounds of
their scores. There the job's node gets the same children. The arguments of the compiled functions are as in
``windows``.
"""

from ..core.jit import compiled
from .dispatch import assign, list_unneeded, release
from .layout import JOB_NODE, JOB_WORKER
from .nodes import (
    ALPHA,
    BETA,
    CHILD_COUNT,
    CHILDREN_START,
    DEPTH_LEFT,
    FIRST_CHILD,
    GROWN,
    HIGH,
    LOW,
    MOVE,
    NONE,
    PARENT,
    STATUS,
    WAITING,
)
from .ready_queue import is_asked
from .windows import ask, back_up, improved, pass_on

# Columns of an exported child: it goes on at the sub-master if ALPHA_ is below BETA_.
MOVE_, LOW_, HIGH_, ALPHA_, BETA_ = range(5)
EXPORTED_FIELDS = 5


@compiled
def can_export(c, root, min_depth_left):
    """Whether a root has a child at work, and more left than ``min_depth_left``."""
    if c[STATUS, root] != GROWN or c[DEPTH_LEFT, root] <= min_depth_left or not is_asked(c, root):
        return False
    for i in range(c[CHILDREN_START, root], c[CHILDREN_START, root] + c[CHILD_COUNT, root]):
        if c[STATUS, i] != WAITING and is_asked(c, i):
            return True
    return False


@compiled
def export_root(c, t, heap, jobs, w, root, exported):
    """Give a root up; write its children to ``exported``, int64 of shape (children, EXPORTED_FIELDS)."""
    for k in range(c[CHILD_COUNT, root]):
        i = c[CHILDREN_START, root] + k
        exported[k, MOVE_], exported[k, LOW_], exported[k, HIGH_] = c[MOVE, i], c[LOW, i], c[HIGH, i]
        exported[k, ALPHA_] = exported[k, BETA_] = 0
        if c[STATUS, i] != WAITING and is_asked(c, i):
            exported[k, ALPHA_], exported[k, BETA_] = c[ALPHA, i], c[BETA, i]
        elif ask(c, t, heap, jobs, w, 0, i, 0, 0):
            pass_on(c, t, heap, jobs, w, i)
        c[PARENT, i] = NONE
    c[ALPHA, root] = c[BETA, root] = 0


@compiled
def import_children(c, t, heap, jobs, w, job, first_child, exported, job_ids):
    """Give the new children of a job's node their exported bounds; those at work are the jobs ``job_ids``."""
    node, n = jobs[JOB_NODE, job], 0
    for k in range(len(exported)):
        i = c[CHILDREN_START, node] + k
        c[LOW, i], c[HIGH, i] = max(c[LOW, i], exported[k, LOW_]), min(c[HIGH, i], exported[k, HIGH_])
        if exported[k, ALPHA_] < exported[k, BETA_]:
            assign(c, jobs, job_ids[n], i, exported[k, ALPHA_], exported[k, BETA_], jobs[JOB_WORKER, job])
            n += 1
    release(t, jobs, job)
    c[FIRST_CHILD, node] = c[CHILDREN_START, node] + first_child
    back_up(c, node)
    improved(c, t, heap, jobs, w, node)
    pass_on(c, t, heap, jobs, w, node)
    for k in range(n):
        list_unneeded(c, t, jobs, job_ids[k])
