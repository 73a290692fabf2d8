"""Monte-Carlo tree search in games against chance: one tree, grown by simulations (UCT).

A simulation goes down from the root. Where the player moves it takes the move with the highest upper confidence bound,
where chance moves an outcome that it draws. The first state it reaches that the tree has not becomes a node, and its
value is added to all moves on the way, with the points of the moves in between. The tree holds the states in which the
player has a move, found by their key: what chance leads to twice is one node.

A new node is worth the value of its best move's afterstate by the evaluation, and each of its moves begins with one
visit, of the value of its own afterstate. Without an evaluation it is worth what a *playout* brings, a game of random
moves to its end, and its moves begin without visits. The bound of a move is its mean, and EXPLORATION times the
standard deviation of the values that the root has seen, times the square root of ln N / n, N being the visits of the
state and n those of the move: of points no range is known beforehand.

What is drawn is a function of the tree's seed, so a tree is the same wherever it is grown, and trees of different seeds
are grown side by side (root parallelisation). Sources: Kocsis and Szepesvári 2006; Chaslot, Winands, van den Herik
2008.
"""

from typing import NamedTuple

import numpy as np

from .. import games
from ..core import jit
from ..core.pointers import address, float64s, int16s, int64s, new_record, record_view, set_fields, struct, uint64s
from ..core.rng import below, drawn
from ..games import lanes
from ..games.interface import CHANCE, MAX, MAX_MOVES

moves = play = outcomes = key = kind = None  # bound for each game
evaluate = EVALUATES = None  # bound for each evaluation, and whether there is one, rather than playouts

CONTROL = struct(
    # addresses
    ("rules", np.int64),
    ("tables", np.int64),  # the evaluation's
    ("moves", np.int64),  # int16, of one state
    ("chances", np.int64),  # float64, of one state
    ("nodes_of", np.int64),  # NODE, the root first
    ("states", np.int64),  # uint64, of all nodes
    ("edges", np.int64),  # EDGE, of all nodes
    ("slots", np.int64),  # int64, a hash table: nodes from 1 on, 0 for none
    ("path", np.int64),  # int64, edges of the simulation
    ("gains", np.int64),  # int64, points on the way behind each
    # numbers
    ("slot_mask", np.int64),
    ("node_room", np.int64),
    ("edge_room", np.int64),
    ("used_nodes", np.int64),
    ("used_edges", np.int64),
    ("exploration", np.float64),  # see EXPLORATION
    ("counts_points", np.int64),  # 1: values are points to come
    ("seed", np.uint64),
    ("draws", np.uint64),  # numbers drawn so far
    ("limit", np.int64),  # of ``nodes``, at which the tree is done
    ("nodes", np.int64),  # states reached by the player's moves so far, those of playouts as well
    ("evaluated", np.int64),
    ("longest", np.int64),  # moves of the player from the root to a new node
    ("simulations", np.int64),
    ("mean", np.float64),  # of the values that the root has seen
    ("squares", np.float64),  # sum of their squared deviations
)
NODE = struct(("first", np.int64), ("count", np.int64), ("visits", np.int64))
EDGE = struct(("move", np.int64), ("visits", np.int64), ("total", np.float64))
_control_at, _node_at, _edge_at = map(record_view, (CONTROL, NODE, EDGE))

# standard deviations that a move is given at ln N = n: benchmarks/monte_carlo_trees.py, decision 0063
EXPLORATION, EXPLORATION_PLAYOUTS = 1.0, 2.0
LONGEST = 4096  # moves of the player on a simulation's way through the tree
MOST_NODES = 1 << 20  # of the tree: 150 MiB; simulations go on when it is full
_MOST_PLAYED = 1 << 20  # moves of a playout, for games that may never end


def draw(c):
    """Return the next number of the tree's stream, uint64."""
    number = drawn(c.seed, c.draws)
    c.draws += np.uint64(1)
    return number


def after_chance(s, c):
    """Return (the state after all that is chance's turn, the points of that)."""
    r, out, chances = uint64s(c.rules), int16s(c.moves), float64s(c.chances)
    points = np.int64(0)
    while np.int64(kind(s, r)) == CHANCE:
        n = np.int64(outcomes(s, r, out, chances, 0))
        total = 0.0
        for i in range(n):
            total += chances[i]
        point = np.float64(draw(c) >> np.uint64(11)) * 2.0**-53 * total
        i = np.int64(0)
        while i + 1 < n and point >= chances[i]:
            point -= chances[i]
            i += 1
        s, gain = play(s, r, np.int64(out[i]))
        points += np.int64(gain)
    return s, points


def played_out(s, c):
    """Return the points of a game of random moves from a state in which the player may have one."""
    r, out = uint64s(c.rules), int16s(c.moves)
    points, played = np.int64(0), np.int64(0)
    while np.int64(kind(s, r)) == MAX and played < _MOST_PLAYED:
        n = np.int64(moves(s, r, out, 0))
        s, gain = play(s, r, np.int64(out[below(draw(c), n)]))
        s, more = after_chance(s, c)
        points += np.int64(gain) + more
        played += 1
    c.nodes += played
    return np.float64(points)


def slot_of(s, c):
    """Return (the slot of a state, the node there: 0 if there is none)."""
    slots, states = int64s(c.slots), uint64s(c.states)
    at = np.int64(key(s, uint64s(c.rules)) * np.uint64(0x9E3779B97F4A7C15) >> np.uint64(20)) & c.slot_mask
    while slots[at] > 0 and not same(s, lanes.load(s, states, (slots[at] - 1) * len(s))):
        at = at + 1 & c.slot_mask
    return at, slots[at]


def same(a, b):
    """Whether two states are."""
    alike = True
    for i in range(len(a)):
        alike = alike and a[i] == b[i]
    return alike


def add_node(s, c, slot):
    """Make a state in which the player has a move a node, at a slot if there is room; return what it is worth."""
    r, out, tables = uint64s(c.rules), int16s(c.moves), uint64s(c.tables)
    n = np.int64(moves(s, r, out, 0))
    fits = c.used_nodes < c.node_room and c.used_edges + n <= c.edge_room
    first, best = c.used_edges, -np.inf
    for i in range(n):
        value = 0.0
        if EVALUATES:
            after, gain = play(s, r, np.int64(out[i]))
            value = np.float64(evaluate(after, r, tables))
            value += np.float64(gain) * np.float64(c.counts_points)
            best = max(best, value)
        if fits:
            edge = _edge_at(c.edges, first + i)
            edge.move, edge.visits, edge.total = np.int64(out[i]), np.int64(EVALUATES), value
    c.evaluated += n if EVALUATES else np.int64(1)
    if fits:
        node = _node_at(c.nodes_of, c.used_nodes)
        node.first, node.count, node.visits = first, n, n * np.int64(EVALUATES)
        lanes.store(uint64s(c.states), c.used_nodes * len(s), s)
        c.used_nodes += 1
        c.used_edges += n
        int64s(c.slots)[slot] = c.used_nodes
    return best if EVALUATES else played_out(s, c)


def choose(c, node):
    """Return the edge of a node with the highest upper confidence bound; one without a visit goes first."""
    spread = c.exploration * np.sqrt(c.squares / max(c.simulations, 1))
    logarithm = np.log(np.float64(max(node.visits, 1)))
    best, chosen = -np.inf, node.first
    for at in range(node.first, node.first + node.count):
        edge = _edge_at(c.edges, at)
        if edge.visits == 0:
            return np.int64(at)
        visits = np.float64(edge.visits)
        bound = edge.total / visits + spread * np.sqrt(logarithm / visits)
        if bound > best:
            best, chosen = bound, np.int64(at)
    return chosen


def simulate(s, c):
    """Do one simulation; s: any state, which tells the width."""
    r, states, tables = uint64s(c.rules), uint64s(c.states), uint64s(c.tables)
    path, gains = int64s(c.path), int64s(c.gains)
    state, number, steps, value = lanes.load(s, states, 0), np.int64(1), np.int64(0), 0.0
    while True:
        node = _node_at(c.nodes_of, number - 1)
        at = choose(c, node)
        node.visits += 1
        edge = _edge_at(c.edges, at)
        state, gain = play(state, r, edge.move)
        state, more = after_chance(state, c)
        path[steps], gains[steps] = at, (np.int64(gain) + more) * c.counts_points
        steps += 1
        c.nodes += 1
        if np.int64(kind(state, r)) != MAX:
            value = np.float64(evaluate(state, r, tables)) if EVALUATES else 0.0
            c.evaluated += 1
            break
        slot, number = slot_of(state, c)
        if number == 0 or steps == LONGEST:
            value = add_node(state, c, slot) if number == 0 else 0.0
            break
    c.longest = max(c.longest, steps)
    for i in range(steps - 1, -1, -1):
        value += np.float64(gains[i])
        edge = _edge_at(c.edges, path[i])
        edge.visits += 1
        edge.total += value
    c.simulations += 1
    away = value - c.mean
    c.mean += away / np.float64(c.simulations)
    c.squares += away * (value - c.mean)


def begin(s, where):
    """Make a state in which the player has a move the root of an empty tree."""
    c = _control_at(where, 0)
    slots = int64s(c.slots)
    for i in range(c.slot_mask + 1):
        slots[i] = 0
    c.used_nodes = c.used_edges = c.nodes = c.evaluated = c.longest = c.simulations = 0
    c.draws = np.uint64(0)
    c.mean = c.squares = 0.0
    slot, _ = slot_of(s, c)
    add_node(s, c, slot)
    c.nodes = 0


def advance(s, where, budget):
    """Simulate until the limit (True), or for about ``budget`` nodes; s: any state."""
    c = _control_at(where, 0)
    stop = min(c.limit, c.nodes + budget)
    while c.nodes < stop:
        simulate(s, c)
    return c.nodes >= c.limit


_TEMPLATES = draw, after_chance, played_out, same, slot_of, add_node, choose, simulate, begin, advance


class MctsResult(NamedTuple):
    """What a tree has found: of each move of the root, in the order of the game, its visits and the mean of its values.

    longest: moves of the player to the farthest node; nodes: see CONTROL.
    """

    complete: bool
    moves: list[int]
    visits: list[int]
    means: list[float]
    longest: int
    nodes: int
    evaluated: int


def no_evaluation(s, r, tables):
    """Stand in where there are playouts."""
    return 0.0


class Mcts:
    """A pausable tree, see the module: begin it, go on in slices, read its result.

    evaluation: an Evaluation of a game against chance, or None for playouts; points: whether values are points that are
    still to come, as those of playouts are; exploration: see the module (default: what played best).
    """

    def __init__(self, game, rules, evaluation=None, points=False, exploration=None):
        self._game, self._rules, self._evaluation = game, rules, evaluation
        self.name = f"mcts_{games.tag(game)}_{evaluation.name if evaluation else 'playout'}"
        bound = {name: getattr(game, name) for name in ("moves", "play", "outcomes", "key", "kind")}
        bound |= {"EVALUATES": evaluation is not None}
        bound["evaluate"] = evaluation.function if evaluation else jit.specialise(no_evaluation, "no_evaluation", {})
        self._kernels = jit.specialise_all(_TEMPLATES, self.name, bound)
        self._control = new_record(CONTROL)
        self._where, self._width = address(self._control), game.words(rules)
        tables = evaluation.tables if evaluation else np.zeros(1, np.uint64)
        self._arrays = {
            "rules": rules,
            "tables": tables,
            "moves": np.zeros(MAX_MOVES, np.int16),
            "chances": np.zeros(MAX_MOVES),
            "path": np.zeros(LONGEST, np.int64),
            "gains": np.zeros(LONGEST, np.int64),
        }
        self._place(**self._arrays)
        if exploration is None:
            exploration = EXPLORATION_PLAYOUTS if evaluation is None else EXPLORATION
        set_fields(self._control, counts_points=int(points or evaluation is None), exploration=exploration)
        self._room, self._state, self._has_move = 0, game.start(rules).state, False

    def _place(self, **arrays):
        self._arrays |= arrays
        set_fields(self._control, **{name: address(array) for name, array in arrays.items()})

    def _make_room(self, limit):
        """Have a tree of so many simulations, and MOST_NODES nodes at most, take no more room than it needs."""
        room = 1 << (min(limit + 1, MOST_NODES) - 1).bit_length()
        edges = 4 * room + MAX_MOVES
        set_fields(self._control, slot_mask=2 * room - 1, node_room=room, edge_room=edges)
        if room <= self._room:
            return
        self._place(
            nodes_of=np.zeros(room, NODE),
            states=np.zeros(room * self._width, np.uint64),
            edges=np.zeros(edges, EDGE),
            slots=np.zeros(2 * room, np.int64),
        )
        self._room = room

    def compile(self):
        """Compile, or load from disk, every kernel."""
        rules, state = self._rules, self._game.start(self._rules).state
        while int(self._game.kind(state, rules)) != MAX:
            out = np.zeros(MAX_MOVES, np.int16)
            self._game.moves(state, rules, out, 0)
            state = tuple(map(np.uint64, self._game.play(state, rules, np.int64(out[0]))[0]))
        self.begin(state, 0, 1)
        self.advance(1)

    def begin(self, state, seed, limit):
        """Begin the tree of a seed (64 bits) from ``state``, of about ``limit`` nodes, or of none without a move."""
        self._state, self._has_move = state, int(self._game.kind(state, self._rules)) == MAX
        self._make_room(int(limit))
        set_fields(self._control, seed=np.uint64(seed), limit=int(limit), nodes=0, evaluated=0, longest=0)
        if self._has_move:
            self._kernels["begin"](state, self._where)

    @property
    def nodes(self):
        return int(self._control["nodes"])

    def advance(self, budget):
        """Simulate for about ``budget`` nodes; return whether the tree is done."""
        return not self._has_move or bool(self._kernels["advance"](self._state, self._where, int(budget)))

    def result(self):
        """Return what was found so far."""
        control = self._control
        count = int(self._arrays["nodes_of"][0]["count"]) if self._has_move else 0
        edges = self._arrays["edges"][:count]
        unasked = int(self._evaluation is not None)  # visits that edges begin with
        visits = edges["visits"] - unasked
        means = edges["total"] / np.maximum(edges["visits"], 1)
        return MctsResult(
            complete=not self._has_move or bool(control["nodes"] >= control["limit"]),
            moves=edges["move"].tolist(),
            visits=visits.tolist(),
            means=means.tolist(),
            longest=int(control["longest"]),
            nodes=int(control["nodes"]),
            evaluated=int(control["evaluated"]),
        )
