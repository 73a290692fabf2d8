"""What hosts that search one root tell one another: entries that are true, and marks of what their ranks are at."""

import numpy as np
import pytest

from distsearch import evaluation
from distsearch.engines.pvs import abdada, remote_hosts, side_tables, table_exchange
from distsearch.engines.pvs import table as tt
from distsearch.engines.pvs.depth_search import DepthSearch
from distsearch.engines.pvs.exact_solver import ExactSolver
from distsearch.games import connect4, othello
from distsearch.games.interface import END, PASS, as_state, legal_moves, step

from .positions import NO_PAUSE

FAR = 3  # buckets of eight words: few, so that entries are written over
NOTHING = np.zeros((0, 2), np.uint64)
OPEN = -(1 << 60), 1 << 60  # bounds that say nothing


class Kind:
    """Searches of a game on a board, to a depth or to the end (None), after so many plies."""

    def __init__(self, game, board, plies, depth):
        self.game, self.board, self.plies, self.depth = game, board, plies, depth
        self.rules = game.rules(board)

    def __repr__(self):
        return "{}-{}x{}-{}".format(self.game.NAME, *self.board, "exact" if self.depth is None else "deep")

    def engine(self, far=1 << 14, part=True):
        """far: a shared table, or how many buckets one of its own has."""
        if isinstance(far, int):
            far = np.zeros(side_tables.WORDS + 2 * tt.BUCKET * far, np.uint64)
        if self.depth is None:
            return ExactSolver(self.game, self.rules, far, part=part)
        chosen = evaluation.find(self.game, evaluation.names(self.game)[0], self.rules)
        engine = DepthSearch(self.game, self.rules, chosen, far, part=part)
        engine._control["step"] = 1 << 40  # at once to the depth
        return engine

    def position(self, rng, passes=False):
        """A random one with moves, after one of which the other side has to pass, if that is wanted."""
        while True:
            position = self.game.start(self.rules)
            for _ in range(self.plies):
                if moves := legal_moves(self.game, position, self.rules):
                    position = step(self.game, position, self.rules, rng.choice(moves))
            after = [legal_moves(self.game, each, self.rules) == [PASS] for each in self.after(position)]
            if after and (any(after) or not passes):
                return position

    def after(self, position):
        """The positions after a position's moves."""
        moves = legal_moves(self.game, position, self.rules)
        return [step(self.game, position, self.rules, m) for m in moves]

    def left(self, state):
        return int(self.game.moves_left(state, self.rules)) if self.depth is None else self.depth - 1

    def begin(self, engine, state, left, *window):
        engine.begin(state, *window) if self.depth is None else engine.begin(state, left, *window)

    def score(self, engine, state, left):
        self.begin(engine, state, left)
        while not engine.advance(NO_PAUSE):
            pass
        return int(engine.result().score)

    def hash(self, engine, state):
        """Its hash, by what the engine is bound to rather than by a search's kernel."""
        functions = engine.functions
        found = functions["key"](as_state(functions["canonical"](state, self.rules)), self.rules)
        return int(found) ^ int(engine._control["salt"]) % 2**64

    def tree(self, engine, position, plies):
        """hash → state, of a position and all that are so many plies from it at most."""
        found, level = {}, [position]
        for _ in range(plies + 1):
            found.update((self.hash(engine, each.state), each.state) for each in level)
            level = [after for each in level for after in self.after(each)]
        return found

    def entry(self, engine, state, low, high, left):
        """What another host tells of a state."""
        data = int(tt.packed(engine._control["table"], low, high, tt.NO_MOVE, left, self.depth is not None))
        return [self.hash(engine, state) ^ data, data]

    def told(self, rng, engine, states, slack=0, left=None):
        """Entries with the scores of states, as bounds that leave so much open."""
        judge, rows = self.engine(part=False), []
        for state in states:
            if self.game.kind(state, self.rules) != END:
                score = self.score(judge, state, self.left(state))
                low, high = score - rng.randint(0, slack), score + rng.randint(0, slack)
                rows.append(self.entry(engine, state, low, high, left or self.left(state)))
        return np.array(rows, np.uint64).reshape(-1, 2)


ENDINGS = Kind(othello, (8, 8), 50, None)
SHALLOW = Kind(othello, (8, 8), 30, 5)
KINDS = [
    Kind(othello, (6, 6), 20, None),
    ENDINGS,
    SHALLOW,
    Kind(connect4, (6, 7), 22, None),
    Kind(connect4, (6, 7), 10, 7),
]
# these take tens of thousands of nodes, some a million
LARGE = [
    Kind(othello, (6, 6), 16, None),
    Kind(othello, (8, 8), 43, None),
    Kind(othello, (8, 8), 24, 9),
    Kind(connect4, (6, 7), 12, None),
    Kind(connect4, (6, 7), 8, 12),
]
kinds = pytest.mark.parametrize("kind", KINDS, ids=repr)
large_kinds = pytest.mark.parametrize("kind", LARGE, ids=repr)
with_passes = pytest.mark.parametrize("kind", [kind for kind in KINDS if kind.game is othello], ids=repr)


def low_and_high(data):
    return int(tt.low_of(data)), int(tt.high_of(data))


# --- entries that are told ---


@large_kinds
def test_what_is_told_is_true(kind, rng):
    """Whatever window is asked for, in slices, with a window that becomes narrower."""
    judge, told = kind.engine(part=False), 0
    while told <= 5:
        position, engine = kind.position(rng), kind.engine(1 << 16)
        engine.set_remote_marks(NOTHING, 2, 0)
        engine.share(True)
        low = rng.choice((-40, rng.randint(-10, 10)))
        high = low + rng.choice((1, 5, 80))
        kind.begin(engine, position.state, kind.depth, low, high)
        engine.share(True)
        while not engine.advance(rng.choice((10, 1_000, 100_000))):
            if rng.random() < 0.05 and high - low > 1:
                high = rng.randint(low + 1, high)
                engine.narrow(low, high)
        states = kind.tree(engine, position, 2)
        entries, *_, since = engine.export_updates((0, 0))
        while len(entries):
            known = [(states.get(int(word ^ data)), data) for word, data in entries]
            for state, data in [each for each in known if each[0]][-5:]:
                left = int(tt.depth_of(data))
                low, high = low_and_high(data)
                assert kind.depth is not None or left == kind.left(state)
                score = kind.score(judge, state, left)
                assert low <= score <= high, (state, left)
                if kind.depth and not tt.is_cut_off(data):  # it rests on ends of games alone: so at any depth
                    assert low <= kind.score(judge, state, left + 2) <= high, (state, left)
                told += 1
            entries, *_, since = engine.export_updates(since)


def test_nothing_is_told_by_a_host_that_searches_alone(rng):
    kind = LARGE[1]
    for hosts in (0, 1):
        engine = kind.engine()
        engine.set_remote_marks(NOTHING, hosts, 0)
        engine.share(True)
        kind.score(engine, kind.position(rng).state, None)
        assert engine.export_updates((0, 0))[-1] == (0, 0)


def fill(engine, n):
    """Have an engine tell n entries, of hash and data 1000 + i."""
    engine.set_remote_marks(NOTHING, 2, 0)
    for i in range(n):
        remote_hosts.tell(engine._control["table"], np.uint64(1000 + i), np.uint64(1000 + i))


def numbers(entries):
    assert not entries[:, 0].any()  # hash xor data
    return (entries[:, 1] - np.uint64(1000)).tolist()


def test_entries_are_told_once_in_order_some_at_a_time():
    engine, since, found = ENDINGS.engine(), (0, 0), []
    fill(engine, 300)
    for expected in (*[table_exchange.MOST] * (300 // table_exchange.MOST), 300 % table_exchange.MOST, 0):
        entries, *_, since = engine.export_updates(since)
        assert len(entries) == expected
        found += numbers(entries)
    assert found == list(range(300))
    assert since == (300, 0)
    assert engine.export_updates((1 << 62, 0))[-1] == (300, 0)  # what was found so far is of no interest
    fill(engine, 2)
    assert numbers(engine.export_updates(since)[0]) == [0, 1]


def test_of_entries_that_nobody_took_the_latest_are_left():
    engine, more, since, found = ENDINGS.engine(), 77, (0, 0), []
    fill(engine, side_tables.TOLD + more)
    while since[0] < side_tables.TOLD + more:
        entries, *_, since = engine.export_updates(since)
        found += numbers(entries)
    assert found == list(range(more, side_tables.TOLD + more))


# --- entries that are taken in ---


def searched_next_to_nothing(kind, rng, passes=False):
    """Whether an engine that was told all of a position's moves hardly searches; that it finds the same score it must.

    Two entries may fall on the same place of a small table, in less than one position of a thousand, and one of them is
    searched for then.
    """
    position = kind.position(rng, passes)
    expected, engine = kind.score(kind.engine(part=False), position.state, kind.depth), kind.engine()
    engine.import_updates(kind.told(rng, engine, [after.state for after in kind.after(position)]))
    assert kind.score(engine, position.state, kind.depth) == expected, position
    return is_next_to_nothing(kind, engine, position)


def is_next_to_nothing(kind, engine, position):
    # a question at the root looks at every move, and at most twice; there are no more questions than scores
    return engine.nodes <= 2 * (1 if kind.depth else 20) * len(kind.after(position))


@kinds
def test_it_answers_from_the_table(kind, full, rng):
    tries = 50 if full else 5
    assert sum(searched_next_to_nothing(kind, rng) for _ in range(tries)) >= 0.8 * tries


@with_passes
def test_passes_too(kind, full, rng):
    tries = 20 if full else 3
    assert sum(searched_next_to_nothing(kind, rng, passes=True) for _ in range(tries)) >= 0.6 * tries


@kinds
def test_bounds_that_leave_something_open(kind, full, rng):
    """Told in any order, more than once, to tables of any size, before a search, or after."""
    for _ in range(20 if full else 3):
        position = kind.position(rng)
        states = [after.state for after in kind.after(position)]
        expected = kind.score(kind.engine(part=False), position.state, kind.depth)
        engine = kind.engine(rng.choice((FAR, 1 << 14)))
        if rng.random() < 0.5:
            assert kind.score(engine, position.state, kind.depth) == expected, position
        for _ in range(3):
            rows = kind.told(rng, engine, states, slack=4)
            engine.import_updates(rows[rng.sample(range(len(rows)), len(rows))])
        assert kind.score(engine, position.state, kind.depth) == expected, position


@kinds
def test_what_is_known_better_stays(kind, rng):
    position, engine = kind.position(rng), kind.engine()
    states = [after.state for after in kind.after(position)]
    engine.import_updates(kind.told(rng, engine, states))
    engine.import_updates(np.array([kind.entry(engine, state, *OPEN, kind.left(state)) for state in states], np.uint64))
    kind.score(engine, position.state, kind.depth)
    assert is_next_to_nothing(kind, engine, position)


def test_bounds_of_two_entries_hold_together(rng):
    """The best move of the earlier one stays, where the later one has none."""
    kind = SHALLOW
    state, engine = kind.position(rng).state, kind.engine()
    known = tt.packed(engine._control["table"], np.int64(-3), np.int64(9), np.int64(17), np.int64(6), 0)
    h = np.uint64(kind.hash(engine, state))
    tt.store(engine._control["table"], h, known, np.int64(6))
    engine.import_updates(np.array([kind.entry(engine, state, -8, 4, 6)], np.uint64))
    found = tt.probe(engine._control["table"], h)
    assert (low_and_high(found), tt.move_of(found), tt.is_cut_off(found)) == ((-3, 4), 17, 1)
    engine.import_updates(np.array([kind.entry(engine, state, 0, 0, 5)], np.uint64))  # of less depth
    assert tt.probe(engine._control["table"], h) == found
    engine.import_updates(np.array([kind.entry(engine, state, -50, 50, 7)], np.uint64))
    found = tt.probe(engine._control["table"], h)
    assert (low_and_high(found), tt.move_of(found), tt.depth_of(found)) == ((-50, 50), 17, 7)


def test_a_search_at_work_goes_on(rng):
    """It is told what it would find; its counts are its own."""
    kind = ENDINGS
    position, engine = kind.position(rng), kind.engine(part=False)
    expected = kind.score(kind.engine(part=False), position.state, None)
    engine.begin(position.state)
    engine.advance(50)
    before = engine.table_counts, int(engine._control["table"]["shared_from"])
    engine.import_updates(kind.told(rng, engine, [after.state for after in kind.after(position)]))
    assert (engine.table_counts, int(engine._control["table"]["shared_from"])) == before
    while not engine.advance(50):
        pass
    assert int(engine.result().score) == expected


def test_another_depth_is_not_answered(rng):
    """What is left must match, for a score is one of a depth."""
    kind = SHALLOW
    position = kind.position(rng)
    expected = kind.score(kind.engine(part=False), position.state, kind.depth)
    for left in (2, 3, 5, 6):
        engine = kind.engine()
        wrong = [kind.entry(engine, after.state, 5_000, 5_000, left) for after in kind.after(position)]
        engine.import_updates(np.array(wrong, np.uint64))
        assert kind.score(engine, position.state, kind.depth) == expected


def test_torn_words_are_never_an_answer(rng):
    """Each has the data of the next one, which are wrong, too: a search that found them would answer by them."""
    kind = ENDINGS
    position, engine = kind.position(rng), kind.engine()
    states = [after.state for after in kind.after(position)]
    expected = kind.score(kind.engine(part=False), position.state, None)
    rows = [kind.entry(engine, state, 60 - 2 * i, 60 - 2 * i, kind.left(state)) for i, state in enumerate(states)]
    rows.append(kind.entry(engine, position.state, 64, 64, kind.left(position.state)))
    torn = np.array(rows, np.uint64)
    torn[:, 1] = np.roll(torn[:, 1], 1)
    engine.import_updates(torn)
    for state in states:
        assert tt.probe(engine._control["table"], np.uint64(kind.hash(engine, state))) == 0
    assert kind.score(engine, position.state, None) == expected


def test_without_a_far_table_the_near_one_takes_it(rng):
    kind = ENDINGS
    position, engine = kind.position(rng), ExactSolver(othello, kind.rules, part=True)
    engine.import_updates(kind.told(rng, engine, [after.state for after in kind.after(position)]))
    kind.score(engine, position.state, None)
    assert is_next_to_nothing(kind, engine, position)


# --- marks ---


def hashes(rng, n):
    return [np.uint64(rng.getrandbits(64) | 1) for _ in range(n)]


def set_marks(engine, marks, hosts=2, host=0):
    engine.set_remote_marks(np.array(marks, np.uint64).reshape(-1, 2), hosts, host)


def test_marks_say_how_many_ranks_are_where(rng):
    """Of those where enough is left; as long as any rank is there."""
    engine = ENDINGS.engine()
    control, far, here = engine._control["table"], engine._shared, {}
    places = [(h, rng.randint(5, 30)) for h in hashes(rng, 40)]
    for _ in range(500):
        h, left = rng.choice(places)
        if rng.random() < 0.6:
            abdada.mark(control, h, left)
            here[h] = here.get(h, 0) + 1
        elif here.get(h):
            abdada.unmark(control, h)
            here[h] -= 1
        least = rng.randint(0, 32)
        expected = {(int(h), here[h]) for h, left in places if left >= least and here.get(h)}
        found = table_exchange.export_marks(far, least, 1000).tolist()
        assert sorted(map(tuple, found)) == sorted(expected)
        assert abdada.ranks_at(control, h) == here.get(h, 0)


def test_of_too_many_marks_those_are_told_where_the_most_is_left(rng):
    engine, places = ENDINGS.engine(), hashes(rng, 60)
    order = rng.sample(range(60), 60)
    for left in order:
        abdada.mark(engine._control["table"], places[left], left)
    for most, least in ((7, 5), (60, 57), (1, 0), (0, 60)):
        found = table_exchange.export_marks(engine._shared, least, most)
        expected = places[max(60 - most, least) :]
        assert sorted(found.tolist()) == sorted([int(h), 1] for h in expected)


def test_marks_of_another_question_are_not_counted(rng):
    """Those of a question that is answered would keep all ranks away from the eldest move of the next one."""
    one, other = ENDINGS.engine(), ENDINGS.engine()
    h, low, left = *hashes(rng, 1), rng.randint(-60, 60), rng.randint(10, 30)
    abdada.mark(one._control["table"], h, 40)
    for question, same in (((low, left), True), ((low + 2, left), False), ((low, left - 1), False)):
        remote_hosts.begin_question(one._control["table"], low, left)
        remote_hosts.begin_question(other._control["table"], *question)
        *_, marks, _ = one.export_updates((0, 0))
        set_marks(other, marks)
        assert abdada.ranks_at(other._control["table"], h) == 4 * same
        assert abdada.ranks_at(one._control["table"], h) == 1


def test_ranks_of_other_hosts_count_more(rng):
    engine = ENDINGS.engine()
    both, ours, theirs, nobodys = hashes(rng, 4)
    for h in (both, ours, ours):
        abdada.mark(engine._control["table"], h, 10)
    set_marks(engine, [(both, 3), (theirs, 1), (both, 2), (theirs, 1)])

    def counts():
        return [int(abdada.ranks_at(engine._control["table"], h)) for h in (both, ours, theirs, nobodys)]

    assert counts() == [1 + 4 * 5, 2, 4 * 2, 0]
    set_marks(engine, [(nobodys, 1)])
    assert counts() == [1, 2, 0, 4]
    set_marks(engine, [])
    assert counts() == [1, 2, 0, 0]


@pytest.mark.parametrize("n", [1, 63, 64, 65, 1_000, side_tables.MAX_REMOTE_MARKS // 2])
def test_all_that_fit_are_found(n, rng):
    engine, places = ENDINGS.engine(), hashes(rng, n)
    set_marks(engine, [(h, 1 + i % 5) for i, h in enumerate(places)])
    for i, h in enumerate(places):
        assert abdada.ranks_at(engine._control["table"], h) == 4 * (1 + i % 5)
    for h in hashes(rng, 1_000):
        assert abdada.ranks_at(engine._control["table"], h) == 0


@pytest.mark.parametrize(
    "n", [side_tables.MAX_REMOTE_MARKS // 2 + 1, side_tables.MAX_REMOTE_MARKS, 3 * side_tables.MAX_REMOTE_MARKS]
)
@pytest.mark.parametrize("crowded", [False, True])
def test_more_than_fit_are_lost_without_harm(crowded, n, rng):
    """Also where all of them would be in the same slot."""
    engine, places = ENDINGS.engine(), hashes(rng, n)
    if crowded:
        places = [h << np.uint64(20) for h in places[: n // 4]]
    set_marks(engine, [(h, 1) for h in places])
    assert not engine._shared[side_tables.place(engine._shared) + side_tables.WORDS :].any()
    found = [int(abdada.ranks_at(engine._control["table"], h)) for h in places[:1_000] + places[-1_000:]]
    assert set(found) <= {0, 4, 8}  # a hash may be there twice
    assert found.count(0) < 1_100
    set_marks(engine, [])
    assert not any(abdada.ranks_at(engine._control["table"], h) for h in places[:1_000])


@pytest.mark.parametrize("hosts", [1, 2, 3, 7])
def test_every_position_belongs_to_one_host(hosts, rng):
    engine, places, owned = ENDINGS.engine(), hashes(rng, 3_000), []
    for host in range(hosts):
        set_marks(engine, [(places[0], 1)], hosts, host)
        owned.append([int(h) for h in places if not remote_hosts.belongs_to_remote_host(engine._control["table"], h)])
    assert sorted(sum(owned, [])) == sorted(map(int, places))
    assert min(map(len, owned)) > 0.75 * len(places) / hosts


def test_to_a_host_that_is_alone_every_position_belongs(rng):
    engine = ENDINGS.engine()
    set_marks(engine, [], 3, 1)
    set_marks(engine, [], 0, 0)
    assert not any(remote_hosts.belongs_to_remote_host(engine._control["table"], h) for h in hashes(rng, 100))


@pytest.mark.parametrize("words", [0, 8, 8_000, side_tables.WORDS])
def test_a_table_too_small_for_marks_stays_as_it_is(words):
    far = np.zeros(words + 2 * side_tables.WORDS, np.uint64)
    engine = ExactSolver(othello, ENDINGS.rules, far[:words], part=True)
    engine.compile()
    set_marks(engine, [(5, 1)])
    assert not far[words:].any()


# --- two hosts ---


def tell_one_another(engines, marks, since):
    """Each engine is a host; what one has to tell the others take in."""
    for i, engine in enumerate(engines):
        entries, orders, marks[i], since[i] = engine.export_updates(since[i])
        for other in engines:
            if other is not engine:
                other.import_updates(entries, orders)
    for i, engine in enumerate(engines):
        others = np.concatenate([NOTHING, *(each for j, each in enumerate(marks) if j != i)])
        engine.set_remote_marks(others, len(engines), i)


@large_kinds
@pytest.mark.parametrize("hosts", [2, 3])
def test_hosts_that_tell_one_another_find_the_score_of_one(hosts, kind, full, rng):
    """What comes late or never, changes no score; nor does a search that begins before the others' last one is over."""
    alone = kind.engine(part=False)
    engines, marks, since, told = [kind.engine(1 << 15) for _ in range(hosts)], [NOTHING] * hosts, [(0, 0)] * hosts, 0
    tries = 0
    while tries < (20 if full else 3) or not told:  # some positions are too easy for any news
        tries += 1
        position = kind.position(rng)
        expected = kind.score(alone, position.state, kind.depth)
        for i, engine in enumerate(engines):
            engine.set_remote_marks(NOTHING, hosts, i)
            engine.share(True)
            kind.begin(engine, position.state, kind.depth)
            engine.share(True)
        done = []
        while not done:
            for engine in engines:
                if engine.advance(rng.choice((30, 1_000, 20_000))):
                    done.append(engine)
            if rng.random() < 0.8:
                tell_one_another(engines, marks, since)
        for engine in done:
            assert int(engine.result().score) == expected, position
        told += sum(map(sum, since))


# --- orders of moves ---


def test_an_order_that_is_told_is_kept_as_it_was_found(rng):
    """Of two engines with tables of their own; as many as fit a message, the rest with the next."""
    game = othello
    one, other = (ExactSolver(game, game.rules((6, 6)), tt.new_shared_table(1), part=True) for _ in range(2))
    one.set_remote_marks(np.zeros((0, 2), np.uint64), 2, 0)
    found = {}
    for slot in rng.sample(range(1 << 10), 40):
        h, n = rng.getrandbits(54) << 10 | slot, rng.randint(1, 20)
        out = np.array([rng.randrange(-1, 36) for _ in range(n)], np.int16)
        scores = np.array([rng.randint(-5000, 5000) for _ in range(n)])
        abdada.store_order(one._control["table"], np.uint64(h), out, scores, 0, n)
        found[h] = out.tolist(), scores.tolist()
    since = 0, 0
    for _ in range(40):
        _, words, _, since = one.export_updates(since)
        assert len(words) <= table_exchange.MAX_ORDER_WORDS
        other.import_updates(NOTHING, words)
    assert since == (0, 40)
    for h, (moves, scores) in found.items():
        out, values = np.zeros(2 * len(moves), np.int16), np.zeros(2 * len(moves), np.int64)
        assert abdada.probe_order(other._control["table"], np.uint64(h), out, values, 0, len(moves))
        assert (out[: len(moves)].tolist(), values[: len(moves)].tolist()) == (moves, scores)


def test_of_orders_that_are_cut_short_or_torn_nothing_is_found(rng):
    game = othello
    engine = ExactSolver(game, game.rules((6, 6)), tt.new_shared_table(1), part=True)
    words = np.array([rng.getrandbits(64) for _ in range(50)], np.uint64)
    words[1] = 8
    engine.import_updates(NOTHING, words[:5])
    engine.import_updates(NOTHING, words)
    out, values = np.zeros(16, np.int16), np.zeros(16, np.int64)
    assert not abdada.probe_order(engine._control["table"], words[0], out, values, 0, 8)


def test_marks_that_were_taken_away_once_too_often_go_with_the_next(rng):
    """Ranks that race may count one another's marks down."""
    engine = ENDINGS.engine()
    control, (h,) = engine._control["table"], hashes(rng, 1)
    abdada.mark(control, h, 20)
    places = np.flatnonzero(engine._shared == h)
    for _ in range(2):
        engine._shared[places + 1] -= np.uint64(1)
    assert abdada.ranks_at(control, h) == 1
    assert table_exchange.export_marks(engine._shared, 0)[:, 1].tolist() == [1]
    abdada.unmark(control, h)
    assert abdada.ranks_at(control, h) == 0


def test_alone_a_host_tells_no_orders():
    engine = ExactSolver(othello, othello.rules((6, 6)), tt.new_shared_table(1), part=True)
    abdada.store_order(engine._control["table"], np.uint64(77), np.zeros(3, np.int16), np.zeros(3, np.int64), 0, 3)
    assert engine.export_updates((0, 0))[-1] == (0, 0)
