"""A ranker that learns from a label tree under three decompositions, and the edges that it breaks."""

import numpy as np
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.pipeline import make_pipeline

import prefgraph as pg
from learners import LogLinearRanker

WORDS = {
    "crude": "oil barrel opec tanker crude refinery",
    "natural gas": "gas pipeline lng cubic heating",
    "wheat": "wheat flour harvest export bread",
    "corn": "corn maize feed harvest ethanol",
    "bonds": "bond yield treasury coupon debt",
    "shares": "share stock dividend market index",
}
tree = pg.LabelHierarchy.from_nested(
    {"news": {"energy": ["crude", "natural gas"], "grains": ["wheat", "corn"], "finance": ["bonds", "shares"]}}
)
rng = np.random.default_rng(0)


def story(label):
    """Three words of its own topic, four of any: not every story is easy."""
    own, other = WORDS[label].split(), " ".join(WORDS.values()).split()
    return " ".join([*rng.choice(own, 3), *rng.choice(other, 4)])


topics = [str(label) for label in rng.choice(list(WORDS), 300)]
texts = [story(label) for label in topics]
y = tree.preferences([{label} for label in topics])  # right topic > its sibling > all others
train, test = slice(0, 200), slice(200, None)
X = TfidfVectorizer().fit_transform(texts)

for decomposition in ("identity", "disagreement", "domination"):
    model = LogLinearRanker(decomposition).fit(X[train], y[train])
    scores = model.decision_function(X[test])
    errors = [pg.metrics.graph_error(y[test], scores, name) for name in ("identity", "disagreement", "domination")]
    print(f"{decomposition:13} {model.n_iter_:3} iterations, test errors", *(f"{error:.3f}" for error in errors))

pipe = make_pipeline(TfidfVectorizer(), LogLinearRanker()).fit(texts[train], y[train])
ranking = pipe[-1].rank(pipe[:-1].transform(["opec cuts oil output"]))[0]
print("\nA story about oil:", " > ".join(ranking))

broken = model.violations(X[test], y[test])
print(f"\n{broken.num_rows} of {y[test].n_edges} test edges are broken; the worst:")
for row in broken.slice(0, 3).to_pylist():
    text = texts[test][row["instance"]]
    print(f"  {row['init']} should be above {row['term']}, margin {row['margin']:.2f}: {text!r}")
