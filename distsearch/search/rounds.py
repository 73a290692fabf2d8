"""Games against chance that go on by a move of the player's each, found elsewhere: compiled code for thousands.

A GPU searches the boards of many games in a call. What is left of their rounds is here: the best move is played, chance
has its turns, and the boards to be searched next are put together. Chance draws what ``playing.Player`` draws, so
games are those of a CPU wherever searches find the same moves.
"""

import numpy as np

from ..addresses import float64s, int16s, int64s, uint64s
from ..games import lanes
from ..games.interface import CHANCE
from . import expectimax as em
from . import shallow

play = turn = chance_draws = None  # bound for each game and evaluation

# A game (int64); the words of its state follow.
SEED, DRAWN = 0, 1  # of its chance, and how often that has had its turn
CODES = 2  # address that takes the codes of all moves (int16); 0: nobody wants them
COUNT, UNTIL = 3, 4  # moves so far, the player's and chance's; how many it is to have
SCORE, MOVES = 5, 6  # what the player's moves brought, and how many they were
BOARDS = 7  # of the searches: its part
OVER = 8  # 1: the game has come to its end
GAME_SIZE = 9

FOUND = 5  # numbers that a search finds: what four moves are worth, and the board
_MOVES = 4


def go_on(like, where, games, rows, count, found, boards, states, ended):
    """Have games go on by the best of their moves, the first of equals, and by what chance does then.

    like: any state (it tells the width); games: address of the table of all; rows: address of the lines in it (int64)
    of those that go on; found: address of what searches of them found (float64, FOUND a game; moves that are not legal
    −1e300), or 0: nothing yet, only chance may have a turn; boards: of all those searches. Writes the rows of games
    that are to be searched next over ``rows``, their states (uint64) to the address ``states`` and the rows of those
    that are over, or have had their moves, to ``ended`` (int64); returns how many are to be searched.
    """
    r = uint64s(int64s(where)[em.RULES])
    lines, values, out, done = int64s(rows), float64s(found), uint64s(states), int64s(ended)
    searched = np.int64(0)
    for i in range(count):
        row = lines[i]
        game = games + 8 * (GAME_SIZE + len(like)) * row
        g, words = int64s(game), uint64s(game + 8 * GAME_SIZE)
        s = lanes.load(like, words, np.int64(0))
        codes, n, over = int16s(g[CODES]), g[COUNT], False
        if found != 0:
            best, chosen = -1e299, np.int64(-1)
            for move in range(_MOVES):
                value = values[FOUND * i + move]
                if value > best:
                    best, chosen = value, move
            g[BOARDS] += boards // count + (i < boards % count)
            over = chosen < 0
            if not over:
                s, gain = play(s, r, chosen)
                g[SCORE] += gain
                g[MOVES] += 1
                if g[CODES] != 0:
                    codes[n] = chosen
                n += 1
        while not over and n < g[UNTIL] and turn(s, r) == CHANCE:
            code = chance_draws(s, where, np.uint64(g[SEED]), g[DRAWN])
            g[DRAWN] += 1
            s, _ = play(s, r, code)
            if g[CODES] != 0:
                codes[n] = code
            n += 1
        g[COUNT], g[OVER] = n, over
        lanes.store(words, np.int64(0), s)
        if over or n == g[UNTIL]:
            done[i - searched] = row
        else:
            lines[searched] = row
            lanes.store(out, searched * len(like), s)
            searched += 1
    return searched


TEMPLATES = shallow.chance_draws, go_on
