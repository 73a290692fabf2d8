"""Which class searches positions under which options."""

from .chance import AdversarySearcher, AveragedSearcher, ChanceSearcher, IdaSearcher
from .two_player import Searcher

_AGAINST_CHANCE = {"expectimax": ChanceSearcher, "averaged": AveragedSearcher, "ida": IdaSearcher}


def searcher_of(options):
    """Return the class of Searcher for Options."""
    return _AGAINST_CHANCE.get(options.algorithm, AdversarySearcher) if options.against_chance else Searcher
