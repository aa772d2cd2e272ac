"""The edge losses of the preference learning model, as value-and-derivative pairs, with a registry.

A loss is a function ``L`` of the margin ``rho = f(init) - f(term)`` of an edge: convex, falling, never negative, and at
least 1 where the margin is not positive, so that it bounds the mistake [AS05, section 2]. Each function takes an array
of margins and returns two arrays: the values, and the derivatives (at a kink one that lies between the slopes).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any

import numpy as np
import numpy.typing as npt

__all__ = [
    "LOSSES",
    "SMOOTH_LOSSES",
    "exponential",
    "logistic",
    "modified_least_squares",
    "perceptron",
    "soft_margin",
]

Floats = npt.NDArray[np.floating[Any]]

STEEPEST = 50.0  # past exp(50) the exponential loss goes on as a straight line: sums stay finite in single precision


def perceptron(margin: Floats, beta: float = 1.0) -> tuple[Floats, Floats]:
    """The beta-margin perceptron: ``[1 - rho / beta]_+``.

    Parameters
    ----------
    margin
        Margins of edges.
    beta
        The margin from which an edge costs nothing, above 0.

    Returns
    -------
    value, derivative
        Arrays of the shape of ``margin``; the derivative at ``rho = beta`` is 0.

    Examples
    --------
    >>> import numpy as np
    >>> from learners import losses
    >>> losses.perceptron(np.array([-2.0, 0.0, 2.0]), beta=2.0)
    (array([2., 1., 0.]), array([-0.5, -0.5,  0. ]))

    References
    ----------
    [AS05] table of losses, row 1.
    """
    slack = 1.0 - margin / beta
    return np.maximum(slack, 0.0), np.where(slack > 0.0, -1.0 / beta, 0.0)


def logistic(margin: Floats) -> tuple[Floats, Floats]:
    """Logistic regression, to the base 2: ``log2(1 + exp(-rho))``.

    Parameters
    ----------
    margin
        Margins of edges.

    Returns
    -------
    value, derivative
        Arrays of the shape of ``margin``.

    Examples
    --------
    >>> import numpy as np
    >>> from learners import losses
    >>> value, derivative = losses.logistic(np.array([-10.0, 0.0]))
    >>> value.round(3), (derivative * np.log(2)).round(3)
    (array([14.427,  1.   ]), array([-1. , -0.5]))

    References
    ----------
    [AS05] table of losses, row 2.
    """
    small = np.exp(-np.abs(margin))
    value = (np.maximum(-margin, 0.0) + np.log1p(small)) / np.log(2.0)
    derivative = -np.where(margin < 0.0, 1.0, small) / ((1.0 + small) * np.log(2.0))
    return value, derivative


def soft_margin(margin: Floats) -> tuple[Floats, Floats]:
    """The soft margin of support vector machines: ``[1 - rho]_+``.

    Parameters
    ----------
    margin
        Margins of edges.

    Returns
    -------
    value, derivative
        Arrays of the shape of ``margin``; the derivative at ``rho = 1`` is 0.

    Examples
    --------
    >>> import numpy as np
    >>> from learners import losses
    >>> losses.soft_margin(np.array([-1.0, 1.0]))
    (array([2., 0.]), array([-1.,  0.]))

    References
    ----------
    [AS05] table of losses, row 3.
    """
    return perceptron(margin, 1.0)


def modified_least_squares(margin: Floats) -> tuple[Floats, Floats]:
    """Modified least squares: ``[1 - rho]_+^2``.

    Parameters
    ----------
    margin
        Margins of edges.

    Returns
    -------
    value, derivative
        Arrays of the shape of ``margin``.

    Examples
    --------
    >>> import numpy as np
    >>> from learners import losses
    >>> losses.modified_least_squares(np.array([-1.0, 0.0, 3.0]))
    (array([4., 1., 0.]), array([-4., -2., -0.]))

    References
    ----------
    [AS05] table of losses, row 4.
    """
    slack = np.maximum(1.0 - margin, 0.0)
    return slack**2, -2.0 * slack


def exponential(margin: Floats) -> tuple[Floats, Floats]:
    """The loss of boosting: ``exp(-rho)``, continued as a straight line where ``-rho > 50``, so that it stays finite.

    Parameters
    ----------
    margin
        Margins of edges.

    Returns
    -------
    value, derivative
        Arrays of double precision, of the shape of ``margin``.

    Examples
    --------
    >>> import numpy as np
    >>> from learners import losses
    >>> losses.exponential(np.array([0.0, -1e6]))[0]
    array([1.00000000e+00, 5.18445148e+27])

    References
    ----------
    [AS05] table of losses, row 5.
    """
    exponent = -np.asarray(margin, np.float64)
    slope = np.exp(np.minimum(exponent, STEEPEST))
    return slope * (1.0 + np.maximum(exponent - STEEPEST, 0.0)), -slope


LOSSES: Mapping[str, Callable[..., tuple[Floats, Floats]]] = MappingProxyType(
    {f.__name__: f for f in (perceptron, logistic, soft_margin, modified_least_squares, exponential)}
)
SMOOTH_LOSSES = frozenset({"logistic", "modified_least_squares", "exponential"})
