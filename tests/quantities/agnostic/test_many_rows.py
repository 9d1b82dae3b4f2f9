"""The interval measure in two readings against that of all rows at once."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bayescal.core.errors import InputError
from bayescal.core.scores import Scores
from bayescal.quantities.agnostic import many_rows
from bayescal.quantities.agnostic.intervals import interval_measure
from bayescal.quantities.agnostic.many_rows import interval_measure_of_rows


class Table:
    """A table in memory."""

    def __init__(self, score, event):
        self._columns = {"p": score, "y": event}

    def batches(self, columns, batch_rows):
        n = len(self._columns["p"])
        size = n // 3 + 1
        for start in range(0, n, size):
            yield {name: self._columns[name][start : start + size] for name in columns}


def measured(score, event):
    return interval_measure_of_rows(Table(score, event), label="y", score="p")


def assert_same(found, expected):
    np.testing.assert_allclose(
        [found.c, found.ks], [expected.c, expected.ks], rtol=1e-12, atol=1e-15
    )
    assert (found.lower, found.upper, found.sign) == (expected.lower, expected.upper, expected.sign)


@pytest.mark.parametrize("power", [0.5, 1, 2])
@pytest.mark.parametrize("decimals", [None, 2])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_the_measure_is_that_of_all_rows(power, decimals, dtype):
    rng = np.random.default_rng(4)
    score = rng.beta(0.4, 0.6, 20_000).astype(dtype)
    score = score if decimals is None else score.round(decimals)
    event = (rng.random(20_000) < score**power).astype(np.uint8)
    # Scores are rounded as they are in memory.
    whole = Scores(y_true=event, y_prob=score).tasks()[0]
    assert_same(measured(score, event), interval_measure(whole.score, label=whole.event))


def test_cells_are_gathered_in_parts_that_can_be_held(monkeypatch):
    rng = np.random.default_rng(6)
    score = rng.random(5000).round(3)
    event = (rng.random(5000) < score).astype(np.uint8)
    monkeypatch.setattr(many_rows, "_MOST_GATHERED", 1)
    assert_same(measured(score, event), interval_measure(score, label=event))


@given(st.lists(st.tuples(st.floats(0, 1), st.integers(0, 1)), min_size=1, max_size=40))
def test_any_rows(rows):
    score, event = (np.array(column) for column in zip(*rows, strict=True))
    found, expected = measured(score, event.astype(np.uint8)), interval_measure(score, label=event)
    # Scores are rounded to twelve digits.
    np.testing.assert_allclose(found.c, expected.c, atol=1e-12)


def test_only_cells_near_the_extremes_are_gathered():
    from bayescal.core.bins.score_cells import CellSums
    from bayescal.quantities.agnostic.many_rows import cells_of_extremes

    rng = np.random.default_rng(0)
    score = rng.random(200_000)
    event = (rng.random(200_000) < score**2).astype(np.uint8)
    sums = CellSums.of([(score, event)])
    wanted = cells_of_extremes(sums)
    assert sums.count[wanted].sum() < 0.05 * len(score)


@pytest.mark.parametrize(
    ("event", "message"), [([], "at least one row"), ([None, None], "at least one label")]
)
def test_no_labelled_rows_are_refused(event, message):
    with pytest.raises(InputError, match=message):
        measured(np.full(len(event), 0.5), np.array(event, dtype=object))
