"""Every query text, named, beside its parameters and what it returns.

All stay inside what both engines do: no list comprehension, no ``CALL {}``, no ``COUNT {}``; parameters, never spliced
text. ``{first}`` is the number of a list's first element, which the engines count differently; ``{columns}`` and
``{filters}`` are made of column names that `storage.codec.column_names` made. A ``Dataset`` node without a name is a
write that is under way.
"""

__all__: list[str] = []  # for the package itself

# -- the store itself: id 0 --------------------------------------------------------------------------------------------

STORE = "MATCH (s:Store {id: 0}) RETURN s.version AS version, s.next_id AS next_id"
NEW_STORE = "MERGE (s:Store {id: 0}) ON CREATE SET s.version = $version, s.next_id = 1"
TAKE_IDS = "MATCH (s:Store {id: 0}) SET s.next_id = s.next_id + $count"
NEXT_ID = "MATCH (s:Store {id: 0}) RETURN s.next_id AS next_id"

# -- writing: a node without a name, rows in bulk, the name ------------------------------------------------------------
# {root} is Dataset or Model.

BEGIN_WRITE = """
MERGE (d:{root} {{id: $id}})
SET d.first_id = $first_id, d.end_id = $end_id, d.touched = $now
"""
# Writers meet here, one at a time: the engine locks the node until the end of the transaction.
LOCK = "MATCH (s:Store {id: 0}) SET s.next_id = s.next_id"
# The first statement shows a data set, unless what is there has become another than what was seen; the others do
# nothing unless it did.
SHOW_DATASET = """
OPTIONAL MATCH (o:Dataset) WHERE o.name = $name AND o.id <> $id
WITH count(o) AS others, count(CASE WHEN o.id IN $there THEN 1 END) AS seen
MATCH (d:Dataset) WHERE d.id = $id AND others = $others AND seen = $others
SET d.name = $name, d.position = $position, d.header = $header, d.digest = $digest
RETURN d.id AS id
"""
PLACE_LABELS = """
MATCH (d:Dataset) WHERE d.id = $id AND d.name = $name
UNWIND $rows AS row
MATCH (l:Label) WHERE l.id = row.id
SET l.position = row.position
"""
HIDE_REPLACED = """
MATCH (n:Dataset) WHERE n.id = $id AND n.name = $name
MATCH (d:Dataset) WHERE d.id IN $there
SET d.name = NULL, d.touched = 0
"""
HIDE_REPLACED_MODELS = """
MATCH (n:Dataset) WHERE n.id = $id AND n.name = $name
MATCH (m:Model) WHERE m.dataset = $name AND m.name IS NOT NULL
SET m.name = NULL, m.touched = 0
RETURN m.first_id AS first_id, m.end_id AS end_id
"""
HIDE_DATASET = """
MATCH (d:Dataset) WHERE d.name = $name
SET d.name = NULL, d.touched = 0
RETURN d.first_id AS first_id, d.end_id AS end_id
"""
HIDE_MODELS = """
MATCH (m:Model) WHERE m.dataset = $name AND m.name IS NOT NULL
SET m.name = NULL, m.touched = 0
RETURN m.first_id AS first_id, m.end_id AS end_id
"""
# A model's scores are shown if the data set is still the one that they are about; then those it gave before are hidden.
SHOW_MODEL = """
MATCH (o:Dataset) WHERE o.name = $dataset
WITH count(o) AS others, count(CASE WHEN o.id IN $there THEN 1 END) AS seen
MATCH (m:Model) WHERE m.id = $id AND seen = $others
SET m.name = $name, m.dataset = $dataset
RETURN m.id AS id
"""
HIDE_SCORES = """
MATCH (n:Model) WHERE n.id = $id AND n.name = $name
MATCH (m:Model) WHERE m.dataset = $dataset AND m.name = $name AND m.id <> $id
SET m.name = NULL, m.touched = 0
RETURN m.first_id AS first_id, m.end_id AS end_id
"""
SHOWN = "MATCH (d:{root}) WHERE d.id = $id AND d.name IS NOT NULL RETURN d.id AS id"
UNNAMED = """
MATCH (d:{root}) WHERE d.name IS NULL AND d.touched < $before
RETURN d.id AS id, d.first_id AS first_id, d.end_id AS end_id
"""

# -- reading -----------------------------------------------------------------------------------------------------------

DATASETS = "MATCH (d:Dataset) WHERE d.name IS NOT NULL RETURN DISTINCT d.name AS name ORDER BY name"
WRITES = """
MATCH (d:Dataset) WHERE d.name = $name
RETURN d.id AS id, d.position AS position, d.first_id AS first_id, d.end_id AS end_id, d.header AS header,
d.digest AS digest
ORDER BY position
"""
LABELS = """
MATCH (d:Dataset)-[:NAMES]->(l:Label) WHERE d.name = $name
RETURN l.id AS id, l.name AS name, l.name_is_int AS name_is_int, l.position AS position ORDER BY position, id
"""
GRAPH_IDS = """
MATCH (g:PreferenceGraph) WHERE g.id >= $first_id AND g.id < $end_id
RETURN g.id AS id, g.key AS key
"""
GRAPHS = """
MATCH (g:PreferenceGraph) WHERE g.id >= $first_id AND g.id < $end_id
RETURN g.id AS id, g.packed AS packed
"""
SOME_GRAPHS = "MATCH (g:PreferenceGraph) WHERE g.id IN $ids RETURN g.id AS id, g.packed AS packed"
INSTANCES = """
MATCH (i:Instance)-[:SUPERVISED_BY]->(g:PreferenceGraph) WHERE i.id >= $first_id AND i.id < $end_id {filters}
RETURN {columns}, g.id AS graph ORDER BY id
"""
SUPERVISION = """
MATCH (i:Instance)-[:SUPERVISED_BY]->(g:PreferenceGraph) WHERE i.id >= $first_id AND i.id < $end_id
RETURN i.id AS id, i.weight AS weight, g.id AS graph
"""
GRAPH_OF_KEY = """
MATCH (d:Dataset)-[:CONTAINS]->(i:Instance)-[:SUPERVISED_BY]->(g:PreferenceGraph)
WHERE d.name = $name AND i.key = $key AND i.key_is_int = $key_is_int
RETURN g.packed AS packed
"""
KEYS = """
MATCH (d:Dataset)-[:CONTAINS]->(i:Instance) WHERE d.name = $name AND i.key IN $keys
RETURN i.key AS key, i.key_is_int AS key_is_int
"""
INSTANCE_IDS = """
MATCH (d:Dataset)-[:CONTAINS]->(i:Instance) WHERE d.name = $name
RETURN i.id AS id, i.key AS key, i.key_is_int AS key_is_int ORDER BY id
"""
EDGES_OF_GRAPHS = """
MATCH (g:PreferenceGraph)-[:HAS]->(v:Vertex)-[e:PREFERRED_TO]->(w:Vertex) WHERE g.id >= $first_id AND g.id < $end_id
RETURN g.id AS graph, v.label AS init, w.label AS term, e.weight AS weight {columns} ORDER BY graph, init, term
"""
VERTICES_OF_GRAPHS = """
MATCH (g:PreferenceGraph)-[:HAS]->(v:Vertex)-[:IS]->(l:Label) WHERE g.id >= $first_id AND g.id < $end_id
RETURN g.id AS graph, l.position AS label, v.label AS position
"""
WHOLE_GRAPHS = """
MATCH (g:PreferenceGraph) WHERE g.id >= $first_id AND g.id < $end_id
RETURN g.id AS id, g.key AS key, g.packed AS packed, g.cyclic AS cyclic, g.n_vertices AS n_vertices,
g.n_edges AS n_edges
"""
CONTAINED = "MATCH (d:Dataset)-[:CONTAINS]->(i:Instance) WHERE d.id = $id RETURN count(*) AS instances"
COUNTS = """
MATCH (d:Dataset)-[:CONTAINS]->(i:Instance)-[:SUPERVISED_BY]->(g:PreferenceGraph) WHERE d.name = $name
RETURN count(*) AS instances, count(DISTINCT g.id) AS graphs, sum(g.n_edges) AS edges
"""
CYCLIC_COUNT = """
MATCH (d:Dataset)-[:CONTAINS]->(i:Instance)-[:SUPERVISED_BY]->(g:PreferenceGraph) WHERE d.name = $name AND g.cyclic
RETURN count(*) AS cyclic
"""
SPLITS = """
MATCH (d:Dataset)-[:CONTAINS]->(i:Instance) WHERE d.name = $name AND i.split IS NOT NULL
RETURN i.split AS split, count(*) AS instances ORDER BY split
"""

# -- decompositions: one row an edge, `part` tells the parts of an instance apart --------------------------------------

_EDGES = """
MATCH (d:Dataset)-[:CONTAINS]->(i:Instance)-[:SUPERVISED_BY]->(g:PreferenceGraph),
(g)-[:HAS]->(v:Vertex)-[e:PREFERRED_TO]->(w:Vertex)
WHERE d.name = $name
"""
DECOMPOSE = {
    "identity": _EDGES + "RETURN i.id AS instance, 0 AS star, v.label AS init, w.label AS term, e.weight AS weight",
    "disagreement": _EDGES + "RETURN i.id AS instance, 0 AS star, v.label AS init, w.label AS term, e.weight AS weight",
    "domination": _EDGES
    + "RETURN i.id AS instance, v.label AS star, v.label AS init, w.label AS term, e.weight AS weight",
    "dominated": _EDGES
    + "RETURN i.id AS instance, w.label AS star, v.label AS init, w.label AS term, e.weight AS weight",
}

# -- models ------------------------------------------------------------------------------------------------------------

MODELS = """
MATCH (m:Model) WHERE m.name IS NOT NULL AND m.dataset = $dataset
RETURN m.id AS id, m.name AS name, m.first_id AS first_id, m.end_id AS end_id ORDER BY name
"""
_BROKEN = """
MATCH (m:Model)-[:MADE]->(r:Ranking)-[:RANKS]->(i:Instance) WHERE m.name = $model AND m.dataset = $dataset
MATCH (i)-[:SUPERVISED_BY]->(g:PreferenceGraph)-[:HAS]->(v:Vertex)-[e:PREFERRED_TO]->(w:Vertex)
WHERE r.scores[v.label + {first}] <= r.scores[w.label + {first}]
"""
BROKEN = {
    "edge": _BROKEN + "RETURN i.id AS id, i.key AS key, i.key_is_int AS key_is_int, v.label AS init, w.label AS term, "
    "e.weight AS weight, r.scores[v.label + {first}] - r.scores[w.label + {first}] AS margin "
    "ORDER BY margin, id, init, term",
    "pair": _BROKEN + "RETURN v.label AS init, w.label AS term, count(*) AS instances, sum(e.weight) AS weight "
    "ORDER BY instances DESC, init, term",
    "instance": _BROKEN
    + "RETURN i.id AS id, i.key AS key, i.key_is_int AS key_is_int, count(*) AS edges, sum(e.weight) AS weight "
    "ORDER BY edges DESC, id",
}

# -- questions: {name} of the data set in all of them ------------------------------------------------------------------

_SUPERVISED = (
    "MATCH (d:Dataset)-[:CONTAINS]->(i:Instance)-[:SUPERVISED_BY]->(g:PreferenceGraph) WHERE d.name = $dataset"
)
_KEY = "i.id AS id, i.key AS key, i.key_is_int AS key_is_int"

CYCLIC_INSTANCES = f"{_SUPERVISED} AND g.cyclic RETURN {_KEY}, g.id AS graph ORDER BY id"
NEIGHBOURS = """
MATCH (d:Dataset)-[:CONTAINS]->(j:Instance)-[:SUPERVISED_BY]->(g:PreferenceGraph)
MATCH (g)<-[:SUPERVISED_BY]-(i:Instance)<-[:CONTAINS]-(e:Dataset)
WHERE d.name = $dataset AND e.name = $dataset AND j.key = $key AND j.key_is_int = $key_is_int AND i.id <> j.id
RETURN i.id AS id, i.key AS key, i.key_is_int AS key_is_int ORDER BY id
"""
BY_PROPERTY = (
    f"MATCH (d:Dataset)-[:CONTAINS]->(i:Instance) WHERE d.name = $dataset {{filters}} RETURN {_KEY} ORDER BY id"
)
SUPERVISION_KEYS = f"{_SUPERVISED} RETURN {_KEY}, g.id AS graph ORDER BY id"
# The graphs of a write by their ids: joined with their instances first, millions of edges do not fit into the memory.
_GRAPHS = "MATCH (g:PreferenceGraph)-[:HAS]->(v:Vertex){edge}(w:Vertex) WHERE g.id >= $first_id AND g.id < $end_id"
OUT_STARS = _GRAPHS.format(edge="-[:PREFERRED_TO]->") + " RETURN g.id AS graph, count(DISTINCT v.id) AS stars"
IN_STARS = _GRAPHS.format(edge="<-[:PREFERRED_TO]-") + " RETURN g.id AS graph, count(DISTINCT v.id) AS stars"
