"""The contract that every game must keep, checked against a twin: the same game written plainly in Python.

``check_game`` plays random games on both sides at once and compares them position by position. A twin is any object
with the methods of ``Twin``. It speaks in texts (of positions, moves and kinds), so it need share nothing with the
game: neither how a state is laid out nor the move codes. Every check raises AssertionError with what differs and the
text of the position; the checks can also be called one by one, on a ``Case`` from ``case_of``.
"""

from collections import Counter
from numbers import Integral
from typing import Any, NamedTuple, Protocol

import numpy as np

from .. import games
from ..core.errors import UserError
from ..games.interface import CHANCE, END, MAX, MAX_DRAWS, MAX_MOVES, MIN, PASS, Position, legal_moves, step

KINDS = {END: "end", MAX: "max", MIN: "min", CHANCE: "chance"}

_FUNCTIONS = "kind", "moves", "play", "final", "key", "moves_left", "rules", "words", "start"
_FUNCTIONS += "parse", "text", "move_text", "parse_move"
_CONSTANTS = {"NAME": str, "UNIT": str, "OPTIONS": dict, "BOARDS": tuple, "PLAYERS": int, "ENDED_STAYS": bool}
_DAMAGES = 4  # texts made from each position's text by spoiling it
_GARBAGE = ("§", "?!", "\n?\n", "?" * 1000)
_UNTOUCHED = -(2**15)  # fills the array that moves are written to; no move has this code
_MARGIN = 4  # entries before and after the room for moves that must stay untouched


class Twin(Protocol):
    """A game in plain Python; its positions may be anything that ``play`` leaves unchanged, such as lists."""

    def start(self) -> Any:
        """The first position."""

    def kind(self, position) -> str:
        """One of "end", "max", "min" and "chance"; where two players alternate, "max" or "end"."""

    def moves(self, position) -> list[str]:
        """The texts of the legal moves in any order; none at the end."""

    def play(self, position, move: str) -> tuple[Any, int]:
        """The position after a move, and the points it brought."""

    def final(self, position) -> int:
        """The score of a finished game, for the side to move."""

    def text(self, position) -> str:
        """The text of a position, the same that the game writes."""

    def outcomes(self, position) -> list:
        """Only of a game with chance: (text, probability) of all that chance may do."""

    def draw(self, move: str) -> Any:
        """Only of a game with ``draw``: what tells draws of chance apart, such as the tile that a move puts down."""


class Subject(NamedTuple):
    """What is checked: a game with its rules array (uint64), its twin, and its knowledge module or None."""

    game: Any
    rules: np.ndarray
    twin: Twin
    hooks: Any


class Case(NamedTuple):
    """A position as the game has it and as the twin has it, with its text and its legal moves' texts by the twin."""

    position: Position
    plain: Any
    text: str
    options: list[str]


def check_game(game, rules, twin, positions, rng, perft_depth=3, hooks=None):
    """Check a game against its twin on ``positions`` positions of random games, each played to its end.

    ``rules`` is the game's rules array (uint64), ``rng`` a seeded ``random.Random`` and ``hooks`` the knowledge module,
    by default the game's own. Returns a Counter of the kinds of positions met ("end", "max", ...) and of those
    where the side to move had to "pass", so that a test can tell whether its sample covered them.
    """
    subject = Subject(game, rules, twin, hooks or games.knowledge(game))
    check_names(subject)
    check_rules(subject)
    check_garbage(subject)
    opening = check_start(subject)
    case, seen, met = opening, {}, Counter()
    for _ in range(positions):
        check_key(subject, case, seen)
        following = check_position(subject, case, rng)
        met[twin.kind(case.plain)] += 1
        met["pass"] += case.options == [game.move_text(PASS, rules)]
        case = following or opening
    check_perft(subject, opening, perft_depth)
    return met


def check_position(subject, case, rng):
    """Check all that can be checked on one case; return the case after a random move, or None at the end."""
    check_text(subject, case)
    check_read(subject, case, rng)
    check_kind(subject, case)
    check_moves(subject, case)
    check_outcomes(subject, case)
    check_hooks(subject, case)
    if not case.options:
        check_final(subject, case)
        return None
    move = rng.choice(case.options)
    following = check_play(subject, case, move)
    check_moves_left(subject, case, move, following)
    return following


def case_of(subject, plain):
    """Return the Case of a twin's position, which the game reads from its text."""
    position = subject.game.parse(subject.twin.text(plain), subject.rules)
    return _case(subject.twin, position, plain)


def _case(twin, position, plain):
    return Case(position, plain, twin.text(plain), twin.moves(plain))


def check_names(subject):
    """The module offers every function and constant of the interface."""
    game = subject.game
    missing = [name for name in (*_FUNCTIONS, *_CONSTANTS) if not hasattr(game, name)]
    _require(not missing, f"the game lacks {', '.join(missing)}")
    for name, kind in _CONSTANTS.items():
        value = getattr(game, name)
        _require(isinstance(value, kind), f"{name} is {value!r}, not of type {kind.__name__}")
    _require(game.PLAYERS in (1, 2), f"PLAYERS is {game.PLAYERS}, neither 1 nor 2")
    ordered = len(game.BOARDS) == 3 and all(a <= b <= c for a, b, c in zip(*game.BOARDS, strict=True))
    _require(ordered, f"BOARDS is {game.BOARDS}, not (smallest, usual, largest)")


def check_rules(subject):
    """Rules are flat uint64 arrays; the usual board and the first value of every option are the defaults."""
    game, usual = subject.game, subject.game.rules()
    for r in (usual, subject.rules):
        fine = r.dtype == np.uint64 and r.ndim == 1 and r.flags.c_contiguous
        _require(fine, f"rules are a {r.dtype} array of {r.ndim} dimensions, not a flat contiguous uint64 array")
    listed = {name: values for name, values in game.OPTIONS.items() if values is not None}
    defaults = {name: values[0] for name, values in listed.items()}
    spelt_out = game.rules(game.BOARDS[1], **defaults)
    _require(np.array_equal(spelt_out, usual), "rules() differs from those of the usual board with default options")
    for name, values in listed.items():
        for value in values:
            game.rules(None, **{name: value})


def check_garbage(subject):
    """Text that is neither a position nor a move is refused by a UserError of one line."""
    for reader in (subject.game.parse, subject.game.parse_move):
        for text in _GARBAGE:
            complaint = _complaint(reader, text, subject.rules)
            call = f"{reader.__name__}({text[:20]!r})"
            _require(len(complaint.splitlines()) == 1, f"{call} raises UserError({complaint!r}), which is not one line")


def _complaint(reader, text, r):
    call = f"{reader.__name__}({text[:20]!r})"
    try:
        value = reader(text, r)
    except UserError as error:
        return str(error)
    except Exception as error:
        raise AssertionError(f"{call} raises {error!r}, which is not a UserError") from error
    raise AssertionError(f"{call} returns {value!r} where it should raise a UserError")


def check_start(subject):
    """The first position is the twin's, and ``parse`` reads it from "startpos"; return its Case."""
    position = subject.game.start(subject.rules)
    case = _case(subject.twin, position, subject.twin.start())
    _same("text of the first position", subject.game.text(position, subject.rules), case.text, case)
    _same("side of the first position", position.side, 0, case)
    _same("words of the first state", len(position.state), subject.game.words(subject.rules), case)
    _same("parse('startpos')", subject.game.parse("startpos", subject.rules), position, case)
    return case


def check_text(subject, case):
    """The position's text is the twin's, and ``parse`` reads the same position back from it."""
    _same("text", subject.game.text(case.position, subject.rules), case.text, case)
    position = subject.game.parse(case.text, subject.rules)
    _same("parse(text)", position, case.position, case)
    _same("types of the words that parse returns", {type(word) for word in position.state}, {np.uint64}, case)


def check_read(subject, case, rng):
    """``read``, if there is one, reads what ``parse`` reads or declines; also from texts that are damaged."""
    if not hasattr(subject.game, "read"):
        return
    _check_reading(subject, case, case.text, rng)
    for _ in range(_DAMAGES):
        _check_reading(subject, case, _damaged(case.text, rng), rng)


def _check_reading(subject, case, text, rng):
    game, r = subject.game, subject.rules
    content = text.encode()
    # more of the same on both sides, so that reading beyond the text does not go unnoticed
    more = bytes(rng.choices(content or b"1", k=_MARGIN))
    spacious = np.frombuffer(bytearray(more + content + more), np.uint8)
    room = np.full(game.words(r) + 2 * _MARGIN, rng.getrandbits(64), np.uint64)
    before, words = room.copy(), room[_MARGIN:-_MARGIN]
    side = game.read(spacious, _MARGIN, _MARGIN + len(content), r, words)
    if side == -1:
        return
    try:
        expected = game.parse(text, r)
    except UserError as error:
        expected = error
    _same(f"read({text!r})", Position(tuple(words), side), expected, case)
    before[_MARGIN:-_MARGIN] = words
    _same(f"words beyond the state untouched by read({text!r})", np.array_equal(room, before), True, case)


def _damaged(text, rng):
    """A text with a few characters lost, doubled, or replaced by others of the text or by any of ASCII."""
    characters = list(text)
    for _ in range(rng.randint(1, 3)):
        at = rng.randrange(len(characters) + 1)
        other = rng.choice(text) if text and rng.random() < 0.5 else chr(rng.randrange(128))
        characters[at : at + rng.randint(0, 1)] = rng.choice(([], [other], characters[at : at + 1] * 2))
    return "".join(characters)


def check_kind(subject, case):
    """The kind is the twin's: END just where there is no move, and otherwise MAX if two players alternate."""
    kind = KINDS.get(subject.game.kind(case.position.state, subject.rules))
    _same("kind", kind, subject.twin.kind(case.plain), case)
    _same("kind is end", kind == "end", not case.options, case)
    if subject.game.PLAYERS == 2 and case.options:
        _same("kind where two players alternate", kind, "max", case)


def check_moves(subject, case):
    """The moves are the twin's, each once, written where they were asked for; their texts read back."""
    game, r = subject.game, subject.rules
    codes = _written(game.moves, subject, case)
    texts = [game.move_text(m, r) for m in codes]
    _same("moves", sorted(texts), sorted(case.options), case)
    _same("parse_move of the moves' texts", [game.parse_move(text, r) for text in texts], codes, case)


def check_outcomes(subject, case):
    """``outcomes`` gives every move of chance once, and its probability as the twin has it."""
    game, r = subject.game, subject.rules
    if game.kind(case.position.state, r) != CHANCE:
        return
    out = np.full(MAX_MOVES + 2 * _MARGIN, _UNTOUCHED, np.int16)
    probability = np.full(len(out), np.nan)
    n = game.outcomes(case.position.state, r, out, probability, _MARGIN)
    texts = [game.move_text(m, r) for m in out[_MARGIN : _MARGIN + n]]
    found = dict(zip(texts, probability[_MARGIN : _MARGIN + n].tolist(), strict=True))
    expected = {text: float(chance) for text, chance in subject.twin.outcomes(case.plain)}
    _same("outcomes", sorted(texts), sorted(expected), case)
    _same(
        "their probabilities",
        {t: round(p, 12) for t, p in found.items()},
        {t: round(p, 12) for t, p in expected.items()},
        case,
    )
    around = np.isnan(probability).sum() == len(out) - n and (out == _UNTOUCHED).sum() == len(out) - n
    _same("what is around the outcomes untouched", bool(around), True, case)
    if hasattr(game, "draw"):
        check_draws(subject, case, out[_MARGIN : _MARGIN + n].tolist())


def check_draws(subject, case, codes):
    """``draw`` tells the outcomes (codes) apart as the twin does; those of a draw stand one after another."""
    game, r, twin = subject.game, subject.rules, subject.twin
    draws = [int(game.draw(np.int64(m), r)) for m in codes]
    runs = [draw for draw, before in zip(draws, [None, *draws], strict=False) if draw != before]
    _same("draws, each once from its first outcome to its last", len(runs), len(set(runs)), case)
    _same(f"draws from 0 to {MAX_DRAWS - 1}", all(0 <= draw < MAX_DRAWS for draw in draws), True, case)
    by_twin = {(draw, twin.draw(game.move_text(m, r))) for draw, m in zip(draws, codes, strict=True)}
    for what, side in (("draws that the twin tells apart", 0), ("draws that the twin does not tell apart", 1)):
        _same(what, len(by_twin), len({pair[side] for pair in by_twin}), case)


def check_hooks(subject, case):
    """``ordered_moves`` and ``…_slow`` give the moves in some order, ``count_moves`` their number, where there are."""
    codes = sorted(legal_moves(subject.game, case.position, subject.rules))
    if hasattr(subject.hooks, "ordered_moves"):
        _same("ordered_moves, sorted", sorted(_written(subject.hooks.ordered_moves, subject, case)), codes, case)
    if hasattr(subject.hooks, "ordered_moves_slow"):
        scores = np.zeros(MAX_MOVES + 2 * _MARGIN, np.int64)

        def ordered_moves_slow(state, rules, out, at):
            return subject.hooks.ordered_moves_slow(state, rules, out, scores, at)

        _same("ordered_moves_slow, sorted", sorted(_written(ordered_moves_slow, subject, case)), codes, case)
    if hasattr(subject.hooks, "count_moves"):
        _same("count_moves", subject.hooks.count_moves(case.position.state, subject.rules), len(codes), case)


def check_final(subject, case):
    """The score of a finished game is the twin's."""
    score = subject.game.final(case.position.state, subject.rules)
    _same("final", score, subject.twin.final(case.plain), case)


def check_play(subject, case, move):
    """A move (its text) leads to the twin's position and brings the same points; return the Case that follows."""
    game, r, twin = subject.game, subject.rules, subject.twin
    code = game.parse_move(move, r)
    state, reward = game.play(case.position.state, r, code)
    _same(f"words after {move}", len(state), game.words(r), case)
    whole = all(isinstance(word, Integral) and word >= 0 for word in state)
    _same(f"words after {move} are whole and not negative", whole, True, case)
    plain, points = twin.play(case.plain, move)
    following = _case(twin, step(game, case.position, r, code), plain)
    _same(f"text after {move}", game.text(following.position, r), following.text, case)
    _same(f"reward of {move}", reward, points, case)
    return following


def check_moves_left(subject, case, move, following):
    """``moves_left`` falls with every move but a pass, does not rise with a pass, and never goes below 0."""
    game, r = subject.game, subject.rules
    before, after = (game.moves_left(c.position.state, r) for c in (case, following))
    most = before - (game.parse_move(move, r) != PASS)
    if not 0 <= after <= most:
        _fail(f"moves_left: {before}, and {after} after {move}, which should be from 0 to {most}", case)


def check_key(subject, case, seen):
    """Equal states have equal keys, other states of the sample have other keys.

    ``seen`` is a dict that holds the sample so far, both state → key and key → state; this case is added to it.
    """
    state = case.position.state
    key = subject.game.key(state, subject.rules)
    _same("key of a state that came up before", key, seen.setdefault(state, key), case)
    _same("state of a key that came up before", state, seen.setdefault(key, state), case)


def check_perft(subject, case, depth):
    """From the case on, game and twin count as many positions at every ply from 1 to ``depth``."""
    game, r, twin = subject.game, subject.rules, subject.twin
    stays = int(game.ENDED_STAYS)
    counts = game_perft(game, r, case.position, depth)
    expected = perft(case.plain, twin.moves, lambda plain, move: twin.play(plain, move)[0], stays, depth)
    _same("perft, by ply", counts, expected, case)


def game_perft(game, r, position, depth):
    """``perft`` of a Position by the game's own functions."""
    return perft(
        position, lambda at: legal_moves(game, at, r), lambda at, m: step(game, at, r, m), int(game.ENDED_STAYS), depth
    )


def perft(position, moves, play, stays, depth):
    """Return the numbers of positions at plies 1 to ``depth`` below a position, as a list.

    ``moves(position)`` is a list and ``play(position, move)`` a position. A finished game counts ``stays`` (0 or 1)
    times at every deeper ply.
    """
    legal = moves(position)
    if depth == 1 or not legal:
        return [len(legal) or stays] * depth
    below = [perft(play(position, move), moves, play, stays, depth - 1) for move in legal]
    return [len(legal), *map(sum, zip(*below, strict=True))]


def _written(write, subject, case):
    """The codes that a move writer puts into an array, having touched nothing else of it."""
    out = np.full(MAX_MOVES + 2 * _MARGIN, _UNTOUCHED, np.int16)
    n = write(case.position.state, subject.rules, out, _MARGIN)
    touched = np.flatnonzero(out != _UNTOUCHED).tolist()
    _same(f"entries touched by {write.__name__}", touched, list(range(_MARGIN, _MARGIN + n)), case)
    return out[_MARGIN : _MARGIN + n].tolist()


def _same(what, found, expected, case):
    if found != expected:
        _fail(f"{what}: {found!r}, should be {expected!r}", case)


def _fail(difference, case):
    raise AssertionError(f"{difference}, on position {case.text!r}")


def _require(condition, message):
    if not condition:
        raise AssertionError(message)
