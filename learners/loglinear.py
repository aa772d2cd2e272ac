"""LogLinearRanker: the log-linear model for label ranking, by boosting or by L-BFGS on one loss."""

from __future__ import annotations

import sys
import warnings
from collections.abc import Iterable, Mapping
from typing import Any, ClassVar, Self

import numpy as np
import numpy.typing as npt
from sklearn.base import BaseEstimator
from sklearn.exceptions import ConvergenceWarning

from learners._base import RankerMixin
from learners._features import Joint, LabelBlock
from learners._loglinear_loss import LogLinearLoss
from learners._solvers import Run, boost, lbfgs
from prefgraph import InvalidOption
from prefgraph.decompose import Decomposition, find_decomposition
from prefgraph.errors import check_option

__all__ = ["LogLinearRanker"]


class LogLinearRanker(RankerMixin, BaseEstimator):  # type: ignore[misc]
    """Linear label ranking with the log-linear loss of any decomposition.

    Scores are ``f(x, y) = sum_j lambda_j h_j(x, y)``. Minimised is

        sum_i weight_i / s_i sum_{S in A(G_i)} log(1 + sum_{e in S} w_e exp(f(term e) - f(init e)))
            + nu sum_j [log(1 + e^lambda_j) + log(1 + e^-lambda_j)]

    where ``A`` is the decomposition, ``s_i`` the number of parts of instance ``i`` and ``w_e`` the weight of an edge.
    The first sum over log 2 bounds the error that the decomposition induces, for ``w_e >= 1`` [DMS03, section 3].
    ``fit(X, y)`` learns a weight for each feature and label; ``fit(dataset)`` of a data set with `Candidates` one for
    each joint feature.

    Parameters
    ----------
    decomposition
        What counts as one mistake: a name in `prefgraph.DECOMPOSITIONS`, or a function. Default ``"domination"``.
    solver
        ``"lbfgs"``, or ``"boosting"``: the parallel update of [DMS03, Fig. 3], safe and slow. Both have one optimum.
    regularization
        ``nu``, 0 or more: it is counted against the *sum* over instances. Above 0 the optimum is unique. The default
        ``"scale"`` is 0.05 times the mean of ``|x|^2`` over the instances with edges (for joint features of the squared
        distance of a candidate from the mean candidate of its instance), so that the unit of the features does not
        matter much.
    fit_intercept
        Whether each label has a constant besides its weights, regularised as they are. Default False: on text it does
        not help. Not for joint features, which have their own constant where they want one.
    max_iter
        The largest number of iterations.
    tol
        Stop when no component of the gradient is larger than ``tol`` times the largest one at ``lambda = 0``. With 0
        there are ``max_iter`` iterations (fewer only where doubles cannot tell a better point).
    smoothing
        Boosting only: added to both sums of Fig. 3, so that a step is finite without a regulariser. None for the update
        as it is printed; Theorem 1 holds for that one.
    warm_start
        Whether ``fit`` starts from the parameters of the fit before, for the same features and labels.
    verbose
        A line for every so many iterations; 0 for none.

    Attributes
    ----------
    coef_
        The parameters, ``(L, n_features)``; for joint features ``(n_features,)``.
    intercept_
        A constant for each label, 0 without ``fit_intercept``; for joint features a single 0.
    labels_, n_features_in_, feature_names_in_, target_form_, threshold_
        As in `RankerMixin`.
    regularization_
        ``nu`` as a number.
    loss_curve_
        The minimised sum after each iteration, ``nu`` included.
    n_iter_
        The number of iterations of the last fit.
    converged_
        Whether ``tol`` was met.

    Warns
    -----
    ConvergenceWarning
        ``max_iter`` iterations were not enough for ``tol``; or Ctrl-C stopped the fit, and the best so far is kept.

    Examples
    --------
    >>> import prefgraph as pg
    >>> from learners import LogLinearRanker
    >>> X = [[1.0, 0.0], [0.0, 1.0], [1.0, 1.0]]
    >>> y = pg.as_preferences(["[oil|gas|corn]", "[corn|oil,gas]", "oil>corn"], form="notation")
    >>> model = LogLinearRanker(regularization=0.1).fit(X, y)
    >>> model.rank([[1.0, 0.0]])
    array([['oil', 'gas', 'corn']], dtype='<U4')
    >>> model.violations(X, y).num_rows
    0

    References
    ----------
    [DMS03] Dekel, Manning, Singer: Log-Linear Models for Label Ranking, 2003, Fig. 3, Theorem 1, Eq. 6.
    """

    _options: ClassVar[Mapping[str, Iterable[str]]] = {"solver": ("lbfgs", "boosting")}
    _takes_candidates: ClassVar[bool] = True

    def __init__(
        self,
        decomposition: str | Decomposition = "domination",
        *,
        solver: str = "lbfgs",
        regularization: float | str = "scale",
        fit_intercept: bool = False,
        max_iter: int = 1000,
        tol: float = 1e-3,
        smoothing: float | None = None,
        warm_start: bool = False,
        verbose: int = 0,
    ) -> None:
        self.decomposition = decomposition
        self.solver = solver
        self.regularization = regularization
        self.fit_intercept = fit_intercept
        self.max_iter = max_iter
        self.tol = tol
        self.smoothing = smoothing
        self.warm_start = warm_start
        self.verbose = verbose

    def fit(self, X: Any, y: Any = None, sample_weight: npt.ArrayLike | None = None) -> Self:
        """Learn from features and targets, or from a data set.

        Parameters
        ----------
        X
            Features, dense or sparse, a row for each instance; or a `PreferenceDataset` with X or candidates (these
            where it has both).
        y
            The targets, in any form that `as_preferences` recognises; None with a data set.
        sample_weight
            The weight of each instance, times that of the preferences. Weight 2 is the instance twice, 0 leaves it out.

        Returns
        -------
        LogLinearRanker
            Itself.
        """
        before = (self.labels_, self._parameters()) if self.warm_start and hasattr(self, "coef_") else None
        X, p, _ = self._start(X, y, sample_weight)
        features = Joint(X, p) if self._is_joint else LabelBlock(X, len(p.labels), intercept=self.fit_intercept)
        nu = None if isinstance(self.regularization, str) else self.regularization
        loss = LogLinearLoss(features, p, self.decomposition, nu)
        self.regularization_ = loss.nu
        run = Run(np.zeros(loss.size) if before is None else self._warm(before, features))
        self._minimize(loss, run)
        self._keep(run, features)
        if not self._is_joint:
            self._place_threshold(X, p)
        return self

    def _check_parameters(self) -> None:
        super()._check_parameters()
        find_decomposition(self.decomposition)
        if isinstance(self.regularization, str):
            check_option("regularization", self.regularization, ["scale"])
        else:
            self._check_number("regularization", 0.0)
        self._check_number("max_iter", 1, whole=True)
        self._check_number("tol", 0.0)
        if self.smoothing is not None:
            self._check_number("smoothing", 0.0, above=True)

    def _warm(self, before: tuple[npt.NDArray[Any], npt.NDArray[Any]], features: LabelBlock | Joint) -> Any:
        labels, parameters = before
        same_labels = self._is_joint or np.array_equal(labels, self.labels_)
        if parameters.shape != features.shape or not same_labels:
            raise InvalidOption(
                f"warm_start=True after a fit with parameters of shape {parameters.shape}, and now {features.shape}"
                f"{'' if same_labels else ' and other labels'}; fit the same features and labels, or "
                "set warm_start=False"
            )
        return parameters.astype(np.float64).ravel()

    def _minimize(self, loss: LogLinearLoss, run: Run) -> None:
        def report(iteration: int, value: float, size: float) -> None:
            if self.verbose and iteration % self.verbose == 0:
                sys.stderr.write(f"iteration {iteration}: loss {value:.6g}, largest gradient {size:.3g}\n")

        scale = 1.0
        if self.tol > 0:
            scale = float(np.abs(loss.value_and_gradient(np.zeros(loss.size))[1]).max(initial=0.0))
        if self.solver == "lbfgs":
            lbfgs(loss, run, self.max_iter, self.tol, scale, report)
        else:
            boost(loss, run, self.max_iter, self.tol, scale, report, self.smoothing)
        if run.interrupted:
            warnings.warn(
                f"the fit was interrupted after {len(run.curve)} iterations; the parameters of the last one are kept",
                ConvergenceWarning,
                stacklevel=3,
            )
        elif not run.converged and self.tol > 0:
            warnings.warn(
                f"max_iter={self.max_iter} iterations did not reach tol={self.tol}; the model is usable, raise "
                "max_iter or tol, or scale the features",
                ConvergenceWarning,
                stacklevel=3,
            )

    def _keep(self, run: Run, features: LabelBlock | Joint) -> None:
        """Set what was learnt."""
        parameters = run.parameters.reshape(features.shape).astype(features.dtype)
        if isinstance(features, Joint):
            self.coef_, self.intercept_ = parameters, np.zeros(1, features.dtype)
        else:
            n = features.n_features
            self.coef_ = parameters[:n].T
            self.intercept_ = parameters[n] if features.intercept else np.zeros(features.shape[1], features.dtype)
        self.loss_curve_ = np.array(run.curve)
        self.n_iter_ = len(run.curve)
        self.converged_ = run.converged

    def _parameters(self) -> npt.NDArray[np.floating[Any]]:
        """The parameters in the shape that the features have."""
        if self._is_joint:
            return self.coef_
        return np.concatenate([self.coef_.T, self.intercept_[np.newaxis]]) if self.fit_intercept else self.coef_.T

    def _scores(self, X: Any) -> npt.NDArray[np.floating[Any]]:
        scores: npt.NDArray[np.floating[Any]] = X @ self.coef_.T
        scores += self.intercept_
        return scores

    def _row_scores(self, X: Any) -> npt.NDArray[np.floating[Any]]:
        scores: npt.NDArray[np.floating[Any]] = X @ self.coef_
        return scores
