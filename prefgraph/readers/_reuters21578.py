"""Reuters-21578, Distribution 1.0: 21,578 newswire stories of 1987 as a data set, with the corpus's own splits."""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from os import PathLike
from typing import TYPE_CHECKING, Literal

import numpy as np
from scipy import sparse

from prefgraph.dataset import PreferenceDataset
from prefgraph.errors import InvalidOption, check_option
from prefgraph.readers._reuters21578_sgml import ReutersDocument, iter_reuters21578
from prefgraph.targets import as_preferences

if TYPE_CHECKING:
    import pyarrow as pa


def _mod_apte(document: ReutersDocument) -> str:
    """README VIII.B: Lewis's dates, stories that had topics in the raw data; 9,603 / 3,299 / 8,676 unused."""
    return _LEWIS_PARTS[document.lewis_split] if document.topics_attribute == "YES" else "unused"


def _mod_lewis(document: ReutersDocument) -> str:
    """README VIII.A: all that the indexers did not bypass; 13,625 / 6,188 / 1,765 unused."""
    return _LEWIS_PARTS[document.lewis_split] if document.topics_attribute != "BYPASS" else "unused"


def _mod_hayes(document: ReutersDocument) -> str:
    """README VIII.C: 20,856 / 722, none unused."""
    return "train" if document.cgi_split == "TRAINING-SET" else "test"


def _no_split(_: ReutersDocument) -> str:
    """All stories count as training stories where no split is asked for."""
    return "train"


_LEWIS_PARTS = {"TRAIN": "train", "TEST": "test", "NOT-USED": "unused"}
SPLITS: Mapping[str, Callable[[ReutersDocument], str]] = {
    "ModApte": _mod_apte,
    "ModLewis": _mod_lewis,
    "ModHayes": _mod_hayes,
}


def reuters21578(
    folder: str | PathLike[str],
    split: Literal["ModApte", "ModLewis", "ModHayes"] | None = "ModApte",
    topics: int | Literal["R90"] | Sequence[str] | None = None,
    *,
    relevant: Literal["all", "first"] = "all",
    without_topic: Literal["drop", "keep"] = "drop",
    unused: Literal["drop", "keep"] = "drop",
) -> PreferenceDataset:
    """Read Reuters-21578 as a data set of multilabel preference graphs over its topics.

    In the graph of a story each of its topics is preferred to each other topic of the selection.

    Parameters
    ----------
    folder
        Where ``reut2-*.sgm`` are: in it or in its sub-folder ``raw``.
    split
        One of the corpus's own splits; it fills the column ``split`` with ``"train"`` and ``"test"``. None takes all
        stories and makes no split.
    topics
        The labels. None: all topics that a story of the selection has, by name. A number ``n``: the ``n`` topics with
        the most training stories (most stories where ``split`` is None), most frequent first, ties by name. ``"R90"``:
        the topics with at least one training and one test story, by name; in the ModApte split they are 90. Or the
        names themselves, in the order wanted.
    relevant
        ``"all"`` topics of a story are relevant, or only the ``"first"`` of the list; the counts that choose
        ``topics`` go by it too.
    without_topic
        What becomes of stories with none of the topics, whose graphs have no edges: ``"drop"`` or ``"keep"``. The
        counts that the corpus states for its splits are those of ``"keep"``.
    unused
        What becomes of stories that the split leaves out: ``"drop"``, or ``"keep"`` them with ``"unused"`` in the
        column ``split``. They never have a say in choosing ``topics`` by number or as ``"R90"``.

    Returns
    -------
    PreferenceDataset
        ``keys`` are the NEWIDs, ``texts`` title and body, ``preferences`` the graphs. The columns of ``properties``:
        ``oldid``, ``date`` (null where it is misprinted), ``title``, ``dateline``, ``author``, ``text_type``,
        ``first_topic`` (null for a story without one), ``topics`` (all of the story's, selected or not, in file
        order), ``places``, ``people``, ``orgs``, ``exchanges``, and the attributes behind the splits,
        ``topics_attribute``, ``lewis_split`` and ``cgi_split``.

    Raises
    ------
    InvalidFile
        No such file, or a broken one: the message has file, line and, where it is known, the number of the story.
    InvalidOption
        A word that is none of the listed ones, ``"R90"`` without a split, more topics than there are.

    Examples
    --------
    Of two stories, the second has no topic and is dropped unless asked for:

    >>> import pathlib, tempfile
    >>> sgml = '''<REUTERS TOPICS="YES" LEWISSPLIT="TRAIN" CGISPLIT="TRAINING-SET" OLDID="1" NEWID="1">
    ... <TOPICS><D>zinc</D></TOPICS><TEXT><TITLE>Zinc up</TITLE></TEXT>
    ... </REUTERS>
    ... <REUTERS TOPICS="YES" LEWISSPLIT="TEST" CGISPLIT="TRAINING-SET" OLDID="2" NEWID="2">
    ... <TOPICS></TOPICS><TEXT><TITLE>Weather</TITLE></TEXT>
    ... </REUTERS>
    ... '''
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     _ = pathlib.Path(folder, "reut2-000.sgm").write_text(sgml)
    ...     small = reuters21578(folder, topics=["tin", "zinc"])
    ...     both = reuters21578(folder, topics=["tin", "zinc"], without_topic="keep")
    >>> list(small.texts), str(small.preferences[0])
    (['Zinc up'], '[zinc|tin]')
    >>> list(both.split), both.preferences[1].number_of_edges()
    (['train', 'test'], 0)

    References
    ----------
    D. D. Lewis, README of Reuters-21578, Distribution 1.0, section VIII. The selections of the papers: [Aiolli and
    Sperduti, Table 1] ``topics=10``; [Crammer and Singer 2002, Tables 1-2] ``topics="R90"``; [Amini, Truong and
    Goutte, Tables 2-3] ``split=None, topics=10, relevant="first"``.
    """
    if split is not None:
        check_option("split", split, SPLITS)
    check_option("relevant", relevant, ("all", "first"))
    check_option("without_topic", without_topic, ("drop", "keep"))
    check_option("unused", unused, ("drop", "keep"))
    _check_topics(topics, split)

    part_of = SPLITS[split] if split is not None else _no_split
    chosen = [(d, part) for d in iter_reuters21578(folder) if (part := part_of(d)) != "unused" or unused == "keep"]
    assigned = [d.topics if relevant == "all" else d.topics[:1] for d, _ in chosen]
    labels = _choose_topics(topics, assigned, [part for _, part in chosen])
    column = {label: j for j, label in enumerate(labels)}
    columns = [[column[topic] for topic in names if topic in column] for names in assigned]
    if without_topic == "drop":
        kept = [i for i, row in enumerate(columns) if row]
        chosen, columns = [chosen[i] for i in kept], [columns[i] for i in kept]
    documents = [document for document, _ in chosen]
    return PreferenceDataset(
        keys=[document.newid for document in documents],
        texts=[document.text for document in documents],
        preferences=as_preferences(_indicator(columns, len(labels)), labels=labels),
        properties=_properties(documents),
        split=[part for _, part in chosen] if split is not None else None,
    )


def _check_topics(topics: object, split: str | None) -> None:
    """Refuse a selection of topics that cannot be meant, before any file is read."""
    if isinstance(topics, str):
        if topics != "R90":
            raise InvalidOption(f"topics={topics!r} is no selection; give a number, 'R90', a list of names or None")
        if split is None:
            raise InvalidOption("topics='R90' with split=None: R90 asks for training and test documents; name a split")
    elif isinstance(topics, int) and (isinstance(topics, bool) or topics < 1):
        raise InvalidOption(f"topics={topics!r} is not a number of topics; give 1 or more, or None for all")


def _choose_topics(
    topics: int | str | Sequence[str] | None, assigned: Sequence[tuple[str, ...]], parts: Sequence[str]
) -> list[str]:
    """Return the labels that ``topics`` asks for, given each document's topics and its part of the split."""
    if topics is None:
        return sorted({topic for names in assigned for topic in names})
    counts = {part: Counter[str]() for part in ("train", "test", "unused")}
    for names, part in zip(assigned, parts, strict=True):
        counts[part].update(names)
    train = counts["train"]
    if isinstance(topics, int):
        if topics > len(train):
            raise InvalidOption(f"topics={topics} and only {len(train)} have a training document; ask for fewer")
        return sorted(train, key=lambda topic: (-train[topic], topic))[:topics]
    if topics == "R90":
        return sorted(train.keys() & counts["test"].keys())
    return list(topics)


def _indicator(columns: Sequence[Sequence[int]], n_labels: int) -> sparse.csr_array:
    """Return the documents-by-labels matrix with a one at each listed column."""
    indptr = np.cumsum([0, *map(len, columns)])
    indices = np.fromiter((j for row in columns for j in row), dtype=np.int32, count=int(indptr[-1]))
    ones = np.ones(len(indices), dtype=np.int8)
    return sparse.csr_array((ones, indices, indptr), shape=(len(columns), n_labels))


def _properties(documents: Sequence[ReutersDocument]) -> "pa.Table":
    """Return what the documents say about themselves, beside number, text and split."""
    import pyarrow as pa

    names = pa.list_(pa.string())
    return pa.table(
        {
            "oldid": pa.array([d.oldid for d in documents], pa.int64()),
            "date": pa.array([d.timestamp for d in documents], pa.timestamp("ms")),
            "title": pa.array([d.title for d in documents], pa.string()),
            "dateline": pa.array([d.dateline for d in documents], pa.string()),
            "author": pa.array([d.author for d in documents], pa.string()),
            "text_type": pa.array([d.text_type for d in documents], pa.string()),
            "first_topic": pa.array([d.topics[0] if d.topics else None for d in documents], pa.string()),
            "topics": pa.array([d.topics for d in documents], names),
            "places": pa.array([d.places for d in documents], names),
            "people": pa.array([d.people for d in documents], names),
            "orgs": pa.array([d.orgs for d in documents], names),
            "exchanges": pa.array([d.exchanges for d in documents], names),
            "topics_attribute": pa.array([d.topics_attribute for d in documents], pa.string()),
            "lewis_split": pa.array([d.lewis_split for d in documents], pa.string()),
            "cgi_split": pa.array([d.cgi_split for d in documents], pa.string()),
        }
    )
