"""Several judges compare three answers: votes, contradictions, a cycle, and what each policy makes of it."""

import prefgraph as pg

votes = {
    "ann": [("A", "B"), ("B", "C"), ("A", "C")],
    "bob": [("B", "C"), ("C", "A")],
    "eve": [("C", "A"), ("A", "B"), ("B", "C")],
    "joe": [("B", "A")],
}
pairs = [pair for said in votes.values() for pair in said]

try:
    pg.from_pairs(pairs, instance="prompt 7")
except pg.Contradiction as error:
    print("As they stand, the votes are no graph:\n  ", error)

graph = pg.from_pairs(pairs, on_contradiction="majority", instance="prompt 7")
print("\nThe majority of each pair:", graph)
print("Votes left out, on the record:", *graph.dropped)

print("\n" + pg.cycle_report(graph))

print("\nFour policies:")
for policy in ("keep", "drop", "condense", "downweight"):
    resolved, changes = graph.resolve_cycles(policy)
    print(f"   {policy:11} {resolved!s:30} {len(changes)} changes, cyclic: {resolved.is_cyclic()}")
