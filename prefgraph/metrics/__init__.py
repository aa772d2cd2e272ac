"""Errors and metrics: how well scores agree with preferences. All are called with ``(y, scores)``, as in scikit-learn.

``y`` is `Preferences` or anything that `as_preferences` recognises; ``scores`` has a row for each instance and a column
for each label. Where instances have labels of their own, scores may be flat, in the order of
`Preferences.vertex_lists`. Two vectors, ``y`` of 0 and 1, are one ranking of documents for a topic.

Equal scores. In graph errors and losses an edge between equal scores is violated (``ties="agree"`` is the other
rule). In ranking metrics they are the worst case: ``rank(r)`` is the number of labels that score at least as high as
r, and where a cut-off falls between labels of equal scores, the irrelevant ones come first. The order of the labels
never matters.

Instances without edges (no label relevant, or all) count as perfect in all means except `kendall_tau`, which leaves
them out. No instance of positive weight: an error, as there is no mean; sums are 0.

The tables of the papers:

- [DMS03] epsilon_0-1, epsilon_dis, epsilon_Dom, epsilon_dom: `zero_one_error`, `disagreement_error`,
  `domination_error`, `dominated_error` (means; `graph_error_sum` is the paper's sum);
- [AS05] IErr, DErr, dErr: `identity_cost`, `domination_cost`, `disagreement_cost`; OneErr, AvgP: `one_error`,
  `average_precision`;
- [CS02] losses 1-3: `mmp_loss` with ``"indicator"``, ``"count"``, ``"share"``; OneErr, coverage, AvgP, MaxF1:
  `one_error`, `coverage`, `average_precision`, `max_f1`; also `precision_at`, `recall_at`, `precision_recall_curve`;
- [ATG08] AUC: `auc_strict`; AUP: `aup_at`; T9P: `precision_at` with ``r=50``.

References
----------
[DMS03] Dekel, Manning, Singer: Log-Linear Models for Label Ranking, 2003. [AS05] Aiolli, Sperduti: Learning Preferences
for Multiclass Problems, 2005. [CS02] Crammer, Singer: A New Family of Online Algorithms for Category Ranking, 2002.
[ATG08] Amini, Truong, Goutte: A Boosting Algorithm for Learning Bipartite Ranking Functions with Partially Labeled
Data, 2008.
"""

from prefgraph.metrics._graph_errors import (
    disagreement_cost,
    disagreement_error,
    dominated_error,
    domination_cost,
    domination_error,
    graph_error,
    graph_error_sum,
    graph_errors,
    identity_cost,
    mmp_loss,
    mmp_loss_sum,
    zero_one_error,
)
from prefgraph.metrics._kendall import kendall_tau
from prefgraph.metrics._ranking import (
    auc,
    auc_strict,
    aup_at,
    average_precision,
    coverage,
    max_f1,
    one_error,
    precision_at,
    precision_recall_curve,
    recall_at,
)

__all__ = [
    "auc",
    "auc_strict",
    "aup_at",
    "average_precision",
    "coverage",
    "disagreement_cost",
    "disagreement_error",
    "dominated_error",
    "domination_cost",
    "domination_error",
    "graph_error",
    "graph_error_sum",
    "graph_errors",
    "identity_cost",
    "kendall_tau",
    "max_f1",
    "mmp_loss",
    "mmp_loss_sum",
    "one_error",
    "precision_at",
    "precision_recall_curve",
    "recall_at",
    "zero_one_error",
]
