"""Clocks of games: what a move is given, what is left after it, and games that are lost on time."""

import itertools
import json
import math
from types import SimpleNamespace

import pytest

from distsearch import games
from distsearch.api import game_loop, rank_games
from distsearch.api.clock import Clock, clock_text, moves_expected, parse_clock
from distsearch.api.game_loop import play_on, score_of
from distsearch.api.game_plan import GamePlan
from distsearch.api.match import MatchRequest, match_of
from distsearch.api.options import resolve
from distsearch.api.players import RandomPlayer
from distsearch.api.rank_games import PlayerGames, PlayerGamesRunner, setup_of
from distsearch.api.result import Outcome
from distsearch.api.session import Session
from distsearch.core.errors import UserError
from distsearch.formats.game_records import read_games

from ..games.replay import replayed


@pytest.fixture(scope="module")
def session():
    with Session(table=1, book="none") as session:
        yield session


def plan_of(name, board, count=1, clocks=((60, 0), (60, 0))):
    options, game, rules = resolve(name, board)
    return GamePlan(game, rules, options.rules, count, 3, alternate=game.PLAYERS == 2, clocks=clocks)


@pytest.mark.parametrize(("text", "clock"), [("60+0.5", (60, 0.5)), ("2", (2, 0)), ("0.5+2", (0.5, 2)), ("7.", (7, 0))])
def test_a_clock_is_seconds_and_an_increment(text, clock):
    assert parse_clock(text) == clock == parse_clock(clock_text(clock))


@pytest.mark.parametrize("text", ["", "0", "0+1", "-1", "1+", "+1", "1+-1", "1e3", "1:00", "nan", "1 + 1", "inf"])
def test_other_texts_are_no_clock(text):
    with pytest.raises(UserError, match=r"clock .*60\+0\.5"):
        parse_clock(text)


def test_what_moves_are_given_is_never_more_than_there_is(rng):
    """Whatever the game's length, and whatever moves take apart from their searches, within what is kept for that."""
    for _ in range(200):
        clock = Clock(rng.choice([0.5, 5.0, 300.0]), rng.choice([0.0, 0.01, 2.0]))
        start, length, most = clock.left, rng.randrange(10, 400), rng.choice([0.0, 0.02, 0.1])
        spent = 0.0
        for made in range(length):
            apart = min(rng.uniform(0, most), 0.2 * clock.left)
            seconds = clock.give(max(2, (length - made) * 2 / 3)) + apart
            assert clock.spend(seconds)
            spent += seconds
            assert clock.left == pytest.approx(start + (made + 1) * clock.increment - spent)
        assert clock.moves == length


def test_the_rule_is_the_stated_one():
    assert Clock(60.1, 0.5).give(20) == pytest.approx(3.5)
    assert Clock(0.4, 0.0).give(2) == pytest.approx(0.15)  # a quarter is kept, and half of the rest is given
    assert Clock(0.4, 5.0).give(2) == pytest.approx(0.225)  # three quarters of what may be given
    assert Clock(10.0, 0.0, overrun=1.0).give(8) == pytest.approx(1.0)
    assert Clock(1.0, 1.0, overrun=1.0).give(8) == 0
    assert Clock(0.0, 1.0).give(8) == 0


def test_a_late_move_does_not_end_all_searching():
    clock = Clock(10.0)
    assert clock.spend(clock.give(10) + 3.5)
    given = []
    for _ in range(4):
        given.append(clock.give(10))
        assert clock.spend(given[-1])
    assert given[0] == 0
    assert given[1] > 0.1
    assert given == sorted(given)


def test_moves_that_are_expected():
    _, othello, rules = resolve("othello", "8x8")
    assert moves_expected(othello, rules, othello.start(rules), 0) == 20
    _, connect4, rules = resolve("connect4", "4x4")
    assert moves_expected(connect4, rules, connect4.parse("123412341234", rules), 6) == 2
    _, tiles, rules = resolve("2048", "4x4")
    assert [moves_expected(tiles, rules, tiles.start(rules), made) for made in (0, 900, 5000)] == [1000, 1000, 5000]


class Slow:
    """Plays at random; each move takes as long as is told, by the clock of ``faked``."""

    name = "slow"

    def __init__(self, game, rules, seconds, now, startup=0.0):
        self._random, self._seconds, self._now, self._startup = RandomPlayer(game, rules), seconds, now, startup
        self.seen = []

    def choose(self, position, number, clock=None):
        self.seen.append(None if clock is None else clock.left)
        self._now[0] += next(self._seconds) + self._startup
        outcome = Outcome("", "", "", "", 0, "", startup_seconds=self._startup, complete=True)
        return self._random.choose(position, number)._replace(outcome=outcome)


@pytest.fixture
def now(monkeypatch):
    """The time that games see, in a list of one."""
    now = [0.0]
    monkeypatch.setattr(game_loop, "time", SimpleNamespace(perf_counter=lambda: now[0]))
    return now


@pytest.mark.parametrize("name", ["othello", "connect4"])
@pytest.mark.parametrize("loser", [0, 1])
def test_a_game_is_lost_on_time(name, loser, now):
    plan = plan_of(name, "4x4", clocks=((5, 1), (5, 1)))
    times = [itertools.repeat(1.0), itertools.repeat(1.0)]
    times[loser] = iter([2.0, 4.0, 3.5])
    players = [Slow(plan.game, plan.rules, each, now, startup=9.0) for each in times]
    play, watched = plan.begin(0), []
    play_on(plan.game, plan.rules, play, players, watch=lambda play, choice: watched.append(len(play.codes)))
    assert (play.over, play.lost_on_time, score_of(plan.game, plan.rules, play)) == (True, loser, (-1, 1)[loser])
    assert [tally.lost_on_time for tally in play.tallies] == [1 - loser, loser]
    assert players[loser].seen == pytest.approx([5, 4, 1])  # what compiling and loading take is on no clock
    assert len(play.codes) == 4 + loser == watched[-1] == watched[-2]
    assert play.seconds_left[loser::2] == pytest.approx([4, 1])


def test_against_chance_a_clock_that_has_run_down_ends_no_game(now):
    plan = plan_of("2048", "2x2", clocks=((5, 1), None))
    player, play = Slow(plan.game, plan.rules, itertools.repeat(3.0), now), plan.begin(0)
    play_on(plan.game, plan.rules, play, [player])
    assert (play.over, play.lost_on_time) == (True, None)
    assert player.seen[:4] == [5, 3, 1, 0] and set(player.seen[3:]) == {0}
    of_moves = [left for left in play.seconds_left if not math.isnan(left)]
    assert [*player.seen[1:], 0] == of_moves and len(of_moves) < len(play.codes)


def test_a_clock_that_has_run_down_leaves_moves_without_a_search(session):
    options, game, rules = resolve("2048", "2x2", clock=(1, 0))
    player = session_player(session, options)
    position = game.parse("2 2 0 0", rules)
    assert player.choose(position, 0, Clock(300)).outcome.depth > 1
    assert player.choose(position, 0, Clock(0.0)).outcome is None


def session_player(session, options):
    from distsearch.api.players import SearchPlayer

    return SearchPlayer(options, session.cluster, book="none")


@pytest.mark.parametrize(("name", "board", "clocks"), [("othello", "4x4", ((60, 1), None)), ("2048", "2x2", ((9, 0),))])
def test_parts_of_a_game_pass_the_clocks_on(name, board, clocks, monkeypatch):
    monkeypatch.setattr(rank_games, "PART", 3)
    plan = plan_of(name, board, 2, (*clocks, None)[:2])
    players = [None] * plan.game.PLAYERS
    found = []
    setup = setup_of(plan.game, games.parse_board(board), {}, players)
    source, runner = PlayerGames(plan, found.append), PlayerGamesRunner(setup)
    while not source.done:
        (job,) = source.take(1, 1)
        runner.begin(job)
        while not runner.advance(1000):
            pass
        source.finish(runner.result(0.0, 0.0))
    for play in found:
        clock, left = play.clocks[0], [seconds for seconds in play.seconds_left if not math.isnan(seconds)]
        assert play.clocks[1] is None
        assert len(play.seconds_left) == len(play.codes) > 3
        assert len(left) == clock.moves == play.tallies[0].moves
        assert left[-1] == pytest.approx(clock.left)
        seconds, increment = clocks[0]
        assert clock.left == pytest.approx(seconds + increment * clock.moves - play.tallies[0].seconds)


@pytest.mark.parametrize("share", ["games", "tree"])
@pytest.mark.parametrize(
    ("name", "board", "first"),
    [
        ("othello", "4x4", "clock=60+0.1"),
        ("connect4", "4x4", "clock=60+0.1,depth=4"),
        ("2048", "2x2", "clock=5"),
        ("2048", "2x2", "clock=5+0.001,algorithm=expectiminimax"),
        ("2048", "2x2", "clock=5,algorithm=averaged,runs=2"),
        ("2048", "2x2", "clock=5,algorithm=ida,runs=2"),
        ("2584", "2x2", "clock=5"),
    ],
)
def test_games_by_the_clock(name, board, first, share, session, tmp_path):
    path = tmp_path / "games"
    asked = MatchRequest(name, first, "random", board, {}, 4, 2, str(path), share=share)
    found = json.loads(match_of(session, asked).run().to_json())
    assert (found["games"], found["complete"]) == (2, True)
    assert [player["lost_on_time"] for player in found["players"]] == [0, 0]
    assert first.split(",")[0].replace("=", " ") in found["players"][0]["player"]
    seconds, increment = parse_clock(first.split(",")[0].partition("=")[2])
    for number, line in enumerate(map(json.loads, path.read_text().splitlines())):
        assert replayed(line)[0] == line["score"]
        assert len(line["seconds_left"]) == len(line["moves"].split())
        left = [each for each in line["seconds_left"] if each is not None]
        assert len(left) == (0 if number and name[0] == "2" else pytest.approx(len(line["moves"].split()) / 2, abs=1))
        for before, after in itertools.pairwise([seconds, *left]):
            assert 0 <= after <= before + increment + 1e-3


def test_a_lost_game_is_recorded_and_replayed(session, tmp_path, now, monkeypatch):
    path = tmp_path / "games"
    asked = MatchRequest("othello", "clock=7,depth=1", "random", "4x4", {}, 4, 2, str(path), share="tree")
    match = match_of(session, asked)
    times = itertools.repeat(3.0)
    monkeypatch.setattr(match, "_made", lambda player, progress: Slow(match._plan.game, match._plan.rules, times, now))
    found = json.loads(match.run().to_json())
    assert (found["wins"], found["losses"], found["average"], found["points"]) == (0, 2, -1, 0)
    assert [player["lost_on_time"] for player in found["players"]] == [2, 0]
    assert "2 games lost on time" in match.summary.to_text()
    recorded = list(read_games(str(path)))
    assert [each.lost_on_time for each in recorded] == ["X", "O"]
    for each in recorded:
        assert len(list(each.positions(*each.rules()))) == len(each.moves) + 1
        assert each.result().endswith(" lost on time")
    line = json.loads(path.read_text().splitlines()[0])
    path.write_text(json.dumps(line | {"lost_on_time": "O"}))
    (wrong,) = read_games(str(path))
    with pytest.raises(UserError, match="no game that O to move lost on time"):
        list(wrong.positions(*wrong.rules()))


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ("clock=5,time=1", "clock goes without time, nodes and exact"),
        ("clock=5,nodes=100", "clock goes without time, nodes and exact"),
        ("clock=5,exact", "clock goes without time, nodes and exact"),
        ("clock", "clock needs a value"),
        ("clock=soon", "clock 'soon'"),
    ],
)
def test_what_a_clock_does_not_go_with(settings, message, session):
    with pytest.raises(UserError, match=message):
        match_of(session, MatchRequest("othello", settings, "random", "4x4", {}, 0))


def test_a_search_has_no_clock(session):
    with pytest.raises(UserError, match="search othello goes without clock"):
        session.search("othello", clock=(5, 0))
    with pytest.raises(UserError, match="search 2048 goes without clock"):
        session.search("2048", clock=(5, 0))
