"""What a search found, as numbers, as JSON and as text for people."""

import json
from collections.abc import Iterator
from dataclasses import dataclass, field, fields
from textwrap import indent
from typing import Any, Self

from .. import __version__
from ..tree.policies import POLICIES
from .facts import compact
from .metrics import RunFigures, summary, table_full
from .notebook import outcome_html

_RELATIONS = {"exact": "", "lower": "at least ", "upper": "at most "}
_SIGNS = {"exact": "", "lower": "≥", "upper": "≤"}


@dataclass
class Outcome(RunFigures):
    """The answer for one position. Scores are for the side to move; ``pv`` and moves are texts.

    meaning: what the score says in words, where that is known; bound: "exact", "lower" or "upper"; proved: the score
    is the game's value; complete: the search ended as asked;
    nodes: nodes searched (ordering searches apart); seconds: wall time, or where many positions were searched at once,
    the time that workers spent on this one; table_far_hits: those of the hits that the shared table had, the L1 ones
    the others; table_replacements: entries of other positions written over in either; table_full: the share of the
    shared table's entries that are used, of the fullest host's, in the end;
    moves: {move, score}, and bound where it is not exact; chance_to_move: True where that is why there is no move;
    selective, rank_cut: of a search that left lines or moves out, the probability; parallel: "evaluation" where the
    squares of each board were spread over the ranks instead of the tree, and jobs are nodes; runs, width, seed: of a
    search by sampled runs, goals: runs that made a larger tile. Where chance has an adversary: pruning; par_depth;
    jobs_used and jobs_wasted, whose values mattered as they came, or did not; jobs_cut, that were not handed out.
    book: the name of the opening book that has the answer, which took no search; asked: the text by which the position
    was asked for, where that is another one than ``position``; drawing: of the board, for people alone.
    ``add_run`` adds the rest, see ``metrics.summary``.
    """

    game: str
    board: str
    position: str
    move: str | None
    score: float | None
    unit: str
    meaning: str | None = None
    bound: str = "exact"
    proved: bool = False
    complete: bool = field(default=True, kw_only=True)
    moves: list | None = None
    depth: int = 0
    nodes: int = 0
    ordering_nodes: int = 0
    pv: list = field(default_factory=list)
    runs: int | None = None
    width: int | None = None
    goals: int | None = None
    seed: int | None = None
    algorithm: str = "alphabeta"
    selective: float | None = None
    rank_cut: float | None = None
    parallel: str | None = None
    book: str | None = None
    asked: str | None = None
    drawing: str | None = None
    policy: str = "split"
    load_factor: float = 1
    chance_to_move: bool | None = None
    pruning: str | None = None
    par_depth: int | None = None
    jobs_used: int | None = None
    jobs_wasted: int | None = None
    jobs_cut: int | None = None
    tree_nodes: int = 0
    table_hits: int = 0
    table_far_hits: int = 0
    table_stores: int = 0
    table_replacements: int = 0
    table_full: float = 0.0
    startup_seconds: float = 0.0
    master_seconds: float = 0.0
    per_worker: list = field(default_factory=list)

    def add_run(self, took):
        """Take over what a ``RunStats`` says of the workers."""
        vars(self).update(summary(took.workers))
        self.table_full = table_full(took.workers)
        self.startup_seconds, self.per_worker = round(took.startup_seconds, 6), took.workers
        self.master_seconds = round(took.master_seconds, 6)

    @property
    def table_near_hits(self) -> int:
        return self.table_hits - self.table_far_hits

    @property
    def boards_per_second(self) -> int:
        return round(self.nodes / self.seconds) if self.seconds > 0 else 0

    def as_asked(self, text: str | None) -> Self:
        """Keep the text by which the position was asked for, None or "" for the first one; return this Outcome."""
        if text and text not in ("startpos", self.position):
            self.asked = text
        return self

    def to_dict(self) -> dict[str, Any]:
        """Return the fields that JSON shows, of plain types."""
        plain = {name: value for name, value in self._plain().items() if name not in NOT_ALWAYS or value is not None}
        plain.pop("drawing", None)
        plain |= {"boards_per_second": self.boards_per_second, "table_near_hits": self.table_near_hits}
        return {**plain, "version": __version__}

    def names(self) -> list[str]:
        """Return the names of all fields that JSON may show, in its order."""
        own = [name for name in self._plain() if name != "drawing"]
        return [*own, "boards_per_second", "table_near_hits", "version"]

    def to_json(self, **more: Any) -> str:
        """Return the outcome as one line of JSON, ``more`` fields first."""
        return json.dumps({**more, **self.to_dict()})

    def to_text(self) -> str:
        """Return the outcome as a small table."""
        depth, ranks = f"{self._depth_text()}{self._runs_text()}", f"{self.ranks} rank{'s' * (self.ranks > 1)}"
        rate, cpu = f"{compact(self.boards_per_second)} nodes/s", f"{self.cpu_seconds:.2f} CPU s"
        cpu += f", {self.gpu_seconds:.2f} GPU s" if self.gpu_seconds else ""
        rows = [
            *self._answer_rows(),
            ("search", self._search_text(f"{depth}, policy {self._policy_text()}, {ranks}")),
            ("nodes", f"{self.nodes:,} in {self.seconds:.2f} s ({rate}; {self.jobs} jobs, {cpu})"),
        ]
        if self.table_stores:
            counts = (f"{getattr(self, f'table_{name}'):,} {name}" for name in ("hits", "stores", "replacements"))
            rows.append(("table", ", ".join(counts)))
            if self.table_far_hits or self.table_full:
                rows.append(("shared", f"{self.table_far_hits:,} of the hits, {self.table_full:.1%} full"))
        if self.jobs_used is not None:
            rows.append(("jobs", f"{self.jobs_used:,} used, {self.jobs_wasted:,} wasted, {self.jobs_cut:,} cut"))
        if self.time_share:
            shares = ", ".join(f"{name} {100 * share:.1f}%" for name, share in self.time_share.items())
            rows.append(("workers", f"{shares}; load balance {self.load_balance:.2f}"))
        if self.moves is not None:
            rows += [(f"move {each['move']}", _with_sign(each, _RELATIONS)) for each in self.moves]
        title = f"{self.game} {self.board}\n" + (indent(f"\n{self.drawing}\n\n", "  ") if self.drawing else "")
        return title + "\n".join(f"  {name:<10} {value}" for name, value in rows)

    def to_line(self, number: int) -> str:
        """Return the outcome as one line of a list of positions."""
        moves = (f"{each['move']}:{_with_sign(each, _SIGNS)}" for each in self.moves or ())
        return (
            f"{number:>6}  {self.move or '-':<5} {self.score_text():<24} {self.nodes:>14,} nodes "
            f"{self.seconds:>9.3f} s  {' '.join(self.pv[:8] if self.moves is None else moves)}"
        )

    def __rich_repr__(self) -> Iterator[tuple[str, Any]]:
        yield "game", f"{self.game} {self.board}"
        yield from ((name.replace(" ", "_"), text) for name, text in self._rows_in_short())

    def _repr_html_(self) -> str:
        best = self.move if self.score is not None else None
        scores = {each["move"]: _short(each) for each in self.moves or ()}
        if best is not None and not scores:
            scores = {best: _short({"score": self.score, "bound": self.bound})}
        return outcome_html(self.game, self.board, self.position, scores, best, self._rows_in_short())

    def _rows_in_short(self):
        """Return (name, text) of the answer and of what it took, in a few lines."""
        moves = [("moves", ", ".join(f"{each['move']} {_short(each)}" for each in self.moves))] if self.moves else []
        searched = f"{self._depth_text()}, {self.nodes:,} nodes in {self.seconds:.2f} s"
        return [*self._answer_rows(), *moves, ("search", self._search_text(searched))]

    def _answer_rows(self):
        """Return (name, text) of the answer."""
        return [
            ("position", self.position),
            *([("asked", self.asked)] if self.asked else []),
            ("best move", self.move or self._without_move()),
            ("score", self.score_text()),
            *([("meaning", self.meaning)] if self.meaning else []),
            ("line", " ".join(self.pv) or "-"),
        ]

    def _without_move(self):
        if self.score is None:
            return "unknown"
        if self.chance_to_move:
            return "none: chance is to move"
        if self.algorithm in ("expectimax", "averaged", "ida", "mcts") or self.pruning is not None:
            return "none: no legal move"
        return "none: the game is over"

    def _search_text(self, how):
        if self.book is None:
            return f"{self._algorithm_text()}, {how}"
        return f"none: the book {self.book} has it" + ("" if self.proved else f", {self.depth} plies deep")

    def _algorithm_text(self):
        unpruned = self.algorithm == "expectiminimax" and self.pruning == "none"
        selective = "" if self.selective is None else f", selective {self.selective:g}"
        selective += "" if self.rank_cut is None else f", rank-cut {self.rank_cut:g}"
        return self.algorithm + " without pruning" * unpruned + selective

    def _runs_text(self):
        if self.runs is None:
            return ""
        if self.algorithm == "mcts":
            return f", {self.runs} tree{'s' * (self.runs > 1)}"
        how = f"of width {self.width}" if self.goals is None else f"({self.goals} to a larger tile)"
        return f", {self.runs} run{'s' * (self.runs > 1)} {how}"

    def _policy_text(self):
        if self.parallel is not None:
            return "none, the squares of each board spread"
        if self.par_depth is not None:
            return f"{self.policy} at par-depth {self.par_depth}"
        shared = self.runs is None and POLICIES[self.policy].expands_ahead  # runs are what they are, however many ranks
        return f"{self.policy} at load factor {self.load_factor:g}" if shared else self.policy

    def _depth_text(self):
        bounded = self.complete and self.bound != "exact"  # by a window, which goes with exact searches alone
        return "to the end" if self.proved or bounded else f"depth {self.depth}"

    def score_text(self) -> str:
        """Return the score as a table shows it."""
        if self.score is None:
            return "unknown: stopped too early"
        return f"{_RELATIONS[self.bound]}{self.score:+g} {self.unit}{'' if self.complete else ' (stopped early)'}"


NOT_ALWAYS = {each.name for each in fields(Outcome) if each.default is None}  # in JSON: only where they are known


def _with_sign(move, relations):
    return f"{relations[move.get('bound', 'exact')]}{move['score']:+g}"


def _short(move):
    """Return a score that has little room."""
    score = move["score"]
    return f"{_SIGNS[move.get('bound', 'exact')]}{score:+.4g}" if abs(score) < 10_000 else compact(score)


class Batch:
    """What many positions took: averages and totals, in CPU time, as in the report on Connect 4 with CUDA."""

    def __init__(self):
        self.positions, self._seconds, self._nodes, self._hits = 0, 0.0, 0, 0
        self._wall, self._own, self._ranks = 0.0, 0.0, 1

    def add(self, outcome):
        """Take the figures of an Outcome in."""
        self.positions += 1
        self._seconds += outcome.cpu_seconds
        self._nodes += outcome.nodes
        self._hits += outcome.table_hits

    def add_records(self, records):
        """The same for an array of result records."""
        self.positions += len(records)
        self._seconds += float(records["cpu"].sum())
        self._nodes += int(records["nodes"].sum())
        self._hits += int(records["table_hits"].sum())

    def took(self, seconds, own, ranks):
        """It took so much more wall time, and so much CPU time of this process, one of so many ranks."""
        self._wall += seconds
        self._own += own
        self._ranks = ranks

    def state(self):
        """Return the figures so far as plain values by name, for ``restored``."""
        return dict(vars(self))

    @classmethod
    def restored(cls, state):
        """Return a Batch with the figures of a state, a ``Saved``; raises UserError if they cannot be figures."""
        batch = cls()
        for name, value in vars(batch).items():
            setattr(batch, name, state.integer(name) if isinstance(value, int) else state.number(name))
        return batch

    def to_text(self) -> str:
        """Return the figures as a few lines."""
        n, seconds, wall = max(1, self.positions), self._seconds, max(self._wall, 1e-9)
        rate = self._nodes / seconds / 1e6 if seconds else 0.0
        master = f", {100 * self._own / wall:.0f}% of a core for the master" if self._ranks > 1 else ""
        return (
            f"{self.positions:,} positions: {1e3 * seconds / n:.4g} ms and {self._nodes / n:,.0f} nodes a position, "
            f"{rate:.2f} nodes/µs,\n  in all {seconds:.3f} CPU s, {self._nodes:,} nodes, {self._hits:,} table hits"
            f"\n  {self._wall:.2f} s on {self._ranks} rank{'s' * (self._ranks > 1)}: {compact(self.positions / wall)} "
            f"positions/s{master}"
        )


def tidy(score):
    """Return a score as an int where it is one, so that JSON and text show 3 and not 3.0."""
    return int(score) if score == int(score) else score
