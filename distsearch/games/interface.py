"""What a game is: the names that its module has to offer, and the constants that all games share.

A game is one module. Its compiled part (``jit.compiled``) works on a *state*, a tuple of ``words(r)`` uint64, and on
*rules* ``r``, a uint64 array that holds board size, options and whatever tables the game wants to read; so one compiled
kernel serves every board of the same width.

=================================  =====================================================================================
``kind(s, r) -> int64``            END, MAX, MIN or CHANCE
``moves(s, r, out, at) -> n``      writes the n legal moves (int16 codes, PASS for a pass) to ``out[at : at + n]``;
                                   n is 0 at the end of the game
``play(s, r, m) -> (s, reward)``   the state after move m, and the points it brought (0 where only the end counts)
``outcomes(s, r, out,              only of a game with chance: writes what chance may do in a CHANCE state, its
probability, at) -> n``            ``moves`` in any order, and how likely each is (float64) to the same places of
                                   ``probability``
``draw(m, r) -> int64``            only of a game with chance, if an adversary could choose a part of what chance does:
                                   which draw of chance move m belongs to, such as the kind of a tile, of which
                                   an adversary chooses the cell; up to MAX_DRAWS numbers from 0 on. ``outcomes``
                                   writes the moves of a draw one after another
``final(s, r) -> int64``           the score of a finished game, for the side to move
``key(s, r) -> uint64``            a hash: equal states have equal keys
``moves_left(s, r) -> int64``      no line of play from s has more moves than this, passes not counted; it falls with
                                   every move, and a pass does not raise it
``rules(board, **options)``        the rules array; ``board`` is (rows, columns) or None for the usual size
``words(r)``, ``start(r)``         number of words of a state; the first ``Position``
``parse(text, r)``                 a ``Position`` from text, ``startpos`` being the first one; raises UserError
``text(position, r)``              the text of a position; ``parse`` reads it back
``move_text(m, r)``                the text of a move
``parse_move(text, r)``            the move code of a text; raises UserError
``largest(s, r)``                  only of a game with chance whose tiles grow: the value of the largest tile, by which
                                   ``play`` counts games
``empties(s, r)``                  only of such a game: its empty cells, by which the depth of a search may be chosen
=================================  =====================================================================================

and the constants

===============  =======================================================================================================
``NAME``         as on the command line
``UNIT``         what scores count: "discs"
``OPTIONS``      the game's own options: name → allowed values, the default first, or None for any text that ``rules``
                 takes; a default of its own then
``BOARDS``       (smallest, usual, largest) board, each (rows, columns)
``PLAYERS``      2: two players alternate with zero sum, a state is seen by the side to move, ``kind`` is MAX or END;
                 1: one player, perhaps against chance
``ENDED_STAYS``  whether perft counts a finished game again at every deeper depth
===============  =======================================================================================================

A module may also have a compiled reader of positions, for files of millions of them:

====================================  ==================================================================================
``read(text, at, end, r, words)``     reads the position in the bytes ``text[at:end]`` (uint8 array) as ``parse`` would,
                                      writes its state to ``words`` (uint64 array) and returns the side to move, 0 or 1;
                                      or −1 for anything that is not plain and legal: then ``parse`` is asked, and
                                      ``words`` may hold anything
====================================  ==================================================================================

A game may have a knowledge module beside it (``NAME_knowledge``) with hooks that engines use when they are there:

=====================================================  =================================================================
``ordered_moves``                                      as ``moves``, the likeliest best move first
``promising(s, r, out, scores, at) -> n``              as ``ordered_moves``, a better order that may take longer; has
                                                       room for int64 scores
``count_moves(s, r) -> n``                             n without writing moves
``turn(s, r) -> int64``                                as ``kind``, where an engine asks for moves next: of a finished
                                                       game it may be the kind that it would have with a move
``expand(s, r, out, states, gains, at) -> n``          as ``moves`` where it is the player's turn, and writes what each
                                                       move leads to and brings: to ``states`` (uint64, from word
                                                       ``at · words`` on) and ``gains`` (int64, from ``at`` on)
``canonical(s, r) -> s``                               one state for all that are symmetric to it; in searches to a
                                                       depth, evaluations are taken to be the same for all of them
=====================================================  =================================================================

and, for the exact solver, where ``left`` is the number of moves left and ``beta`` the score that is asked for:

=====================================================  =================================================================
``bounds(s, r, left, beta) -> (low, high, note)``      the score is in low..high, as tight as the question is worth;
                                                       ``note`` (uint64) is for ``candidates``
``candidates(s, r, left, note, out, scores, at)``      as ``promising``, but may leave out moves that are no better than
                                                       one that it writes
``small(s, r, left, beta) -> (known, score, boards)``  the score, or a bound on the right side of beta, without the
                                                       general search; asked where at most ``SMALL`` moves are left
``next_beta(s, r, low, high, latest) -> beta``         what to ask next, see ``engines.pvs.drivers``
``SOLVER``                                             moves left from which on the solver uses its table, the far
                                                       table, enhanced cut-offs, and up to which it recurses
=====================================================  =================================================================
"""

from typing import NamedTuple

import numpy as np

END, MAX, MIN, CHANCE = 0, 1, 2, 3
PASS = -1
MAX_MOVES = 256  # no position of any game has more legal moves
MAX_DRAWS = 8  # nor does chance draw from more


class Position(NamedTuple):
    """A state and what it does not hold itself: which player (0 or 1) is to move."""

    state: tuple
    side: int = 0


def as_state(words):
    """Return a state that compiled functions accept: Python turns the words they return into plain integers."""
    return tuple(map(np.uint64, words))


def step(game, position, r, m):
    """Return the Position after move m; for two players the other one is then to move."""
    state, _ = game.play(position.state, r, int(m))
    return Position(as_state(state), 1 - position.side if game.PLAYERS == 2 else position.side)


def read_position(game, text, r):
    """Return the Position of a text as ``game.parse`` does, by its compiled reader if that takes it."""
    if hasattr(game, "read"):
        content = np.frombuffer(bytearray(text.encode(errors="replace")), np.uint8)
        words = np.zeros(game.words(r), np.uint64)
        side = game.read(content, 0, len(content), r, words)
        if side >= 0:
            return Position(tuple(words), int(side))
    return game.parse(text, r)


def legal_moves(game, position, r):
    """Return the legal moves of a position as a list of codes."""
    out = np.zeros(MAX_MOVES, np.int16)
    return out[: game.moves(position.state, r, out, 0)].tolist()
