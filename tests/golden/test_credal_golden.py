"""Numbers of credal are those of the version that the golden file was made with."""

import json

import numpy as np
import pytest

from tests.golden import make_credal


def golden():
    return json.loads(make_credal.FILE.read_text(encoding="utf-8"))


@pytest.mark.usefixtures("streams_by_place")
def test_direct_posteriors_are_unchanged():
    found = make_credal.direct_numbers(method="direct")
    for name, variables in golden()["direct"].items():
        for variable, expected in variables.items():
            np.testing.assert_allclose(found[name][variable], expected, rtol=0, atol=1e-10)


def test_the_rising_curve_has_the_same_density():
    np.testing.assert_allclose(make_credal.model_numbers(), golden()["logp"], rtol=1e-10)
