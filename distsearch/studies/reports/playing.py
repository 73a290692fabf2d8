"""Games of 2048 by several players, as tables: tiles, depths reached, time a move, and when a tile was made."""

import statistics
from collections.abc import Callable
from typing import NamedTuple

from ...api.play_setup import PlayRequest, games_of
from ...api.player_settings import parse_settings
from .study import Measurement
from .tables import Table, percent

_GAME = "2048"


class Entrant(NamedTuple):
    """A player of a study: what to call it, its settings, its games on a laptop and on a cluster; share: of ranks."""

    label: str
    settings: str
    games: tuple[int, int]
    share: str = "games"


def measurements(entrants: list[Entrant]) -> Callable:
    """Return the function that plans the games of these players, with one seed for all, by all ranks."""

    def planned(study_size):
        return [_measurement(entrant, study_size) for entrant in entrants]

    return planned


def _measurement(entrant, study_size):
    count, ranks = study_size.choose(*entrant.games), study_size.ranks
    point = {"game": _GAME, "player": entrant.label, "settings": entrant.settings, "games": count}

    def body(bench):
        given = parse_settings(entrant.settings)
        asked = PlayRequest(_GAME, None, {}, study_size.seed, given, count, share=entrant.share)
        with bench.session(ranks) as session:
            found = games_of(session, asked).run()
        (tally, _), tiles = found.tallies, [sorted(each.items()) for each in found.tiles]
        figures = {"scores": found.scores, "largest": found.largest, "tiles": tiles, "wall": found.seconds}
        return {**figures, **vars(tally)}

    return Measurement({**point, "seed": study_size.seed, "ranks": ranks}, body, ranks=ranks)


def table_of(found, title: str, tile: int, note: str) -> Table:
    """Return the table of all players' games; tile: of which it is told when it was made, by the median game."""
    rows = [(row["point"]["player"], row["point"]["games"], *_figures(row["result"], tile)) for row in found.rows()]
    columns = "player", "games", "highest tile", f"{tile} made", "average score", "plies reached", "moves a game"
    return Table(title, (*columns, "ms a move", "s a game", f"moves to {tile}", f"s to {tile}"), rows, note)


def _figures(result, tile):
    games, moves = len(result["largest"]), result["moves"]
    made = [after for tiles in result["tiles"] for value, after in tiles if value == tile]
    to_moves, to_seconds = (statistics.median(each[i] for each in made) if made else None for i in (0, 1))
    return (
        max(result["largest"]),
        percent(sum(each >= tile for each in result["largest"]) / games),
        statistics.fmean(result["scores"]),
        result["plies"] / max(result["searched"], 1),
        moves / games,
        1e3 * result["seconds"] / moves,
        result["seconds"] / games,
        to_moves,
        to_seconds,
    )
