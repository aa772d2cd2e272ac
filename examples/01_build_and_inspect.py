"""Build preference graphs from what people have, look at them, cut them into parts."""

import prefgraph as pg

print("Graphs from a class, a label set, a ranking with a tie, a grade, ratings:")
for graph in (
    pg.multiclass("oil", labels=["oil", "gas", "coal"]),
    pg.multilabel(["oil", "gas"], labels=["oil", "gas", "coal", "wind"]),
    pg.from_ranking(["oil", ["gas", "coal"], "wind"]),
    pg.ordinal(2, labels=range(5)),
    pg.from_scores({"oil": 0.9, "gas": 0.6, "coal": 0.1}, tolerance=0.4),
):
    print("  ", graph)

cyclic = pg.PreferenceGraph([("oil", "gas"), ("gas", "coal"), ("coal", "oil")], nodes=["wind"])
print("\nA graph may be cyclic, and may leave labels alone:")
print(cyclic.summary())

print("\nIt keeps its rule, and says which one was broken:")
try:
    cyclic.add_edge("gas", "oil")
except pg.InvalidGraph as error:
    print("  ", error)

graph = pg.parse("[1,2|3,4]")
print(f"\nThe parts of {graph}:")
for name in pg.DECOMPOSITIONS:
    parts = [", ".join(f"{u}>{v}" for u, v in part.edges) for part in graph.decompose(name)]
    print(f"   {name:13}", " / ".join(parts))
