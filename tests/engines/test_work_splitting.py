"""Paused searches that are narrowed, or give away a part of their tree: against plain alpha-beta."""

import itertools

import numpy as np
import pytest

from distsearch import evaluation
from distsearch.engines.alphabeta import AlphaBeta
from distsearch.engines.pvs import kernels
from distsearch.engines.pvs import table as tt
from distsearch.engines.pvs.depth_search import DepthSearch
from distsearch.engines.pvs.exact_solver import ExactSolver
from distsearch.engines.pvs.work_splitting import levels
from distsearch.games import connect4, othello
from distsearch.games.interface import PASS, Position, as_state, legal_moves

from ..games import tictactoe
from ..games.connect4_twin import Connect4Twin, random_positions
from .depth_searches import EVERYWHERE, NEVER, changed
from .positions import NO_PAUSE, board_id, evaluate, rules, search, unfinished_states
from .test_depth_search_entries import check_entries, noisy, plain_search

INFINITY = int(kernels.INFINITY)
CHANGES = [
    EVERYWHERE,
    {"bottom": 0},
    {"bottom": 1, "null_windows": 0},
    {"bottom": 0, "table_from": NEVER, "cut_from": NEVER},
]


class Searches:
    """Searches of one game, board and engine, and their scores by plain alpha-beta."""

    def __init__(self, game, board, exact):
        self.game, self.board, self.exact = game, board, exact
        self.r = rules(board) if game is othello else game.rules(board)
        self.evaluation = evaluate(board, "static") if game is othello else evaluation.find(game, "outcome", self.r)
        self._plain, self._scores = AlphaBeta(game, self.r, self.evaluation), {}

    def engine(self, changes):
        far = tt.new_shared_table(1)
        made = (
            ExactSolver(self.game, self.r, far) if self.exact else DepthSearch(self.game, self.r, self.evaluation, far)
        )
        return changed(made, changes)

    def positions(self, rng, n):
        """n (state, left) of searches that are long enough to be paused often."""
        if self.game is othello:
            states = unfinished_states(rng, self.board, n, 9 if self.exact else None)
        else:
            twin = Connect4Twin(*self.board)
            # exact searches from fewer empty squares are over before they give, so that many have to be tried
            some = random_positions(rng, twin, n, range(14, 19) if self.exact else range(6, 21))
            states = [connect4.parse(twin.drawn(plain), self.r).state for plain in some]
        return [(state, self.left(state, rng.randint(4, 6))) for state in states]

    def left(self, state, depth):
        """What is left in a search to a depth, as levels tell it."""
        most = int(self.game.moves_left(state, self.r))
        return most if self.exact else min(depth, 2 * most + 1)

    def begin(self, searcher, state, left, low=-INFINITY, high=INFINITY):
        searcher.begin(state, *(() if self.exact else (left,)), low, high)

    def score(self, state, left):
        """The true score."""
        if (state, left) not in self._scores:
            self._scores[state, left] = search(self._plain, state, None if self.exact else left).score
        return self._scores[state, left]

    def play(self, state, left, m):
        """Return (state, left) after a move."""
        return as_state(self.game.play(state, self.r, m)[0]), left - (m != PASS if self.exact else 1)

    def descendant(self, rng, state, left):
        """A (state, left) some random moves later."""
        for _ in range(rng.randint(1, 3)):
            moves = legal_moves(self.game, Position(state), self.r)
            if moves and left > 1:
                state, left = self.play(state, left, rng.choice(moves))
        return state, left

    def check_full_searches(self, rng, searcher, state, left):
        """Check that an engine's tables tell the truth: searches of a position and of later ones with them."""
        cases = [self.descendant(rng, state, left) for _ in range(4)] + [(state, left)]
        for later, still in cases:
            self.begin(searcher, later, still)
            assert searcher.advance(NO_PAUSE)
            assert searcher.result().score == self.score(later, still), (later, still)


CASES = [
    (othello, (4, 4), False),
    (othello, (6, 6), False),
    (othello, (4, 4), True),
    (othello, (6, 6), True),
    (connect4, (5, 4), False),
    (connect4, (5, 5), True),
    (connect4, (4, 5), True),
]


@pytest.fixture(scope="module", params=CASES, ids=lambda case: f"{case[0].NAME}-{board_id(case[1])}-{case[2]}")
def searches(request):
    return Searches(*request.param)


def clip(score, low, high):
    return min(max(score, low), high)


def window_near(rng, score):
    """A random window, more often than not with a score in it or close to it."""
    scale = rng.choice((1, 3, 30, 300))
    low = score + rng.randint(-2 * scale, scale)
    return low, low + rng.randint(1, 2 * scale)


def narrowed(rng, searcher, score, window):
    """Narrow a search to a random part of its window, if there is one; return its window then.

    It is near a score, or near what some frame asks about its move at work.
    """
    asked, frames = window_near(rng, score), frames_of(searcher)
    if frames and rng.random() < 0.5:
        ply = rng.randrange(len(frames))
        at_work = frames[ply]["given"] * (-1) ** ply + rng.randint(-2, 2)
        if at_work != score:
            asked = sorted((at_work, score + rng.randint(1, 3) * (1 if at_work < score else -1)))
    low, high = max(window[0], asked[0]), min(window[1], asked[1])
    if low >= high:
        return window
    searcher.narrow(*asked)
    check_windows(searcher)
    left = frames_of(searcher)
    if 0 < len(left) < len(frames):  # the last one's move at work is asked about again
        assert left[-1]["next"] == frames[len(left) - 1]["next"] - 1
    return low, high


def frames_of(searcher):
    """The frames of a search that is at work, from the root down."""
    frames = searcher._frames[: int(searcher._control["top"]) + 1]
    return [dict(zip(frames.dtype.names, frame, strict=True)) for frame in frames.tolist()]


def check_windows(searcher):
    """Check that every frame but the last has an open window, and that the next one has what is left of it."""
    for f, child in itertools.pairwise(frames_of(searcher)):
        low = max(f["alpha"], f["best"])
        assert low < f["given"] <= f["beta"]
        assert (child["alpha"], child["beta"]) == (-f["given"], -low)


def slices(rng, searcher):
    """Run a search, or that of a Giver, to its end, pausing after random numbers of nodes."""
    longest = rng.choice((2, 10, 100, 500))
    while not searcher.advance(rng.randint(0, longest)):
        yield


# --- a narrower window ---


def test_a_narrowed_search_answers_in_its_window(searches, full, rng):
    searcher = searches.engine(rng.choice(CHANGES))
    for state, left in searches.positions(rng, 300 if full else 25):
        score, window = searches.score(state, left), (-INFINITY, INFINITY)
        if rng.random() < 0.5:
            searcher.clear()
        searches.begin(searcher, state, left)
        often = rng.choice((0.02, 0.2, 1))
        for _ in slices(rng, searcher):
            if rng.random() < often:
                window = narrowed(rng, searcher, score, window)
            stopped = searcher.result()
            assert not stopped.complete
            assert stopped.score <= score, (state, left, window)
        result = searcher.result()
        assert result.complete
        assert result.score == clip(score, *window), (state, left, window, score)
        if window[0] < score < window[1]:
            assert -searches.score(*searches.play(state, left, result.line[0])) == score, (state, left, window)
        searches.check_full_searches(rng, searcher, state, left)


def test_every_entry_of_narrowed_searches_is_true(full, rng):
    r, highest = tictactoe.rules(), 3
    chosen = noisy(rng.getrandbits(64) | 1, highest, highest)
    value = plain_search(tictactoe, r, chosen)
    for changes in CHANGES[:3]:
        searcher = changed(DepthSearch(tictactoe, r, chosen, np.zeros(8 * 1000, np.uint64)), changes)
        for _ in range(40 if full else 4):
            depth, window = rng.randint(4, 9), (-INFINITY, INFINITY)
            state = tictactoe.start(r).state
            searcher.clear()
            searcher.begin(state, depth)
            for _ in slices(rng, searcher):
                if rng.random() < 0.1:
                    window = narrowed(rng, searcher, value(state, depth) + rng.randint(-3, 3), window)
            assert searcher.result().score == clip(value(state, depth), *window), (chosen.tables, depth, window)
            assert check_entries(searcher, value) > 0


def test_a_finished_search_can_be_narrowed(searches, rng):
    searcher = searches.engine({})
    for state, left in searches.positions(rng, 5):
        searches.begin(searcher, state, left)
        searcher.advance(NO_PAUSE)
        score = searches.score(state, left)
        window = narrowed(rng, searcher, score, (-INFINITY, INFINITY))
        assert searcher.advance(1)
        assert searcher.result().score == clip(score, *window)


def test_no_window_is_left(rng):
    searches = Searches(othello, (4, 4), False)
    searcher = searches.engine({})
    ((state, left),) = searches.positions(rng, 1)
    searches.begin(searcher, state, left, -5, 5)
    for window in ((5, 9), (-9, -5), (3, 3), (2, 1)):
        with pytest.raises(ValueError, match="nothing to ask"):
            searcher.narrow(*window)
    assert searcher.advance(NO_PAUSE)
    assert searcher.result().score == clip(searches.score(state, left), -5, 5)


# --- a part of the tree split off ---


class Giver:
    """A search that gives away parts of its tree whenever it can, and what is known of it."""

    def __init__(self, searches, searcher, state, left, window):
        self.searches, self.searcher, self.state, self.left, self.window = searches, searcher, state, left, window
        self.parts = []  # (levels, the positions of which they are)
        searches.begin(searcher, state, left, *window)

    def advance(self, budget):
        return self.searcher.advance(budget)

    def split_off(self, least_left):
        """Have the search give, and check what it gave; return whether it did."""
        before = self.searcher.nodes
        words = self.searcher.split_off(least_left)
        assert self.searcher.nodes == before
        if words is None:
            return False
        given, nodes = levels(words), []
        for level in given:
            assert level.depth_left == self.left
            nodes.append((self.state, self.left))
            self.state, self.left = self.searches.play(self.state, self.left, level.moves[level.tried])
            self.check(level, nodes[-1])
        assert self.window == (given[0].alpha, given[0].beta) or self.searches.exact and not self.parts
        untried = [0 < level.tried < len(level.moves) - 1 and level.depth_left > least_left for level in given]
        assert untried == [False] * (len(given) - 1) + [True]
        self.window = -given[-1].given, -max(given[-1].alpha, given[-1].best)
        assert self.searcher._state == self.state
        check_windows(self.searcher)
        self.check_line()
        self.parts.append((given, nodes))
        return True

    def check_line(self):
        """Check that the first move of the line, if there is one, is the position's."""
        legal = legal_moves(self.searches.game, Position(self.state), self.searches.r)
        assert set(self.searcher.result().line[:1]) <= set(legal)

    def check(self, level, node):
        """Check that what a level claims is true, and that its moves are moves."""
        state, _ = node
        score, legal = self.searches.score(*node), legal_moves(self.searches.game, Position(state), self.searches.r)
        assert set(level.moves) <= set(legal)
        assert max(level.alpha, level.best) < level.given <= level.beta
        assert level.floor <= score <= level.ceiling, (state, level)
        assert level.best <= level.alpha or level.best <= score, (state, level)
        assert level.best_move == kernels.NO_MOVE or level.best_move in level.moves[: level.tried + 1]

    def reassembled(self, rng):
        """The score of the first root from the search's own and from searches of what was split off."""
        value = self.searcher.result().score
        self.check_line()
        assert value == clip(self.searches.score(self.state, self.left), *self.window)
        for given, nodes in reversed(self.parts):
            for level, node in zip(reversed(given), reversed(nodes)):
                value = self.finished(rng, level, node, value)
                window = level.alpha, level.beta
                assert clip(value, *window) == clip(self.searches.score(*node), *window), (level, node)
        return value

    def finished(self, rng, level, node, value):
        """Finish a level whose move at work has come out as ``value``, the opponent's."""
        best, i, given, value = level.best, level.tried, level.given, -value
        while True:
            again = value > best and level.alpha < value < level.beta and given < level.beta
            best, i = max(best, value), i if again else i + 1
            if best >= level.beta or i == len(level.moves):
                return best
            low = max(level.alpha, best)
            given = level.beta if again or rng.random() < 0.5 else low + 1
            value = -self.part(*self.searches.play(*node, level.moves[i]), -given, -low)

    def part(self, state, left, low, high):
        """The score of a position by an engine of its own."""
        fresh = self.searches.engine({})
        self.searches.begin(fresh, state, left, low, high)
        assert fresh.advance(NO_PAUSE)
        # a finished game has its own score whatever the window
        return clip(fresh.result().score, low, high)


def givers(searches, rng, n):
    """Searches in windows at random, until n have given."""
    searcher = searches.engine(rng.choice(CHANGES))
    while n > 0:
        ((state, left),) = searches.positions(rng, 1)
        if rng.random() < 0.5:
            searcher.clear()
        window = rng.choice([(-INFINITY, INFINITY), window_near(rng, searches.score(state, left))])
        giver = Giver(searches, searcher, state, left, window)
        yield giver
        n -= len(giver.parts) > 0


def test_the_parts_make_the_score(searches, full, rng):
    for giver in givers(searches, rng, 200 if full else 8):
        score, window = searches.score(giver.state, giver.left), giver.window
        node, least_left, often = (giver.state, giver.left), rng.randint(1, 4), rng.choice((0.03, 0.3, 1))
        for _ in slices(rng, giver):
            if rng.random() < often:
                giver.split_off(least_left)
        if searches.exact and giver.parts:
            window = giver.parts[0][0][0][1:3]  # of the question that was at work
        assert clip(giver.reassembled(rng), *window) == clip(score, *window), (node, window)
        searches.check_full_searches(rng, giver.searcher, *node)
        searches.check_full_searches(rng, giver.searcher, giver.state, giver.left)


def test_a_search_that_gave_can_be_narrowed(searches, full, rng):
    for giver in givers(searches, rng, 200 if full else 8):
        for _ in slices(rng, giver):
            if rng.random() < 0.2:
                giver.split_off(1)
            if rng.random() < 0.2:
                score = searches.score(giver.state, giver.left)
                if giver.parts or not searches.exact:
                    giver.window = narrowed(rng, giver.searcher, score, giver.window)
        result = giver.searcher.result()
        assert result.complete
        if giver.parts or not searches.exact:
            assert result.score == clip(searches.score(giver.state, giver.left), *giver.window)
        searches.check_full_searches(rng, giver.searcher, giver.state, giver.left)


def test_a_search_that_gave_goes_on_elsewhere(searches, full, rng):
    for giver in givers(searches, rng, 100 if full else 6):
        for _ in slices(rng, giver):
            if rng.random() < 0.5 and giver.split_off(1):
                if rng.random() < 0.5:
                    score = searches.score(giver.state, giver.left)
                    giver.window = narrowed(rng, giver.searcher, score, giver.window)
                content, other = giver.searcher.save(), searches.engine(rng.choice(CHANGES))
                searches.begin(other, giver.state, giver.left)
                other.advance(rng.randrange(50))
                other.restore(content)
                assert (other.nodes, other.result()) == (giver.searcher.nodes, giver.searcher.result())
                giver.searcher = other
        if giver.parts:
            result = giver.searcher.result()
            assert result.score == clip(searches.score(giver.state, giver.left), *giver.window)
        searches.check_full_searches(rng, giver.searcher, giver.state, giver.left)


def test_nodes_are_searched_once(rng):
    """By the search that gave, and by those of what it gave, as many nodes as by one alone, without tables."""
    searches = Searches(othello, (6, 6), False)
    changes = {"bottom": 0, "table_from": NEVER, "cut_from": NEVER, "null_windows": 0, "step": NEVER}
    for state, left in searches.positions(rng, 3):
        whole = search(searches.engine(changes), state, left)
        giver = Giver(searches, searches.engine(changes), state, left, (-INFINITY, INFINITY))
        nodes = 0

        def part(state, left, low, high, giver=giver):
            nonlocal nodes
            fresh = searches.engine(changes)
            searches.begin(fresh, state, left, low, high)
            fresh.advance(NO_PAUSE)
            nodes += fresh.nodes + 1
            return fresh.result().score

        giver.part = part
        for _ in slices(rng, giver):
            giver.split_off(2)
        # full windows for all: what is left to do has the bounds that it would have had in one search
        assert giver.reassembled(Always()) == whole.score
        assert nodes + giver.searcher.nodes == whole.nodes


class Always:
    """Instead of random numbers: no null windows."""

    def random(self):
        return 0


def test_what_is_never_given(rng):
    r, chosen, state = rules((6, 6)), evaluate((6, 6), "static"), othello.start(rules((6, 6))).state
    searcher = changed(DepthSearch(othello, r, chosen), {"bottom": 0})
    for depth, least_left in itertools.product((1, 2, 5), (1, 3, 5)):
        searcher.begin(state, depth)
        assert searcher.split_off(least_left) is None
        while not searcher.advance(20):
            last = searcher._frames["depth_left"][0] == depth
            if (words := searcher.split_off(least_left)) is not None:
                assert last
                assert levels(words)[-1].depth_left > least_left
                break
    repeatable = changed(DepthSearch(othello, r, chosen, repeatable=True), {"bottom": 0})
    repeatable.begin(state, 6)
    while not repeatable.advance(20):
        assert repeatable.split_off(1) is None
