"""Random numbers by name, and by the distribution functions of a table."""

import numpy as np
import pytest

from bayescal.core.streams import count_not_above


@pytest.mark.parametrize("size", [1, 2, 3, 7, 8, 57])
def test_counts_are_those_of_a_search_in_each_column(size):
    rng = np.random.default_rng(size)
    # Of few values, so that many are equal.
    table = np.sort(rng.integers(0, 9, (size, 5)).astype(float), axis=0)
    column, value = rng.integers(0, 5, (40, 3)), rng.integers(-1, 10, (40, 3)).astype(float)
    expected = [
        np.searchsorted(table[:, k], v, side="right")
        for k, v in zip(column.ravel(), value.ravel(), strict=True)
    ]
    assert count_not_above(table, column, value).ravel().tolist() == expected
