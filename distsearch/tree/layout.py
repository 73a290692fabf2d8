"""The records of a search tree, which compiled functions reach by the address of one of them.

A compiled function takes that address, ``tree``, since numba recognises a number sooner than an array. ``tree_at(tree,
0)`` is the TREE there, ``node_at(t.nodes, i)`` a node of its array, and ``job_at(t.jobs, job)`` a job that is out.
"""

from enum import IntEnum

from ..core.pointers import int64_struct, record_view

Status = IntEnum("Status", "WAITING SENT GROWN DONE", start=0)
WAITING, SENT, GROWN, DONE = map(int, Status)  # no worker has it, a worker has it, it has children, it is counted
NONE = -1  # no such node, job or move
INFINITY = 1 << 60  # no score is larger

NODE = int64_struct(
    "parent",  # the node above, NONE for a root
    "root",  # the root that it hangs from (roots are nodes 0 to roots − 1)
    "children_start",  # its children are neighbours from this node on, the likeliest best one first
    "child_count",  # how many children, 0 while it has not been grown
    "depth",  # plies below its root
    "depth_left",  # plies (in an exact search: moves) that are still to be searched from here
    "move",  # the move that led here
    "over",  # 1: the game is over here
    "status",  # a ``Status``; DONE where each node is searched once
    "low",  # the score is at least this
    "high",  # the score is at most this
    "alpha",  # the score is wanted from ``alpha`` …
    "beta",  # … to ``beta``; nothing is wanted where alpha is not below beta
    "null_window_beta",  # of a grown node: beta of the null windows below it, −INFINITY at first
    "job_id",  # of a SENT node: its job
    "first_child",  # the child that is searched before its siblings
    "best_child",  # the child that ``low`` came from, or NONE
    "cost",  # nodes searched below it, its expansion included
    "key",  # hash of the position, the same for symmetric ones
    "transposition",  # the next node of the same position and ``depth_left``; they form a ring, mostly of one
    "queued",  # its place in the ready queue, from 1; 0: it is not there
    "deferred",  # 1: it waits for a transposition that is being searched
    "irrelevance",  # −1000·ln P(result needed); 0: certainly needed
    "order",  # its place in the order of a sequential search …
    "span",  # … and how much of that order belongs to its children
    "expected_cut_node",  # 1: one of its moves is likely to be good enough, so that the others need no search
    "previous_iteration_node",  # the same node in the array of the previous, less deep search, or NONE
    "visited",  # used by ``windows``
)
NODE_WORDS = NODE.itemsize // 8

# NEEDED; its worker was told to drop it since its result is not needed, or since more relevant nodes are ready.
JobState = IntEnum("JobState", "NEEDED UNNEEDED PREEMPTED", start=0)
NEEDED, UNNEEDED, PREEMPTED = map(int, JobState)

JOB = int64_struct(
    "node",  # NONE: no such job is out
    "low",  # the window that its worker was told of
    "high",
    "worker",
    "listed",  # 1: it is in ``updates``
    "state",  # a ``JobState``
    "remainder",  # the id that is kept for its remainder, if a subtree of it is requested, or NONE
)

TREE = int64_struct(
    # addresses of arrays
    "nodes",  # NODEs
    "positions",  # uint64, ``position_words`` for each node
    "heap",  # the ready queue: nodes as a binary heap
    "agenda",  # nodes that must pass their questions on, or whose bounds have become tighter
    "seen",  # nodes above these
    "pending",  # grown nodes whose next null window must be chosen
    "jobs",  # JOBs by id
    "updates",  # ids of jobs whose question has changed since the last look
    "free_ids",  # ids that no job has, a stack
    # how many there are
    "position_words",
    "queue_size",
    "pending_count",
    "job_count",  # ids, those that are free included
    "update_count",
    "free_count",
    # decisions of the policy, see ``policies``
    "all_at_once",
    "fixed",
    "null_windows",
    "steps",
    "splits",
    "full_width_depth",  # children of nodes above this depth get all of the window, whatever is known
    "expand_above",  # a node with more plies left is grown when it is its turn; INFINITY: none is
    "exact",  # to the end of the game
    "full_windows",  # the worker that takes jobs now closes in on scores by itself
    # the state of the search
    "to_expand",  # a node that must be grown before more is handed out, or NONE
    "preempted",  # jobs that were dropped in favour of ready nodes
    "splits_requested",  # jobs off which a subtree was requested
    "finished",  # jobs whose complete results are in
)

tree_at, node_at, job_at = record_view(TREE), record_view(NODE), record_view(JOB)
