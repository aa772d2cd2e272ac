"""Pictures of preference graphs, of their parts and of label hierarchies, by matplotlib.

Every function takes ``ax`` (or ``axes``) and returns it, never shows a window, and changes nothing but the Axes it
draws on. matplotlib is imported when a picture is asked for: ``pip install "prefgraph-db[plot]"``.
"""

from prefgraph.plot._graphs import draw, draw_decomposition
from prefgraph.plot._trees import draw_hierarchy

__all__ = ["draw", "draw_decomposition", "draw_hierarchy"]
