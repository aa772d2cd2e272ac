"""RCV1-v2: 804,414 newswire stories of 1996-97 with topics from a hierarchy, as a data set."""

from collections.abc import Mapping, Sequence
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from prefgraph.dataset import PreferenceDataset
from prefgraph.errors import InvalidFile, InvalidOption, check_option
from prefgraph.hierarchy import LabelHierarchy
from prefgraph.readers._files import find_files
from prefgraph.readers._rcv1_files import (
    PUBLISHED,
    SUBSET_PUBLISHED,
    iter_rcv1_tokens,
    read_assignments,
    read_subset,
    subset_features,
    subset_topics,
)
from prefgraph.targets import as_preferences

if TYPE_CHECKING:
    import pyarrow as pa

LAST_TRAINING_DOCUMENT = 26150  # LYRL2004: document numbers up to here are the training set, 23,149 documents


def rcv1(
    folder: str | PathLike[str],
    documents: Literal["assignments", "subset", "tokens"] = "assignments",
    *,
    supervision: Literal["hierarchy", "multilabel"] = "hierarchy",
    max_layers: int | None = 3,
    subset: int | None = None,
) -> PreferenceDataset:
    """Read RCV1-v2 as a data set of preference graphs over its topics.

    Parameters
    ----------
    folder
        Where the files are: in it, in its sub-folder ``raw`` or, for the subset, ``derived``. The hierarchy
        ``rcv1.topics.hier.orig`` is always needed.
    documents
        ``"assignments"``: all documents of ``rcv1-v2.topics.qrels``, with topics and nothing else. ``"tokens"``: the
        documents of the token files ``lyrl2004_tokens_*``, with their stems as texts and the topics of the former
        file. ``"subset"``: the documents of ``rcv1subset_named.tsv``, with binary features.
    supervision
        ``"hierarchy"``: layered graphs over the leaves of the hierarchy with dummy leaves, the correct leaves on top,
        the others below by their distance from them. ``"multilabel"``: the topics of a document, ancestors included,
        are each preferred to the topics that it does not have.
    max_layers
        With ``"hierarchy"``: the layers beyond this number are one with the last; None keeps all.
    subset
        With ``"subset"``: the number of one subset, or None for all in the file. Each subset chose its 944 features
        for itself, so documents of different subsets share no column: all in one have 944 columns for each subset.

    Returns
    -------
    PreferenceDataset
        ``hierarchy`` is the one that the labels belong to. ``keys`` are document numbers, ``split`` is LYRL2004's:
        ``"train"`` up to number 26150 and ``"test"`` beyond. Of the subset the numbers are not known: its keys are
        such as ``"1A-17"``, and half A is ``"train"``, half B ``"test"``. ``properties`` has the column ``topics``
        (the document's topics, ancestors included, by name) and for the subset ``subset``, ``half`` and ``row``.

    Raises
    ------
    InvalidFile
        A file that is missing or broken: the message has file, line and, where it is known, the document.
    InvalidOption
        A word that is none of the listed ones, ``subset`` without ``documents="subset"``.

    Examples
    --------
    A document about C12, with the ancestor that RCV1 lists too, and one that ends at the inner topic CCAT:

    >>> import pathlib, tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     _ = pathlib.Path(folder, "rcv1.topics.hier.orig").write_text('''
    ... parent: None child: Root child-description: x
    ... parent: Root child: CCAT child-description: x
    ... parent: CCAT child: C11 child-description: x
    ... parent: CCAT child: C12 child-description: x
    ... parent: Root child: GCAT child-description: x
    ... ''')
    ...     _ = pathlib.Path(folder, "rcv1-v2.topics.qrels").write_text('''C12 2286 1
    ... CCAT 2286 1
    ... CCAT 30000 1
    ... ''')
    ...     data = rcv1(folder)
    ...     flat = rcv1(folder, supervision="multilabel")
    >>> list(data.keys), list(data.split)
    ([2286, 30000], ['train', 'test'])
    >>> data.preferences[0].layers()
    [['C12'], ['C11', 'CCAT (general)'], ['GCAT']]
    >>> data.preferences[1].layers()[0]
    ['CCAT (general)']
    >>> str(flat.preferences[1])
    '[CCAT|C11,C12,GCAT]'

    References
    ----------
    D. D. Lewis, Y. Yang, T. G. Rose and F. Li, RCV1: a new benchmark collection for text categorization research,
    JMLR 5 (2004). The layered graphs: [Dekel, Manning and Singer 2003, section 4].
    """
    check_option("documents", documents, ("assignments", "subset", "tokens"))
    check_option("supervision", supervision, ("hierarchy", "multilabel"))
    if subset is not None and documents != "subset":
        raise InvalidOption(f"subset={subset!r} with documents={documents!r}; it goes with documents='subset' only")
    hierarchy = LabelHierarchy.from_rcv1(_only_file(folder, "rcv1.topics.hier.orig"))
    topics = sorted(str(node) for node in hierarchy.labels if node != hierarchy.root)

    if documents == "subset":
        rows = _subset(folder, topics, subset)
    else:
        rows = _tokens(folder, topics) if documents == "tokens" else _assignments(folder, topics)
    if supervision == "multilabel":
        preferences = as_preferences(rows.indicator, labels=topics)
    else:
        hierarchy = hierarchy.with_dummy_leaves()
        preferences = hierarchy.preferences(rows.indicator, columns=topics, max_layers=max_layers)
    return PreferenceDataset(
        keys=rows.keys,
        X=rows.X,
        texts=rows.texts,
        preferences=preferences,
        properties=_properties(rows, topics),
        hierarchy=hierarchy,
        split=rows.split,
    )


class _Rows(NamedTuple):
    """What one kind of documents gives, before it becomes preferences."""

    keys: Sequence[int] | Sequence[str]
    indicator: sparse.csr_array
    split: Sequence[str]
    texts: Sequence[str] | None = None
    X: sparse.csr_array | None = None
    origin: Mapping[str, Sequence[object]] = {}


def _assignments(folder: str | PathLike[str], topics: Sequence[str]) -> _Rows:
    """All documents that have a topic, by their numbers."""
    ids, indicator = read_assignments(_only_file(folder, "rcv1-v2.topics.qrels"), topics)
    return _Rows(ids.tolist(), indicator, _lyrl_split(ids))


def _tokens(folder: str | PathLike[str], topics: Sequence[str]) -> _Rows:
    """The documents of the token files in their order, each with its row of the assignments."""
    path = _only_file(folder, "rcv1-v2.topics.qrels")
    assigned, indicator = read_assignments(path, topics)
    documents = list(iter_rcv1_tokens(folder))
    ids = np.array([document.id for document in documents], dtype=np.int64)
    row = np.minimum(np.searchsorted(assigned, ids), len(assigned) - 1)
    if (missing := ids[assigned[row] != ids]).size:
        raise InvalidFile(
            f"{path}: document {missing[0]} of the token files has no topic in it ({missing.size} have none); "
            f"each document of RCV1-v2 has one, take the complete file from {PUBLISHED}"
        )
    texts = [document.text for document in documents]
    return _Rows(ids.tolist(), indicator[row], _lyrl_split(ids), texts=texts)


def _subset(folder: str | PathLike[str], topics: Sequence[str], subset: int | None) -> _Rows:
    """The documents of the named subset, with features."""
    documents = read_subset(_only_file(folder, "rcv1subset_named.tsv"), topics, subset)
    return _Rows(
        [document.key for document in documents],
        subset_topics(documents, topics),
        ["train" if document.half == "A" else "test" for document in documents],
        X=subset_features(documents),
        origin={name: [getattr(document, name) for document in documents] for name in ("subset", "half", "row")},
    )


def _only_file(folder: str | PathLike[str], name: str) -> Path:
    """Return the file of this name in the folder or where the corpus is usually unpacked."""
    published = PUBLISHED if name != "rcv1subset_named.tsv" else SUBSET_PUBLISHED
    return find_files(folder, name, inside=("raw", "derived"), published=published)[0]


def _lyrl_split(ids: NDArray[np.int64]) -> list[str]:
    """LYRL2004's chronological split, by document number."""
    return ["train" if known else "test" for known in (ids <= LAST_TRAINING_DOCUMENT).tolist()]


def _properties(rows: _Rows, topics: Sequence[str]) -> "pa.Table":
    """Return where the documents come from, and their topics as lists of names, made without a loop over documents."""
    import pyarrow as pa

    names = pa.array(topics, pa.string()).take(pa.array(rows.indicator.indices))
    lists = pa.ListArray.from_arrays(pa.array(rows.indicator.indptr, pa.int32()), names)
    return pa.table({**{name: pa.array(values) for name, values in rows.origin.items()}, "topics": lists})
