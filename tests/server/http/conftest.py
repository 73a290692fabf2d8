"""A service over HTTP that answers at once, one for the tests of a file."""

import pytest

from ..fake_queue import FakeDesk
from .asking import OverHttp


@pytest.fixture(scope="module")
def served(tmp_path_factory):
    """The service."""
    with OverHttp(FakeDesk(), tmp_path_factory.mktemp("http")) as service:
        yield service


@pytest.fixture
def client(served):
    """A client of that service."""
    with served.client() as client:
        yield client
