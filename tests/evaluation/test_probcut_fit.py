"""Fits of shallow searches to deep ones: their files, which one is taken, and what is refused."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from distsearch import evaluation
from distsearch.core.errors import UserError
from distsearch.evaluation import probcut_fit
from distsearch.games import othello

RULES = othello.rules()


def chosen(name):
    return evaluation.find(othello, name, RULES)


def a_fit(**changed):
    pairs = [probcut_fit.Pair(3, 8, 4, 1.05, -0.5, 9.25, 100), probcut_fit.Pair(4, 6, 2, 1.0, 0.0, 3.5, 99)]
    weights = probcut_fit.weights_of(chosen("static"))
    return probcut_fit.Fit("othello", (8, 8), "static", weights, 6, pairs, {"seed": 1})._replace(**changed)


def written(folder, fit):
    path = folder / "fit.json"
    path.write_text(fit.to_json(), encoding="utf-8")
    return str(path)


def test_a_file_holds_all_of_a_fit(tmp_path):
    path = written(tmp_path, a_fit())
    assert probcut_fit.find(othello, (8, 8), "static", chosen("static"), path) == a_fit()


def test_the_package_has_one_for_the_usual_evaluation():
    fit = probcut_fit.find(othello, (8, 8), "complex", chosen("complex"))
    assert len(fit.pairs) > 20
    assert fit.made["seed"] is not None
    assert {pair.deep - pair.shallow for pair in fit.pairs} == {2}
    assert all(0.2 < pair.slope < 1.3 and 0.5 < pair.sigma < 40 and pair.positions >= 100 for pair in fit.pairs)
    far = [pair.sigma for pair in fit.pairs if pair.shallow == 2]
    near = [pair.sigma for pair in fit.pairs if pair.shallow >= 6]
    assert sum(near) / len(near) < sum(far) / len(far)  # deep searches agree better


@pytest.mark.parametrize(
    ("changed", "named"),
    [
        ({"game": "chess"}, "chess 8x8 by static, not for othello 8x8"),
        ({"board": (6, 6)}, "othello 6x6"),
        ({"evaluation": "discs"}, "by discs, not for"),
        ({"weights": "0" * 32}, "other weights"),
    ],
    ids=str,
)
def test_a_fit_of_something_else_is_refused(changed, named, tmp_path):
    with pytest.raises(UserError) as refused:
        probcut_fit.find(othello, (8, 8), "static", chosen("static"), written(tmp_path, a_fit(**changed)))
    assert named in str(refused.value)
    assert "python -m distsearch.learning.probcut_fit othello --board 8x8 --evaluation static makes one" in str(
        refused.value
    )


def test_no_fit_is_refused_with_how_to_make_one(tmp_path):
    with pytest.raises(
        UserError, match="no parameters for othello 8x8 by static; python -m distsearch.learning.probcut_fit"
    ):
        probcut_fit.find(othello, (8, 8), "static", chosen("static"))
    for path in (str(tmp_path / "none.json"), str(tmp_path), "a\0b"):
        with pytest.raises(UserError, match="cannot read"):
            probcut_fit.find(othello, (8, 8), "static", chosen("static"), path)


def good():
    return json.loads(a_fit().to_json())


WRONG = [
    {"format": "distsearch probcut 2"},
    {"game": 1},
    {"board": [8]},
    {"board": ["a", "b"]},
    {"stage": 0},
    {"stage": 1.5},
    {"stage": 10**30},
    {"pairs": 3},
    {"pairs": [[1, 2, 3]]},
    {"pairs": [[0, 4, 4, 1, 0, 1, 9]]},
    {"pairs": [[0, 4, 2, 0, 0, 1, 9]]},
    {"pairs": [[0, 4, 2, 1, 0, -1, 9]]},
    {"pairs": [[0, 4, 2, "x", 0, 1, 9]]},
    {"pairs": [[-1, 4, 2, 1, 0, 1, 9]]},
    {"pairs": [[0, 999, 2, 1, 0, 1, 9]]},
    {"pairs": [[0, 4, 2, 1e999, 0, 1, 9]]},
    {"pairs": [[0, 4, 2, None, 0, 1, 9]]},
    {"pairs": [[999, 255, 2, 1, 0, 1, 9], *[[0, 4, 2, 1, 0, 1, 9]] * 20]},  # whose table would take 160 MB
]


@pytest.mark.parametrize("changed", WRONG, ids=str)
def test_what_is_no_fit_is_refused(changed):
    with pytest.raises(UserError, match="is no fit"):
        probcut_fit.parse(json.dumps({**good(), **changed}).encode(), "shown")


@given(
    st.binary()
    | st.text().map(str.encode)
    | st.builds(lambda at, n: a_fit().to_json().encode()[at:n], *[st.integers(0, 400)] * 2)
)
def test_any_bytes_are_a_fit_or_refused_in_a_line(content):
    try:
        probcut_fit.parse(content, "shown")
    except UserError as refused:
        assert "\n" not in str(refused)


@pytest.mark.parametrize("probability", [0.5, 0, -1, 2, float("nan"), float("inf")])
def test_what_is_no_probability_for_it_is_refused(probability):
    with pytest.raises(UserError, match="above 0.5 and below 1"):
        probcut_fit.checked_probability(probability)
