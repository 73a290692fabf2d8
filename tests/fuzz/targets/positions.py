"""Positions, moves, files of positions, openings, and games that were played."""

import functools
import json
import os
import random

import numpy as np

from distsearch import games
from distsearch.api.game_plan import read_openings
from distsearch.core.errors import UserError
from distsearch.formats import ggf, positions
from distsearch.formats.game_records import GameRecords, read_games
from distsearch.games.interface import CHANCE, END, legal_moves, read_position, step

from .. import files, mutation
from ..target import Target

BOARDS = {  # the first byte of an input chooses one
    "othello": ((8, 8), (4, 4), (6, 6), (10, 10)),
    "connect4": ((6, 7), (4, 4)),
    "2048": ((4, 4), (2, 3)),
    "2584": ((4, 4), (3, 2)),
}
_PARTS = {
    "othello": (b"X", b"O", b"-", b"d3", b"F5", b"pass", b"startpos", b" X", b"p16"),
    "connect4": (b"4", b"7", b"X", b"O", b"-", b" O", b"startpos"),
    "2048": (b"2,", b"0 ", b"65536", b"+1", b"+2", b"startpos", b"2@a1", b"left"),
    "2584": (b"1,", b"0 ", b"2584", b"+2", b"startpos", b"3@d4", b"up"),
}


@functools.cache
def rules(name: str, board: tuple[int, int]) -> np.ndarray:
    """Return the rules array of a game's board."""
    return games.find(name).rules(board)


def text_of(data: bytes) -> str:
    """Return bytes as the command line has them."""
    return data.decode(errors="surrogateescape")


def _asked(name, data):
    """Return (game, rules, the rest of an input): its first byte chooses the board."""
    boards = BOARDS[name]
    return games.find(name), rules(name, boards[data[0] % len(boards)] if data else boards[0]), data[1:]


def _read_position(name, data):
    """A position, which its text gives back; the compiled reader agrees with ``parse`` where it reads a text at all."""
    game, r, content = _asked(name, data)
    text = text_of(content)
    quick = read_position(game, text, r)
    assert game.parse(text, r) == quick
    assert game.parse(game.text(quick, r), r) == quick


def _read_move(data):
    """A move, which its text gives back. The first byte chooses the game, the second its board."""
    game, r, content = _asked(list(BOARDS)[data[0] % len(BOARDS) if data else 0], data[1:])
    code = game.parse_move(text_of(content), r)
    assert game.parse_move(game.move_text(code, r), r) == code


def _played(name, board, plies, seed):
    """Return (start, moves, position, points of the side that moved first) of a random game of so many plies."""
    game, r, rng = games.find(name), rules(name, board), random.Random(seed)
    start = position = game.start(r)
    moves, points = [], 0
    while len(moves) < plies and (codes := _next_moves(game, position, r)):
        moves.append(rng.choice(codes))
        points += int(game.play(position.state, r, moves[-1])[1])
        position = step(game, position, r, moves[-1])
    return start, moves, position, points


def _next_moves(game, position, r):
    return [] if game.kind(position.state, r) == END else legal_moves(game, position, r)


def _position_seeds(name):
    """The first position and two later ones of each board."""
    game, found = games.find(name), []
    for i, board in enumerate(BOARDS[name]):
        texts = [game.text(_played(name, board, plies, plies)[2], rules(name, board)) for plies in (0, 4, 9)]
        found += [bytes([i]) + text.encode() for text in (*texts, "startpos")]
    more = {"othello": b"\0f5d6c3", "connect4": b"\0004453", "2048": b"\0startpos;", "2584": b"\0startpos"}
    return [*found, more[name]]


def _move_seeds():
    found = []
    for number, (name, boards) in enumerate(BOARDS.items()):
        for i, board in enumerate(boards):
            _, moves, _, _ = _played(name, board, 4, 1)
            texts = [games.find(name).move_text(code, rules(name, board)) for code in moves]
            found += [bytes([number, i]) + text.encode() for text in texts]
    return found


# --- files of positions ---

_SCANNED = [(name, scored, blank) for name in BOARDS for scored in (False, True) for blank in (False, True)]


@functools.cache
def _scanner(name, scored, blank_is_start):
    return positions.LineScanner(games.find(name), rules(name, BOARDS[name][0]), scored, blank_is_start)


def _read_lines(data):
    """Lines of positions: from memory and from a descriptor they are the same. The first byte chooses the game."""
    name, scored, blank = _SCANNED[data[0] % len(_SCANNED) if data else 0]
    content, found = data[1:], []
    lines = positions.MemoryLines(_scanner(name, scored, blank), content)
    while (chunk := lines.read(100)) is not None:
        found += _told(chunk)
    descriptor = os.memfd_create("lines")
    try:
        os.write(descriptor, content)
        os.lseek(descriptor, 0, os.SEEK_SET)
        again = positions.Lines(games.find(name), rules(name, BOARDS[name][0]), descriptor, scored, blank)
        while not again.ended:
            chunk = again.read(7, wait=1.0)
            found_again = [] if chunk is None else _told(chunk)
            assert found[: len(found_again)] == found_again
            del found[: len(found_again)]
    finally:
        os.close(descriptor)
    assert not found or not content


def _told(chunk):
    """Return what a chunk says of each of its lines."""
    errors = dict(chunk.errors)
    return [
        (chunk.first + i, chunk.text(i), errors.get(i), chunk.position(i) if good else None, int(chunk.scores[i]))
        for i, good in enumerate(chunk.good.tolist())
    ]


def _line_seeds():
    found = []
    for i, (name, scored, _) in enumerate(_SCANNED):
        texts = [seed[1:].decode() for seed in _position_seeds(name) if seed[0] == 0]
        ending = ";-2" if games.find(name).PLAYERS == 1 else " -2"
        lines = [text.removesuffix(";") + ending * scored for text in texts]
        found.append(bytes([i]) + "\n".join([*lines, "% a comment", "", "rubbish"]).encode())
    board = games.find("othello").text(games.find("othello").start(rules("othello", (8, 8))), rules("othello", (8, 8)))
    return [*found, b"\0" + f"{board}; G8:+18; H1:-12; % F".encode()]


def _read_openings(data):
    """A file of openings; the first byte chooses the game."""
    name = list(BOARDS)[data[0] % 2 if data else 0]
    assert read_openings(files.written(data[1:]), games.find(name), rules(name, BOARDS[name][0]))


def _opening_seeds():
    return [
        bytes([i]) + b"\n".join([*(seed[1:] for seed in _position_seeds(name)[:2]), b"% a comment", b"startpos"])
        for i, name in enumerate(("othello", "connect4"))
    ]


# --- games ---


def _read_record(data):
    """A record: games that are played over, up to 50 of them."""
    for recorded, _ in zip(read_games(files.written(data)), range(50), strict=False):
        game, r = recorded.rules()
        assert recorded.result()
        recorded.played  # noqa: B018, it is computed
        if game.PLAYERS == 1:
            list(recorded.afterstates(game, r))
        else:
            assert sum(1 for _ in recorded.positions(game, r)) == len(recorded.moves) + 1


def _record_seeds():
    """A whole game of each game, on its smallest board here, one that begins elsewhere, and one lost on time."""
    found = []
    for number, (name, boards) in enumerate(BOARDS.items()):
        game, r = games.find(name), rules(name, boards[1])
        start, moves, position, points = _played(name, boards[1], 10_000, number)
        assert game.kind(position.state, r) not in (CHANCE,)
        score = points
        if game.PLAYERS == 2:
            final = int(game.final(position.state, r))
            score = -final if position.side else final
        fields = {"score": score} | ({} if game.PLAYERS == 2 else {"largest": int(game.largest(position.state, r))})
        heading = {"game": name, "board": "{}x{}".format(*boards[1])}
        path = files.written(b"")
        os.unlink(path)
        with GameRecords(path, game, r, heading) as records:
            records.write_game(0, start, moves, fields)
        with open(path, "rb") as file:
            found.append(file.read())
    late = {"game": "othello", "board": "4x4", "X": "a", "O": "b", "start": "-----OX--XO----- X", "moves": "b1"}
    late |= {"score": 1, "lost_on_time": "O", "empties": "winner"}
    return [*found, b"".join(found), json.dumps(late).encode()]


def _read_ggf(data):
    """A game in GGF, and the text as a move of one."""
    text = text_of(data)
    try:
        ggf.parse_move(text)
    except UserError:
        ggf.parse(text)


_GGF = b"(;GM[Othello]PC[NBoard]PB[a]PW[b]RE[?]TI[15:00//02:00]TY[8]BO[8 %s *]B[F5//1.2]W[D6];)"
_GGF_PARTS = b"B[", b"W[", b"]", b"BO[", b"TI[", b"//", b"(;", b";)", b"*", b"O", b"-", b"PA"


def _ggf_seeds():
    squares = b"-" * 27 + b"O*" + b"-" * 6 + b"*O" + b"-" * 27
    return [_GGF % squares, (_GGF % squares).replace(b"TI", b"TB"), b"F5/1.25/0.5", b"PA"]


_GAMES = "distsearch.games.interface", "distsearch.core.errors"
_MODULES = {
    "othello": ("distsearch.games.othello",),
    "connect4": ("distsearch.games.connect4",),
    "2048": ("distsearch.games.sliding",),
    "2584": ("distsearch.games.sliding",),
}


TARGETS = {
    **{
        f"position-{name}": Target(
            functools.partial(_read_position, name),
            functools.partial(_position_seeds, name),
            (*_GAMES, *_MODULES[name]),
            functools.partial(mutation.of_bytes, tokens=_PARTS[name]),
        )
        for name in BOARDS
    },
    "move": Target(
        _read_move,
        _move_seeds,
        (*_GAMES, *_MODULES["othello"], *_MODULES["connect4"], *_MODULES["2048"]),
        functools.partial(mutation.of_bytes, tokens=(b"pass", b"d3", b"p16", b"2@a1", b"left")),
    ),
    "lines": Target(
        _read_lines, _line_seeds, ("distsearch.formats.positions", "distsearch.games.othello", *_GAMES), refusals=()
    ),
    "openings": Target(_read_openings, _opening_seeds, ("distsearch.api.game_plan", "distsearch.core.files", *_GAMES)),
    "record": Target(
        _read_record, _record_seeds, ("distsearch.formats.game_records", "distsearch.core.files"), mutation.of_json
    ),
    "ggf": Target(
        _read_ggf, _ggf_seeds, ("distsearch.formats.ggf",), functools.partial(mutation.of_bytes, tokens=_GGF_PARTS)
    ),
}
