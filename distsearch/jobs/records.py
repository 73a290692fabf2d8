"""Records of jobs and of their results: fields that many kinds share have their types here."""

import numpy as np

_TYPES = {
    "job_id": np.int32,
    "depth": np.int32,  # plies to search
    "budget": np.int64,  # nodes to stop at, or 0
    "low": np.int32,  # the window
    "high": np.int32,
    "expected_cut_node": np.int64,  # see ``tree.nodes``
    "seed": np.uint64,
    "complete": np.int8,  # 1: the job was done to its end
    "move": np.int16,  # the best one's code, -1 where there is none
    "value": np.float64,
    "over": np.int8,  # 1: so is the game
    "moves": np.int32,
    "chance_steps": np.int64,  # turns of chance so far
    "expanded": np.int64,  # nodes in which the player's moves were tried
    "slowest": np.float32,  # seconds of a move
    "nodes": np.int64,
    "ordering_nodes": np.int64,  # nodes of searches that order moves
    "evaluated": np.int64,  # leaves that the depth cut off
    "table_hits": np.int64,
    "table_far_hits": np.int64,  # those of the hits that the shared table had
    "table_stores": np.int64,
    "table_replacements": np.int64,
    "seconds": np.float64,  # wall time of the worker
    "cpu": np.float64,  # its CPU seconds
}


def record(*fields) -> np.dtype:
    """Return the dtype of records of these fields: names of ``_TYPES``, or (name, type) and (name, type, shape)."""
    return np.dtype([(field, _TYPES[field]) if isinstance(field, str) else field for field in fields])
