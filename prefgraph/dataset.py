"""PreferenceDataset: instances with their features or text, their properties and their preferences."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from numbers import Integral, Real
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np
import numpy.typing as npt
from scipy import sparse

from prefgraph._content import Label, as_list, check_label
from prefgraph._edge_table import gather, row_numbers, runs, starts
from prefgraph.compiled import Preferences
from prefgraph.errors import InvalidDataset
from prefgraph.graph import PreferenceGraph
from prefgraph.hierarchy import LabelHierarchy
from prefgraph.parts import IntArray
from prefgraph.targets import as_preferences

if TYPE_CHECKING:
    import pyarrow as pa

__all__ = ["Candidates", "PreferenceDataset"]

Key = str | int
T = TypeVar("T")
RESERVED = ("key", "text", "split")


@dataclass(frozen=True, eq=False)
class Candidates:
    """Feature rows for each instance and candidate: joint features ``h(x, y)``, a label set per instance.

    Attributes
    ----------
    X
        A row of features for each candidate of each instance, dense or sparse, instance after instance.
    offsets
        The rows of instance ``i`` are ``offsets[i]:offsets[i + 1]``.
    labels
        The label of each row. The candidates of an instance are distinct and include all vertices of its graph.

    Examples
    --------
    >>> import numpy as np, prefgraph as pg
    >>> c = Candidates(np.eye(3), [0, 2, 3], ["a1", "a2", "b1"])
    >>> len(c), c.take([1]).labels
    (2, ('b1',))
    """

    X: Any
    offsets: IntArray
    labels: tuple[Label, ...]

    def __post_init__(self) -> None:
        object.__setattr__(self, "X", _features(self.X, "candidates.X"))
        given = _array(self.offsets, "candidates: offsets")
        if given.ndim != 1 or given.dtype.kind not in "iu":
            raise InvalidDataset(
                f"candidates: offsets has the shape {given.shape} and type {given.dtype}; it is a list of row numbers, "
                "one more than there are instances"
            )
        object.__setattr__(self, "offsets", np.array(given, np.int64))
        object.__setattr__(
            self, "labels", tuple(check_label(v) for v in as_list(self.labels, "labels", error=InvalidDataset))
        )
        rows = self.X.shape[0]
        ends = self.offsets[[0, -1]].tolist() if len(self.offsets) else []
        if ends != [0, rows] or np.any(np.diff(self.offsets) < 0):
            raise InvalidDataset(
                f"candidates: offsets go from {ends} and not from 0 to the number of rows, {rows}, without falling; "
                "the rows of instance i are those from offsets[i] to offsets[i + 1]"
            )
        if len(self.labels) != rows:
            raise InvalidDataset(f"candidates: {len(self.labels)} labels for {rows} rows; give one for each row")
        self.offsets.setflags(write=False)

    def __reduce__(self) -> tuple[Any, ...]:
        """Copies and pickles are made again, because numpy would give them offsets that can be written."""
        return Candidates, (self.X, self.offsets, self.labels)

    def __len__(self) -> int:
        """The number of instances."""
        return len(self.offsets) - 1

    def take(self, rows: slice | npt.ArrayLike) -> Candidates:
        """The candidates of some instances: a slice, row numbers or a mask."""
        chosen = row_numbers(rows, len(self))
        places = gather(self.offsets, chosen)
        return Candidates(self.X[places], starts(np.diff(self.offsets)[chosen]), tuple(self.labels[k] for k in places))

    def vertex_rows(self, preferences: Preferences) -> IntArray:
        """The row of ``X`` for each vertex of each instance, in the order of `Preferences.vertex_lists`."""
        if len(preferences) != len(self):
            raise InvalidDataset(f"candidates has {len(self)} instances for {len(preferences)}; give rows for each")
        place = {v: k for k, v in enumerate(preferences.labels)}
        position = np.array([place.setdefault(v, len(place)) for v in self.labels], np.int64)
        # (instance, label) as one number, so that sorting finds what is listed twice and what is missing
        listed = runs(self.offsets) * len(place) + position
        order = np.argsort(listed, kind="stable")
        if (twice := np.flatnonzero(np.diff(listed[order]) == 0)).size:
            row = order[twice[0]]
            raise InvalidDataset(
                f"instance {runs(self.offsets)[row]}: the candidate {self.labels[row]!r} is listed twice; the "
                "candidates of an instance are distinct"
            )
        offsets, vertices = preferences.vertex_lists()
        wanted = runs(offsets) * len(place) + vertices
        found = np.searchsorted(listed[order], wanted)
        known = found < len(listed)
        known[known] = listed[order[found[known]]] == wanted[known]
        if (missing := np.flatnonzero(~known)).size:
            label = preferences.labels[vertices[missing[0]]]
            raise InvalidDataset(
                f"instance {runs(offsets)[missing[0]]}: the graph has the label {label!r}, which is no candidate; add "
                "its row"
            )
        return order[found]


class PreferenceDataset:
    """Instances with keys, features or text, properties, preferences, a hierarchy and splits.

    Parameters
    ----------
    keys
        A distinct str or int for each instance; by default 0, 1, 2 ...
    X
        Features, one row for each instance, dense or sparse.
    texts
        A text for each instance.
    preferences
        `Preferences`, or any target that `as_preferences` recognises.
    properties
        What else is known of each instance: a pyarrow table, a mapping of columns or a pandas data frame. The names
        ``key``, ``text`` and ``split`` are taken.
    hierarchy
        The label hierarchy behind the preferences.
    split
        A word for each instance (``"train"``, ``"test"``), or None.
    candidates
        Feature rows for each instance and candidate (`Candidates`, or its three fields as a tuple).

    Raises
    ------
    InvalidDataset
        Lengths differ, a key occurs twice, a candidate is missing: the message names the instance and the column.

    Examples
    --------
    >>> import prefgraph as pg
    >>> data = pg.PreferenceDataset(
    ...     keys=["d1", "d2"],
    ...     texts=["oil up", "gas down"],
    ...     preferences=["oil", "gas"],
    ...     properties={"source": ["wire", "desk"]},
    ...     split=["train", "test"],
    ... )
    >>> data
    <PreferenceDataset: 2 instances, 2 labels, texts, properties source; test 1, train 1>
    >>> data.select(split="train").keys, print(data.graph("d2"))
    [gas|oil]
    (('d1',), None)
    """

    def __init__(
        self,
        *,
        preferences: Any,
        keys: Iterable[Key] | None = None,
        X: Any = None,
        texts: Iterable[str] | None = None,
        properties: Any = None,
        hierarchy: LabelHierarchy | None = None,
        split: Iterable[str | None] | None = None,
        candidates: Candidates | tuple[Any, Any, Any] | None = None,
    ) -> None:
        self.preferences = as_preferences(preferences)
        m = len(self.preferences)
        self.keys: tuple[Key, ...] = tuple(range(m)) if keys is None else _checked_keys(keys, m)
        self.X = None if X is None else _features(X, "X")
        self.texts: tuple[str, ...] | None = None if texts is None else _words(texts, "texts", m, optional=False)
        self.properties: pa.Table = _as_table(properties, m)
        self.hierarchy = _instance_of(
            LabelHierarchy, hierarchy, "hierarchy", "make one with LabelHierarchy.from_parents()"
        )
        self.split: tuple[str | None, ...] | None = None if split is None else _words(split, "split", m, optional=True)
        if isinstance(candidates, tuple) and len(candidates) == 3:
            candidates = Candidates(*candidates)
        self.candidates = _instance_of(Candidates, candidates, "candidates", "give X, offsets and labels in a tuple")
        if self.X is not None and self.X.shape[0] != m:
            raise InvalidDataset(f"X has {self.X.shape[0]} rows for {m} instances; give one row for each")
        if self.candidates is not None:
            self.candidates.vertex_rows(self.preferences)
        self._places: dict[Key, int] | None = None

    def __setstate__(self, state: dict[str, Any]) -> None:
        """Take the state of a copy or a pickle, in which a table without columns has lost its number of rows."""
        vars(self).update(state)
        self.properties = _as_table(self.properties, len(self))

    def __len__(self) -> int:
        """The number of instances."""
        return len(self.keys)

    def __repr__(self) -> str:
        columns = [name for name in ("X", "texts", "hierarchy", "candidates") if getattr(self, name) is not None]
        if self.properties.num_columns:
            columns.append("properties " + " ".join(self.properties.column_names))
        facts = ", ".join([f"{len(self)} instances", f"{len(self.labels)} labels", *columns])
        splits = ", ".join(f"{word} {count}" for word, count in self.split_counts().items())
        return f"<PreferenceDataset: {facts}{'; ' + splits if splits else ''}>"

    @property
    def labels(self) -> tuple[Label, ...]:
        """The label index of the preferences."""
        return self.preferences.labels

    def split_counts(self) -> dict[str | None, int]:
        """The number of instances in each split."""
        words = sorted(set(self.split or ()), key=lambda word: (word is None, word))
        return {word: sum(w == word for w in self.split or ()) for word in words}

    def row(self, key: Key) -> int:
        """The row number of the instance with this key."""
        if self._places is None:
            self._places = {k: i for i, k in enumerate(self.keys)}
        if not isinstance(key, (str, Integral)) or isinstance(key, bool) or key not in self._places:
            raise KeyError(f"no instance has the key {key!r}; keys look like {', '.join(map(repr, self.keys[:3]))}")
        return self._places[key]

    def graph(self, key: Key) -> PreferenceGraph:
        """The preference graph of the instance with this key."""
        number = int(self.preferences.graph_index[self.row(key)])
        return self.preferences.graph(number, instance=key)

    def take(self, rows: slice | npt.ArrayLike) -> PreferenceDataset:
        """The data set of some instances, in the order given: a slice, row numbers or a mask."""
        import pyarrow as pa

        chosen = row_numbers(rows, len(self))
        return PreferenceDataset(
            preferences=self.preferences.take(chosen),
            keys=[self.keys[i] for i in chosen],
            X=None if self.X is None else self.X[chosen],
            texts=None if self.texts is None else [self.texts[i] for i in chosen],
            properties=self.properties.take(pa.array(chosen)),
            hierarchy=self.hierarchy,
            split=None if self.split is None else [self.split[i] for i in chosen],
            candidates=None if self.candidates is None else self.candidates.take(chosen),
        )

    def select(
        self,
        *,
        split: str | None = None,
        where: Mapping[str, Any] | None = None,
        keys: Iterable[Key] | None = None,
    ) -> PreferenceDataset:
        """The instances that fit all that is asked, in the order of the data set (of ``keys`` where given).

        Parameters
        ----------
        split
            The word of the split.
        where
            A value, or a set or list of values, for each property named.
        keys
            The keys wanted; one that is not there is a KeyError.

        Examples
        --------
        >>> import prefgraph as pg
        >>> data = pg.PreferenceDataset(preferences=["a", "b", "a"], properties={"year": [1996, 1997, 1998]})
        >>> data.select(where={"year": {1996, 1998}}).keys
        (0, 2)
        """
        rows = (
            np.arange(len(self)) if keys is None else np.array([self.row(k) for k in _several(keys, "keys")], np.int64)
        )
        if split is not None:
            if split not in list(self.split_counts()):  # a list, because what is no str may have no hash
                known = ", ".join(map(repr, self.split_counts())) or "none"
                raise InvalidDataset(f"split={split!r} is not a split of this data set; its splits: {known}")
            rows = rows[[self.split is not None and self.split[i] == split for i in rows]]
        if where is not None and not isinstance(where, Mapping):
            raise InvalidDataset(f"where is {where!r}; give a dict from names of properties to values")
        for name, values in (where or {}).items():
            rows = rows[_matches(self.properties, name, values)[rows]]
        return self.take(rows)

    @staticmethod
    def concatenate(pieces: Sequence[PreferenceDataset]) -> PreferenceDataset:
        """All instances of several data sets that have the same columns; labels and keys are joined."""
        import pyarrow as pa

        pieces = as_list(pieces, "data sets", error=InvalidDataset)
        if not pieces:
            raise InvalidDataset("concatenate() got no data set; give at least one")
        if strange := [piece for piece in pieces if not isinstance(piece, PreferenceDataset)]:
            raise InvalidDataset(f"concatenate() got {strange[0]!r}; it takes a list of data sets, one or more")
        first = pieces[0]
        for name in ("X", "texts", "split", "candidates"):
            if len({getattr(piece, name) is None for piece in pieces}) > 1:
                raise InvalidDataset(
                    f"some of the data sets have {name} and some have not; give all of them the same columns"
                )
        if any(piece.hierarchy != first.hierarchy for piece in pieces):
            raise InvalidDataset("the data sets have different hierarchies; give all of them the same one")
        try:
            properties = pa.concat_tables([piece.properties for piece in pieces])
        except pa.ArrowInvalid as error:
            raise InvalidDataset(
                f"the properties of the data sets do not fit ({error}); give all of them the same columns and types"
            ) from None
        return PreferenceDataset(
            preferences=Preferences.concatenate([piece.preferences for piece in pieces]),
            keys=[key for piece in pieces for key in piece.keys],
            X=None if first.X is None else _stacked([piece.X for piece in pieces]),
            texts=None if first.texts is None else [text for piece in pieces for text in piece.texts or ()],
            properties=properties,
            hierarchy=first.hierarchy,
            split=None if first.split is None else [word for piece in pieces for word in piece.split or ()],
            candidates=_joined([piece.candidates for piece in pieces if piece.candidates is not None]),
        )

    def __eq__(self, other: object) -> bool:
        """Equal in every column."""
        if not isinstance(other, PreferenceDataset):
            return NotImplemented
        plain = ("keys", "texts", "split", "hierarchy", "preferences")
        return (
            all(getattr(self, name) == getattr(other, name) for name in plain)
            and self.properties.equals(other.properties)
            and _same_features(self.X, other.X)
            and _same_candidates(self.candidates, other.candidates)
        )

    __hash__ = None  # type: ignore[assignment]


def _checked_keys(keys: Iterable[Key], m: int) -> tuple[Key, ...]:
    checked: list[Key] = []
    for i, key in enumerate(_several(keys, "keys")):
        if isinstance(key, str):
            checked.append(str(key))
        elif isinstance(key, Integral) and not isinstance(key, bool):
            checked.append(int(key))
        else:
            raise InvalidDataset(f"instance {i} has the key {key!r}; a key is a str or an int")
    if len(checked) != m:
        raise InvalidDataset(f"{len(checked)} keys for {m} instances; give one for each")
    if len(set(checked)) < m:
        seen: set[Key] = set()
        twice = next(key for key in checked if key in seen or seen.add(key))  # type: ignore[func-returns-value]
        raise InvalidDataset(f"the key {twice!r} occurs twice; keys are distinct")
    return tuple(checked)


def _several(values: Iterable[Any], name: str) -> Iterable[Any]:
    """The values, unless they are a text, which would be read letter by letter."""
    if isinstance(values, (str, bytes)) or not isinstance(values, Iterable):
        raise InvalidDataset(f"{name} is {values!r}; give a list with one for each instance")
    return values


def _instance_of(kind: type[T], value: Any, name: str, advice: str) -> T | None:
    if value is None or isinstance(value, kind):
        return value
    raise InvalidDataset(f"{name} is a {type(value).__name__} and no {kind.__name__}; {advice}")


def _words(words: Iterable[Any], name: str, m: int, *, optional: bool) -> tuple[Any, ...]:
    checked = tuple(str(word) if isinstance(word, str) else word for word in _several(words, name))
    if len(checked) != m:
        raise InvalidDataset(f"{name} has {len(checked)} entries for {m} instances; give one for each")
    for i, word in enumerate(checked):
        if not (isinstance(word, str) or (optional and word is None)):
            raise InvalidDataset(f"{name}: instance {i} has {word!r}; give a str{' or None' if optional else ''}")
    return checked


def _features(X: Any, name: str) -> Any:
    """A two-dimensional array of numbers, or a sparse matrix in CSR form."""
    array: Any = X if sparse.issparse(X) else _array(X, name)
    if array.ndim != 2 or array.dtype.kind not in "biuf":
        raise InvalidDataset(f"{name} has the shape {array.shape} and type {array.dtype}; it is a matrix of numbers")
    return array.tocsr() if sparse.issparse(X) else array


def _array(values: Any, name: str) -> Any:
    try:
        return np.asarray(values)
    except ValueError:
        raise InvalidDataset(f"{name} has rows of several lengths; give rows of one length") from None


def _as_table(properties: Any, m: int) -> pa.Table:
    import pyarrow as pa

    if properties is None:
        return pa.table({"_": np.empty(m, np.int8)}).drop_columns(["_"])
    try:
        if isinstance(properties, pa.Table):
            table = properties
        elif isinstance(properties, Mapping):
            table = pa.table({name: _column(name, values) for name, values in properties.items()})
        elif hasattr(properties, "iloc"):
            table = pa.Table.from_pandas(properties, preserve_index=False)
        else:
            raise InvalidDataset(
                f"properties is a {type(properties).__name__}; give a pyarrow table, a mapping of columns or a data "
                "frame"
            )
    except (pa.ArrowException, OverflowError, ValueError, TypeError) as error:
        if isinstance(error, InvalidDataset):
            raise
        raise InvalidDataset(
            f"properties cannot be made a table: {error}; give named columns, each of one type and as long as the data"
        ) from None
    if table.num_columns and table.num_rows != m:
        raise InvalidDataset(f"properties has {table.num_rows} rows for {m} instances; give one for each")
    for name in table.column_names:
        if name in RESERVED or table.column_names.count(name) > 1:
            raise InvalidDataset(f"properties has the column {name!r}, a name that is taken; choose another one")
    return table if table.num_columns else _as_table(None, m)


def _column(name: Any, values: Any) -> Any:
    if not isinstance(name, str):
        raise InvalidDataset(f"properties has a column named {name!r}; give names as str")
    return values if hasattr(values, "__array__") or hasattr(values, "__arrow_array__") else list(values)


def _matches(table: pa.Table, name: str, values: Any) -> npt.NDArray[np.bool_]:
    """Which rows have one of the values in a column."""
    import pyarrow as pa
    import pyarrow.compute as pc

    if name not in table.column_names:
        known = ", ".join(map(repr, table.column_names)) or "none"
        raise InvalidDataset(f"where names the property {name!r}, which the data set has not; its properties: {known}")
    wanted = list(values) if isinstance(values, (AbstractSet, list, tuple, np.ndarray)) else [values]
    column = table[name]
    kind = column.type.value_type if pa.types.is_dictionary(column.type) else column.type
    if pa.types.is_null(kind):  # a column in which nothing is said has no type to compare with
        return np.full(len(column), any(value is None for value in wanted))
    try:
        if pa.types.is_integer(kind) and any(isinstance(v, Real) and not float(v).is_integer() for v in wanted):
            raise pa.ArrowInvalid("a fraction, which pyarrow would cut off")
        matches = pc.is_in(column, value_set=pa.array(wanted, type=kind))
    except (pa.ArrowException, OverflowError):
        raise InvalidDataset(
            f"where has {wanted!r} for the property {name!r} of type {kind}; give such values, and no lists"
        ) from None
    return np.asarray(matches.to_numpy(), bool)


def _stacked(pieces: Sequence[Any]) -> Any:
    widths = {piece.shape[1] for piece in pieces}
    if len(widths) > 1:
        raise InvalidDataset(
            f"X has {' and '.join(map(str, sorted(widths)))} columns; give all data sets the same features"
        )
    if any(sparse.issparse(piece) for piece in pieces):
        return sparse.vstack(pieces, format="csr")
    return np.concatenate(pieces)


def _joined(pieces: Sequence[Candidates]) -> Candidates | None:
    if not pieces:
        return None
    counts = np.concatenate([np.diff(piece.offsets) for piece in pieces])
    return Candidates(_stacked([p.X for p in pieces]), starts(counts), tuple(v for p in pieces for v in p.labels))


def _same_features(a: Any, b: Any) -> bool:
    if a is None or b is None:
        return a is b
    if a.shape != b.shape or sparse.issparse(a) != sparse.issparse(b):
        return False
    if not sparse.issparse(a):
        return np.array_equal(a, b, equal_nan=True)
    a, b = _canonical(a), _canonical(b)
    fields = ("indptr", "indices", "data")
    return all(np.array_equal(getattr(a, name), getattr(b, name), equal_nan=name == "data") for name in fields)


def _canonical(X: Any) -> Any:
    """A sparse matrix with each entry listed once and in order, and no zeros."""
    X = X.copy()
    X.sum_duplicates()
    X.eliminate_zeros()
    return X


def _same_candidates(a: Candidates | None, b: Candidates | None) -> bool:
    if a is None or b is None:
        return a is b
    return a.labels == b.labels and np.array_equal(a.offsets, b.offsets) and _same_features(a.X, b.X)
