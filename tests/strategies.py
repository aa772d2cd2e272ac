"""Hypothesis strategies: each can only build valid things."""

from typing import Any

from hypothesis import strategies as st

NAMES = st.integers(0, 99) | st.text("abc", min_size=1, max_size=3)


@st.composite
def hierarchies(draw, labels=NAMES, *, dag=None, max_labels=12):
    """A valid parent map ``{label: [parents]}`` in any order: a tree, a DAG, or (dag=None) one of the two."""
    names = draw(st.lists(labels, unique=True, min_size=1, max_size=max_labels))
    several = draw(st.booleans()) if dag is None else dag
    parents: dict[Any, list[Any]] = {names[0]: []}
    for place, name in enumerate(names[1:], start=1):
        above = st.lists(st.sampled_from(names[:place]), min_size=1, max_size=3 if several else 1, unique=True)
        parents[name] = draw(above)
    return {name: parents[name] for name in draw(st.permutations(names))}


@st.composite
def label_sets(draw, labels, *, max_sets=5, max_size=4):
    """Label sets of several instances, empty ones and repeated ones too."""
    return draw(
        st.lists(st.frozensets(st.sampled_from(sorted(labels, key=repr)), max_size=max_size), max_size=max_sets)
    )


@st.composite
def semi_metrics(draw, *, max_labels=6):
    """A symmetric matrix with a zero diagonal and few distinct values, so that ties occur; not always a metric."""
    n = draw(st.integers(1, max_labels))
    values = draw(st.lists(st.sampled_from([0.0, 0.5, 1.0, 2.5, 7.0]), min_size=n * n, max_size=n * n))
    return [[0.0 if a == b else values[min(a, b) * n + max(a, b)] for b in range(n)] for a in range(n)]
