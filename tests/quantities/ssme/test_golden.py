"""Log densities, metrics and estimates are those of the first version of the package."""

import json
from pathlib import Path

import numpy as np
import pytest

from tests.golden import make_ssme

FILE = Path(make_ssme.__file__).with_name("ssme_logp.json")


def leaves(value, path=""):
    """Arrays by their place in nested dicts."""
    if not isinstance(value, dict):
        return {path: np.asarray(value, dtype=float)}
    found = {}
    for name, part in value.items():
        found |= leaves(part, f"{path}/{name}")
    return found


@pytest.mark.mcmc
@pytest.mark.parametrize("part", make_ssme.PARTS)
def test_numbers_are_those_of_the_first_version(part):
    expected, found = leaves(json.loads(FILE.read_text())[part]), leaves(make_ssme.PARTS[part]())
    assert found.keys() == expected.keys()
    for path, values in found.items():
        # Scores are rounded to 12 digits since, which EM carries on to 6e-10 (5e-16 without the
        # rounding). Elsewhere sums in another order differ by rounding, near 0 by their terms'.
        rtol = 1e-9 if part == "estimates" else 1e-10
        np.testing.assert_allclose(values, expected[path], rtol=rtol, atol=1e-14, err_msg=path)
