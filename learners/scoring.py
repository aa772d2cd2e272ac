"""Scorers: the project's measures in the form that ``GridSearchCV`` and ``cross_val_score`` call."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from learners import _forms
from prefgraph import PreferenceDataset, metrics
from prefgraph.errors import check_option

__all__ = ["scorer"]

# +1 where larger is better, -1 where smaller is; the rest of prefgraph.metrics are no single numbers of labels ranked
_SIGNS = {
    "auc": 1,
    "auc_strict": 1,
    "average_precision": 1,
    "coverage": -1,
    "disagreement_cost": -1,
    "disagreement_error": -1,
    "dominated_error": -1,
    "domination_cost": -1,
    "domination_error": -1,
    "graph_error": -1,
    "identity_cost": -1,
    "kendall_tau": 1,
    "max_f1": 1,
    "mmp_loss": -1,
    "one_error": -1,
    "precision_at": 1,
    "recall_at": 1,
    "zero_one_error": -1,
}


class _Scorer:
    """``(model, X, y) -> number``, larger is better."""

    def __init__(self, name: str, options: dict[str, Any]) -> None:
        self.name = name
        self.options = options

    def __call__(self, model: Any, X: Any, y: Any = None, sample_weight: npt.ArrayLike | None = None) -> float:
        y = X.preferences if y is None and isinstance(X, PreferenceDataset) else y
        scores = np.asarray(model.decision_function(X))
        if scores.ndim == 1 and len(model.classes_) == 2:  # two classes: the score of the second minus the first's
            scores = np.column_stack([np.zeros_like(scores), scores])
        p = _forms.aligned(y, np.asarray(model.classes_))
        value = getattr(metrics, self.name)(p, scores, **self.options, sample_weight=sample_weight)
        return _SIGNS[self.name] * float(value)

    def __repr__(self) -> str:
        options = "".join(f", {name}={value!r}" for name, value in self.options.items())
        return f"scorer({self.name!r}{options})"


def scorer(name: str, **options: Any) -> _Scorer:
    """A measure of `prefgraph.metrics` for model selection: larger is better, so errors are negated.

    The targets may have any form that a learner takes; they are read over the labels of the fitted model, which may be
    any classifier with ``decision_function`` and ``classes_``, or a pipeline that ends in one.

    Parameters
    ----------
    name
        The name of a measure that gives one number, such as ``"average_precision"`` or ``"domination_error"``.
    **options
        What else the measure takes, such as ``r=5`` for ``"precision_at"``.

    Returns
    -------
    callable
        ``(model, X, y, sample_weight=None) -> float``, for the parameter ``scoring`` of scikit-learn.

    Raises
    ------
    InvalidOption
        No such measure.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.model_selection import GridSearchCV
    >>> from learners import LogLinearRanker, scorer
    >>> X, y = load_iris(return_X_y=True)
    >>> search = GridSearchCV(LogLinearRanker(), {"regularization": [0.01, 100]}, scoring=scorer("one_error"))
    >>> search.fit(X, y).best_params_
    {'regularization': 0.01}
    """
    check_option("name", name, _SIGNS)
    return _Scorer(name, options)
