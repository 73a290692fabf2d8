"""CUDA twins of the engines: sources in ``cuda/``, and what feeds them.

Nothing here is imported before a GPU is asked for, and PyCUDA only by ``device``.
"""
