"""RCV1-v2: files written here in the corpus's formats, and broken ones."""

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from prefgraph.errors import InvalidFile, InvalidOption
from prefgraph.readers import RCV1Document, iter_rcv1_tokens, rcv1
from prefgraph.readers._rcv1_files import _parsed_by_arrow, _parsed_line_by_line, read_assignments

PARENTS = {"CCAT": "Root", "C11": "CCAT", "C12": "CCAT", "C121": "C12", "GCAT": "Root", "GSPO": "GCAT"}
TOPICS = sorted(PARENTS)

HIERARCHY = "parent: None    child: Root    child-description: No Description\n" + "".join(
    f"parent: {parent}    child: {child}     child-description: ABOUT {child}\n" for child, parent in PARENTS.items()
)
QRELS = "C12 2286 1\nCCAT 2286 1\nGCAT 26150 1\nGSPO 26150 1\nC121 26151 1\nC12 26151 1\nCCAT 26151 1\nGCAT 9 1\n"
TOKENS = ".I 26151\n.W\ntin pric\nris\n\n.I 9\n.W\nzinc\n\n"
SUBSET = "1A\t0\tC12 CCAT\t1 3 944\n1B\t3000\tGCAT GSPO\t\n3A\t7\tCCAT\t2\n"


def written(folder: Path, **contents: str) -> Path:
    names = {
        "hierarchy": "rcv1.topics.hier.orig",
        "qrels": "rcv1-v2.topics.qrels",
        "tokens": "lyrl2004_tokens_train.dat",
        "subset": "rcv1subset_named.tsv",
    }
    for kind, content in contents.items():
        (folder / names[kind]).write_bytes(content.encode("latin-1"))
    return folder


@pytest.fixture
def corpus(tmp_path):
    return written(tmp_path, hierarchy=HIERARCHY, qrels=QRELS, tokens=TOKENS, subset=SUBSET)


def graphs(data):
    return dict(zip(data.keys, data.preferences, strict=True))


# ------------------------------------------------------------------------------------------------------- the data set


def test_assignments_give_one_layered_graph_a_document_by_number(corpus):
    data = rcv1(corpus)
    assert list(data.keys) == [9, 2286, 26150, 26151]
    assert set(data.preferences.labels) == set(data.hierarchy.leaves)
    top = {key: set(graph.layers()[0]) for key, graph in graphs(data).items()}
    leaf = data.hierarchy.leaf_for
    assert top == {9: {leaf("GCAT")}, 2286: {leaf("C12")}, 26150: {"GSPO"}, 26151: {"C121"}}
    assert all(len(graph.layers()) <= 3 for graph in graphs(data).values())
    assert data.X is None
    assert data.texts is None


def test_the_graphs_are_those_of_the_hierarchy(corpus):
    for max_layers in (2, 3, None):
        data = rcv1(corpus, max_layers=max_layers)
        for graph, topics in zip(data.preferences, data.properties["topics"].to_pylist(), strict=True):
            assert graph == data.hierarchy.preference_graph(topics, max_layers=max_layers)


def test_the_split_is_that_of_lyrl2004(corpus):
    data = rcv1(corpus)
    assert dict(zip(data.keys, data.split, strict=True)) == {9: "train", 2286: "train", 26150: "train", 26151: "test"}


def test_multilabel_supervision_is_over_all_topics_but_the_root(corpus):
    data = rcv1(corpus, supervision="multilabel")
    assert data.preferences.labels == tuple(TOPICS)
    assert set(graphs(data)[2286].edges) == {
        (u, v) for u in ("C12", "CCAT") for v in TOPICS if v not in ("C12", "CCAT")
    }


def test_the_topics_of_a_document_are_a_property(corpus):
    assert rcv1(corpus).properties["topics"].to_pylist() == [
        ["GCAT"],
        ["C12", "CCAT"],
        ["GCAT", "GSPO"],
        ["C12", "C121", "CCAT"],
    ]


def test_token_files_bring_texts_in_their_order_joined_with_the_topics(corpus):
    data = rcv1(corpus, "tokens")
    assert list(data.keys) == [26151, 9]
    assert list(data.texts) == ["tin pric ris", "zinc"]
    assert list(data.split) == ["test", "train"]
    assert data.properties["topics"].to_pylist() == [["C12", "C121", "CCAT"], ["GCAT"]]
    assert set(graphs(data)[26151].layers()[0]) == {"C121"}


def test_the_subset_has_features_and_a_block_of_columns_for_each_subset(corpus):
    data = rcv1(corpus, "subset")
    assert list(data.keys) == ["1A-0", "1B-3000", "3A-7"]
    assert data.X.shape == (3, 2 * 944)
    assert list(zip(*map(list, data.X.nonzero()), strict=True)) == [(0, 0), (0, 2), (0, 943), (2, 944 + 1)]
    assert set(data.X.data) == {1.0}
    assert list(data.split) == ["train", "test", "train"]
    assert data.properties.drop_columns("topics").to_pydict() == {
        "subset": [1, 1, 3],
        "half": ["A", "B", "A"],
        "row": [0, 3000, 7],
    }
    assert set(graphs(data)["1B-3000"].layers()[0]) == {"GSPO"}


def test_one_subset_has_its_own_columns_only(corpus):
    data = rcv1(corpus, "subset", subset=3, supervision="multilabel")
    assert list(data.keys) == ["3A-7"]
    assert data.X.shape == (1, 944)
    assert data.X[0, 1] == 1


def test_the_files_are_found_in_the_folders_of_the_archive(tmp_path):
    for name in ("raw", "derived"):
        (tmp_path / name).mkdir()
    written(tmp_path / "raw", hierarchy=HIERARCHY, qrels=QRELS, tokens=TOKENS)
    written(tmp_path / "derived", subset=SUBSET)
    for documents, count in (("assignments", 4), ("tokens", 2), ("subset", 3)):
        assert len(rcv1(tmp_path, documents).preferences) == count


# ------------------------------------------------------------------------------------------------------- assignments


@given(st.lists(st.tuples(st.sampled_from(TOPICS), st.integers(0, 40)), min_size=1, max_size=60))
def test_the_matrix_has_a_one_for_each_line_whatever_their_order(tmp_path_factory, pairs):
    path = tmp_path_factory.mktemp("qrels") / "qrels"
    path.write_text("".join(f"{topic} {document} 1\n" for topic, document in pairs))
    ids, indicator = read_assignments(path, TOPICS)
    assert list(ids) == sorted({document for _, document in pairs})
    rows, columns = indicator.nonzero()
    assert {(TOPICS[j], ids[i]) for i, j in zip(rows, columns, strict=True)} == set(pairs)
    assert set(indicator.data) == {1}
    assert indicator.has_sorted_indices


@given(st.lists(st.tuples(st.sampled_from(TOPICS), st.integers(0, 10**9)), min_size=1, max_size=60))
def test_the_fast_and_the_careful_parser_read_the_same_lines(tmp_path_factory, pairs):
    path = tmp_path_factory.mktemp("qrels") / "qrels"
    path.write_text("".join(f"{topic} {document} 1\n" for topic, document in pairs))
    fast, careful = _parsed_by_arrow(path), _parsed_line_by_line(path, frozenset(TOPICS))
    assert fast is not None
    for names, codes, documents in (fast, careful):
        assert [(names[code], document) for code, document in zip(codes, documents, strict=True)] == pairs


@pytest.mark.parametrize(
    "content",
    [QRELS.replace("\n", "\r\n"), QRELS.replace("\n", "\n\n"), QRELS.replace(" ", "\t "), QRELS + QRELS, QRELS[:-1]],
    ids=["CRLF", "blank lines", "tabs", "repeated", "no last line end"],
)
def test_spacing_line_ends_and_repeated_lines_do_not_matter(tmp_path, content):
    plain = rcv1(written(tmp_path, hierarchy=HIERARCHY, qrels=QRELS))
    other = rcv1(written(tmp_path, qrels=content))
    assert list(plain.keys) == list(other.keys)
    assert plain.preferences == other.preferences
    assert plain.properties == other.properties


@pytest.mark.parametrize(
    ("line", "named"),
    [
        ("C12 31", ["'C12 31' has 2 fields", "TOPIC DOCUMENT 1"]),
        ("C12 31 1 1", ["has 4 fields"]),
        ("C12 x31 1", ["'x31' is not a document number"]),
        ("C12 -31 1", ["'-31' is not a document number"]),
        ("C12 99999999999999999999 1", ["is not a document number"]),
        ("C12 31 0", ["document 31", "'0' after topic 'C12'"]),
        ("C99 31 1", ["document 31", "topic 'C99' is not in the hierarchy"]),
        ("\xe9 31 1", ["document 31", "topic 'é'"]),
        ('"C12" 31 1', ["document 31", "not in the hierarchy"]),
    ],
)
def test_a_broken_assignment_is_named_with_its_line(tmp_path, line, named):
    folder = written(tmp_path, hierarchy=HIERARCHY, qrels=QRELS + "\n" + line + "\nGCAT 40 1\n")
    with pytest.raises(InvalidFile) as caught:
        rcv1(folder)
    message = str(caught.value)
    assert "rcv1-v2.topics.qrels:10:" in message
    assert all(part in message for part in named), message


@pytest.mark.parametrize("content", ["", "\n\n"])
def test_a_file_without_assignments_is_refused(tmp_path, content):
    with pytest.raises(InvalidFile, match="no assignment in the file"):
        rcv1(written(tmp_path, hierarchy=HIERARCHY, qrels=content))


# -------------------------------------------------------------------------------------------------------- token files


def test_the_line_before_the_words_may_be_missing(tmp_path):
    written(tmp_path, tokens=".I 5\ntin pric\n\n.I 6\n.W\n\n.I 7\n.W\r\nris")
    assert list(iter_rcv1_tokens(tmp_path)) == [
        RCV1Document(5, "tin pric"),
        RCV1Document(6, ""),
        RCV1Document(7, "ris"),
    ]


def test_the_training_file_comes_before_the_test_files(tmp_path):
    for name, number in (("test_pt1", 3), ("train", 1), ("test_pt0", 2)):
        (tmp_path / f"lyrl2004_tokens_{name}.dat").write_text(f".I {number}\n.W\nword\n\n")
    assert [document.id for document in iter_rcv1_tokens(tmp_path)] == [1, 2, 3]


STEMS = st.lists(st.text("abcdefgh", min_size=1, max_size=6), max_size=8)


@given(st.dictionaries(st.integers(0, 10**6), STEMS, min_size=1, max_size=5), st.integers(1, 4))
def test_any_stems_survive_being_written_as_token_files(tmp_path_factory, documents, width):
    content = ""
    for number, stems in documents.items():
        lines = [" ".join(stems[i : i + width]) + "\n" for i in range(0, len(stems), width)]
        content += f".I {number}\n.W\n{''.join(lines)}\n"
    folder = written(tmp_path_factory.mktemp("tokens"), tokens=content)
    assert {d.id: d.text.split() for d in iter_rcv1_tokens(folder)} == documents


@pytest.mark.parametrize(
    ("content", "line", "named"),
    [
        ("\ntin\n.I 5\n", 2, ["'tin' before the first document"]),
        (".W\n.I 5\n", 1, ["'.W' before the first document"]),
        (TOKENS + ".I\n.W\ntin\n", 10, ["'.I' has no document number"]),
        (TOKENS + ".I five\n", 10, ["'.I five' has no document number"]),
        (TOKENS + ".I 12\n.T\nTitle\n", 11, ["document 12", "unknown field '.T'"]),
        (TOKENS + ".I 9\n.W\n", 10, ["document 9", "lyrl2004_tokens_train.dat:6 before"]),
        ("", 1, ["no document in the file"]),
    ],
)
def test_a_broken_token_file_is_named_with_line_and_document(tmp_path, content, line, named):
    written(tmp_path, tokens=content)
    with pytest.raises(InvalidFile) as caught:
        list(iter_rcv1_tokens(tmp_path))
    message = str(caught.value)
    assert f"lyrl2004_tokens_train.dat:{line}:" in message
    assert all(part in message for part in named), message


def test_a_document_without_assignments_is_named(corpus):
    written(corpus, tokens=TOKENS + ".I 77\n.W\nword\n\n.I 99999\n.W\n")
    with pytest.raises(InvalidFile, match=r"rcv1-v2.topics.qrels: document 77 .*\(2 have none\)"):
        rcv1(corpus, "tokens")


# ------------------------------------------------------------------------------------------------------------- subset


@pytest.mark.parametrize(
    ("line", "named"),
    [
        ("1A\t5\tCCAT", ["3 fields where 4"]),
        ("1C\t5\tCCAT\t1", ["'1C' and '5'"]),
        ("1A\tfive\tCCAT\t1", ["'1A' and 'five'"]),
        ("1A\t5\tCCAT\t0", ["document 1A-5", "feature '0'", "1 to 944"]),
        ("1A\t5\tCCAT\t945", ["document 1A-5", "feature '945'"]),
        ("1A\t5\tCCAT\t1 x", ["document 1A-5", "feature 'x'"]),
        ("1A\t5\tCCAT C99\t1", ["document 1A-5", "topic 'C99' is not in the hierarchy"]),
        ("1A\t0\tCCAT\t1", ["document 1A-0", "line 1 before"]),
    ],
)
def test_a_broken_line_of_the_subset_is_named_with_its_document(tmp_path, line, named):
    folder = written(tmp_path, hierarchy=HIERARCHY, subset=SUBSET + "\n" + line + "\n")
    with pytest.raises(InvalidFile) as caught:
        rcv1(folder, "subset")
    message = str(caught.value)
    assert "rcv1subset_named.tsv:5:" in message
    assert all(part in message for part in named), message


def test_a_subset_that_is_not_in_the_file_is_named(corpus):
    with pytest.raises(InvalidFile, match="no document of subset 2"):
        rcv1(corpus, "subset", subset=2)
    with pytest.raises(InvalidFile, match="no document in the file"):
        rcv1(written(corpus, subset="\n"), "subset")


# ------------------------------------------------------------------------------------------------- files and options


@pytest.mark.parametrize(
    ("documents", "missing", "published"),
    [
        ("assignments", "rcv1.topics.hier.orig", "RCV1-v2/LYRL2004"),
        ("assignments", "rcv1-v2.topics.qrels", "RCV1-v2/LYRL2004"),
        ("tokens", "lyrl2004_tokens_train.dat", "RCV1-v2/LYRL2004"),
        ("subset", "rcv1subset_named.tsv", "rcv1subset1"),
    ],
)
def test_a_missing_file_is_named_with_the_place_of_publication(corpus, documents, missing, published):
    (corpus / missing).unlink()
    with pytest.raises(InvalidFile, match=published) as caught:
        rcv1(corpus, documents)
    assert missing.removesuffix("train.dat") in str(caught.value)


@pytest.mark.parametrize(
    ("options", "named"),
    [
        ({"documents": "all"}, "documents='all'.*'assignments'"),
        ({"supervision": "flat"}, "supervision='flat'.*'hierarchy'"),
        ({"subset": 1}, "subset=1 with documents='assignments'"),
    ],
)
def test_an_option_that_cannot_be_meant_is_refused(corpus, options, named):
    with pytest.raises(InvalidOption, match=named):
        rcv1(corpus, **options)


def test_equal_label_sets_share_one_graph(tmp_path):
    lines = "".join(f"C12 {number} 1\nCCAT {number} 1\n" for number in range(1, 200))
    data = rcv1(written(tmp_path, hierarchy=HIERARCHY, qrels=lines + "GCAT 200 1\n"))
    assert len(data.preferences) == 200
    assert data.preferences.n_graphs == 2
    assert np.array_equal(data.preferences.edge_counts()[:199], np.full(199, data.preferences.edge_counts()[0]))
