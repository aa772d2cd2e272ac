"""Label-block and joint features behind the products that a solver needs: scores and their transposes.

Both forms are linear: ``f(x, y) = sum_j lambda_j h_j(x, y)``. What a solver asks of them is the same:

- ``shape``: the shape of the parameters;
- ``blocks``: slices of rows, so that scores and flows exist for a block at a time;
- ``scores(parameters, block)``: the scores of a block of instances, ``(rows, L)``;
- ``gradient(flow, block)``: the transpose, from a derivative by the scores to one by the parameters;
- ``weights(flow_in, flow_out, block)``: ``W+`` and ``W-`` of [DMS03, Fig. 3], where the flows determine them;
- ``step_bound(instances)``: ``rho`` of [DMS03, Fig. 3];
- ``spread(instances, weight)``: the mean squared size of the features, against which a regulariser is measured.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
from scipy import sparse

from prefgraph import Candidates, Preferences
from prefgraph.parts import FloatArray, IntArray

Floats = npt.NDArray[np.floating[Any]]

ENTRIES_OF_A_BLOCK = 2**23  # scores of a block: 64 MB in double precision


def row_blocks(m: int, width: int) -> list[slice]:
    """Slices of rows, so that a block has a bounded number of scores."""
    size = max(1, ENTRIES_OF_A_BLOCK // max(width, 1))
    return [slice(start, min(start + size, m)) for start in range(0, m, size)]


class LabelBlock:
    """Label-block features ``h_{w,y}(x, y') = phi_w(x) [y = y']`` [DMS03, Eq. 6]: the parameters are ``n x L``.

    With an intercept they have one row more, for a feature that is 1 everywhere; it is never added to ``X``.
    """

    def __init__(self, X: Any, n_labels: int, *, intercept: bool = False) -> None:
        self.X: Any = X if sparse.issparse(X) else np.ascontiguousarray(X)
        self.intercept = intercept
        self.n_features = X.shape[1]
        self.shape = (self.n_features + intercept, n_labels)
        self.dtype = X.dtype
        self.blocks = row_blocks(X.shape[0], n_labels)
        self._rows = [_row_view(self.X, block) for block in self.blocks]
        self._signed: list[tuple[Any, Any]] | None = None

    def scores(self, parameters: Floats, block: int) -> Floats:
        """``f(x_i, y)`` of a block: one product."""
        scores: Floats = self._rows[block] @ parameters[: self.n_features]
        if self.intercept:
            scores += parameters[self.n_features]
        return scores

    def gradient(self, flow: Floats, block: int) -> Floats:
        """``X' flow``: one product."""
        return self._with_intercept(self._rows[block].T @ flow, flow)

    def weights(self, flow_in: Floats, flow_out: Floats, block: int) -> tuple[Floats, Floats]:
        """``W+ = X+' In + X-' Out`` and ``W- = X+' Out + X-' In``, with ``X = X+ - X-`` split by sign."""
        if self._signed is None:
            self._signed = [by_sign(rows) for rows in self._rows]
        up, down = self._signed[block]
        rising, falling = up.T @ flow_in, up.T @ flow_out
        if down is not None:
            rising, falling = rising + down.T @ flow_out, falling + down.T @ flow_in
        return self._with_intercept(rising, flow_in), self._with_intercept(falling, flow_out)

    def _with_intercept(self, product: Floats, flow: Floats) -> Floats:
        return np.concatenate([product, flow.sum(axis=0, keepdims=True)]) if self.intercept else product

    def step_bound(self, instances: IntArray) -> float:
        """``rho = max_i 2 |x_i|_1`` over the instances with an edge: an edge touches the blocks of two labels."""
        norms = np.concatenate([_sums(abs(rows)) for rows in self._rows])[instances] + self.intercept
        return 2.0 * float(norms.max(initial=0.0))

    def spread(self, instances: IntArray, weight: FloatArray) -> float:
        """The mean of ``|x_i|^2`` over some instances, by weight."""
        norms = np.concatenate([_square_norms(rows) for rows in self._rows])
        return _mean(norms[instances], weight[instances])


class Joint:
    """Joint features ``h_j(x, y)``: a row for each candidate of each instance, the parameters are a vector.

    Instances have labels of their own, so that graphs are taken over positions: column ``k`` of the scores is the
    ``k``-th vertex of each instance, as `Preferences.local` counts them.
    """

    def __init__(self, candidates: Candidates, preferences: Preferences) -> None:
        self.preferences = preferences.local()
        offsets, _ = preferences.vertex_lists()
        self.X = candidates.X[candidates.vertex_rows(preferences)]
        self.shape: tuple[int, ...] = (self.X.shape[1],)
        self.dtype = self.X.dtype
        width = len(self.preferences.labels)
        self.blocks = row_blocks(len(preferences), width)
        self._width = width
        self._offsets = offsets
        self._instance = np.repeat(np.arange(len(preferences)), np.diff(offsets))
        self._position = np.arange(len(self._instance)) - offsets[self._instance]

    def _vertices(self, block: int) -> tuple[slice, IntArray, IntArray]:
        """The candidate rows of a block, and where they stand in its matrix of scores."""
        rows = self.blocks[block]
        places = slice(self._offsets[rows.start], self._offsets[rows.stop])
        return places, self._instance[places] - rows.start, self._position[places]

    def scores(self, parameters: Floats, block: int) -> Floats:
        """``f(x_i, y)`` of the candidates of a block, 0 where an instance has no candidate left."""
        places, instance, position = self._vertices(block)
        rows = self.blocks[block]
        scores = np.zeros((rows.stop - rows.start, self._width), self.dtype)
        scores[instance, position] = self.X[places] @ parameters
        return scores

    def gradient(self, flow: Floats, block: int) -> Floats:
        """``H' flow``, one product."""
        places, instance, position = self._vertices(block)
        product: Floats = self.X[places].T @ flow[instance, position]
        return product

    def spread(self, instances: IntArray, weight: FloatArray) -> float:
        """The mean of ``|h(x_i, y) - mean_y h(x_i, y)|^2`` over the candidates of some instances, by weight."""
        sizes = np.maximum(np.diff(self._offsets), 1)
        ones = np.ones(len(self._instance))
        members = sparse.csr_array((ones, np.arange(len(ones)), self._offsets), shape=(len(sizes), len(ones)))
        squares = members @ _square_norms(self.X) / sizes - _square_norms(members @ self.X) / sizes**2
        return _mean(np.maximum(squares, 0.0)[instances], weight[instances])

    def edge_features(self, instance: IntArray, init: IntArray, term: IntArray) -> Any:
        """``pi_{i,e,j} = h_j(x_i, term e) - h_j(x_i, init e)``, a row for each edge."""
        first = self._offsets[instance]
        return self.X[first + term] - self.X[first + init]


def _square_norms(X: Any) -> FloatArray:
    """``|x|^2`` of each row."""
    return _sums(X * X if isinstance(X, np.ndarray) else X.multiply(X))


def _sums(X: Any) -> FloatArray:
    """The sum of each row, in double precision."""
    return np.asarray(X.sum(axis=1, dtype=np.float64)).ravel()


def _mean(values: FloatArray, weight: FloatArray) -> float:
    return float((values * weight).sum() / weight.sum()) if len(values) else 0.0


def _row_view(X: Any, rows: slice) -> Any:
    """Consecutive rows without a copy."""
    if isinstance(X, np.ndarray):
        return X[rows]
    start, stop = X.indptr[rows.start], X.indptr[rows.stop]
    offsets = X.indptr[rows.start : rows.stop + 1] - start
    shape = (rows.stop - rows.start, X.shape[1])
    return sparse.csr_array((X.data[start:stop], X.indices[start:stop], offsets), shape=shape)


def by_sign(X: Any) -> tuple[Any, Any]:
    """``X+`` and ``X-`` with ``X = X+ - X-``; None for ``X-`` where nothing is negative."""
    values = X if isinstance(X, np.ndarray) else X.data
    if values.size == 0 or values.min() >= 0:
        return X, None
    if isinstance(X, np.ndarray):
        return np.maximum(X, 0), np.maximum(-X, 0)
    return X.maximum(0).tocsr(), (-X).maximum(0).tocsr()
