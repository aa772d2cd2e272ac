"""as_preferences: the one door from what people call a target to `Preferences`."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from typing import Any

import networkx as nx
import numpy as np
import numpy.typing as npt
from scipy import sparse

from prefgraph._content import Label, as_list, check_label, label_index, sort_labels, unknown_label
from prefgraph._edge_table import starts
from prefgraph._sharing import GraphCollector, rank_rows
from prefgraph.builders import from_pairs, from_scores, parse
from prefgraph.compiled import Preferences
from prefgraph.errors import InvalidTarget, check_option
from prefgraph.hierarchy import LabelHierarchy

__all__ = ["as_preferences"]

Labels = Sequence[Label] | None
IntVector = npt.NDArray[np.signedinteger[Any]]


def as_preferences(
    y: Any,
    labels: Iterable[Label] | None = None,
    hierarchy: LabelHierarchy | None = None,
    form: str | None = None,
    *,
    weight: npt.ArrayLike | None = None,
    max_layers: int | None = 3,
    on_contradiction: str = "error",
    tolerance: float = 0.0,
) -> Preferences:
    """Compile any kind of target to `Preferences`.

    Parameters
    ----------
    y
        One target for each instance, in one of the forms below. What cannot be mistaken is recognised: graphs,
        `Preferences`, a `PreferenceDataset`, a one-dimensional vector of classes, a matrix of 0 and 1 (dense or
        sparse), a list of sets. Everything else needs ``form``.
    labels
        The label index, in the order of the columns of a score matrix. By default the labels that occur, sorted; for a
        data frame the names of its columns, for any other matrix 0, 1, 2 ... Graphs keep their own vertices; label sets
        and classes are read against all labels.
    hierarchy
        For classes, label sets and indicator matrices: wrong labels are ordered by their distance to the right ones, as
        `LabelHierarchy.preferences` does; the labels are then the leaves.
    form
        ``"graphs"`` networkx graphs; ``"notation"`` text such as ``"[1,2|3]"`` or ``"1>2, 2>3"``; ``"classes"`` one
        label each; ``"indicator"`` a matrix of 0 and 1; ``"sets"`` the relevant labels of each; ``"rankings"`` lists
        of labels, best first, a list inside for ties; ``"ranks"`` a matrix with the rank of each label, small is good,
        NaN is not ranked; ``"scores"`` a matrix with a rating of each label, large is good, NaN is not rated;
        ``"pairs"`` lists of ``(preferred, other[, weight])``.
    weight
        The weight of each instance, 0 or more; by default 1, or what ``y`` has.
    max_layers
        With ``hierarchy``: layers beyond this number collapse into the last one; None keeps all.
    on_contradiction
        For pairs: the policy of `from_pairs`. `Preferences` hold what is kept and have no place for what a policy
        dropped; where that must be known, see the notes.
    tolerance
        For scores: differences up to this one are ties, as in `from_scores`.

    Raises
    ------
    InvalidTarget
        ``y`` could mean several things, or breaks its form; the message names the instance and the way out.

    Notes
    -----
    What a policy for votes both ways drops is reported by the graphs: make them first, ask them, then compile them. It
    is the same as ``form="pairs"``.

    >>> import prefgraph as pg
    >>> votes = [[("a", "b", 2), ("b", "a")], [("b", "c")]]
    >>> graphs = [pg.from_pairs(pairs, on_contradiction="majority", instance=i) for i, pairs in enumerate(votes)]
    >>> {g.instance: g.dropped for g in graphs if g.dropped}
    {0: (('b', 'a', 1.0),)}
    >>> pg.as_preferences(graphs) == pg.as_preferences(votes, form="pairs", on_contradiction="majority")
    True

    Examples
    --------
    >>> import prefgraph as pg
    >>> [str(g) for g in pg.as_preferences(["oil", "gas"])]
    ['[oil|gas]', '[gas|oil]']
    >>> [str(g) for g in pg.as_preferences([[1, 2, 2], [2, np.nan, 1]], labels="abc", form="ranks")]
    ['[a|b,c]', '[c|a]']
    >>> pg.as_preferences([["a", "b"]])
    Traceback (most recent call last):
    prefgraph.errors.InvalidTarget: y is a list of lists, which may be rankings, label sets or pairs; say which with \
form='rankings', form='sets' or form='pairs'
    """
    y = y.preferences if isinstance(getattr(y, "preferences", None), Preferences) else y
    if isinstance(y, Preferences):
        return _again(y, labels, weight, form, hierarchy)
    if isinstance(y, nx.Graph):
        raise InvalidTarget("y is a single graph; it is one target for each instance, put a single graph in a list")
    if isinstance(y, (str, bytes, Mapping)) or not isinstance(y, Iterable) or getattr(y, "ndim", 1) == 0:
        raise InvalidTarget(f"y is a {type(y).__name__}; it is one target for each instance, in a list or an array")
    if form is None:
        form = _guess(y)
    check_option("form", form, FORMS)
    labels = None if labels is None else as_list(labels, "labels", error=InvalidTarget)
    if form in ("indicator", "ranks", "scores"):
        labels = _column_labels(y, labels)
    if hierarchy is not None:
        if not isinstance(hierarchy, LabelHierarchy):
            raise InvalidTarget(
                f"hierarchy is a {type(hierarchy).__name__}; give a LabelHierarchy, which from_parents() makes of a "
                "dict from labels to parents and from_nested() of dicts in dicts"
            )
        if form not in ("classes", "indicator", "sets"):
            raise InvalidTarget(
                f"form={form!r} with a hierarchy; a hierarchy orders classes, label sets and indicators only"
            )
        return _with_hierarchy(y, form, labels, hierarchy, max_layers, weight)
    if form == "pairs":
        p = _from_pairs(y, labels, on_contradiction)
    elif form == "scores":
        p = _from_scores(y, labels, tolerance)
    else:
        p = _READERS[form](y, labels)
    return p if weight is None else p.with_weight(weight)


def _again(
    p: Preferences,
    labels: Iterable[Label] | None,
    weight: npt.ArrayLike | None,
    form: str | None,
    hierarchy: LabelHierarchy | None,
) -> Preferences:
    """Preferences as they are, over other labels or with other weights where asked."""
    if form is not None or hierarchy is not None:
        raise InvalidTarget("y is compiled already; form= and hierarchy= say how to read other targets, leave them out")
    p = p if labels is None else p.with_labels(labels)
    return p if weight is None else p.with_weight(weight)


def _column_labels(y: Any, labels: list[Label] | None) -> list[Label] | None:
    """The labels of the columns of a matrix: those given, or else the names that a data frame has for them."""
    if not hasattr(y, "columns"):
        return labels
    names = [_plain(v) for v in y.columns]
    if labels is not None and labels != names and sort_labels(labels) == sort_labels(names):
        raise InvalidTarget(
            f"labels names the columns {', '.join(map(repr, names[:10]))} of y in another order; labels are those of "
            "the columns, so leave labels out, or give y[labels]"
        )
    return names if labels is None else labels


def _guess(y: Any) -> str:
    """The form of y where it cannot be mistaken."""
    if sparse.issparse(y):
        return "indicator"
    if isinstance(y, np.ndarray) or hasattr(y, "__array__"):
        return _guess_array(np.asarray(y))
    if not isinstance(y, Sequence):
        raise InvalidTarget(f"y is a {type(y).__name__}, which has no order or can be read only once; give a list")
    items = list(y)
    if not items:
        raise InvalidTarget("y is empty, and so of any form; say which with form=, for example form='classes'")
    for form, kind in (("graphs", nx.Graph), ("sets", AbstractSet)):
        if all(isinstance(item, kind) for item in items):
            return form
    if all(isinstance(item, str) for item in items):
        return _guess_words(items)
    if any(isinstance(item, (list, tuple, np.ndarray, Mapping, AbstractSet, nx.Graph)) for item in items):
        return _guess_nested(items)
    return _guess_array(np.asarray(items))


def _guess_words(words: Sequence[str]) -> str:
    noted = next((word for word in words if word[:1] == "[" or ">" in word), None)
    if noted is not None:
        raise InvalidTarget(
            f"y has the text {noted!r}, a graph or a class of that name? say form='notation' or form='classes'"
        )
    return "classes"


def _guess_nested(items: Sequence[Any]) -> str:
    """Lists of 0 and 1 are a matrix, unless they may be lists of the labels 0 and 1; all other lists are ambiguous."""
    if all(isinstance(item, Mapping) for item in items):
        raise InvalidTarget(
            "y is a list of dicts; if they give scores to labels, give [from_scores(item) for item in y], or a matrix "
            "with form='scores'"
        )
    if not all(isinstance(item, (list, tuple, np.ndarray)) for item in items):
        kinds = ", ".join(sorted({type(item).__name__ for item in items}))
        raise InvalidTarget(f"y mixes {kinds}; all targets must be of one form, named by form=")
    if all(isinstance(v, (int, float, np.number, np.bool_)) for item in items for v in item):
        flags = all(v in (0, 1) for item in items for v in item)
        if flags and len({len(item) for item in items}) == 1 and any(len(set(item)) < len(item) for item in items):
            return "indicator"
        raise InvalidTarget(
            "y is a list of lists of numbers, which may be a matrix, rankings, label sets or pairs; say which with "
            "form='indicator' (0 and 1), 'ranks' (small is good), 'scores' (large is good), 'rankings', 'sets' or "
            "'pairs'"
        )
    raise InvalidTarget(
        "y is a list of lists, which may be rankings, label sets or pairs; "
        "say which with form='rankings', form='sets' or form='pairs'"
    )


def _guess_array(y: npt.NDArray[Any]) -> str:
    if y.ndim == 1 and y.dtype == object:
        if all(isinstance(item, str) for item in y):
            return _guess_words(list(y))
        if any(isinstance(item, (nx.Graph, AbstractSet, Mapping, list, tuple, np.ndarray)) for item in y):
            return _guess(list(y))
    if y.ndim == 1 and y.dtype.kind == "U":
        return _guess_words([str(word) for word in y])
    if y.ndim == 1 and y.dtype.kind in "biuSO":
        return "classes"
    if y.ndim == 1 and y.dtype.kind == "f":
        if bad := y[~np.isfinite(y)].tolist():
            raise InvalidTarget(f"y has the value {bad[0]!r}; every instance needs a class")
        if np.all(y == np.floor(y)):
            return "classes"
        raise InvalidTarget(
            f"y has the value {y[y != np.floor(y)][0]!r}, and classes are no fractions; continuous targets are not "
            "preferences, give form='classes' if these numbers are names"
        )
    if y.ndim == 2 and y.shape[1] == 1:
        raise InvalidTarget(
            f"y has the shape {y.shape}, a column of classes or the indicator of a single label? give y.ravel() or "
            "form='classes' for classes, form='indicator' for the other"
        )
    if y.ndim == 2 and y.dtype.kind in "biuf":
        if np.all((y == 0) | (y == 1)):
            return "indicator"
        raise InvalidTarget(
            "y is a matrix of numbers, which may be ranks or ratings; say which with form='ranks' (small is good) or "
            "form='scores' (large is good)"
        )
    raise InvalidTarget(
        f"y has the shape {y.shape} and type {y.dtype}; name its form with form=, one of {', '.join(FORMS)}"
    )


# -- one reader for each form: (y, labels) -> Preferences -----------------------------------------------------------


def _from_graphs(y: Any, labels: Labels) -> Preferences:
    return Preferences.from_graphs(y, labels)


def _from_notation(y: Any, labels: Labels) -> Preferences:
    texts = list(y)
    for i, text in enumerate(texts):
        if not isinstance(text, str):
            raise InvalidTarget(f"instance {i}: {text!r} is not a text; write the graph as in '[a|b,c]' or 'a>b, c'")
    return Preferences.from_graphs([parse(text, instance=i) for i, text in enumerate(texts)], labels)


def _from_classes(y: Any, labels: Labels) -> Preferences:
    names = _class_list(y)
    return _relevant(np.ones(len(names), np.int64), names, labels)


def _class_list(y: Any) -> list[Any]:
    """The class of each instance."""
    if isinstance(y, (list, tuple)) and not any(isinstance(v, (list, np.ndarray)) for v in y):
        return [_plain(v) for v in y]  # numpy would turn the numbers in a mixed list into text
    try:
        vector = np.asarray(y, object if isinstance(y, (list, tuple)) else None)
    except ValueError:  # arrays of several shapes
        raise InvalidTarget(
            "y is a list of arrays of several shapes; classes are one label for each instance"
        ) from None
    if vector.ndim == 2 and vector.shape[1] == 1:
        vector = vector[:, 0]
    if vector.ndim != 1:
        raise InvalidTarget(f"y has the shape {vector.shape}; classes are a vector, one label for each instance")
    return [_plain(v) for v in vector.tolist()]


def _from_sets(y: Any, labels: Labels) -> Preferences:
    sets = [_one_set(i, item) for i, item in enumerate(y)]
    return _relevant(np.array([len(s) for s in sets], np.int64), [v for s in sets for v in s], labels)


def _one_set(i: int, item: Any) -> list[Label]:
    if isinstance(item, (str, bytes, Mapping)) or not isinstance(item, Iterable) or getattr(item, "ndim", 1) != 1:
        raise InvalidTarget(f"instance {i}: {item!r} is not a set of labels; give a set or a list for each instance")
    return list(dict.fromkeys(check_label(_plain(v), i) for v in item))


def _plain(label: Any) -> Any:
    """A label as Python has it: not a scalar of numpy, which cannot be told from an int until it is printed."""
    return label.item() if isinstance(label, np.generic) else label


def _relevant(counts: IntVector, names: Sequence[Any], labels: Labels) -> Preferences:
    """Each relevant label beats each other one: so many names for each instance, one instance after the other."""
    offsets = starts(counts)
    for row, name in enumerate(names):
        if not isinstance(name, (str, int)):
            check_label(name, int(np.searchsorted(offsets, row, side="right")) - 1)
    index = label_index(labels if labels is not None else sort_labels(names))
    columns = np.array([index.get(v, -1) for v in names], np.int64)
    if (unknown := np.flatnonzero(columns < 0)).size:
        instance = int(np.searchsorted(offsets, unknown[0], side="right")) - 1
        raise unknown_label(names[unknown[0]], instance, index)
    ones = np.ones(len(names), np.int8)
    return Preferences.from_indicator(sparse.csr_array((ones, columns, offsets), (len(counts), len(index))), index)


def _from_indicator(y: Any, labels: Labels) -> Preferences:
    return Preferences.from_indicator(y if sparse.issparse(y) else _matrix(y, "indicator"), labels)


def _matrix(y: Any, form: str) -> npt.NDArray[Any]:
    """Y as a matrix of numbers."""
    try:
        matrix = np.asarray(y)
        matrix = matrix if matrix.dtype.kind in "biuf" else matrix.astype(np.float64)
    except (ValueError, TypeError):
        raise InvalidTarget(
            f"form={form!r} needs a matrix of numbers, and y is not one; give instances x labels"
        ) from None
    if matrix.ndim != 2:
        raise InvalidTarget(
            f"form={form!r} needs a matrix, and y has the shape {matrix.shape}; give instances x labels"
        )
    return matrix


def _number_matrix(y: Any, form: str, labels: Labels) -> npt.NDArray[np.float64]:
    """Y as a matrix of finite numbers and NaN, a column for each label."""
    matrix = _matrix(y, form).astype(np.float64)
    if labels is not None and len(labels) != matrix.shape[1]:
        raise InvalidTarget(f"y has {matrix.shape[1]} columns for {len(labels)} labels; give one label for each column")
    if np.any(infinite := np.isinf(matrix)):
        i, column = np.argwhere(infinite)[0]
        raise InvalidTarget(
            f"instance {i}: column {column} is {matrix[i, column].item()!r}; {form} are finite, NaN where there is none"
        )
    return matrix


def _from_rankings(y: Any, labels: Labels) -> Preferences:
    """Rankings become layer numbers, without a graph in between."""
    rankings = [_one_ranking(i, item) for i, item in enumerate(y)]
    index = label_index(labels if labels is not None else sort_labels(v for layers in rankings for v in layers))
    rows = GraphCollector(len(index))
    for i, layers in enumerate(rankings):
        if not layers.keys() <= index.keys():
            raise unknown_label(next(v for v in layers if v not in index), i, index)
        places = sorted((index[v], k) for v, k in layers.items())
        rows.add_layers(np.array([v for v, _ in places], np.int32), np.array([k for _, k in places], np.int32))
    return Preferences(index, *rows.arrays())


def _one_ranking(i: int, item: Any) -> dict[Label, int]:
    """The place of each label in a ranking, tied labels in one place."""
    if isinstance(item, (str, bytes, AbstractSet, Mapping)) or not isinstance(item, Iterable):
        raise InvalidTarget(
            f"instance {i}: {item!r} is not a ranking; give a list of labels, best first, for each instance"
        )
    layers: dict[Label, int] = {}
    groups = [group if isinstance(group, (list, tuple, set, frozenset)) else (group,) for group in item]
    for k, group in enumerate(group for group in groups if group):
        for v in group:
            label = check_label(_plain(v), i)
            if label in layers:
                raise InvalidTarget(f"instance {i}: label {label!r} stands twice; a label has one place in a ranking")
            layers[label] = k
    return layers


def _from_ranks(y: Any, labels: Labels) -> Preferences:
    """A rank matrix is a layer matrix once the ranks of each row are numbered."""
    ranks = _number_matrix(y, "ranks", labels)
    return Preferences.from_layer_matrix(rank_rows(ranks, np.isnan(ranks)), labels)


def _from_scores(y: Any, labels: Labels, tolerance: float) -> Preferences:
    """Ratings are ranks turned round; with a tolerance the pairs have to be listed."""
    scores = _number_matrix(y, "scores", labels)
    if tolerance == 0.0:
        return Preferences.from_layer_matrix(rank_rows(-scores, np.isnan(scores)), labels)
    names = list(range(scores.shape[1]) if labels is None else labels)
    graphs = [
        from_scores({v: s for v, s in zip(names, row, strict=True) if not np.isnan(s)}, tolerance, instance=i)
        for i, row in enumerate(scores.tolist())
    ]
    return Preferences.from_graphs(graphs, names)


def _from_pairs(y: Any, labels: Labels, on_contradiction: str) -> Preferences:
    graphs = []
    for i, votes in enumerate(y):
        if isinstance(votes, (str, bytes, Mapping)) or not isinstance(votes, Iterable):
            raise InvalidTarget(
                f"instance {i}: {votes!r} is not a list of pairs; give (preferred, other[, weight]) rows"
            )
        pairs = list(votes)
        if strange := [pair for pair in pairs if not hasattr(pair, "__len__")]:
            raise InvalidTarget(f"instance {i}: {strange[0]!r} is not a pair; give (preferred, other[, weight])")
        graphs.append(from_pairs(pairs, on_contradiction=on_contradiction, instance=i))
    return Preferences.from_graphs(graphs, labels)


def _with_hierarchy(
    y: Any,
    form: str,
    labels: Labels,
    hierarchy: LabelHierarchy,
    max_layers: int | None,
    weight: npt.ArrayLike | None,
) -> Preferences:
    """Label sets of whatever form, ordered by the hierarchy."""
    if form == "indicator":
        if labels is None:
            raise InvalidTarget("an indicator matrix with a hierarchy needs labels, the names of its columns")
        p = hierarchy.preferences(y if sparse.issparse(y) else _matrix(y, form), max_layers, columns=labels)
    else:
        sets = [_one_set(i, item) for i, item in enumerate(y)] if form == "sets" else [[v] for v in _class_list(y)]
        p = hierarchy.preferences(sets, max_layers)
        p = p if labels is None else p.with_labels(labels)
    return p if weight is None else p.with_weight(weight)


_READERS: dict[str, Callable[[Any, Labels], Preferences]] = {
    "graphs": _from_graphs,
    "notation": _from_notation,
    "classes": _from_classes,
    "indicator": _from_indicator,
    "sets": _from_sets,
    "rankings": _from_rankings,
    "ranks": _from_ranks,
}
FORMS = (*_READERS, "scores", "pairs")
