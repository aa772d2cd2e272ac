"""Two solvers for ``J(W) = mu |W|^2 + R(W)``, R convex and not negative; both stop on a bound of ``J(W) - min J``.

L-BFGS where R is smooth: J is strongly convex, so ``J(W) - min J <= |J'(W)|^2 / (4 mu)``. A bundle method where R has
kinks: every subgradient of R gives a plane below it, the planes together a lower model of J, and the minimum of the
model is a lower bound of ``min J``.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

from learners._lbfgs import dot, iterates
from learners._simplex import simplex_minimum
from prefgraph.parts import FloatArray

Floats = npt.NDArray[np.floating[Any]]

PATIENCE = 30  # iterations without weight after which a plane is forgotten
PULL = 0.1  # a new plane touches R this far from the best point to the minimum of the model
QP_TOL = 1e-9  # how far the weights of the planes may be from their optimum, as a share of J
LINE_TOL = 0.02  # a step is known well enough within this share of it
LINE_STEPS = 10  # evaluations of a line search at most

Report = Callable[[int, float, float], None]  # iteration, J, gap


class Problem(Protocol):
    """R behind its scores, which are linear in W: a line search needs no product with the features."""

    size: int

    def scores(self, W: FloatArray) -> Floats: ...
    def risk(self, scores: Floats) -> tuple[float, Floats]: ...
    def along(self, scores: Floats, towards: Floats) -> tuple[float, float]: ...
    def back(self, gradient: Floats) -> FloatArray: ...


@dataclass
class Run:
    """Where a solver stands: the best W, J after each iteration, a bound of what is left to gain, why it stopped."""

    W: FloatArray
    curve: list[float] = field(default_factory=list)
    gap: float = np.inf
    converged: bool = False
    interrupted: bool = False


def lbfgs(problem: Problem, mu: float, max_iter: int, tol: float, report: Report) -> Run:
    """Minimise J where R has a derivative; stops at ``|J'|^2 / (4 mu) <= tol J``."""
    run = Run(np.zeros(problem.size))

    def evaluated(W: FloatArray) -> tuple[float, FloatArray]:
        value, by_scores = problem.risk(problem.scores(W))
        return value + mu * dot(W, W), problem.back(by_scores) + 2.0 * mu * W

    try:
        for iteration, point in enumerate(iterates(evaluated, run.W)):
            run.W, run.gap = point.x, dot(point.gradient, point.gradient) / (4.0 * mu)
            run.converged = run.gap <= tol * point.value
            if iteration:
                run.curve.append(point.value)
                report(iteration, point.value, run.gap)
            if iteration == max_iter or (run.converged and tol > 0):
                break
    except KeyboardInterrupt:
        run.interrupted = True
    return run


class _Planes:
    """Planes ``<a, W> + b`` below R, and the weights alpha of the model's minimum."""

    def __init__(self, size: int, mu: float) -> None:
        self.mu = mu
        self._room = np.zeros((16, size))  # R is not negative: the first plane is 0
        self.b = np.zeros(1)
        self.H = np.zeros((1, 1))  # a a' / (2 mu)
        self.alpha = np.ones(1)
        self.idle = np.zeros(1, np.int64)

    @property
    def a(self) -> FloatArray:
        """The slopes, a row for each plane."""
        return self._room[: len(self.b)]

    def add(self, a: FloatArray, b: float) -> None:
        """One plane more; those without weight for long are forgotten, which leaves the bound as it is."""
        kept = self.idle < PATIENCE
        if not np.all(kept):
            for new, old in enumerate(np.flatnonzero(kept).tolist()):
                self._room[new] = self._room[old]
            self.b, self.H = self.b[kept], self.H[np.ix_(kept, kept)]
            self.alpha, self.idle = self.alpha[kept], self.idle[kept]
        row = self.a @ a / (2.0 * self.mu)
        corner = np.array([[float(a @ a) / (2.0 * self.mu)]])
        self.H = np.block([[self.H, row[:, np.newaxis]], [row[np.newaxis], corner]])
        n = len(self.b)
        if n == len(self._room):
            self._room = np.concatenate([self._room, np.empty_like(self._room)])
        self._room[n] = a
        self.b, self.alpha, self.idle = np.append(self.b, b), np.append(self.alpha, 0.0), np.append(self.idle, 0)

    def minimum(self, tol: float) -> tuple[FloatArray, float]:
        """(the W of the model's minimum, a lower bound of min J).

            max_alpha  b' alpha - |a' alpha|^2 / (4 mu)  on the simplex,     W = -a' alpha / (2 mu)

        Any alpha of the simplex gives a bound, so that an inexact maximum is safe.
        """
        self.alpha = simplex_minimum(self.H, self.b, self.alpha, tol)
        self.idle = np.where(self.alpha > 0.0, 0, self.idle + 1)
        bound = float(self.b @ self.alpha - 0.5 * self.alpha @ self.H @ self.alpha)
        return -(self.alpha @ self.a) / (2.0 * self.mu), bound


def bundle(problem: Problem, mu: float, max_iter: int, tol: float, report: Report) -> Run:
    """Minimise J where R may have kinks; stops when the best J is within ``tol J`` of the lower bound.

    Each iteration goes from the best point so far towards the minimum of the model as far as J falls, and adds a plane
    that touches R near there.
    """
    run = Run(np.zeros(problem.size))
    planes = _Planes(problem.size, mu)
    scores = problem.scores(run.W)
    lower = 0.0
    try:
        best, by_scores = problem.risk(scores)
        planes.add(problem.back(by_scores), best)
        run.gap = best
        for _ in range(max_iter):
            W, bound = planes.minimum(QP_TOL * best)
            lower = max(lower, bound)
            towards, scores_towards = W - run.W, problem.scores(W) - scores
            step, best = _line_search(problem, mu, run.W, towards, scores, scores_towards, best)
            run.W, scores = run.W + step * towards, scores + step * scores_towards
            run.gap = max(best - lower, 0.0)
            run.curve.append(best)
            report(len(run.curve), best, run.gap)
            if run.gap <= tol * best:
                run.converged = True
                if tol > 0:
                    break
            rest = PULL * (1.0 - step)  # from the best point towards the minimum of the model
            touch = run.W + rest * towards
            value, by_scores = problem.risk(scores + rest * scores_towards)
            a = problem.back(by_scores)
            planes.add(a, value - float(a @ touch))
    except KeyboardInterrupt:
        run.interrupted = True
    return run


def _line_search(
    problem: Problem,
    mu: float,
    W: FloatArray,
    towards: FloatArray,
    scores: Floats,
    scores_towards: Floats,
    best: float,
) -> tuple[float, float]:
    """(step, J there) on the line ``W + step * towards``: bisection on the sign of the slope, best value kept."""
    squares = float(W @ W), float(W @ towards), float(towards @ towards)

    def at(step: float) -> tuple[float, float]:
        value, slope = problem.along(scores + step * scores_towards, scores_towards)
        value += mu * (squares[0] + 2.0 * step * squares[1] + step * step * squares[2])
        return value, slope + 2.0 * mu * (squares[1] + step * squares[2])

    low, high, found = 0.0, np.inf, 0.0
    step = 1.0
    for _ in range(LINE_STEPS):
        value, slope = at(step)
        if value < best:
            best, found = value, step
        if slope == 0.0:
            break
        if slope < 0.0:
            low = step
        else:
            high = step
        step = 2.0 * low if high == np.inf else 0.5 * (low + high)
        if high - low <= LINE_TOL * high:
            break
    return found, best
