"""Cycles of a preference graph: where they are, what the least to drop is, and what to do about them.

The functions take any ``nx.DiGraph`` without self-loops and two-way pairs, and never change it. `PreferenceGraph` has
them as methods. Wherever something has to be chosen among equals, ints go before strs and each ascending, so that
equal graphs give equal answers in whatever order they were built.
"""

from prefgraph.cycles._closure import closure, reduction
from prefgraph.cycles._finding import cycles, is_cyclic, shortest_cycles, strong_components
from prefgraph.cycles._resolving import (
    CYCLE_POLICIES,
    EXACT_LIMIT,
    Change,
    FeedbackArcs,
    cycle_report,
    feedback_arcs,
    resolve_cycles,
)

__all__ = [
    "CYCLE_POLICIES",
    "EXACT_LIMIT",
    "Change",
    "FeedbackArcs",
    "closure",
    "cycle_report",
    "cycles",
    "feedback_arcs",
    "is_cyclic",
    "reduction",
    "resolve_cycles",
    "shortest_cycles",
    "strong_components",
]
