"""The records of a search: its control block, the frames of its stack, and what ``drivers.batch`` reads and writes.

Kernels have them as numba records, ``c.budget`` and ``f.best``; engines have the same memory as numpy records,
``control["budget"]``. Depths are what ``kernels`` says: plies, or the moves left in the game.
"""

import numpy as np

from ...core.pointers import int64_struct, record_view, struct
from .table import TABLE

CONTROL = struct(
    ("table", TABLE),
    ("bottom", np.int64),  # depth up to which null windows are searched by recursion
    ("budget", np.int64),  # nodes after which to pause
    ("nodes", np.int64),  # searched so far
    ("top", np.int64),  # index of the last frame; -1: no search is at work
    ("hits", np.int64),  # table entries used so far
    ("stores", np.int64),  # entries written so far
    ("salt", np.uint64),  # xor a hash: tells entries of one game, evaluation and set of options from others'
    ("table_from", np.int64),  # depth from which on the table is used
    ("cut_from", np.int64),  # depth from which on enhanced transposition cut-offs are tried
    ("win_bonus", np.int64),  # a finished game is worth its final score plus this in the winner's favour
    ("null_windows", np.int64),  # 0: every move gets all of its node's window
    ("evaluated", np.int64),  # leaves that the depth cut off, and table entries that rest on such
    # addresses of arrays
    ("rules", np.int64),
    ("tables", np.int64),  # the evaluation's
    ("moves", np.int64),  # int16, of all frames
    ("scores", np.int64),  # int64, of these moves
    ("states", np.int64),  # uint64, of all frames
    ("frames", np.int64),
    # engines with a learnt order of moves, see ``move_ordering``
    ("order_from", np.int64),  # depth from which on moves are ordered
    ("order_step", np.int64),  # how much more depth takes another ply of the quick searches
    ("order_weight", np.int64),  # of the scores that ``solver_moves`` gives, added to the quick searches' values
    ("quick_search_end", np.int64),  # value of ``nodes`` at which a quick search gives up
    ("probcut", np.int64),  # address of the table of ``probcut``
    # engines of a game with a ``subtree`` of its own
    ("subtree_nodes", np.int64),  # after which it gives up
    ("subtree_memory", np.int64),  # address of its memory
    # searches that several ranks share, see ``abdada``
    ("defer_from", np.int64),  # depth from which on moves are marked and deferred
    ("next_look", np.int64),  # value of ``nodes`` at which the table is asked next about the nodes on the path
    ("likely_cut", np.int64),  # score beyond ``unit`` times beta that makes a first move likely to cut
    ("unit", np.int64),  # of the evaluation's values, a final score of 1
    ("wait_up_to", np.int64),  # depth up to which ranks do not search a node's moves together
    ("waited", np.int64),  # time for which this rank has waited for others, in nodes
    ("share_order_from", np.int64),  # depth from which on ranks share the order of moves
    # a rank that has joined another one's search
    ("sequence_at", np.int64),  # address of that search's sequence number; 0: none
    ("sequence", np.int64),  # the number that stands there as long as the search goes on
    ("nodes_at", np.int64),  # address to which ``nodes`` is written
    ("shared_hits", np.int64),  # those of the hits that the shared table had
    ("visits_from", np.int64),  # depth from which on ``visits`` records nodes
    ("visits", np.int64),  # address of the engine's block of visits
    # how ``likely_cut`` changes, see ``kernels.least_score_to_join``
    ("score_per_ply", np.int64),
    ("later_score", np.int64),  # added for a later move
    ("max_score", np.int64),  # at most so much
    ("one_rank_depth", np.int64),  # depth of a node whose first move one rank is enough for
    ("owned_from", np.int64),  # depth from which on moves belong to hosts, see ``remote_hosts``
    # the drivers' part
    ("low", np.int64),  # the score lies between these two
    ("high", np.int64),
    ("window_low", np.int64),  # scores below and above the window are not told apart
    ("window_high", np.int64),
    ("latest", np.int64),  # value of the latest search
    ("best_root_move", np.int64),  # its move
    ("root_depth", np.int64),  # depth that the request asks for
    ("depth", np.int64),  # depth searched so far
    ("step", np.int64),  # plies from one depth to the next
    ("complete", np.int64),  # 1: the answer is known
    ("capacity", np.int64),  # moves left for which there are frames
    ("repeatable", np.int64),  # 1: every search begins with an empty L1 table
    ("part", np.int64),  # 1: searches are parts of a larger one, to which scores beyond the window tell something
)

# A node on the way from the root to where the search is.
FRAME = struct(
    ("next", np.int64),  # index of its next move
    ("count", np.int64),  # moves
    ("first", np.int64),  # where the moves begin in the array of all frames'
    ("alpha", np.int64),
    ("beta", np.int64),
    ("best", np.int64),  # value so far
    ("floor", np.int64),  # bounds that were known before
    ("ceiling", np.int64),
    ("depth_left", np.int64),
    ("best_move", np.int64),
    ("hash", np.uint64),
    ("given", np.int64),  # upper end of the window that the move at work got
    ("again", np.int64),  # 1: this move is searched again, with all of the window
    ("evaluated_before", np.int64),  # ``evaluated`` before the node was probed
    ("nodes_before", np.int64),  # ``nodes`` when the frame was opened
    ("probe", np.int64),  # which shallow search is next or at work, see ``probcut``; 0: none
    ("undeferred", np.int64),  # so many of its moves come before those that are deferred
    ("marked", np.uint64),  # hash of the position after the move at work, if this rank has marked it, else 0
    ("waits", np.int64),  # how often this rank has waited for the next move's answer
)

control_view, frame_at = record_view(CONTROL), record_view(FRAME)

# A search for ``drivers.batch`` to do.
REQUEST = int64_struct(
    "depth",
    "budget",  # nodes at which this one is to stop, or 0
    "low",
    "high",  # the window
    "brief",  # 1: the best move will do for a line
)

# What ``drivers.batch`` found. Names are those of ``jobs.two_player.SUBTREE_RESULT``.
ANSWER = int64_struct(
    "score",
    "complete",
    "nodes",
    "evaluated",
    "table_hits",
    "table_far_hits",
    "table_stores",
    "table_replacements",
    "line_length",
)
