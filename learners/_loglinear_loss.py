"""The regularised log-linear loss as a function of the parameters, and what the two solvers ask of it."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
from scipy.special import expit

from learners._features import Joint, LabelBlock, by_sign
from learners._objective import Objective
from prefgraph import Preferences
from prefgraph.decompose import Decomposition
from prefgraph.parts import FloatArray, Parts

Floats = npt.NDArray[np.floating[Any]]


# In five folds of the training documents of Reuters-21578 values from 0.01 to 0.05 are equally good, larger ones worse
# (examples/papers/loglinear_reuters.py --choose); on RCV1, where |x|^2 is fifty, 0.05 is near the nu of 3 that
# loglinear_fig4.py --choose takes for domination.
SHARE = 0.05


class Flows(NamedTuple):
    """Value, ``W+`` and ``W-`` of an iteration of [DMS03, Fig. 3]; the gradient is ``W+ - W-``."""

    value: float
    rising: FloatArray
    falling: FloatArray


class LogLinearLoss:
    """``sum_i loss_i(lambda) + nu sum_j [log(1 + e^lambda_j) + log(1 + e^-lambda_j)]``.

    ``loss_i`` is that of `Objective` [DMS03, section 3]. The regulariser is the symmetrised loss of the paper's
    reference [5]: an edge of ``pi_j = +1`` and one of ``pi_j = -1`` for each parameter, each a part of its own and of
    weight ``nu``; without a number ``nu`` is `SHARE` of the mean squared size of the features. Value and gradient are
    sums over blocks of rows, each a pure function of its rows and the parameters.
    """

    def __init__(
        self,
        features: LabelBlock | Joint,
        preferences: Preferences,
        decomposition: str | Decomposition,
        nu: float | None,
    ) -> None:
        self.features = features
        self.size = math.prod(features.shape)
        self._decomposition = decomposition
        self._preferences = features.preferences if isinstance(features, Joint) else preferences
        self._objective = Objective(self._preferences, decomposition)
        self._edges: _Edges | None = None
        self._buffers: Floats | None = None
        self._cut = np.flatnonzero(self._objective.n_parts > 0)  # instances with a part; the others do not count
        self.nu = SHARE * features.spread(self._cut, self._preferences.weight) if nu is None else nu

    def value(self, parameters: FloatArray) -> float:
        """The loss alone: one product."""
        shaped = self._shaped(parameters)
        total = self._regularizer(parameters)
        for block, rows in enumerate(self.features.blocks):
            loss, _, _ = self._flows(shaped, block, rows)
            total += float(loss.sum())
        return total

    def value_and_gradient(self, parameters: FloatArray) -> tuple[float, FloatArray]:
        """The loss and its gradient: two products."""
        shaped = self._shaped(parameters)
        total = self._regularizer(parameters)
        gradient = self.nu * np.tanh(parameters / 2)
        for block, rows in enumerate(self.features.blocks):
            loss, flow, flow_out = self._flows(shaped, block, rows)
            total += float(loss.sum())
            flow -= flow_out
            gradient += self.features.gradient(flow, block).ravel()
        return total, gradient

    def value_and_weights(self, parameters: FloatArray) -> Flows:
        """The loss, ``W+`` and ``W-`` [DMS03, Fig. 3]: three products where no feature is negative."""
        shaped = self._shaped(parameters)
        total = self._regularizer(parameters)
        rising = self.nu * expit(parameters)  # the pseudo-edges: nu e^lambda / (1 + e^lambda), and its mirror image
        falling = self.nu * expit(-parameters)
        if isinstance(self.features, Joint):
            data = self._expanded(self.features).value_and_weights(shaped)
            return Flows(total + data.value, rising + data.rising, falling + data.falling)
        for block, rows in enumerate(self.features.blocks):
            loss, flow_in, flow_out = self._flows(shaped, block, rows)
            total += float(loss.sum())
            up, down = self.features.weights(flow_in, flow_out, block)
            rising += up.ravel()
            falling += down.ravel()
        return Flows(total, rising, falling)

    def step_bound(self) -> float:
        """``rho``: the largest ``sum_j |pi_j|`` of an edge, 1 at least where there are pseudo-edges."""
        if isinstance(self.features, Joint):
            bound = self._expanded(self.features).step_bound()
        else:
            bound = self.features.step_bound(self._cut)
        return max(bound, 1.0) if self.nu else bound

    def _flows(self, parameters: Floats, block: int, rows: slice) -> tuple[FloatArray, Floats, Floats]:
        """Losses, In and Out of a block; the two flows are written over by the next call."""
        scores = self.features.scores(parameters, block)
        if self._buffers is None or self._buffers.shape[1] < len(scores):
            self._buffers = np.empty((2, *scores.shape), scores.dtype)
        flow_in, flow_out = self._buffers[:, : len(scores)]
        return self._objective.value_and_flows(scores, rows, (flow_in, flow_out))

    def _expanded(self, features: Joint) -> _Edges:
        if self._edges is None:
            self._edges = _Edges(features, self._preferences.parts(self._decomposition), self._preferences.weight)
        return self._edges

    def _shaped(self, parameters: FloatArray) -> Floats:
        return parameters.reshape(self.features.shape).astype(self.features.dtype, copy=False)

    def _regularizer(self, parameters: FloatArray) -> float:
        """``nu sum_j [log(1 + e^lambda_j) + log(1 + e^-lambda_j)]``."""
        if not self.nu:
            return 0.0
        size = np.abs(parameters)
        return self.nu * float((size + 2 * np.log1p(np.exp(-size))).sum())


class _Edges:
    """Joint features edge by edge: here a feature may differ at both ends of an edge, and ``pi`` has to be built."""

    def __init__(self, features: Joint, parts: Parts, weight: FloatArray) -> None:
        self._pi = features.edge_features(parts.instance, parts.init, parts.term)
        self._up, self._down = by_sign(self._pi)
        self._part = parts.part
        self._log_weight = np.log(parts.weight)
        self._scale = weight[parts.part_instance] / parts.counts[parts.part_instance]  # weight_i / s_i of each part

    def value_and_weights(self, parameters: Floats) -> Flows:
        """``q_e = w_e exp(lambda . pi_e) / (1 + sum_e' w_e' exp(lambda . pi_e'))``, then ``W+`` and ``W-``."""
        exponent = (self._pi @ parameters).astype(np.float64) + self._log_weight
        top = np.zeros(len(self._scale))  # of each part, so that nothing overflows; the 1 is exp(0)
        np.maximum.at(top, self._part, exponent)
        share = np.exp(exponent - top[self._part])
        total = np.exp(-top) + np.bincount(self._part, share, minlength=len(top))
        q = (self._scale / total)[self._part] * share
        loss = float((self._scale * (top + np.log(total))).sum())
        falling = np.zeros(self._pi.shape[1]) if self._down is None else self._down.T @ q
        return Flows(loss, self._up.T @ q, falling)

    def step_bound(self) -> float:
        """``rho = max_e sum_j |pi_{e,j}|`` [DMS03, Fig. 3]."""
        return float(np.asarray(abs(self._pi).sum(axis=1)).max(initial=0.0))
