"""GraphStore: data sets of preference graphs in a graph database, whichever it is."""

from __future__ import annotations

import json
import re
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from numbers import Integral
from os import PathLike
from typing import Any, Self, TypeVar

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from prefgraph import (
    Decomposition,
    InvalidDataset,
    LabelHierarchy,
    Parts,
    PreferenceDataset,
    PreferenceGraph,
    Preferences,
)
from prefgraph.errors import check_option
from storage import codec, cypher, packing, schema
from storage._archive import export, import_
from storage._models import violations
from storage._properties import encode_values
from storage._questions import answer
from storage._verify import problems
from storage._writing import check_fits, write_dataset, write_scores
from storage.codec import Key
from storage.errors import (
    DatasetExists,
    DatasetNotFound,
    InstanceNotFound,
    InvalidQuery,
    NewerStore,
    StoreBusy,
    StoreDamaged,
)
from storage.protocol import Backend

__all__ = ["GraphStore"]

MODES = ("create", "replace", "append")
# A write of another process that has done nothing for so long will do nothing more.
ABANDONED_AFTER = 600.0
_PARAMETER = re.compile(r"\$([A-Za-z_]\w*)")
_QUOTED = re.compile(r"'(?:[^'\\]|\\.)*'|\"(?:[^\"\\]|\\.)*\"|`[^`]*`|//[^\n]*|/\*.*?\*/", re.DOTALL)
# How often a read is tried again that a write came between.
READ_ATTEMPTS = 5
T = TypeVar("T")
_INSTANCE_COLUMNS = ("id", *codec.INSTANCE_CONTENT)


class GraphStore:
    """Data sets in a graph database. Open one with `open_store`; it is a context manager.

    Examples
    --------
    >>> import prefgraph as pg
    >>> from storage import open_store
    >>> p = pg.as_preferences(["[a|b,c]", "a>b, b>c, c>a"], form="notation")
    >>> data = pg.PreferenceDataset(keys=["d1", "d2"], preferences=p)
    >>> with open_store(":memory:") as store:
    ...     store.write("small", data)
    ...     store.read("small") == data, store.ask("cyclic_instances", dataset="small")["key"].to_pylist()
    (True, ['d2'])
    """

    def __init__(self, backend: Backend) -> None:
        self._backend = backend
        try:
            self._prepare()
        except BaseException:
            backend.close()
            raise

    def _prepare(self) -> None:
        """Make the database a store, check that it is one that we know, and clear away what a crash left."""
        backend = self._backend
        if not backend.is_empty() and not backend.is_ours():
            raise StoreDamaged(
                f"{backend.url} holds a database that is not a store; give another one, nothing was changed"
            )
        if backend.is_ours():
            self._check_version()
        if backend.read_only:
            if backend.is_empty() or not self._rows(cypher.STORE):
                raise StoreDamaged(f"{backend.url} holds no store yet; open it for writing once")
            return
        backend.declare()
        backend.transaction([(cypher.NEW_STORE, {"version": schema.VERSION})])
        self._check_version()
        self._clear_away()

    def _check_version(self) -> None:
        """Refuse a store of a later version; one that was only begun has none yet."""
        for row in self._rows(cypher.STORE):
            if row["version"] > schema.VERSION:
                raise NewerStore(
                    f"{self.url} has version {row['version']} of the schema, this release knows {schema.VERSION}; "
                    "open it with a newer release"
                )

    def _clear_away(self) -> None:
        """Delete what writes left that never got their name: all of them where no other process can be writing."""
        before = int(time.time() - ABANDONED_AFTER) if self._backend.shared else 2**62
        for root in ("Dataset", "Model"):
            for row in self._rows(cypher.UNNAMED.format(root=root), before=before):
                self._backend.remove(row["first_id"], row["end_id"])

    # -- opening and closing -------------------------------------------------------------------------------------------

    @property
    def url(self) -> str:
        """Where the store is, without a password."""
        return self._backend.url

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Let go of the database. A closed store cannot be used again."""
        self._backend.close()

    def __repr__(self) -> str:
        return f"<GraphStore {self.url} ({self._backend.name})>"

    # -- writing -------------------------------------------------------------------------------------------------------

    def write(self, name: str, dataset: PreferenceDataset, mode: str = "create") -> None:
        """Put a data set into the store: all of it or nothing.

        Until the last step nothing of it is visible, and after a crash nothing of it is left.

        Parameters
        ----------
        name
            Any text.
        dataset
            Labels and keys are str or int, properties bools, numbers, text, dates or lists of text.
        mode
            ``"create"``: an error if the name is taken; ``"replace"``: instead of what is there, if anything;
            ``"append"``: behind what is there. Appending the same instances again, as after a lost answer, changes
            nothing.

        Raises
        ------
        DatasetExists, DatasetNotFound
            The mode does not fit.
        InvalidDataset
            An appended data set has other columns or a key that is there already.
        StoreBusy
            Another process changed the data set at the same time; nothing was written, try again.
        """
        check_option("mode", mode, MODES)
        _check_name("data set", name)
        if not isinstance(dataset, PreferenceDataset):
            raise InvalidDataset(f"{type(dataset).__name__} is not a PreferenceDataset; make one of it first")
        there = self._rows(cypher.WRITES, name=name)
        if mode == "create" and there:
            raise DatasetExists(f"the data set {name!r} exists already; write with mode='replace' or mode='append'")
        if mode == "append":
            if not there:
                raise self._no_dataset(name)
            if codec.digest_of(dataset) in [row["digest"] for row in there]:
                return
            check_fits(self, name, dataset, there)
        write_dataset(self, name, dataset, there, mode)

    def delete(self, name: str) -> None:
        """Take a data set out of the store, with all that models said about it."""
        self._writes(name)
        steps = [(cypher.LOCK, {}), (cypher.HIDE_MODELS, {"name": name}), (cypher.HIDE_DATASET, {"name": name})]
        _, *hidden = self._backend.transaction(steps)
        for row in [row for table in hidden for row in table.to_pylist()]:
            self._backend.remove(row["first_id"], row["end_id"])

    # -- reading -------------------------------------------------------------------------------------------------------

    def datasets(self) -> list[str]:
        """The names of all data sets, sorted."""
        return sorted(row["name"] for row in self._rows(cypher.DATASETS))

    def labels(self, name: str) -> list[Key]:
        """The label index of a data set."""
        self._writes(name)
        rows = self._rows(cypher.LABELS, name=name)
        indexed = sorted((row for row in rows if row["position"] is not None), key=lambda row: int(row["position"]))
        return [codec.name_of(row["name"], row["name_is_int"]) for row in indexed]

    def hierarchy(self, name: str) -> LabelHierarchy | None:
        """The label hierarchy of a data set, or None."""
        return codec.decode_hierarchy(json.loads(self._writes(name)[0]["header"])["hierarchy"])

    def read(
        self,
        name: str,
        *,
        where: Mapping[str, Any] | None = None,
        split: str | None = None,
        keys: Iterable[Key] | None = None,
    ) -> PreferenceDataset:
        """A data set, or the instances of it that fit all that is asked.

        Parameters
        ----------
        name
            The data set.
        where
            A value, or a set or list of values, for each property named.
        split
            The word of the split.
        keys
            The keys wanted, which gives their order too; one that is not there is an error.
        """
        wanted = None if keys is None else [codec.text_of(key, "key") for key in keys]
        return self._steady(name, lambda writes: self._read(name, writes, where, split, wanted))

    def _read(
        self,
        name: str,
        writes: list[dict[str, Any]],
        where: Mapping[str, Any] | None,
        split: str | None,
        wanted: list[tuple[str, bool]] | None,
    ) -> PreferenceDataset:
        header = json.loads(writes[0]["header"])
        filters, parameters = self._filters(name, header, where, split)
        if wanted is not None:
            self._check_keys(name, wanted)
            filters += " AND i.key IN $keys"
            parameters["keys"] = sorted({text for text, _ in wanted})
        rows = _joined([self._instances(row, row["first_id"], row["end_id"], filters, parameters) for row in writes])
        if wanted is not None:
            rows = _in_order(rows, wanted)
        return codec.decode(rows, self._graphs(rows, writes), self.labels(name), header)

    def _check_keys(self, name: str, wanted: list[tuple[str, bool]]) -> None:
        texts = sorted({text for text, _ in wanted})
        there = {(row["key"], row["key_is_int"]) for row in self._rows(cypher.KEYS, name=name, keys=texts)}
        for pair in wanted:
            if pair not in there:
                raise self._no_instance(name, codec.name_of(*pair))

    def _steady(self, name: str, read: Callable[[list[dict[str, Any]]], T]) -> T:
        """Run a read of several statements; again, if a write came in between."""
        for _ in range(READ_ATTEMPTS):
            writes = self._writes(name)
            try:
                result = read(writes)
            except Exception:
                if self._rows(cypher.WRITES, name=name) == writes:
                    raise
                continue
            if self._rows(cypher.WRITES, name=name) == writes:
                return result
        raise StoreBusy(f"the data set {name!r} is changed again and again while it is read; try again")

    def stream(self, name: str, batch_size: int = 1000) -> Iterator[PreferenceDataset]:
        """The data set in pieces of ``batch_size`` instances, in order; only one piece is in memory at a time."""
        if not isinstance(batch_size, Integral) or batch_size < 1:
            raise InvalidDataset(f"batch_size={batch_size!r}; it is a number of instances, 1 or more")
        writes = self._writes(name)
        labels = self.labels(name)
        return self._pieces(name, writes, labels, int(batch_size))

    def _pieces(
        self, name: str, writes: list[dict[str, Any]], labels: list[Key], batch_size: int
    ) -> Iterator[PreferenceDataset]:
        header = json.loads(writes[0]["header"])
        for row in writes:
            first, count = row["first_id"] + 1, json.loads(row["header"])["instances"]
            for start in range(first, first + count, batch_size):
                end = min(start + batch_size, first + count)
                rows = self._instances(row, start, end, "", {})
                if rows.num_rows != end - start:
                    raise StoreBusy(f"the data set {name!r} was replaced or deleted while it was read; start again")
                yield codec.decode(rows, self._graphs(rows, []), labels, header)

    def parts(self, name: str, decomposition: str | Decomposition = "identity") -> Parts:
        """The parts of all instances, the same as ``read(name).preferences.parts(decomposition)``, without the rest."""
        return self._steady(name, lambda writes: self._preferences(name, writes)).parts(decomposition)

    def _preferences(self, name: str, writes: list[dict[str, Any]]) -> Preferences:
        """The preferences alone: two columns and the packed graphs."""
        parameters = [{"first_id": row["first_id"], "end_id": row["end_id"]} for row in writes]
        rows = _joined([self._table(cypher.SUPERVISION, **span) for span in parameters]).sort_by("id")
        return codec.preferences_of(rows, self._graphs(rows, writes), self.labels(name))

    def graph(self, name: str, key: Key) -> PreferenceGraph:
        """The preference graph of one instance."""
        text, is_int = codec.text_of(key, "key")
        return self._steady(name, lambda _: self._graph(name, key, text, is_int))

    def _graph(self, name: str, key: Key, text: str, is_int: bool) -> PreferenceGraph:
        rows = self._rows(cypher.GRAPH_OF_KEY, name=name, key=text, key_is_int=is_int)
        if not rows:
            raise self._no_instance(name, key)
        labels = self.labels(name)
        place, layer, table = packing.unpack_graphs([rows[0]["packed"]], len(labels))
        return Preferences(labels, place.astype(np.int32), layer, table).graph(0, instance=key)

    def stats(self, name: str) -> dict[str, Any]:
        """The numbers of instances, labels, distinct graphs, edges and cyclic instances, splits, and models."""
        return self._steady(name, lambda _: self._stats(name))

    def _stats(self, name: str) -> dict[str, Any]:
        counts = {key: int(value or 0) for key, value in self._one(cypher.COUNTS, name=name).items()}
        return {
            "instances": counts["instances"],
            "labels": len(self.labels(name)),
            "graphs": counts["graphs"],
            "edges": counts["edges"],
            "cyclic": int(self._one(cypher.CYCLIC_COUNT, name=name)["cyclic"]),
            "splits": {row["split"]: int(row["instances"]) for row in self._rows(cypher.SPLITS, name=name)},
            "models": [row["name"] for row in self._rows(cypher.MODELS, dataset=name)],
        }

    # -- asking --------------------------------------------------------------------------------------------------------

    def query(self, text: str, /, *, write: bool = False, timeout: float | None = 60.0, **parameters: Any) -> pa.Table:
        """Run Cypher and return an Arrow table (``.to_pandas()`` makes a data frame of it).

        Parameters
        ----------
        text
            The query. Values go in as ``$name`` parameters, never into the text.
        write
            Whether it may change the store. What the verbs of this class keep in order, such a query can put out of
            order; `verify` finds it.
        timeout
            Seconds, None for no limit.
        **parameters
            The values of the parameters.

        Raises
        ------
        InvalidQuery, QueryTimeout, ReadOnlyStore
        """
        bare = _QUOTED.sub("''", text)
        if bare.rstrip().rstrip(";").count(";"):
            raise InvalidQuery("the text holds more than one statement; run them one after the other")
        missing = set(_PARAMETER.findall(bare)) - parameters.keys()
        if missing:
            raise InvalidQuery(
                f"the query has the parameter ${min(missing)}, which got no value; give {min(missing)}=..."
            )
        return self._backend.query(text, _plain(parameters), write=write, timeout=timeout)

    def ask(self, question: str, dataset: str, **parameters: Any) -> pa.Table:
        """Ask one of the named questions; `QUESTIONS` lists them with a line each.

        Parameters
        ----------
        question
            Its name.
        dataset
            The data set that it is about.
        **parameters
            What the question needs beyond that: ``key`` for ``"neighbours"``, ``property`` and ``value`` for
            ``"by_property"``.
        """
        return self._steady(dataset, lambda _: answer(self, question, dataset, parameters))

    def decompose(self, name: str, decomposition: str) -> Parts:
        """The parts of all instances under one of the four decompositions, cut by the database itself.

        The same as `parts`, which is quicker; this is what a Cypher query over parts builds on.
        """
        check_option("decomposition", decomposition, cypher.DECOMPOSE)
        return self._steady(name, lambda _: self._decompose(name, decomposition))

    def _decompose(self, name: str, decomposition: str) -> Parts:
        instances = np.asarray(self._table(cypher.INSTANCE_IDS, name=name)["id"], np.int64)
        rows = self._table(cypher.DECOMPOSE[decomposition], name=name)
        return codec.parts_of(rows, instances, self.labels(name), decomposition)

    # -- models --------------------------------------------------------------------------------------------------------

    def write_scores(
        self,
        name: str,
        model_name: str,
        keys: Iterable[Key],
        scores: npt.ArrayLike,
        labels: Iterable[Key] | None = None,
    ) -> None:
        """Store a model's scores for instances of a data set, instead of what that model said before; all or nothing.

        Parameters
        ----------
        name, model_name
            The data set and a name for the model.
        keys
            The instances, one for each row of ``scores``.
        scores
            Finite numbers, large is good.
        labels
            The columns; by default the label index of the data set.
        """
        _check_name("model", model_name)
        write_scores(self, name, model_name, list(keys), scores, None if labels is None else list(labels))

    def violations(self, name: str, model_name: str, by: str = "edge") -> pa.Table:
        """The preferences that a model's scores break, found in the database; a tie breaks an edge.

        Parameters
        ----------
        name, model_name
            As in `write_scores`.
        by
            ``"edge"``: a row for each broken edge, the most surprising (smallest margin) first; ``"pair"``: added up by
            pair of labels; ``"instance"``: added up by instance.
        """
        return self._steady(name, lambda _: violations(self, name, model_name, by))

    # -- care ----------------------------------------------------------------------------------------------------------

    def verify(self, name: str) -> pa.Table:
        """Recompute keys and packed copies; a row for everything that was changed behind the store's back."""
        return self._steady(name, lambda _: problems(self, name))

    def export_to(self, directory: str | PathLike[str], names: Iterable[str] | None = None) -> None:
        """Write data sets (all by default) to a directory of Parquet files, the same from every backend."""
        export(self, directory, names)

    def import_from(
        self, directory: str | PathLike[str], names: Iterable[str] | None = None, mode: str = "create"
    ) -> None:
        """Read what `export_to` wrote; ``mode`` as in `write`."""
        import_(self, directory, names, mode)

    # -- primitives ----------------------------------------------------------------------------------------------------

    def _table(self, text: str, **parameters: Any) -> pa.Table:
        return self._backend.query(text, parameters)

    def _rows(self, text: str, **parameters: Any) -> list[dict[str, Any]]:
        return list(self._table(text, **parameters).to_pylist())

    def _one(self, text: str, **parameters: Any) -> dict[str, Any]:
        return self._rows(text, **parameters)[0]

    def _writes(self, name: str) -> list[dict[str, Any]]:
        """The nodes of a data set, one for each write, in order."""
        rows = self._rows(cypher.WRITES, name=name)
        if not rows:
            raise self._no_dataset(name)
        return rows

    def _header(self, name: str, write: Mapping[str, Any] | None = None) -> dict[str, Any]:
        """What a data set, or one of its writes, says about its columns."""
        row = self._writes(name)[0] if write is None else write
        return dict(json.loads(row["header"]))

    def _graph_objects(self, name: str, ids: pa.ChunkedArray) -> dict[int, PreferenceGraph]:
        """Graphs by their id."""
        rows = self._table(cypher.SOME_GRAPHS, ids=sorted(set(ids.to_pylist())))
        labels = self.labels(name)
        place, layer, table = packing.unpack_graphs(rows["packed"].to_pylist(), len(labels))
        p = Preferences(labels, place.astype(np.int32), layer, table)
        return {number: p[i] for i, number in enumerate(rows["id"].to_pylist())}

    def _no_instance(self, name: str, key: Key) -> InstanceNotFound:
        return InstanceNotFound(f"the data set {name!r} has no instance with the key {key!r}; keys keep their type")

    def _no_dataset(self, name: str) -> DatasetNotFound:
        known = ", ".join(map(repr, self.datasets()[:10])) or "none"
        return DatasetNotFound(f"no data set is called {name!r}; the store has {known}")

    def _filters(
        self, name: str, header: Mapping[str, Any], where: Mapping[str, Any] | None, split: str | None
    ) -> tuple[str, dict[str, Any]]:
        """Conditions on instances, and their parameters; the text is made of stored column names only."""
        text = ""
        parameters: dict[str, Any] = {}
        if split is not None:
            known = [row["split"] for row in self._rows(cypher.SPLITS, name=name)]
            if split not in known:
                raise InvalidDataset(f"split={split!r} is not a split of {name!r}; its splits: {known or 'none'}")
            text, parameters = " AND i.split = $split", {"split": split}
        kinds = {field.name: field.type for field in codec.schema_of(header)}
        for number, (property_name, values) in enumerate((where or {}).items()):
            if property_name not in kinds:
                raise InvalidDataset(
                    f"{name!r} has no property {property_name!r}; its properties: {', '.join(kinds) or 'none'}"
                )
            wanted = encode_values(property_name, values, kinds[property_name])
            column = f"i.`{header['properties'][property_name]}`"
            empty = f" OR {column} IS NULL" if None in wanted else ""
            text += f" AND ({column} IN $where{number}{empty})"
            parameters[f"where{number}"] = [value for value in wanted if value is not None]
        return text, parameters

    def _instances(
        self, write: Mapping[str, Any], first_id: int, end_id: int, filters: str, parameters: Mapping[str, Any]
    ) -> pa.Table:
        """The rows of some instances of one write, in order, with the names the first write gave the columns."""
        stored = json.loads(write["header"])["properties"]
        columns = [*_INSTANCE_COLUMNS, *stored.values()]
        text = cypher.INSTANCES.format(filters=filters, columns=", ".join(f"i.`{c}` AS `{c}`" for c in columns))
        rows = self._table(text, **parameters, first_id=first_id, end_id=end_id)
        return rows.cast(codec.instance_schema(json.loads(write["header"])))

    def _graphs(self, instances: pa.Table, writes: Sequence[Mapping[str, Any]]) -> pa.Table:
        """The packed graphs of some instances: by number where they are few, else all of the data set."""
        ids = np.unique(np.asarray(instances["graph"], np.int64))
        if not writes or len(ids) < 1000:
            return self._table(cypher.SOME_GRAPHS, ids=ids.tolist())
        spans = [{"first_id": row["first_id"], "end_id": row["end_id"]} for row in writes]
        return _joined([self._table(cypher.GRAPHS, **span) for span in spans])


def _joined(tables: Sequence[pa.Table]) -> pa.Table:
    """Tables one behind the other; a column without a value may have no type, where the engine has no declared ones."""
    return pa.concat_tables(tables, promote_options="default")


def _in_order(rows: pa.Table, wanted: list[tuple[str, bool]]) -> pa.Table:
    """The rows that have these keys, in this order."""
    place = {
        pair: k for k, pair in enumerate(zip(rows["key"].to_pylist(), rows["key_is_int"].to_pylist(), strict=True))
    }
    return rows.take(pa.array([place[pair] for pair in dict.fromkeys(wanted) if pair in place], pa.int64()))


def _check_name(what: str, name: object) -> None:
    if not isinstance(name, str) or not name:
        raise InvalidDataset(
            f"the name {name!r} of a {what} is not a text of one character or more; give it such a name"
        )
    codec.stored_text(name, f"the name of a {what},")


def _plain(value: Any) -> Any:
    """A parameter as plain Python data: drivers refuse numpy's scalars and arrays, and sets."""
    if isinstance(value, Mapping):
        return {key: _plain(item) for key, item in value.items()}
    if isinstance(value, (list, tuple, AbstractSet)):
        return [_plain(item) for item in value]
    return value.tolist() if isinstance(value, (np.generic, np.ndarray)) else value
