"""What a graph says, as text: labels and their order, canonical values and the content key.

Everything here works on plain labels and numbers, so that a networkx object, a compiled array and a stored row
get the same key from the same content.
"""

import hashlib
import json
import math
import re
from collections.abc import Hashable, Iterable, Mapping, Sequence
from numbers import Integral, Real
from typing import Any

import numpy as np

from prefgraph.errors import InvalidGraph, InvalidLabel, InvalidTarget, PrefGraphError

_HALF_A_CHARACTER = re.compile("[\ud800-\udfff]")

Label = Hashable
Edge = tuple[Label, Label]


def where(instance: object) -> str:
    """The start of a message about an instance: ``"instance 'd17': "``, or nothing where it is not known."""
    return "" if instance is None else f"instance {instance!r}: "


def as_list(things: Any, kind: str, instance: object = None, error: type[PrefGraphError] = InvalidGraph) -> list[Any]:
    """A list of what a caller gave as a collection; ``kind`` says of what."""
    try:
        items = iter(things)
    except TypeError:
        raise error(f"{where(instance)}{things!r} is not a collection of {kind}; put a single one in a list") from None
    return list(items)


def check_label(label: object, instance: object = None) -> Hashable:
    """Return the label if it can be a vertex: hashable, not None, equal to itself."""
    try:
        hash(label)
    except TypeError:
        raise InvalidLabel(
            f"{where(instance)}label {label!r} cannot be hashed; a label is a str, an int or another hashable"
        ) from None
    try:
        known = label is not None and bool(label == label)  # noqa: PLR0124 - NaN is no label, nor is pandas' NA
    except TypeError:
        known = False
    if not known:
        raise InvalidLabel(f"{where(instance)}{label!r} is not a label; a label is a str, an int or another hashable")
    return label


def finite(value: object) -> float | None:
    """A real number as a float; None for what is not one: NaN, infinite, beyond the largest float, text."""
    try:
        number = float(value) if isinstance(value, Real) else math.nan
    except OverflowError:
        return None
    return number if math.isfinite(number) else None


def check_weight(weight: object, init: object, term: object, instance: object = None) -> float:
    """Return the weight of an edge as a float, or raise unless it is a number, finite and positive."""
    number = None if isinstance(weight, bool) else finite(weight)
    if number is not None and number > 0.0:
        return number
    raise InvalidGraph(
        f"{where(instance)}the edge from {init!r} to {term!r} has weight {weight!r}; a weight is a finite number "
        "above 0, leave the edge out where nothing was said"
    )


def total(weights: Iterable[float], what: str, instance: object = None) -> float:
    """The sum of weights, rounded once, so that their order does not count; ``what`` names them in the message."""
    try:
        return math.fsum(weights)
    except OverflowError:
        raise InvalidGraph(
            f"{where(instance)}the weights of the {what} add up to more than the largest float; a sum of weights is "
            "finite, so divide all of them by the same number"
        ) from None


def label_text(label: object) -> str:
    """Canonical text of a label, with its type: ``'"1"'`` for the str, ``'1'`` for the int.

    >>> label_text("1"), label_text(1)
    ('"1"', '1')
    """
    if isinstance(label, str):
        if _HALF_A_CHARACTER.search(label):
            raise InvalidLabel(
                f"label {label!r} holds half of a surrogate pair, which no file can hold; repair the text first"
            )
        return json.dumps(label)
    if isinstance(label, Integral) and not isinstance(label, bool):
        return str(int(label))
    raise InvalidLabel(
        f"label {label!r} is a {type(label).__name__}; labels are str or int where they are keyed or saved, so map it "
        "to one of these first"
    )


def sort_labels(labels: Iterable[Label]) -> list[Label]:
    """Labels without repetition: ints ascending, then strs ascending, then all others as they first appear.

    >>> sort_labels(["b", 10, "a", 9, "b"])
    [9, 10, 'a', 'b']
    """
    unique = list(dict.fromkeys(labels))
    numbers = sorted(v for v in unique if isinstance(v, (Integral, float, np.floating)))
    texts = sorted(v for v in unique if isinstance(v, str))
    others = [v for v in unique if not isinstance(v, (Integral, float, np.floating, str))]
    return [*numbers, *texts, *others]


def label_index(labels: Iterable[Label]) -> dict[Label, int]:
    """Label -> position, for labels that are distinct."""
    ordered = [check_label(v) for v in as_list(labels, "labels", error=InvalidTarget)]
    index = {v: k for k, v in enumerate(ordered)}
    if len(index) < len(ordered):
        twice = next(v for k, v in enumerate(ordered) if index[v] != k)
        raise InvalidTarget(f"label {twice!r} is listed twice; the labels of an index are distinct")
    return index


def unknown_label(label: Label, instance: object, index: Iterable[Label]) -> InvalidTarget:
    """The error about a label that an instance has and the index has not."""
    index = list(index)
    known = ", ".join(map(repr, index[:10])) + (" ..." if len(index) > 10 else "")
    return InvalidTarget(f"instance {instance!r}: label {label!r} is not among the labels {known}; add it to labels")


def canonical_value(value: object, place: str) -> Any:
    """An edge attribute as plain JSON data; ``place`` names it in the message where that cannot be."""
    if value is None:
        return None
    if isinstance(value, str) and not _HALF_A_CHARACTER.search(value):
        return str.__str__(value)
    if isinstance(value, (bool, np.bool_)):
        return bool(value)
    if isinstance(value, Integral):
        return int(value)
    if (number := finite(value)) is not None:
        return number
    if isinstance(value, np.ndarray):
        value = value.tolist()
    if isinstance(value, (list, tuple)):
        return [canonical_value(v, place) for v in value]
    if isinstance(value, Mapping) and all(isinstance(k, str) for k in value):
        return {canonical_value(k, place): canonical_value(v, place) for k, v in value.items()}
    raise InvalidGraph(
        f"{place} is {value!r} of type {type(value).__name__}; what is keyed or saved is text, a bool, a finite "
        "number, or lists and dicts of these, so turn it into one (a date by isoformat())"
    )


def plain_text(value: object) -> Any:
    """JSON text of plain data, for a comparison in which 1, 1.0 and True differ; anything else as it is."""
    try:
        return json.dumps(canonical_value(value, ""), sort_keys=True)
    except InvalidGraph:
        return value


def said(data: Mapping[str, Any]) -> dict[str, Any]:
    """The attributes of an edge beside its weight. A value of None says nothing and is left out."""
    return {k: v for k, v in data.items() if k != "weight" and v is not None}


def attributes_text(data: Mapping[str, Any], init: object, term: object) -> str:
    """Canonical text of an edge's attributes; empty where there are none."""
    attributes = said(data)
    if not attributes:
        return ""
    place = f"the edge from {init!r} to {term!r}: "
    if strange := [k for k in attributes if not isinstance(k, str)]:
        raise InvalidGraph(f"{place}an attribute is named {strange[0]!r}; names are str where they are keyed or saved")
    plain = {
        canonical_value(k, place + "a name"): canonical_value(v, f"{place}attribute {k!r}")
        for k, v in attributes.items()
    }
    return json.dumps(plain, sort_keys=True, separators=(",", ":"))


def layers_key(layers: Iterable[Iterable[str]]) -> str:
    """Content key of a layered graph with unit weights, from the label texts of its layers, best first."""
    return _digest('["layers",[' + ",".join("[" + ",".join(sorted(layer)) + "]" for layer in layers) + "]]")


def edges_key(vertices: Iterable[str], edges: Sequence[tuple[str, str, float, str]]) -> str:
    """Content key of any other graph, from label texts and ``(init, term, weight, attributes text)`` rows."""
    rows = (f"[{init},{term},{weight!r},{said or '{}'}]" for init, term, weight, said in sorted(edges))
    return _digest('["edges",[' + ",".join(sorted(vertices)) + "],[" + ",".join(rows) + "]]")


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode("ascii")).hexdigest()
