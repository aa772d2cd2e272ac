"""The sum of losses of the preference learning model as a function of the scores, with a subgradient."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from learners._objective import GraphParts, built_in_name
from learners._plm_kernels import critical_edges
from learners._threads import over_rows
from learners.losses import EdgeLoss
from prefgraph import Preferences
from prefgraph._edge_table import gather, starts
from prefgraph.decompose import Decomposition
from prefgraph.parts import FloatArray, IntArray

Scores = npt.NDArray[np.floating[Any]]

EDGES_OF_A_BLOCK = 2**18  # edges whose margins exist at a time
STARS = ("identity", "domination", "dominated")  # where the edge of the smallest margin is found without listing edges


class Risk:
    """Losses of instances, without the ``1 / N`` [AS05, Eq. 2].

        risk_i = weight_i sum_{S in A(G_i)} max_{e in S} w_e L(f(init e) - f(term e)),     or sum instead of max

    With ``max`` on layered graphs under identity, domination or dominated no edge is listed: ``L`` falls, so the edge
    of the smallest margin counts. Everything else goes through the edges, a block of rows at a time.

    Parameters
    ----------
    preferences
        The graphs and weights of the instances.
    decomposition
        A name, or a function.
    loss
        The edge loss, from `learners.losses`.
    aggregate
        ``"max"`` or ``"sum"`` over the edges of a part.

    Attributes
    ----------
    n_parts
        ``s_i``: the number of parts of each instance.
    has_single_edges
        Whether every part is one edge, where max and sum are one.
    """

    def __init__(
        self, preferences: Preferences, decomposition: str | Decomposition, loss: EdgeLoss, aggregate: str
    ) -> None:
        p = preferences
        self._loss, self._aggregate = loss, aggregate
        self._weight, self._graph_index, self._layer = p.weight, p.graph_index, p.layer
        self._n_labels = len(p.labels)
        self._name = built_in_name(decomposition)
        self._by_layers = aggregate == "max" and self._name in STARS
        self._parts: GraphParts | None
        self.n_parts: IntArray
        if self._by_layers:
            self._parts, self.n_parts = GraphParts.beside_layers(p, self._name)
            n_edges = p.n_edges
        else:
            self._parts = GraphParts.of(p, decomposition)
            self.n_parts = self._parts.counts[self._parts.index]
            n_edges = int(np.diff(self._edge_start())[self._parts.index].sum())
        self.has_single_edges = n_edges == self.n_parts.sum()

    def _edge_start(self) -> IntArray:
        """Where the edges of each numbered graph begin."""
        found = self._parts
        return np.zeros(1, np.int64) if found is None else found.parts.offsets[found.start]

    def value_and_gradient(self, scores: Scores) -> tuple[FloatArray, Scores]:
        """(the risk of each instance, its derivative by the scores), for instances x labels scores."""
        n, L = scores.shape
        risk, gradient = np.zeros(n), np.zeros((n, L))
        for edges in self._charged(scores):
            a, b = edges.instance[0], edges.instance[-1] + 1  # instances stand in order
            instance, size = edges.instance - a, (b - a) * L
            risk[a:b] += np.bincount(instance, edges.value, minlength=b - a)
            gradient[a:b] += np.bincount(instance * L + edges.init, edges.slope, minlength=size).reshape(b - a, L)
            gradient[a:b] -= np.bincount(instance * L + edges.term, edges.slope, minlength=size).reshape(b - a, L)
        return risk, gradient.astype(scores.dtype, copy=False)

    def value_and_slope(self, scores: Scores, towards: Scores) -> tuple[float, float]:
        """(the sum of risks, its derivative in a direction): what a line search needs, without the gradient."""
        value = slope = 0.0
        for edges in self._charged(scores):
            value += float(edges.value.sum())
            change = towards[edges.instance, edges.init] - towards[edges.instance, edges.term]
            slope += float((edges.slope * change).sum())
        return value, slope

    def _charged(self, scores: Scores) -> Iterator[_Edges]:
        """The edges that are charged, in blocks: all of them, or the worst one of each part."""
        if self._by_layers and len(self._layer):
            edges = self._priced(scores, *self._critical(scores))
            if len(edges.instance):
                yield edges
        if self._parts is not None:
            q = self._parts.parts
            for instance, edge, begins in self._blocks(self._parts):
                edges = self._priced(scores, instance, q.init[edge], q.term[edge], q.weight[edge])
                if self._aggregate == "max":
                    kept = largest_of_parts(edges.price, np.flatnonzero(begins))
                    edges = edges.take(kept)
                yield edges

    def _priced(self, scores: Scores, instance: IntArray, init: IntArray, term: IntArray, weight: FloatArray) -> _Edges:
        """Edges with their losses."""
        value, slope = self._loss(scores[instance, init].astype(np.float64) - scores[instance, term])
        price, w = weight * value, self._weight[instance]
        return _Edges(instance, init, term, price, w * price, w * (weight * slope))

    def _critical(self, scores: Scores) -> tuple[IntArray, IntArray, IntArray, FloatArray]:
        """The edge of the smallest margin of every part of the layered graphs."""
        is_layered = self._graph_index < len(self._layer)
        counts = np.where(is_layered, self.n_parts, 0)
        offsets = starts(counts)
        init, term = np.empty(offsets[-1], np.int32), np.empty(offsets[-1], np.int32)
        values = np.ascontiguousarray(scores).view()
        values.setflags(write=False)  # one type for the compiled loop, whatever the caller's array allows
        given = (values, self._layer, self._graph_index)
        by_term, whole = self._name == "dominated", self._name == "identity"
        over_rows(
            lambda a, b: critical_edges(*given, offsets[a : b + 1], by_term, whole, a, b, init, term),
            (len(scores), self._n_labels),
        )
        return np.repeat(np.arange(len(scores)), counts), init, term, np.ones(len(init))

    def _blocks(self, found: GraphParts) -> Iterator[tuple[IntArray, IntArray, npt.NDArray[np.bool_]]]:
        """(instance, edge, whether a part begins) of blocks of instances that have edges."""
        edge_start = self._edge_start()
        begins = np.zeros(edge_start[-1], bool)
        begins[found.parts.offsets[:-1]] = True
        known = np.flatnonzero(found.index >= 0)
        counts = np.diff(edge_start)[found.index[known]]
        known, counts = known[counts > 0], counts[counts > 0]
        block = (starts(counts)[:-1] // EDGES_OF_A_BLOCK).astype(np.int64)
        cuts = np.flatnonzero(np.diff(block, prepend=-1, append=-1))
        for a, b in pairwise(cuts):
            edge = gather(edge_start, found.index[known[a:b]])
            yield np.repeat(known[a:b], counts[a:b]), edge, begins[edge]


class _Edges(NamedTuple):
    """Edges of instances in order: their weighted losses without and with the weight of the instance, and slopes."""

    instance: IntArray
    init: IntArray
    term: IntArray
    price: FloatArray
    value: FloatArray
    slope: FloatArray

    def take(self, rows: IntArray) -> _Edges:
        """Some of them."""
        return _Edges(*[column[rows] for column in self])  # type: ignore[arg-type]


def candidate_losses(
    scores: Scores, candidates: Preferences, decomposition: str | Decomposition, loss: EdgeLoss, aggregate: str
) -> FloatArray:
    """The loss of each candidate graph (columns) for each row of scores: ``L(V(x, y))`` of [AS05, section 2]."""
    q = candidates.parts(decomposition)
    part_start = starts(q.counts)
    losses = np.zeros((len(scores), len(candidates)))
    for c in range(len(candidates)):
        offsets = q.offsets[part_start[c] : part_start[c + 1] + 1]
        if len(offsets) < 2:
            continue  # no edges: nothing to disagree with
        edges = slice(offsets[0], offsets[-1])
        size = max(1, EDGES_OF_A_BLOCK // (offsets[-1] - offsets[0]))
        for first in range(0, len(scores), size):
            rows = slice(first, first + size)
            f = scores[rows].astype(np.float64, copy=False)
            value = q.weight[edges] * loss(f[:, q.init[edges]] - f[:, q.term[edges]])[0]
            if aggregate == "max":
                value = np.maximum.reduceat(value, offsets[:-1] - offsets[0], axis=1)
            losses[rows, c] = value.sum(axis=1)
    return losses


def largest_of_parts(value: FloatArray, first: IntArray) -> IntArray:
    """The place of the largest value of each part, the first one among equal ones; parts begin at ``first``."""
    largest = np.maximum.reduceat(value, first)
    part = np.zeros(len(value), np.int64)
    part[first[1:]] = 1
    part = np.cumsum(part)
    places = np.flatnonzero(value == largest[part])
    return places[np.flatnonzero(np.diff(part[places], prepend=-1))]
