"""PLACEHOLDER until the real module is written (owner: the cycles colleague; simply overwrite this file)."""
import networkx as nx
FeedbackArcs = Change = cycle_report = None
def is_cyclic(graph): return not nx.is_directed_acyclic_graph(graph)
def strong_components(graph): return [c for c in nx.strongly_connected_components(graph) if len(c) > 1]
