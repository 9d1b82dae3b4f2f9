"""When an estimate and a posterior are said to contradict each other."""

import numpy as np
import pytest

from bayescal.core.contradiction import contradiction

DRAWN = np.arange(10_000.0).reshape(4, 2500) / 10_000


@pytest.mark.parametrize("seen", [0.0, 0.0005, 0.9995, 1.5, -1.0])
def test_an_estimate_outside_is_a_contradiction(seen):
    (sentence,) = contradiction(seen, DRAWN)
    assert f"{seen:.4f}" in sentence
    # A twentieth is left out at either end.
    assert "0.0500 to 0.9499" in sentence


@pytest.mark.parametrize("seen", [0.0015, 0.5, 0.998])
def test_an_estimate_among_the_draws_is_none(seen):
    assert contradiction(seen, DRAWN) == []


def test_an_estimate_that_all_draws_equal_is_none():
    assert contradiction(0.0, np.zeros((2, 50))) == []
