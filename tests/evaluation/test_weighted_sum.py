"""Weighted sums of evaluations: what their text says, part by part; and what is refused."""

import pytest

from distsearch import evaluation, games
from distsearch.api.options import Options
from distsearch.core.errors import UserError
from distsearch.evaluation import weighted_sum
from distsearch.games.interface import legal_moves, step

GAME = games.find("2048")
TEXTS = [
    "monotonicity+smoothness+2.7*free",
    "0.1*smoothness+snake",
    "2*free",
    "free+free+free",
    "1e-3*haskell + .5*rows",
    "snake+free+smoothness+monotonicity+haskell+rows+free+1000000*snake",
]


def value(game, name, rules, state):
    found = evaluation.find(game, name, rules)
    return found.function(state, rules, found.tables)


def random_state(game, rules, rng):
    position = game.start(rules)
    for _ in range(rng.randint(2, 60)):
        if legal := legal_moves(game, position, rules):
            position = step(game, position, rules, rng.choice(legal))
    return position.state


@pytest.mark.parametrize("text", TEXTS)
@pytest.mark.parametrize("board", [(4, 4), (2, 3)], ids=str)
def test_a_sum_is_that_of_its_parts(text, board, rng):
    rules = GAME.rules(board)
    for _ in range(20):
        state, expected = random_state(GAME, rules, rng), 0.0
        for part in weighted_sum.parse(text, evaluation.names(GAME)):
            expected += part.weight * value(GAME, part.name, rules, state)
        assert value(GAME, text, rules, state) == expected


def test_other_weights_are_the_same_function(rng):
    rules = GAME.rules()
    one, other = (evaluation.find(GAME, text, rules) for text in ("2*free+snake", "free+7.5*snake"))
    assert (one.name, one.function) == (other.name, other.function)
    state = random_state(GAME, rules, rng)
    assert one.function(state, rules, one.tables) == 2 * value(GAME, "free", rules, state) + value(
        GAME, "snake", rules, state
    )


def test_another_game_has_its_own(rng):
    game = games.find("2584")
    rules = game.rules()
    state = random_state(game, rules, rng)
    assert value(game, "0.5*rows+rows", rules, state) == 1.5 * value(game, "rows", rules, state)


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("free+", "'' is not NAME or WEIGHT\\*NAME"),
        ("+", "is not NAME"),
        ("*free", "is not NAME"),
        ("free*2", "is not NAME"),
        ("2*3*free", "'2\\*3\\*free' is not NAME"),
        ("-1*free+snake", "is not NAME"),
        ("free+fry", "'fry' is not rows or"),
        ("2.7*fry", "'fry' is not"),
        ("0*free", "weight 0 is not above 0"),
        ("1e9*free", "weight 1e\\+09"),
        ("1e999*free", "weight inf"),
        ("nan*free", "is not NAME"),
        ("free+" * 8 + "free", "more than 8"),
        ("fry", "'fry' is not rows or"),
        ("2 * free", "is not NAME"),
    ],
)
def test_bad_texts_are_refused(text, why):
    with pytest.raises(UserError, match=why) as refusal:
        Options("2048", depth=1, evaluation=text)
    assert "\n" not in str(refusal.value)
    assert len(str(refusal.value)) < 200


@pytest.mark.parametrize("text", ["complex+discs", "2*discs"])
def test_games_of_two_have_no_sums(text):
    with pytest.raises(UserError, match="is not complex or"):
        Options("othello", depth=1, evaluation=text)


def test_weights_of_a_sum_make_the_tables_that_its_name_has():
    rules, text = GAME.rules(), "monotonicity+0.1*rows+2.7*free"
    weights = evaluation.weights(GAME, text)
    assert (weights.evaluation, weights.numbers) == ("1*monotonicity+0.1*rows+2.7*free", (1.0, 0.1, 2.7))
    make, other = evaluation.tables_by_weights(GAME, text, rules), "3*monotonicity+0.5*rows+7*free"
    assert (make(weights.numbers) == evaluation.find(GAME, text, rules).tables).all()
    assert (make((3.0, 0.5, 7.0)) == evaluation.find(GAME, other, rules).tables).all()


@pytest.mark.parametrize("text", ["2*free", "free+2*free", "free+snake+free"])
def test_weights_that_decide_nothing_are_not_searched_for(text):
    with pytest.raises(UserError, match="several different terms"):
        evaluation.weights(GAME, text)
