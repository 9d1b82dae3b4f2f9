"""Simulated logits whose class probabilities are known."""

import numpy as np
import pytest
from scipy.special import softmax

from bayescal.quantities.temperature.simulator import LogitTruth


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        ({"coef": (2.0, 2.0)}, [2.0, 6.0]),
        ({"shift": (1.0, -1.0)}, [2.0, 2.0]),
        ({"coef": (2.0, 1.0), "shift": (1.0, -1.0)}, [3.0, 2.0]),
        ({}, [0.5, 1.5]),
    ],
)
def test_numbers_or_shifts_alone_are_vector_scaling_too(given, expected):
    truth = LogitTruth("two", (1.0, 0.5), **given)
    np.testing.assert_allclose(truth.probability([[1.0, 3.0]]), [softmax(expected)])
