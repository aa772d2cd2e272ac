"""The two solvers of the log-linear ranker: the parallel boosting update, and L-BFGS on the same loss."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Protocol

import numpy as np

from learners._lbfgs import iterates
from prefgraph.errors import InvalidOption
from prefgraph.parts import FloatArray


class Smooth(Protocol):
    """A loss with its gradient."""

    def value_and_gradient(self, parameters: FloatArray) -> tuple[float, FloatArray]: ...


class Boostable(Protocol):
    """A loss with the two sums of Fig. 3."""

    def value(self, parameters: FloatArray) -> float: ...
    def value_and_weights(self, parameters: FloatArray) -> Any: ...
    def step_bound(self) -> float: ...


@dataclass
class Run:
    """Where a solver stands: its parameters, the loss after each iteration, and why it stopped."""

    parameters: FloatArray
    curve: list[float] = field(default_factory=list)
    converged: bool = False
    interrupted: bool = False


Report = Callable[[int, float, float], None]  # iteration, loss, largest gradient


def lbfgs(loss: Smooth, run: Run, max_iter: int, tol: float, scale: float, report: Report) -> None:
    """Minimise a smooth loss from ``run.parameters``.

    Stops when no component of the gradient is larger than ``tol * scale``. Ctrl-C leaves the last finished iteration.
    """
    try:
        for iteration, point in enumerate(iterates(loss.value_and_gradient, run.parameters)):
            run.parameters = point.x
            size = float(np.abs(point.gradient).max(initial=0.0))
            if iteration:
                run.curve.append(point.value)
                report(iteration, point.value, size)
            if tol > 0 and size <= tol * scale:
                break
            if iteration == max_iter:
                return
        run.converged = True  # or there is no better point that doubles can tell
    except KeyboardInterrupt:
        run.interrupted = True


def boost(
    loss: Boostable, run: Run, max_iter: int, tol: float, scale: float, report: Report, smoothing: float | None
) -> None:
    """The parallel update of [DMS03, Fig. 3], from ``run.parameters``.

        Lambda_j = 1/2 ln(W+_j / W-_j),     lambda <- lambda - Lambda / rho

    A parameter with ``W+ = W- = 0`` takes no step. ``smoothing`` is added to both sums; Theorem 1 holds without it.
    """
    rho = loss.step_bound()
    try:
        value, rising, falling = loss.value_and_weights(run.parameters)
        for iteration in range(1, max_iter + 1):
            size = float(np.abs(rising - falling).max(initial=0.0))
            if size <= tol * scale and tol > 0:
                run.converged = True
                return
            if rho > 0:
                run.parameters = run.parameters - _step(rising, falling, smoothing or 0.0) / rho
            if iteration < max_iter:
                value, rising, falling = loss.value_and_weights(run.parameters)
            else:
                value = loss.value(run.parameters)
            run.curve.append(value)
            report(iteration, value, size)
    except KeyboardInterrupt:
        run.interrupted = True


def _step(rising: FloatArray, falling: FloatArray, smoothing: float) -> FloatArray:
    """``Lambda`` of Fig. 3, 0 where both sums are 0."""
    up, down = rising + smoothing, falling + smoothing
    if up.min(initial=np.inf) > 0 and down.min(initial=np.inf) > 0:
        return 0.5 * np.log(up / down)
    still = (rising == 0) & (falling == 0)
    up[still] = down[still] = 1.0
    if np.any(up == 0) or np.any(down == 0):
        raise InvalidOption(
            "regularization=0 and smoothing=None with a feature that only helps or only harms: its step in Fig. 3 is "
            "infinite; give regularization above 0, or smoothing above 0"
        )
    return 0.5 * np.log(up / down)
