"""Expectimax: the same values as plain recursion, however it is sliced, with whatever is in the table."""

import random

import pytest

from distsearch import evaluation
from distsearch.engines import expectimax
from distsearch.engines.expectimax import Expectimax
from distsearch.engines.pvs import side_tables
from distsearch.engines.pvs.growing_table import Growing
from distsearch.engines.pvs.table import new_shared_table

from .expectimax_twin import value, values
from .sliding_case import SlidingCase

WAYS = [
    {},
    {"points": True},
    {"uniform_chance": True},
    {"min_probability": 0.01},
    {"min_probability": 0.2, "points": True},
    {"min_probability": 1e-3, "uniform_chance": True},
]


class Case(SlidingCase):
    def engine(self, **how):
        return Expectimax(self.game, self.rules, self.evaluation, **how)

    def search(self, engine, position, depth, budget=10**9):
        engine.begin(self.state(position), depth)
        while not engine.advance(budget):
            pass
        return engine.result()


@pytest.mark.parametrize("name", ["2048", "2584"])
@pytest.mark.parametrize("board", [(2, 2), (3, 3), (4, 4)], ids=str)
@pytest.mark.parametrize("how", WAYS, ids=str)
def test_the_values_of_plain_recursion(name, board, how, rng, full):
    case = Case(name, board, rng)
    deepest = {(2, 2): 5, (3, 3): 4, (4, 4): 3}[board] + full
    engine = case.engine(**how)
    for i in range(20 if full else 4):
        position = case.position(rng.randint(0, 12 if board == (2, 2) else 40))
        found = case.search(engine, position, depth := i % (deepest + 1))
        expected = value(case.twin, position, depth, case.evaluate, **how)
        assert found.complete
        assert found.value == pytest.approx(expected, rel=1e-12, abs=1e-9)
        if case.twin.kind(position) == "max" and depth > 0:
            expected = values(case.twin, position, depth, case.evaluate, **how)
            by_text = {case.game.move_text(m, case.rules): found_value for m, found_value in found.values.items()}
            assert by_text == pytest.approx(expected, rel=1e-12, abs=1e-9)
            assert expected[case.game.move_text(found.move, case.rules)] == pytest.approx(max(expected.values()))


@pytest.mark.parametrize("name", ["2048", "2584"])
def test_slices_and_tables_change_nothing(name, rng):
    case = Case(name, (4, 4), rng)
    engine, small = case.engine(min_probability=1e-3), case.engine(min_probability=1e-3, entries_bits=4)
    for _ in range(4):
        position = case.position(rng.randint(2, 60))
        whole = case.search(engine, position, 7)
        again = case.search(engine, position, 7, budget=rng.choice((1, 50, 1000)))  # by what is in the table now
        assert (again.value, again.values) == (whole.value, whole.values)
        assert again.nodes <= whole.nodes
        assert case.search(small, position, 7, budget=77).value == whole.value


def test_what_a_table_knows_saves_nodes(rng):
    case = Case("2048", (4, 4), rng)
    position = case.position(40)
    engine = case.engine()
    first, again = case.search(engine, position, 6), case.search(engine, position, 6)
    assert again.table_hits > 0
    assert again.nodes < first.nodes
    engine.forget()
    assert case.search(engine, position, 6).nodes == first.nodes


@pytest.mark.parametrize("name", ["2048", "2584"])
def test_other_weights_are_another_evaluation(name, rng):
    case = Case(name, (4, 4), rng)
    position, engine = case.position(40), case.engine()
    first = case.search(engine, position, 3).value
    other = evaluation.find(case.game, "rows:1,2,3,4,5,3", case.rules)
    engine.evaluate_by(other.tables)
    found = case.search(engine, position, 3).value
    engine.evaluate_by(case.evaluation.tables)
    assert case.search(engine, position, 3).value == first
    case.evaluation = other
    expected = value(case.twin, position, 3, case.evaluate)
    assert found == pytest.approx(expected, rel=1e-12, abs=1e-9)
    assert found != first


def test_a_stopped_search_knows_the_moves_it_has_tried(rng):
    case = Case("2048", (4, 4), rng)
    position = next(p for p in iter(lambda: case.position(40), None) if len(case.twin.moves(p)) > 2)
    engine = case.engine()
    whole = case.search(engine, position, 7)
    engine.forget()
    engine.begin(case.game.parse(case.twin.text(position), case.rules).state, 7)
    while len(engine.result().values) < 2:
        assert not engine.advance(20)
    part = engine.result()
    assert not part.complete
    assert part.values.items() <= whole.values.items()
    assert part.move == max(part.values, key=part.values.get)


@pytest.mark.parametrize("name", ["2048", "2584"])
def test_a_finished_game_is_worth_its_evaluation(name):
    case = Case(name, (2, 2), random.Random(1))
    position = case.position(0)
    while case.twin.moves(position):
        position = case.twin.play(position, case.rng.choice(case.twin.moves(position)))[0]
    found = case.search(case.engine(), position, 5)
    assert (found.value, found.move, found.nodes) == (case.evaluate(position), None, 0)


def together(engines, state, depth, slices):
    """Return what the engine Found that is done first, of some that search a root together; slices(): next budget."""
    for engine in engines:
        engine.begin(state, depth)
        engine.share(True)
    while True:
        for engine in engines:
            if engine.advance(slices()):
                return engine.result()


@pytest.mark.parametrize("name", ["2048", "2584"])
@pytest.mark.parametrize("ranks", [1, 2, 5])
@pytest.mark.parametrize("how", WAYS, ids=str)
def test_engines_that_share_a_search_have_the_values_of_one(name, ranks, how, rng):
    case = Case(name, (4, 4), rng)
    far = new_shared_table(1)
    alone, engines = case.engine(**how), [case.engine(**how, table=far) for _ in range(ranks)]
    for depth in (6, 7, 8):
        position = case.position(rng.randint(2, 60))
        expected = case.search(alone, position, depth)
        state = case.game.parse(case.twin.text(position), case.rules).state
        found = together(engines, state, depth, lambda: rng.choice((1, 50, 1000)))
        assert found.value == expected.value
        assert found.move == expected.move
        assert {m: expected.values[m] for m in found.values} == found.values
        for engine in engines:
            engine.share(False)
            engine.forget()
        marks = far[-side_tables.WORDS :][: 2 * side_tables.MARKS : 2]
        assert not marks.any()


@pytest.mark.parametrize("how", WAYS, ids=str)
def test_a_far_table_changes_no_value_whatever_its_size(how, rng):
    case = Case("2048", (4, 4), rng)
    smallest = new_shared_table(1)[: side_tables.WORDS + 8 * 257]
    for far in (smallest, new_shared_table(1), new_shared_table(16)):
        engine = case.engine(**how, entries_bits=4, table=far, part=True)
        for _ in range(3):
            position = case.position(rng.randint(2, 60))
            found = case.search(engine, position, 7, budget=500)
            assert found.value == case.search(case.engine(**how), position, 7).value
    assert found.table_far_hits > 0 or "min_probability" in how  # then recursion searches it all


def test_of_a_table_that_grows_the_first_part_is_used(rng):
    case, words = Case("2048", (4, 4), rng), new_shared_table(8)
    table = Growing(words, 4, lambda begin, end: True)
    engines, position = [case.engine(table=table, part=True) for _ in range(2)], case.position(50)
    first = case.search(engines[0], position, 7)
    assert table.words[: 8 * table.first].any()
    assert not table.words[8 * table.first : -side_tables.WORDS].any()
    table.grow()
    again = case.search(engines[1], position, 7)
    assert first.value == again.value == case.search(case.engine(), position, 7).value
    assert again.table_far_hits > 0


def test_entries_of_other_settings_are_not_taken(rng):
    case, far = Case("2048", (4, 4), rng), new_shared_table(4)
    position, settings = case.position(50), (*WAYS, {"points": True, "uniform_chance": True})
    engines = [case.engine(**how, table=far, tag=str(how), part=True) for how in settings]
    for engine, how in zip(engines, settings, strict=True):
        assert case.search(engine, position, 7).value == case.search(case.engine(**how), position, 7).value
    again = case.engine(**settings[0], table=far, tag=str(settings[0]), part=True)
    assert case.search(again, position, 7).nodes < 50  # the entries of these are taken


def test_a_rank_waits_no_longer_than_it_has_patience(rng):
    """Marks of a rank that is gone hold no other up."""
    case, far = Case("2048", (4, 4), rng), new_shared_table(1)
    gone, engine, position = case.engine(table=far), case.engine(table=far), case.position(30)
    state = case.game.parse(case.twin.text(position), case.rules).state
    gone.begin(state, 9)
    gone.share(True)
    gone.advance(500)
    assert far[-side_tables.WORDS :].any()
    found = together([engine], state, 9, lambda: 1000)
    assert found.value == case.search(case.engine(), position, 9).value


def test_a_search_that_is_not_easy_asks_the_far_table(rng, monkeypatch):
    monkeypatch.setattr(expectimax, "_EASY_STORES", 1 << 10)
    case, far = Case("2048", (4, 4), rng), new_shared_table(1)
    engine, position = case.engine(table=far), case.position(40)
    case.search(engine, position, 5)
    assert engine.table_full == 0  # it was easy
    for run in range(1, 40):  # all of one request
        case.search(engine, case.position(40 + run), 7)
        engine.forget()
    assert engine.table_full > 0
    full = far.copy()
    engine.age(2)
    engine.forget()
    case.search(engine, position, 5)
    assert (far == full).all()
