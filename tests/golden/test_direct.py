"""Posteriors without NUTS are those of version 0.1.0, to ten digits."""

import json

import numpy as np
import pytest

from tests.golden.make_direct import GOLDEN, fits, numbers

EXPECTED = json.loads(GOLDEN.read_text())


@pytest.fixture(scope="module")
def found():
    return {name: numbers(tree) for name, tree in fits(method="direct")}


@pytest.mark.slow
@pytest.mark.parametrize(
    ("fit", "name"), [(fit, name) for fit, values in EXPECTED.items() for name in values]
)
def test_numbers_are_those_of_version_0_1_0(found, fit, name):
    np.testing.assert_allclose(found[fit][name], EXPECTED[fit][name], rtol=1e-10, atol=1e-10)
