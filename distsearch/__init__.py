"""A game-tree search service for clusters: an MPI master farms subtrees to workers and backs their scores up."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:  # for editors and type checkers: what ``__getattr__`` loads
    from .api.board import Board
    from .api.session import Session, search
    from .server.async_client import AsyncClient
    from .server.client import Client
    from .server.exchange import ServiceError
    from .server.local_cluster import LocalCluster

__version__ = "0.1.0"

__all__ = ["AsyncClient", "Board", "Client", "LocalCluster", "ServiceError", "Session", "search"]
_HOMES = {
    "AsyncClient": "server.async_client",
    "Board": "api.board",
    "Client": "server.client",
    "LocalCluster": "server.local_cluster",
    "ServiceError": "server.exchange",
    "Session": "api.session",
    "search": "api.session",
}


def __dir__():
    return sorted([*globals(), *__all__])


def __getattr__(name):  # the library is loaded when it is asked for: `distsearch --help` needs none of it
    import importlib

    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(importlib.import_module(f"{__name__}.{_HOMES[name]}"), name)
