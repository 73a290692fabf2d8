"""Matches between two players: the stronger one, by how much, and how sure that is."""

import statistics
from dataclasses import dataclass, field
from typing import Any

from ..core.errors import UserError
from .applicability import check
from .declarations import among
from .elo import PAIR_SCORES, Sprt, elo_of, parse_sprt, score_interval
from .game_loop import GamePlay
from .game_plan import GamePlan, checked_games, read_openings, usual_plies
from .games_summary import GamesSummary
from .intervals import mean_interval
from .options import checked_seed, resolve
from .play_games import SHARES, Games
from .player_settings import parse_settings, player_options

DEFAULT_GAMES, MOST_GAMES_OF_A_TEST = 100, 20_000
LABELS = "A", "B"


@dataclass
class MatchSummary(GamesSummary):
    """The result of a match, for the first player A: points, and Elo; against chance the difference of the scores.

    openings: in words; sprt: the sequential test, if there is one. Games 2k and 2k + 1 are a pair.
    """

    openings: str = ""
    sprt: Sprt | None = None
    points: list[float] = field(default_factory=list)  # of A in each game of two players

    def add(self, play: GamePlay, score: int, largest: int | None) -> None:
        super().add(play, score, largest)
        if not self.against_chance:
            own = self.scores[-1]
            self.points.append(0.5 + ((own > 0) - (own < 0)) / 2)

    @property
    def pairs(self) -> list[float]:
        """A's share of the points of each pair that is complete."""
        return [sum(pair) / 2 for pair in zip(self.points[::2], self.points[1::2], strict=False)]

    @property
    def pair_counts(self) -> list[int]:
        """How many pairs had each of ``PAIR_SCORES``."""
        return [self.pairs.count(score) for score in PAIR_SCORES]

    @property
    def decided(self) -> bool:
        """Whether the sequential test has its answer, with the latest game."""
        return self.sprt is not None and len(self.points) % 2 == 0 and self.sprt.decision(self.pair_counts) is not None

    def figures(self) -> dict[str, Any]:
        found = super().figures() | {"openings": self.openings}
        if self.against_chance:
            return found | self._differences()
        found |= {"points": sum(self.points), "pairs": self.pair_counts}
        score = statistics.fmean(self.points) if self.points else None
        low, high = score_interval(self.pairs) if self.pairs else (None, None)
        found |= {"score": score, "score_low": low, "score_high": high}
        for name, share in (("elo", score), ("elo_low", low), ("elo_high", high)):
            found[name] = None if share is None else elo_of(share)
        return found | ({"sprt": self._test(self.sprt)} if self.sprt else {})

    def _test(self, sprt):
        """Return what a sequential test says, as plain values."""
        ratio, accepted = sprt.ratio(self.pair_counts), sprt.decision(self.pair_counts)
        return {"elo0": sprt.elo0, "elo1": sprt.elo1, "ratio": ratio, "bound": sprt.bound, "accepted": accepted}

    def _differences(self):
        """Return both players' mean scores, and the mean difference of games with the same seed."""
        own, other = self.scores[::2], self.scores[1::2]
        each = [a - b for a, b in zip(own, other, strict=False)]
        low, high = mean_interval(each) if len(each) > 1 else (None, None)
        means = [statistics.fmean(scores) if scores else None for scores in (own, other)]
        difference = statistics.fmean(each) if each else None
        return {"averages": means, "difference": difference, "difference_low": low, "difference_high": high}

    def _result_lines(self, figures):
        lines = [f"  openings   {self.openings}"] if self.openings else []
        if self.against_chance:
            return lines + self._difference_lines(figures)
        lines += super()._result_lines(figures)
        if self.pairs:
            share = f"{figures['score']:.1%}; 95%: {figures['score_low']:.1%} to {figures['score_high']:.1%}"
            lines.append(f"  points     {figures['points']:g} of {len(self.points)} ({share})")
            low, elo, high = (_elo_text(figures[name]) for name in ("elo_low", "elo", "elo_high"))
            lines.append(f"  Elo        {elo} (95%: {low} to {high})")
        if self.sprt is not None:
            test = figures["sprt"]
            said = "no decision" if test["accepted"] is None else f"{test['accepted']:+g} is accepted"
            of = f"{test['elo0']:+g} or {test['elo1']:+g}"
            lines.append(
                f"  SPRT       {said}, of {of}: log-likelihood ratio {test['ratio']:+.2f} (±{test['bound']:.2f})"
            )
        return lines

    def _difference_lines(self, figures):
        if figures["difference"] is None:
            return []
        low, high = figures["difference_low"], figures["difference_high"]
        interval = "" if low is None else f" (95%: {low:+,.0f} to {high:+,.0f})"
        own, other = figures["averages"]
        return [
            f"  score      A average {own:,.0f}, B average {other:,.0f}",
            f"  difference {figures['difference']:+,.0f} for A{interval}",
        ]


def _elo_text(elo):
    return "unbounded" if elo is None else f"{elo:+.0f}"


@dataclass
class MatchRequest:
    """A match of two players, by settings as ``player_settings`` reads them; ``match_of`` makes its games.

    games: how many, rounded up to an even number; None: 100, or at most 20,000 with a test; openings: a file of
    positions, or None; random_plies: which the games begin with where there is no such file, None for the usual number;
    sprt: a text such as ``0,10``, or None; share: see ``Games``.
    """

    game: str
    first: str
    second: str
    board: str | None
    rules: dict[str, str]
    seed: int
    games: int | None = None
    record: str | None = None
    openings: str | None = None
    random_plies: int | None = None
    sprt: str | None = None
    share: str | None = None


def match_of(session: Any, asked: MatchRequest) -> Games:
    """Return the Games of a match; raises UserError."""
    usual, game, rules = resolve(asked.game, asked.board, asked.rules)
    given = {name: getattr(asked, name) for name in ("openings", "random_plies", "sprt")}
    check(usual, given)
    seed, share = checked_seed(asked.seed), asked.share or "games"
    among("share", share, SHARES)
    players = [
        player_options(asked.game, asked.board, asked.rules, seed, parse_settings(text))
        for text in (asked.first, asked.second)
    ]
    sprt = None if asked.sprt is None else parse_sprt(asked.sprt)
    usual_count = DEFAULT_GAMES if sprt is None else MOST_GAMES_OF_A_TEST
    count = usual_count if asked.games is None else checked_games(asked.games)
    if asked.openings is not None and asked.random_plies is not None:
        raise UserError("random-plies goes without openings, which say where games begin")
    openings = None if asked.openings is None else read_openings(asked.openings, game, rules)
    if openings and all(each is not None and not each.timed for each in players):
        count = _without_repeats(count, 2 * len(openings), asked)
    plies = asked.random_plies
    if plies is None:
        plies = 0 if openings or game.PLAYERS != 2 else usual_plies(usual.board)
    plan = GamePlan(game, rules, usual.rules, count, seed, (0, 1), True, True, plies, openings)
    plan.count += plan.count % 2
    made = Games(session, plan, usual.board, players, LABELS, share, asked.record, MatchSummary)
    made.summary.sprt, made.summary.openings = sprt, _in_words(asked, openings, plies) if game.PLAYERS == 2 else ""
    made.ended = lambda play: made.summary.decided
    return made


def _without_repeats(count, most, asked):
    """Return how many games players have that make the same moves again; raises UserError if more are asked for."""
    if asked.games is not None and count > most:
        raise UserError(f"games {count}: from its openings {asked.openings[:200]} has {most} games that differ")
    return min(count, most)


def _in_words(asked, openings, plies):
    return f"{plies} random plies" if openings is None else f"{len(openings)} of {asked.openings[:200]}"
