"""What tells one search from another, so that none goes on where a different one was."""

import hashlib

from .. import games

_SHARED_OUT = "load_factor", "prefetch"  # options that do not decide what a search answers, like the number of ranks


def fingerprint(options, positions=(), **asked):
    """Return all that decides a search's output as plain values by name.

    options: the Options; positions: those it is about, where they are known before it begins; asked: what else was
    asked of it, by name.
    """
    game = games.find(options.game)
    rules = game.rules(options.board, **options.rules)
    found = {name: value for name, value in vars(options).items() if name not in _SHARED_OUT}
    texts = [game.text(position, rules) for position in positions]
    many = hashlib.sha256("\n".join(texts).encode()).hexdigest()
    return {**asked, **found, "game": games.tag(game), "position": texts[0] if len(texts) == 1 else many}
