"""Order statistics in passes, against a sort of everything."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bayescal.core.bins import order_statistics as module
from bayescal.core.bins.order_statistics import order_statistics

VALUES = {
    "uniform": lambda rng, n: rng.random(n),
    "float32": lambda rng, n: rng.random(n, dtype=np.float32),
    "at the ends": lambda rng, n: rng.beta(0.02, 0.02, n),
    "rounded": lambda rng, n: rng.random(n).round(2),
    "constant": lambda _, n: np.full(n, 0.3),
    "0 and 1": lambda rng, n: rng.integers(0, 2, n).astype(float),
    "last digits only": lambda rng, n: 0.5 + rng.random(n) * 1e-13,
}


@pytest.fixture(params=[(1 << 21, 1 << 16), (40, 1 << 16), (40, 6), (1, 6)], ids=str)
def limits(request, monkeypatch):
    """Collect at once, and down to refining to the last bit."""
    collect, intervals = request.param
    monkeypatch.setattr(module, "_COLLECT", collect)
    monkeypatch.setattr(module, "_INTERVALS", intervals)


@pytest.mark.usefixtures("limits")
@pytest.mark.parametrize("kind", VALUES)
def test_equals_a_sort(kind):
    rng = np.random.default_rng(11)
    for n in (1, 2, 37, 1000):
        values = VALUES[kind](rng, n)
        pieces = np.split(values, np.sort(rng.integers(0, n + 1, 4)))
        for ranks in (np.array([1, n]), np.sort(rng.integers(1, n + 1, 15)), np.arange(1, n + 1)):
            found = order_statistics(lambda pieces=pieces: pieces, ranks, n)
            np.testing.assert_array_equal(found, np.sort(values)[ranks - 1])


@given(st.lists(st.floats(0, 1), min_size=1, max_size=30), st.data())
def test_any_values(values, data):
    n = len(values)
    ranks = np.sort(data.draw(st.lists(st.integers(1, n), min_size=1, max_size=9)))
    found = order_statistics(lambda: [np.array(values)], ranks, n)
    np.testing.assert_array_equal(found, np.sort(values)[ranks - 1])


def test_negative_zero_comes_out_as_zero():
    found = order_statistics(lambda: [np.array([0.5, -0.0])], np.array([1, 2]), 2)
    assert found.tolist() == [0.0, 0.5]
    assert not np.signbit(found[0])


def test_no_rank_needs_no_pass():
    def never():
        raise AssertionError

    assert len(order_statistics(never, np.empty(0, np.int64), 5)) == 0


def test_few_passes_over_many_rows():
    passes = 0
    values = np.random.default_rng(2).random(3_000_000)

    def chunks():
        nonlocal passes
        passes += 1
        return np.split(values, 3)

    order_statistics(chunks, np.arange(1, 100) * 30_000, len(values))
    assert passes <= 3
