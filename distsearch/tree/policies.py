"""How a tree is shared out: the decisions by which policies differ, over one SearchTree."""

from typing import NamedTuple


class Policy(NamedTuple):
    """The decisions of a policy.

    A result narrows the windows of ready nodes, and of jobs at work, unless these are fixed.
    """

    name: str
    # the tree is grown breadth-first to the load factor before anything is searched; else a node is grown when it is
    # its turn and it would keep a worker for too long
    expands_ahead: bool
    all_at_once: bool  # all children of a node are searched at the same time; else the first child before its siblings
    # every subtree is searched with the root's window, whatever becomes known: what is searched does not depend on
    # which result comes first
    fixed: bool
    null_windows: (
        bool  # siblings of the first child are searched with a null window: are they better than what is known?
    )
    steps: bool  # an exact score is closed in on by null windows at the root
    # where ranks do not search jobs together, an idle worker gets a subtree split off another worker's job: untried
    # moves near the root of its search
    splits: bool


_ALL = (
    Policy("pool", expands_ahead=True, all_at_once=True, fixed=True, null_windows=False, steps=False, splits=False),
    Policy("window", expands_ahead=True, all_at_once=True, fixed=False, null_windows=False, steps=False, splits=False),
    Policy(
        "brothers", expands_ahead=False, all_at_once=False, fixed=False, null_windows=True, steps=True, splits=False
    ),
    Policy("split", expands_ahead=False, all_at_once=False, fixed=False, null_windows=True, steps=True, splits=True),
)
POLICIES = {policy.name: policy for policy in _ALL}
