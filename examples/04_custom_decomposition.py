"""A decomposition of your own: what counts as one mistake is yours to say."""

from itertools import pairwise

import numpy as np

import prefgraph as pg


def top_against_rest(graph):
    """The best layer must be above everything else, each of its labels a part; the order of the rest is free."""
    best = graph.layers()[0]
    return [list(graph.out_edges(label)) for label in best if graph.out_degree(label)]


def adjacent_layers(graph):
    """Only neighbouring layers count [AS05, Fig. 1(f)]."""
    return [[(a, b)] for up, down in pairwise(graph.layers()) for a in up for b in down]


pg.register_decomposition("top_against_rest", top_against_rest)

p = pg.as_preferences(["[a|b|c|d]", "[b,c|a|d]"], form="notation")
scores = np.array([[4.0, 1.0, 2.0, 3.0], [2.0, 4.0, 3.0, 1.0]])  # the first instance has b, c and d upside down
for how in ("identity", "disagreement", "domination", "top_against_rest", adjacent_layers):
    name = how if isinstance(how, str) else how.__name__
    print(f"{name:17} {len(p.parts(how)):2} parts, error {pg.metrics.graph_error(p, scores, how):.3f}")

stars_by_pair = pg.compose("top_against_rest", "disagreement")
edges = [f"{u}>{v}" for part in stars_by_pair(p[1]) for u, v in part]
print("\nEvery edge of those stars on its own:", *edges)
