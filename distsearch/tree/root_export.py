"""Export of a root: its children become jobs of the master above, which may give those not begun to any worker.

A sub-master's tree has a root for each of its jobs. When the master requests a split, the sub-master exports a root
that it has grown. The children that are at work here go on as roots, and the master gets them all, with the bounds of
their scores. There the job's node gets the same children.
"""

from ..core.jit import compiled
from ..core.pointers import int64_struct
from .dispatch import assign, list_unneeded, release
from .layout import GROWN, NONE, WAITING, job_at, node_at, tree_at
from .ready_queue import is_asked
from .windows import ask, back_up, improved, pass_on

# An exported child; it goes on at the sub-master if alpha is below beta.
EXPORTED = int64_struct("move", "low", "high", "alpha", "beta")


@compiled
def can_export(tree, root, min_depth_left):
    """Whether a root has a child at work, and more left than ``min_depth_left``."""
    nodes = tree_at(tree, 0).nodes
    n = node_at(nodes, root)
    if n.status != GROWN or n.depth_left <= min_depth_left or not is_asked(tree, root):
        return False
    for i in range(n.children_start, n.children_start + n.child_count):
        if node_at(nodes, i).status != WAITING and is_asked(tree, i):
            return True
    return False


@compiled
def export_root(tree, root, exported):
    """Give a root up; write its children to ``exported``, an array of EXPORTED."""
    nodes = tree_at(tree, 0).nodes
    n = node_at(nodes, root)
    for k in range(n.child_count):
        i = n.children_start + k
        child, row = node_at(nodes, i), exported[k]
        row.move, row.low, row.high = child.move, child.low, child.high
        row.alpha = row.beta = 0
        if child.status != WAITING and is_asked(tree, i):
            row.alpha, row.beta = child.alpha, child.beta
        elif ask(tree, 0, i, 0, 0):
            pass_on(tree, i)
        child.parent = NONE
    n.alpha = n.beta = 0


@compiled
def import_children(tree, job, first_child, exported, job_ids):
    """Give the new children of a job's node their exported bounds; those at work are the jobs ``job_ids``."""
    t = tree_at(tree, 0)
    j = job_at(t.jobs, job)
    node, assigned = j.node, 0
    n = node_at(t.nodes, node)
    for k in range(len(exported)):
        i, row = n.children_start + k, exported[k]
        child = node_at(t.nodes, i)
        child.low, child.high = max(child.low, row.low), min(child.high, row.high)
        if row.alpha < row.beta:
            assign(tree, job_ids[assigned], i, row.alpha, row.beta, j.worker)
            assigned += 1
    release(tree, job)
    n.first_child = n.children_start + first_child
    back_up(tree, node)
    improved(tree, node)
    pass_on(tree, node)
    for k in range(assigned):
        list_unneeded(tree, job_ids[k])
