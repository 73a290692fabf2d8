"""Whether the frames of a paused search are those of a line of play: what a file gave is looked at before it is used.

A search's kernels trust their frames, so a number that cannot be right would have them read and write anywhere. Scores
are not checked: any value in range is possible.
"""

from collections.abc import Callable, Sequence

import numpy as np

from ..games.interface import MAX_MOVES, Game, Rules, as_state


def check_within(frames: np.ndarray, **limits: tuple[int, int]) -> None:
    """Raise ValueError unless each field of frames (records) that is named lies from its first to its last value."""
    for name, (least, most) in limits.items():
        if np.any((frames[name] < least) | (frames[name] > most)):
            raise ValueError(f"{name} out of its range")


def check_path(
    game: Game,
    rules: Rules,
    words: np.ndarray,
    frames: np.ndarray,
    moves: np.ndarray,
    follows: Callable[[int, int | None], bool],
) -> None:
    """Raise ValueError unless frames are a line of play from the first one's position.

    words: uint64 of shape (frames, words of a state), the frames' positions; frames: records with ``first``, ``count``
    and ``next``: each frame's moves follow those of the frame below in ``moves``, and its move number ``next`` - 1 is
    being searched; moves: int16, of
    all frames. A frame may also have the position of the frame below: a quick search of it. follows(k, m): whether the
    other numbers of frame k fit those of the one below, after move m, or None where it has the same position.
    """
    end, out = 0, np.zeros(MAX_MOVES, np.int16)
    check_within(frames, count=(0, MAX_MOVES))
    for k, frame in enumerate(frames):
        first, count, following = int(frame["first"]), int(frame["count"]), int(frame["next"])
        if first != end or not 0 <= following <= count:
            raise ValueError("moves that are not one frame's behind another's")
        end = first + count
        here, listed = as_state(words[k]), moves[first:end].tolist()
        if k > 0:
            _check_step(game, rules, as_state(words[k - 1]), here, frames[k - 1], moves, lambda m, k=k: follows(k, m))
        legal = out[: game.moves(here, rules, out, 0)].tolist()
        if len(listed) != count or not set(listed) <= set(legal):
            raise ValueError("illegal moves")
    if end != len(moves):
        raise ValueError("moves that no frame has")


def _check_step(game, rules, before, here, frame, moves, follows):
    if here == before and follows(None):
        return
    at_work = int(frame["next"]) - 1
    if at_work < 0:
        raise ValueError("a position after no move")
    m = int(moves[int(frame["first"]) + at_work])
    if as_state(game.play(before, rules, m)[0]) != here or not follows(m):
        raise ValueError("positions that do not follow from one another")


def legal_part(game: Game, rules: Rules, state: tuple, line: Sequence[int]) -> list[int]:
    """Return the moves of a line from a state before its first illegal move."""
    out, legal_moves = np.zeros(MAX_MOVES, np.int16), []
    for m in line:
        if m not in out[: game.moves(state, rules, out, 0)].tolist():
            break
        legal_moves.append(m)
        state = as_state(game.play(state, rules, m)[0])
    return legal_moves
