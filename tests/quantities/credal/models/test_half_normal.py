"""Half-normal variables as a function of normal ones: SciPy's quantiles and differences."""

import numpy as np
import pytensor.tensor as pt
from scipy.stats import halfnorm, norm

from bayescal.quantities.credal.models.half_normal import (
    half_normal,
    half_normal_slope,
    half_normal_tensor,
)

UNIT = np.linspace(-6, 6, 61)


def test_quantiles_are_kept():
    # SciPy's way through survival functions keeps its digits where these are small.
    np.testing.assert_allclose(half_normal(UNIT), halfnorm.isf(norm.sf(UNIT)), rtol=1e-9)


def test_tensors_agree():
    np.testing.assert_allclose(
        half_normal_tensor(pt.constant(UNIT)).eval(), half_normal(UNIT), rtol=1e-8
    )


def test_slope_is_the_derivative():
    step = 1e-3
    slope = (half_normal(UNIT + step) - half_normal(UNIT - step)) / (2 * step)
    np.testing.assert_allclose(half_normal_slope(UNIT), slope, rtol=1e-4)  # of the step's square


def test_far_values_stay_finite():
    found = half_normal(np.array([-30.0, 30.0]))
    assert np.isfinite(found).all()
    assert found[0] >= 0
