"""Weights of a network in few bytes: rounded, predicted from their neighbours, and the differences compressed.

A weight has a class: 0, dropped, or c, rounded to steps of ``step`` / 2 ** (c - 1). The more a weight has learnt, the
higher is its class, as it is looked up more often: half the step for four times as often. A weight's neighbours are
those of the same tuple for which one cell holds a code less. The mean of those that are not dropped predicts a weight,
and is the value of one that is dropped. A weight's bytes are its class and the two of its difference in steps; they lie
together with those in the same circumstances, which have similar odds, and LZMA codes them: close to the entropy, with
match search switched off.

Most codes of 2584 are of tiles that no game has made: weights of tiles two codes or more beyond the largest one of a
weight that is kept take no bytes, and are 0.
"""

import lzma
import os
from concurrent.futures import ThreadPoolExecutor

import numpy as np

from ..core.jit import compiled, compiled_for_threads

ARRAYS = "packed", "counts", "scale", "known"  # by these names in a file
MOST_CLASSES = 8
_MOST_KEPT = 1 << 24  # weights
_STEPS = 8  # to the standard deviation of the weights
_CONTEXTS = 2 * MOST_CLASSES  # of a class: twice the mean of the neighbours' ones
_NO_CONTEXT = _CONTEXTS  # of a weight that is not packed
_STREAMS = _CONTEXTS + 2 * MOST_CLASSES  # the classes by context, then low and high bytes of differences by class
_FILTERS = [{"id": lzma.FILTER_LZMA2, "lc": 0, "lp": 0, "pb": 0, "dict_size": 4096, "mf": lzma.MF_HC4, "depth": 1}]
_MOST_BYTES = 3  # of a weight in all streams
_MOST_MEMORY = 1 << 26  # bytes, of the decompressor
_MOST = (1 << 15) - 1  # steps of a difference


def classes_of(errors):
    """Return the classes (uint8) of weights by the sums of their absolute errors: 0, for weights never met, and more.

    The weights that have learnt most are kept: those that have learnt four times as much are of the next class.
    """
    least = np.partition(errors, -_MOST_KEPT)[-_MOST_KEPT] if errors.size > _MOST_KEPT else 0
    least = least or errors[errors > 0].min(initial=np.inf)
    classes = np.zeros(errors.size, np.uint8)
    for c in range(1, MOST_CLASSES):
        classes += errors >= least * 4.0 ** (c - 1)
    return classes


def pack(weights, classes, tuples, codes, steps=_STEPS):
    """Return arrays by name that have a stage's weights (float32) by their classes (uint8), both of one dimension.

    tuples: as of a Network; codes: how many a cell may hold, a power of two; steps: of class 1, to the standard
    deviation of the weights.
    """
    step = np.float32(weights[classes > 0].std() / steps if classes.any() else 1) or np.float32(1)
    streams, counts, scale = [], [], [step]
    known = _known(classes, tuples, codes)
    for cells, part in _parts(tuples, codes):
        own, kept = weights[part].copy(), classes[part] > 0
        base = np.float32(own[kept].mean() if kept.any() else 0)
        contexts, differences = np.full(own.size, _NO_CONTEXT, np.uint8), np.zeros(own.size, np.uint16)
        _round(own, classes[part], cells, codes.bit_length() - 1, known, base, step, contexts, differences)
        each = [classes[part][contexts == context] for context in range(_CONTEXTS)]
        of_class = [differences[classes[part] == c] for c in range(MOST_CLASSES)]
        of_class[0] = of_class[0][:0]
        each += [(found & 255).astype(np.uint8) for found in of_class] + [(f >> 8).astype(np.uint8) for f in of_class]
        streams += each
        counts += map(len, each)
        scale.append(base)
    packed = np.frombuffer(lzma.compress(np.concatenate(streams), filters=_FILTERS), np.uint8)
    arrays = packed, np.array(counts, np.int64), np.array(scale, np.float32), np.array([known], np.int64)
    return dict(zip(ARRAYS, arrays, strict=True))


def unpack(packed, counts, scale, known, tuples, codes):
    """Return (weights: float32, classes: uint8), both of one dimension, that ``pack`` packed; raises ValueError."""
    parts = list(_parts(tuples, codes))
    if counts.dtype != np.int64 or scale.dtype != np.float32 or counts.min(initial=0) < 0 or not parts:
        raise ValueError("they are no arrays of packed weights")
    if known.dtype != np.int64 or known.shape != (1,) or not 0 < known[0] <= codes:
        raise ValueError("it is no number of codes")
    most = _MOST_BYTES * parts[-1][1].stop + 1
    decompressor = lzma.LZMADecompressor(memlimit=_MOST_MEMORY)
    try:
        data = np.frombuffer(decompressor.decompress(packed, most) + b"\0", np.uint8)  # kernels read one place more
    except (lzma.LZMAError, EOFError) as error:
        raise ValueError("it is no such stream") from error
    if not decompressor.eof:
        raise ValueError("it unpacks to more than weights of its tuples need")
    if counts.shape != (len(parts) * _STREAMS,) or scale.shape != (1 + len(parts),):
        raise ValueError("they are weights of other tuples")
    if counts.max() >= len(data) or counts.sum() + 1 != len(data):  # the sum of larger ones might overflow
        raise ValueError("its streams are of other lengths")
    size = parts[-1][1].stop
    weights, classes = np.zeros(size, np.float32), np.zeros(size, np.uint8)
    places = (np.cumsum(counts) - counts).reshape(-1, _STREAMS)

    def restore(i):
        cells, part = parts[i]
        bits = codes.bit_length() - 1
        _restore(weights[part], classes[part], cells, bits, known[0], scale[1 + i], scale[0], data, places[i])

    with ThreadPoolExecutor(len(os.sched_getaffinity(0))) as pool:
        list(pool.map(restore, range(len(parts))))
    if not np.array_equal(places.reshape(-1), np.cumsum(counts)):
        raise ValueError("its streams are of other lengths")
    return weights, classes


def _parts(tuples, codes):
    """Yield each tuple's number of cells, and the slice of the weights that are its own."""
    first = 0
    for cells in tuples:
        yield len(cells), slice(first, first := first + codes ** len(cells))


def _known(classes, tuples, codes):
    """Return how many codes, from 0 on, a cell may hold in weights that are packed."""
    largest = -1
    for cells, part in _parts(tuples, codes):
        kept = classes[part].reshape((codes,) * cells) > 0
        for cell in range(cells):
            largest = max(largest, int(np.flatnonzero(kept.any(axis=tuple({*range(cells)} - {cell}))).max(initial=-1)))
    return min(codes, largest + 2)


@compiled
def _after(at, cells, bits, known):
    """Return the first place after ``at`` whose cells all hold codes less than ``known``; the size, if none does."""
    at, most, cell = at + 1, (1 << bits) - 1, 0
    while cell < cells:
        low = cell * bits
        if at >> low & most < known:
            return at  # it has just been counted up, so those above are as they were
        at = ((at >> low | most) + 1) << low
        cell += 1
    return at


@compiled
def _predicted(at, weights, classes, cells, bits, base):
    """Return (context of a weight's class, what the weight is predicted to be): by its neighbours, or ``base``."""
    total, count, of_classes = np.float32(0), 0, 0
    for cell in range(cells):
        low = cell * bits
        if at >> low & (1 << bits) - 1:
            c = classes[at - (1 << low)]
            if c:
                total += weights[at - (1 << low)]
                of_classes += c
                count += 1
    return 2 * of_classes // cells, total / np.float32(count) if count else base


@compiled
def _round(weights, classes, cells, bits, known, base, step, contexts, differences):
    """Write contexts, and differences as steps · 2 or −steps · 2 − 1; weights become what these say.

    known: codes that a cell may hold; where one holds another, nothing is written.
    """
    at = 0
    while at < weights.size:
        contexts[at], predicted = _predicted(at, weights, classes, cells, bits, base)
        steps, unit = 0, step
        if classes[at]:
            unit = step / np.float32(1 << (classes[at] - 1))
            steps = min(max(round((weights[at] - predicted) / unit), -_MOST), _MOST)
            differences[at] = 2 * steps if steps >= 0 else -2 * steps - 1
        weights[at] = predicted + np.float32(steps) * unit
        at = _after(at, cells, bits, known)


@compiled_for_threads
def _restore(weights, classes, cells, bits, known, base, step, data, places):
    """Write a tuple's weights and classes, as far as there are bytes. places: where in ``data`` each stream goes on.

    known: as of ``_round``.
    """
    at = 0
    while at < weights.size:
        context, predicted = _predicted(at, weights, classes, cells, bits, base)
        c = data[places[context]]
        low, high = _CONTEXTS + c, _CONTEXTS + MOST_CLASSES + c
        places[context] += 1
        if c >= MOST_CLASSES or max(places[context], places[low], places[high]) >= data.size:
            return
        classes[at], weights[at] = c, predicted
        if c:
            found = np.int64(data[places[low]]) | np.int64(data[places[high]]) << 8
            places[low] += 1
            places[high] += 1
            steps = -(found + 1 >> 1) if found & 1 else found >> 1
            weights[at] = predicted + np.float32(steps) * (step / np.float32(1 << (c - 1)))
        at = _after(at, cells, bits, known)
