"""Rows in blocks over threads: for kernels that release the interpreter's lock and treat every row by itself.

Threads live for one call: nothing is left behind that a forked process could wait for. Every row is computed by the
same instructions whatever the block it is in, so the number of threads never changes a result.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from contextvars import ContextVar
from functools import cache

import numba
from threadpoolctl import ThreadpoolController  # type: ignore[import-untyped]  # comes with scikit-learn

SCORES = 2**16  # scores of the smallest block of rows that is worth handing to another thread

_limit: ContextVar[int | None] = ContextVar("limit", default=None)


def n_threads() -> int:
    """How many threads to use: those of numba (``NUMBA_NUM_THREADS``), or what `thread_limit` says."""
    limit = _limit.get()
    return limit if limit is not None else int(getattr(numba.config, "NUMBA_NUM_THREADS", os.cpu_count() or 1))


@contextmanager
def thread_limit(n: int) -> Iterator[None]:
    """Use ``n`` threads inside a ``with`` block."""
    token = _limit.set(n)
    try:
        yield
    finally:
        _limit.reset(token)


@contextmanager
def one_blas_thread() -> Iterator[None]:
    """Keep BLAS to one thread: on vectors its threads cost more than they save, and their number changes roundings."""
    with _blas().limit(limits=1, user_api="blas"):
        yield


@cache
def _blas() -> ThreadpoolController:
    """The libraries that are loaded; to look for them takes milliseconds, so it is done once."""
    return ThreadpoolController()


def over_rows(function: Callable[[int, int], object], shape: tuple[int, int]) -> None:
    """Call ``function(start, stop)`` for blocks of the rows of a matrix, in threads where there is enough to do."""
    n_rows, width = shape
    rows = max(1, SCORES // max(width, 1))
    threads = min(n_threads(), n_rows // rows)
    if threads <= 1:
        function(0, n_rows)
        return
    size = max(rows, -(-n_rows // (4 * threads)))  # four blocks a thread, so that a slow block delays little
    starts = range(0, n_rows, size)
    with ThreadPoolExecutor(threads) as pool:
        for done in [pool.submit(function, start, min(start + size, n_rows)) for start in starts]:
            done.result()
