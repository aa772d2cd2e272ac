"""What holds for tests and doctests alike: none leaves a trace in another."""

from collections.abc import Iterator

import pytest

from prefgraph import decompose


@pytest.fixture(autouse=True)
def _registered_decompositions() -> Iterator[None]:
    """A page or a doctest may register a decomposition; it is forgotten afterwards."""
    before = dict(decompose._REGISTRY)
    yield
    decompose._REGISTRY.clear()
    decompose._REGISTRY.update(before)
