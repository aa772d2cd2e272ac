"""The property graph, the same in every backend.

::

    (:Dataset {name})-[:CONTAINS]->(i:Instance {key, text, split, ...})
    (i)-[:SUPERVISED_BY]->(g:PreferenceGraph {key, packed})
    (g)-[:HAS]->(v:Vertex {layer, component})-[:IS]->(:Label {name, position})
    (v)-[:PREFERRED_TO {weight, ...}]->(w:Vertex)
    (:Dataset)-[:NAMES]->(:Label)-[:CHILD_OF]->(:Label)
    (:Model {name})-[:MADE]->(:Ranking {scores})-[:RANKS]->(i)

Every node has an ``id`` of its own. A write takes a run of ids in advance, puts all it has to say under a ``Dataset``
(or ``Model``) node that has no name yet, and gives it its name in one last small step: what has no name is not there. A
data set that was appended to has a ``Dataset`` node for each write, all of one name.
"""

from collections.abc import Mapping
from typing import NamedTuple

__all__: list[str] = []  # for the package itself

VERSION = 1

# name -> type; the types are the engine-independent words that a backend translates
NODES: Mapping[str, Mapping[str, str]] = {
    "Store": {"id": "int", "version": "int", "next_id": "int"},
    "Dataset": {
        "id": "int",
        "name": "text",  # null while the write is under way
        "position": "int",  # 0 for the first write, 1 for what was appended then ...
        "first_id": "int",
        "end_id": "int",
        "header": "text",  # JSON: the types of the columns, the hierarchy, what there is
        "digest": "text",
        "touched": "int",  # when a write that is under way last did something, in seconds
    },
    "Instance": {
        "id": "int",
        "key": "text",
        "key_is_int": "bool",
        "text": "text",
        "split": "text",
        "weight": "float",
        "features": "bytes",
        "candidates": "bytes",
    },
    "PreferenceGraph": {
        "id": "int",
        "key": "text",
        "packed": "bytes",
        "cyclic": "bool",
        "n_vertices": "int",
        "n_edges": "int",
    },
    "Vertex": {"id": "int", "layer": "int", "component": "int", "label": "int"},
    "Label": {"id": "int", "dataset": "text", "name": "text", "name_is_int": "bool", "position": "int"},
    "Model": {
        "id": "int",
        "name": "text",  # null while its rankings are being written
        "dataset": "text",
        "first_id": "int",
        "end_id": "int",
        "touched": "int",
    },
    "Ranking": {"id": "int", "scores": "floats"},
}


class Relationship(NamedTuple):
    """From which node to which, and with which properties."""

    start: str
    end: str
    properties: Mapping[str, str] = {}


RELATIONSHIPS: Mapping[str, Relationship] = {
    "CONTAINS": Relationship("Dataset", "Instance"),
    "NAMES": Relationship("Dataset", "Label"),
    "SUPERVISED_BY": Relationship("Instance", "PreferenceGraph"),
    "HAS": Relationship("PreferenceGraph", "Vertex"),
    "IS": Relationship("Vertex", "Label"),
    "PREFERRED_TO": Relationship("Vertex", "Vertex", {"weight": "float"}),
    "CHILD_OF": Relationship("Label", "Label"),
    "MADE": Relationship("Model", "Ranking"),
    "RANKS": Relationship("Ranking", "Instance"),
}
