"""as_preferences: the one door from what people call a target to `Preferences`."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from typing import Any

import networkx as nx
import numpy as np
import numpy.typing as npt
from scipy import sparse

from prefgraph._content import Label, check_label, sort_labels
from prefgraph.builders import from_pairs, from_scores, parse
from prefgraph.compiled import Preferences
from prefgraph.errors import InvalidTarget, check_option
from prefgraph.hierarchy import LabelHierarchy

__all__ = ["FORMS", "as_preferences"]

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
        The label index, in the order of the columns of a score matrix. By default the labels that occur, sorted (for a
        matrix 0, 1, 2 ...). Graphs keep their own vertices; label sets and classes are read against all labels.
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
        For pairs: the policy of `from_pairs`.
    tolerance
        For scores: differences up to this one are ties, as in `from_scores`.

    Raises
    ------
    InvalidTarget
        ``y`` could mean several things, or breaks its form; the message names the instance and the way out.

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
    if hasattr(y, "preferences"):
        y = y.preferences
    if isinstance(y, Preferences):
        return _again(y, labels, weight, form, hierarchy)
    if form is None:
        form = _guess(y)
    check_option("form", form, FORMS)
    if hierarchy is not None:
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


def _guess(y: Any) -> str:
    """The form of y where it cannot be mistaken."""
    if sparse.issparse(y):
        return "indicator"
    if isinstance(y, np.ndarray) or hasattr(y, "__array__"):
        return _guess_array(np.asarray(y))
    if isinstance(y, (str, bytes, Mapping)) or not isinstance(y, Iterable):
        raise InvalidTarget(f"y is a {type(y).__name__}; it is one target for each instance, in a list or an array")
    items = list(y) if isinstance(y, Sequence) else None
    if items is None:
        raise InvalidTarget(f"y is a {type(y).__name__}, which can be read once only; give a list or an array")
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
    """Lists of numbers may be a matrix of 0 and 1; everything else is ambiguous."""
    kinds = {type(item).__name__ for item in items}
    if not any(isinstance(item, (AbstractSet, nx.Graph, Mapping)) for item in items):
        numeric = all(
            isinstance(v, (int, float, np.number, np.bool_)) for item in items for v in np.atleast_1d(item).flat
        )
        if numeric and len({len(np.atleast_1d(item)) for item in items}) == 1:
            return _guess_array(np.asarray(items))
        raise InvalidTarget(
            "y is a list of lists, which may be rankings, label sets or pairs; "
            "say which with form='rankings', form='sets' or form='pairs'"
        )
    raise InvalidTarget(f"y mixes {', '.join(sorted(kinds))}; all targets must be of one form, named by form=")


def _guess_array(y: npt.NDArray[Any]) -> str:
    if y.ndim == 1 and y.dtype == object:
        if all(isinstance(item, str) for item in y):
            return _guess_words(list(y))
        if any(isinstance(item, (nx.Graph, AbstractSet, list, tuple, np.ndarray)) for item in y):
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


def _from_graphs(y: Any, labels: Iterable[Label] | None) -> Preferences:
    graphs = list(y)
    for i, graph in enumerate(graphs):
        if not isinstance(graph, nx.Graph):
            raise InvalidTarget(f"instance {i}: {graph!r} is not a graph; give PreferenceGraph or nx.DiGraph objects")
    return Preferences.from_graphs(graphs, labels)


def _from_notation(y: Any, labels: Iterable[Label] | None) -> Preferences:
    return Preferences.from_graphs([parse(text, instance=i) for i, text in enumerate(y)], labels)


def _from_classes(y: Any, labels: Iterable[Label] | None) -> Preferences:
    rows, columns, index = _coded(_class_lists(y), labels)
    return Preferences.from_indicator(_indicator(rows, columns, len(np.asarray(y)), len(index)), index)


def _class_lists(y: Any) -> tuple[IntVector, Sequence[Any]]:
    """(instance of each class, class), one class for each instance."""
    vector = np.asarray(y) if not isinstance(y, np.ndarray) else y
    if vector.ndim == 2 and vector.shape[1] == 1:
        vector = vector[:, 0]
    if vector.ndim != 1:
        raise InvalidTarget(f"y has the shape {vector.shape}; classes are a vector, one label for each instance")
    if isinstance(y, (list, tuple)) and vector.dtype.kind in "US" and not all(isinstance(v, str) for v in y):
        return np.arange(len(y)), list(y)  # numpy would turn the numbers in a mixed list into text
    return np.arange(len(vector)), vector.tolist()


def _set_lists(y: Any) -> tuple[IntVector, Sequence[Any]]:
    """(instance of each relevant label, label)."""
    sets = [_one_set(i, item) for i, item in enumerate(y)]
    return np.repeat(np.arange(len(sets)), [len(s) for s in sets]), [v for s in sets for v in s]


def _one_set(i: int, item: Any) -> list[Label]:
    if isinstance(item, (str, bytes)) or not isinstance(item, Iterable):
        raise InvalidTarget(f"instance {i}: {item!r} is not a set of labels; give a set or a list for each instance")
    return list(dict.fromkeys(check_label(v, i) for v in item))


def _from_sets(y: Any, labels: Iterable[Label] | None) -> Preferences:
    rows, columns, index = _coded(_set_lists(y), labels)
    return Preferences.from_indicator(_indicator(rows, columns, len(y), len(index)), index)


def _coded(
    lists: tuple[IntVector, Sequence[Any]], labels: Iterable[Label] | None
) -> tuple[IntVector, IntVector, list[Label]]:
    """(instance, column, labels) of instance-label pairs."""
    rows, names = lists
    index = list(labels) if labels is not None else sort_labels(names)
    place = {v: k for k, v in enumerate(index)}
    columns = np.array([place.get(v, -1) for v in names], np.int64)
    if (unknown := np.flatnonzero(columns < 0)).size:
        first = int(unknown[0])
        known = ", ".join(map(repr, index[:10])) + (" ..." if len(index) > 10 else "")
        raise InvalidTarget(
            f"instance {rows[first]}: label {names[first]!r} is not among the labels {known}; add it to labels"
        )
    return rows, columns, index


def _indicator(rows: IntVector, columns: IntVector, m: int, n_labels: int) -> sparse.csr_array[Any, tuple[int, int]]:
    return sparse.csr_array((np.ones(len(rows), np.int8), (rows, columns)), shape=(m, n_labels))


def _from_indicator(y: Any, labels: Iterable[Label] | None) -> Preferences:
    return Preferences.from_indicator(y if sparse.issparse(y) else _number_matrix(y, "indicator"), labels)


def _number_matrix(y: Any, form: str) -> npt.NDArray[Any]:
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


def _from_rankings(y: Any, labels: Iterable[Label] | None) -> Preferences:
    """Rankings become rows of layer numbers, without a graph in between."""
    rankings = [[_group(g) for g in _one_ranking(i, item)] for i, item in enumerate(y)]
    index = list(labels) if labels is not None else sort_labels(v for groups in rankings for g in groups for v in g)
    place = {v: k for k, v in enumerate(index)}
    layer = np.full((len(rankings), len(index)), -1, np.int32)
    for i, groups in enumerate(rankings):
        for k, group in enumerate(groups):
            for v in group:
                column = place.get(check_label(v, i))
                if column is None:
                    known = ", ".join(map(repr, index[:10])) + (" ..." if len(index) > 10 else "")
                    raise InvalidTarget(f"instance {i}: label {v!r} is not among the labels {known}; add it to labels")
                if layer[i, column] >= 0:
                    raise InvalidTarget(f"instance {i}: label {v!r} stands twice; a label has one place in a ranking")
                layer[i, column] = k
    return Preferences.from_layer_matrix(layer, index)


def _one_ranking(i: int, item: Any) -> Iterable[Any]:
    if isinstance(item, (str, bytes, AbstractSet, Mapping)) or not isinstance(item, Iterable):
        raise InvalidTarget(
            f"instance {i}: {item!r} is not a ranking; give a list of labels, best first, for each instance"
        )
    return item


def _group(item: Any) -> list[Any]:
    return list(item) if isinstance(item, (list, tuple, set, frozenset)) else [item]


def _from_ranks(y: Any, labels: Iterable[Label] | None) -> Preferences:
    """A rank matrix is a layer matrix once its values are numbered."""
    ranks = _number_matrix(y, "ranks")
    missing = np.isnan(ranks) if ranks.dtype.kind == "f" else np.zeros(ranks.shape, bool)
    values, codes = np.unique(np.where(missing, ranks[~missing].min(initial=0), ranks), return_inverse=True)
    if values.size and not np.all(np.isfinite(values)):
        raise InvalidTarget("a rank is infinite; ranks are finite, NaN where a label is not ranked")
    layer = np.where(missing, -1, codes.reshape(ranks.shape)).astype(np.int32)
    return Preferences.from_layer_matrix(layer, labels)


def _from_scores(y: Any, labels: Iterable[Label] | None, tolerance: float) -> Preferences:
    """Ratings are ranks turned round; with a tolerance the pairs have to be listed."""
    scores = _number_matrix(y, "scores").astype(np.float64)
    if np.isinf(scores).any():
        raise InvalidTarget("a score is infinite; scores are finite, NaN where a label is not rated")
    if tolerance == 0.0:
        return _from_ranks(-scores, labels)
    names = list(range(scores.shape[1]) if labels is None else labels)
    if len(names) != scores.shape[1]:
        raise InvalidTarget(f"y has {scores.shape[1]} columns for {len(names)} labels; give one label for each column")
    graphs = [
        from_scores({v: s for v, s in zip(names, row, strict=True) if not np.isnan(s)}, tolerance, instance=i)
        for i, row in enumerate(scores.tolist())
    ]
    return Preferences.from_graphs(graphs, names)


def _from_pairs(y: Any, labels: Iterable[Label] | None, on_contradiction: str) -> Preferences:
    graphs = [from_pairs(pairs, on_contradiction=on_contradiction, instance=i) for i, pairs in enumerate(y)]
    return Preferences.from_graphs(graphs, labels)


def _with_hierarchy(
    y: Any,
    form: str,
    labels: Iterable[Label] | None,
    hierarchy: LabelHierarchy,
    max_layers: int | None,
    weight: npt.ArrayLike | None,
) -> Preferences:
    """Label sets of whatever form, ordered by the hierarchy."""
    if form == "indicator":
        if labels is None:
            raise InvalidTarget("an indicator matrix with a hierarchy needs labels, the names of its columns")
        p = hierarchy.preferences(y if sparse.issparse(y) else _number_matrix(y, form), max_layers, columns=labels)
    else:
        sets = [_one_set(i, item) for i, item in enumerate(y)] if form == "sets" else [{v} for v in _class_lists(y)[1]]
        p = hierarchy.preferences(sets, max_layers)
        p = p if labels is None else p.with_labels(labels)
    return p if weight is None else p.with_weight(weight)


_READERS: dict[str, Callable[[Any, Iterable[Label] | None], Preferences]] = {
    "graphs": _from_graphs,
    "notation": _from_notation,
    "classes": _from_classes,
    "indicator": _from_indicator,
    "sets": _from_sets,
    "rankings": _from_rankings,
    "ranks": _from_ranks,
}
FORMS = (*_READERS, "scores", "pairs")
