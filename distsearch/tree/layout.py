"""The arrays beside the node array, which compiled functions take: what their entries and rows are."""

# The control array.
WAIT = 0  # nodes in the queue
RECALLED = 1  # jobs that were dropped for what waits
WISHES = 2  # jobs whose question has changed since the last look, listed in row WISH
POSING = 3  # grown nodes whose next null window is to be chosen, listed in row 2 of ``w``
FORCED = 4  # children of nodes above this depth get all of the window, whatever is known
ALL_AT_ONCE, FIXED, SCOUTS, STEPS, GIVES = range(5, 10)  # decisions of the policy, see ``policies``
FREES = 10  # numbers of jobs that nobody uses, a stack in row FREE
TO_GROW = 11  # a node that is to be grown before more is handed out, or NONE
SHARED = 12  # more is left below a node that is grown when it is its turn; INFINITY: none is
ASKED_FOR = 13  # jobs that a part was asked of
FINISHED = 14  # jobs whose complete results are in
EXACT = 15  # to the end of the game
WHOLE = 16  # whoever takes jobs now closes in on scores by itself, and gives parts away in a way of its own
CONTROL_SIZE = 17

# Rows of the jobs that are out; a job's number is its column.
# JOB_LOW and JOB_HIGH: the window that its worker was told of; CHANGED: it is listed in WISH; DROPPED: 1 if its worker
# was told to drop it because nobody wants it, 2 because something less doubtful waits; REST: the number that was kept
# for its rest, if a part is asked of it; FREE: numbers that nobody uses.
JOB_NODE, JOB_LOW, JOB_HIGH, JOB_WORKER, CHANGED, DROPPED, REST, WISH, FREE = range(9)
JOB_ROWS = 9
