"""The files of RCV1-v2: topic assignments, token files and the subset of 15,000 documents, as arrays and records."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from os import PathLike
from pathlib import Path
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from prefgraph.errors import InvalidFile
from prefgraph.readers._files import broken, find_files

PUBLISHED = "the on-line appendices of 'RCV1-v2/LYRL2004' (Lewis, Yang, Rose and Li, JMLR 5, 2004)"
SUBSET_PUBLISHED = "five sets 'rcv1subset1' to 'rcv1subset5' with 944 features, of which the file is a named extract"
N_SUBSET_FEATURES = 944

Lines: TypeAlias = tuple[Sequence[str], NDArray[np.intp], NDArray[np.int64]]


# ------------------------------------------------------------------------------------------------- topic assignments


def read_assignments(path: Path, topics: Sequence[str]) -> tuple[NDArray[np.int64], sparse.csr_array]:
    """Read ``TOPIC DOCUMENT 1`` lines as sorted document numbers and their documents-by-topics 0/1 matrix.

    Two and a half million lines go through Arrow's parser in a fraction of a second. Whatever it stumbles on is read
    again line by line, which accepts any white space between the fields and names the first line that is wrong.
    """
    lines = _parsed_by_arrow(path)
    if lines is None or not set(lines[0]) <= set(topics):
        lines = _parsed_line_by_line(path, frozenset(topics))
    names, codes, documents = lines
    column = {topic: j for j, topic in enumerate(topics)}
    columns = np.array([column[name] for name in names], dtype=np.int32)[codes]
    ids, rows = np.unique(documents, return_inverse=True)
    return ids, indicator_matrix(rows, columns, (len(ids), len(topics)))


def _parsed_by_arrow(path: Path) -> Lines | None:
    """Return distinct topics, each line's place among them and its document; None if any line is unusual."""
    import pyarrow as pa
    from pyarrow import csv

    columns = {"topic": pa.dictionary(pa.int32(), pa.string()), "document": pa.int64(), "judgement": pa.int8()}
    try:
        table = csv.read_csv(
            path,
            read_options=csv.ReadOptions(column_names=list(columns)),
            parse_options=csv.ParseOptions(delimiter=" ", quote_char=False),
            convert_options=csv.ConvertOptions(column_types=columns, null_values=[], check_utf8=True),
        )
    except pa.ArrowInvalid:
        return None
    topic = table["topic"].unify_dictionaries().combine_chunks()
    documents = table["document"].to_numpy()
    if not len(documents) or documents.min() < 0 or (table["judgement"].to_numpy() != 1).any():
        return None
    return topic.dictionary.to_pylist(), topic.indices.to_numpy(), documents


def _parsed_line_by_line(path: Path, topics: frozenset[str]) -> Lines:
    """Return what `_parsed_by_arrow` does, or raise the error of the first broken line."""
    place: dict[str, int] = {}
    codes, documents = list[int](), list[int]()
    with path.open(encoding="latin-1") as file:
        for number, line in enumerate(file, 1):
            if not (fields := line.split()):
                continue
            if len(fields) != 3:
                problem = f"{line.strip()[:60]!r} has {len(fields)} fields; a line is TOPIC DOCUMENT 1"
                raise broken(path, number, problem)
            topic, document, judgement = fields
            if (found := _number(document)) is None:
                raise broken(path, number, f"{document!r} is not a document number; a line is TOPIC DOCUMENT 1")
            if judgement != "1":
                problem = f"{judgement!r} after topic {topic!r}, where only 1 is known; remove the line or write 1"
                raise broken(path, number, problem, document=found)
            if topic not in topics:
                problem = f"topic {topic!r} is not in the hierarchy; correct it, or add it there"
                raise broken(path, number, problem, document=found)
            codes.append(place.setdefault(topic, len(place)))
            documents.append(found)
    if not codes:
        raise broken(path, 1, f"no assignment in the file; the complete one is in {PUBLISHED}")
    return list(place), np.array(codes, dtype=np.intp), np.array(documents, dtype=np.int64)


def _number(text: str) -> int | None:
    """Return a document's number, or None where the text is not one."""
    return int(text) if text.isascii() and text.isdigit() and len(text) <= 18 else None


def indicator_matrix(rows: NDArray[np.intp], columns: NDArray[np.int32], shape: tuple[int, int]) -> sparse.csr_array:
    """Return a 0/1 matrix with sorted indices; an entry given twice is one."""
    matrix = sparse.csr_array((np.ones(len(rows), dtype=np.int8), (rows, columns)), shape=shape)
    matrix.sum_duplicates()
    matrix.data[:] = 1
    return matrix


# -------------------------------------------------------------------------------------------------------- token files


@dataclass(frozen=True, slots=True)
class RCV1Document:
    """One document of the LYRL2004 token files: its number and its stems, a space between two.

    Examples
    --------
    >>> RCV1Document(2286, "recov mexic market").text.split()
    ['recov', 'mexic', 'market']
    """

    id: int
    text: str


def iter_rcv1_tokens(folder: str | PathLike[str]) -> Iterator[RCV1Document]:
    r"""Iterate over the documents of the LYRL2004 token files, one in memory at a time.

    A document is a line ``.I NUMBER``, a line ``.W`` (which may be missing), lines of stemmed words, and a blank line.
    The order of the words is that of the file: LYRL2004 scrambled it.

    Parameters
    ----------
    folder
        Where ``lyrl2004_tokens_*`` are: in it or in its sub-folder ``raw``. The training file comes first.

    Yields
    ------
    RCV1Document
        One record a document, in file order.

    Raises
    ------
    InvalidFile
        No such file, or a broken one: the message has file, line and, where it is known, the number of the document.

    Examples
    --------
    The second document has no words, and no line ``.W``:

    >>> import pathlib, tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     _ = pathlib.Path(folder, "lyrl2004_tokens_train.dat").write_text(".I 5\n.W\ntin pric\nris\n\n.I 6\n\n")
    ...     list(iter_rcv1_tokens(folder))
    [RCV1Document(id=5, text='tin pric ris'), RCV1Document(id=6, text='')]

    References
    ----------
    D. D. Lewis, Y. Yang, T. G. Rose and F. Li, RCV1: a new benchmark collection for text categorization research,
    JMLR 5 (2004), on-line appendix 12.
    """
    paths = find_files(folder, "lyrl2004_tokens_*", inside=("raw",), published=PUBLISHED)
    first_seen: dict[int, str] = {}
    for path in sorted(paths, key=lambda path: ("train" not in path.name, path.name)):
        for line, document in _token_documents(path):
            if (before := first_seen.setdefault(document.id, here := f"{path}:{line}")) is not here:
                raise broken(path, line, f"was read from {before} before; remove one of them", document=document.id)
            yield document


def _token_documents(path: Path) -> Iterator[tuple[int, RCV1Document]]:
    """Yield the documents of one token file with the lines that they start on."""
    start, document, words = 0, None, list[str]()
    with path.open(encoding="latin-1") as file:
        for number, line in enumerate(file, 1):
            if line.startswith(".I"):
                if document is not None:
                    yield start, RCV1Document(document, " ".join(words))
                document, start, words = _number(line[2:].strip()), number, []
                if document is None:
                    raise broken(
                        path, number, f"{line.strip()!r} has no document number; a document starts with .I 123"
                    )
            elif document is None and line.strip():
                raise broken(path, number, f"{line.strip()[:40]!r} before the first document, which starts with .I 123")
            elif line.startswith(".") and line.strip() != ".W":
                problem = f"unknown field {line.split()[0]!r}; the token files have .I and .W only"
                raise broken(path, number, problem, document=document)
            elif not line.startswith("."):
                words += line.split()
    if document is None:
        raise broken(path, 1, "no document in the file; it was cut off or is another file, replace it")
    yield start, RCV1Document(document, " ".join(words))


# ------------------------------------------------------------------------------------------------------------- subset


@dataclass(frozen=True, slots=True)
class RCV1SubsetDocument:
    """One line of ``rcv1subset_named.tsv``.

    Attributes
    ----------
    subset, half, row
        Which of the five subsets of RCV1 the document is from, which half of it (``"A"`` or ``"B"``), and its row.
    topics
        The topics with all their ancestors.
    features
        The columns, counted from 0, that are one; each subset has columns of its own.

    Examples
    --------
    >>> RCV1SubsetDocument(1, "A", 17, ("C12", "CCAT"), (6, 10)).key
    '1A-17'
    """

    subset: int
    half: str
    row: int
    topics: tuple[str, ...]
    features: tuple[int, ...]

    @property
    def key(self) -> str:
        """Subset, half and row as one name."""
        return f"{self.subset}{self.half}-{self.row}"


def read_subset(path: Path, topics: Sequence[str], subset: int | None) -> list[RCV1SubsetDocument]:
    """Read the lines ``1A <tab> row <tab> topics <tab> features counted from 1`` of one subset, or of all of them."""
    known, first_seen = frozenset(topics), dict[str, int]()
    documents = []
    with path.open(encoding="latin-1") as file:
        for number, line in enumerate(file, 1):
            if not line.strip():
                continue
            document = _subset_document(path, number, line)
            if unknown := [topic for topic in document.topics if topic not in known]:
                problem = f"topic {unknown[0]!r} is not in the hierarchy; correct it, or add it there"
                raise broken(path, number, problem, document=document.key)
            if (before := first_seen.setdefault(document.key, number)) != number:
                problem = f"was read from line {before} before; remove one of them"
                raise broken(path, number, problem, document=document.key)
            if subset is None or document.subset == subset:
                documents.append(document)
    if not documents:
        what = "document" if subset is None else f"document of subset {subset}"
        raise InvalidFile(f"{path}: no {what} in the file; replace the file or ask for another subset")
    return documents


def _subset_document(path: Path, number: int, line: str) -> RCV1SubsetDocument:
    """Read one line of the subset's file."""
    fields = line.rstrip("\r\n").split("\t")
    if len(fields) != 4:
        problem = f"{len(fields)} fields where 4 are wanted, with tabs between: subset and half, row, topics, features"
        raise broken(path, number, problem)
    origin, row, topics, features = fields
    if not (match := re.fullmatch(r"([0-9]{1,9})([AB])", origin)) or _number(row) is None:
        problem = f"{origin!r} and {row!r} are not a subset with its half, such as '1A', and a row number; correct them"
        raise broken(path, number, problem)
    key = f"{origin}-{row}"
    columns = []
    for feature in features.split():
        column = _number(feature)
        if column is None or not 1 <= column <= N_SUBSET_FEATURES:
            problem = f"feature {feature!r} is not a number from 1 to {N_SUBSET_FEATURES}; correct it"
            raise broken(path, number, problem, document=key)
        columns.append(column - 1)
    return RCV1SubsetDocument(int(match[1]), match[2], int(row), tuple(topics.split()), tuple(columns))


def subset_features(documents: Sequence[RCV1SubsetDocument]) -> sparse.csr_array:
    """Return the documents' 0/1 features, with 944 columns for each subset that occurs, by its number.

    Each subset chose its 944 words for itself: column 17 of subset 1 and column 17 of subset 2 are different words.
    """
    block = {subset: j for j, subset in enumerate(sorted({document.subset for document in documents}))}
    rows = np.repeat(np.arange(len(documents)), [len(document.features) for document in documents])
    columns = np.array([block[d.subset] * N_SUBSET_FEATURES + j for d in documents for j in d.features], dtype=np.int32)
    return indicator_matrix(rows, columns, (len(documents), len(block) * N_SUBSET_FEATURES)).astype(np.float64)


def subset_topics(documents: Sequence[RCV1SubsetDocument], topics: Sequence[str]) -> sparse.csr_array:
    """Return the documents-by-topics 0/1 matrix."""
    column = {topic: j for j, topic in enumerate(topics)}
    rows = np.repeat(np.arange(len(documents)), [len(document.topics) for document in documents])
    columns = np.array([column[topic] for document in documents for topic in document.topics], dtype=np.int32)
    return indicator_matrix(rows, columns, (len(documents), len(topics)))
