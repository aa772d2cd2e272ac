"""Pictures of graphs, of a decomposition and of a hierarchy, as PNG files: python 05_pictures.py [folder]."""

import sys
import tempfile
from pathlib import Path

import matplotlib as mpl

mpl.use("Agg")  # no window

import prefgraph as pg
from prefgraph.plot import draw, draw_decomposition, draw_hierarchy

folder = Path(sys.argv[1] if len(sys.argv) > 1 else tempfile.mkdtemp())
folder.mkdir(parents=True, exist_ok=True)

# Judges went round in a circle over oil, gas and coal; a model ranks oil first.
judged = pg.PreferenceGraph(
    [("oil", "gas"), ("gas", "coal"), ("coal", "oil"), ("coal", "wind"), ("gas", "wind")], nodes=["tides"]
)
scores = {"oil": 4, "gas": 3, "coal": 1, "wind": 2, "tides": 0}
hierarchy = pg.LabelHierarchy.from_nested(
    {"all": {"energy": {"fossil": ["oil", "gas", "coal"], "wind": None}, "sport": ["golf", "chess"]}}
).with_dummy_leaves()

pictures = {
    "a graph with a cycle": draw(judged, scores, write_scores=True),
    "a total order of five": draw(pg.parse("[1|2|3|4|5]")),
    "a layered graph in bundles": draw(hierarchy.preference_graph({"oil"}), max_edges=5),
    "the out-stars of a graph": draw_decomposition(judged, "domination", scores)[0],
    "a hierarchy around oil": draw_hierarchy(hierarchy, correct={"oil"}),
}
for name, ax in pictures.items():
    path = folder / f"{name.replace(' ', '_')}.png"
    ax.figure.savefig(path, dpi=150)
    print(f"{path.name}: {len(ax.patches)} patches, {len(ax.texts)} texts")
print(f"written to {folder}")
