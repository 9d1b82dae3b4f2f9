"""The density without the scale, against quadrature over it."""

import numpy as np
import pytensor.tensor as pt
import pytest
from scipy.integrate import quad
from scipy.stats import halfnorm

from bayescal.quantities.credal.models.half_normal import (
    log_mixture,
    log_mixture_tensor,
    mixture_slope,
)

SQUARES = np.array([0.05, 0.5, 4.0, 30.0, 400.0])


@pytest.mark.parametrize("square", SQUARES)
def test_density_is_the_integral_over_the_scale(square):
    weight = np.full(8, np.sqrt(square / 8))

    def joint(log_tau):
        tau = np.exp(log_tau)
        return halfnorm.pdf(tau) * halfnorm.pdf(weight, scale=tau).prod() * tau

    expected = quad(joint, -12, 4, limit=400, epsabs=0, epsrel=1e-10)[0]
    np.testing.assert_allclose(np.exp(log_mixture(square)), expected, rtol=1e-7)


@pytest.mark.slow
def test_tensors_agree_up_to_a_constant():
    gap = log_mixture_tensor(pt.constant(SQUARES)).eval() - log_mixture(SQUARES)
    np.testing.assert_allclose(gap, gap[0], rtol=1e-12)


def test_slope_is_the_derivative():
    step = 1e-6 * SQUARES
    slope = (log_mixture(SQUARES + step) - log_mixture(SQUARES - step)) / (2 * step)
    np.testing.assert_allclose(mixture_slope(SQUARES), slope, rtol=1e-5)


def test_no_weight_at_all_is_finite():
    assert np.isfinite(log_mixture(np.array(0.0)))
