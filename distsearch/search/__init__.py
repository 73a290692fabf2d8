"""Sequential engines over any game; and the library's simplest use, ``distsearch.search(game, position, **options)``.

Called as a function, it returns the Outcome of one search by this process alone:

    distsearch.search("othello", "startpos", depth=8, board="8x8", empties="winner")

position: text, as on the command line; board: text such as "6x8"; options: depth, time (seconds), nodes (boards) or
exact, and window, all_moves, algorithm, ordering, evaluation, load_factor as on the command line; 5 seconds if no limit
is given. The Outcome has ``move``, ``score``, ``bound``, ``proved``, ``pv``, ``nodes`` and the other fields of --json.
Raises ``distsearch.errors.UserError`` for what makes no sense. See ``distsearch.Session`` for many searches.
"""

import sys
import types


class _Callable(types.ModuleType):
    """The room, which is the library's ``distsearch.search(…)`` as well: both are called so from outside."""

    def __call__(self, game, position="startpos", **options):
        """Return the Outcome of one search by this process alone; see ``session.Session.search``."""
        from ..session import search

        return search(game, position, **options)


sys.modules[__name__].__class__ = _Callable
