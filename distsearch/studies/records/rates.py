"""Rates of searches that took long enough."""

_SHORTEST = 0.01  # seconds


def rate_of(result):
    """Return the nodes a second of a row's result, None where the search was too short to say."""
    return result["boards_per_second"] if result["seconds"] >= _SHORTEST else None
