"""Openings that are drawn: which, how often, and that a seed alone decides them."""

from collections import Counter

import pytest

from distsearch.api.game_plan import GamePlan
from distsearch.api.match import MatchRequest, match_of
from distsearch.api.options import resolve
from distsearch.api.session import Session


def plan_of(name, board, count, seed, plies):
    asked, game, rules = resolve(name, board)
    return GamePlan(game, rules, asked.rules, count, seed, alternate=True, paired=True, random_plies=plies)


def openings(plan):
    return [plan.begin(number).start for number in range(0, plan.count, 2)]


# 4 first moves with 3 replies each; 4 columns twice
@pytest.mark.parametrize(("name", "there"), [("othello", 12), ("connect4", 16)])
def test_no_opening_is_repeated_until_all_were_drawn(name, there, seed):
    plan = plan_of(name, "4x4", 2 * there, seed, 2)
    assert len(set(openings(plan))) == there
    assert plan.different_openings is None
    plan = plan_of(name, "4x4", 5 * there, seed, 2)
    times = Counter(openings(plan))
    assert (len(times), set(times.values())) == (there, {2, 3})
    assert plan.different_openings == there


def test_a_seed_decides_the_openings_in_any_order(seed):
    plan, other = plan_of("othello", "6x6", 40, seed, 4), plan_of("othello", "6x6", 40, seed, 4)
    backwards = [other.begin(number).start for number in range(38, -1, -2)]
    assert openings(plan) == backwards[::-1] == openings(plan)
    assert [plan.begin(number).start for number in range(1, 40, 2)] == openings(plan)
    assert len(set(openings(plan))) == 20


def test_a_match_tells_that_openings_were_repeated():
    with Session(table=1) as session:
        for games, told in ((24, None), (26, 12)):
            summary = match_of(session, MatchRequest("othello", "random", "random", "4x4", {}, 3, games)).run()
            assert summary.different_openings == told
            assert ("random plies lead to 12 openings" in summary.to_text()) == bool(told)
