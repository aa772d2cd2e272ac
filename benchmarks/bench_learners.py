"""An iteration of the log-linear ranker against the products that it cannot do without, its growth, and its memory.

python benchmarks/bench_learners.py [--quick] [--only iteration | growth | million] [--instances N] [--solver boosting]

The floor of an iteration is three products of the sparse features with dense matrices: the scores ``X W`` and the two
flows back, ``X' In`` and ``X' Out``. Iterations and products of scipy take turns, so that a ratio is of two neighbours
in time. The times of one thread are of the processor, those of two of the clock on the wall. ``--only million`` trains
on a million instances in a process of its own, for time and peak memory; it is not part of a plain run, and
``--instances`` makes it smaller.
"""

import argparse
import resource
import subprocess
import sys
from collections.abc import Callable, Sequence
from contextlib import redirect_stderr
from io import StringIO
from pathlib import Path
from time import perf_counter, process_time
from typing import Any

import numpy as np
from scipy import sparse
from threadpoolctl import threadpool_limits

from learners import LogLinearRanker
from learners._features import LabelBlock
from learners._objective import Objective
from learners._threads import thread_limit
from prefgraph import DECOMPOSITIONS, Preferences

N_LABELS, N_FEATURES = 103, 3_200  # the leaves of RCV1's topic tree, and the words that the paper keeps
NON_ZEROS = 62
ITERATIONS = 8
BLOCK = 10_000  # rows that are made at a time


def documents(
    instances: int,
    n_features: int = N_FEATURES,
    n_labels: int = N_LABELS,
    sizes: Sequence[int] = (2, 7),
    dtype: type = np.float64,
) -> tuple[sparse.csr_array[Any, Any], Preferences]:
    """Text-like rows, few words frequent and most rare, and layered graphs of these sizes that hang on the words.

    Made a block of rows at a time: nothing as large as instances x labels is held but the layers, a byte each.
    """
    rng = np.random.default_rng(0)
    teacher = rng.normal(size=(n_features, n_labels)).astype(np.float32)
    bounds = np.cumsum(sizes)
    rows: list[Any] = []
    layer = np.empty((instances, n_labels), np.int8)
    for start in range(0, instances, BLOCK):
        m = min(BLOCK, instances - start)
        word = (n_features * rng.random((m, NON_ZEROS + 1)) ** 2).astype(np.int32)  # one word in 63 comes twice
        values = (1.0 + np.log(rng.geometric(0.6, word.shape))).astype(np.float32)  # log(count) + 1
        offsets = np.arange(m + 1, dtype=np.int32) * word.shape[1]
        block = sparse.csr_array((values.ravel(), word.ravel(), offsets), shape=(m, n_features))
        block.sum_duplicates()
        rows.append(block.astype(dtype))
        scores = block @ teacher + 4 * rng.normal(size=(m, n_labels)).astype(np.float32)
        place = np.argsort(np.argsort(-scores, axis=1), axis=1)
        layer[start : start + m] = np.searchsorted(bounds, place, side="right")
    return sparse.csr_array(sparse.vstack(rows, format="csr")), Preferences.from_layer_matrix(layer)


class Clock(StringIO):
    """Stands in for stderr while ``verbose=1`` writes a line for each iteration, and notes how long each one took.

    After each line it does other work, the floor, and times that too: iterations and floor take turns, and whatever
    else the machine does slows both.
    """

    def __init__(self, floor: Callable[[], object] = lambda: None, now: Callable[[], float] = perf_counter) -> None:
        super().__init__()
        self._now = now
        self.iterations: list[float] = []
        self.floors: list[float] = []
        self._floor = floor
        self._resumed = now()

    def write(self, text: str) -> int:
        if text.strip():
            before = self._now()
            self.iterations.append(before - self._resumed)
            self._floor()
            self._resumed = self._now()
            self.floors.append(self._resumed - before)
        return len(text)


def iterate(X: Any, p: Preferences, clock: Clock, iterations: int = ITERATIONS, **options: Any) -> None:
    """Fit, with the time of each iteration in the clock but the first (it sets up) and the last (boosting: no step)."""
    model = LogLinearRanker(max_iter=iterations, tol=0.0, regularization=1.0, verbose=1, **options)
    with redirect_stderr(clock):
        model.fit(X, p)
    assert len(clock.iterations) == model.n_iter_ == iterations
    assert np.all(np.diff(model.loss_curve_) < 0)
    clock.iterations, clock.floors = clock.iterations[1:-1], clock.floors[1:-1]


def best_of(work: Callable[[], object], repeats: int, now: Callable[[], float] = perf_counter) -> float:
    """Seconds of the fastest run."""
    seconds = []
    for _ in range(repeats):
        start = now()
        work()
        seconds.append(now() - start)
    return min(seconds)


class Iteration:
    """One iteration on three layers, with either solver and any decomposition."""

    param_names = ("instances",)
    params = (1_000, 20_000)

    def setup(self, instances: int) -> None:
        self.X, self.p = documents(instances)
        rng = np.random.default_rng(1)
        self.parameters = rng.normal(size=(N_FEATURES, N_LABELS))
        self.flow_in, self.flow_out = rng.random((2, instances, N_LABELS))
        self.features = LabelBlock(self.X, N_LABELS)
        assert 800 < self.p.n_edges / instances < 900
        assert 61 < self.X.nnz / instances < 63
        assert len(self.features.blocks) == 1

    def check(self, name: str) -> None:
        """The layered loops and the listed edges learn the same; also the warm-up that compiles the kernels."""

        def listed(graph: Any) -> Any:
            return DECOMPOSITIONS[name](graph)

        X, p = self.X[:60], self.p[:60]
        for solver in ("boosting", "lbfgs"):
            curves = [
                LogLinearRanker(cut, solver=solver, regularization=1.0, max_iter=3, tol=0.0).fit(X, p).loss_curve_
                for cut in (name, listed)
            ]
            assert np.allclose(*curves)

    def check_products(self) -> None:
        ours = (self.features.scores(self.parameters, 0), *self.features.weights(self.flow_in, self.flow_out, 0))
        for own, scipy_s in zip(ours, self.time_products(), strict=True):
            assert np.allclose(own, scipy_s)

    def time_products(self) -> tuple[Any, Any, Any]:
        return self.X @ self.parameters, self.X.T @ self.flow_in, self.X.T @ self.flow_out

    def time_own_products(self) -> None:
        self.features.scores(self.parameters, 0)
        self.features.weights(self.flow_in, self.flow_out, 0)

    def time_flows(self, objective: Objective, scores: np.ndarray) -> object:
        return objective.value_and_flows(scores)


def show_iteration(quick: bool) -> None:
    instances, iterations = (Iteration.params[0], 5) if quick else (Iteration.params[-1], 22)
    bench = Iteration()
    bench.setup(instances)
    bench.check_products()
    for name in DECOMPOSITIONS:
        bench.check(name)
    print(f"{instances} x {N_FEATURES} ({bench.X.nnz / instances:.1f} non-zeros) x {N_LABELS} labels, ", end="")
    print(f"{bench.p.n_edges / instances:.0f} edges each; {iterations - 2} iterations in turns with three products")
    scores = bench.X @ bench.parameters / 8
    for threads, now in ((1, process_time), (2, perf_counter)):
        with thread_limit(threads), threadpool_limits(1):  # BLAS threads would count as processor time when they wait
            ours, scipys = best_of(bench.time_own_products, 5, now), best_of(bench.time_products, 5, now)
            print(f"\n{threads} thread{'s' if threads > 1 else ''}; scipy's products: always one; ", end="")
            print(f"the package's own: {ours / scipys:.2f} of scipy's time")
            print("{:14} {:10} {:>13} {:>13} {:>22} {:>14}".format(*COLUMNS))
            for name in DECOMPOSITIONS:
                objective = Objective(bench.p, name)
                alone = best_of(lambda o=objective: bench.time_flows(o, scores), 5, now)
                for solver in ("boosting", "lbfgs"):
                    clock = Clock(bench.time_products, now)
                    iterate(bench.X, bench.p, clock, iterations, decomposition=name, solver=solver)
                    times = f"{1e3 * np.median(clock.iterations):13.1f} {1e3 * np.median(clock.floors):13.1f}"
                    print(f"{name:14} {solver:10} {times} {ratio(clock):>22} {1e3 * alone:14.1f}", flush=True)


COLUMNS = ("decomposition", "solver", "iteration, ms", "products, ms", "ratio (quartiles)", "loss alone, ms")


def ratio(clock: Clock) -> str:
    """The median of an iteration over the products that followed it, and the quartiles."""
    low, middle, high = np.quantile(np.divide(clock.iterations, clock.floors), (0.25, 0.5, 0.75))
    return f"{middle:.2f} ({low:.2f}-{high:.2f})"


def show_growth(quick: bool) -> None:
    base = 500 if quick else 5_000
    print("\ngrowth, one thread: ms of three products, and of an iteration of boosting (in brackets the ratio, median)")
    names = tuple(DECOMPOSITIONS)
    print(f"{'':24} {'products':>9} " + " ".join(f"{name:>16}" for name in names))
    for m in (base, 2 * base, 4 * base, 8 * base):
        growth_row(f"{m} instances", names, documents(m))
    for n_labels in (25, 50, 100, 200, 400):
        growth_row(f"{n_labels} labels", names, documents(2 * base, n_labels=n_labels))
    for sizes in ((1,), (2, 7), (10, 30), (5,) * 20):
        X, p = documents(2 * base, sizes=sizes)
        growth_row(f"{p.n_edges // len(p)} edges in {len(sizes) + 1} layers", names, (X, p))


def growth_row(title: str, names: Sequence[str], data: tuple[Any, Preferences]) -> None:
    X, p = data
    n_labels = len(p.labels)
    parameters, flows = np.ones((X.shape[1], n_labels)), np.ones((2, X.shape[0], n_labels))
    floors, cells = [], []
    for name in names:
        clock = Clock(lambda: (X @ parameters, X.T @ flows[0], X.T @ flows[1]), process_time)
        with thread_limit(1), threadpool_limits(1):
            iterate(X, p, clock, decomposition=name, solver="boosting")
        floors += clock.floors
        middle = np.median(np.divide(clock.iterations, clock.floors))
        cells.append(f"{1e3 * np.median(clock.iterations):.1f} ({middle:.2f})")
    print(f"{title:24} {1e3 * np.median(floors):9.1f} " + " ".join(f"{cell:>16}" for cell in cells), flush=True)


def show_million(instances: int, solver: str) -> None:
    """20 iterations in a fresh process, so that the peak is of nothing else."""
    script = f"import bench_learners; bench_learners.train_million({instances}, {solver!r})"
    subprocess.run([sys.executable, "-c", script], cwd=Path(__file__).parent, check=True)


def train_million(instances: int, solver: str, n_features: int = 50_000, n_labels: int = 100) -> None:
    """What `show_million` runs: single precision, three layers of 3, 8 and 89 labels, some thousand edges each."""
    start = perf_counter()
    X, p = documents(instances, n_features, n_labels, sizes=(3, 8), dtype=np.float32)
    made, spent = perf_counter(), process_time()
    before = peak()
    model = LogLinearRanker(solver=solver, max_iter=20, tol=0.0)
    clock = Clock()
    with redirect_stderr(clock):
        model.set_params(verbose=1).fit(X, p)
    done, spent = perf_counter(), process_time() - spent
    assert model.n_iter_ == 20
    assert model.coef_.dtype == np.float32
    assert model.loss_curve_[-1] < model.loss_curve_[0]
    own = (X.data.nbytes + X.indices.nbytes + X.indptr.nbytes) / 1e9
    print(f"{solver}: {instances} x {n_features} ({X.nnz / instances:.1f} non-zeros) x {n_labels} labels, ", end="")
    print(f"{p.n_edges / 1e9:.3f}e9 implied edges, {p.n_graphs} distinct graphs; 20 iterations, single precision")
    print(f"  fit {done - made:.1f} s ({spent:.1f} s of the processor), ", end="")
    print(f"{np.median(clock.iterations):.2f} s an iteration; ", end="")
    print(f"making the data {made - start:.1f} s")
    print(
        f"  peak {peak():.2f} GB, before the fit {before:.2f} GB; X {own:.2f} GB, preferences {p.nbytes / 1e9:.2f} GB"
    )
    print(f"  loss {model.loss_curve_[0]:.6g} after 1 iteration, {model.loss_curve_[-1]:.6g} after 20", flush=True)


def peak() -> float:
    """The most that the process has held, in GB."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024 / 1e9


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="the smallest sizes")
    parser.add_argument("--only", choices=("iteration", "growth", "million"))
    parser.add_argument("--instances", type=int, default=1_000_000, help="of --only million")
    parser.add_argument("--solver", choices=("lbfgs", "boosting"), default="lbfgs", help="of --only million")
    options = parser.parse_args()
    if options.only in (None, "iteration"):
        show_iteration(options.quick)
    if options.only in (None, "growth"):
        show_growth(options.quick)
    if options.only == "million":
        show_million(2_000 if options.quick else options.instances, options.solver)


if __name__ == "__main__":
    main()
