"""Reuters-21578: files written here in the corpus's format, with its defects, and broken ones."""

import re
from collections.abc import Sequence
from datetime import datetime
from pathlib import Path

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from prefgraph.errors import InvalidFile, InvalidOption
from prefgraph.readers import ReutersDocument, iter_reuters21578, reuters21578

DOCTYPE = '<!DOCTYPE lewis SYSTEM "lewis.dtd">\n'


def escaped(text: str) -> str:
    """Text as the corpus writes it: markup and everything outside printable ASCII as references."""
    text = text.replace("&", "&amp;").replace("<", "&lt;")
    return re.sub(r"[^\n\t\x20-\x7e]", lambda match: f"&#{ord(match[0])};", text)


def listed(name: str, categories: Sequence[str]) -> str:
    return f"<{name}>{''.join(f'<D>{escaped(c)}</D>' for c in categories)}</{name}>\n"


def story(
    newid: int = 1,
    topics: Sequence[str] = (),
    *,
    lewis: str = "TRAIN",
    cgi: str = "TRAINING-SET",
    indexed: str = "YES",
    text: str = "<TEXT>&#2;\n<TITLE>T</TITLE>\n<DATELINE>    ROME, March 1 - </DATELINE><BODY>B\n&#3;</BODY></TEXT>",
    date: str = " 2-MAR-1987 06:41:42.20",
    places: Sequence[str] = (),
) -> str:
    """One story with all its fields, in the layout of the real files."""
    return (
        f'<REUTERS TOPICS="{indexed}" LEWISSPLIT="{lewis}" CGISPLIT="{cgi}" OLDID="{newid + 5000}" NEWID="{newid}">\n'
        f"<DATE>{date}</DATE>\n{listed('TOPICS', topics)}{listed('PLACES', places)}"
        "<PEOPLE></PEOPLE>\n<ORGS></ORGS>\n<EXCHANGES></EXCHANGES>\n<COMPANIES></COMPANIES>\n"
        "<UNKNOWN> \n&#5;&#5;&#5;C T\n&#22;&#22;&#1;f0704&#31;reute\nu f BC-TIN   03-02 0105</UNKNOWN>\n"
        f"{text}\n</REUTERS>\n"
    )


def folder_with(folder: Path, *contents: str) -> Path:
    for number, content in enumerate(contents):
        (folder / f"reut2-{number:03}.sgm").write_bytes(content.encode("latin-1"))
    return folder


def read(folder: Path, *contents: str) -> list[ReutersDocument]:
    return list(iter_reuters21578(folder_with(folder, *contents)))


# ------------------------------------------------------------------------------------------------- what is accepted


def test_every_field_of_a_story_is_read(tmp_path):
    (document,) = read(tmp_path, DOCTYPE + story(7, ["tin", "zinc"], places=["el-salvador"]))
    assert document == ReutersDocument(
        newid=7,
        oldid=5007,
        topics_attribute="YES",
        lewis_split="TRAIN",
        cgi_split="TRAINING-SET",
        topics=("tin", "zinc"),
        places=("el-salvador",),
        date="2-MAR-1987 06:41:42.20",
        title="T",
        dateline="ROME, March 1 -",
        body="B",
    )
    assert document.text == "T\nB"


def test_a_record_is_frozen(tmp_path):
    (document,) = read(tmp_path, story())
    with pytest.raises(AttributeError):
        document.title = "other"


def test_the_people_the_organisations_and_the_exchanges_are_kept_apart(tmp_path):
    text = story().replace("<PEOPLE></PEOPLE>", listed("PEOPLE", ["lawson"]).strip())
    text = text.replace("<ORGS></ORGS>", listed("ORGS", ["gatt", "ec"]).strip())
    text = text.replace("<EXCHANGES></EXCHANGES>", listed("EXCHANGES", ["lse"]).strip())
    (document,) = read(tmp_path, text)
    assert (document.people, document.orgs, document.exchanges) == (("lawson",), ("gatt", "ec"), ("lse",))


def test_unmarked_text_is_the_body_and_marked_parts_are_not_in_it(tmp_path):
    text = '<TEXT TYPE="UNPROC">&#2;\nTIN 5\n <AUTHOR> By A.</AUTHOR>ZINC 6\n&#3;</TEXT>'
    (document,) = read(tmp_path, story(text=text))
    assert (document.title, document.author, document.text_type) == ("", "By A.", "UNPROC")
    assert document.text == "TIN 5\n ZINC 6"


def test_the_filler_around_the_title_of_a_brief_story_is_not_text(tmp_path):
    text = '<TEXT TYPE="BRIEF">&#2;\n******<TITLE>TIN RISES\n</TITLE>Filler words.\n&#3;\n\n</TEXT>'
    (document,) = read(tmp_path, story(text=text))
    assert (document.text_type, document.body, document.text) == ("BRIEF", "", "TIN RISES")


def test_a_story_without_any_text_is_read(tmp_path):
    (document,) = read(tmp_path, story(text=""))
    assert (document.text, document.text_type) == ("", "NORM")


def test_references_are_resolved_and_control_characters_are_spaces(tmp_path):
    body = "A &lt;B> &amp;lt; &#65; x\xfc&#5;&#30;y&#127; &#55296; &#9999999; R&D; AT&T"
    (document,) = read(tmp_path, story(text=f"<TEXT><BODY>{body}&#3;</BODY></TEXT>"))
    assert document.body == "A <B> &lt; A xü y  \ufffd \ufffd R&D; AT&T"


def test_a_topic_listed_twice_counts_once_and_the_order_is_kept(tmp_path):
    (document,) = read(tmp_path, story(topics=["zinc", "tin", "zinc"]))
    assert document.topics == ("zinc", "tin")


def test_notes_and_unknown_attributes_are_passed_over(tmp_path):
    text = story().replace("<TOPICS>", "<MKNOTE>moved - SPF</MKNOTE>\n<TOPICS>").replace("OLDID", 'CSECS="5" OLDID')
    assert read(tmp_path, text) == read(tmp_path, story())


@pytest.mark.parametrize("layout", ["\r\n", "\n\n", " \n"])
def test_line_ends_blank_lines_and_a_byte_order_mark_do_not_matter(tmp_path, layout):
    plain = read(tmp_path, DOCTYPE + story(1, text="<TEXT><TITLE>T</TITLE></TEXT>") + story(2, text=""))
    content = DOCTYPE + story(1, text="<TEXT><TITLE>T</TITLE></TEXT>") + story(2, text="")
    assert read(tmp_path, "\xef\xbb\xbf" + content.replace("\n", layout) + "\x1a") == plain


def test_several_stories_on_one_line_are_several_stories(tmp_path):
    assert [d.newid for d in read(tmp_path, (story(1) + story(2)).replace("\n", " "))] == [1, 2]


def test_the_files_are_read_in_the_order_of_their_names_and_from_the_folder_raw_too(tmp_path):
    raw = tmp_path / "raw"
    raw.mkdir()
    folder_with(raw, story(2), story(1) + story(3))
    assert [document.newid for document in iter_reuters21578(tmp_path)] == [2, 1, 3]


@pytest.mark.parametrize(
    ("written", "moment"),
    [
        (" 2-MAR-1987 06:41:42.20", datetime.fromisoformat("1987-03-02 06:41:42.200")),
        ("26-FEB-1987 15:01:01.79&#9;&#9;&#9;F", datetime.fromisoformat("1987-02-26 15:01:01.790")),
        ("3-MAR-1987  09:15:05", datetime.fromisoformat("1987-03-03 09:15:05")),
        ("9-APR-1987 00:00:00.00    # a guess", datetime.fromisoformat("1987-04-09")),
        ("31-MAR-1987 605:12:19.12", None),
        ("31-APR-1987 05:12:19.12", None),
        ("1-XXX-1987 05:12:19.12", None),
        ("yesterday", None),
        ("", None),
    ],
)
def test_a_date_is_read_through_its_noise_or_is_missing(tmp_path, written, moment):
    (document,) = read(tmp_path, story(date=written))
    assert document.timestamp == moment


TEXTS = st.text(st.characters(exclude_categories=["Cs", "Cc"], include_characters="\n\t"), max_size=60).map(str.strip)
NAMES = st.lists(TEXTS.filter(bool), unique=True, max_size=4).map(tuple)


@given(title=TEXTS, body=TEXTS, topics=NAMES, places=NAMES, copies=st.integers(1, 3))
def test_any_text_survives_being_written_as_sgml(tmp_path_factory, title, body, topics, places, copies):
    text = f"<TEXT><TITLE>{escaped(title)}</TITLE><BODY>{escaped(body)}&#3;</BODY></TEXT>"
    content = "".join(story(n, topics, places=places, text=text) for n in range(copies))
    documents = read(tmp_path_factory.mktemp("sgml"), content)
    assert [document.newid for document in documents] == list(range(copies))
    for document in documents:
        assert (document.title, document.body) == (title, body)
        assert (document.topics, document.places) == (topics, places)


# --------------------------------------------------------------------------------------------------- what is refused


@pytest.mark.parametrize(
    ("content", "line", "named"),
    [
        (story(1) + story(2).replace("</REUTERS>", "") + story(3), 19, ["document 2", "not closed", "line 36"]),
        (story(1) + story(2).replace("</REUTERS>", ""), 19, ["document 2", "end of the file"]),
        (story(1).replace(' NEWID="1"', ""), 2, ["without NEWID"]),
        (story(1).replace('NEWID="1"', 'NEWID="one"'), 2, ["NEWID='one'", "not a number"]),
        (story(1).replace(' OLDID="5001"', ""), 2, ["document 1", "without OLDID"]),
        (story(1, lewis="SOMETIMES"), 2, ["document 1", "LEWISSPLIT='SOMETIMES'", "NOT-USED"]),
        (story(1).replace(' CGISPLIT="TRAINING-SET"', ""), 2, ["document 1", "without CGISPLIT"]),
        (story(1, indexed="MAYBE"), 2, ["document 1", "TOPICS='MAYBE'", "BYPASS"]),
        (story(1).replace("</TITLE>", ""), 16, ["document 1", "<DATELINE> inside <TITLE>", "line 15"]),
        (story(1).replace("</BODY>", ""), 17, ["document 1", "</TEXT>", "<BODY> is open"]),
        (story(1).replace("<BODY>", ""), 17, ["document 1", "</BODY>", "<TEXT> is open"]),
        (story(1, ["tin"]).replace("</TOPICS>", ""), 5, ["document 1", "<PLACES> inside <TOPICS>", "line 4"]),
        (story(1).replace('NEWID="1">', 'NEWID="1"'), 2, ["document 1", "no '>'"]),
        (story(1).replace("</TEXT>", "</TEXT></TEXT>"), 17, ["document 1", "</TEXT>", "<REUTERS> is open"]),
        (story(1) + "stray words\n", 19, ["'stray words'", "outside"]),
        ("</REUTERS>\n", 2, ["'</REUTERS>'", "outside"]),
        (story(4) + story(4), 19, ["document 4", "reut2-000.sgm:2 before"]),
        ("", 1, ["no <REUTERS> element"]),
    ],
)
def test_a_broken_file_is_named_with_line_and_document(tmp_path, content, line, named):
    with pytest.raises(InvalidFile) as caught:
        read(tmp_path, DOCTYPE + content)
    message = str(caught.value)
    assert f"reut2-000.sgm:{line}:" in message
    assert all(part in message for part in named), message


def test_stories_before_the_broken_one_are_yielded_and_the_data_set_is_not_half_read(tmp_path):
    folder = folder_with(tmp_path, story(1, ["tin"]) + story(2, ["tin"], lewis="NEVER"))
    documents = iter_reuters21578(folder)
    assert next(documents).newid == 1
    with pytest.raises(InvalidFile, match="document 2"):
        next(documents)
    with pytest.raises(InvalidFile, match="document 2"):
        reuters21578(folder)


def test_a_number_used_in_two_files_is_named_with_both_places(tmp_path):
    with pytest.raises(InvalidFile, match=r"reut2-001.sgm:1: document 1: .*reut2-000.sgm:1 before"):
        read(tmp_path, story(1), story(1))


def test_missing_files_are_named_with_the_corpus(tmp_path):
    with pytest.raises(InvalidFile, match=r"no reut2-\*.sgm in it or its folder 'raw'.*Distribution 1.0"):
        reuters21578(tmp_path)
    with pytest.raises(InvalidFile, match="nowhere: the folder does not exist"):
        reuters21578(tmp_path / "nowhere")
    folder_with(tmp_path, story(1))
    with pytest.raises(InvalidFile, match="it is a file"):
        reuters21578(tmp_path / "reut2-000.sgm")


# ------------------------------------------------------------------------------------------------------- the data set

CORPUS = (
    story(1, ["earn"])
    + story(2, ["earn", "acq"])
    + story(3, ["acq", "earn"], lewis="TEST")
    + story(4, ["grain", "acq"], lewis="TEST")
    + story(5, ["wheat"])
    + story(6, [])
    + story(7, [], lewis="TEST")
    + story(8, ["earn"], indexed="NO")
    + story(9, ["acq"], indexed="BYPASS", lewis="TEST")
    + story(10, ["wheat", "grain"], lewis="NOT-USED", cgi="PUBLISHED-TESTSET")
)


@pytest.fixture
def corpus(tmp_path):
    return folder_with(tmp_path, DOCTYPE + CORPUS)


def parts(data):
    return dict(zip(data.keys, data.split, strict=True))


@pytest.mark.parametrize(
    ("split", "train", "test", "unused"),
    [
        ("ModApte", [1, 2, 5, 6], [3, 4, 7], [8, 9, 10]),
        ("ModLewis", [1, 2, 5, 6, 8], [3, 4, 7], [9, 10]),
        ("ModHayes", [1, 2, 3, 4, 5, 6, 7, 8, 9], [10], []),
    ],
)
def test_each_split_puts_every_story_where_the_corpus_says(corpus, split, train, test, unused):
    data = reuters21578(corpus, split, without_topic="keep", unused="keep")
    expected = dict.fromkeys(train, "train") | dict.fromkeys(test, "test") | dict.fromkeys(unused, "unused")
    assert parts(data) == expected
    assert parts(reuters21578(corpus, split, without_topic="keep")) == {
        key: part for key, part in expected.items() if part != "unused"
    }


def test_no_split_takes_all_stories(corpus):
    data = reuters21578(corpus, None, without_topic="keep")
    assert list(data.keys) == list(range(1, 11))
    assert data.split is None


def test_each_topic_of_a_story_is_preferred_to_each_other_topic(corpus):
    data = reuters21578(corpus)
    assert data.preferences.labels == ("acq", "earn", "grain", "wheat")
    graphs = dict(zip(data.keys, data.preferences, strict=True))
    assert set(graphs[4].edges) == {(u, v) for u in ("grain", "acq") for v in ("earn", "wheat")}
    assert list(graphs) == [1, 2, 3, 4, 5]


def test_a_number_takes_the_topics_with_most_training_stories_most_frequent_first(corpus):
    data = reuters21578(corpus, topics=2)
    assert data.preferences.labels == ("earn", "acq")  # acq and wheat have one training story each
    assert list(data.keys) == [1, 2, 3, 4]
    assert reuters21578(corpus, None, topics=4).preferences.labels == ("acq", "earn", "grain", "wheat")


def test_r90_takes_the_topics_with_a_training_and_a_test_story(corpus):
    data = reuters21578(corpus, topics="R90", unused="keep")
    assert data.preferences.labels == ("acq", "earn")


def test_named_topics_are_kept_in_their_order_even_without_a_story(corpus):
    data = reuters21578(corpus, topics=["wheat", "jet", "earn"])
    assert data.preferences.labels == ("wheat", "jet", "earn")
    assert list(data.keys) == [1, 2, 3, 5]


def test_only_the_first_topic_counts_when_asked(corpus):
    data = reuters21578(corpus, None, topics=3, relevant="first")
    assert data.preferences.labels == ("earn", "acq", "wheat")
    graphs = dict(zip(data.keys, data.preferences, strict=True))
    assert set(graphs[3].edges) == {("acq", "earn"), ("acq", "wheat")}
    assert 4 not in graphs  # its first topic, grain, is not among the three


def test_stories_without_a_topic_are_kept_without_edges(corpus):
    data = reuters21578(corpus, topics=2, without_topic="keep")
    graphs = dict(zip(data.keys, data.preferences, strict=True))
    assert [key for key, graph in graphs.items() if not graph.number_of_edges()] == [2, 3, 5, 6, 7]
    assert list(graphs) == [1, 2, 3, 4, 5, 6, 7]


def test_the_properties_are_typed_columns(corpus):
    data = reuters21578(corpus, None, without_topic="keep")
    table = data.properties
    assert table.schema.field("oldid").type == pa.int64()
    assert table.schema.field("date").type == pa.timestamp("ms")
    assert table.schema.field("topics").type == pa.list_(pa.string())
    assert table["first_topic"].to_pylist() == [d.topics[0] if d.topics else None for d in iter_reuters21578(corpus)]
    assert table["topics"].to_pylist()[3] == ["grain", "acq"]
    assert table["date"].to_pylist()[0] == datetime.fromisoformat("1987-03-02 06:41:42.200")
    assert list(data.texts) == ["T\nB"] * 10


@pytest.mark.parametrize(
    ("options", "named"),
    [
        ({"split": "modapte"}, "split='modapte'.*'ModApte'"),
        ({"relevant": "some"}, "relevant='some'"),
        ({"without_topic": "no"}, "without_topic='no'"),
        ({"unused": True}, "unused=True"),
        ({"topics": "R91"}, "topics='R91'.*'R90'"),
        ({"topics": "R90", "split": None}, "R90.*split=None"),
        ({"topics": 0}, "topics=0"),
        ({"topics": True}, "topics=True"),
        ({"topics": 5}, "topics=5 and only 3"),
    ],
)
def test_an_option_that_cannot_be_meant_is_refused(corpus, options, named):
    with pytest.raises(InvalidOption, match=named):
        reuters21578(corpus, **options)
