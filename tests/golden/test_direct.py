"""Posteriors without NUTS are those of version 0.1.0, to ten digits; a smooth curve's to five."""

import json

import numpy as np
import pytest

from tests.golden.make_direct import GOLDEN, fits, numbers

EXPECTED = json.loads(GOLDEN.read_text())
# Newton's method towards the proposal of a smooth curve ends at a step of a thousandth of a
# standard deviation, whose square is left.
CLOSE = {"ece default": 1e-5, "ece groups": 1e-5}


@pytest.fixture(scope="module")
def found(streams_by_place, one_class_prior):
    return {name: numbers(tree) for name, tree in fits(method="direct")}


@pytest.mark.slow
@pytest.mark.parametrize(
    ("fit", "name"), [(fit, name) for fit, values in EXPECTED.items() for name in values]
)
def test_numbers_are_those_of_version_0_1_0(found, fit, name):
    close = CLOSE.get(fit, 1e-10)
    np.testing.assert_allclose(found[fit][name], EXPECTED[fit][name], rtol=close, atol=close)
