"""The arrays next to the node array, which compiled functions take: what their entries and rows are."""

from enum import IntEnum

# The control array.
QUEUE_SIZE = 0  # nodes in the ready queue
PREEMPTED_JOBS = 1  # jobs that were dropped in favour of ready nodes
UPDATE_COUNT = 2  # jobs whose question has changed since the last look, listed in row UPDATE_LIST
PENDING_WINDOWS = 3  # grown nodes whose next null window must be chosen, listed in row 2 of ``w``
FULL_WIDTH_DEPTH = 4  # children of nodes above this depth get all of the window, whatever is known
ALL_AT_ONCE, FIXED, NULL_WINDOWS, STEPS, SPLITS = range(5, 10)  # decisions of the policy, see ``policies``
FREE_COUNT = 10  # ids that no job has, a stack in row FREE_LIST
TO_EXPAND = 11  # a node that must be grown before more is handed out, or NONE
EXPAND_ABOVE = 12  # a node with more plies left is grown when it is its turn; INFINITY: none is
SPLITS_REQUESTED = 13  # jobs off which a subtree was requested
FINISHED = 14  # jobs whose complete results are in
EXACT = 15  # to the end of the game
FULL_WINDOWS = 16  # the worker that takes jobs now closes in on scores by itself
CONTROL_SIZE = 17

# Rows of the table of jobs that are out; a job's id is its column. JOB_LOW and JOB_HIGH: the window that its worker was
# told of; JOB_STATE: a ``JobState``; JOB_REMAINDER: the id that is kept for its remainder, if a subtree of it is
# requested; JOB_LISTED: it is in UPDATE_LIST; FREE_LIST: ids that no job has.
JOB_NODE, JOB_LOW, JOB_HIGH, JOB_WORKER, JOB_LISTED, JOB_STATE, JOB_REMAINDER, UPDATE_LIST, FREE_LIST = range(9)
JOB_ROWS = 9

# NEEDED; its worker was told to drop it since its result is not needed, or since more relevant nodes are ready.
JobState = IntEnum("JobState", "NEEDED UNNEEDED PREEMPTED", start=0)
NEEDED, UNNEEDED, PREEMPTED = map(int, JobState)
