"""What games of learning came to, so many at a time."""

import numpy as np

COLUMNS = 3  # of a game kept: its score, the code of its largest tile, its moves


class Statistics:
    """Sums games up in windows of ``size``.

    values: of the codes; win: the code that wins; told(line): takes each line, a dictionary. games: how many there were
    so far. window: int64, shape (n, 3), see COLUMNS: those of the window at work; since: seconds of learning before it.
    """

    def __init__(self, size, values, win, told, games=0, since=0.0, window=None):
        self._size, self._values, self._win, self._told, self.since = size, values, win, told, since
        self.games, self.window = games, np.zeros((0, COLUMNS), np.int64) if window is None else np.array(window)

    def add(self, results, seconds):
        """Take results in, see ``td``; seconds: of learning so far."""
        rows = results[results[:, 0] > 0][:, :COLUMNS] - np.array([1, 0, 0])
        self.games += len(rows)
        rows = np.concatenate([self.window, rows])
        full, after = len(rows) // self._size, self.games - len(rows)
        each = (seconds - self.since) / max(1, full)
        for i in range(full):
            window = rows[i * self._size : (i + 1) * self._size]
            found = figures(window, self._values, self._win)
            self.since += each
            self._told(
                {
                    "games": after + (i + 1) * self._size,
                    **found,
                    "moves_per_second": round(found["moves"] / max(each, 1e-6)),
                    "seconds": round(self.since, 3),
                }
            )
        self.window = rows[full * self._size :]


def figures(window, values, win):
    """Return the figures of games by name; window: int64, shape (n, 3), see COLUMNS, n > 0.

    average_error: the standard error of the average.
    """
    scores, largest = window[:, 0], window[:, 1]
    reached = {str(values[code]): float((largest >= code).mean()) for code in np.unique(largest)[::-1].tolist()}
    return {
        "average": float(scores.mean()),
        "average_error": float(scores.std() / np.sqrt(len(scores))),
        "maximum": int(scores.max()),
        "win_rate": float((largest >= win).mean()),
        "reached": reached,
        "moves": int(window[:, 2].sum()),
    }
