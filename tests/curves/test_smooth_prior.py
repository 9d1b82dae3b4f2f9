"""The curve's basis against the Gaussian process that it stands for."""

import math

import numpy as np
import pytest
from scipy.special import expit, logit
from scipy.stats import norm
from sklearn.gaussian_process import GaussianProcessRegressor
from sklearn.gaussian_process.kernels import RBF

from bayescal.core.errors import InputError
from bayescal.curves.cells import EDGE, score_logit
from bayescal.curves.priors import SmoothCurve
from bayescal.curves.smooth import curve_basis

CURVE = SmoothCurve(scale=0.7, lengthscales=(0.25, 1.0))
SCORE = expit(np.random.default_rng(3).normal(0.5, 2, 40))
COUNT = np.random.default_rng(4).integers(1, 50, 40)


def covariance(score, curve=CURVE, unit=None):
    """Prior covariance of logit P - l over scores: intercept, slope and process."""
    place = logit(score)
    unit = unit or np.std(np.repeat(logit(SCORE), COUNT))
    process = sum(RBF(scale)(place[:, None] / unit) for scale in curve.lengthscales)
    return curve.scale**2 * (1 + np.outer(place, place) + process / len(curve.lengthscales))


def test_kernel_is_the_mean_of_scikit_learns():
    first, second = np.linspace(-3, 3, 11), np.linspace(-2, 4, 7)
    expected = sum(RBF(scale)(first[:, None], second[:, None]) for scale in (0.2, 0.9, 3)) / 3
    found = SmoothCurve(lengthscales=(0.2, 0.9, 3)).kernel(first, second)
    np.testing.assert_allclose(found, expected, rtol=1e-12)


def test_with_many_columns_the_prior_is_that_of_the_process():
    design = curve_basis(SCORE, COUNT, CURVE, size=200).design(SCORE)
    difference = covariance(SCORE) - design @ design.T
    process = covariance(SCORE) / CURVE.scale**2 - 1 - np.outer(logit(SCORE), logit(SCORE))
    # Directions below a thousandth of the largest are dropped, so this bounds the spectral norm.
    limit = 1e-3 * np.linalg.eigvalsh(process)[-1] * CURVE.scale**2
    assert np.linalg.norm(difference, ord=2) <= limit * (1 + 1e-9)


@pytest.mark.parametrize("size", [4, 6, 10])
def test_few_columns_are_the_best_of_their_number(size):
    design = curve_basis(SCORE, COUNT, CURVE, size=size).design(SCORE)
    assert design.shape == (40, size)
    process = covariance(SCORE) - CURVE.scale**2 * (1 + np.outer(logit(SCORE), logit(SCORE)))
    kept = design[:, 2:] @ design[:, 2:].T
    # Eckart and Young: no matrix of this rank is nearer than the next eigenvalue.
    following = np.linalg.eigvalsh(process)[::-1][size - 2]
    assert np.linalg.norm(process - kept, ord=2) == pytest.approx(following, rel=1e-9)


def test_between_the_cells_the_process_is_its_conditional_mean():
    # Few places far apart, so that every direction is kept and nothing is lost.
    score = expit(np.array([-4.0, -1.5, 1.0, 3.5]))
    basis = curve_basis(score, np.ones(4), SmoothCurve(1.3, (0.4, 0.8)), size=32)
    assert basis.size == 6
    coef = np.array([0.0, 0.0, 0.9, -1.2, 0.4, 2.0])
    between = np.linspace(0.01, 0.99, 9)

    # scikit-learn's own kernel at a place is the sum of two; a half each makes the mean.
    kernel = 0.5 * RBF(0.4) + 0.5 * RBF(0.8)
    oracle = GaussianProcessRegressor(kernel, alpha=1e-12, optimizer=None)
    oracle.fit(logit(score)[:, None] / basis.spread, basis.design(score) @ coef)
    expected = oracle.predict(logit(between)[:, None] / basis.spread)
    np.testing.assert_allclose(basis.design(between) @ coef, expected, atol=1e-8)


def test_at_the_cells_the_extension_is_exact():
    basis = curve_basis(SCORE, COUNT, CURVE, size=12)
    place = logit(SCORE) / basis.spread
    values, vectors = np.linalg.eigh(CURVE.kernel(place, place))
    exact = CURVE.scale * vectors[:, ::-1][:, :10] * np.sqrt(values[::-1][:10])
    process = basis.design(SCORE)[:, 2:]
    np.testing.assert_allclose(np.abs(process), np.abs(exact), atol=1e-8)


def test_the_unit_is_the_standard_deviation_of_the_rows():
    basis = curve_basis(SCORE, COUNT, CURVE, size=12)
    assert basis.spread == pytest.approx(np.std(np.repeat(logit(SCORE), COUNT)), rel=1e-12)


def test_cells_without_rows_do_not_matter():
    score, count = np.append(SCORE, [0.5, 0.0]), np.append(COUNT, [0, 0])
    found = curve_basis(score, count, CURVE, size=12).design(SCORE)
    expected = curve_basis(SCORE, COUNT, CURVE, size=12).design(SCORE)
    np.testing.assert_array_equal(found, expected)


def test_the_intercept_and_slope_are_the_first_columns():
    design = curve_basis(SCORE, COUNT, CURVE, size=12).design(SCORE)
    np.testing.assert_array_equal(design[:, 0], CURVE.scale)
    np.testing.assert_allclose(design[:, 1], CURVE.scale * logit(SCORE), rtol=1e-14)


@pytest.mark.parametrize("value", [0.0, 0.3, 1.0])
def test_equal_scores_have_one_place(value):
    basis = curve_basis(np.full(5, value), np.ones(5), CURVE, size=32)
    assert basis.spread == 1
    assert basis.size == 3
    assert np.isfinite(basis.design(np.linspace(0, 1, 11))).all()


def test_scores_of_0_and_1_have_a_finite_logit():
    offset = score_logit(np.array([0.0, 0.25, 1.0]))
    expected = [math.log(EDGE), math.log(1 / 3), -math.log(EDGE)]
    np.testing.assert_allclose(offset, expected, rtol=1e-7)


def test_the_default_prior_is_as_wide_as_its_documentation_says():
    curve = SmoothCurve()
    middle = norm(0, math.sqrt(covariance(np.array([0.5]), curve, unit=1.0)[0, 0]))
    assert expit(middle.ppf([0.05, 0.95])) == pytest.approx([0.16, 0.84], abs=0.005)


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ({"scale": 0.0}, r"scale must be a number in \(0, inf\)"),
        ({"scale": math.nan}, r"scale must be a number in \(0, inf\)"),
        ({"lengthscales": ()}, r"lengthscales must hold 1 or more numbers in \(0, inf\)"),
        ({"lengthscales": (1.0, -0.5)}, r"lengthscales\[1\] must be a number in \(0, inf\)"),
    ],
)
def test_impossible_curves_are_refused(values, message):
    with pytest.raises(InputError, match=message):
        SmoothCurve(**values)
