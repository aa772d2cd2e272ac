"""Kesler's construction: every edge of a preference graph as one example of a binary problem."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse
from sklearn.utils import check_array

from learners.codes import RandomState, code_matrix
from prefgraph import InvalidTarget, Preferences, as_preferences

__all__ = ["kesler"]


def kesler(
    X: Any, preferences: Any, codes: Any = "identity", random_state: RandomState = None
) -> sparse.csr_array[Any, tuple[int, int]]:
    """The vectors ``z = y(a) (x) x`` of all edges, with ``y(a) = M_init - M_term`` [AS05, Eq. 4].

    With ``W`` of shape ``s x d``, a row for each column of the codes, and scores ``f(x, r) = <W x, M_r>``, the margin
    of an edge is ``f(x, init) - f(x, term) = <W, z>``: ranking is a binary problem in ``s d`` dimensions in which every
    example is positive. For explanation and tests; no solver builds it.

    Parameters
    ----------
    X
        Features, dense or sparse, a row for each instance.
    preferences
        The targets, in any form that `as_preferences` recognises.
    codes
        A name in `learners.codes.CODES`, or a matrix with a row for each label.
    random_state
        A seed or a generator, for codes that are drawn.

    Returns
    -------
    scipy.sparse.csr_array
        A row for each edge, in the order of ``preferences.parts("identity")``; ``s`` chunks of ``d`` columns, the
        ``k``-th is ``y_k(a) x``. So ``kesler(...) @ W.ravel()`` are the margins.

    Raises
    ------
    InvalidTarget
        The rows of ``X`` are not as many as the targets.

    Examples
    --------
    Label a is preferred to b and c; the chunks are those of a, b and c:

    >>> from learners import kesler
    >>> kesler([[1.0, 2.0]], [{"a"}], codes="identity").shape
    (0, 2)
    >>> import prefgraph as pg
    >>> kesler([[1.0, 2.0]], pg.as_preferences([{"a"}], labels="abc")).toarray().astype(int)
    array([[ 1,  2, -1, -2,  0,  0],
           [ 1,  2,  0,  0, -1, -2]])

    References
    ----------
    [AS05] section 3, Eq. 4.
    """
    p: Preferences = as_preferences(preferences)
    rows = sparse.csr_array(check_array(X, accept_sparse="csr", dtype=(np.float64, np.float32)))
    if rows.shape[0] != len(p):
        raise InvalidTarget(f"X has {rows.shape[0]} rows and there are {len(p)} targets; give one target for each row")
    matrix = code_matrix(codes, len(p.labels), random_state)
    q = p.parts("identity")
    difference = matrix[q.init] - matrix[q.term]
    v = rows[q.instance]
    if matrix.shape[1] == 0 or not len(q.init):
        return sparse.csr_array((len(q.init), matrix.shape[1] * rows.shape[1]), dtype=rows.dtype)
    chunks = [sparse.diags_array(difference[:, k]) @ v for k in range(matrix.shape[1])]
    z: sparse.csr_array[Any, tuple[int, int]] = sparse.csr_array(sparse.hstack(chunks, format="csr"))
    z.eliminate_zeros()
    return z
