"""The tour, run by `make demo`: judgements become graphs, graphs are stored and asked, a ranker learns from them."""

import tempfile
from pathlib import Path

import numpy as np
from rich.console import Console
from rich.table import Table

import prefgraph as pg
from learners import LogLinearRanker
from storage import GraphStore, open_store

console = Console(width=110)
MOST_PREFERRED = """
MATCH (d:Dataset)-[:CONTAINS]->(:Instance)-[:SUPERVISED_BY]->(:PreferenceGraph)-[:HAS]->(v:Vertex)
WHERE d.name = $name
MATCH (l:Label)<-[:IS]-(v)-[:PREFERRED_TO]->(:Vertex)
RETURN l.name AS label, count(*) AS edges ORDER BY edges DESC LIMIT $n
"""


def step(title: str) -> None:
    """A line across the terminal."""
    console.rule(f"[bold]{title}", align="left")


def main() -> None:
    """All steps in turn."""
    step("1  judgements become graphs")
    votes = [("A", "B", 3), ("B", "A", 1), ("B", "C", 2), ("C", "A", 2), ("C", "D", 1), ("A", "D", 4)]
    judged = pg.from_pairs(votes, on_contradiction="majority", instance="prompt 7")
    print(judged.summary())
    print("left out, on the record:", *judged.dropped)

    step("2  the cycle, and what each policy does about it")
    print(pg.cycle_report(judged))
    for policy in ("keep", "drop", "condense", "downweight"):
        resolved, changes = judged.resolve_cycles(policy)
        print(f"{policy:11} {resolved!s:45} {len(changes)} changes, cyclic: {resolved.is_cyclic()}")

    step("3  a label tree becomes supervision")
    tree = pg.LabelHierarchy.from_nested(
        {"news": {"energy": ["oil", "gas"], "metals": ["gold", "silver"], "sport": ["golf", "chess"]}}
    ).with_dummy_leaves()
    print(tree.render())
    print("a story on oil:         ", tree.preference_graph({"oil"}))
    print("a story on metals:      ", tree.preference_graph({"metals"}))

    step("4  a decomposition: what counts as one mistake")
    graph = pg.parse("[1,2|3,4]")
    for name in pg.DECOMPOSITIONS:
        parts = [", ".join(f"{u}>{v}" for u, v in part.edges) for part in graph.decompose(name)]
        print(f"{name:13}", " / ".join(parts))

    step("5  ten thousand instances as arrays, cyclic ones among them")
    p, scores = corpus(tree, judged, instances=10_000)
    print(p)
    print(p.parts("domination"))
    print(f"instances with a cycle: {p.is_cyclic().sum()}")
    show_errors("error of noisy scores", {"noise": (p, scores)})

    step("6  into the embedded store, and questions in Cypher")
    split = np.where(np.arange(len(p)) % 4 == 0, "test", "train")
    data = pg.PreferenceDataset(X=scores, preferences=p, hierarchy=tree, split=split.tolist())
    with tempfile.TemporaryDirectory() as folder, open_store(Path(folder, "demo.prefgraph")) as store:
        store.write("demo", data)
        print(store.stats("demo"))
        print("the same when read back:", store.read("demo") == data)
        labels = store.query(MOST_PREFERRED, name="demo", n=3).to_pylist()
        print("labels preferred to the most others:", *(f"{row['label']} ({row['edges']} edges)" for row in labels))
        cyclic = store.ask("cyclic_instances", dataset="demo")
        print(f"{cyclic.num_rows} cyclic instances, the first with the cycle", *cyclic["cycles"][0].as_py())
        learn(store)


def learn(store: GraphStore) -> None:
    """Train on a part of the store, compare on the rest, and write back what the model says."""
    step("7  a ranker learns from the noisy scores, and its mistakes go back into the store")
    train, test = (store.read("demo", split=word) for word in ("train", "test"))
    results = {"noise": (test.preferences, test.X)}
    for decomposition in ("domination", "disagreement"):
        model = LogLinearRanker(decomposition).fit(train)
        results[f"log-linear, {decomposition}"] = test.preferences, model.decision_function(test)
        print(f"{decomposition}: {model.n_iter_} iterations, loss {model.loss_curve_[-1]:.1f}")
    show_errors("error on the test split", results)
    store.write_scores("demo", "log-linear", test.keys, model.decision_function(test), labels=model.labels_.tolist())
    worst = store.violations("demo", "log-linear", by="pair").to_pylist()[0]
    print(f"the preference that it breaks most often: {worst['init']} > {worst['term']}, {worst['instances']} times")


def show_errors(title: str, results: dict[str, tuple[pg.Preferences, np.ndarray]]) -> None:
    """The mean share of wrong parts under each decomposition."""
    table = Table("scores", *pg.DECOMPOSITIONS, title=title, title_justify="left")
    for name, (p, scores) in results.items():
        errors = (pg.metrics.graph_error(p, scores, decomposition) for decomposition in pg.DECOMPOSITIONS)
        table.add_row(name, *(f"{error:.4f}" for error in errors))
    console.print(table)


def corpus(tree: pg.LabelHierarchy, judged: pg.PreferenceGraph, instances: int) -> tuple[pg.Preferences, np.ndarray]:
    """Hierarchical label sets with a few cyclic judgements between them, and scores that follow them with noise."""
    rng = np.random.default_rng(7)
    leaves = np.array(tree.leaves)
    sets = [set(rng.choice(leaves, size=rng.integers(1, 4), replace=False).tolist()) for _ in range(instances)]
    p = tree.preferences(sets)
    cyclic = pg.as_preferences([judged] * (instances // 100))
    p = pg.Preferences.concatenate([p, cyclic])
    scores = rng.normal(size=(len(p), len(p.labels)))
    scores[:instances, : len(leaves)] -= 1.5 * tree.layer_matrix(sets)
    return p, scores


if __name__ == "__main__":
    main()
