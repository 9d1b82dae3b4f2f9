"""BLAS on one thread while a model is fitted: its arrays are small, and threads cost more."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from typing import Any


@contextmanager
def one_blas_thread() -> Iterator[None]:
    """Limit BLAS to one thread inside the block; the former limits return, after errors too."""
    with _controller().limit(limits=1, user_api="blas"):
        yield


@cache
def _controller() -> Any:
    """Libraries with thread pools that are loaded; looking for them takes milliseconds."""
    # SciPy brings a BLAS of its own, which has to be loaded to be found.
    import scipy.linalg  # noqa: F401
    from threadpoolctl import ThreadpoolController

    return ThreadpoolController()
