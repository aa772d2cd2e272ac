"""PreferenceModel: the preference learning model with any loss, max or sum, any decomposition, any codes."""

from __future__ import annotations

import sys
import warnings
from collections.abc import Iterable, Mapping
from itertools import combinations
from math import comb
from typing import Any, ClassVar, Self

import numpy as np
import numpy.typing as npt
from scipy import sparse
from sklearn.base import BaseEstimator
from sklearn.exceptions import ConvergenceWarning

from learners import _forms
from learners._base import RankerMixin
from learners._features import LabelBlock
from learners._objective import built_in_name
from learners._plm_risk import Risk, candidate_losses
from learners._plm_solvers import Run, bundle, lbfgs
from learners._threads import one_blas_thread
from learners.codes import RandomState, code_matrix
from learners.losses import LOSSES, SMOOTH_LOSSES
from prefgraph import InvalidOption, Preferences, TooLarge, as_preferences
from prefgraph.decompose import Decomposition, find_decomposition

__all__ = ["PreferenceModel"]

Floats = npt.NDArray[np.floating[Any]]

MOST_SETS = 10_000  # label sets that predict tries one by one, where no rule tells the best


class PreferenceModel(RankerMixin, BaseEstimator):  # type: ignore[misc]
    """Linear label ranking with the loss of the preference learning model.

    Scores are ``f(x, r) = <W x, M_r>`` with a code ``M_r`` for each label. Minimised is

        alpha |W|^2 + 1/N sum_i weight_i sum_{S in A(G_i)} max_{e in S} w_e L(f(x_i, init e) - f(x_i, term e))

    where ``N`` is the number of parts of all instances (by weight), and ``sum`` may stand for the max. The second term
    bounds the share of parts that are not consistent with the scores. In the words of the kernel machine
    ``C = 1 / (2 alpha N)``.

    Parameters
    ----------
    loss
        ``L``: a name in `learners.losses.LOSSES`. Default ``"soft_margin"``.
    aggregate
        ``"max"``: a part costs what its worst edge costs [AS05, Eq. 1]. ``"sum"``: what its edges cost together; then
        domination and disagreement differ by the number N only.
    decomposition
        What counts as one mistake: a name in `prefgraph.DECOMPOSITIONS`, or a function. Default ``"domination"``.
    codes
        ``M``: a name in `learners.codes.CODES`, or a matrix with a row for each label. Default ``"identity"``, a weight
        vector for each label.
    alpha
        The ``mu`` of the paper, above 0. Default 1e-4, which suits ``"soft_margin"`` with ``"max"`` on tf-idf rows of
        length 1; ``"logistic"`` with ``"sum"`` may want 1e-5 or less there.
    beta
        The margin of the loss ``"perceptron"``, above 0; the others do not use it.
    solver
        ``"lbfgs"`` for objectives with a derivative; ``"bundle"``, a bundle of cutting planes, for any; ``"auto"``,
        the default, takes the first where it can.
    fit_intercept
        Whether a feature that is 1 everywhere is added: the kernel ``<x, y> + 1`` of [AS05, section 4], so that the
        constants are regularised as all weights are. Default True.
    max_iter
        The largest number of iterations.
    tol
        Stop when the objective is proved to be within ``tol`` times itself of the minimum. With 0 there are
        ``max_iter`` iterations.
    random_state
        A seed or a generator, for codes that are drawn.
    verbose
        A line for every so many iterations; 0 for none.

    Attributes
    ----------
    coef_, intercept_
        ``M W``: weights of each label ``(L, n_features)`` and constants ``(L,)``, 0 without ``fit_intercept``.
    embedding_, codes_
        ``W``, ``(s, n_features)``, a row for each column of the codes, without its constants; ``M``, ``(L, s)``.
    labels_, n_features_in_, feature_names_in_, target_form_, threshold_
        As in `RankerMixin`.
    loss_curve_
        The objective after each iteration.
    n_iter_
        The number of iterations.
    gap_
        A bound of the objective's distance from the minimum.
    converged_
        Whether ``gap_`` is at most ``tol`` times the objective.

    Warns
    -----
    ConvergenceWarning
        ``max_iter`` iterations were not enough for ``tol``; or Ctrl-C stopped the fit, and the best so far is kept.

    Examples
    --------
    >>> import prefgraph as pg
    >>> from learners import PreferenceModel
    >>> X = [[1.0, 0.0], [0.0, 1.0], [1.0, 1.0]]
    >>> y = pg.as_preferences(["[oil|gas|corn]", "[corn|oil,gas]", "oil>corn"], form="notation")
    >>> model = PreferenceModel(alpha=0.01).fit(X, y)
    >>> model.rank([[1.0, 0.0]])
    array([['oil', 'gas', 'corn']], dtype='<U4')
    >>> bool(model.gap_ <= 1e-3 * model.loss_curve_[-1])
    True

    References
    ----------
    [AS05] Aiolli, Sperduti: Learning Preferences for Multiclass Problems, 2005, Eqs. 1-4.
    """

    _options: ClassVar[Mapping[str, Iterable[str]]] = {
        "loss": LOSSES,
        "aggregate": ("max", "sum"),
        "solver": ("auto", "lbfgs", "bundle"),
    }

    def __init__(
        self,
        loss: str = "soft_margin",
        *,
        aggregate: str = "max",
        decomposition: str | Decomposition = "domination",
        codes: Any = "identity",
        alpha: float = 1e-4,
        beta: float = 1.0,
        solver: str = "auto",
        fit_intercept: bool = True,
        max_iter: int = 1000,
        tol: float = 1e-3,
        random_state: RandomState = None,
        verbose: int = 0,
    ) -> None:
        self.loss = loss
        self.aggregate = aggregate
        self.decomposition = decomposition
        self.codes = codes
        self.alpha = alpha
        self.beta = beta
        self.solver = solver
        self.fit_intercept = fit_intercept
        self.max_iter = max_iter
        self.tol = tol
        self.random_state = random_state
        self.verbose = verbose

    # -- fitting -----------------------------------------------------------------------------------------------------

    def fit(self, X: Any, y: Any = None, sample_weight: npt.ArrayLike | None = None) -> Self:
        """Learn from features and targets, or from a data set.

        Parameters
        ----------
        X
            Features, dense or sparse, a row for each instance; or a `PreferenceDataset` with X.
        y
            The targets, in any form that `as_preferences` recognises; None with a data set.
        sample_weight
            The weight of each instance, times that of the preferences. Weight 2 is the instance twice, 0 leaves it out.

        Returns
        -------
        PreferenceModel
            Itself.
        """
        X, p, _ = self._start(X, y, sample_weight)
        codes = code_matrix(self.codes, len(p.labels), self.random_state)
        features = LabelBlock(X, codes.shape[1], intercept=bool(self.fit_intercept))
        risk = Risk(p, self.decomposition, self.loss, self.aggregate, self.beta)
        is_identity = codes.shape[0] == codes.shape[1] and np.array_equal(codes, np.eye(len(codes)))
        problem = _Embedding(features, None if is_identity else codes, risk, float(p.weight @ risk.n_parts))
        is_sum = self.aggregate == "sum" or risk.has_single_edges
        run = self._minimize(problem, is_smooth=is_sum and self.loss in SMOOTH_LOSSES)
        self._keep(run, features, codes)
        self._place_threshold(X, p)
        return self

    def _check_parameters(self) -> None:
        super()._check_parameters()
        find_decomposition(self.decomposition)
        self._check_number("alpha", 0.0, above=True)
        self._check_number("beta", 0.0, above=True)
        self._check_number("max_iter", 1, whole=True)
        self._check_number("tol", 0.0)

    def _minimize(self, problem: _Embedding, *, is_smooth: bool) -> Run:
        if self.solver == "lbfgs" and not is_smooth:
            raise InvalidOption(
                f"solver='lbfgs' with loss={self.loss!r} and aggregate={self.aggregate!r}, which has kinks; choose "
                "solver='bundle' or 'auto'"
            )

        def report(iteration: int, value: float, gap: float) -> None:
            if self.verbose and iteration % self.verbose == 0:
                sys.stderr.write(f"iteration {iteration}: objective {value:.6g}, at most {gap:.3g} above the minimum\n")

        solve = lbfgs if is_smooth and self.solver != "bundle" else bundle
        with one_blas_thread():
            run = solve(problem, float(self.alpha), self.max_iter, float(self.tol), report)
        if run.interrupted:
            warnings.warn(
                f"the fit was interrupted after {len(run.curve)} iterations; the best so far is kept",
                ConvergenceWarning,
                stacklevel=3,
            )
        elif not run.converged and self.tol > 0:
            warnings.warn(
                f"{len(run.curve)} iterations did not reach tol={self.tol}: the objective may be {run.gap:.3g} above "
                "the minimum; the model is usable, raise max_iter, tol or alpha, or scale the features",
                ConvergenceWarning,
                stacklevel=3,
            )
        return run

    def _keep(self, run: Run, features: LabelBlock, codes: npt.NDArray[np.float64]) -> None:
        """Set what was learnt."""
        W = run.W.reshape(features.shape)
        self.codes_ = codes
        self.embedding_ = W[: features.n_features].T.astype(features.dtype)
        self.coef_ = (codes @ W[: features.n_features].T).astype(features.dtype)
        constants = codes @ W[features.n_features] if features.intercept else np.zeros(len(codes))
        self.intercept_ = constants.astype(features.dtype)
        self.loss_curve_ = np.array(run.curve)
        self.n_iter_ = len(run.curve)
        self.gap_ = run.gap
        self.converged_ = run.converged

    # -- using -------------------------------------------------------------------------------------------------------

    def _scores(self, X: Any) -> Floats:
        scores: Floats = X @ self.coef_.T
        scores += self.intercept_
        return scores

    def predict(self, X: Any, candidates: Any = None) -> Any:
        """The candidate whose graph agrees best with the scores: ``H(x) = argmin_y L(V(x, y))`` [AS05, section 2].

        ``L(V(x, y))`` is the sum over the parts of the graph of ``y``, with the decomposition, loss and aggregate of
        the model. Among equal losses the first candidate is taken.

        Parameters
        ----------
        X
            As in `decision_function`.
        candidates
            A number ``q``: all sets of ``q`` labels. Graphs, as `Preferences` or in any form that `as_preferences`
            recognises: these. None, the default: for a model fitted on classes one graph a label; for all other targets
            there is no such list, and the answer is that of every learner: the labels above ``threshold_`` (by
            their parts alone, sets of different sizes could not be compared: the empty set has none), or the ranking.

        Returns
        -------
        ndarray, sparse array, list or Preferences
            None: the form of the target. ``q``: an indicator matrix where the target was one, else a list of sets.
            Graphs: `Preferences`, the chosen graph of each row.

        Raises
        ------
        TooLarge
            A decomposition of your own with more than 10,000 sets of ``q`` labels: give the candidates themselves.

        Examples
        --------
        >>> from learners import PreferenceModel
        >>> model = PreferenceModel(alpha=0.01).fit([[0.0], [1.0], [2.0]], [{"a"}, {"a", "b"}, {"b"}])
        >>> model.predict([[0.0], [2.0]], candidates=1)
        [{'a'}, {'b'}]
        >>> model.predict([[2.0]], candidates=["[a|b]", "[b|a]"])[0].layers()
        [['b'], ['a']]
        """
        is_classes = candidates is None and not self._joint_fitted() and self.target_form_ == _forms.CLASSES
        if candidates is None and not is_classes:
            return super().predict(X)
        scores = self._all_scores(X)
        if isinstance(candidates, (int, np.integer)) and not isinstance(candidates, bool):
            return self._as_fitted(self._best_sets(scores, int(candidates)))
        if is_classes:
            return self.labels_[self._best_sets(scores, 1).argmax(axis=1)]
        graphs = self._candidate_graphs(candidates)
        return graphs.take(self._best(scores, graphs))

    def _candidate_graphs(self, candidates: Any) -> Preferences:
        labels = self.labels_.tolist()
        is_text = isinstance(candidates, (list, tuple)) and all(isinstance(text, str) for text in candidates)
        graphs = as_preferences(candidates, labels, form="notation" if is_text else None)
        if not len(graphs):
            raise InvalidOption("candidates is empty; give a graph at least, or None")
        return graphs

    def _best(self, scores: Floats, graphs: Preferences) -> npt.NDArray[np.intp]:
        losses = candidate_losses(scores, graphs, self.decomposition, self.loss, self.aggregate, self.beta)
        best: npt.NDArray[np.intp] = losses.argmin(axis=1)
        return best

    def _best_sets(self, scores: Floats, q: int) -> npt.NDArray[np.bool_]:
        """The best set of q labels of each row, as an indicator.

        Under a built-in decomposition exchanging a label for one of a larger score never costs anything, because ``L``
        falls: the q largest scores win.
        """
        n, L = scores.shape
        if not 0 <= q <= L:
            raise InvalidOption(f"candidates={q} labels of {L}; give a number from 0 to {L}")
        if built_in_name(self.decomposition):
            chosen = np.zeros((n, L), bool)
            np.put_along_axis(chosen, _forms.best_first(scores)[:, :q], True, axis=1)
            return chosen
        if comb(L, q) > MOST_SETS:
            raise TooLarge(
                f"there are {comb(L, q)} sets of {q} of {L} labels, and a decomposition of your own must be asked for "
                f"each; up to {MOST_SETS} are tried, give the candidates themselves"
            )
        sets = np.zeros((comb(L, q), L), np.int8)
        for row, chosen_labels in enumerate(combinations(range(L), q)):
            sets[row, list(chosen_labels)] = 1
        graphs = Preferences.from_indicator(sets, self.labels_.tolist())
        return sets[self._best(scores, graphs)].astype(bool)

    def _as_fitted(self, chosen: npt.NDArray[np.bool_]) -> Any:
        if self.target_form_ == _forms.INDICATOR:
            return chosen.astype(np.int64)
        if self.target_form_ == _forms.SPARSE:
            return sparse.csr_array(chosen).astype(np.int64)
        return [set(self.labels_[row].tolist()) for row in chosen]


class _Embedding:
    """The second term of the objective as a function of W: ``f = X W' M'``, the transpose ``(G M)' X``."""

    def __init__(self, features: LabelBlock, codes: npt.NDArray[np.float64] | None, risk: Risk, n_parts: float) -> None:
        self.size = int(np.prod(features.shape))
        self._features, self._risk = features, risk
        self._codes = None if codes is None else codes.astype(features.dtype)
        self._scale = 1.0 / n_parts if n_parts > 0 else 0.0

    def scores(self, W: npt.NDArray[np.float64]) -> Floats:
        """The scores of all instances."""
        parameters = W.reshape(self._features.shape).astype(self._features.dtype, copy=False)
        blocks = [self._features.scores(parameters, block) for block in range(len(self._features.blocks))]
        h: Floats = blocks[0] if len(blocks) == 1 else np.concatenate(blocks)
        return h if self._codes is None else h @ self._codes.T

    def risk(self, scores: Floats) -> tuple[float, Floats]:
        """``1/N`` sum of losses, and a subgradient by the scores."""
        value, gradient = self._risk.value_and_gradient(scores)
        gradient *= self._scale
        return self._scale * float(value.sum()), gradient

    def along(self, scores: Floats, towards: Floats) -> tuple[float, float]:
        """``1/N`` sum of losses, and its derivative in a direction of the scores."""
        value, slope = self._risk.value_and_slope(scores, towards)
        return self._scale * value, self._scale * slope

    def back(self, gradient: Floats) -> npt.NDArray[np.float64]:
        """From a derivative by the scores to one by W, as a vector of double precision."""
        by_h = gradient if self._codes is None else gradient @ self._codes
        total = np.zeros(self._features.shape)
        for block, rows in enumerate(self._features.blocks):
            total += self._features.gradient(by_h[rows], block)
        return total.ravel()
