"""Supervision from a label tree: a wrong sibling is better than a wrong branch."""

import numpy as np

import prefgraph as pg

tree = pg.LabelHierarchy.from_nested(
    {"news": {"energy": ["oil", "gas"], "metals": {"precious": ["gold", "silver"], "iron": []}, "sport": ["golf"]}}
)
print(tree.render())

tree = tree.with_dummy_leaves()  # a story may be about metals in general
p = tree.preferences([{"oil"}, {"metals", "precious", "gold"}, {"metals"}])
print("\nThe layers of three stories, best first:")
for graph in p:
    print("  ", graph)

# Two models that never put the right leaf first; one errs by a sibling, one by a branch.
place = {leaf: k for k, leaf in enumerate(p.labels)}
near, far = np.zeros((2, *p.layer[p.graph_index].shape))
near -= p.layer[p.graph_index]
far -= p.layer[p.graph_index]
for i, sibling in enumerate(["gas", "silver", "iron"]):
    near[i, place[sibling]] = far[i, place["golf"]] = 1
print("\nerror           sibling first   other branch first")
for name in pg.DECOMPOSITIONS:
    print(f"{name:15} {pg.metrics.graph_error(p, near, name):13.3f} {pg.metrics.graph_error(p, far, name):20.3f}")
