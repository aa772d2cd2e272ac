"""Label hierarchies: trees, DAGs and distances over labels, and the layered graphs of labelled instances."""

from prefgraph.hierarchy._label_hierarchy import LabelHierarchy

__all__ = ["LabelHierarchy"]
