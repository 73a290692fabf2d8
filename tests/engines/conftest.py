"""Positions that several modules search."""

import functools
import random

import pytest

from .positions import ending_positions, state_of


@pytest.fixture(scope="session")
def endings(seed, full):
    """A function from a board to states of few empty squares."""

    @functools.cache
    def of(board):
        positions = ending_positions(random.Random(seed), board, 50 if full else 3)
        return [state_of(board, position) for position in positions]

    return of
