"""A game-tree search service for clusters: an MPI master farms subtrees to workers and backs their scores up."""

__version__ = "0.1.0"
