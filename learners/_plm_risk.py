"""The sum of losses of the preference learning model as a function of the scores, with a subgradient."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

import numpy as np
import numpy.typing as npt

from learners._loss_kernels import pair_flows
from learners._objective import GraphParts, built_in_name
from learners._plm_kernels import EXPONENTIAL, HINGE, LOGISTIC, SQUARES, pair_risk, part_risk, worst_edge_risk
from learners._threads import over_rows
from prefgraph import Preferences
from prefgraph.decompose import Decomposition
from prefgraph.parts import FloatArray, IntArray, Parts

Scores = npt.NDArray[np.floating[Any]]

# The compiled twin of each function of `learners.losses`.
CODES: Mapping[str, int] = MappingProxyType(
    {
        "perceptron": HINGE,
        "logistic": LOGISTIC,
        "soft_margin": HINGE,
        "modified_least_squares": SQUARES,
        "exponential": EXPONENTIAL,
    }
)


class Risk:
    """Losses of instances, without the ``1 / N`` [AS05, Eq. 2].

        risk_i = weight_i sum_{S in A(G_i)} max_{e in S} w_e L(f(init e) - f(term e)),     or sum instead of max

    Layered graphs under a built-in decomposition are never expanded to edges: with ``max`` the edge of the smallest
    margin counts, because ``L`` falls; with ``sum`` it does not matter how the edges are cut. All other graphs are cut
    once for each distinct graph.

    Parameters
    ----------
    preferences
        The graphs and weights of the instances.
    decomposition
        A name, or a function.
    loss
        The edge loss: a name in `learners.losses.LOSSES`.
    aggregate
        ``"max"`` or ``"sum"`` over the edges of a part.
    beta
        The margin of the loss ``"perceptron"``.

    Attributes
    ----------
    n_parts
        ``s_i``: the number of parts of each instance.
    has_single_edges
        Whether every part is one edge, where max and sum are one.
    """

    def __init__(
        self,
        preferences: Preferences,
        decomposition: str | Decomposition,
        loss: str,
        aggregate: str,
        beta: float = 1.0,
    ) -> None:
        p = preferences
        self._loss, self._is_max = _compiled(loss, beta), aggregate == "max"
        self._weight, self._graph_index, self._layer = p.weight, p.graph_index, p.layer
        self._name = built_in_name(decomposition)
        self._parts: GraphParts | None
        self.n_parts: IntArray
        if self._name:
            self._parts, self.n_parts = GraphParts.beside_layers(p, self._name)
            n_edges = p.n_edges
        else:
            self._parts = GraphParts.of(p, decomposition)
            self.n_parts = self._parts.counts[self._parts.index]
            n_edges = int(np.diff(self._parts.parts.offsets[self._parts.start])[self._parts.index].sum())
        self.has_single_edges = n_edges == self.n_parts.sum()
        self._room: Scores | None = None

    def value_and_gradient(self, scores: Scores) -> tuple[FloatArray, Scores]:
        """(the risk of each instance, its derivative by the scores), for instances x labels scores."""
        return self._filled(scores, np.zeros_like(scores, order="C"))

    def value_and_slope(self, scores: Scores, towards: Scores) -> tuple[float, float]:
        """(the sum of risks, its derivative in a direction): what a line search needs."""
        if self._room is None or self._room.shape != scores.shape or self._room.dtype != scores.dtype:
            self._room = np.zeros_like(scores, order="C")  # to ask for memory anew takes about as long as the work
        risk, gradient = self._filled(scores, self._room)
        return float(risk.sum()), float(np.einsum("iy,iy->", gradient, towards, dtype=np.float64))

    def _filled(self, scores: Scores, gradient: Scores) -> tuple[FloatArray, Scores]:
        """The risk and its derivative, the latter written to an array that is 0 where instances have no edges."""
        values, results = _read_only(np.ascontiguousarray(scores)), (np.zeros(len(scores)), gradient)
        if self._name and len(self._layer):
            self._layered(values, *results)
        if self._parts is not None:
            _by_parts(values, self._parts.index, self._parts, self._weight, self._loss, self._is_max, results)
        return results

    def _layered(self, values: Scores, risk: FloatArray, gradient: Scores) -> None:
        """Fill in the rows of the layered graphs."""
        given = (values, self._layer, self._graph_index)
        if self._is_max and self._name != "disagreement":
            by_term, whole = self._name == "dominated", self._name == "identity"
            over_rows(
                lambda a, b: worst_edge_risk(*given, self._weight, *self._loss, by_term, whole, a, b, risk, gradient),
                values.shape,
            )
        elif self._loss[0] == LOGISTIC:  # to another base it is the loss of the log-linear ranker
            flow_in, flow_out = gradient, np.zeros_like(gradient)
            scale = _read_only(self._weight / np.log(2.0))
            over_rows(lambda a, b: pair_flows(*given, scale, a, b, risk, flow_in, flow_out), values.shape)
            gradient -= flow_out
        else:
            over_rows(lambda a, b: pair_risk(*given, self._weight, *self._loss, a, b, risk, gradient), values.shape)


def candidate_losses(
    scores: Scores,
    candidates: Preferences,
    decomposition: str | Decomposition,
    loss: str,
    aggregate: str,
    beta: float = 1.0,
) -> FloatArray:
    """The loss of each candidate graph (columns) for each row of scores: ``L(V(x, y))`` of [AS05, section 2]."""
    found = GraphParts(candidates.parts(decomposition), np.arange(len(candidates)))
    values, weight = _read_only(np.ascontiguousarray(scores)), _read_only(np.ones(len(scores)))
    losses = np.zeros((len(candidates), len(scores)))
    unused = np.empty_like(values)
    for c, row in enumerate(losses):
        index = np.full(len(scores), c, np.int32)
        _by_parts(values, index, found, weight, _compiled(loss, beta), aggregate == "max", (row, unused))
    return losses.T


def _compiled(loss: str, beta: float) -> tuple[int, float]:
    """A loss as the kernels know it."""
    return CODES[loss], float(beta) if loss == "perceptron" else 1.0


def _by_parts(
    values: Scores,
    index: IntArray,
    found: GraphParts,
    weight: FloatArray,
    loss: tuple[int, float],
    is_max: bool,
    results: tuple[FloatArray, Scores],
) -> None:
    """Fill in the rows whose graphs (``index``) are among those found."""
    q: Parts = found.parts
    parts = _read_only(found.start), q.offsets, q.init, q.term, q.weight
    given = (values, _read_only(index), *parts, weight)
    over_rows(lambda a, b: part_risk(*given, *loss, is_max, a, b, *results), values.shape)


def _read_only(array: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """A view that cannot be written: one type for the compiled loops, whatever the caller's array allows."""
    view = array.view()
    view.setflags(write=False)
    return view
