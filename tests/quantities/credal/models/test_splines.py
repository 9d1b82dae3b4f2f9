"""I-splines against integrals of M-splines."""

import numpy as np
from scipy.integrate import cumulative_trapezoid
from scipy.interpolate import BSpline

from bayescal.quantities.credal.models.monotone import SPLINES, i_splines

GRID = np.linspace(0, 1, 20_001)


def test_they_are_integrals_of_m_splines():
    # Ramsay's Eq. (5): an I-spline of degree 2 integrates the M-spline of degree 1, a linear
    # B-spline scaled to mass 1.
    knots = np.concatenate([[0.0], np.sin(np.linspace(0, np.pi / 2, SPLINES)) ** 2, [1.0]])
    linear = BSpline.design_matrix(GRID, knots, 1).toarray()
    area = cumulative_trapezoid(linear, GRID, axis=0, initial=0)
    # The trapezoid rule is exact but for the cells that a knot cuts: 1e-4 of the rise.
    np.testing.assert_allclose(i_splines(GRID), area / area[-1], atol=1e-4)


def test_they_rise_from_0_to_1():
    found = i_splines(GRID)
    assert found[0].tolist() == [0.0] * SPLINES
    np.testing.assert_allclose(found[-1], 1, rtol=1e-15)
    assert (np.diff(found, axis=0) >= -1e-15).all()
    assert (np.diff(found, axis=1) <= 1e-15).all()
