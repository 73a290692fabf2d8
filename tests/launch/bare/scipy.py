"""Stands in the way of SciPy, which other tests need and distsearch does not.

numba imports it where it is there, which takes a fifth of the time in which a rank starts.
"""

raise ImportError("jobs of the launch tests do without SciPy")
