"""Layers of many label sets over a label tree: the vectorised road against one instance at a time.

python benchmarks/bench_hierarchy.py [instances]
"""

import sys
from time import perf_counter

import numpy as np

from prefgraph import LabelHierarchy

N_INNER, N_CHILDREN = 20, 4  # with the dummy leaf of each inner label: 100 leaves


def topic_tree() -> LabelHierarchy:
    nested = {"all": {f"t{i}": [f"t{i}.{j}" for j in range(N_CHILDREN)] for i in range(N_INNER)}}
    return LabelHierarchy.from_nested(nested).with_dummy_leaves()


class LayersOfLabelSets:
    """Random sets of one to five labels over 100 leaves, at most three layers."""

    param_names = ("instances",)
    params = (1_000, 100_000)

    def setup(self, instances: int) -> None:
        rng = np.random.default_rng(0)
        self.hierarchy = topic_tree()
        labels = self.hierarchy.labels[1:]
        picks = rng.integers(0, len(labels), (instances, 5))
        sizes = rng.integers(1, 6, instances)
        self.sets = [[labels[k] for k in row[:size]] for row, size in zip(picks, sizes, strict=True)]
        layers = self.hierarchy.layer_matrix(self.sets[:10])  # compiles, and computes the distances
        assert layers.shape == (10, 100)
        assert len(np.unique(layers)) == 3

    def time_all_at_once(self, instances: int) -> None:
        layers = self.hierarchy.layer_matrix(self.sets)
        assert layers.shape == (instances, 100)

    def time_one_by_one(self, instances: int) -> None:
        assert len([self.hierarchy.layers_of(labels) for labels in self.sets]) == instances


class DistancesOfLeaves:
    """All distances between the leaves of a tree in which every inner label has four children."""

    param_names = ("labels",)
    params = (100, 8_000)

    def setup(self, labels: int) -> None:
        self.parents = {0: None, **{child: (child - 1) // 4 for child in range(1, labels)}}
        assert LabelHierarchy.from_parents({0: None}).distances().shape == (1, 1)  # compiles

    def time_distances(self, labels: int) -> None:
        matrix = LabelHierarchy.from_parents(self.parents).distances()
        assert len(matrix) > labels // 2


def seconds(work, *arguments) -> float:
    start = perf_counter()
    work(*arguments)
    return perf_counter() - start


def main(instances: int) -> None:
    layers = LayersOfLabelSets()
    layers.setup(instances)
    fast, slow = seconds(layers.time_all_at_once, instances), seconds(layers.time_one_by_one, instances)
    print(f"{instances} label sets x 100 leaves: {fast:.3f} s at once, {slow:.2f} s one by one, {slow / fast:.0f}x")
    distances = DistancesOfLeaves()
    distances.setup(DistancesOfLeaves.params[1])
    print(f"leaf distances, 8,000 labels: {seconds(distances.time_distances, DistancesOfLeaves.params[1]):.3f} s")


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else LayersOfLabelSets.params[1])
