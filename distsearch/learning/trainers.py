"""Which training the command line asks for: that of networks of tuples, or a game's own."""

from ..evaluation import patterns
from .train_networks import train_networks
from .train_patterns import train_patterns

_OWN = {patterns.GAME: train_patterns}


def trainer_of(game):
    """Return the function that trains for a game, by its name; all ranks call it.

    (arguments, comm, interrupts, progress, say) -> exit status. comm: None for this process alone; interrupts: an
    ``Interrupts``, which rank 0 may enter; say(text): takes what is to be printed, on rank 0. It raises UserError, on
    every rank for what makes no sense or cannot be read, on rank 0 for what cannot be written at the end.
    """
    return _OWN.get(game, train_networks)
