"""How a tree is shared out: the decisions by which policies differ, over one schedule."""

from typing import NamedTuple


class Policy(NamedTuple):
    """The decisions of a policy.

    ================  ==============================================================================================
    ``grows_ahead``   the tree is grown breadth-first to the load factor before anything is searched; else a node is
                      grown when it is its turn and it would keep a worker for too long
    ``all_at_once``   all children of a node are searched side by side; else the eldest first, the others after it
    ``fixed``         every subtree is searched with the root's window, whatever becomes known: what is searched does
                      not depend on which result comes first
    ``scouts``        younger brothers are only asked whether they are better than what is known (a null window)
    ``steps``         an exact score is closed in on by null windows at the root
    ``gives``         where ranks do not search jobs together, a worker without a job gets a part of another one's:
                      untried moves near the root of its search
    ================  ==============================================================================================

    A result narrows the windows of what still waits, and of jobs at work, unless these are fixed.
    """

    name: str
    grows_ahead: bool
    all_at_once: bool
    fixed: bool
    scouts: bool
    steps: bool
    gives: bool


_ALL = (
    Policy("pool", grows_ahead=True, all_at_once=True, fixed=True, scouts=False, steps=False, gives=False),
    Policy("window", grows_ahead=True, all_at_once=True, fixed=False, scouts=False, steps=False, gives=False),
    Policy("brothers", grows_ahead=False, all_at_once=False, fixed=False, scouts=True, steps=True, gives=False),
    Policy("split", grows_ahead=False, all_at_once=False, fixed=False, scouts=True, steps=True, gives=True),
)
POLICIES = {policy.name: policy for policy in _ALL}
