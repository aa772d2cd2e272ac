"""LabelHierarchy: labels in a tree or DAG, or with distances, and the layered graph of a labelled instance."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from os import PathLike, fspath
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from prefgraph._content import Label, as_list, check_label, where
from prefgraph.builders import from_layers
from prefgraph.compiled import Preferences
from prefgraph.errors import InvalidFile, InvalidHierarchy, InvalidOption
from prefgraph.graph import PreferenceGraph
from prefgraph.hierarchy import _input as read
from prefgraph.hierarchy._base import HierarchyBase
from prefgraph.hierarchy._kernels import layers_from_distances, leaves_of_path_ends
from prefgraph.hierarchy._sets import checked_set, encode
from prefgraph.hierarchy._tree import RootedTree, rooted_tree

__all__ = ["LabelHierarchy"]


class LabelHierarchy(HierarchyBase):
    """Labels with a place in a hierarchy, and what that says about a wrong label: the farther, the worse.

    A hierarchy has one root; a label has one parent (a tree) or several (a DAG), and the distance between two labels
    is the number of edges on the shortest way between them. Instances are ranked over the *leaves*: give every inner
    label a leaf of its own by `with_dummy_leaves`. Instead of a tree, `from_distances` takes any semi-metric; then all
    labels are leaves. A hierarchy never changes.

    Parameters
    ----------
    parents, virtual_root, descriptions, dummies
        As in `from_parents`, which is the same call under a name that says what it reads.

    Raises
    ------
    InvalidHierarchy
        A cycle, a parent that is not a label, several roots without ``virtual_root``, or no labels.

    Notes
    -----
    Two hierarchies are equal if they have the same labels in the same order (it is the order of the columns of
    `layer_matrix`), the same parents, dummies and distances; descriptions are comments and do not count. Compare
    `to_parents` to leave the order out.

    Examples
    --------
    >>> import prefgraph as pg
    >>> parents = {"energy": None, "fuel": "energy", "oil": "fuel", "gas": "fuel", "wind": "energy"}
    >>> h = pg.LabelHierarchy.from_parents(parents)
    >>> print(h.render())
    energy
    ├── fuel
    │   ├── oil
    │   └── gas
    └── wind
    >>> h.distance("oil", "gas"), h.distance("oil", "wind")
    (2, 3)
    >>> h.preference_graph({"oil"})
    <PreferenceGraph [oil|gas|wind]>

    References
    ----------
    [DMS03] Section 4.
    """

    def __init__(
        self,
        parents: Mapping[Any, Any],
        *,
        virtual_root: Label | None = None,
        descriptions: Mapping[Any, str] | None = None,
        dummies: Mapping[Any, Any] | None = None,
    ) -> None:
        labels, tree = rooted_tree(read.from_mapping(parents), virtual_root)
        self._fill(labels, tree, None, dict(descriptions or {}), dict(dummies or {}))
        self._check_marks()

    def _check_marks(self) -> None:
        """Descriptions and dummies, as given by a caller, belong to labels that can have them."""
        for label in self._descriptions:
            self._place(label)
        for label, dummy in self._dummies.items():
            if self._tree_for("dummies").children[self._place(dummy)] or self.parents(dummy) != (label,):
                raise InvalidHierarchy(
                    f"dummies names {dummy!r} for {label!r}; the dummy of a label is a leaf with that label as its "
                    "only parent, and with_dummy_leaves() makes it"
                )

    # -- ways in ----------------------------------------------------------------------------------------------------

    @classmethod
    def from_parents(
        cls,
        parents: Mapping[Any, Any],
        *,
        virtual_root: Label | None = None,
        descriptions: Mapping[Any, str] | None = None,
        dummies: Mapping[Any, Any] | None = None,
    ) -> Self:
        """Build the hierarchy from a map of each label to its parent.

        Parameters
        ----------
        parents
            For each label its parent, None for the root, or a list, tuple or set of several parents (a tuple that is
            itself a label of the map is taken as that label). The order of the map is kept.
        virtual_root
            A new label above all roots, also above a single one. Without it there must be one root.
        descriptions
            Texts for some of the labels.
        dummies
            For inner labels the leaf that stands for them (see `with_dummy_leaves`): with `to_parents`, `dummies` and
            `descriptions` a hierarchy can be written down and built again.

        Examples
        --------
        >>> LabelHierarchy.from_parents({"oil": "energy", "energy": None})
        <LabelHierarchy of 2 labels, 1 leaf, root 'energy'>
        >>> LabelHierarchy.from_parents({"oil": "energy"})
        Traceback (most recent call last):
        prefgraph.errors.InvalidHierarchy: the parent 'energy' of 'oil' is not a label of its own; add 'energy': None \
if it is the root or its own parent if it is not, or use from_edges, which takes labels as they come
        """
        return cls(parents, virtual_root=virtual_root, descriptions=descriptions, dummies=dummies)

    @classmethod
    def from_edges(cls, edges: Iterable[tuple[Any, Any]], *, virtual_root: Label | None = None) -> Self:
        """Build the hierarchy from ``(parent, child)`` pairs, labels in the order in which they appear.

        Parameters
        ----------
        edges
            The pairs. A child may have several parents; ``(None, label)`` announces a label without a parent.
        virtual_root
            As in `from_parents`.

        Examples
        --------
        >>> h = LabelHierarchy.from_edges([("energy", "oil"), ("energy", "gas"), ("trade", "oil")], virtual_root="top")
        >>> h.parents("oil"), h.is_tree, h.distance("gas", "trade")
        (('energy', 'trade'), False, 3)
        """
        return cls(read.from_pairs(edges), virtual_root=virtual_root)

    @classmethod
    def from_nested(cls, nested: Any, *, virtual_root: Label | None = None) -> Self:
        """Build the hierarchy from dicts in dicts, as YAML and JSON files hold them.

        Parameters
        ----------
        nested
            A dict from each root to what stands below it: a dict, a list of labels (or dicts), or None. A label that
            stands in two places is one label with two parents.
        virtual_root
            As in `from_parents`.

        Examples
        --------
        >>> LabelHierarchy.from_nested({"energy": {"fuel": ["oil", "gas"], "wind": None}}).leaves
        ('oil', 'gas', 'wind')
        """
        return cls(read.from_nested(nested), virtual_root=virtual_root)

    @classmethod
    def from_paths(
        cls, paths: Iterable[str], *, separator: str = "/", label: str = "path", virtual_root: Label | None = None
    ) -> Self:
        """Build the hierarchy from paths such as ``"energy/oil"``; every prefix of a path becomes a label.

        Parameters
        ----------
        paths
            The paths. One separator at the start or the end is ignored.
        separator
            What stands between two names.
        label
            ``"path"``: a label is the whole path down to it, so that ``"oil/other"`` and ``"gas/other"`` stay apart.
            ``"name"``: a label is the last name alone; a name met below two others is one label with two parents.
        virtual_root
            As in `from_parents`; paths rarely share their first name, and then it is needed.

        Examples
        --------
        >>> paths = ["energy/oil", "energy/gas", "sport"]
        >>> LabelHierarchy.from_paths(paths, virtual_root="").leaves
        ('energy/oil', 'energy/gas', 'sport')
        >>> LabelHierarchy.from_paths(paths, label="name", virtual_root="all").leaves
        ('oil', 'gas', 'sport')
        """
        return cls(read.from_path_names(paths, separator, label), virtual_root=virtual_root)

    @classmethod
    def from_rcv1(cls, path: str | PathLike[str], *, virtual_root: Label | None = None) -> Self:
        r"""Read the topic hierarchy that comes with RCV1: lines ``parent: X child: Y child-description: Z``.

        Parameters
        ----------
        path
            The file. The parent of the root is written None; descriptions are kept.
        virtual_root
            As in `from_parents`; RCV1's own files have a root.

        Raises
        ------
        InvalidFile
            A line of another form, or lines that together are no hierarchy; the message names file and line.

        Examples
        --------
        >>> from pathlib import Path
        >>> from tempfile import TemporaryDirectory
        >>> with TemporaryDirectory() as folder:
        ...     file = Path(folder, "topics.hier")
        ...     _ = file.write_text(
        ...         "parent: None  child: Root  child-description: No Description\n"
        ...         "parent: Root  child: GSPO  child-description: SPORTS\n"
        ...     )
        ...     h = LabelHierarchy.from_rcv1(file)
        >>> h.leaves, h.descriptions["GSPO"]
        (('GSPO',), 'SPORTS')
        """
        parents, descriptions = read.from_rcv1_file(path)
        try:
            return cls(parents, virtual_root=virtual_root, descriptions=descriptions)
        except InvalidHierarchy as error:
            raise InvalidFile(f"{fspath(path)}: {error}") from None

    @classmethod
    def from_distances(cls, matrix: ArrayLike, labels: Iterable[Any]) -> Self:
        """Take any semi-metric on labels in place of a tree; all labels are leaves.

        Parameters
        ----------
        matrix
            Square, symmetric, finite, 0 on the diagonal and not negative. The triangle inequality need not hold, and
            two labels at distance 0 of each other are equally good.
        labels
            The labels of rows and columns.

        Examples
        --------
        >>> h = LabelHierarchy.from_distances([[0, 1, 4], [1, 0, 2], [4, 2, 0]], ["low", "mid", "high"])
        >>> h.preference_graph({"high"})
        <PreferenceGraph [high|mid|low]>
        >>> h.path("low")
        Traceback (most recent call last):
        prefgraph.errors.InvalidHierarchy: path: the hierarchy was made by from_distances and has distances but no \
tree; build it by from_parents or another constructor to ask this
        """
        names = tuple(check_label(label) for label in as_list(labels, "labels", error=InvalidHierarchy))
        distances = read.from_distance_matrix(matrix, names)
        return cls._made_of(names, None, distances, {}, {})

    # -- from labels to leaves --------------------------------------------------------------------------------------

    def with_dummy_leaves(self, name: str | Callable[[Any], Any] = "{} (general)") -> Self:
        """Give every inner label except the root a leaf of its own, which stands for "this label, nothing finer".

        An instance whose labels end at an inner label is then about that leaf, and all labels but the root can be
        ranked. A label that has such a leaf already gets no second one, so that doing it twice changes nothing.

        Parameters
        ----------
        name
            The name of the new leaf: a text with ``{}`` where the label goes, or a function of the label. It must not
            be the name of another label. The new leaves come last in `labels`.

        Raises
        ------
        InvalidHierarchy
            A new name is a label already, or two labels would get the same.

        Examples
        --------
        >>> h = LabelHierarchy.from_nested({"all": {"energy": ["oil", "gas"], "sport": None}}).with_dummy_leaves()
        >>> h.leaves
        ('oil', 'gas', 'sport', 'energy (general)')
        >>> h.leaf_for("energy"), h.distance("oil", "energy (general)")
        ('energy (general)', 2)

        References
        ----------
        [DMS03] Section 4.
        """
        tree = self._tree
        if tree is None:
            return self
        naming = _naming(name)
        owners: dict[Label, Label] = {}
        for place, label in enumerate(self._labels):
            if place == tree.root or not tree.children[place] or label in self._dummies:
                continue
            dummy = check_label(naming(label))
            if dummy in self._position or dummy in owners:
                taken = f"that of {owners[dummy]!r} too" if dummy in owners else "a label of the hierarchy already"
                raise InvalidHierarchy(
                    f"the dummy leaf of {label!r} would be called {dummy!r}, which is {taken}; give another name=, "
                    "such as '{} (itself)'"
                )
            owners[dummy] = label
        if not owners:
            return self
        grown = RootedTree([*tree.parents, *((self._position[label],) for label in owners.values())], tree.root)
        dummies = self._dummies | {label: dummy for dummy, label in owners.items()}
        return self._made_of((*self._labels, *owners), grown, None, self._descriptions, dummies)

    def leaf_for(self, label: Any) -> Label:
        """The leaf that stands for a label: the label itself if it is a leaf, else its dummy.

        Raises
        ------
        InvalidHierarchy
            An inner label without a dummy, or the root, which is relevant to everything and never has one.

        Examples
        --------
        >>> LabelHierarchy.from_nested({"all": {"energy": ["oil"]}}).leaf_for("energy")
        Traceback (most recent call last):
        prefgraph.errors.InvalidHierarchy: 'energy' is an inner label without a leaf of its own; rank over \
with_dummy_leaves(), or name one of its children
        """
        return self._leaf_for(label, None)

    def path_ends(self, label_set: Iterable[Any]) -> tuple[Label, ...]:
        """The most specific labels of a set: those without a descendant in the set, in the order of `labels`.

        Where the ancestors of a label are listed beside it, as in RCV1, they only spell out its path. The root is
        relevant to everything and is left out, alone too: a set of the root says as little as the empty set.

        >>> h = LabelHierarchy.from_nested({"all": {"energy": ["oil", "gas"], "sport": None}})
        >>> h.path_ends(["all", "energy", "oil", "sport"]), h.path_ends(["energy"]), h.path_ends(["all"])
        (('oil', 'sport'), ('energy',), ())
        """
        return self._path_ends(label_set, None)

    def correct_leaves(self, label_set: Iterable[Any]) -> tuple[Label, ...]:
        """The leaves that a set of labels stands for: `leaf_for` each of its `path_ends`.

        >>> h = LabelHierarchy.from_nested({"all": {"energy": ["oil", "gas"], "sport": None}}).with_dummy_leaves()
        >>> h.correct_leaves({"energy", "sport"})
        ('sport', 'energy (general)')
        """
        return self._correct_leaves(label_set, None)

    # -- from leaves to preferences ---------------------------------------------------------------------------------

    def layers_of(
        self, correct: Iterable[Any], max_layers: int | None = 3, *, instance: object = None
    ) -> list[list[Label]]:
        """The leaves in layers around the correct ones, best first.

        The severity of a leaf is its distance to the closest correct leaf. Layer 0 holds the correct leaves, and the
        distances that occur, in ascending order, make the next layers; deeper layers fall into the last one::

            layer(y) = min(max_layers - 1, number of distinct severities below that of y)

        Parameters
        ----------
        correct
            The labels of the instance; `correct_leaves` says which leaves they mean. None: all leaves in one layer.
        max_layers
            How many layers there are at most, 2 or more; None for no limit.
        instance
            What the labels are about, for error messages.

        Examples
        --------
        >>> h = LabelHierarchy.from_nested({"all": {"energy": {"fuel": ["oil", "gas"], "wind": None}, "sport": None}})
        >>> h.layers_of(["oil"])
        [['oil'], ['gas'], ['wind', 'sport']]
        >>> h.layers_of(["oil"], max_layers=None)
        [['oil'], ['gas'], ['wind'], ['sport']]
        >>> h.layers_of([])
        [['oil', 'gas', 'wind', 'sport']]

        References
        ----------
        [DMS03] Section 4, with ``max_layers=3``.
        """
        cap = self._cap(max_layers)
        leaves = self._correct_leaves(correct, instance)
        if not leaves:
            return [list(self._leaves)]
        near: list[Any]
        if self._tree is None:
            near = self.distances()[[self._position[leaf] for leaf in leaves]].min(axis=0).tolist()
        else:
            everywhere = self._tree.distances_from(self._position[leaf] for leaf in leaves)
            near = [everywhere[place] for place in self._leaf_places]
        layer = {value: min(rank, cap) for rank, value in enumerate(sorted(set(near)))}
        layers: list[list[Label]] = [[] for _ in set(layer.values())]
        for leaf, value in zip(self._leaves, near, strict=True):
            layers[layer[value]].append(leaf)
        return layers

    def preference_graph(
        self, correct: Iterable[Any], max_layers: int | None = 3, *, instance: object = None
    ) -> PreferenceGraph:
        """The layered graph over the leaves of an instance with the given labels; parameters as in `layers_of`.

        >>> h = LabelHierarchy.from_nested({"all": {"energy": ["oil", "gas"], "sport": ["golf", "chess"]}})
        >>> h.preference_graph({"oil"})
        <PreferenceGraph [oil|gas|golf,chess]>
        >>> h.preference_graph({"oil", "golf"})
        <PreferenceGraph [oil,golf|gas,chess]>
        """
        return from_layers(self.layers_of(correct, max_layers, instance=instance), instance=instance)

    def layer_matrix(
        self, label_sets: Any, max_layers: int | None = 3, *, columns: Iterable[Any] | None = None
    ) -> NDArray[Any]:
        """The layers of many instances at once, one row each and a column for each of `leaves`.

        Parameters
        ----------
        label_sets
            A collection of labels for each instance, or a matrix of 0 and 1, dense or scipy sparse, with a row for
            each instance and a column for each label of ``columns``.
        max_layers
            As in `layers_of`.
        columns
            The labels of the columns of a matrix, inner ones too. Required there: the number of columns never tells
            which labels they are.

        Returns
        -------
        ndarray of shape (instances, leaves)
            0 for the best layer; int8 up to 128 layers, wider above. Besides it nothing grows with instances x leaves.

        Raises
        ------
        InvalidTarget
            A label that the hierarchy does not have, or a matrix of other values; the message names the instance.
        InvalidHierarchy
            An instance whose labels end at an inner label without a leaf of its own.

        Examples
        --------
        >>> h = LabelHierarchy.from_nested({"all": {"energy": ["oil", "gas"], "sport": ["golf", "chess"]}})
        >>> h.layer_matrix([{"oil"}, {"oil", "golf"}, {}])
        array([[0, 1, 2, 2],
               [0, 1, 0, 1],
               [0, 0, 0, 0]], dtype=int8)
        """
        cap = self._cap(max_layers)
        sets = encode(label_sets, self._position, columns)
        tree = self._tree or RootedTree([()] * len(self._labels), 0)  # without a tree no label is above another
        parents = tree.links(both=False)
        start, leaves, bad = leaves_of_path_ends(sets.start, sets.members, *parents, self._leaf_numbers())
        if bad >= 0:
            members = sets.members[sets.start[bad] : sets.start[bad + 1]]
            self._correct_leaves(self._names(members), int(np.argmax(sets.which == bad)))
        dtype = next(kind for kind in (np.int8, np.int16, np.int32) if cap <= np.iinfo(kind).max)
        layers = np.empty((len(sets.which), len(self._leaves)), dtype)
        code = self._distance_codes()
        layers_from_distances(code, int(code.max(initial=0)) + 1, start, leaves, sets.which, cap, layers)
        return layers

    def preferences(
        self, label_sets: Any, max_layers: int | None = 3, *, columns: Iterable[Any] | None = None
    ) -> Preferences:
        """The layered graphs of many instances, compiled over `leaves`; parameters as in `layer_matrix`.

        >>> h = LabelHierarchy.from_nested({"all": {"energy": ["oil", "gas"], "sport": ["golf", "chess"]}})
        >>> h.preferences([{"oil"}, {"golf"}])[1]
        <PreferenceGraph instance 1: [golf|chess|oil,gas]>
        """
        layers = self.layer_matrix(label_sets, max_layers, columns=columns)
        return Preferences.from_layer_matrix(layers, labels=self.leaves)

    # -- helpers ----------------------------------------------------------------------------------------------------

    def _leaf_for(self, label: Any, instance: object) -> Label:
        place = self._place(label)
        if self._tree is None or not self._tree.children[place]:
            return self._labels[place]
        if label in self._dummies:
            return self._dummies[label]
        if place == self._tree.root:
            raise InvalidHierarchy(
                f"{where(instance)}{label!r} is the root, which is relevant to everything and has no leaf of its own; "
                "leave it out, or put another root above it by virtual_root="
            )
        raise InvalidHierarchy(
            f"{where(instance)}{label!r} is an inner label without a leaf of its own; rank over with_dummy_leaves(), "
            "or name one of its children"
        )

    def _path_ends(self, label_set: Iterable[Any], instance: object) -> tuple[Label, ...]:
        places = {self._position[label] for label in checked_set(label_set, self._position, instance)}
        if self._tree is not None:
            tree = self._tree
            spelled_out = {above for place in places for above in tree.above(place)}
            if tree.children[tree.root]:
                spelled_out.add(tree.root)
            places -= spelled_out
        return self._names(sorted(places))

    def _correct_leaves(self, label_set: Iterable[Any], instance: object) -> tuple[Label, ...]:
        leaves = (self._leaf_for(label, instance) for label in self._path_ends(label_set, instance))
        return self._names(sorted(self._position[leaf] for leaf in leaves))

    def _cap(self, max_layers: Any) -> int:
        """The number of the last layer."""
        if max_layers is None:
            return len(self._leaves) - 1
        if isinstance(max_layers, bool) or not isinstance(max_layers, int | np.integer) or max_layers < 2:
            raise InvalidOption(f"max_layers={max_layers!r}; it is an int of 2 or more, or None for no limit")
        return int(min(max_layers, len(self._leaves))) - 1

    def _leaf_numbers(self) -> NDArray[np.int64]:
        """For each label the column of the leaf that stands for it; -1 for an inner root, -2 where there is none."""
        numbers = np.full(len(self._labels), -2, np.int64)
        numbers[self._leaf_places] = np.arange(len(self._leaves))
        for label, dummy in self._dummies.items():
            numbers[self._position[label]] = numbers[self._position[dummy]]
        if self._tree is not None and self._tree.children[self._tree.root]:
            numbers[self._tree.root] = -1
        return numbers


def _naming(name: Any) -> Callable[[Any], Any]:
    """The function from a label to the name of its dummy leaf."""
    if callable(name):
        naming: Callable[[Any], Any] = name
        return naming
    try:
        telling = isinstance(name, str) and name.format("a") != name.format("b")
    except (AttributeError, IndexError, KeyError, ValueError):
        telling = False
    if not telling:
        raise InvalidOption(f"name={name!r}; it is a text with {{}} where the label goes, or a function of the label")
    return str(name).format
