"""Games of OpenSpiel as twins: a position is a ``pyspiel.State``, and OpenSpiel has all the rules.

What a twin adds is how this package writes positions and moves, and scores, where OpenSpiel tells only who wins.
"""

import re

import pytest

from .connect4_twin import Connect4Twin
from .sliding_twin import MOVES

SPIEL_MOVES = ("up", "right", "down", "left")
assert set(SPIEL_MOVES) == set(MOVES)


class SpielTwin:
    """A game of OpenSpiel, or the test is skipped where that is not installed."""

    NAME: str

    def __init__(self):
        pyspiel = pytest.importorskip("pyspiel")
        self._game = pyspiel.load_game(self.NAME)

    def start(self):
        return self._game.new_initial_state()

    def kind(self, state):
        return "end" if state.is_terminal() else "chance" if state.is_chance_node() else "max"

    def moves(self, state):
        return [] if state.is_terminal() else [self.move_text(state, action) for action in self.actions(state)]

    def actions(self, state):
        return state.legal_actions()

    def play(self, state, move):
        action = next(action for action in self.actions(state) if self.move_text(state, action) == move)
        after = self.after(state, action)
        return after, self.points(state, after)

    def after(self, state, action):
        after = state.clone()
        after.apply_action(action)
        return after

    def points(self, before, after):
        return 0

    def side(self, state):
        """The side to move, after the end as well: the two take turns."""
        return "XO"[len(state.history()) % 2]

    def board(self, state):
        """The squares from the top left, as X, O and -."""
        return "".join(re.findall("(?m)^[xo.]+$", str(state))).upper().replace(".", "-")

    def text(self, state):
        return f"{self.board(state)} {self.side(state)}"

    def result(self, state):
        """1, 0 or -1 for the side to move at the end."""
        return int(state.returns()["XO".index(self.side(state))])


class TicTacToe(SpielTwin):
    NAME = "tic_tac_toe"

    def move_text(self, state, action):
        return f"{'abc'[action % 3]}{action // 3 + 1}"

    def final(self, state):
        return self.result(state)


class Othello(SpielTwin):
    NAME = "othello"

    def move_text(self, state, action):
        return "pass" if action == 64 else f"{'abcdefgh'[action % 8]}{action // 8 + 1}"

    def board(self, state):
        return "".join("".join(row.split()) for row in re.findall("(?m)^[1-8]((?: [xo-]){8})", str(state))).upper()

    def final(self, state):
        """The discs; OpenSpiel says for whom."""
        board = self.board(state)
        difference = abs(board.count("X") - board.count("O"))
        return self.result(state) * (difference + board.count("-"))


class ConnectFour(SpielTwin):
    NAME = "connect_four"

    def move_text(self, state, action):
        return str(action + 1)

    def text(self, state):
        board = self.board(state)
        columns = ([disc for disc in board[column::7][::-1] if disc != "-"] for column in range(7))
        return Connect4Twin(6, 7).text((list(columns), self.side(state)))

    def final(self, state):
        """Pons's score, by how many stones were played; OpenSpiel says for whom."""
        return self.result(state) * ((43 - (len(state.history()) - 1)) // 2)


class Game2048(SpielTwin):
    NAME = "2048"

    def actions(self, state):
        """Those that change the board: OpenSpiel 2.0.2 calls some illegal that merge tiles, but makes them rightly."""
        if state.is_chance_node():
            return state.legal_actions()
        return [action for action in range(4) if str(self.after(state, action)) != str(state)]

    def move_text(self, state, action):
        if not state.is_chance_node():
            return SPIEL_MOVES[action]
        text = state.action_to_string(state.current_player(), action)
        tile, row, column = map(int, re.fullmatch(r"(\d+) added to row (\d+), column (\d+)", text).groups())
        return f"{tile}@{'abcd'[column - 1]}{row}"

    def points(self, before, after):
        return int(after.returns()[0] - before.returns()[0])

    def outcomes(self, state):
        return [(self.move_text(state, action), chance) for action, chance in state.chance_outcomes()]

    def draw(self, move):
        return move.split("@")[0]

    def text(self, state):
        due = 0 if not state.is_chance_node() else 1 if state.history() else 2
        return ",".join(str(state).split()) + (f" +{due}" if due else "")

    def final(self, state):
        return 0
