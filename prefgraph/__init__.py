"""Preference graphs: build them, look at them, cut them, compile them for learners.

An edge goes from the preferred label to the other. See `PreferenceGraph` for one instance, `Preferences` for many.
"""

from prefgraph import cycles, metrics, plot, readers
from prefgraph.builders import (
    format,  # noqa: A004 - shadows the builtin as a name of this package only
    from_layers,
    from_networkx,
    from_pairs,
    from_ranking,
    from_scores,
    multiclass,
    multilabel,
    ordinal,
    parse,
)
from prefgraph.compiled import Preferences
from prefgraph.cycles import Change, FeedbackArcs, cycle_report
from prefgraph.dataset import Candidates, PreferenceDataset
from prefgraph.decompose import (
    DECOMPOSITIONS,
    Decomposition,
    compose,
    disagreement,
    dominated,
    domination,
    identity,
    register_decomposition,
)
from prefgraph.errors import (
    Contradiction,
    InvalidDataset,
    InvalidDecomposition,
    InvalidFile,
    InvalidGraph,
    InvalidHierarchy,
    InvalidLabel,
    InvalidNotation,
    InvalidOption,
    InvalidScores,
    InvalidTarget,
    MissingDependency,
    PrefGraphError,
    TooLarge,
)
from prefgraph.exchange import (
    from_json,
    from_table,
    graphs_from_table,
    read_graphml,
    to_json,
    to_table,
    write_graphml,
)
from prefgraph.graph import PreferenceGraph
from prefgraph.hierarchy import LabelHierarchy
from prefgraph.parts import Parts
from prefgraph.targets import as_preferences

__all__ = [
    "DECOMPOSITIONS",
    "Candidates",
    "Change",
    "Contradiction",
    "Decomposition",
    "FeedbackArcs",
    "InvalidDataset",
    "InvalidDecomposition",
    "InvalidFile",
    "InvalidGraph",
    "InvalidHierarchy",
    "InvalidLabel",
    "InvalidNotation",
    "InvalidOption",
    "InvalidScores",
    "InvalidTarget",
    "LabelHierarchy",
    "MissingDependency",
    "Parts",
    "PrefGraphError",
    "PreferenceDataset",
    "PreferenceGraph",
    "Preferences",
    "TooLarge",
    "as_preferences",
    "compose",
    "cycle_report",
    "cycles",
    "disagreement",
    "dominated",
    "domination",
    "format",
    "from_json",
    "from_layers",
    "from_networkx",
    "from_pairs",
    "from_ranking",
    "from_scores",
    "from_table",
    "graphs_from_table",
    "identity",
    "metrics",
    "multiclass",
    "multilabel",
    "ordinal",
    "parse",
    "plot",
    "read_graphml",
    "readers",
    "register_decomposition",
    "to_json",
    "to_table",
    "write_graphml",
]
