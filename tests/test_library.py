"""The names that programs find in the package itself."""

import pytest

import distsearch


def test_a_search_and_a_session_find_the_same():
    found = distsearch.search("connect4", "4453222", exact=True)
    assert (found.score, found.proved) == (10, True)
    with distsearch.Session() as session:
        assert session.search("connect4", "4453222", exact=True).score == 10


def test_the_client_is_there():
    assert distsearch.Client.__module__ == "distsearch.server.client"
    assert distsearch.AsyncClient.__module__ == "distsearch.server.async_client"
    assert issubclass(distsearch.LocalCluster, distsearch.Client)
    assert issubclass(distsearch.ServiceError, Exception)


def test_other_names_are_not():
    with pytest.raises(AttributeError, match="no attribute 'serach'"):
        distsearch.serach  # noqa: B018


def test_dir_shows_the_library():
    assert {"Client", "ServiceError", "Session", "search", "__version__"} <= set(dir(distsearch))
