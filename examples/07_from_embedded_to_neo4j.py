"""Move a data set from a file to a Neo4j server: export, import, ask there.

The server is the one that PREFGRAPH_NEO4J_URI names, with PREFGRAPH_NEO4J_USER (neo4j if it is not set) and
PREFGRAPH_NEO4J_PASSWORD; `make neo4j` starts one and prints all three. Without it the data moves to a second file.
"""

import os
import tempfile
from pathlib import Path

import prefgraph as pg
from storage import GraphStore, open_store

NAME = "example 06"
tree = pg.LabelHierarchy.from_nested({"all": {"energy": ["oil", "gas"], "metals": ["gold", "copper"]}})
data = pg.PreferenceDataset(
    keys=["d1", "d2", "d3"],
    texts=["crude rises", "gas falls", "gold steady"],
    preferences=tree.preferences([{"oil"}, {"oil", "gas"}, {"gold"}]),
    hierarchy=tree,
)


def target(folder: Path) -> GraphStore:
    """The server if there is one, else another file."""
    uri = os.environ.get("PREFGRAPH_NEO4J_URI")
    if uri is None:
        print("PREFGRAPH_NEO4J_URI is not set: moving to a second file instead of a server.")
        return open_store(folder / "there.prefgraph")
    user = os.environ.get("PREFGRAPH_NEO4J_USER", "neo4j")
    return open_store(uri, auth=(user, os.environ["PREFGRAPH_NEO4J_PASSWORD"]))


with tempfile.TemporaryDirectory() as name:
    folder = Path(name)
    with open_store(folder / "here.prefgraph") as here:
        here.write(NAME, data)
        here.export_to(folder / "export")
    print("Exported:", *sorted(path.name for path in (folder / "export").rglob("*.*")))

    with target(folder) as there:
        there.import_from(folder / "export", mode="replace")
        print("Moved to", "a server" if "://" in there.url else "a file", "and equal:", there.read(NAME) == data)
        print(there.stats(NAME))
        cypher = """
            MATCH (d:Dataset)-[:CONTAINS]->(i:Instance)-[:SUPERVISED_BY]->(g:PreferenceGraph) WHERE d.name = $name
            MATCH (g)-[:HAS]->(v:Vertex)-[:IS]->(l:Label) WHERE v.layer = 0
            RETURN i.key AS key, l.name AS best ORDER BY key, best
        """
        for row in there.query(cypher, name=NAME).to_pylist():
            print("  ", row["key"], row["best"])
        there.delete(NAME)
