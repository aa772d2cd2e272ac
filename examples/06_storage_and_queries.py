"""A store in one file: write a data set, ask it questions, find what a model gets wrong."""

import tempfile
from pathlib import Path

import prefgraph as pg
from storage import open_store

# Three judges compare answers to four prompts; the second prompt sent them in a circle, the last two contradict.
said = {
    "prompt 1": [("A", "B", "ann"), ("B", "C", "bob")],
    "prompt 2": [("A", "B", "ann"), ("B", "C", "bob"), ("C", "A", "eve")],
    "prompt 3": [("C", "B", "eve")],
    "prompt 4": [("A", "B", "ann"), ("B", "C", "bob")],
}
graphs = [pg.PreferenceGraph([(u, v, {"judge": judge}) for u, v, judge in pairs]) for pairs in said.values()]
data = pg.PreferenceDataset(
    keys=list(said),
    preferences=graphs,
    properties={"language": ["en", "en", "de", "de"]},
    split=["train", "train", "train", "test"],
)

path = Path(tempfile.mkdtemp(), "answers.prefgraph")
with open_store(path) as store:
    store.write("answers", data)

with open_store(path) as store:
    print(store)
    print("Stored:", store.stats("answers"))
    print("Equal to what was written:", store.read("answers") == data)
    print("For training, in German:", *store.read("answers", split="train", where={"language": "de"}).keys)

    print("\nIn a circle:")
    for row in store.ask("cyclic_instances", dataset="answers").to_pylist():
        print("  ", row["key"], *row["cycles"])

    print("\nA over B here, B over A there:")
    for row in store.ask("contradictions", dataset="answers").to_pylist():
        print(f"   {row['first']} {row['first_preferred']} : {row['second_preferred']} {row['second']}")

    print("\nIn your own words, who prefers something to C:")
    cypher = """
        MATCH (d:Dataset)-[:CONTAINS]->(i:Instance)-[:SUPERVISED_BY]->(g:PreferenceGraph)-[:HAS]->(v:Vertex)
        MATCH (v)-[e:PREFERRED_TO]->(w:Vertex)-[:IS]->(l:Label) WHERE d.name = $name AND l.name = $label
        RETURN e.judge AS judge, count(*) AS times ORDER BY judge
    """
    for row in store.query(cypher, name="answers", label="C").to_pylist():
        print(f"   {row['judge']}, {row['times']} times")

    print("\nA model that ranks A, B, C everywhere breaks:")
    store.write_scores("answers", "alphabet", data.keys, [[3, 2, 1]] * len(data))
    for row in store.violations("answers", "alphabet").to_pylist():
        print(f"   {row['key']}: {row['init']} over {row['term']}")
