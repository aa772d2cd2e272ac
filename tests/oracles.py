"""The definitions as naive loops: slow, short, and free of the code under test."""

import functools
import itertools
import math

import networkx as nx
import numpy as np


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


def naive_violations(graph, parts, score, ties="disagree", weighted=False):
    """(violated, all) of some parts of a graph for a dict of scores, each counted 1 or by the weight of its edges."""
    wrong = total = 0
    for part in parts:
        size = sum(graph[u][v].get("weight", 1.0) for u, v in part) if weighted else 1
        violated = any(score[u] <= score[v] if ties == "disagree" else score[u] < score[v] for u, v in part)
        wrong, total = wrong + size * violated, total + size
    return wrong, total


def naive_graph_error(counts, weight, normalize):
    """One number from (violated, all) of each instance."""
    if normalize == "part":
        total = sum(w * s for (_, s), w in zip(counts, weight, strict=True))
        return sum(w * c for (c, _), w in zip(counts, weight, strict=True)) / total if total else 0.0
    values = [c if normalize == "count" else c / s if s else 0.0 for c, s in counts]
    return sum(w * v for v, w in zip(values, weight, strict=True)) / sum(weight)


def naive_relevance(graph):
    """(relevant, irrelevant) labels of a layered graph: with edges, those that nothing beats, and those that lose."""
    busy = [v for v in graph if graph.degree(v)]
    return [v for v in busy if not graph.in_degree(v)], [v for v in busy if graph.in_degree(v)]


def naive_worst_order(graph, score):
    """Whether each label is relevant, best score first, irrelevant labels first among equal scores."""
    relevant, irrelevant = naive_relevance(graph)
    ordered = sorted(relevant + irrelevant, key=lambda v: (-score[v], v in relevant))
    return [v in relevant for v in ordered]


def naive_average_precision(graph, score, r=None):
    """The formula of the papers with rank(v) = the number of labels that score at least as high; 0 past rank r."""
    relevant, irrelevant = naive_relevance(graph)
    if not relevant:
        return 1.0
    total = 0.0
    for v in relevant:
        rank = sum(score[u] >= score[v] for u in relevant + irrelevant)
        if r is None or rank <= r:
            total += sum(score[u] >= score[v] for u in relevant) / rank
    return total / len(relevant)


def naive_coverage(graph, score):
    """How many places below the first one has to go for the last relevant label."""
    order = naive_worst_order(graph, score)
    return max((place for place, is_relevant in enumerate(order) if is_relevant), default=0)


def naive_precision_recall(graph, score, r):
    """(precision, recall) at r, in the worst order."""
    order = naive_worst_order(graph, score)
    return (sum(order[:r]) / r, sum(order[:r]) / sum(order)) if order else (1.0, 1.0)


def naive_interpolated_precision(graph, score, level):
    """The best precision at any cut-off whose recall reaches the level."""
    order = naive_worst_order(graph, score)
    points = [(sum(order[:r]) / r, sum(order[:r])) for r in range(1, len(order) + 1)]
    return max((precision for precision, hits in points if hits >= level * sum(order) - 1e-9), default=1.0)


def naive_auc(graph, score, tie):
    """The share of right pairs of a relevant and an irrelevant label; a tie counts ``tie``."""
    relevant, irrelevant = naive_relevance(graph)
    pairs = [1.0 if score[u] > score[v] else tie * (score[u] == score[v]) for u in relevant for v in irrelevant]
    return sum(pairs) / len(pairs) if pairs else 1.0


def naive_kendall_tau(graph, score, variant):
    """Pairs in order less pairs reversed, over the edges, or over the root of edges times pairs of unequal scores."""
    difference = sum((score[u] > score[v]) - (score[u] < score[v]) for u, v in graph.edges)
    edges = graph.number_of_edges()
    unequal = sum(score[u] != score[v] for u, v in itertools.combinations(graph, 2))
    scale = edges if variant == "edges" else (edges * unequal) ** 0.5
    return difference / scale if scale else 0.0


def naive_feedback_weight(graph):
    """Least weight of the edges that point backwards, over all orders of the labels."""
    edges = [(u, v, data.get("weight", 1.0)) for u, v, data in graph.edges(data=True)]
    costs = []
    for order in itertools.permutations(graph):
        place = {v: k for k, v in enumerate(order)}
        costs.append(math.fsum(w for u, v, w in edges if place[u] > place[v]))
    return min(costs)


def naive_feedback_weight_by_sets(graph):
    """The same by recursion over the set of labels that stand first, for up to a dozen labels."""

    @functools.cache
    def cheapest(first):
        ways = []
        for last in first:
            back = sum(graph.edges[last, u].get("weight", 1.0) for u in graph.succ[last] if u in first)
            ways.append(cheapest(first - {last}) + back)
        return min(ways, default=0.0)

    return cheapest(frozenset(graph))


def naive_edge_content(graph):
    """(weight, attributes) of every edge as plain data with types: what equality is about."""

    def plain(value):
        if isinstance(value, list | tuple):
            return ["list", *map(plain, value)]
        if isinstance(value, dict):
            return {"dict": {key: plain(inner) for key, inner in value.items()}}
        return [type(value).__name__, repr(value)]

    return {
        (u, v): (
            float(data.get("weight", 1)),
            {k: plain(w) for k, w in data.items() if k != "weight" and w is not None},
        )
        for u, v, data in graph.edges(data=True)
    }


def naive_graph_layers(graph):
    """Layers by definition: some order of groups such that u -> v exactly if u's group is above; None without one.

    In a layered graph the labels above a label are those of the groups above it, so their number orders the groups.
    """
    above = {v: sum(graph.has_edge(u, v) for u in graph) for v in graph}
    if any(graph.has_edge(u, v) != (above[u] < above[v]) for u in graph for v in graph):
        return None
    return [{v for v in graph if above[v] == k} for k in sorted(set(above.values()))]


def naive_parts(graph, name):
    """The parts of the four decompositions as a list of edge sets, straight from the table of definitions."""
    edges = set(graph.edges)
    parts = {
        "identity": [edges],
        "disagreement": [{edge} for edge in edges],
        "domination": [{(u, v) for u, v in edges if u == label} for label in graph],
        "dominated": [{(u, v) for u, v in edges if v == label} for label in graph],
    }[name]
    return [part for part in parts if part]


def naive_layer_row(graph, labels):
    """The row of layer numbers of a layered graph with isolated labels beside it; None for any other graph."""
    busy = graph.subgraph(v for v in graph if graph.degree(v) or not graph.number_of_edges())
    layers = naive_graph_layers(busy)
    if layers is None:
        return None
    row = dict.fromkeys(graph, -2)
    row.update({v: k for k, layer in enumerate(layers) for v in layer})
    return [row.get(v, -1) for v in labels]


def naive_layered_edges(row):
    """Pairs of positions (better, worse) of a row of layer numbers, in order."""
    places = range(len(row))
    return [(a, b) for a in places for b in places if row[a] >= 0 and row[b] > row[a]]


def naive_normal_row(row):
    """A row of layer numbers without gaps; where nothing beats anything all vertices are in layer 0."""
    values = sorted({k for k in row if k >= 0})
    if len(values) <= 1:
        return [-1 if k == -1 else 0 for k in row]
    return [values.index(k) if k >= 0 else k for k in row]


def naive_set_graph(relevant, labels):
    """Each relevant label beats each other one, as {(init, term)}."""
    return {(u, v) for u in labels for v in labels if u in relevant and v not in relevant}


def naive_log_linear(graph, parts, score):
    """(loss, In, Out) of some parts of a graph for a dict of scores, exponents shifted by their largest.

    The loss is the mean over parts of log(1 + sum_e w_e exp(f(term) - f(init))); flows are dicts over the labels.
    """
    loss, flow_in, flow_out = 0.0, dict.fromkeys(score, 0.0), dict.fromkeys(score, 0.0)
    for part in parts:
        exponents = [math.log(graph[u][v].get("weight", 1.0)) + score[v] - score[u] for u, v in part]
        top = max(0.0, *exponents)
        total = math.fsum(math.exp(d - top) for d in [*exponents, 0.0])
        loss += math.log1p(math.fsum(map(math.exp, exponents))) if top == 0.0 else top + math.log(total)
        for (u, v), d in zip(part, exponents, strict=True):
            q = math.exp(d - top) / total
            flow_in[v] += q / len(parts)
            flow_out[u] += q / len(parts)
    return loss / max(len(parts), 1), flow_in, flow_out


def naive_boosting_sums(edges, parameters):
    """(loss, W+, W-, rho) of [DMS03, Fig. 3], the sums written out.

    ``edges`` has for each part (weight_i / s_i, [(w_e, pi_e), ...]), pi_e a list with a number for each parameter.
    """
    n = len(parameters)
    loss, rising, falling, rho = 0.0, [0.0] * n, [0.0] * n, 0.0
    for scale, part in edges:
        terms = [w * math.exp(sum(a * b for a, b in zip(parameters, pi, strict=True))) for w, pi in part]
        loss += scale * math.log(1 + sum(terms))
        for term, (_, pi) in zip(terms, part, strict=True):
            q = scale * term / (1 + sum(terms))
            rho = max(rho, sum(map(abs, pi)))
            for j in range(n):
                rising[j] += max(q * pi[j], 0.0)
                falling[j] += max(-q * pi[j], 0.0)
    return loss, rising, falling, rho


# The losses of the preference learning model, one margin at a time, with the margins at which they have a kink.
NAIVE_LOSSES = {
    "perceptron": (lambda rho: max(0.0, 1.0 - rho), [1.0]),
    "logistic": (lambda rho: math.log2(1.0 + math.exp(-rho)), []),
    "soft_margin": (lambda rho: max(0.0, 1.0 - rho), [1.0]),
    "modified_least_squares": (lambda rho: max(0.0, 1.0 - rho) ** 2, []),
    "exponential": (lambda rho: math.exp(-rho), []),
}


def naive_plm_risk(graph, parts, score, loss, aggregate):
    """Sum over parts of the largest weighted loss of an edge, or of all of them, for a dict of scores."""
    combine = {"max": max, "sum": sum}[aggregate]
    return sum(
        combine([graph[u][v].get("weight", 1.0) * NAIVE_LOSSES[loss][0](score[u] - score[v]) for u, v in part])
        for part in parts
    )


def listed_plm_risk(p, decomposition, loss, aggregate, scores):
    """(risk of each instance, gradient by the scores), over a list of all edges of all parts.

    The loss is a function of an array of margins, and gives values and derivatives. With "max" the gradient is that of
    the first of the worst edges of each part.
    """
    q, f = p.parts(decomposition), scores.astype(float)
    margin = f[q.instance, q.init] - f[q.instance, q.term]
    value, slope = loss(margin)
    chosen = np.arange(len(margin))
    if aggregate == "max":
        price = q.weight * value
        chosen = np.array([a + price[a:b].argmax() for a, b in itertools.pairwise(q.offsets)], int)
    risk, gradient = np.zeros(len(p)), np.zeros(f.shape)
    scale = (q.weight * p.weight[q.instance])[chosen]
    np.add.at(risk, q.instance[chosen], scale * value[chosen])
    np.add.at(gradient, (q.instance[chosen], q.init[chosen]), scale * slope[chosen])
    np.add.at(gradient, (q.instance[chosen], q.term[chosen]), -scale * slope[chosen])
    return risk, gradient
