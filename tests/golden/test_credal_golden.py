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
    # Rates of the rising prior are in the same cells of a grid, elsewhere within these.
    for name, atol in (("ImpreciseDirichlet", 1e-10), ("IncrementIsotonic", 0.01)):
        for variable, expected in golden()["direct"][name].items():
            np.testing.assert_allclose(found[name][variable], expected, rtol=0, atol=atol)


def test_the_rising_curve_has_the_same_density():
    np.testing.assert_allclose(make_credal.model_numbers(), golden()["logp"], rtol=1e-10)
