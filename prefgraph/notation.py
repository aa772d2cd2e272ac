"""Preference graphs as a line of text: ``[1,2|3,4,5]`` for layers, ``1>2, 2>3, 3>1`` for any other graph.

The grammar::

    text    = layers | edges
    layers  = "[" [group {"|" group}] "]"            best layer first                [AS05, section 2]
    group   = label {"," label}
    edges   = item {"," item}
    item    = label [">" label [":" weight]]         a label alone is isolated
    label   = word | integer | '"' JSON string '"'

``1`` is the int, ``"1"`` the str. A word may hold anything but ``[]|,>:"``; space around it is dropped.
"""

import json
import re
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, NamedTuple

import networkx as nx

from prefgraph._content import Label, finite, label_text
from prefgraph.errors import InvalidNotation

if TYPE_CHECKING:
    DiGraph = nx.DiGraph[Label]

__all__: list[str] = []  # users write parse(text) and format(graph)

_INTEGER = re.compile(r"0|-?[1-9][0-9]*")
_PLAIN_WORD = re.compile(r"[^\W\d][\w.\-]*")
_TOKEN = re.compile(
    r'\s*(?:(?P<mark>[\[\]|,>:])|(?P<quoted>"(?:[^"\\]|\\.)*")|(?P<word>[^\[\]|,>:"\s](?:[^\[\]|,>:"]*[^\[\]|,>:"\s])?))\s*'
)


class Notation(NamedTuple):
    """What a line of text says: layers, or else isolated labels and weighted edges."""

    layers: list[list[Label]] | None
    labels: list[Label]
    edges: list[tuple[Label, Label, float | None]]


def format_label(label: Label) -> str:
    """A label as notation writes it: bare where it can be read back as it is, else quoted.

    >>> format_label("oil"), format_label(1), format_label("1"), format_label("crude oil")
    ('oil', '1', '"1"', '"crude oil"')
    """
    text = label_text(label)
    if not isinstance(label, str):
        return text
    if _PLAIN_WORD.fullmatch(label):
        return str.__str__(label)
    return json.dumps(label, ensure_ascii=False) if label.isprintable() else text


def format_layers(layers: list[list[Label]], write: Callable[[Label], str] = format_label) -> str:
    """``[1,2|3]`` from layers, best first."""
    return "[" + "|".join(",".join(map(write, layer)) for layer in layers) + "]"


def format_edges(graph: "DiGraph", write: Callable[[Label], str] = format_label) -> str:
    """``1>2, 2>3:0.5, 4`` from a graph: edges with the weights that are not 1, then isolated labels."""
    items = []
    for init, term, weight in graph.edges.data("weight", default=1.0):
        number = finite(weight)
        end = "" if number == 1.0 else f":{weight if number is None else number!r}"
        items.append(f"{write(init)}>{write(term)}{end}")
    items += [write(v) for v in graph if not graph.degree(v)]
    return ", ".join(items)


def read_notation(text: str) -> Notation:
    """Layers or edges out of a line of text; see the grammar above."""
    if not isinstance(text, str):
        raise InvalidNotation(f"{text!r} is not text; notation is a str such as '[1,2|3]'")
    tokens = _Tokens(text)
    if tokens.accept("["):
        return Notation(_read_layers(tokens), [], [])
    return _read_edges(tokens)


def _read_layers(tokens: "_Tokens") -> list[list[Label]]:
    layers: list[list[Label]] = []
    if not tokens.accept("]"):
        while True:
            group = [tokens.label()]
            while tokens.accept(","):
                group.append(tokens.label())
            layers.append(group)
            if not tokens.accept("|"):
                break
        tokens.expect("]", "between two labels of a layer goes ',', between two layers '|', at the end ']'")
    tokens.expect_end()
    return layers


def _read_edges(tokens: "_Tokens") -> Notation:
    labels: list[Label] = []
    edges: list[tuple[Label, Label, float | None]] = []
    while True:
        init = tokens.label()
        if tokens.accept(">"):
            term = tokens.label()
            edges.append((init, term, tokens.weight() if tokens.accept(":") else None))
        else:
            labels.append(init)
        if not tokens.accept(","):
            break
    tokens.expect_end("write a chain as a>b, b>c, a total order as [a|b|c]")
    return Notation(None, labels, edges)


class _Tokens:
    """The tokens of a line, read one by one, with messages that point at the place."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.tokens = list(self._split())
        self.next = 0

    def _split(self) -> Iterator[tuple[str, str, int]]:
        place = 0
        while place < len(self.text):
            match = _TOKEN.match(self.text, place)
            if not match:
                rest = self.text[place:].lstrip()
                if not rest:
                    return
                raise self.error(len(self.text) - len(rest), "a quote is opened and not closed; close it with another")
            kind = str(match.lastgroup)
            yield kind, match[kind], match.start(kind)
            place = match.end()

    def error(self, place: int, rule: str) -> InvalidNotation:
        return InvalidNotation(f"{self.text!r}, character {place + 1}: {rule}")

    def peek(self) -> tuple[str, str, int]:
        return self.tokens[self.next] if self.next < len(self.tokens) else ("end", "", len(self.text))

    def accept(self, mark: str) -> bool:
        kind, value, _ = self.peek()
        found = kind == "mark" and value == mark
        self.next += found
        return found

    def expect(self, mark: str, rule: str) -> None:
        if not self.accept(mark):
            raise self.error(self.peek()[2], rule)

    def expect_end(self, advice: str = "nothing may follow") -> None:
        kind, value, place = self.peek()
        if kind != "end":
            raise self.error(place, f"{value!r} is one too many; {advice}")

    def label(self) -> Label:
        kind, value, place = self.peek()
        if kind == "end":
            raise self.error(place, "the text ends where a label is expected; add one")
        if kind == "mark":
            raise self.error(place, f"a label is expected, not {value!r}; put a label with such characters in quotes")
        self.next += 1
        if kind == "word":
            return int(value) if _INTEGER.fullmatch(value) else value
        try:
            return str(json.loads(value, strict=False))
        except ValueError:
            raise self.error(place, f"{value} is not a JSON string; write a backslash as \\\\") from None

    def weight(self) -> float:
        kind, value, place = self.peek()
        self.next += 1
        try:
            return float(value if kind == "word" else "")
        except ValueError:
            raise self.error(place, f"{value!r} is not a number; a weight follows ':' as in a>b:2.5") from None
