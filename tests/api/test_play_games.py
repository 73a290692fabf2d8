"""Games between players: legal, recorded as they were, and the same whatever the search was."""

import json

import pytest

from distsearch import games
from distsearch.api.session import Session
from distsearch.core.errors import UserError

from ..games.replay import replayed
from .playing import AGAINST_CHANCE, TWO_PLAYERS


@pytest.fixture(scope="module")
def session():
    with Session(table=1) as session:
        yield session


@pytest.fixture
def play(session, tmp_path):
    """``play(game, board, **how)``: (figures of the summary, lines of the record)."""

    def played(game, board, **how):
        path = tmp_path / f"games{len(list(tmp_path.iterdir()))}"
        summary = session.play(game, board=board, record=str(path), **how)
        return json.loads(summary.to_json()), [json.loads(line) for line in path.read_text().splitlines()]

    return played


@pytest.mark.parametrize("opponent", [None, "random"])
@pytest.mark.parametrize(("game", "board", "options"), TWO_PLAYERS, ids=str)
def test_games_of_two_players(game, board, options, opponent, play):
    found, lines = play(game, board, games=4, seed=3, share="tree", opponent=opponent, **options)
    assert (found["games"], found["asked"], found["complete"], found["share"]) == (4, 4, True, "tree")
    scores = []
    for number, line in enumerate(lines):
        score, _, _ = replayed(line)
        assert (line["number"], line["score"]) == (number, score)
        scores.append(-score if opponent and number % 2 else score)
        assert [line["X"], line["O"]].count("random") == (2 if "random" in str(options) else opponent is not None)
    results = sum(score > 0 for score in scores), scores.count(0), sum(score < 0 for score in scores)
    assert (found["wins"], found["draws"], found["losses"]) == results
    assert found["average"] == pytest.approx(sum(scores) / 4)
    assert (found["minimum"], found["maximum"]) == (min(scores), max(scores))
    moves = sum(len(line["moves"].split()) for line in lines)
    assert sum(player["moves"] for player in found["players"]) == moves
    assert len({line["moves"] for line in lines}) > 1


@pytest.mark.parametrize(("game", "board", "options"), AGAINST_CHANCE, ids=str)
def test_games_against_chance(game, board, options, play):
    found, lines = play(game, board, games=2, seed=3, share="tree", **options)
    for line in lines:
        score, (rows, _), _ = replayed(line)
        assert (line["score"], line["largest"]) == (score, max(map(max, rows)))
    assert found["average"] == sum(line["score"] for line in lines) / 2
    (player,) = found["players"]
    assert player["moves"] == sum("@" not in move for line in lines for move in line["moves"].split())
    assert found["reached"][0]["tile"] == max(line["largest"] for line in lines)


@pytest.mark.parametrize("game", ["2048", "2584"])
def test_the_same_games_move_by_move_as_in_parts(game, play):
    how = {"games": 3, "seed": 5, "depth": 3}
    (_, in_parts), (_, by_moves) = (play(game, "3x3", **how), play(game, "3x3", share="tree", **how))
    assert [line["moves"] for line in by_moves] == [line["moves"] for line in in_parts]
    assert [line["score"] for line in by_moves] == [line["score"] for line in in_parts]


def test_tiles_are_told_with_the_moves_that_they_took(play):
    found, (line,) = play("2048", "3x3", games=1, share="tree", depth=1)
    twin_tiles, moves, largest = {}, 0, 0
    for count, board in boards(line):
        if max(map(max, board)) > largest:
            largest = max(map(max, board))
            twin_tiles[largest] = count
        moves = count
    for row in found["reached"]:
        assert row["moves"] == twin_tiles[row["tile"]] <= moves
        assert 0 < row["seconds"] <= found["seconds"]


def boards(line):
    """Yield (the player's moves so far, rows of tiles) after each of the player's moves, by the twin."""
    from ..games.replay import twin

    plain = twin(line["game"], games.parse_board(line["board"]))
    position, count = plain.start(), 0
    for move in line["moves"].split():
        position, _ = plain.play(position, move)
        if "@" not in move:
            count += 1
            yield count, position[0]


def test_a_game_of_ones_own(play, monkeypatch):
    monkeypatch.setitem(games._GAMES, "tictactoe", "tests.games.tictactoe")
    found, lines = play("tictactoe", None, games=4, share="tree", opponent="random", ordering="none", exact=True)
    assert [replayed(line)[0] for line in lines] == [line["score"] for line in lines]
    assert found["losses"] == 0  # whatever the random plies, for one of nine loses nothing
    self_play, _ = play("tictactoe", None, share="tree", ordering="none", exact=True)
    assert self_play["draws"] == 1


def test_an_exact_player_never_does_worse_than_the_start_says(play):
    """4×4 Othello is lost for the first side, by at most 10 discs if it plays well."""
    found, lines = play("othello", "4x4", games=6, opponent="random", share="tree", random_plies=0, exact=True)
    scores = [-line["score"] if line["O"] != "random" else line["score"] for line in lines]
    assert all(score >= (10 if line["O"] != "random" else -10) for score, line in zip(scores, lines, strict=True))
    assert found["wins"] >= 3


def test_games_depend_on_their_seed_alone(play):
    how = {"games": 3, "share": "tree", "opponent": "random", "depth": 2}
    first = [line["moves"] for line in play("othello", "4x4", seed=1, **how)[1]]
    assert [line["moves"] for line in play("othello", "4x4", seed=1, **how)[1]] == first
    assert [line["moves"] for line in play("othello", "4x4", seed=2, **how)[1]] != first


def test_of_moves_with_one_score_the_first_is_chosen(session, play):
    """Whatever a table holds from searches before: moves follow from scores."""
    how = {"share": "tree", "random_plies": 0, "exact": True}
    _, (fresh,) = play("othello", "4x4", **how)
    for position in ("d3", "d3d2", "c4"):
        session.search("othello", position, board="4x4", exact=True)
    _, (later,) = play("othello", "4x4", **how)
    assert later["moves"] == fresh["moves"]


@pytest.mark.parametrize(
    ("asked", "message"),
    [
        ({"game": "2048", "depth": 1, "opponent": "random"}, "opponent is for games of two players"),
        ({"game": "2048", "depth": 1, "random_plies": 2}, "random-plies is for games of two players"),
        ({"game": "2048", "algorithm": "averaged"}, "needs depth, layers, nodes, time or clock"),
        ({"game": "othello", "algorithm": "random", "depth": 2}, "depth goes without random"),
        ({"game": "othello", "depth": 2, "opponent": "dept=2"}, "dept is no option of a player; did you mean depth"),
        ({"game": "othello", "depth": 2, "opponent": "depth"}, "depth needs a value"),
        ({"game": "othello", "depth": 2, "opponent": "exact=1"}, "exact takes no value"),
        ({"game": "othello", "depth": 2, "opponent": "depth=2,depth=3"}, "depth is there twice"),
        ({"game": "othello", "depth": 2, "opponent": "depth=x"}, "depth 'x' is not a whole number"),
        ({"game": "othello", "depth": 2, "games": 0}, "games 0 is not"),
        ({"game": "othello", "depth": 2, "share": "both"}, "share 'both' is not games or tree"),
        ({"game": "othello", "board": "4x4", "depth": 2, "random_plies": 9}, "random-plies 9 are more than half"),
    ],
    ids=str,
)
def test_what_makes_no_sense_is_refused(asked, message, session):
    with pytest.raises(UserError, match=message):
        session.play(**asked)
