"""Where the nodes of a search on many workers go, compared with those of one worker: see ``simulate --explain``.

Nodes belong to the lowest node above them that ranks share (``engines.pvs.visits``). A visit of such a node asks a
*question*: what is this node worth, in this window? What one worker asks is what there is to do; all else is for
nothing, and what it is asked for names the cause.
"""

from typing import NamedTuple

import numpy as np

_MIXED = np.array([0x9E3779B97F4A7C15, 0xC2B2AE3D27D4EB4F, 0x165667B19E3779F9], np.uint64)  # odd, so none loses bits

MEANINGS = {  # class → what stands in the table
    "as_one_worker": "as one worker",
    "never_visited": "below nodes that one worker never visits",
    "other_window": "below nodes it visits with other windows",
    "searched_again": "searched by two ranks, or again",
    "table_missed": "searched again, though answered on this host",
    "same_costs_more": "more nodes for the same visits",
    "dropped": "thrown away with dropped jobs",
    "grown": "nodes of the master's own tree",
}


class VisitTotals(NamedTuple):
    """What a class took: nodes; visits of shared nodes; nodes in visits that ended without an answer.

    The latter two are 0 where the nodes are not those of some visits alone.
    """

    nodes: int
    visits: int = 0
    given_up: int = 0


class Explanation(NamedTuple):
    """Where the nodes go.

    one, many: Parts that are all of one worker's run, and of the other; classes: name → Part of the latter, which add
    up to it, see ``explain``; unasked: nodes of one worker that the others have no need of.
    """

    one: VisitTotals
    many: VisitTotals
    classes: dict
    unasked: int

    def to_dict(self):
        """Return it as plain types."""
        classes = {name: part._asdict() for name, part in self.classes.items()}
        return {
            "one_worker": self.one._asdict(),
            "workers": self.many._asdict(),
            "classes": classes,
            "unasked": self.unasked,
        }

    def to_text(self):
        """Return it as a table."""
        rows = [f"  {'where the nodes go':<45} {'nodes':>15} {'of all':>7} {'visits':>11} {'given up':>15}"]
        rows += [self._row(MEANINGS[name], part) for name, part in self.classes.items()]
        rows += [self._row("all", self.many), self._row("one worker", self.one)]
        return "\n".join([*rows, self._row("  of them without need here", VisitTotals(self.unasked))])

    def _row(self, name, part):
        share = f"{part.nodes / max(1, self.many.nodes):.1%}"
        visits, given_up = (f"{count:,}" if count else "-" for count in (part.visits, part.given_up))
        return f"  {name:<45} {part.nodes:>15,} {share:>7} {visits:>11} {given_up:>15}"


def explain(one, many, grown=0):
    """Return the Explanation of a search by many workers compared with one worker's; both are ``Visits.columns``.

    grown: nodes of the former that the master made, for its tree.

    A visit whose search was dropped is ``dropped``, one of a node that the other run never visits ``never_visited``,
    one in a window in which that never visits it ``other_window``. Of each question that both ask, as many nodes as
    one worker needs are ``as_one_worker``. More than that are put down to visits that are more in number than one
    worker's, the later ones: ``searched_again``, or ``table_missed`` if such a visit began when another one on its host
    had ended with an answer, which an entry of the table told. What is left of them is ``same_costs_more``: entries
    that only another rank's L1 table has, and moves in another order.
    """
    parts = {"dropped": _part(many, many["dropped"]), "grown": VisitTotals(grown)}
    nodes = [_node_keys(run) for run in (one, many)]
    visited = np.isin(nodes[1], nodes[0])
    questions = np.concatenate([_keys(one, nodes[0]), _keys(many, nodes[1])])
    asked, keys = np.unique(questions, return_inverse=True)
    keys = np.split(keys.ravel(), [len(nodes[0])])
    needed, visits = _sums(one["nodes"], keys[0], len(asked)), np.bincount(keys[0], minlength=len(asked))
    kept = ~many["dropped"]
    shared = kept & (visits[keys[1]] > 0)
    parts["never_visited"] = _part(many, kept & ~visited)
    parts["other_window"] = _part(many, kept & visited & ~shared)

    key, own = keys[1][shared], {name: column[shared] for name, column in many.items()}
    took = _sums(own["nodes"], key, len(asked))
    more = np.maximum(took - needed, 0)
    extra = _turn(key) >= visits[key]
    missed = extra & (own["since"] > _answered(own, key))
    parts["as_one_worker"] = VisitTotals(int((took - more).sum()), int((~extra).sum()))
    for name, those in (("searched_again", extra & ~missed), ("table_missed", missed)):
        due = np.minimum(_sums(own["nodes"][those], key[those], len(asked)), more)
        parts[name] = VisitTotals(int(due.sum()), int(those.sum()))
        more = more - due
    parts["same_costs_more"] = VisitTotals(int(more.sum()))
    together = _part(many)
    together = together._replace(nodes=together.nodes + grown)
    unasked = int(needed.sum()) - parts["as_one_worker"].nodes
    return Explanation(_part(one), together, {name: parts[name] for name in MEANINGS}, unasked)


def _part(run, those=slice(None)):
    """Return the VisitTotals of a run that is some of its visits."""
    nodes, given_up = run["nodes"][those], run["answered"][those] == 0
    return VisitTotals(int(nodes.sum()), len(nodes), int(nodes[given_up].sum()))


def _node_keys(run):
    """Return a number (uint64) for each visit that is the same for the same node."""
    return run["node"].view(np.uint64) * _MIXED[0] ^ run["left"].view(np.uint64) * _MIXED[1]


def _keys(run, nodes):
    """Return a number (uint64) for each visit that is the same for the same question."""
    low, high = (run[name].view(np.uint64) * mixed for name, mixed in (("low", _MIXED[1]), ("high", _MIXED[2])))
    return (nodes ^ low) * _MIXED[0] ^ high


def _sums(values, key, size):
    """Return the sum of the values (int64) of each key from 0 to size - 1."""
    found = np.zeros(size, np.int64)
    np.add.at(found, key, values)
    return found


def _turn(key):
    """Return for each element how many equal ones are before it."""
    order = np.argsort(key, kind="stable")
    ordered = key[order]
    begins = np.concatenate([[0], np.flatnonzero(ordered[1:] != ordered[:-1]) + 1])
    found = np.empty(len(key), np.int64)
    found[order] = np.arange(len(key)) - np.repeat(begins, np.diff(begins, append=len(key)))
    return found


def _answered(run, key):
    """Return for each visit when the first one of its question on its host ended with an answer."""
    hosts, host = np.unique(run["host"], return_inverse=True)
    at, answered = key * len(hosts) + host.ravel(), run["answered"] == 1
    first = np.full(int(at.max(initial=-1)) + 1, np.iinfo(np.int64).max)
    np.minimum.at(first, at[answered], run["until"][answered])
    return first[at]
