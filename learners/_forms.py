"""The forms of a target: read once on the way in, and used again on the way out, so that predict answers in kind."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from collections.abc import Set as AbstractSet
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
from scipy import sparse
from sklearn.utils import assert_all_finite, column_or_1d
from sklearn.utils.multiclass import check_classification_targets

from prefgraph import InvalidTarget, Preferences, as_preferences

Labels = npt.NDArray[Any]
Scores = npt.NDArray[np.floating[Any]]

CLASSES, INDICATOR, SPARSE, SETS, GRAPHS = "classes", "indicator", "sparse indicator", "sets", "graphs"
SAMPLE = 20_000  # rows that are enough to place a threshold


class Target(NamedTuple):
    """A target as the learners see it: its graphs, the labels of its columns as an array, and the form it came in."""

    preferences: Preferences
    labels: Labels
    form: str


def read_target(y: Any, labels: Iterable[Any] | None = None) -> Target:
    """The target of a fit. ``labels`` fixes the columns; by default those that occur, sorted."""
    if y is None:
        raise InvalidTarget(
            "requires y to be passed, but the target y is None; give a target for each row of X, or a data set alone"
        )
    fixed = None if labels is None else list(labels)
    form, y = _form(y)
    if form == CLASSES and fixed is None:
        names = np.unique(y)
        p = as_preferences(y, labels=names.tolist())
        return Target(p, names, form)
    p = as_preferences(y, labels=fixed)
    return Target(p, label_array(p.labels), form)


def aligned(y: Any, labels: Labels) -> Preferences:
    """The target of a score over the labels of a fitted model; a label that the model does not know is an error."""
    known = labels.tolist()
    form, y = _form(y)
    if form in (INDICATOR, SPARSE):
        if y.shape[1] != len(known):
            raise InvalidTarget(
                f"y has {y.shape[1]} columns and the model {len(known)} labels; give a column for each of labels_"
            )
        return as_preferences(y, labels=known)
    p = as_preferences(y)
    place = set(known)
    unseen = [label for label in p.labels if label not in place]
    if unseen and form == GRAPHS:  # an index may have labels that no graph has
        vertices = _vertices(p)
        unseen = [label for label in unseen if label in vertices]
    if unseen:
        shown = ", ".join(map(repr, known[:10])) + (" ..." if len(known) > 10 else "")
        raise InvalidTarget(
            f"y has the label {unseen[0]!r}, which is no label or class that the model was fitted on ({shown}); leave "
            "such instances out, or fit on as_preferences(y, labels=...) with all labels"
        )
    return p.with_labels(known) if form == GRAPHS else as_preferences(y, labels=known)


def _vertices(p: Preferences) -> set[Any]:
    """The labels that are a vertex of some graph."""
    distinct = Preferences(p.labels, np.arange(p.n_graphs, dtype=np.int32), p.layer, p.table)
    return {p.labels[v] for v in np.unique(distinct.vertex_lists()[1])}


def is_classes(y: Any) -> bool:
    """Whether a target is a vector of classes."""
    return _form(y)[0] == CLASSES


def _form(y: Any) -> tuple[str, Any]:
    """The form of a target, and the target as an array or as it is."""
    if isinstance(y, Preferences) or isinstance(getattr(y, "preferences", None), Preferences):
        return GRAPHS, y
    if sparse.issparse(y):
        return SPARSE, y
    if isinstance(y, Sequence) and not isinstance(y, str) and any(not _is_scalar(item) for item in y):
        if all(isinstance(item, AbstractSet) for item in y):
            return SETS, y
        if any(not isinstance(item, (list, tuple, np.ndarray)) for item in y):
            return GRAPHS, y  # graphs, or a mixture that as_preferences refuses by name
        as_preferences(y)  # a list of lists may mean several things: the same rule, the same words
        return INDICATOR, np.asarray(y)
    if not isinstance(y, Sequence) and not hasattr(y, "__array__"):
        return GRAPHS, y
    array = np.asarray(y)
    if array.dtype.kind == "U" and isinstance(y, Sequence) and not all(isinstance(item, str) for item in y):
        array = np.array(y, object)  # numpy has made text of the numbers in a mixed list
    if array.ndim == 2 and array.shape[1] != 1:
        return INDICATOR, array
    if array.ndim == 1 and array.dtype == object and any(not _is_scalar(item) for item in array):
        return _form(list(array))
    return CLASSES, _class_vector(array)


def _is_scalar(item: Any) -> bool:
    return isinstance(item, (str, bytes, int, float, np.generic)) or (
        np.ndim(item) == 0 and not hasattr(item, "__len__")
    )


def _class_vector(y: npt.NDArray[Any]) -> npt.NDArray[Any]:
    vector: npt.NDArray[Any] = column_or_1d(y, warn=True)
    if vector.dtype.kind == "f":
        assert_all_finite(vector, input_name="y")
    try:
        check_classification_targets(vector)
    except TypeError:
        kinds = ", ".join(sorted({type(item).__name__ for item in vector}))
        raise InvalidTarget(
            f"y has classes of the types {kinds}; the classes of a vector have one order, else give as_preferences(y)"
        ) from None
    except ValueError as error:
        raise InvalidTarget(
            f"{error} A vector is read as classes; as_preferences(y, form=...) reads the rest"
        ) from None
    return vector


def label_array(labels: Iterable[Any]) -> Labels:
    """Labels as a vector: of text, of integers, or of objects where they are neither."""
    names = list(labels)
    for kind in (str, bool, int):
        if names and all(type(name) is kind for name in names):
            try:
                return np.array(names)
            except OverflowError:
                break
    array = np.empty(len(names), object)
    for k, name in enumerate(names):
        array[k] = name
    return array


def threshold(p: Preferences, scores: Scores) -> float:
    """The score above which a label is taken to be relevant: the one that makes the fewest mistakes in training.

    Mistakes are relevant labels below it and irrelevant ones above it, by the weight of the instance. Instances without
    edges do not say which of their labels are relevant, and do not count.
    """
    layer = p.layer[p.graph_index]
    counted = (layer >= 0) & (p.edge_counts() > 0)[:, np.newaxis]
    score, relevant = scores[counted], layer[counted] == 0
    weight = np.broadcast_to(p.weight[:, np.newaxis], layer.shape)[counted]
    if not score.size:
        return 0.0
    order = np.argsort(-score, kind="stable")
    score, signed = score[order].astype(np.float64), np.where(relevant, weight, -weight)[order]
    gain = np.concatenate([[0.0], np.cumsum(signed)])  # relevant minus irrelevant labels above the cut
    above, below = np.concatenate([[score[0] + 1.0], score]), np.concatenate([score, [score[-1] - 1.0]])
    gain[above == below] = -np.inf  # equal scores cannot be told apart
    cut = int(np.argmax(gain.round(9)))
    return float((above[cut] + below[cut]) / 2)


def answer(form: str, labels: Labels, scores: Scores, cut: float) -> Any:
    """What a model says of each row, in the form of the target that it was fitted on."""
    if form == CLASSES:
        return labels[np.argmax(scores, axis=1)]
    if form == INDICATOR:
        return (scores > cut).astype(np.int64)
    if form == SPARSE:
        return sparse.csr_array(scores > cut).astype(np.int64)
    if form == SETS:
        return [set(labels[row > cut].tolist()) for row in scores]
    place = np.empty(scores.shape, np.int32)
    np.put_along_axis(place, best_first(scores), np.arange(scores.shape[1], dtype=np.int32)[np.newaxis], axis=1)
    return Preferences.from_layer_matrix(place, labels=labels.tolist())


def best_first(scores: Scores) -> npt.NDArray[np.intp]:
    """Columns by falling score; equal scores in the order of the columns."""
    return np.argsort(-scores, axis=1, kind="stable")
