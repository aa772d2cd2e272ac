"""Kendall's tau between preference graphs and scores."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from prefgraph._metric_kernels import unequal_pairs
from prefgraph.errors import InvalidTarget, check_option
from prefgraph.metrics._graph_errors import vertices_of_graphs, violations
from prefgraph.metrics._inputs import mean, read

VARIANTS = ("edges", "b")


def kendall_tau(
    y: Any, scores: npt.ArrayLike, variant: str = "edges", *, sample_weight: npt.ArrayLike | None = None
) -> float:
    """The mean over instances of Kendall's tau, for total, partial and tied rankings and for any other graph.

    With C edges that agree with the scores (``f(init) > f(term)``) and D that are reversed (``<``), ties being
    neither:

    - ``"edges"``: ``(C - D) / |E|``, 1 if all edges agree, -1 if all are reversed;
    - ``"b"``: ``(C - D) / sqrt(|E| U)`` with U the number of pairs of vertices with different scores: tau-b, in which a
      pair without an edge is a tie of the target. 0 where all scores are equal.

    Instances without edges say nothing about the scores and are left out of the mean.

    Parameters
    ----------
    y, scores, sample_weight
        As in `graph_error`.
    variant
        ``"edges"`` or ``"b"``.

    Raises
    ------
    InvalidScores
        As in `graph_error`.
    InvalidTarget
        No instance of positive weight has an edge.

    Examples
    --------
    A ranking with a tie, and scores that tie elsewhere:

    >>> import numpy as np
    >>> from prefgraph import as_preferences
    >>> from prefgraph.metrics import kendall_tau
    >>> p = as_preferences([["a", ["b", "c"], "d"]], form="rankings")
    >>> kendall_tau(p, [[0.9, 0.5, 0.4, 0.4]])
    0.8
    >>> round(kendall_tau(p, [[0.9, 0.5, 0.4, 0.4]], variant="b"), 3)
    0.8
    """
    check_option("variant", variant, VARIANTS)
    p, values = read(y, scores, sample_weight)
    reversed_, edges = violations(p, values, "disagreement", "agree")
    not_agreeing, _ = violations(p, values, "disagreement", "disagree")
    difference = edges - not_agreeing - reversed_
    scale = edges
    if variant == "b":
        scale = np.sqrt(edges * unequal_pairs(values, p.graph_index, *vertices_of_graphs(p)))
    tau = np.divide(difference, scale, out=np.zeros(len(p)), where=scale > 0)
    used = (edges > 0) & (p.weight > 0)
    if not used.any():
        raise InvalidTarget(
            f"none of {len(p)} instances has an edge and a positive weight; Kendall's tau needs one that has"
        )
    return mean(tau[used], p.weight[used])
