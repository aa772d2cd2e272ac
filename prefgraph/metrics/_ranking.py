"""Ranking metrics: how far up the relevant labels stand (or, for a topic, the relevant documents).

One rule for equal scores: the worst case. See `prefgraph.metrics`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from prefgraph._edge_table import starts
from prefgraph._kernels import ABSENT
from prefgraph._metric_kernels import best_from_here, relevance_counts
from prefgraph.compiled import Preferences
from prefgraph.errors import InvalidOption, InvalidTarget, check_option
from prefgraph.metrics._inputs import check_cutoff, mean, ratio, read
from prefgraph.parts import FloatArray, IntArray

CUTOFFS = ("instance", "set")


@dataclass(frozen=True)
class _Standing:
    """Where the relevant labels of every instance stand: a row for each, by instance and descending score.

    An instance without edges has no rows; every metric calls it perfect.
    """

    offsets: IntArray  # the rows of instance i are offsets[i]:offsets[i + 1]
    instance: IntArray  # the instance of each row
    above: IntArray  # irrelevant labels with a larger score
    level: IntArray  # irrelevant labels with a larger or equal score
    among: IntArray  # relevant labels with a larger or equal score, this one included
    n_relevant: IntArray  # of each instance, 0 where there are no edges
    n_irrelevant: IntArray
    n_columns: int
    weight: FloatArray  # of each instance

    @classmethod
    def of(cls, y: Any, scores: npt.ArrayLike, sample_weight: npt.ArrayLike | None) -> _Standing:
        p, values = read(y, scores, sample_weight)
        layer = _layers(p)
        has_edges = np.any(layer > 0, axis=1)
        n_relevant = np.where(has_edges, np.count_nonzero(layer == 0, axis=1), 0)[p.graph_index]
        n_irrelevant = np.count_nonzero(layer > 0, axis=1)[p.graph_index]
        offsets = starts(n_relevant)
        above, level, among = relevance_counts(values, layer, p.graph_index, offsets)
        instance = np.repeat(np.arange(len(p)), n_relevant)
        return cls(offsets, instance, above, level, among, n_relevant, n_irrelevant, values.shape[1], p.weight)

    @property
    def rank(self) -> IntArray:
        """The number of labels that score at least as high."""
        return self.level + self.among

    @property
    def number(self) -> IntArray:
        """1 for the best relevant label of an instance, 2 for the next ..."""
        return np.arange(len(self.instance)) - self.offsets[self.instance] + 1

    @property
    def place(self) -> IntArray:
        """The place in the order that has the irrelevant labels first wherever scores are equal."""
        return self.level + self.number

    def total(self, values: npt.NDArray[Any]) -> FloatArray:
        """The sum of a value of each row over the rows of each instance."""
        return np.asarray(np.bincount(self.instance, values, len(self.n_relevant)), np.float64)

    def mean(self, values: npt.NDArray[Any], perfect: float) -> float:
        """The mean over instances; those without edges have the value ``perfect``."""
        return mean(np.where(self.n_relevant > 0, values, perfect), self.weight)


def _layers(p: Preferences) -> IntArray:
    """The layers of each distinct graph; weights and attributes of edges do not matter here."""
    others = np.full((len(p.table), len(p.labels)), ABSENT, np.int32)
    for g in range(len(p.table)):
        row = p.table.row(g)
        layer = row._replace(weight=np.ones(len(row.init)), attributes=None).layers()
        if layer is None:
            instance = int(np.flatnonzero(p.graph_index == g + len(p.layer))[0])
            raise InvalidTarget(
                f"instance {instance}: the graph is not layered, so that no set of its labels is the relevant one; "
                "graph_error, mmp_loss and kendall_tau take any graph"
            )
        others[g, row.vertex] = layer
    return p.layer if p.is_layered else np.concatenate([p.layer, others])


def one_error(y: Any, scores: npt.ArrayLike, *, sample_weight: npt.ArrayLike | None = None) -> float:
    """OneErr: the share of instances whose first label is not relevant.

    The first label is relevant if some relevant label scores higher than all irrelevant ones. OneErr is never larger
    than loss 1 of MMP, and is ``1 - precision_at(y, scores, 1)``.

    Parameters
    ----------
    y
        The targets: label sets in any form that `as_preferences` recognises, or layered graphs, of which the labels of
        the first layer are relevant and those of all other layers irrelevant. Isolated labels and labels that are not
        in the graph are left out. A vector of 0 and 1 with a vector of scores is one ranking of documents.
    scores
        As in `graph_error`.
    sample_weight
        The weight of each instance, by default that of the preferences.

    Returns
    -------
    float
        The mean over instances; an instance without edges counts 0.

    Raises
    ------
    InvalidScores
        NaN, an infinite score, or a shape that does not fit.
    InvalidTarget
        A graph is not layered; the message names the instance. Or there is nothing to take a mean over.

    Examples
    --------
    The relevant label of the second instance shares the first place:

    >>> from prefgraph.metrics import one_error
    >>> one_error([[1, 1, 0], [1, 0, 0]], [[0.1, 0.9, 0.5], [0.4, 0.4, 0.3]])
    0.5

    References
    ----------
    [CS02] section 4.5; [AS05] section 4.
    """
    s = _Standing.of(y, scores, sample_weight)
    return s.mean(s.total(s.place == 1) == 0, perfect=0.0)


def coverage(y: Any, scores: npt.ArrayLike, *, sample_weight: npt.ArrayLike | None = None) -> float:
    """How far one has to go down the ranking to find all relevant labels: ``max rank - 1``.

    0 for a single relevant label that is first; then, and whenever one label is relevant, it is loss 2 of MMP. It is
    scikit-learn's ``coverage_error`` less 1.

    Parameters
    ----------
    y, scores, sample_weight
        As in `one_error`.

    Returns
    -------
    float
        The mean over instances; an instance without edges counts 0.

    Examples
    --------
    >>> from prefgraph.metrics import coverage
    >>> coverage([[1, 0, 0], [0, 1, 1]], [[0.9, 0.2, 0.5], [0.3, 0.9, 0.3]])
    1.0

    References
    ----------
    [CS02] section 4.5.
    """
    s = _Standing.of(y, scores, sample_weight)
    last = np.zeros(len(s.n_relevant))
    some = s.n_relevant > 0
    last[some] = s.rank[s.offsets[1:][some] - 1] - 1
    return s.mean(last, perfect=0.0)


def average_precision(y: Any, scores: npt.ArrayLike, *, sample_weight: npt.ArrayLike | None = None) -> float:
    """AvgP: the precision at the rank of each relevant label, averaged over these, then over instances.

        1/|R| sum_{r in R} |{r' in R : rank(r') <= rank(r)}| / rank(r)

    It is scikit-learn's ``label_ranking_average_precision_score``.

    Parameters
    ----------
    y, scores, sample_weight
        As in `one_error`.

    Returns
    -------
    float
        The mean over instances; an instance without edges counts 1.

    Examples
    --------
    >>> from prefgraph.metrics import average_precision
    >>> average_precision([[1, 0, 1]], [[0.9, 0.5, 0.1]])
    0.8333333333333333
    >>> average_precision([[0, 0, 0]], [[0.9, 0.5, 0.1]])
    1.0

    References
    ----------
    [CS02] section 4.5; [AS05] section 4.
    """
    s = _Standing.of(y, scores, sample_weight)
    return s.mean(ratio(s.total(s.among / s.rank), s.n_relevant), perfect=1.0)


def precision_at(y: Any, scores: npt.ArrayLike, r: int, *, sample_weight: npt.ArrayLike | None = None) -> float:
    """The share of relevant labels among the first ``r``; with ``r=50`` on documents the T9P of [ATG08].

    Where the cut falls between labels of equal scores, the irrelevant ones are taken to come first.

    Parameters
    ----------
    y, scores, sample_weight
        As in `one_error`.
    r
        The number of places, 1 or more; the denominator, even where there are fewer labels.

    Returns
    -------
    float
        The mean over instances; an instance without edges counts 1.

    Examples
    --------
    >>> from prefgraph.metrics import precision_at
    >>> precision_at([[1, 0, 1]], [[0.9, 0.5, 0.1]], 2)
    0.5

    One ranking of five documents, two of which tie at the cut:

    >>> precision_at([1, 1, 0, 0, 0], [0.9, 0.5, 0.5, 0.2, 0.1], 2)
    0.5

    References
    ----------
    [CS02] section 4.5; [ATG08] section 4.
    """
    check_cutoff(r)
    s = _Standing.of(y, scores, sample_weight)
    return s.mean(s.total(s.place <= r) / r, perfect=1.0)


def recall_at(y: Any, scores: npt.ArrayLike, r: int, *, sample_weight: npt.ArrayLike | None = None) -> float:
    """The share of the relevant labels that is among the first ``r``.

    Parameters
    ----------
    y, scores, r, sample_weight
        As in `precision_at`.

    Returns
    -------
    float
        The mean over instances; an instance without edges counts 1.

    Examples
    --------
    >>> from prefgraph.metrics import recall_at
    >>> recall_at([[1, 0, 1], [0, 1, 0]], [[0.9, 0.5, 0.1], [0.2, 0.3, 0.1]], 1)
    0.75

    References
    ----------
    [CS02] section 4.5.
    """
    check_cutoff(r)
    s = _Standing.of(y, scores, sample_weight)
    return s.mean(ratio(s.total(s.place <= r), s.n_relevant), perfect=1.0)


def max_f1(
    y: Any, scores: npt.ArrayLike, cutoff: str = "instance", *, sample_weight: npt.ArrayLike | None = None
) -> float:
    """MaxF1: the best F1 over all cut-offs r, ``F1(r) = 2 P(r) R(r) / (P(r) + R(r))``.

    Parameters
    ----------
    y, scores, sample_weight
        As in `one_error`.
    cutoff
        ``"instance"``: each instance has its own best cut-off, and the mean is over the best F1; the text of [CS02]
        says that all its measures are means over documents. ``"set"``: one cut-off for all, and P(r), R(r) are means
        over instances. [CS02] prints MaxF1 below AvgP for documents with one topic mostly, where the first cannot be.

    Returns
    -------
    float
        Between 0 and 1; an instance without edges counts 1 (with ``"set"``: P = R = 1 at all cut-offs).

    Examples
    --------
    >>> from prefgraph.metrics import max_f1
    >>> y, scores = [[1, 0, 1], [0, 1, 0]], [[0.9, 0.5, 0.1], [0.2, 0.3, 0.1]]
    >>> max_f1(y, scores)
    0.9
    >>> round(max_f1(y, scores, cutoff="set"), 3)
    0.857

    References
    ----------
    [CS02] section 4.5.
    """
    check_option("cutoff", cutoff, CUTOFFS)
    s = _Standing.of(y, scores, sample_weight)
    if cutoff == "set":
        precision, recall = _at_all_ranks(s)
        worst = mean(s.n_relevant == 0, s.weight)  # what the perfect instances alone give, labels or none
        return float(np.max(2 * ratio(precision * recall, precision + recall), initial=worst))
    # F1 at r is 2 hits / (r + |R|): best where r is the place of a relevant label
    f1 = 2 * s.number / (s.place + s.n_relevant[s.instance])
    best = np.zeros(len(s.n_relevant))
    some = s.n_relevant > 0
    if some.any():
        best[some] = np.maximum.reduceat(f1, s.offsets[:-1][some])
    return s.mean(best, perfect=1.0)


def precision_recall_curve(
    y: Any,
    scores: npt.ArrayLike,
    levels: npt.ArrayLike | None = None,
    *,
    sample_weight: npt.ArrayLike | None = None,
) -> tuple[FloatArray, FloatArray]:
    """Precision against recall, averaged over instances (labels ranked) or over topics (documents ranked).

    Parameters
    ----------
    y, scores, sample_weight
        As in `one_error`. For documents ranked for several topics, give a row for each topic.
    levels
        None: a point for each number of places r = 1, 2, ..., the mean precision and the mean recall at r. Or recall
        levels between 0 and 1, such as ``numpy.linspace(0, 1, 11)``: the interpolated precision at each, which is the
        best precision at this recall or a larger one, averaged over instances.

    Returns
    -------
    tuple of arrays
        ``(precision, recall)``; an instance without edges counts 1 in both.

    Examples
    --------
    >>> from prefgraph.metrics import precision_recall_curve
    >>> precision, recall = precision_recall_curve([[1, 0, 1, 0]], [[0.9, 0.5, 0.4, 0.1]])
    >>> precision.round(2), recall
    (array([1.  , 0.5 , 0.67, 0.5 ]), array([0.5, 0.5, 1. , 1. ]))
    >>> precision_recall_curve([[1, 0, 1, 0]], [[0.9, 0.5, 0.4, 0.1]], levels=[0, 0.5, 1])[0].round(2)
    array([1.  , 1.  , 0.67])

    References
    ----------
    [CS02] Fig. 6; [ATG08] Fig. 2.
    """
    s = _Standing.of(y, scores, sample_weight)
    if levels is None:
        return _at_all_ranks(s)
    try:
        recall = np.array(levels, np.float64, ndmin=1)
    except (TypeError, ValueError):
        recall = np.array([np.nan])
    if recall.ndim != 1 or not np.all((recall >= 0) & (recall <= 1)):
        raise InvalidOption(f"levels={levels!r}; recall levels are numbers from 0 to 1 in a list")
    best = best_from_here(s.offsets, s.number / s.place)
    precision = np.empty(len(recall))
    some = s.n_relevant > 0
    for k, level in enumerate(recall):
        # the first relevant label at which recall reaches the level; the small number forgives level * n its rounding
        number = np.maximum(np.ceil(level * s.n_relevant - 1e-9), 1).astype(np.int64)
        value = np.ones(len(number))
        value[some] = best[(s.offsets[:-1] + number - 1)[some]]
        precision[k] = s.mean(value, perfect=1.0)
    return precision, recall


def _at_all_ranks(s: _Standing) -> tuple[FloatArray, FloatArray]:
    """Mean precision and mean recall at each number of places."""
    perfect = mean(s.n_relevant == 0, s.weight)
    share = s.weight[s.instance] / s.weight.sum()
    size = s.n_columns + 1
    hits = np.cumsum(np.bincount(s.place, share, size)[1:])
    recall = np.cumsum(np.bincount(s.place, share / s.n_relevant[s.instance], size)[1:])
    return np.minimum(hits / np.arange(1, size) + perfect, 1.0), np.minimum(recall + perfect, 1.0)


def auc(y: Any, scores: npt.ArrayLike, *, sample_weight: npt.ArrayLike | None = None) -> float:
    """The area under the ROC curve: the share of pairs (relevant, irrelevant) in the right order, a tie counting 1/2.

    Parameters
    ----------
    y, scores, sample_weight
        As in `one_error`. For documents ranked for several topics, give a row for each topic.

    Returns
    -------
    float
        The mean over instances; an instance without edges counts 1.

    Examples
    --------
    >>> from prefgraph.metrics import auc, auc_strict
    >>> y, scores = [1, 1, 0, 0], [0.9, 0.5, 0.5, 0.1]
    >>> auc(y, scores), auc_strict(y, scores)
    (0.875, 0.75)
    """
    s = _Standing.of(y, scores, sample_weight)
    wrong = s.total((s.above + s.level) / 2)
    return s.mean(1 - ratio(wrong, s.n_relevant * s.n_irrelevant), perfect=1.0)


def auc_strict(y: Any, scores: npt.ArrayLike, *, sample_weight: npt.ArrayLike | None = None) -> float:
    """The AUC of [ATG08], in which a tie counts 0: ``1/(pm) sum_i sum_j [f(x_i) > f(x_j)]``.

    Scorers that tie often, such as boosted stumps, have a smaller value here than in `auc`.

    Parameters
    ----------
    y, scores, sample_weight
        As in `auc`.

    Returns
    -------
    float
        The mean over instances; an instance without edges counts 1.

    Examples
    --------
    >>> from prefgraph.metrics import auc_strict
    >>> auc_strict([1, 0, 0], [0.5, 0.5, 0.1])
    0.5

    References
    ----------
    [ATG08] section 4.
    """
    s = _Standing.of(y, scores, sample_weight)
    return s.mean(1 - ratio(s.total(s.level), s.n_relevant * s.n_irrelevant), perfect=1.0)


def aup_at(y: Any, scores: npt.ArrayLike, r: int, *, sample_weight: npt.ArrayLike | None = None) -> float:
    """The average uninterpolated precision up to rank ``r``: relevant documents behind it have precision 0.

        1/|R| sum_{i in R, rank(i) <= r} |{j in R : rank(j) <= rank(i)}| / rank(i)

    The sum is divided by the number of *all* relevant documents; with ``r`` as large as the ranking it is
    `average_precision`.

    Parameters
    ----------
    y, scores, sample_weight
        As in `auc`.
    r
        The last rank that counts, 1 or more: 500 and 1000 in [ATG08].

    Returns
    -------
    float
        The mean over instances; an instance without edges counts 1.

    Examples
    --------
    >>> from prefgraph.metrics import aup_at
    >>> aup_at([1, 0, 1, 1], [0.9, 0.5, 0.4, 0.1], 3)
    0.5555555555555555

    References
    ----------
    [ATG08] section 4.
    """
    check_cutoff(r)
    s = _Standing.of(y, scores, sample_weight)
    precision = np.where(s.rank <= r, s.among / s.rank, 0.0)
    return s.mean(ratio(s.total(precision), s.n_relevant), perfect=1.0)
