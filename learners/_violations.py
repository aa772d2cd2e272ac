"""The edges that scores break, as a table."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from prefgraph import Preferences

if TYPE_CHECKING:
    import pyarrow as pa

EDGES_AT_ONCE = 10_000_000


def violated_edges(p: Preferences, scores: npt.NDArray[np.floating[Any]], keys: Sequence[Any] | None) -> pa.Table:
    """A row for each edge with ``f(init) <= f(term)`` (a tie is an error), the worst margin first.

    ``scores`` is an instances x labels matrix, or flat, a score for each vertex in the order of
    `Preferences.vertex_lists`. Edges are listed for a block of instances at a time: only the broken ones are kept.
    """
    import pyarrow as pa

    flat = _Flat(p, scores) if scores.ndim == 1 else None
    ends = np.cumsum(p.edge_counts())
    pieces = [_broken(p, slice(0, 0), scores, flat)]
    start = 0
    while start < len(p):
        done = int(ends[start - 1]) if start else 0
        stop = max(start + 1, int(np.searchsorted(ends, done + EDGES_AT_ONCE, side="right")))
        pieces.append(_broken(p, slice(start, stop), scores, flat))
        start = stop
    instance, init, term, margin, weight = (np.concatenate(column) for column in zip(*pieces, strict=True))
    order = np.lexsort((term, init, instance, margin))
    columns: dict[str, Any] = {"instance": instance[order]}
    if keys is not None:
        columns["key"] = _names([keys[i] for i in columns["instance"]])
    columns["init"] = _names([p.labels[v] for v in init[order]], p.labels)
    columns["term"] = _names([p.labels[v] for v in term[order]], p.labels)
    return pa.table({**columns, "margin": margin[order], "weight": weight[order]})


class _Flat:
    """Scores of the vertices of each instance, looked up by instance and label."""

    def __init__(self, p: Preferences, scores: npt.NDArray[np.floating[Any]]) -> None:
        offsets, vertex = p.vertex_lists()
        self.n_labels = max(len(p.labels), 1)
        self.numbers = np.repeat(np.arange(len(p)), np.diff(offsets)) * self.n_labels + vertex  # ascending
        self.scores = scores

    def __call__(self, instance: npt.NDArray[Any], label: npt.NDArray[Any]) -> npt.NDArray[np.floating[Any]]:
        place = np.searchsorted(self.numbers, instance * self.n_labels + label)
        return np.asarray(self.scores[place])


def _broken(
    p: Preferences, rows: slice, scores: npt.NDArray[np.floating[Any]], flat: _Flat | None
) -> tuple[npt.NDArray[Any], ...]:
    """(instance, init, term, margin, weight) of the broken edges of some instances."""
    q = p[rows].parts("identity")
    instance = q.instance.astype(np.int64) + (rows.start or 0)
    if flat is None:
        margin = scores[instance, q.init] - scores[instance, q.term]
    else:
        margin = flat(instance, q.init) - flat(instance, q.term)
    bad = ~(margin > 0)
    return instance[bad], q.init[bad], q.term[bad], margin[bad].astype(np.float64), q.weight[bad]


def _names(values: list[Any], among: Sequence[Any] | None = None) -> Any:
    """A column of labels: text, integers, or text for all other labels, the same type whatever is broken."""
    import pyarrow as pa

    kinds = {type(name) for name in (values if among is None else among)}
    for kind, arrow in ((str, pa.string()), (int, pa.int64())):
        if kinds <= {kind}:
            return pa.array(values, arrow)
    return pa.array([str(name) for name in values], pa.string())
