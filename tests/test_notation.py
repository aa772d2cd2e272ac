"""Notation: what is written is read back, what cannot be read is shown with its place."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import prefgraph as pg
from prefgraph import InvalidGraph, InvalidLabel, InvalidNotation, PreferenceGraph
from prefgraph.notation import format_label, read_notation
from tests.strategies import ODD_TEXTS, labels, layered_graphs, preference_graphs


@given(graph=preference_graphs(labels(), weights=True))
def test_a_graph_is_read_back_from_its_text(graph):
    again = pg.parse(str(graph))
    assert again == graph
    assert again.key == graph.key


@given(drawn=layered_graphs(labels()))
def test_a_layered_graph_is_written_in_brackets_and_read_back(drawn):
    graph, _ = drawn
    assert str(graph)[0] == "["
    assert pg.parse(str(graph)) == graph
    assert pg.parse(str(graph)).layers() == graph.layers()


@given(graph=preference_graphs(labels(), weights=True))
def test_the_text_is_one_printable_line(graph):
    assert str(graph).isprintable()


@given(label=labels())
def test_a_label_is_read_back_with_its_type(label):
    (again,) = pg.parse(format_label(label))
    assert again == label
    assert type(again) is type(label)


@pytest.mark.parametrize("text", ODD_TEXTS)
def test_texts_with_marks_of_the_notation_are_quoted(text):
    graph = PreferenceGraph([(text, "x"), ("x", 1)])
    assert pg.parse(str(graph)) == graph
    assert list(pg.parse(f"[{format_label(text)}]")) == [text]


@pytest.mark.parametrize(
    ("label", "text"),
    [("oil", "oil"), ("é.x-1_", "é.x-1_"), (1, "1"), (-7, "-7"), ("1", '"1"'), ("crude oil", '"crude oil"'), ("", '""'),
     ("a\nb", r'"a\nb"'), ('"', r'"\""'), ("😀", '"😀"'), ("\u2028é", r'"\u2028\u00e9"'), (np.int64(3), "3"),
     (np.str_("a"), "a")],
)  # fmt: skip
def test_labels_are_bare_where_they_can_be(label, text):
    assert format_label(label) == text


@pytest.mark.parametrize(
    ("text", "layers"),
    [
        ("[]", []),
        ("[ ]", []),
        ("[1]", [[1]]),
        (" [ 1 , 2 | 3 ] ", [[1, 2], [3]]),
        ("[crude oil|-3|007|-0|+1|0]", [["crude oil"], [-3], ["007"], ["-0"], ["+1"], [0]]),
        ('["1"|"a,b", "\\u00e9"]', [["1"], ["a,b", "é"]]),
        ('["a\tb"]', [["a\tb"]]),
        ("[été.|x-1|½]", [["été."], ["x-1"], ["½"]]),
    ],
)
def test_brackets_are_layers(text, layers):
    assert pg.parse(text).layers() == layers


@pytest.mark.parametrize(
    ("text", "edges", "isolated"),
    [
        ("a", [], ["a"]),
        (" a > b ", [("a", "b", None)], []),
        ("a>b:2.5,b>c:1e-3 , d", [("a", "b", 2.5), ("b", "c", 0.001)], ["d"]),
        ("1>2, 2>3, 3>1", [(1, 2, None), (2, 3, None), (3, 1, None)], []),
        ('"a>b:2">"":3', [("a>b:2", "", 3.0)], []),
    ],
)
def test_a_list_of_edges_has_weights_and_isolated_labels(text, edges, isolated):
    assert read_notation(text) == (None, isolated, edges)


@pytest.mark.parametrize(
    ("text", "place", "rule"),
    [
        ("", 1, "the text ends where a label is expected; add one"),
        ("   ", 4, "the text ends where a label is expected"),
        ("a>", 3, "the text ends where a label is expected"),
        ("a,", 3, "the text ends where a label is expected"),
        ("[", 2, "the text ends where a label is expected"),
        (">b", 1, "a label is expected, not '>'; put a label with such characters in quotes"),
        ("a>>b", 3, "a label is expected, not '>'"),
        ("[|1]", 2, r"a label is expected, not '\|'"),
        ("[1||2]", 4, r"a label is expected, not '\|'"),
        ("[1,]", 4, r"a label is expected, not '\]'"),
        ("[1|2", 5, r"between two labels of a layer goes ',', between two layers '\|', at the end '\]'"),
        ("[1>2]", 3, "between two labels of a layer goes ','"),
        ('[a "b"]', 4, "between two labels of a layer goes ','"),
        ("[1|2] 3", 7, "'3' is one too many; nothing may follow"),
        ("[1]]", 4, r"'\]' is one too many"),
        ("a>b>c", 4, r"'>' is one too many; write a chain as a>b, b>c, a total order as \[a\|b\|c\]"),
        ("a|b", 2, r"'\|' is one too many"),
        ("a:2", 2, "':' is one too many"),
        ('a>"b', 3, "a quote is opened and not closed; close it with another"),
        ('a >  "b', 6, "a quote is opened and not closed"),
        ('  "', 3, "a quote is opened and not closed"),
        (r'"\x"', 1, "is not a JSON string; write a backslash as"),
        ("a>b:", 5, "'' is not a number; a weight follows ':' as in a>b:2.5"),
        ("a>b:heavy", 5, "'heavy' is not a number"),
        ('a>b:"2"', 5, "is not a number"),
        ("a>b:>", 5, "'>' is not a number"),
    ],
)  # fmt: skip
def test_what_breaks_the_grammar_is_shown_with_its_place(text, place, rule):
    with pytest.raises(InvalidNotation, match=f", character {place}: .*{rule}") as caught:
        pg.parse(text)
    assert str(caught.value).startswith(repr(text))


@given(text=st.text('ab1 ,|>:[]"\\', max_size=12))
def test_any_text_is_a_graph_or_an_error_that_names_it(text):
    graph = problem = None
    try:
        graph = pg.parse(text)
    except (InvalidNotation, InvalidGraph) as error:
        problem = error
    if isinstance(problem, InvalidNotation):
        assert repr(text) in str(problem)
    elif problem is None:
        assert pg.parse(str(graph)) == graph
    else:  # the grammar is kept, the rule is not
        assert "preferred" in str(problem) or "stands twice" in str(problem) or "weight" in str(problem)


@pytest.mark.parametrize("text", [None, 5, b"[1]", ["a>b"]])
def test_notation_is_text(text):
    with pytest.raises(InvalidNotation, match=r"is not text; notation is a str such as '\[1,2\|3\]'"):
        pg.parse(text)


@pytest.mark.parametrize("label", [1.5, True, (1, 2), math.inf, "\ud800"])
def test_a_label_that_notation_cannot_write_is_refused(label):
    with pytest.raises(InvalidLabel, match="label"):
        format_label(label)
