"""What a line of a file of positions holds, compiled: where its position stands, and its score.

A position ends with its line or at a ``;``, and a ``%`` ends what counts of the line. Its score, if there is one, is an
integer that follows it after white space (``4453 -2``), or stands in the first field after the ``;`` that is an integer
or contains ``score`` and an integer, or is the best of those that name a move and its score (``G8:+18``), as in Othello
Board Files. The rest of the line is a comment. In games against chance, whose positions are numbers, all before the
``;`` is the position. Lines that are blank or hold a comment alone are no positions, unless blank ones stand for the
first position.
"""

from typing import Any

import numpy as np

from ..core.jit import compiled

NO_SCORE = -(2**63)  # the score of a line without one
LONGEST_LINE = 1 << 16  # bytes, without the line break; a longer line is a bad line
# instead of the side to move: where parse must decide, where nothing can be done, and where there is no position
UNREAD, TOO_LONG, SKIPPED = -1, -2, -3

LINE_BREAK, PERCENT, SEMICOLON, COLON, _SPACE, _PLUS, _MINUS, _ZERO = b"\n%;: +-0"
_SCORE = tuple(b"score")
_MOST_DIGITS = 9  # of a score

read: Any = None  # bound for each game


@compiled
def is_space(character):
    return character == _SPACE or 9 <= character <= 13


@compiled
def find(text, character, at, end):
    """Return where text[at:end] has a character first, or ``end``."""
    while at < end and text[at] != character:
        at += 1
    return at


@compiled
def trimmed(text, at, end):
    """Return (at, end) of text[at:end] without the white space around it."""
    while at < end and is_space(text[at]):
        at += 1
    while at < end and is_space(text[end - 1]):
        end -= 1
    return at, end


@compiled
def last_word(text, at, end):
    """Return where the last word of text[at:end] begins, which ends there."""
    while at < end and not is_space(text[end - 1]):
        end -= 1
    return end


@compiled
def first_word(text, at, end):
    """Return (begin, end) of the first word of text[at:end]; they are equal where there is none."""
    while at < end and is_space(text[at]):
        at += 1
    begin = at
    while at < end and not is_space(text[at]):
        at += 1
    return begin, at


@compiled
def integer(text, at, end):
    """Return the integer that text[at:end] is, or NO_SCORE if it is none of at most nine digits."""
    negative = at < end and text[at] == _MINUS
    if negative or (at < end and text[at] == _PLUS):
        at += 1
    if not 1 <= end - at <= _MOST_DIGITS:
        return NO_SCORE
    value = 0
    for i in range(at, end):
        digit = np.int64(text[i]) - _ZERO
        if not 0 <= digit <= 9:
            return NO_SCORE
        value = 10 * value + digit
    return -value if negative else value


@compiled
def is_score(text, at, end):
    """Whether text[at:end] is the word ``score``."""
    if end - at != len(_SCORE):
        return False
    for i in range(len(_SCORE)):
        if text[at + i] | 0x20 != _SCORE[i]:
            return False
    return True


@compiled
def named_score(text, at, end):
    """Return the integer that follows the word ``score`` in text[at:end], or NO_SCORE."""
    named = False
    while at < end:
        begin, at = first_word(text, at, end)
        if named:
            score = integer(text, begin, at)
            if score != NO_SCORE:
                return score
        named = is_score(text, begin, at)
    return NO_SCORE


@compiled
def field_score(text, at, end):
    """Return (the score in one of the fields after a position, text[at:end], or NO_SCORE; whether it is a move's)."""
    at, end = trimmed(text, at, end)
    if last_word(text, at, end) > at:
        return named_score(text, at, end), False
    colon = find(text, COLON, at + 1, end)
    if colon < end:
        return integer(text, colon + 1, end), True
    return integer(text, at, end), False


@compiled
def position_and_score(text, at, end, whole):
    """Return (begin, end, score) of the line text[at:end]: where its position stands, and its score or NO_SCORE."""
    field = find(text, SEMICOLON, at, end)
    begin, stop = trimmed(text, at, field)
    last = last_word(text, begin, stop)
    if last > at and not whole:
        # white space precedes it, be it that of a line whose position is empty
        score = integer(text, last, stop)
        if score != NO_SCORE:
            _, stop = trimmed(text, begin, last)
            return begin, stop, score
    best = NO_SCORE
    while field < end:
        following = find(text, SEMICOLON, field + 1, end)
        score, of_move = field_score(text, field + 1, following)
        if of_move:
            best = max(best, score)
        elif score != NO_SCORE and best == NO_SCORE:
            return begin, stop, score
        field = following
    return begin, stop, best


def scan(text, at, end, most, r, whole, blank_is_start, begins, ends, states, sides, scores):
    """Read up to ``most`` of the lines text[at:end], each with its line break; return (lines, where the next begins).

    ``begins`` and ``ends`` (int64) tell where positions stand in the text; ``sides`` (int8) is 0 or 1, the side to
    move, or else UNREAD, TOO_LONG or SKIPPED; ``states`` (uint64) is (lines, words). whole: no score before a ``;``;
    blank_is_start: a blank line is the first position.
    """
    n = 0
    while n < most and at < end:
        counts = at  # where what counts of the line ends
        while text[counts] != LINE_BREAK and text[counts] != PERCENT:
            counts += 1
        stop = find(text, LINE_BREAK, counts, end)
        if stop - at > LONGEST_LINE:
            begins[n], ends[n], scores[n], sides[n] = at, at, NO_SCORE, TOO_LONG
        else:
            begins[n], ends[n], scores[n] = position_and_score(text, at, counts, whole)
            blank = begins[n] == ends[n] and trimmed(text, at, counts)[0] == counts
            if blank and (counts < stop or not blank_is_start):
                sides[n] = SKIPPED
            else:
                sides[n] = read(text, begins[n], ends[n], r, states[n])
        n += 1
        at = stop + 1
    return n, at


@compiled
def unread(text, at, end, r, words):
    """Leave every line to ``parse``: for a game without a compiled reader."""
    return UNREAD
