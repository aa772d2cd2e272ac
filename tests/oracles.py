"""The definitions as naive loops: slow, short, and free of the code under test."""

import networkx as nx


def naive_hierarchy_distance(parents, a, b):
    """Number of edges between two labels of ``{label: [parents]}``, by networkx on the undirected graph."""
    graph = nx.Graph()
    graph.add_nodes_from(parents)
    graph.add_edges_from((parent, child) for child, above in parents.items() for parent in above)
    return nx.shortest_path_length(graph, a, b)


def naive_path_ends(parents, label_set):
    """The labels of a set that are above no other label of the set, without a root that has children."""
    graph = nx.DiGraph((parent, child) for child, above in parents.items() for parent in above)
    graph.add_nodes_from(parents)
    ends = {v for v in label_set if not any(u in nx.descendants(graph, v) for u in label_set)}
    return {v for v in ends if parents[v] or not graph.out_degree(v)}


def naive_layers(leaves, correct, distance, max_layers):
    """Layer of each leaf: how many smaller severities some leaf has, at most ``max_layers - 1``."""
    if not correct:
        return dict.fromkeys(leaves, 0)
    severity = {leaf: min(distance(leaf, right) for right in correct) for leaf in leaves}
    layers = {}
    for leaf in leaves:
        smaller = {severity[other] for other in leaves if severity[other] < severity[leaf]}
        layers[leaf] = len(smaller) if max_layers is None else min(len(smaller), max_layers - 1)
    return layers
