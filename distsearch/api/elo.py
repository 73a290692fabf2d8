"""Statistics of matches: Elo and its interval, and the sequential test that ends a match once it is decided.

Scores are shares of the points, 0 to 1. Two games with one opening and sides changed are one observation: their results
depend on each other, so the five scores that such a pair can have (0, 1/4 ... 1) say more than single games would.
"""

import math
import statistics
from collections.abc import Sequence
from dataclasses import dataclass

from ..core.errors import UserError
from .intervals import share_interval, student_95

PAIR_SCORES = 0.0, 0.25, 0.5, 0.75, 1.0
_UNSEEN = 1e-3  # what counts for an outcome that has not been seen, so that it is not taken to be impossible
_MOST_ELO = 1000
_EARLIER = 2  # pairs that count in an interval on top of those that were played


def expected_score(elo: float) -> float:
    """Return the score that a player stronger by so much Elo has on average (Elo 1978, the logistic curve)."""
    return 1 / (1 + 10 ** (-elo / 400))


def elo_of(score: float) -> float | None:
    """Return the difference in Elo of a score; None: of 0 or 1, which no difference explains."""
    return -400 * math.log10(1 / score - 1) if 0 < score < 1 else None


def score_interval(pairs: Sequence[float]) -> tuple[float, float]:
    """Return (low, high), the 95% interval of the mean of at least one score.

    It is Wilson's for as many single results, each 0 or 1, as would have the spread of the scores, with Student's
    quantile in place of the normal one (C. Franco, R. J. A. Little, T. A. Louis, E. V. Slud, Comparative study of
    confidence intervals for proportions in complex sample surveys, J. Survey Statistics and Methodology 7, 2019). Few
    scores may happen to be alike: so two more count, with the spread that pairs of independent games have.
    """
    n, mean = len(pairs), statistics.fmean(pairs)
    single = mean * (1 - mean)  # the variance of a single result
    if single == 0:  # nothing tells the spread
        return share_interval(2 * n * mean, 2 * n, student_95(n - 1 + _EARLIER))
    spread = (sum((score - mean) ** 2 for score in pairs) / single + _EARLIER / 2) / (n - 1 + _EARLIER)
    return share_interval(n / spread * mean, n / spread, student_95(n - 1 + _EARLIER))


@dataclass
class Sprt:
    """A sequential test of "stronger by elo1" against "stronger by elo0"; creating one raises UserError.

    The bounds of the log-likelihood ratio are those of Wald (Sequential Tests of Statistical Hypotheses, 1945) for
    errors of 5% on either side. The ratio is the generalised one (X. Li, J. Liu, Z. Ying, Generalized sequential
    probability ratio test for separate families of hypotheses, Sequential Analysis 33, 2014): under each hypothesis
    the five outcomes of a pair have the probabilities that explain the results best among those with its mean.
    """

    elo0: float
    elo1: float
    error: float = 0.05

    def __post_init__(self):
        if not -_MOST_ELO <= self.elo0 < self.elo1 <= _MOST_ELO:
            raise UserError(
                f"sprt {self.elo0:g},{self.elo1:g} is not two differences in Elo up to {_MOST_ELO}, the lower one first"
            )
        self.bound = math.log((1 - self.error) / self.error)

    def ratio(self, counts: Sequence[int]) -> float:
        """Return the log-likelihood ratio of elo1 to elo0; counts: pairs with each of ``PAIR_SCORES``."""
        seen = [count or _UNSEEN for count in counts]
        low, high = (_likeliest(seen, expected_score(elo)) for elo in (self.elo0, self.elo1))
        return sum(n * math.log(p1 / p0) for n, p0, p1 in zip(seen, low, high, strict=True))

    def decision(self, counts: Sequence[int]) -> float | None:
        """Return the difference in Elo that is accepted, None if more pairs are needed."""
        ratio = self.ratio(counts)
        return self.elo1 if ratio >= self.bound else self.elo0 if ratio <= -self.bound else None


def _likeliest(seen, mean):
    """Return the probabilities of the outcomes that explain counts best (all above 0) among those with a mean score.

    Lagrange's multipliers make them shares of the counts divided by 1 + x (score − mean), with x such that the mean
    fits (A. Owen, Empirical Likelihood Ratio Confidence Intervals for a Single Functional, 1988).
    """
    total = sum(seen)

    def probabilities(x):
        return [n / total / (1 + x * (score - mean)) for n, score in zip(seen, PAIR_SCORES, strict=True)]

    low, high = -1 / (1 - mean), 1 / mean  # between which all of them are positive
    for _ in range(60):
        x = (low + high) / 2
        # falls as x grows, for every term does
        excess = sum(p * (score - mean) for p, score in zip(probabilities(x), PAIR_SCORES, strict=True))
        low, high = (x, high) if excess > 0 else (low, x)
    return probabilities((low + high) / 2)


def parse_sprt(text: str) -> Sprt:
    """Return the Sprt of a text such as ``0,10``; raises UserError."""
    parts = text.split(",")
    try:
        elo0, elo1 = map(float, parts)
    except ValueError as error:
        raise UserError(
            f"sprt '{text[:40]}' is not two differences in Elo with a comma between, such as 0,10"
        ) from error
    return Sprt(elo0, elo1)
