"""The SGML files of Reuters-21578, Distribution 1.0: one story at a time.

The parser accepts what the real files hold (control characters written as references, stories without a title or a
body, dates with noise behind them, a topic listed twice, a bare ``>`` in the text, bytes outside ASCII) and stops at
what would silently change the data: an element that is never closed, a story without its number or with that of
another one, a split attribute with an unknown word.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from os import PathLike
from pathlib import Path

from prefgraph.errors import InvalidFile
from prefgraph.readers._files import broken, find_files

_PUBLISHED = "'Reuters-21578, Distribution 1.0' (David D. Lewis)"


@dataclass(frozen=True, slots=True)
class ReutersDocument:
    r"""One story of Reuters-21578, as its SGML says.

    References such as ``&lt;`` are resolved, a run of control characters is one space, and white space is cut at both
    ends of each text; inside, line breaks stay as they are. A field that the story lacks is empty.

    Attributes
    ----------
    newid, oldid
        The story's number in Reuters-21578 (chronological, 1 to 21,578) and in the older Reuters-22173.
    topics_attribute
        ``"YES"``, ``"NO"`` or ``"BYPASS"``. It defines the splits and does not say whether the story has topics.
    lewis_split, cgi_split
        ``"TRAIN"``, ``"TEST"`` or ``"NOT-USED"``; ``"TRAINING-SET"`` or ``"PUBLISHED-TESTSET"``.
    topics, places, people, orgs, exchanges
        The categories of each kind in the order of the file, each once.
    text_type
        ``"NORM"``, ``"BRIEF"`` (a title and nothing else) or ``"UNPROC"`` (text without marked parts).
    date
        The date as written, noise included; `timestamp` reads it.
    title, author, dateline, body
        The marked parts of the text. Where neither title nor body is marked (``"UNPROC"``), the body is all of the
        text; the filler words that stand around the title of a brief story are no body.

    Examples
    --------
    >>> story = ReutersDocument(
    ...     newid=7,
    ...     oldid=70,
    ...     topics_attribute="YES",
    ...     lewis_split="TRAIN",
    ...     cgi_split="TRAINING-SET",
    ...     date=" 2-MAR-1987 06:41:42.20",
    ...     title="Tin",
    ...     body="Up.",
    ... )
    >>> story.text, story.timestamp
    ('Tin\nUp.', datetime.datetime(1987, 3, 2, 6, 41, 42, 200000))
    """

    newid: int
    oldid: int
    topics_attribute: str
    lewis_split: str
    cgi_split: str
    topics: tuple[str, ...] = ()
    places: tuple[str, ...] = ()
    people: tuple[str, ...] = ()
    orgs: tuple[str, ...] = ()
    exchanges: tuple[str, ...] = ()
    text_type: str = "NORM"
    date: str = ""
    title: str = ""
    author: str = ""
    dateline: str = ""
    body: str = ""

    @property
    def text(self) -> str:
        """Title and body, a line break between them where both are there."""
        return f"{self.title}\n{self.body}" if self.title and self.body else self.title or self.body

    @property
    def timestamp(self) -> datetime | None:
        """The date and time at the start of `date`, or None where no such moment is written there."""
        if not (match := _DATE.match(self.date)):
            return None
        day, month, year, hour, minute, second, fraction = match.groups()
        clock = (int(hour), int(minute), int(second), int((fraction or "").ljust(6, "0")[:6]))
        try:
            moment = datetime(int(year), _MONTHS.index(month.upper()) + 1, int(day), *clock)  # noqa: DTZ001 - no zone given
        except ValueError:  # a month that is none, a 31st of April
            return None
        return moment


_DATE = re.compile(r"\s*(\d{1,2})-([A-Za-z]{3})-(\d{4})\s+(\d{1,2}):(\d{1,2}):(\d{1,2})(?:\.(\d+))?(?!\d)", re.ASCII)
_MONTHS = ("JAN", "FEB", "MAR", "APR", "MAY", "JUN", "JUL", "AUG", "SEP", "OCT", "NOV", "DEC")


def iter_reuters21578(folder: str | PathLike[str]) -> Iterator[ReutersDocument]:
    """Iterate over the stories of Reuters-21578, one in memory at a time.

    Parameters
    ----------
    folder
        Where ``reut2-*.sgm`` are: in it or in its sub-folder ``raw``. The files are read in the order of their names.

    Yields
    ------
    ReutersDocument
        One record a story, in file order. All stories are there, whatever the splits make of them.

    Raises
    ------
    InvalidFile
        No such file, or a broken one: the message has file, line and, where it is known, the number of the story.

    Examples
    --------
    A file with one story, whose text has no marked parts:

    >>> import pathlib, tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     _ = pathlib.Path(folder, "reut2-000.sgm").write_text('''<!DOCTYPE lewis SYSTEM "lewis.dtd">
    ... <REUTERS TOPICS="YES" LEWISSPLIT="TRAIN" CGISPLIT="TRAINING-SET" OLDID="70" NEWID="7">
    ... <TOPICS><D>tin</D><D>zinc</D></TOPICS>
    ... <TEXT TYPE="UNPROC">&#2;
    ... TIN &amp; ZINC
    ... &#3;</TEXT>
    ... </REUTERS>
    ... ''')
    ...     for story in iter_reuters21578(folder):
    ...         print(story.newid, story.topics, repr(story.text))
    7 ('tin', 'zinc') 'TIN & ZINC'

    References
    ----------
    D. D. Lewis, README of Reuters-21578, Distribution 1.0, sections VI and VIII.
    """
    first_seen: dict[int, str] = {}
    for path in find_files(folder, "reut2-*.sgm", inside=("raw",), published=_PUBLISHED):
        empty = True
        for line, element in _elements(path):
            document = _parse(path, line, element)
            if (before := first_seen.setdefault(document.newid, here := f"{path}:{line}")) is not here:
                problem = f"NEWID was given to the document at {before} before; a number belongs to one document only"
                raise broken(path, line, problem, document=document.newid)
            empty = False
            yield document
        if empty:
            raise broken(path, 1, "no <REUTERS> element in the file; it was cut off or is another file, replace it")


_REUTERS = re.compile(r"(<REUTERS(?=[\s>])|</REUTERS\s*>)")
_ATTRIBUTE = re.compile(r"""([A-Z]+)\s*=\s*(?:"([^"<>]*)"|([^\s"<>]+))""")
_REFERENCE = re.compile(r"&(?:#(\d{1,7})|(lt|gt|amp|quot|apos));", re.ASCII)
_CONTROL = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f]+")  # all control characters but tab and line feed
_NAMED = {"lt": "<", "gt": ">", "amp": "&", "quot": '"', "apos": "'"}

_LISTS = ("TOPICS", "PLACES", "PEOPLE", "ORGS", "EXCHANGES", "COMPANIES")
_TEXTS = ("TITLE", "AUTHOR", "DATELINE", "BODY")
_PARENTS: Mapping[str, tuple[str, ...]] = {
    **dict.fromkeys(("DATE", "MKNOTE", "UNKNOWN", "TEXT", *_LISTS), ("REUTERS",)),
    **dict.fromkeys(_TEXTS, ("TEXT",)),
    "REUTERS": ("",),
    "D": _LISTS,
}
_TAG = re.compile(rf"<(/?)({'|'.join(sorted(_PARENTS, key=len, reverse=True))})(?:\s([^<>]*))?>")
_MARKED = re.compile(r"<(AUTHOR|DATELINE)\b[^<>]*>.*?</\1\s*>", re.DOTALL)

_SPLIT_WORDS = {
    "TOPICS": ("YES", "NO", "BYPASS"),
    "LEWISSPLIT": ("TRAIN", "TEST", "NOT-USED"),
    "CGISPLIT": ("TRAINING-SET", "PUBLISHED-TESTSET"),
}


def _elements(path: Path) -> Iterator[tuple[int, str]]:
    """Yield each ``<REUTERS>`` element of a file as text, with the line it starts on; read line by line."""
    start, parts = 0, list[str]()
    with path.open(encoding="latin-1") as file:
        for number, line in enumerate(file, 1):
            if parts and "REUTERS" not in line:  # nearly all lines
                parts.append(line)
                continue
            for piece in _REUTERS.split(line):
                if piece.startswith("<REUTERS") and parts:
                    problem = f"the element is not closed before the next one starts on line {number}; add </REUTERS>"
                    raise broken(path, start, problem, document=_newid_of("".join(parts)))
                if piece == "<REUTERS":
                    start = number
                if parts or piece == "<REUTERS":
                    parts.append(piece)
                elif piece.strip(" \t\n\x1aï»¿") and not piece.startswith(("<!", "ï»¿<!")):
                    shown = piece.strip()[:40]
                    raise broken(path, number, f"{shown!r} is outside any <REUTERS> element; open one or remove it")
                if piece.startswith("</REUTERS"):
                    yield start, "".join(parts)
                    parts.clear()
    if parts:
        problem = "the element is not closed at the end of the file, which may be cut off; add </REUTERS>"
        raise broken(path, start, problem, document=_newid_of("".join(parts)))


def _newid_of(element: str) -> str | None:
    """Return the NEWID of an element that may be broken, for messages."""
    match = re.search(r'NEWID="?(\w+)', element.partition(">")[0])
    return match[1] if match else None


def _parse(path: Path, line: int, element: str) -> ReutersDocument:
    """Turn one ``<REUTERS>`` element, which starts on ``line``, into a record."""
    texts: dict[str, list[str]] = {name: [] for name in ("DATE", "TEXT", *_TEXTS)}
    lists: dict[str, list[str]] = {name: [] for name in _LISTS}
    attributes: dict[str, dict[str, str]] = {}
    for parent, name, written, content in _closed(path, line, element):
        if name == "D":
            lists[parent].append(content)
        elif name in ("REUTERS", "TEXT"):
            attributes[name] = _attributes(written)
        if name in texts:
            texts[name].append(content)
    if not texts["TITLE"] and not texts["BODY"]:
        texts["BODY"] = [_MARKED.sub("", content) for content in texts["TEXT"]]
    newid, oldid = _numbers(path, line, attributes["REUTERS"])
    topics_attribute, lewis_split, cgi_split = _split_words(path, line, attributes["REUTERS"])
    return ReutersDocument(
        newid=newid,
        oldid=oldid,
        topics_attribute=topics_attribute,
        lewis_split=lewis_split,
        cgi_split=cgi_split,
        text_type=attributes.get("TEXT", {}).get("TYPE", "NORM"),
        topics=_each_once(lists["TOPICS"]),
        places=_each_once(lists["PLACES"]),
        people=_each_once(lists["PEOPLE"]),
        orgs=_each_once(lists["ORGS"]),
        exchanges=_each_once(lists["EXCHANGES"]),
        date=_joined(texts["DATE"]),
        title=_joined(texts["TITLE"]),
        author=_joined(texts["AUTHOR"]),
        dateline=_joined(texts["DATELINE"]),
        body=_joined(texts["BODY"]),
    )


def _closed(path: Path, line: int, element: str) -> Iterator[tuple[str, str, str, str]]:
    """Yield the elements inside one element, and it itself, as each is closed: parent, name, attributes, content.

    The tags must nest as `_PARENTS` says; what looks like a tag and is not named there is text.
    """

    def error(at: int, problem: str) -> InvalidFile:
        return broken(path, line + element.count("\n", 0, at), problem, document=_newid_of(element))

    stack: list[tuple[str, str, int]] = []  # the open elements: name, attributes as written, where the content starts
    for tag in _TAG.finditer(element):
        closing, name, written = tag.groups("")
        inside = stack[-1][0] if stack else ""
        if not closing:
            if inside not in _PARENTS[name]:
                if not stack:
                    raise error(0, "the tag <REUTERS has no '>' before the next tag; close it")
                begun = line + element.count("\n", 0, stack[-1][2])
                raise error(tag.start(), f"<{name}> inside <{inside}>, which starts on line {begun}; close that first")
            stack.append((name, written, tag.end()))
        elif name != inside:
            raise error(tag.start(), f"</{name}>, while <{inside or 'nothing'}> is open; close each tag by its own")
        else:
            _, attributes, start = stack.pop()
            yield stack[-1][0] if stack else "", name, attributes, element[start : tag.start()]


def _attributes(written: str) -> dict[str, str]:
    """Read the ``NAME="value"`` pairs of a start tag."""
    return {name: quoted or bare for name, quoted, bare in _ATTRIBUTE.findall(written)}


def _numbers(path: Path, line: int, attributes: Mapping[str, str]) -> list[int]:
    """Return NEWID and OLDID, which every document must have."""
    for name in ("NEWID", "OLDID"):
        value = attributes.get(name)
        if value is None or not (value.isascii() and value.isdigit()):
            problem = f"<REUTERS> without {name}" if value is None else f"{name}={value!r} is not a number"
            problem += "; the reader needs the numbers of each document, restore the attribute"
            raise broken(path, line, problem, document=attributes.get("NEWID") if name == "OLDID" else None)
    return [int(attributes["NEWID"]), int(attributes["OLDID"])]


def _split_words(path: Path, line: int, attributes: Mapping[str, str]) -> list[str]:
    """Return TOPICS, LEWISSPLIT and CGISPLIT, each one of the words that define the splits."""
    words = []
    for name, allowed in _SPLIT_WORDS.items():
        value = attributes.get(name)
        if value not in allowed:
            problem = f"<REUTERS> without {name}" if value is None else f"{name}={value!r}"
            problem += f"; the splits need one of {', '.join(allowed)}, restore the attribute"
            raise broken(path, line, problem, document=attributes["NEWID"])
        words.append(value)
    return words


def _each_once(contents: Sequence[str]) -> tuple[str, ...]:
    """Return the categories of a list; the real files repeat one here and there."""
    return tuple(dict.fromkeys(map(_clean, contents)))


def _joined(contents: Sequence[str]) -> str:
    """Return the text of an element; should it be there several times, one after the other."""
    return _clean("\n".join(contents))


def _clean(content: str) -> str:
    """Resolve references, turn runs of control characters into a space, cut white space at both ends."""
    if "&" in content:
        content = _REFERENCE.sub(_resolve, content)
    return _CONTROL.sub(" ", content).strip()


def _resolve(reference: re.Match[str]) -> str:
    """Return the character that a reference stands for; a number that is no character becomes U+FFFD."""
    number, name = reference.groups()
    if name:
        return _NAMED[name]
    code = int(number)
    return chr(code) if code <= 0x10FFFF and not 0xD800 <= code <= 0xDFFF else "\ufffd"
