"""Saved states of which one thing was changed, as a damaged or a hostile file may have it."""

import copy

import numpy as np

ODD = -(1 << 63), -(1 << 40), -2, -1, 0, 1, 2, 3, 5, 255, 1 << 31, (1 << 60) + 1, (1 << 63) - 1
STRANGE = [None, "text", -1, 0, 1 << 62, 2.5, float("nan"), [], {}, [1, 2], np.zeros(3), True, "1 2 3"]


def places(value, path=()):
    """The paths of all that can be changed in a state."""
    if isinstance(value, dict):
        yield from ((*path, name) for name in value)
        for name, each in value.items():
            yield from places(each, (*path, name))


def mutated(snapshot, rng):
    """A copy of a snapshot with something in it changed, mostly an entry of an array."""
    mutant = copy.deepcopy(snapshot)
    paths = list(places(mutant))
    arrays = [path for path in paths if isinstance(at(mutant, path), np.ndarray) and at(mutant, path).size]
    path = rng.choice(arrays) if arrays and rng.random() < 0.7 else rng.choice(paths)
    inside, value = at(mutant, path[:-1]), at(mutant, path)
    if isinstance(value, np.ndarray) and value.size and rng.random() < 0.9:
        flat = value.reshape(-1)
        where = rng.randrange(len(flat))
        if value.dtype.names:
            field = rng.choice(value.dtype.names)
            if field == "record":
                record = flat["record"][where]
                flat["record"][where] = change(record, rng.choice(record.dtype.names), rng)
            else:
                flat[field][where] = odd(flat[field].dtype, rng)
        else:
            flat[where] = odd(value.dtype, rng)
    else:
        inside[path[-1]] = rng.choice(STRANGE)
    return mutant


def change(record, name, rng):
    """A copy of a record with an odd value in one of its fields."""
    record = record.copy()
    record[name] = odd(record.dtype[name].base, rng)
    return record


def odd(dtype, rng):
    """A value of a dtype that is seldom right."""
    if dtype.kind == "f":
        return rng.choice([np.nan, np.inf, -np.inf, -1.0, 1e300])
    value = rng.choice([*ODD, rng.randrange(40)])
    limits = np.iinfo(dtype) if dtype.kind in "iu" else None
    return bool(value & 1) if limits is None else min(max(value, limits.min), limits.max)


def at(state, path):
    """What is at a path of names."""
    for name in path:
        state = state[name]
    return state
