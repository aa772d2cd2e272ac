"""The log-linear loss of many instances: its value, and the flows from which every solver takes its gradient."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from learners._loss_kernels import pair_flows, part_flows, star_flows, whole_flows
from learners._threads import over_rows
from prefgraph import Preferences
from prefgraph._edge_table import starts
from prefgraph._kernels import layered_edge_counts
from prefgraph.decompose import BUILT_IN, Decomposition, find_decomposition, takes_instance
from prefgraph.errors import InvalidScores
from prefgraph.parts import FloatArray, IntArray, Parts

Scores = npt.NDArray[np.floating[Any]]


class Objective:
    """The log-linear loss of [DMS03], as a function of the scores.

        loss_i = weight_i / s_i  sum_{S in A(G_i)} log(1 + sum_{e in S} w_e exp(f(term e) - f(init e)))

    Layered graphs under a built-in decomposition are never expanded to edges; all other graphs are cut once for each
    distinct graph (once for each instance where the decomposition asks for the instance).

    Parameters
    ----------
    preferences
        The graphs of the instances; over positions (`Preferences.local`) where instances have labels of their own.
    decomposition
        A name, or a function of a graph, or of a graph and an instance.
    weight
        The weight of each instance, by default that of the preferences.

    Attributes
    ----------
    n_parts
        ``s_i``: the number of parts of each instance.
    """

    def __init__(
        self,
        preferences: Preferences,
        decomposition: str | Decomposition = "domination",
        weight: npt.ArrayLike | None = None,
    ) -> None:
        p = preferences if weight is None else preferences.with_weight(weight)
        self.shape = (len(p), len(p.labels))
        self._layer, self._graph_index = p.layer, p.graph_index
        self._name = built_in_name(decomposition)
        self._parts: GraphParts | None
        self.n_parts: IntArray
        if self._name:
            self._parts, self.n_parts = GraphParts.beside_layers(p, self._name)
        else:
            self._parts = GraphParts.of(p, decomposition)
            self.n_parts = self._parts.counts[self._parts.index]
        self._scale = np.zeros(len(p))
        np.divide(p.weight, self.n_parts, out=self._scale, where=self.n_parts > 0)

    def value_and_flows(
        self, scores: Scores, rows: slice = slice(None), out: tuple[Scores, Scores] | None = None
    ) -> tuple[FloatArray, Scores, Scores]:
        """The loss of each instance and the two flows.

            In_{i,y} = weight_i / s_i  sum_{e: term = y} q_e,     Out_{i,y} = weight_i / s_i  sum_{e: init = y} q_e

        The gradient of the sum of losses by the scores is ``In - Out`` [DMS03, Fig. 3].

        Parameters
        ----------
        scores
            Instances x labels, single or double precision.
        rows
            The instances that the rows of ``scores`` stand for: a block of consecutive ones, by default all.
        out
            Two C-contiguous arrays of the shape and precision of ``scores`` for In and Out, written over. To ask for
            memory anew takes about as long as the work on it.

        Returns
        -------
        loss, In, Out
            In the order of the rows; the flows have the precision of the scores, the loss is double. Rows of instances
            without edges, or of weight 0, are 0.
        """
        index, scale = self._graph_index[rows], self._scale[rows]
        if scores.shape != (len(index), self.shape[1]):
            raise InvalidScores(
                f"scores has the shape {scores.shape} for {len(index)} instances and {self.shape[1]} labels; "
                "give a row for each instance and a column for each label"
            )
        kind: type[np.floating[Any]] = np.float32 if scores.dtype == np.float32 else np.float64
        values: Scores = np.ascontiguousarray(scores, kind).view()
        values.setflags(write=False)  # one type for the compiled loops, whatever the caller's array allows
        flow_in, flow_out = (np.empty_like(values), np.empty_like(values)) if out is None else out
        results = (np.empty(len(values)), flow_in, flow_out)
        idle = scale == 0.0  # no edges or no weight: no kernel writes these rows
        for array in results:
            array[idle] = 0.0
        if self._name and len(self._layer):
            self._layered(values, index, scale, results)
        if self._parts is not None:
            numbers, arrays = self._parts.index[rows], self._parts.arrays
            over_rows(
                lambda a, b: part_flows(values, numbers, *arrays, scale, a, b, *results), (len(values), self.shape[1])
            )
        return results

    def _layered(
        self, values: Scores, index: IntArray, scale: FloatArray, results: tuple[FloatArray, Scores, Scores]
    ) -> None:
        """Fill in the rows of the layered graphs."""
        given = (values, self._layer, index, scale)
        if self._name == "identity":
            over_rows(lambda a, b: whole_flows(*given, a, b, *results), (len(values), self.shape[1]))
        elif self._name == "disagreement":
            over_rows(lambda a, b: pair_flows(*given, a, b, *results), (len(values), self.shape[1]))
        else:
            by_term = self._name == "dominated"
            over_rows(lambda a, b: star_flows(*given, by_term, a, b, *results), (len(values), self.shape[1]))


class GraphParts:
    """The parts of numbered graphs, and the number of each instance's graph (negative where it is not among them)."""

    def __init__(self, parts: Parts, index: IntArray) -> None:
        self.parts = parts
        self.index = index
        self.counts: IntArray = parts.counts
        self.start = starts(self.counts)
        self.arrays = (self.start, parts.offsets, parts.init, parts.term, np.log(parts.weight))  # as `part_flows` wants

    @classmethod
    def of(cls, p: Preferences, decomposition: str | Decomposition) -> GraphParts:
        """Any decomposition: called for each distinct graph, or for each instance where it takes one."""
        if not built_in_name(decomposition) and takes_instance(find_decomposition(decomposition)):
            return cls(p.parts(decomposition), np.arange(len(p), dtype=np.int32))
        distinct = Preferences(p.labels, np.arange(p.n_graphs, dtype=np.int32), p.layer, p.table)
        return cls(distinct.parts(decomposition), p.graph_index)

    @classmethod
    def beside_layers(cls, p: Preferences, name: str) -> tuple[GraphParts | None, IntArray]:
        """The parts of the graphs not kept as layers, None without such; the number of parts of all instances."""
        counts = _layered_counts(p.layer, name)
        if not len(p.table):
            return None, counts[p.graph_index]
        others = Preferences(p.labels, np.arange(len(p.table), dtype=np.int32), p.layer[:0], p.table)
        found = cls(others.parts(name), p.graph_index - np.int32(len(p.layer)))
        return found, np.concatenate([counts, found.counts])[p.graph_index]


def built_in_name(decomposition: str | Decomposition) -> str:
    """The name of a built-in decomposition, given by name or as a function; empty for any other."""
    function = find_decomposition(decomposition)
    name = getattr(function, "__name__", "")
    return name if name in BUILT_IN and find_decomposition(name) is function else ""


def _layered_counts(layer: IntArray, name: str) -> IntArray:
    """The number of parts of each layered graph under a built-in decomposition."""
    edges: IntArray = layered_edge_counts(layer)
    if name == "disagreement":
        return edges
    if name == "identity":
        return np.minimum(edges, 1)
    last = layer.max(axis=1, initial=0, keepdims=True)
    stars = (layer >= 0) & (layer < last) if name == "domination" else layer > 0
    counts: IntArray = stars.sum(axis=1)
    return counts
