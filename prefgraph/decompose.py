"""Decompositions: how a preference graph is cut into parts, each of which is right or wrong as a whole.

A decomposition is a function ``f(graph)`` that returns parts, each a collection of edges of the graph. It may also be
``f(graph, instance)``: then it is called for every instance, with the instance's key or row number. Parts may overlap.
"""

import inspect
from collections.abc import Callable, Iterable, Mapping
from functools import partial
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, TypeVar

import networkx as nx

from prefgraph._content import Edge, Label, where
from prefgraph.errors import InvalidDecomposition

if TYPE_CHECKING:
    DiGraph = nx.DiGraph[Label]
    AnyGraph = TypeVar("AnyGraph", bound=DiGraph)
else:
    DiGraph, AnyGraph = nx.DiGraph, TypeVar("AnyGraph")

__all__ = [
    "DECOMPOSITIONS",
    "Decomposition",
    "compose",
    "disagreement",
    "dominated",
    "domination",
    "identity",
    "register_decomposition",
]

Decomposition = Callable[..., Iterable[Iterable[Edge]]]


def identity(graph: DiGraph) -> list[list[Edge]]:
    """The graph itself as the only part: one wrong edge makes the whole wrong, the 0-1 error.

    A graph without edges has no part.

    >>> import prefgraph as pg
    >>> identity(pg.from_layers([["a", "b"], ["c"]]))
    [[('a', 'c'), ('b', 'c')]]
    >>> identity(pg.PreferenceGraph(nodes=["a"]))
    []

    References
    ----------
    [DMS03] section 2; the mapping G_I of [AS05], Fig. 1(a).
    """
    return [list(graph.edges)] if graph.number_of_edges() else []


def disagreement(graph: DiGraph) -> list[list[Edge]]:
    """One part for each edge.

    >>> import prefgraph as pg
    >>> disagreement(pg.from_layers([["a", "b"], ["c"]]))
    [[('a', 'c')], [('b', 'c')]]

    References
    ----------
    [DMS03] Fig. 2, top; the mapping G_d of [AS05], Fig. 1(c).
    """
    return [[edge] for edge in graph.edges]


def domination(graph: DiGraph) -> list[list[Edge]]:
    """One out-star for each label that beats another.

    >>> import prefgraph as pg
    >>> domination(pg.from_layers([["a"], ["b", "c"]]))
    [[('a', 'b'), ('a', 'c')]]

    References
    ----------
    [DMS03] Fig. 2, middle; the mapping G_D of [AS05], Fig. 1(b).
    """
    return [list(graph.out_edges(v)) for v in graph if graph.out_degree(v)]


def dominated(graph: DiGraph) -> list[list[Edge]]:
    """One in-star for each label that another beats.

    >>> import prefgraph as pg
    >>> dominated(pg.from_layers([["a"], ["b", "c"]]))
    [[('a', 'b')], [('a', 'c')]]

    References
    ----------
    [DMS03] Fig. 2, bottom.
    """
    return [list(graph.in_edges(v)) for v in graph if graph.in_degree(v)]


_REGISTRY: dict[str, Decomposition] = {f.__name__: f for f in (identity, disagreement, domination, dominated)}
DECOMPOSITIONS: Mapping[str, Decomposition] = MappingProxyType(_REGISTRY)
BUILT_IN = tuple(_REGISTRY)


def register_decomposition(name: str, function: Decomposition) -> None:
    """Give a decomposition of your own a name, so that it can be asked for as the built-in ones are.

    Parameters
    ----------
    name
        A word that is not taken yet.
    function
        ``f(graph)``, or ``f(graph, instance)`` where the cut depends on the instance. It must be pure: the same graph
        (and instance) always gives the same parts, because equal graphs are cut once.

    Raises
    ------
    InvalidDecomposition
        The name is taken by another function, or the function cannot be called so.

    Examples
    --------
    Only neighbouring layers, Fig. 1(f) of [AS05]:

    >>> import prefgraph as pg
    >>> def adjacent_layers(graph):
    ...     layers = graph.layers()
    ...     return [[(a, b)] for up, down in zip(layers, layers[1:]) for a in up for b in down]
    >>> pg.register_decomposition("adjacent_layers", adjacent_layers)
    >>> [str(part) for part in pg.parse("[1|2|3]").decompose("adjacent_layers")]
    ['1>2, 3', '2>3, 1']
    """
    if not isinstance(name, str) or not name:
        raise InvalidDecomposition(f"the name {name!r} of a decomposition is not a word; give it as a str")
    if _REGISTRY.get(name, function) is not function:
        raise InvalidDecomposition(f"the decomposition {name!r} exists already; choose another name")
    takes_instance(function)
    _REGISTRY[name] = function


def compose(*steps: str | Decomposition) -> Decomposition:
    """Cut with the first decomposition, then every part with the next one.

    Examples
    --------
    >>> import prefgraph as pg
    >>> stars_then_edges = compose("domination", "disagreement")
    >>> stars_then_edges(pg.from_layers([["a"], ["b", "c"]]))
    [[('a', 'b')], [('a', 'c')]]
    """
    functions = [find_decomposition(step) for step in steps]
    if not functions:
        raise InvalidDecomposition("compose() got no decomposition; name at least one")

    # Partial objects of module functions can be pickled, as the parameters of an estimator must be.
    return partial(_in_steps if any(map(takes_instance, functions)) else _in_plain_steps, functions)


def _in_steps(functions: list[Decomposition], graph: DiGraph, instance: object) -> list[list[Edge]]:
    parts = identity(graph)
    for function in functions:
        parts = [cut for part in parts for cut in cut_edges(subgraph(graph, part), function, instance)]
    return parts


def _in_plain_steps(functions: list[Decomposition], graph: DiGraph) -> list[list[Edge]]:
    return _in_steps(functions, graph, None)


def find_decomposition(how: str | Decomposition) -> Decomposition:
    """The function behind a name; a function is returned as it is."""
    if callable(how):
        return how
    if not isinstance(how, str) or how not in _REGISTRY:
        known = ", ".join(map(repr, _REGISTRY))
        raise InvalidDecomposition(
            f"decomposition={how!r} is unknown; it is one of {known}, or a function of a graph that returns edge lists"
        )
    return _REGISTRY[how]


def takes_instance(function: Decomposition) -> bool:
    """Whether the decomposition is ``f(graph, instance)`` rather than ``f(graph)``."""
    try:
        signature = inspect.signature(function)
    except (TypeError, ValueError) as error:  # not callable, or written in C without a signature
        raise InvalidDecomposition(
            f"the decomposition {function!r} cannot be looked into ({error}); give a Python function of a graph"
        ) from None
    for arguments in ((None,), (None, None)):
        try:
            signature.bind(*arguments)
        except TypeError:
            continue
        return len(arguments) == 2
    raise InvalidDecomposition(
        f"the decomposition {function!r} takes {signature}; it must take a graph, or a graph and an instance"
    )


def cut_edges(graph: DiGraph, function: Decomposition, instance: object = None) -> list[list[Edge]]:
    """The parts that a decomposition makes of a graph, checked: known edges, none twice in a part, no empty part."""
    returned = function(graph, instance) if takes_instance(function) else function(graph)
    parts = []
    for part in returned if isinstance(returned, Iterable) else [returned]:
        if not isinstance(part, Iterable):
            raise InvalidDecomposition(
                f"{where(instance)}the decomposition {function!r} gives {part!r} for a part; it returns a list of "
                "parts, each a list of edges"
            )
        parts.append(list(part))
    for number, part in enumerate(parts):
        if not part:
            raise InvalidDecomposition(f"{where(instance)}part {number} has no edge; leave empty parts out")
        if any(not isinstance(edge, tuple) or len(edge) != 2 or not _hashable(edge) for edge in part):
            raise InvalidDecomposition(
                f"{where(instance)}part {number} is {part!r}; a part is a list of edges, each a tuple (init, term) of "
                "labels"
            )
        if len(set(part)) < len(part):
            raise InvalidDecomposition(f"{where(instance)}part {number} names an edge twice; a part is a set of edges")
        if strange := next((edge for edge in part if not graph.has_edge(*edge)), None):
            raise InvalidDecomposition(
                f"{where(instance)}part {number} has the edge {strange!r}, which the graph has not; "
                "a part is made of edges of the graph"
            )
    return parts


def _hashable(edge: object) -> bool:
    try:
        hash(edge)
    except TypeError:
        return False
    return True


def subgraph(graph: AnyGraph, edges: Iterable[Edge]) -> AnyGraph:
    """The graph with these edges only, on the same vertices, with all that was said about them."""
    part: Any = graph.__class__()
    part.graph.update(graph.graph)
    part.add_nodes_from(graph.nodes.data())
    part.add_edges_from((u, v, graph[u][v]) for u, v in edges)
    return part  # type: ignore[no-any-return]
