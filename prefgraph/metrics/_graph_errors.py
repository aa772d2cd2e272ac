"""The errors that a decomposition induces, and the three losses of MMP, on any preference graphs."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from prefgraph._edge_table import starts
from prefgraph._metric_kernels import FEW_LAYERS, FEW_PAIRS, pair_errors, part_errors, star_errors
from prefgraph.compiled import Preferences
from prefgraph.decompose import BUILT_IN, Decomposition, find_decomposition, takes_instance
from prefgraph.errors import check_option
from prefgraph.metrics._inputs import Scores, mean, ratio, read, weighted_sum
from prefgraph.parts import FloatArray, IntArray, Parts

NORMALIZE = ("instance", "count", "part")
TIES = ("disagree", "agree")
# loss -> the decomposition and the normalisation of which it is the graph error
MMP_LOSSES = {
    "indicator": ("identity", "instance"),
    "count": ("disagreement", "count"),
    "share": ("disagreement", "instance"),
}


def graph_error(
    y: Any,
    scores: npt.ArrayLike,
    decomposition: str | Decomposition = "domination",
    normalize: str = "instance",
    ties: str = "disagree",
    *,
    weighted: bool = False,
    sample_weight: npt.ArrayLike | None = None,
) -> float:
    """How many of the parts that a decomposition makes of the graphs disagree with the scores, on average.

    A part S of the graph of instance i disagrees if some edge e of it has ``f(init e) <= f(term e)``. With ``c_i`` of
    the ``s_i`` parts of instance i in disagreement, over m instances:

    - ``normalize="instance"``: ``1/m sum_i c_i / s_i``, between 0 and 1;
    - ``normalize="count"``: ``1/m sum_i c_i``;
    - ``normalize="part"``: ``sum_i c_i / sum_i s_i``, between 0 and 1.

    An instance without edges has no parts: its fraction and its count are 0, and it is still one of the m instances.

    Parameters
    ----------
    y
        The targets: `Preferences`, or anything that `as_preferences` recognises.
    scores
        A matrix with a row for each instance and a column for each label, in the order of the labels; larger is better.
        Where instances have labels of their own, it may be flat: one score for each vertex of each instance, in the
        order of `Preferences.vertex_lists`. If ``y`` is a vector of 0 and 1 and ``scores`` a vector of the same length,
        they are one ranking of documents for a topic.
    decomposition
        A name in `DECOMPOSITIONS`, or a function of a graph, or of a graph and an instance.
    normalize
        ``"instance"``, ``"count"`` or ``"part"``, as above.
    ties
        ``"disagree"``: an edge between equal scores is violated, as in [DMS03]. ``"agree"``: it is not, as in [AS05].
    weighted
        Count a part by the total weight of its edges instead of by 1.
    sample_weight
        The weight of each instance, 0 or more, by default that of the preferences.

    Returns
    -------
    float
        The error. `graph_error_sum` gives the sum over instances, `graph_errors` a value for each.

    Raises
    ------
    InvalidScores
        NaN, an infinite score, or a shape that does not fit.
    InvalidTarget
        There is no instance of positive weight to take a mean over.

    Examples
    --------
    Two relevant labels of three; the score of the first ties with that of the irrelevant one:

    >>> from prefgraph.metrics import graph_error
    >>> y, scores = [[1, 1, 0], [0, 0, 0]], [[0.5, 0.9, 0.5], [0.1, 0.2, 0.3]]
    >>> graph_error(y, scores), graph_error(y, scores, normalize="part")
    (0.25, 0.5)
    >>> graph_error(y, scores, ties="agree")
    0.0

    References
    ----------
    [DMS03] Eq. (1); [AS05] section 2.
    """
    check_option("normalize", normalize, NORMALIZE)
    p, values = read(y, scores, sample_weight)
    wrong, total = violations(p, values, decomposition, ties, weighted)
    if normalize == "part":
        return weighted_sum(wrong, p.weight) / (weighted_sum(total, p.weight) or 1.0)
    return mean(wrong if normalize == "count" else ratio(wrong, total), p.weight)


def graph_error_sum(
    y: Any,
    scores: npt.ArrayLike,
    decomposition: str | Decomposition = "domination",
    normalize: str = "instance",
    ties: str = "disagree",
    *,
    weighted: bool = False,
    sample_weight: npt.ArrayLike | None = None,
) -> float:
    """The sum over instances that [DMS03] writes, ``sum_i c_i / s_i``, or with ``normalize="count"`` ``sum_i c_i``.

    Parameters are those of `graph_error`; ``normalize="part"`` has no sum and is refused. No instances: 0.

    Examples
    --------
    >>> from prefgraph.metrics import graph_error_sum
    >>> y, scores = [[1, 1, 0], [0, 1, 0]], [[0.5, 0.9, 0.5], [0.3, 0.2, 0.1]]
    >>> graph_error_sum(y, scores, "domination"), graph_error_sum(y, scores, "disagreement", normalize="count")
    (1.5, 2.0)

    References
    ----------
    [DMS03] Eq. (1).
    """
    check_option("normalize", normalize, ("instance", "count"))
    p, values = read(y, scores, sample_weight)
    wrong, total = violations(p, values, decomposition, ties, weighted)
    return weighted_sum(wrong if normalize == "count" else ratio(wrong, total), p.weight)


def graph_errors(
    y: Any,
    scores: npt.ArrayLike,
    decomposition: str | Decomposition = "domination",
    normalize: str = "instance",
    ties: str = "disagree",
    *,
    weighted: bool = False,
) -> FloatArray:
    """The error of each instance: ``c_i / s_i``, or with ``normalize="count"`` ``c_i``.

    Parameters are those of `graph_error`; weights of instances play no part.

    Examples
    --------
    >>> from prefgraph.metrics import graph_errors
    >>> graph_errors([[1, 1, 0], [0, 0, 0]], [[0.5, 0.9, 0.5], [0.1, 0.2, 0.3]])
    array([0.5, 0. ])
    """
    check_option("normalize", normalize, ("instance", "count"))
    p, values = read(y, scores)
    wrong, total = violations(p, values, decomposition, ties, weighted)
    return wrong if normalize == "count" else ratio(wrong, total)


def violations(
    p: Preferences, scores: Scores, decomposition: str | Decomposition, ties: str, weighted: bool = False
) -> tuple[FloatArray, FloatArray]:
    """(violated parts, parts) of each instance, or the weights of their edges."""
    check_option("ties", ties, TIES)
    function = find_decomposition(decomposition)
    name = getattr(function, "__name__", "")
    if name in BUILT_IN and find_decomposition(name) is function:
        return _named_violations(p, scores, name, ties == "agree", weighted)
    whole = p if takes_instance(function) else _distinct(p)
    index = np.arange(len(p), dtype=np.int32) if whole is p else p.graph_index
    return _part_violations(whole.parts(function), index, scores, ties == "agree", weighted)


def _named_violations(
    p: Preferences, scores: Scores, name: str, ties_agree: bool, weighted: bool
) -> tuple[FloatArray, FloatArray]:
    """A built-in decomposition: layers as they are, other graphs by their parts."""
    wrong, total = np.zeros(len(p)), np.zeros(len(p))
    if len(p.layer):
        layered = (scores, p.layer, p.graph_index)
        if name == "disagreement":
            pair_errors(*layered, ties_agree, FEW_PAIRS, wrong, total)
        else:
            star_errors(*layered, name == "dominated", ties_agree, weighted, FEW_LAYERS, wrong, total)
        if name == "identity":  # the whole graph disagrees if some star does; an edge is in one star
            total = total if weighted else np.minimum(total, 1.0)
            wrong = np.where(wrong > 0, total, 0.0)
    if len(p.table):
        others = Preferences(p.labels, np.arange(len(p.table), dtype=np.int32), p.layer[:0], p.table)
        index = p.graph_index - len(p.layer)
        more_wrong, more = _part_violations(others.parts(name), index, scores, ties_agree, weighted)
        wrong, total = wrong + more_wrong, total + more
    return wrong, total


def _part_violations(
    parts: Parts, index: IntArray, scores: Scores, ties_agree: bool, weighted: bool
) -> tuple[FloatArray, FloatArray]:
    """As `violations`, for parts of numbered graphs and the number of each instance's graph, negative for no matter."""
    wrong = np.zeros(len(index))
    part_start = starts(parts.counts)
    part_errors(
        scores, index, part_start, parts.offsets, parts.init, parts.term, parts.weight, ties_agree, weighted, wrong
    )
    sizes = np.bincount(parts.instance, parts.weight, parts.n_instances) if weighted else np.diff(part_start)
    return wrong, np.append(sizes, 0.0)[np.maximum(index, -1)]


def _distinct(p: Preferences) -> Preferences:
    """Each distinct graph once."""
    return Preferences(p.labels, np.arange(p.n_graphs, dtype=np.int32), p.layer, p.table)


def vertices_of_graphs(p: Preferences) -> tuple[IntArray, IntArray]:
    """The vertices of each distinct graph: ``(offsets, vertices)``."""
    return _distinct(p).vertex_lists()


# -- shorthands: the errors of the log-linear paper, the costs of the KPLM paper --------------------------------------


def zero_one_error(
    y: Any, scores: npt.ArrayLike, *, ties: str = "disagree", sample_weight: npt.ArrayLike | None = None
) -> float:
    """The share of instances of which some edge is violated: `graph_error` with ``"identity"``.

    Parameters are those of `graph_error`.

    Examples
    --------
    >>> from prefgraph.metrics import zero_one_error
    >>> zero_one_error([[1, 1, 0], [0, 0, 1]], [[0.9, 0.1, 0.5], [0.1, 0.2, 0.3]])
    0.5

    References
    ----------
    epsilon_0-1 of [DMS03], section 2.
    """
    return graph_error(y, scores, "identity", ties=ties, sample_weight=sample_weight)


def disagreement_error(
    y: Any, scores: npt.ArrayLike, *, ties: str = "disagree", sample_weight: npt.ArrayLike | None = None
) -> float:
    """The share of violated edges, averaged over instances: `graph_error` with ``"disagreement"``.

    Parameters are those of `graph_error`.

    Examples
    --------
    >>> from prefgraph.metrics import disagreement_error
    >>> disagreement_error([[1, 0, 0, 0], [0, 0, 1, 0]], [[0.4, 0.1, 0.5, 0.2], [0.1, 0.2, 0.3, 0.0]], ties="agree")
    0.16666666666666666

    References
    ----------
    epsilon_dis of [DMS03], section 2.
    """
    return graph_error(y, scores, "disagreement", ties=ties, sample_weight=sample_weight)


def domination_error(
    y: Any, scores: npt.ArrayLike, *, ties: str = "disagree", sample_weight: npt.ArrayLike | None = None
) -> float:
    """The share of labels that do not beat all they should, averaged over instances: ``"domination"``.

    For label sets: the share of relevant labels that are not above all irrelevant ones.

    Parameters are those of `graph_error`.

    Examples
    --------
    >>> from prefgraph.metrics import domination_error
    >>> domination_error([[1, 1, 0, 0]], [[0.9, 0.3, 0.5, 0.2]])
    0.5

    References
    ----------
    epsilon_Dom of [DMS03], section 2.
    """
    return graph_error(y, scores, "domination", ties=ties, sample_weight=sample_weight)


def dominated_error(
    y: Any, scores: npt.ArrayLike, *, ties: str = "disagree", sample_weight: npt.ArrayLike | None = None
) -> float:
    """The share of labels that beat some label they should not, averaged over instances: ``"dominated"``.

    Parameters are those of `graph_error`.

    Examples
    --------
    >>> from prefgraph.metrics import dominated_error
    >>> dominated_error([[1, 0, 0, 0]], [[0.4, 0.3, 0.5, 0.2]])
    0.3333333333333333

    References
    ----------
    epsilon_dom of [DMS03], section 2.
    """
    return graph_error(y, scores, "dominated", ties=ties, sample_weight=sample_weight)


def identity_cost(
    y: Any, scores: npt.ArrayLike, *, ties: str = "disagree", sample_weight: npt.ArrayLike | None = None
) -> float:
    """IErr: the share of the graphs with an edge of which some edge is violated.

    `graph_error` with ``"identity"`` and ``normalize="part"``. Other than in `zero_one_error`, instances without edges
    are not in the denominator.

    Parameters are those of `graph_error`.

    Examples
    --------
    >>> from prefgraph.metrics import identity_cost
    >>> identity_cost([[1, 1, 0], [1, 1, 1]], [[0.9, 0.1, 0.5], [0.1, 0.2, 0.3]])
    1.0

    References
    ----------
    IErr of [AS05], Table 1.
    """
    return graph_error(y, scores, "identity", "part", ties, sample_weight=sample_weight)


def domination_cost(
    y: Any, scores: npt.ArrayLike, *, ties: str = "disagree", sample_weight: npt.ArrayLike | None = None
) -> float:
    """DErr: of all relevant labels of all instances, the share that is not above all irrelevant ones.

    `graph_error` with ``"domination"`` and ``normalize="part"``.

    Parameters are those of `graph_error`.

    Examples
    --------
    One of the three relevant labels is not above all others:

    >>> from prefgraph.metrics import domination_cost
    >>> domination_cost([[1, 1, 0], [0, 0, 1]], [[0.9, 0.1, 0.5], [0.1, 0.2, 0.3]])
    0.3333333333333333

    References
    ----------
    DErr of [AS05], Table 1.
    """
    return graph_error(y, scores, "domination", "part", ties, sample_weight=sample_weight)


def disagreement_cost(
    y: Any, scores: npt.ArrayLike, *, ties: str = "disagree", sample_weight: npt.ArrayLike | None = None
) -> float:
    """The dErr of a table: of all edges of all instances, the share that is violated.

    `graph_error` with ``"disagreement"`` and ``normalize="part"``.

    Parameters are those of `graph_error`.

    Examples
    --------
    >>> from prefgraph.metrics import disagreement_cost
    >>> disagreement_cost([[1, 1, 0], [0, 0, 1]], [[0.9, 0.1, 0.5], [0.1, 0.2, 0.3]])
    0.25

    References
    ----------
    dErr of [AS05], Table 1.
    """
    return graph_error(y, scores, "disagreement", "part", ties, sample_weight=sample_weight)


# -- the losses of MMP ------------------------------------------------------------------------------------------------


def mmp_loss(
    y: Any,
    scores: npt.ArrayLike,
    loss: str = "indicator",
    *,
    weighted: bool = False,
    sample_weight: npt.ArrayLike | None = None,
) -> float:
    """The mean over instances of one of the losses of MMP, on any preference graph.

    With ``E`` the violated edges of a graph, ties included:

    - ``"indicator"`` (loss 1): 1 if ``E`` is not empty;
    - ``"count"`` (loss 2): ``|E|``;
    - ``"share"`` (loss 3): ``|E|`` over the number of edges; for R relevant of L labels that is ``|R| (L - |R|)``.

    An instance without edges has the loss 0.

    Parameters
    ----------
    y, scores, sample_weight
        As in `graph_error`.
    loss
        ``"indicator"``, ``"count"`` or ``"share"``.
    weighted
        Count an edge by its weight in ``"count"`` and ``"share"``.

    Examples
    --------
    >>> from prefgraph.metrics import mmp_loss
    >>> y, scores = [[1, 1, 0, 0], [0, 0, 1, 0]], [[0.9, 0.1, 0.5, 0.3], [0.1, 0.2, 0.3, 0.0]]
    >>> [mmp_loss(y, scores, loss) for loss in ("indicator", "count", "share")]
    [0.5, 1.0, 0.25]

    References
    ----------
    [CS02] section 3.
    """
    check_option("loss", loss, MMP_LOSSES)
    decomposition, normalize = MMP_LOSSES[loss]
    return graph_error(y, scores, decomposition, normalize, weighted=weighted, sample_weight=sample_weight)


def mmp_loss_sum(
    y: Any,
    scores: npt.ArrayLike,
    loss: str = "indicator",
    *,
    weighted: bool = False,
    sample_weight: npt.ArrayLike | None = None,
) -> float:
    """The sum over instances of one of the losses of MMP: what its mistake bounds speak of.

    Parameters are those of `mmp_loss`. No instances: 0.

    Examples
    --------
    >>> from prefgraph.metrics import mmp_loss_sum
    >>> mmp_loss_sum([[1, 1, 0, 0], [0, 0, 1, 0]], [[0.9, 0.1, 0.5, 0.3], [0.1, 0.2, 0.3, 0.0]], "count")
    2.0

    References
    ----------
    [CS02] section 3 and Theorem 1.
    """
    check_option("loss", loss, MMP_LOSSES)
    decomposition, normalize = MMP_LOSSES[loss]
    return graph_error_sum(y, scores, decomposition, normalize, weighted=weighted, sample_weight=sample_weight)
