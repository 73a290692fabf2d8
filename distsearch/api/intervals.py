"""95% intervals: of means by Student's distribution, of shares by Wilson's method."""

import math
import statistics
from collections.abc import Sequence

Z_95 = statistics.NormalDist().inv_cdf(0.975)  # so many deviations to either side are 95% of a normal distribution


def student_95(degrees: int) -> float:
    """Return how many standard errors to either side of a mean make its 95% interval, for 1 degree of freedom or more.

    Exact for 1 and 2 degrees, from 3 on by Fisher's expansion (Abramowitz and Stegun 1964, 26.7.5), which is 0.12% too
    small for 3 and less for more.
    """
    if degrees == 1:
        return math.tan(math.pi * 0.475)
    if degrees == 2:
        return 0.95 / math.sqrt(2 * 0.975 * 0.025)
    z, found = Z_95, Z_95
    found += (z**3 + z) / (4 * degrees)
    found += (5 * z**5 + 16 * z**3 + 3 * z) / (96 * degrees**2)
    found += (3 * z**7 + 19 * z**5 + 17 * z**3 - 15 * z) / (384 * degrees**3)
    return found + (79 * z**9 + 776 * z**7 + 1482 * z**5 - 1920 * z**3 - 945 * z) / (92160 * degrees**4)


def mean_interval(values: Sequence[float]) -> tuple[float, float]:
    """Return (low, high), the 95% interval of the mean of two values or more (Student 1908)."""
    mean, error = statistics.fmean(values), statistics.stdev(values) / math.sqrt(len(values))
    half = student_95(len(values) - 1) * error
    return mean - half, mean + half


def half_interval(error: float, values: int) -> float:
    """Return half the length of ``mean_interval`` of so many values with this standard error, 0 of fewer than two."""
    return student_95(values - 1) * error if values > 1 else 0.0


def share_interval(count: float, of: float, z: float = Z_95) -> tuple[float, float]:
    """Return (low, high), the 95% interval of a probability after ``count`` out of ``of`` > 0 (Wilson 1927).

    z: standard errors to either side, if not those of a normal distribution.
    """
    share, z2 = count / of, z * z
    centre = share + z2 / (2 * of)
    half = z * math.sqrt(share * (1 - share) / of + z2 / (4 * of * of))
    return max(0.0, (centre - half) / (1 + z2 / of)), min(1.0, (centre + half) / (1 + z2 / of))


def share_difference(count: float, of: float, other: float, of_other: float) -> tuple[float, float]:
    """Return (low, high), the 95% interval of a probability less another one, after counts out of ``of`` > 0 each.

    From the intervals of both by Wilson's method (Newcombe 1998, Statistics in Medicine 17, 873-890, method 10).
    """
    one, two = count / of, other / of_other
    (low, high), (low_other, high_other) = share_interval(count, of), share_interval(other, of_other)
    below, above = math.hypot(one - low, high_other - two), math.hypot(high - one, two - low_other)
    return one - two - below, one - two + above
