"""Forms of targets: what is recognised, and the threshold behind answers in the form of label sets."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse

import prefgraph as pg
from learners import _forms

A_GRAPH = pg.PreferenceGraph([("a", "b")])


@pytest.mark.parametrize(
    ("y", "form", "labels"),
    [
        (["b", "a", "b"], "classes", ["a", "b"]),
        (np.array([2, 0, 2]), "classes", [0, 2]),
        (np.array([True, False]), "classes", [False, True]),
        (np.array([1.0, 2.0]), "classes", [1.0, 2.0]),
        (np.array(["b", "a"], dtype=object), "classes", ["a", "b"]),
        ([[1, 0, 0], [0, 1, 1]], "indicator", [0, 1, 2]),
        (np.eye(3), "indicator", [0, 1, 2]),
        (sparse.csr_matrix(np.eye(3)), "sparse indicator", [0, 1, 2]),
        ([{"a"}, {"b", "c"}], "sets", ["a", "b", "c"]),
        ([A_GRAPH, A_GRAPH], "graphs", ["a", "b"]),
        (np.array([{"b"}, {"a", "b"}], dtype=object), "sets", ["a", "b"]),
        (pg.as_preferences([A_GRAPH]), "graphs", ["a", "b"]),
    ],
)
def test_a_form_is_recognised_with_its_labels(y, form, labels):
    target = _forms.read_target(y)
    assert (target.form, target.labels.tolist()) == (form, labels)
    assert len(target.preferences) == (y.shape[0] if hasattr(y, "shape") else len(y))
    assert _forms.aligned(y, target.labels) == target.preferences


@pytest.mark.parametrize(
    ("y", "message"),
    [
        (None, "y to be passed"),
        ([["a", "b"], ["c"]], "form='rankings'"),
        (["[a|b]", "[b|a]"], "form='notation'"),
        (np.array([0.5, 1.5]), "Unknown label type: continuous"),
        (np.array([[1, 2], [2, 1]]), "form='ranks'"),
        ([A_GRAPH, {"a"}], "mixes"),
        (["a", 1, "a"], "classes of the types int, str"),
        (7, "y is a int"),
    ],
)
def test_what_could_mean_several_things_is_refused(y, message):
    with pytest.raises(pg.InvalidTarget, match=message):
        _forms.read_target(y)


def test_an_unknown_label_that_no_graph_has_does_not_matter():
    p = pg.as_preferences([A_GRAPH], labels="abz")
    assert _forms.aligned(p, np.array(["b", "a"])).labels == ("b", "a")
    with pytest.raises(pg.InvalidTarget, match="'b', which is no label"):
        _forms.aligned(p, np.array(["a", "c"]))


def test_labels_of_several_types_stay_themselves():
    names = _forms.label_array(["a", 1, (2, 3)])
    assert names.tolist() == ["a", 1, (2, 3)]
    assert names.dtype == object
    assert _forms.label_array([2**70, 1]).tolist() == [2**70, 1]


def naive_mistakes(p, scores, cut):
    """Relevant labels at or below the cut and irrelevant ones above it, by weight."""
    total = 0.0
    for graph, row, weight in zip(p, scores, p.weight, strict=True):
        for label, score in zip(p.labels, row, strict=True):
            if graph.number_of_edges():
                total += weight * ((label in graph.layers()[0]) != (score > cut))
    return total


@given(data=st.data(), m=st.integers(1, 6), n_labels=st.integers(2, 4))
def test_no_other_threshold_makes_fewer_mistakes(data, m, n_labels):
    bits = st.lists(st.integers(0, 1), min_size=n_labels, max_size=n_labels)
    p = pg.Preferences.from_indicator(np.array([data.draw(bits) for _ in range(m)]))
    p = p.with_weight(data.draw(st.lists(st.sampled_from([1.0, 2.0, 0.5]), min_size=m, max_size=m)))
    values = st.sampled_from([-1.0, 0.0, 0.5, 2.0])
    scores = np.array([[data.draw(values) for _ in range(n_labels)] for _ in range(m)])
    found = naive_mistakes(p, scores, _forms.threshold(p, scores))
    assert found == min(naive_mistakes(p, scores, cut) for cut in (-9, -0.5, 0.2, 1.0, 9))
