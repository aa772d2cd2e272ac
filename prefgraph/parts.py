"""Parts: the edges of all instances, cut by a decomposition, as flat arrays and as matrices."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy import sparse

from prefgraph._content import Edge, Label

__all__ = ["Parts"]

IntArray = npt.NDArray[np.signedinteger[Any]]
FloatArray = npt.NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Parts:
    """A decomposed edge set: a row for every edge of every part.

    The parts of an instance stand together, in the order of the instances; the edges of a part stand together too.
    An edge that lies in two parts has two rows. Arrays are read-only.

    Attributes
    ----------
    instance, part, init, term, weight
        For each row: the instance; the number of the part, counted over the whole data set; the labels as positions in
        ``labels``; the weight of the edge.
    offsets
        The rows of part ``k`` are ``offsets[k]:offsets[k + 1]``.
    part_instance
        The instance of each part.
    labels
        The label index.
    n_instances
        The number of instances, those without edges included.
    attributes
        Columns of edge attributes, object arrays with None where nothing was said.

    Examples
    --------
    >>> import prefgraph as pg
    >>> q = pg.as_preferences([{"a", "b"}, {"c"}], labels="abc").parts("domination")
    >>> q.instance, q.part
    (array([0, 0, 1, 1]), array([0, 1, 2, 2]))
    >>> [(q.labels[u], q.labels[v]) for u, v in zip(q.init, q.term)]
    [('a', 'c'), ('b', 'c'), ('c', 'a'), ('c', 'b')]
    >>> q.membership().toarray().astype(int)
    array([[1, 0, 0, 0],
           [0, 1, 0, 0],
           [0, 0, 1, 1]])
    """

    instance: IntArray
    part: IntArray
    init: IntArray
    term: IntArray
    weight: FloatArray
    offsets: IntArray
    part_instance: IntArray
    labels: tuple[Label, ...]
    n_instances: int
    attributes: Mapping[str, npt.NDArray[np.object_]] = field(default_factory=lambda: MappingProxyType({}))

    def __post_init__(self) -> None:
        for array in (*self._arrays(), *self.attributes.values()):
            array.setflags(write=False)
        object.__setattr__(self, "attributes", MappingProxyType(dict(self.attributes)))

    def _arrays(self) -> tuple[npt.NDArray[Any], ...]:
        return self.instance, self.part, self.init, self.term, self.weight, self.offsets, self.part_instance

    def __reduce__(self) -> tuple[Any, ...]:
        """Copies and pickles are made again, because numpy would give them arrays that can be written."""
        return Parts, (*self._arrays(), self.labels, self.n_instances, dict(self.attributes))

    def __len__(self) -> int:
        """The number of parts."""
        return len(self.part_instance)

    @property
    def counts(self) -> IntArray:
        """The number of parts of each instance, ``s_i``."""
        return np.bincount(self.part_instance, minlength=self.n_instances)

    def edges(self, part: int) -> list[Edge]:
        """The edges of one part, as labels."""
        if not 0 <= part < len(self):
            raise IndexError(f"part {part} of {len(self)}; numbers go from 0 to {len(self) - 1}")
        rows = slice(self.offsets[part], self.offsets[part + 1])
        return [(self.labels[u], self.labels[v]) for u, v in zip(self.init[rows], self.term[rows], strict=True)]

    def incidence(self, dtype: npt.DTypeLike = np.float64) -> sparse.csr_array[Any, tuple[int, int]]:
        """Edges x labels: +1 at init, -1 at term. Times a column of scores it gives the margins of the edges."""
        n = len(self.init)
        columns = np.column_stack([self.init, self.term]).ravel()
        signs = np.tile(np.array([1, -1], dtype=dtype), n)
        return sparse.csr_array((signs, columns, 2 * np.arange(n + 1)), shape=(n, len(self.labels)))

    def membership(self, dtype: npt.DTypeLike = np.float64) -> sparse.csr_array[Any, tuple[int, int]]:
        """Parts x edges: 1 where the edge is in the part."""
        n = len(self.init)
        return sparse.csr_array((np.ones(n, dtype), np.arange(n), self.offsets), shape=(len(self), n))

    def __repr__(self) -> str:
        return f"<Parts: {len(self)} parts with {len(self.init)} edges of {self.n_instances} instances>"
