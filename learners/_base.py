"""RankerMixin: what every learner of label rankings shares, from the checks of ``fit`` to ``violations``."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
import numpy.typing as npt
from sklearn.base import ClassifierMixin
from sklearn.metrics import accuracy_score
from sklearn.utils.validation import check_is_fitted, validate_data

from learners import _forms
from learners._violations import violated_edges
from prefgraph import (
    Candidates,
    InvalidDataset,
    InvalidOption,
    InvalidTarget,
    PreferenceDataset,
    Preferences,
    as_preferences,
    metrics,
)
from prefgraph.errors import check_option

if TYPE_CHECKING:
    import pyarrow as pa

Weight = npt.NDArray[np.float64]


class RankerMixin(ClassifierMixin):  # type: ignore[misc]
    """What every learner shares: targets of any form in, scores, rankings and answers in kind out.

    A learner inherits this before ``BaseEstimator``, calls `_start` at the beginning of ``fit`` (or ``partial_fit``),
    and implements `_scores`; one that takes candidates sets ``_takes_candidates`` and implements `_row_scores`.

    Attributes
    ----------
    labels_
        The labels in the order of the columns of `decision_function`; ``classes_`` is the same.
    target_form_
        The form of the target that the learner was fitted on: ``"classes"``, ``"indicator"``, ``"sparse indicator"``,
        ``"sets"`` or ``"graphs"``. `predict` answers in it.
    threshold_
        For indicators and sets: the score above which `predict` takes a label to be relevant.
    n_features_in_, feature_names_in_
        As in scikit-learn.

    Examples
    --------
    The smallest learner: it scores each label by how often it wins, whatever the features.

    >>> import numpy as np
    >>> from sklearn.base import BaseEstimator
    >>> from learners import RankerMixin
    >>> class Popularity(RankerMixin, BaseEstimator):
    ...     def fit(self, X, y=None, sample_weight=None):
    ...         X, p, weight = self._start(X, y, sample_weight)
    ...         q = p.parts("identity")
    ...         self.wins_ = np.bincount(q.init, weight[q.instance], minlength=len(p.labels))
    ...         return self
    ...
    ...     def _scores(self, X):
    ...         return np.tile(self.wins_, (X.shape[0], 1))
    >>> model = Popularity().fit([[0.0], [1.0], [2.0]], ["b", "b", "a"])
    >>> model.rank([[5.0]]), model.predict([[5.0]])
    (array([['b', 'a']], dtype='<U1'), array(['b'], dtype='<U1'))
    """

    _options: ClassVar[Mapping[str, Iterable[str]]] = {}
    _takes_candidates: ClassVar[bool] = False

    labels_: npt.NDArray[Any]
    target_form_: str

    # -- fitting -----------------------------------------------------------------------------------------------------

    def _start(
        self,
        X: Any,
        y: Any = None,
        sample_weight: npt.ArrayLike | None = None,
        *,
        labels: Iterable[Any] | None = None,
        reset: bool = True,
    ) -> tuple[Any, Preferences, Weight]:
        """Check parameters, features, targets and weights; set what every fitted learner has.

        Returns the features (CSR or a dense array, float64 or float32; `Candidates` where the learner takes them), the
        preferences over ``labels_`` and the weight of each instance, all positive: instances of weight 0 are left out.
        With ``reset=False`` features and labels are those of the fit before.
        """
        self._check_parameters()
        X, y = self._split(X, y, fitting=reset)
        if isinstance(X, Candidates):
            X = self._checked_candidates(X, reset=reset)
        else:
            X = validate_data(self, X, reset=reset, accept_sparse="csr", dtype=(np.float64, np.float32))
        if reset:
            p, self.labels_, self.target_form_ = _forms.read_target(y, labels)
            self._is_joint = isinstance(X, Candidates)
        else:
            p = _forms.aligned(y, self.labels_)
        n = len(X) if isinstance(X, Candidates) else X.shape[0]
        if n != len(p):
            raise InvalidTarget(f"X has {n} rows and y {len(p)} targets; give one target for each row")
        if len(self.labels_) < 2 and not isinstance(X, Candidates):
            shown = repr(self.labels_.tolist()[0]) if len(self.labels_) else "none"
            raise InvalidTarget(
                f"y has {len(self.labels_)} class or label ({shown}); a ranking needs 2 or more, name them all with "
                "as_preferences(y, labels=...)"
            )
        return self._weighted(X, p, sample_weight)

    def _split(self, X: Any, y: Any, *, fitting: bool = False) -> tuple[Any, Any]:
        """Features and target, whether they came as two or in one data set."""
        if not isinstance(X, PreferenceDataset):
            return X, y
        if fitting and y is not None:
            raise InvalidTarget(f"fit got y beside {X!r}, which has its own targets; leave y out, or give its X and y")
        return self._features_of(X, fitting=fitting), X.preferences if y is None else y

    def _features_of(self, data: PreferenceDataset, *, fitting: bool = False) -> Any:
        """What to learn from in a data set: its candidates where it has them and the learner takes them, else its X."""
        if data.candidates is not None and (self._takes_candidates if fitting else self._joint_fitted()):
            return data.candidates
        if data.X is None:
            way = "vectorise its texts first" if data.texts is not None else "give it X"
            raise InvalidDataset(f"{data!r} has no X; {type(self).__name__} learns from features, {way}")
        return data.X

    def _checked_candidates(self, candidates: Candidates, *, reset: bool) -> Candidates:
        if not self._takes_candidates:
            raise InvalidDataset(
                f"{type(self).__name__} got candidates; it scores one list of labels from X, use LogLinearRanker"
            )
        rows = validate_data(self, candidates.X, reset=reset, accept_sparse="csr", dtype=(np.float64, np.float32))
        return Candidates(rows, candidates.offsets, candidates.labels)

    def _weighted(self, X: Any, p: Preferences, sample_weight: npt.ArrayLike | None) -> tuple[Any, Preferences, Weight]:
        if sample_weight is not None:
            given = np.asarray(sample_weight)
            p = p.with_weight(p.weight * p.with_weight(np.full(len(p), given) if given.ndim == 0 else given).weight)
        kept = np.flatnonzero(p.weight > 0)
        if not len(kept):
            raise InvalidTarget(
                f"all {len(p)} instances have the weight zero; a fit needs one of positive weight at least"
            )
        if len(kept) < len(p):
            p = p.take(kept)
            X = X.take(kept) if isinstance(X, Candidates) else X[kept]
        return X, p, p.weight

    def _check_parameters(self) -> None:
        """Check the words in ``_options``; a learner adds its numbers."""
        for name, words in self._options.items():
            check_option(name, getattr(self, name), words)

    def _check_number(self, name: str, low: float, *, above: bool = False, whole: bool = False) -> None:
        """Raise unless a parameter is a number, finite and at least ``low`` (above it where asked)."""
        value = getattr(self, name)
        kinds = (int, np.integer) if whole else (int, float, np.integer, np.floating)
        is_number = isinstance(value, kinds) and not isinstance(value, bool) and np.isfinite(value)
        if not is_number or value < low or (above and value == low):
            kind = "a whole number" if whole else "a finite number"
            raise InvalidOption(f"{name}={value!r} is not {kind} {'above' if above else 'of at least'} {low}; give one")

    def _place_threshold(self, X: Any, p: Preferences) -> None:
        """Set ``threshold_`` from the training data, for targets that say which labels are relevant."""
        if self.target_form_ in (_forms.INDICATOR, _forms.SPARSE, _forms.SETS):
            rows = slice(None, None, -(-len(p) // _forms.SAMPLE))
            self.threshold_ = _forms.threshold(p.take(rows), self._scores(X[rows]))

    # -- using -------------------------------------------------------------------------------------------------------

    @property
    def classes_(self) -> npt.NDArray[Any]:
        """The labels, under the name that scikit-learn looks for."""
        return self.labels_

    def decision_function(self, X: Any) -> npt.NDArray[np.floating[Any]]:
        """The score of each label, higher is better.

        Parameters
        ----------
        X
            Features, a row for each instance; or a `PreferenceDataset`, whose features are taken. A model of joint
            features takes `Candidates`.

        Returns
        -------
        ndarray
            ``(n, L)``, columns as in ``labels_``. For a model fitted on a vector of two classes ``(n,)``: the score of
            the second class minus that of the first, as scikit-learn expects. For candidates a score for each row.
        """
        scores = self._all_scores(X)
        if self._is_joint or self.target_form_ != _forms.CLASSES or len(self.labels_) != 2:
            return scores
        return scores[:, 1] - scores[:, 0]

    def rank(self, X: Any) -> Any:
        """The labels of each instance, best first; equal scores in the order of the columns.

        Parameters
        ----------
        X
            As in `decision_function`.

        Returns
        -------
        ndarray or list
            ``(n, L)`` labels; for candidates a list with the labels of each instance.
        """
        scores = self._all_scores(X)
        if not self._is_joint:
            return self.labels_[_forms.best_first(scores)]
        rows = self._candidates_of(X)
        pieces = zip(rows.offsets[:-1].tolist(), rows.offsets[1:].tolist(), strict=True)
        return [[rows.labels[a + k] for k in _forms.best_first(scores[np.newaxis, a:b])[0].tolist()] for a, b in pieces]

    def predict(self, X: Any) -> Any:
        """The answer in the form of the target that the model was fitted on.

        Parameters
        ----------
        X
            As in `decision_function`.

        Returns
        -------
        ndarray, sparse array, list or Preferences
            Classes: the best label of each row. Indicators and sets: the labels that score above ``threshold_``.
            Graphs and rankings: `Preferences`, for each row the chain of all labels, best first.
        """
        if self._joint_fitted():
            return as_preferences(self.rank(X), form="rankings")
        return _forms.answer(self.target_form_, self.labels_, self._all_scores(X), getattr(self, "threshold_", 0.0))

    def score(self, X: Any, y: Any = None, sample_weight: npt.ArrayLike | None = None) -> float:
        """How well the model ranks: 1 is perfect.

        Parameters
        ----------
        X
            As in `decision_function`.
        y
            The targets, in any form; None where ``X`` is a data set.
        sample_weight
            The weight of each instance.

        Returns
        -------
        float
            For a vector of classes the accuracy; for all others 1 minus `prefgraph.metrics.domination_error`.
        """
        X, y = self._split(X, y)
        if self._joint_fitted():
            p, scores = self._vertex_scores(X, y)
            return 1.0 - metrics.domination_error(p, scores, sample_weight=sample_weight)
        p = self._target_over_labels(y)
        if _forms.is_classes(y):
            return float(accuracy_score(y, self.predict(X), sample_weight=sample_weight))
        return 1.0 - metrics.domination_error(p, self._all_scores(X), sample_weight=sample_weight)

    def violations(self, X: Any, y: Any = None) -> pa.Table:
        """The edges that the model breaks: those with ``f(init) <= f(term)``.

        Parameters
        ----------
        X
            As in `decision_function`.
        y
            The targets, in any form; None where ``X`` is a data set.

        Returns
        -------
        pyarrow.Table
            A row for each broken edge: ``instance`` (the row of X), for a data set also its ``key``, ``init``,
            ``term``, ``margin`` and ``weight``, the worst margin first. Labels that are neither all text nor all
            integers are shown as text.
        """
        keys = X.keys if isinstance(X, PreferenceDataset) else None
        X, y = self._split(X, y)
        if self._joint_fitted():
            return violated_edges(*self._vertex_scores(X, y), keys)
        p = self._target_over_labels(y)
        return violated_edges(p, self._all_scores(X), keys)

    def _target_over_labels(self, y: Any) -> Preferences:
        """The targets of a score or a question, over the labels of the model."""
        check_is_fitted(self)
        if y is None:
            raise InvalidTarget("y is None; give a target for each row of X, or a data set")
        return _forms.aligned(y, self.labels_)

    def _joint_fitted(self) -> bool:
        check_is_fitted(self)
        return self._is_joint

    def _all_scores(self, X: Any) -> npt.NDArray[np.floating[Any]]:
        """Scores of all labels, or of all candidate rows."""
        if self._joint_fitted():
            return self._row_scores(self._candidates_of(X).X)
        X = self._features_of(X) if isinstance(X, PreferenceDataset) else X
        if isinstance(X, Candidates):
            raise InvalidDataset(f"{type(self).__name__} was fitted on X and got candidates; give X")
        X = validate_data(self, X, reset=False, accept_sparse="csr", dtype=(np.float64, np.float32))
        return self._scores(X)

    def _candidates_of(self, X: Any) -> Candidates:
        """Candidates, as they are or of a data set."""
        rows = X.candidates if isinstance(X, PreferenceDataset) else X
        if not isinstance(rows, Candidates):
            raise InvalidDataset(
                f"{type(self).__name__} was fitted on joint features and got a {type(X).__name__}; give Candidates, or "
                "a data set that has them"
            )
        return self._checked_candidates(rows, reset=False)

    def _vertex_scores(self, X: Any, y: Any) -> tuple[Preferences, npt.NDArray[np.floating[Any]]]:
        """Preferences and the flat scores of their vertices, in the order of `Preferences.vertex_lists`."""
        if y is None:
            raise InvalidTarget("y is None; give a target for each instance, or a data set")
        rows, p = self._candidates_of(X), as_preferences(y)
        return p, self._row_scores(rows.X)[rows.vertex_rows(p)]

    def _scores(self, X: Any) -> npt.NDArray[np.floating[Any]]:
        """Scores ``(n, L)`` of checked features."""
        raise NotImplementedError(f"{type(self).__name__} does not say how to score rows; implement _scores")

    def _row_scores(self, X: Any) -> npt.NDArray[np.floating[Any]]:
        """Scores ``(rows,)`` of checked candidate rows."""
        raise NotImplementedError(f"{type(self).__name__} does not say how to score candidates; implement _row_scores")

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.classifier_tags.multi_label = True
        return tags
