"""What a label hierarchy is: labels with a place and distances. How it is read and used stands in `hierarchy`."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator, Mapping
from types import MappingProxyType
from typing import Any, Self

import networkx as nx
import numpy as np
from numpy.typing import NDArray

from prefgraph._content import Label, label_text
from prefgraph.errors import InvalidHierarchy
from prefgraph.hierarchy._kernels import distances_between
from prefgraph.hierarchy._sets import unknown
from prefgraph.hierarchy._tree import RootedTree, render


class HierarchyBase:
    """Labels, their relations and distances; `prefgraph.LabelHierarchy` adds constructors, leaves and layers."""

    _labels: tuple[Label, ...]
    _tree: RootedTree | None
    _matrix: NDArray[Any] | None

    @classmethod
    def _made_of(cls, *parts: Any) -> Self:
        """A new hierarchy of the parts that `_fill` takes."""
        return cls.__new__(cls)._fill(*parts)

    def _fill(
        self,
        labels: tuple[Label, ...],
        tree: RootedTree | None,
        matrix: NDArray[Any] | None,
        descriptions: dict[Label, str],
        dummies: dict[Label, Label],
    ) -> Self:
        """Set all attributes from checked parts; either the tree or the matrix of distances is None."""
        self._labels, self._tree, self._descriptions, self._dummies = labels, tree, descriptions, dummies
        self._position = {label: number for number, label in enumerate(labels)}
        self._leaf_places = [v for v in range(len(labels)) if tree is None or not tree.children[v]]
        self._leaves = tuple(labels[v] for v in self._leaf_places)
        self._matrix = matrix  # leaf x leaf; of a tree it is computed when first asked for
        self._codes: NDArray[Any] | None = None
        return self

    # -- the hierarchy ----------------------------------------------------------------------------------------------

    @property
    def labels(self) -> tuple[Label, ...]:
        """All labels, inner ones too, in the order in which they were given; dummies come last."""
        return self._labels

    @property
    def leaves(self) -> tuple[Label, ...]:
        """The labels without children, in the order of `labels`: those that are ranked."""
        return self._leaves

    @property
    def root(self) -> Label:
        """The label above all others."""
        return self._labels[self._tree_for("root").root]

    @property
    def is_tree(self) -> bool:
        """Whether every label but the root has exactly one parent; False for a DAG, and without a tree."""
        return self._tree is not None and self._tree.is_tree

    @property
    def has_tree(self) -> bool:
        """Whether there are parents and children; False for `LabelHierarchy.from_distances`, where all are leaves."""
        return self._tree is not None

    @property
    def descriptions(self) -> Mapping[Label, str]:
        """Texts for labels, where there are any."""
        return MappingProxyType(self._descriptions)

    @property
    def dummies(self) -> Mapping[Label, Label]:
        """The leaf that stands for an inner label, for those that have one (`with_dummy_leaves`)."""
        return MappingProxyType(self._dummies)

    def parents(self, label: Any) -> tuple[Label, ...]:
        """The parents of a label: none for the root, one in a tree, any number in a DAG."""
        return self._names(self._tree_for("parents").parents[self._place(label)])

    def children(self, label: Any) -> tuple[Label, ...]:
        """The children of a label, in the order of `labels`."""
        return self._names(self._tree_for("children").children[self._place(label)])

    def ancestors(self, label: Any) -> tuple[Label, ...]:
        """All labels above a label, nearest first; without the label.

        >>> import prefgraph as pg
        >>> pg.LabelHierarchy.from_nested({"energy": {"fuel": ["oil"]}}).ancestors("oil")
        ('fuel', 'energy')
        """
        return self._names(self._tree_for("ancestors").above(self._place(label)))

    def descendants(self, label: Any) -> tuple[Label, ...]:
        """All labels below a label, nearest first; without the label.

        >>> import prefgraph as pg
        >>> pg.LabelHierarchy.from_nested({"energy": {"fuel": ["oil"], "wind": None}}).descendants("energy")
        ('fuel', 'wind', 'oil')
        """
        return self._names(self._tree_for("descendants").below(self._place(label)))

    def path(self, label: Any) -> tuple[Label, ...]:
        """The labels from the root to a label, both included.

        In a DAG a shortest path; of several the one over the parents that come first in `labels`.

        >>> import prefgraph as pg
        >>> pg.LabelHierarchy.from_nested({"energy": {"fuel": ["oil"]}}).path("oil")
        ('energy', 'fuel', 'oil')
        """
        return self._names(self._tree_for("path").path(self._place(label)))

    def depth(self, label: Any) -> int:
        """Number of edges from the root down to a label, on the shortest path."""
        return self._tree_for("depth").depth[self._place(label)]

    def distance(self, a: Any, b: Any) -> float:
        """Number of edges on the shortest way between two labels, or their entry in the matrix of `from_distances`.

        The way may go up and down: siblings have distance 2. In a tree this is a metric.

        >>> import prefgraph as pg
        >>> h = pg.LabelHierarchy.from_nested({"energy": {"fuel": ["oil", "gas"], "wind": None}})
        >>> h.distance("oil", "gas"), h.distance("oil", "energy"), h.distance("oil", "oil")
        (2, 2, 0)
        """
        first, second = self._place(a), self._place(b)
        if self._tree is None:
            return float(self.distances()[first, second])
        return self._tree.distance(first, second)

    def distances(self) -> NDArray[Any]:
        """Distances between all pairs of leaves, rows and columns as in `leaves`; computed once, read-only.

        >>> import prefgraph as pg
        >>> pg.LabelHierarchy.from_nested({"energy": {"fuel": ["oil", "gas"], "wind": None}}).distances()
        array([[0, 2, 3],
               [2, 0, 3],
               [3, 3, 0]], dtype=int16)
        """
        if self._matrix is None:
            n = len(self._leaves)
            small = len(self._labels) <= np.iinfo(np.int16).max  # no shortest way has more edges than there are labels
            matrix = np.empty((n, n), np.int16 if small else np.int32)
            links = self._tree_for("distances").links(both=True)
            distances_between(links.start, links.to, np.array(self._leaf_places, np.int64), matrix)
            matrix.setflags(write=False)
            self._matrix = matrix
        return self._matrix

    # -- ways out ---------------------------------------------------------------------------------------------------

    def to_parents(self) -> dict[Label, Any]:
        """The map that `from_parents` reads: a label, None for the root, or a list of several parents.

        >>> import prefgraph as pg
        >>> pg.LabelHierarchy.from_nested({"energy": ["oil", "gas"]}).to_parents()
        {'energy': None, 'oil': 'energy', 'gas': 'energy'}
        """
        several = map(self._names, self._tree_for("to_parents").parents)
        return {
            label: list(above) if len(above) > 1 else next(iter(above), None)
            for label, above in zip(self._labels, several, strict=True)
        }

    def to_networkx(self) -> nx.DiGraph[Label]:
        """A networkx graph with an edge from each parent to each child, and the descriptions as node attributes.

        >>> import prefgraph as pg
        >>> list(pg.LabelHierarchy.from_nested({"energy": ["oil", "gas"]}).to_networkx().edges)
        [('energy', 'oil'), ('energy', 'gas')]
        """
        tree = self._tree_for("to_networkx")
        graph: nx.DiGraph[Label] = nx.DiGraph()
        for label in self._labels:
            graph.add_node(label, **({"description": self._descriptions[label]} if label in self._descriptions else {}))
        for place, below in enumerate(tree.children):
            graph.add_edges_from((self._labels[place], self._labels[child]) for child in below)
        return graph

    def render(self, max_depth: int | None = None) -> str:
        """The hierarchy as text, a line for each label; in a DAG the second place of a label refers to the first.

        >>> import prefgraph as pg
        >>> h = pg.LabelHierarchy.from_nested({"all": {"energy": {"fuel": ["oil", "gas"]}, "sport": None}})
        >>> print(h.render(max_depth=1))
        all
        ├── energy (3 below)
        └── sport
        """
        return render(self._tree_for("render"), self._labels, max_depth)

    def summary(self) -> str:
        """A few lines about size and shape, for a terminal.

        >>> import prefgraph as pg
        >>> print(pg.LabelHierarchy.from_nested({"all": {"energy": ["oil", "gas"], "sport": None}}).summary())
        4 labels below 'all', a tree of depth 2
        3 leaves; 1 inner label besides the root, of which 0 have a dummy leaf
        """
        leaves = _count(len(self._leaves), "leaf", "leaves")
        if self._tree is None:
            return f"{leaves} with a matrix of distances\nthe largest distance is {self.distances().max():g}"
        tree = self._tree
        several = sum(len(above) > 1 for above in tree.parents)
        shape = "a tree" if tree.is_tree else f"a DAG ({_count(several, 'label')} with several parents)"
        inner = sum(map(bool, tree.children)) - bool(tree.children[tree.root])
        return (
            f"{_count(len(self) - 1, 'label')} below {self.root!r}, {shape} of depth {max(tree.depth)}\n"
            f"{leaves}; {_count(inner, 'inner label')} besides the root, "
            f"of which {len(self._dummies)} have a dummy leaf"
        )

    @property
    def key(self) -> str:
        """A digest of the content, the same on every machine; equal hierarchies of str and int labels have equal keys.

        >>> import prefgraph as pg
        >>> pg.LabelHierarchy.from_nested({"energy": ["oil"]}).key[:8]
        'c0635409'
        """
        digest = hashlib.sha256(b'["hierarchy",')
        parts: tuple[Iterable[str], ...] = (
            map(label_text, self._labels),
            [] if self._tree is None else (f"{list(above)}" for above in self._tree.parents),
            sorted(f"[{label_text(label)},{label_text(dummy)}]" for label, dummy in self._dummies.items()),
        )
        digest.update(",".join(f"[{','.join(part)}]" for part in parts).replace(" ", "").encode("ascii"))
        if self._tree is None:
            digest.update(self.distances().astype("<f8").tobytes())
        return digest.hexdigest()

    def __len__(self) -> int:
        return len(self._labels)

    def __iter__(self) -> Iterator[Label]:
        return iter(self._labels)

    def __contains__(self, label: object) -> bool:
        return label in self._position

    def __repr__(self) -> str:
        place = f"root {self.root!r}" if self._tree is not None else "by distances"
        leaves = _count(len(self._leaves), "leaf", "leaves")
        return f"<LabelHierarchy of {_count(len(self), 'label')}, {leaves}, {place}>"

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, HierarchyBase):
            return NotImplemented
        if (self._labels, self._dummies) != (other._labels, other._dummies):
            return False
        if self._tree is None or other._tree is None:
            return self._tree is other._tree and np.array_equal(self.distances(), other.distances())
        return self._tree.parents == other._tree.parents

    def __hash__(self) -> int:
        return hash((self._labels, None if self._tree is None else self._tree.parents))

    def __getstate__(self) -> tuple[Any, ...]:
        matrix = self._matrix if self._tree is None else None  # what can be computed again is not carried around
        return self._labels, self._tree, matrix, self._descriptions, self._dummies

    def __setstate__(self, state: tuple[Any, ...]) -> None:
        self._fill(*state)
        if self._matrix is not None:
            self._matrix.setflags(write=False)

    # -- helpers ---------------------------------------------------------------------------------------------------

    def _names(self, places: Iterable[int]) -> tuple[Label, ...]:
        return tuple(self._labels[place] for place in places)

    def _place(self, label: Any) -> int:
        """The position of a label, or an error that names it."""
        try:
            return self._position[label]
        except (KeyError, TypeError):
            raise InvalidHierarchy(unknown(label, self._labels)) from None

    def _tree_for(self, question: str) -> RootedTree:
        """The tree, or an error that says why the question has no answer."""
        if self._tree is None:
            raise InvalidHierarchy(
                f"{question}: the hierarchy was made by from_distances and has distances but no tree; build it by "
                "from_parents or another constructor to ask this"
            )
        return self._tree

    def _distance_codes(self) -> NDArray[Any]:
        """The distances as integers of the same order, computed once."""
        if self._tree is not None:
            return self.distances()
        if self._codes is None:
            matrix = self.distances()
            self._codes = np.unique(matrix, return_inverse=True)[1].reshape(matrix.shape).astype(np.int32)
        return self._codes


def _count(number: int, one: str, many: str = "") -> str:
    """``1 label``, ``2 labels``."""
    return f"{number} {one if number == 1 else many or one + 's'}"
