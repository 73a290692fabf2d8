"""Archives of arrays: checkpoints, learnt weights, training to go on with, opening books."""

import contextlib
import functools
import os
import types
from typing import Any
from unittest import mock

import numpy as np

from distsearch import __version__, evaluation, games
from distsearch.api import book as answers
from distsearch.api.options import resolve
from distsearch.api.result import Batch
from distsearch.books import book
from distsearch.core import archive, array_cache
from distsearch.core.errors import UserError
from distsearch.core.kernel_folder import KernelFolder
from distsearch.core.saved import Saved
from distsearch.evaluation import ntuple, patterns, tuple_network
from distsearch.evaluation.probcut_fit import weights_of
from distsearch.formats.answer_log import SUFFIX, AnswerLog
from distsearch.formats.checkpoint import Checkpoint, policy_in
from distsearch.formats.positions import Lines
from distsearch.games.interface import Position
from distsearch.learning.options import TrainOptions
from distsearch.learning.train import Files, TrainingState

from .. import files, mutation
from ..target import Target
from .positions import rules

_KIND = "notes"


@contextlib.contextmanager
def _own_kept_arrays():
    """Have arrays that are kept for later processes kept in the folder of the inputs."""
    with mock.patch.object(array_cache, "FOLDER", KernelFolder(files.kept_folder(), None)):
        yield


def _read_archive(data):
    """Any archive; what is compressed may take 1 MiB."""
    path = files.written(data)
    header, arrays = archive.load(path, _KIND, lambda header: 1 << 20)
    assert archive.header_of(path, _KIND).keys() - {"kind", "checksum"} == header.keys()
    assert all(isinstance(array, np.ndarray) for array in arrays.values())


def _archive_seeds():
    header = {"kind": _KIND, "about": {"numbers": [1, 2.5, None]}}
    arrays = {"a": np.arange(30.0).reshape(5, 6), "b": np.zeros(0, np.int16), "c": np.array([(1, 2)], "i4,i8")}
    return [mutation.archived(header, arrays, compress) for compress in (False, True)]


# --- checkpoints ---

_SEARCH = {"game": "connect4", "policy": "split", "depth": 3}
_INPUT = b"4453\n11\nrubbish\n"
_ANSWERS = b"4453 -2\n"


def state_of(data: bytes) -> dict[str, Any]:
    """Return the state of a checkpoint's bytes; raises UserError."""
    path = files.written(data)
    wanted = types.SimpleNamespace(save=False)
    found = Checkpoint(path, _SEARCH, True, wanted, print_error=lambda text: None).state
    assert found is not None
    return found


def checkpoint_of(state: dict[str, Any]) -> bytes:
    """Return the bytes of a checkpoint with a state."""
    path = files.written(b"")
    os.unlink(path)
    wanted = types.SimpleNamespace(save=False)
    errors: list[str] = []
    Checkpoint(path, _SEARCH, False, wanted, errors.append).save(lambda: state)
    assert not errors
    with open(path, "rb") as file:
        return file.read()


def _read_checkpoint(data):
    """A checkpoint of positions from a file: its policy, the figures so far, and the answers that are there."""
    state = state_of(data)
    path = os.path.join(files.folder(), "input")
    if (policy := policy_in(path)) is not None:
        with contextlib.suppress(UserError):
            resolve("connect4", None, policy=policy)
    saved = Saved(state)
    Batch.restored(saved.part("batch")).to_text()
    with open(path + SUFFIX, "wb") as file:
        file.write(_ANSWERS)
    descriptor = os.memfd_create("lines")
    log = AnswerLog(path, fresh=False)
    try:
        os.write(descriptor, _INPUT)
        os.lseek(descriptor, 0, os.SEEK_SET)
        log.resume(saved.part("answers"), Lines(games.find("connect4"), rules("connect4", (6, 7)), descriptor), len)
        assert log.state()["length"] <= len(_ANSWERS)
    finally:
        log.close()
        os.close(descriptor)


def _checkpoint_seeds():
    path = files.written(b"")
    log = AnswerLog(path)
    log.append(_ANSWERS)
    descriptor = os.memfd_create("lines")
    os.write(descriptor, _INPUT)
    os.lseek(descriptor, 0, os.SEEK_SET)
    lines = Lines(games.find("connect4"), rules("connect4", (6, 7)), descriptor)
    chunk = lines.read(1, 1.0)
    log.passed(chunk, 0, 1)
    state = {"answers": log.state(), "batch": Batch().state(), "at_work": None, "differences": 0}
    log.close()
    os.close(descriptor)
    return [checkpoint_of(state), checkpoint_of({**state, "at_work": {"numbers": np.arange(9), "more": [1, "a"]}})]


# --- weights ---

_TUPLES = (0, 1, 2), (5, 6)
_GAME = "2048"


def _network(size, stages, board=(4, 4), tuples=_TUPLES, game=_GAME):
    weights = np.linspace(-3, 900, (len(stages) + 1) * size, dtype=np.float32).reshape(len(stages) + 1, size)
    return tuple_network.Network(game, board, {}, tuples, True, stages, weights, {"games": 3})


def _saved(network, **how):
    path = files.written(b"")
    tuple_network.save(path, network, **how)
    with open(path, "rb") as file:
        return file.read()


def _read_network(data):
    """Weights of 2048, and whether they fit the usual board; what fits is a number for its first position."""
    path, game, r = files.written(data), games.find(_GAME), rules(_GAME, (4, 4))
    with _own_kept_arrays():
        net = tuple_network.load(path, _GAME, 16)
    ntuple.check_fits(net, game, r, "a file")
    assert net.weights.shape == (len(net.stages) + 1, sum(tuple_network.sizes(net.tuples, 16)))
    ntuple.tables_of(game, 4, net.tuples, net.symmetric, net.stages, net.weights)


def _network_seeds():
    size = sum(tuple_network.sizes(_TUPLES, 16))
    plain = _network(size, ())
    classes = np.tile(np.arange(4, dtype=np.uint8), size // 4)
    path = files.written(b"")
    tuple_network.save_packed(path, plain, classes, 16)
    with open(path, "rb") as file:
        packed = file.read()
    return [packed, _saved(plain, compact=True), _saved(_network(size, (8,)), compact=True)]


_PATTERNS = (0, 1, 2), (0, 7, 14, 21)


def _read_patterns(data):
    """Patterns of Othello on 6x6, and the tables made of them."""
    path = files.written(data)
    with _own_kept_arrays():
        net = tuple_network.load(path, patterns.GAME, patterns.CODES)
    patterns.check_fits(net, (6, 6), "a file")
    assert patterns.tables_of(net).dtype == np.uint64


def _pattern_seeds():
    size = sum(tuple_network.sizes(_PATTERNS, patterns.CODES))
    nets = [_network(size, stages, (6, 6), _PATTERNS, patterns.GAME) for stages in ((), (12, 20))]
    return [_saved(net, compact=compact) for net in nets for compact in (False, True)]


_OPTIONS = TrainOptions(_GAME, games=5, tuples="0,1,2/5,6", coherence=True)


def _read_training(data):
    """Training that goes on from a file: its options, its state, its weights and traces."""
    path = files.written(data, "weights.npz")
    record = archive.header_of(path, tuple_network.KIND).get("record")
    described = record.get("options") if isinstance(record, dict) else None
    if isinstance(described, dict):
        TrainOptions.resumed(_GAME, None, {}, {"coherence": True}, described)
    arrays = _Arrays(_OPTIONS)
    with _own_kept_arrays():
        begun = TrainingState(_OPTIONS, Files(path, resume=True), games.find(_GAME), arrays)
    assert begun.state["games"] >= 0
    assert np.isfinite(arrays.traces).all()


class _Arrays:
    """What training has in shared memory."""

    def __init__(self, options):
        shape = len(options.stages) + 1, options.size
        self.weights, self.traces = np.zeros(shape, np.float32), np.zeros((options.size, 2), np.float32)

    def as_in_files(self):
        return contextlib.nullcontext()


def _training_seeds():
    net = _network(_OPTIONS.size, ())
    state = {"games": 3, "begun": 4, "seconds": 1.5, "since": 0.5, "due": False}
    record = {"options": _OPTIONS.described(), "games": 3, "state": state, "version": __version__}
    others = {"traces": np.zeros((_OPTIONS.size, 2), np.float32), "window": np.array([[100, 3, 1]], np.int64)}
    return [_saved(net._replace(record=record), others=others), _saved(net._replace(record=record))]


# --- opening books ---

_BOOKS = ("connect4", (4, 4), 3), ("othello", (4, 4), 4)


def _read_book(data):
    """A book, its lines from each position of its first plies on, and its answers. The first byte chooses the game."""
    name, board, plies = _BOOKS[data[0] % 2 if data else 0]
    options, game, r = resolve(name, "{}x{}".format(*board), exact=True)
    timed, _, _ = resolve(name, "{}x{}".format(*board), time=0.5, evaluation=evaluation.hand_made(game))
    path = files.written(data[1:])
    content = book.load(path)
    assert book.described(content.heading)
    found = answers.find_book(path, options)
    if found is None:
        return
    start = game.start(r)
    for states in _levels(name, board, plies):
        for state in states:
            found.moves(tuple(state))
            found.line(Position(tuple(state), start.side))
    for asked in (options, timed):
        told = answers.BookAnswers(found, asked, types.SimpleNamespace(ranks=1, workers=1))
        if told:
            told.outcome(start)
            told.records(np.array([start.state], np.uint64))


@functools.cache
def _expansion(name, board):
    return book.Expansion(games.find(name), rules(name, board))


@functools.cache
def _levels(name, board, plies):
    return [states for states in _expansion(name, board).levels(plies) if len(states)]


def _book_seeds():
    return [bytes([i]) + _book(*each, searched) for i, each in enumerate(_BOOKS) for searched in (False, True)]


def _book(name, board, plies, searched):
    """Return the bytes of a book whose scores are made up, and whose moves are legal ones."""
    game, expansion = games.find(name), _expansion(name, board)
    states = np.concatenate(_levels(name, board, plies))
    keys, first = np.unique(expansion.keys(states), return_index=True)
    below = expansion.children(states[first])
    moves = below.moves[np.unique(below.parents, return_index=True)[1]]
    entries = {"key": keys, "score": np.arange(len(keys)) % 9 - 4, "move": moves, "depth": np.full(len(keys), 0)}
    limits = None
    if searched:
        limits = {"evaluation": evaluation.hand_made(game), "time": 0.5}
        entries["depth"][:] = 4
    weights = weights_of(evaluation.find(game, evaluation.hand_made(game), rules(name, board)))
    path = files.written(b"")
    book.save(path, book.Content(book.heading(game, board, {}), plies, entries, limits, weights))
    with open(path, "rb") as file:
        return file.read()


def _behind_a_byte(data, rng):
    """Change the archive that follows an input's first byte."""
    return data[:1] + mutation.of_archive(data[1:], rng)


_ARCHIVE = "distsearch.core.archive", "distsearch.core.files"
_NETWORK = (*_ARCHIVE, "distsearch.evaluation.tuple_network")
_PACKING = "distsearch.evaluation.weight_packing:unpack"


def _of_archive(read, seeds, *covers):
    return Target(read, seeds, (*_ARCHIVE, *covers), mutation.of_archive)


TARGETS = {
    "archive": _of_archive(_read_archive, _archive_seeds),
    "checkpoint": _of_archive(
        _read_checkpoint,
        _checkpoint_seeds,
        "distsearch.formats.checkpoint",
        "distsearch.core.saved",
        "distsearch.formats.answer_log",
    ),
    "network": _of_archive(
        _read_network, _network_seeds, *_NETWORK, _PACKING, "distsearch.evaluation.ntuple:check_fits"
    ),
    "patterns": _of_archive(
        _read_patterns, _pattern_seeds, *_NETWORK, *(f"{patterns.__name__}:{name}" for name in ("check_fits", "layout"))
    ),
    "training": _of_archive(
        _read_training,
        _training_seeds,
        *_NETWORK,
        "distsearch.learning.train:TrainingState",
        "distsearch.learning.options",
        "distsearch.core.saved",
    ),
    "book": Target(
        _read_book,
        _book_seeds,
        (*_ARCHIVE, "distsearch.books.book", "distsearch.api.book", "distsearch.books.expansion:Expansion"),
        _behind_a_byte,
    ),
}
