"""A session for the tests of programs, and engines in it."""

import pytest

from distsearch.api.session import Session, never
from distsearch.programs.engine import Engine


@pytest.fixture
def session():
    with Session(table=1) as opened:
        yield opened


@pytest.fixture
def engine(session):
    """``engine(stops=…, **options)``: an Engine in the session."""
    return lambda stops=never, **options: Engine(session, options, stops)
