"""Graph errors, the losses of MMP and Kendall's tau against their definitions, and the door that all metrics share."""

import itertools
import runpy
from pathlib import Path

import networkx as nx
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import kendalltau

import prefgraph as pg
from prefgraph import DECOMPOSITIONS, Preferences, as_preferences, metrics
from prefgraph import _metric_kernels as kernels
from prefgraph.errors import InvalidDecomposition, InvalidOption, InvalidScores, InvalidTarget
from prefgraph.metrics import _graph_errors, _kendall, _ranking
from tests.oracles import naive_graph_error, naive_kendall_tau, naive_violations
from tests.strategies import scored_preferences

NAMES = ("identity", "disagreement", "domination", "dominated")
TIES = ("disagree", "agree")


def adjacent(graph):
    """Only neighbouring layers, one part for each edge."""
    layers = graph.layers() or []
    return [[(a, b)] for up, down in itertools.pairwise(layers) for a in up for b in down]


def whole_and_edges(graph, instance):
    """Overlapping parts that depend on the instance."""
    edges = list(graph.edges)
    return ([edges] if edges else []) + [[e] for e in edges if instance % 2]


def score_dict(p, row):
    return dict(zip(p.labels, row.tolist(), strict=True))


def naive_counts(p, scores, cut, ties="disagree", weighted=False):
    """(violated, all) of each instance, on networkx graphs."""
    out = []
    for i, graph in enumerate(p):
        parts = whole_and_edges(graph, i) if cut is whole_and_edges else cut(graph)
        out.append(naive_violations(graph, parts, score_dict(p, scores[i]), ties, weighted))
    return out


@pytest.mark.parametrize("cut", [*NAMES, adjacent, whole_and_edges])
@given(data=scored_preferences(), ties=st.sampled_from(TIES), weighted=st.booleans())
def test_graph_errors_are_those_of_the_networkx_loop(cut, data, ties, weighted):
    p, scores = data
    counts = naive_counts(p, scores, DECOMPOSITIONS[cut] if isinstance(cut, str) else cut, ties, weighted)
    options = {"decomposition": cut, "ties": ties, "weighted": weighted}
    each = metrics.graph_errors(p, scores, normalize="count", **options)
    assert each.tolist() == [c for c, _ in counts]
    for normalize in ("instance", "count", "part"):
        expected = naive_graph_error(counts, p.weight, normalize)
        assert metrics.graph_error(p, scores, normalize=normalize, **options) == pytest.approx(expected)
        if normalize != "part":
            total = expected * p.weight.sum()
            assert metrics.graph_error_sum(p, scores, normalize=normalize, **options) == pytest.approx(total)


@pytest.mark.parametrize("name", NAMES)
@given(data=scored_preferences(), ties=st.sampled_from(TIES), weighted=st.booleans())
def test_all_encodings_have_the_same_errors(name, data, ties, weighted):
    p, scores = data
    options = {"ties": ties, "weighted": weighted}
    layered, edges = (metrics.graph_errors(p.encoded(e), scores, name, **options) for e in ("layered", "edges"))
    by_function = metrics.graph_errors(p, scores, pg.compose(name), **options)
    assert layered.tolist() == edges.tolist() == by_function.tolist()


@given(data=scored_preferences())
def test_errors_lie_between_0_and_1_and_zero_one_is_the_largest(data):
    p, scores = data
    each = {name: metrics.graph_errors(p, scores, name) for name in NAMES}
    for values in each.values():
        assert np.all((values >= 0) & (values <= each["identity"]) & (each["identity"] <= 1))
    assert metrics.zero_one_error(p, scores) >= metrics.domination_error(p, scores) >= 0


@given(data=scored_preferences())
def test_a_tie_is_an_error_only_where_asked(data):
    p, scores = data
    for name in NAMES:
        assert np.all(metrics.graph_errors(p, scores, name, ties="agree") <= metrics.graph_errors(p, scores, name))
    assert metrics.zero_one_error(p, np.zeros_like(scores), ties="agree") == 0
    assert metrics.graph_errors(p, np.zeros_like(scores), "disagreement").tolist() == (p.edge_counts() > 0).tolist()


@given(data=scored_preferences(), seed=st.randoms(use_true_random=False))
def test_the_order_and_the_names_of_labels_do_not_matter(data, seed):
    p, scores = data
    order = list(range(len(p.labels)))
    seed.shuffle(order)
    moved = p.with_labels([p.labels[k] for k in order]).rename(lambda v: f"label {v}")
    for name in NAMES:
        assert metrics.graph_error(moved, scores[:, order], name) == pytest.approx(metrics.graph_error(p, scores, name))


@given(data=scored_preferences())
def test_only_the_order_of_the_scores_matters(data):
    p, scores = data
    for name in NAMES:
        assert (
            metrics.graph_errors(p, np.exp(scores) * 3 - 1e3, name).tolist()
            == metrics.graph_errors(p, scores, name).tolist()
        )


@given(data=scored_preferences())
def test_flat_scores_of_the_vertices_give_the_errors_of_the_matrix(data):
    p, scores = data
    offsets, vertices = p.vertex_lists()
    flat = scores[np.repeat(np.arange(len(p)), np.diff(offsets)), vertices]
    for name in NAMES:
        assert metrics.graph_errors(p, flat, name).tolist() == metrics.graph_errors(p, scores, name).tolist()


@given(
    data=scored_preferences(),
    name=st.sampled_from(NAMES),
    ties=st.sampled_from(TIES),
    weighted=st.booleans(),
    few=st.sampled_from([0, 4]),
)
def test_compiled_loops_are_the_interpreted_ones(data, name, ties, weighted, few):
    p, scores = data

    def answers():
        return [
            metrics.graph_errors(p, scores, name, "instance", ties, weighted=weighted).tolist(),
            metrics.kendall_tau(p, scores, "b") if p.weight @ p.edge_counts() else None,
        ]

    expected = answers()
    with pytest.MonkeyPatch.context() as patch:
        for key, kernel in list(vars(kernels).items()):
            if hasattr(kernel, "py_func"):
                for module in (kernels, _graph_errors, _kendall, _ranking):
                    if hasattr(module, key):
                        patch.setattr(module, key, kernel.py_func)
        patch.setattr(_graph_errors, "FEW_PAIRS", few)
        patch.setattr(_graph_errors, "FEW_LAYERS", few)
        assert answers() == expected


@pytest.mark.parametrize("ties", TIES)
def test_sorting_and_comparing_count_the_same_pairs(ties):
    rng = np.random.default_rng(3)
    layer = rng.integers(-2, 30, (20, 400)).astype(np.int8)
    scores = rng.integers(0, 50, (20, 400)).astype(float)
    index = np.arange(20, dtype=np.int32)
    by_pairs, by_sorting, edges = np.zeros(20), np.zeros(20), np.zeros(20)
    kernels.pair_errors(scores, layer, index, ties == "agree", 10**9, by_pairs, edges)
    kernels.pair_errors(scores, layer, index, ties == "agree", 0, by_sorting, edges)
    assert by_pairs.tolist() == by_sorting.tolist()
    assert by_pairs.min() > 0


@pytest.mark.parametrize("ties", TIES)
@pytest.mark.parametrize("by_term", [False, True])
@pytest.mark.parametrize("kind", [np.float64, np.float32])
def test_passes_and_bounds_count_the_same_stars(by_term, ties, kind):
    rng = np.random.default_rng(4)
    layer = Preferences.from_layer_matrix(rng.integers(-2, 6, (300, 40))).layer
    scores = rng.choice([-1e30, -3, -1, -1e-30, -0.0, 0.0, 1e-30, 2, 1e30], (300, 40))
    index = np.arange(300, dtype=np.int32)
    found = []
    for few_layers in (0, 10):
        wrong, total = np.zeros(300), np.zeros(300)
        kernels.star_errors(
            scores.astype(kind), layer, index, by_term, ties == "agree", False, few_layers, wrong, total
        )
        found.append([wrong.tolist(), total.tolist()])
    assert found[0] == found[1]
    assert 0 < np.sum(found[0][0]) < np.sum(found[0][1])


@given(st.lists(st.booleans(), min_size=2, max_size=7), st.data())
def test_domination_error_of_a_label_set_is_the_share_of_relevant_labels_not_above_all_others(relevant, data):
    values = st.lists(st.integers(0, 4), min_size=len(relevant), max_size=len(relevant))
    scores = data.draw(values)
    best = max((f for f, r in zip(scores, relevant, strict=True) if not r), default=None)
    good = [f for f, r in zip(scores, relevant, strict=True) if r]
    expected = 0.0 if best is None or not good else sum(f <= best for f in good) / len(good)
    assert metrics.domination_error(np.array([relevant]), [scores]) == pytest.approx(expected)


def test_figure_1_of_the_plm_paper_costs_two_and_one():
    p = as_preferences(["[1|2|3]"], form="notation")
    ranking = [[2.0, 1.0, 3.0]]  # [3|1|2]
    assert metrics.graph_error_sum(p, ranking, "disagreement", "count") == 2
    assert metrics.graph_error_sum(p, ranking, adjacent, "count") == 1


def test_the_costs_of_the_kplm_table_count_relevant_labels_and_pairs():
    y = np.array([[1, 1, 0, 0, 0], [1, 0, 0, 0, 0], [1, 1, 1, 1, 1]])
    scores = np.array([[3, 1, 2, 0, 0], [4, 3, 2, 1, 0], [0, 0, 0, 0, 0]])
    assert metrics.identity_cost(y, scores) == 1 / 2  # the third instance has no pair, and is no ranking
    assert metrics.domination_cost(y, scores) == 1 / 3  # of 3 relevant labels, as 137 of 2,787 in the table
    assert metrics.disagreement_cost(y, scores) == 1 / 10  # of 6 + 4 pairs
    assert metrics.zero_one_error(y, scores) == 1 / 3


def test_without_edges_there_is_no_error():
    p = Preferences.from_layer_matrix([[0, 0, -1], [-1, -1, -1]])
    scores = np.zeros((2, 3))
    for name in NAMES:
        assert metrics.graph_errors(p, scores, name).tolist() == [0, 0]
        assert metrics.graph_error(p, scores, name, "part") == 0
    graph = pg.PreferenceGraph([("a", "b")])
    both = as_preferences([graph, pg.PreferenceGraph(nodes=["a"])]).encoded("edges")
    assert metrics.graph_error(both, [[0, 1], [0, 1]], "identity") == 0.5


def test_no_instances_have_a_sum_and_no_mean():
    p = Preferences.from_layer_matrix(np.zeros((0, 3), int))
    assert metrics.graph_error_sum(p, np.zeros((0, 3))) == 0
    assert metrics.graph_errors(p, np.zeros((0, 3))).shape == (0,)
    with pytest.raises(InvalidTarget, match="0 instances with a total weight of 0"):
        metrics.graph_error(p, np.zeros((0, 3)))
    with pytest.raises(InvalidTarget, match="1 instances with a total weight of 0"):
        metrics.average_precision(np.array([[1, 0]]), [[1, 0]], sample_weight=[0])


def test_sample_weights_replace_those_of_the_preferences():
    p = as_preferences(np.array([[1, 0], [1, 0]]), weight=[3, 1])
    scores = [[0, 1], [1, 0]]
    assert metrics.domination_error(p, scores) == 3 / 4
    assert metrics.domination_error(p, scores, sample_weight=[1, 1]) == 1 / 2
    with pytest.raises(InvalidTarget, match="one number for each"):
        metrics.domination_error(p, scores, sample_weight=[1])
    with pytest.raises(InvalidTarget, match="-1"):
        metrics.domination_error(p, scores, sample_weight=[1, -1])


@given(data=scored_preferences())
def test_mmp_losses_are_the_violated_edges(data):
    p, scores = data
    counts = naive_counts(p, scores, DECOMPOSITIONS["disagreement"])
    weight = p.weight
    expected = {
        "indicator": [float(c > 0) for c, _ in counts],
        "count": [c for c, _ in counts],
        "share": [c / s if s else 0.0 for c, s in counts],
    }
    for loss, values in expected.items():
        assert metrics.mmp_loss_sum(p, scores, loss) == pytest.approx(weight @ values)
        assert metrics.mmp_loss(p, scores, loss) == pytest.approx(weight @ values / weight.sum())


def test_a_weighted_mmp_loss_counts_weights():
    graph = nx.DiGraph()
    graph.add_weighted_edges_from([("a", "b", 3.0), ("a", "c", 1.0)])
    p = as_preferences([graph])
    assert metrics.mmp_loss(p, [[0, 1, -1]], "count", weighted=True) == 3
    assert metrics.mmp_loss(p, [[0, 1, -1]], "share", weighted=True) == 3 / 4


@given(data=scored_preferences(), variant=st.sampled_from(["edges", "b"]))
def test_kendall_tau_is_that_of_the_loop(data, variant):
    p, scores = data
    used = [i for i in range(len(p)) if p[i].number_of_edges() and p.weight[i]]
    if not used:
        with pytest.raises(InvalidTarget, match="needs one that has"):
            metrics.kendall_tau(p, scores, variant)
        return
    values = [naive_kendall_tau(p[i], score_dict(p, scores[i]), variant) for i in used]
    assert metrics.kendall_tau(p, scores, variant) == pytest.approx(np.average(values, weights=p.weight[used]))


@given(st.lists(st.tuples(st.integers(0, 4), st.integers(0, 4)), min_size=2, max_size=9))
def test_tau_b_is_that_of_scipy_on_rankings_with_ties(pairs):
    layer, score = zip(*pairs, strict=True)
    if len(set(layer)) < 2:
        return
    expected = kendalltau([-k for k in layer], score, variant="b").statistic
    ours = metrics.kendall_tau(Preferences.from_layer_matrix([layer]), [score], "b")
    assert ours == pytest.approx(0.0 if np.isnan(expected) else expected)


# -- the door ---------------------------------------------------------------------------------------------------------

EVERY_METRIC = [getattr(metrics, name) for name in metrics.__all__]


def call(metric, y, scores):
    return metric(y, scores, 1) if metric.__name__.endswith("_at") else metric(y, scores)


@pytest.mark.parametrize("metric", EVERY_METRIC, ids=metrics.__all__)
@pytest.mark.parametrize(
    ("scores", "message"),
    [
        ([[0.0, np.nan], [1, 2]], r"scores\[0, 1\] is nan; scores are finite"),
        ([[0.0, 1], [-np.inf, 2]], r"scores\[1, 0\] is -inf; scores are finite"),
        (
            [[0.0, 1, 2], [1, 2, 3]],
            r"shape \(2, 3\) for 2 instances and 2 labels; give a matrix of shape \(2, 2\).*labels=",
        ),
        ([[0.0, 1]], r"shape \(1, 2\) for 2 instances and 2 labels"),
        ([0.0, 1, 2], r"shape \(3,\) for 2 instances and 2 labels; .* or 4 scores"),
        ([0.0, 1, 2, np.nan], r"scores\[3\] is nan"),
        ([[0.0, 1], [1]], "rows of different lengths"),
        ([["a", "b"], ["c", "d"]], "type <U1; scores are real numbers"),
        (np.zeros((2, 2), complex), "type complex128"),
        (np.zeros((2, 2, 1)), r"shape \(2, 2, 1\); it is an instances x labels matrix"),
    ],
)
def test_bad_scores_are_named_by_every_metric(metric, scores, message):
    with pytest.raises(InvalidScores, match=message):
        call(metric, np.eye(2, dtype=int), scores)


def test_huge_scores_are_fine_though_their_sum_is_not():
    assert metrics.domination_error([[1, 0, 0]], [[1.7e308, 1.6e308, 1.7e307]]) == 0
    assert metrics.domination_error([[1, 0, 0]], np.array([[3e38, 3.1e38, 0]], np.float32)) == 1


def test_the_callers_arrays_stay_as_they_were():
    scores = np.asfortranarray(np.arange(6.0).reshape(2, 3))
    before = scores.copy()
    metrics.domination_error([[1, 0, 0], [0, 1, 0]], scores)
    assert scores.flags.writeable
    assert np.array_equal(scores, before)


def test_unknown_words_are_named():
    y, scores = np.array([[1, 0]]), [[1, 0]]
    with pytest.raises(InvalidOption, match="normalize='mean'"):
        metrics.graph_error(y, scores, normalize="mean")
    with pytest.raises(InvalidOption, match="normalize='part' is not one of 'instance', 'count'"):
        metrics.graph_error_sum(y, scores, normalize="part")
    with pytest.raises(InvalidOption, match="normalize='part'"):
        metrics.graph_errors(y, scores, normalize="part")
    with pytest.raises(InvalidOption, match="ties='never'"):
        metrics.graph_error(y, scores, ties="never")
    with pytest.raises(InvalidOption, match="loss='hinge'"):
        metrics.mmp_loss(y, scores, "hinge")
    with pytest.raises(InvalidOption, match="variant='c'"):
        metrics.kendall_tau(y, scores, "c")
    with pytest.raises(InvalidDecomposition, match="decomposition='stars'"):
        metrics.graph_error(y, scores, "stars")


def test_each_form_of_target_has_the_same_error():
    scores = [[0.1, 0.9, 0.5], [0.7, 0.2, 0.6]]
    same = [[0, 1], [{0}, {1}], np.array([[1, 0, 0], [0, 1, 0]]), as_preferences([{0}, {1}], labels=range(3))]
    same[0] = as_preferences(same[0], labels=range(3))
    same[1] = as_preferences(same[1], labels=range(3))
    assert {metrics.disagreement_error(y, scores) for y in same} == {1.0}
    documents = [1, 0, 0, 1]
    assert metrics.disagreement_error(documents, [0.1, 0.2, 0.0, 0.3]) == 1 / 4
    assert metrics.disagreement_error(np.array(documents, bool), [0.1, 0.2, 0.0, 0.3]) == 1 / 4


def test_the_benchmark_checks_all_roads_at_its_smallest_size(capsys):
    script = Path(__file__).parents[1] / "benchmarks" / "bench_metrics.py"
    runpy.run_path(str(script))["main"](quick=True)
    printed = capsys.readouterr().out
    assert all(name in printed for name in NAMES)
