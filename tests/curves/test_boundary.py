"""Scores of exactly 0 and 1 against quadrature."""

import numpy as np
import pytest
from scipy.integrate import quad
from scipy.special import expit, logit
from scipy.stats import norm

from bayescal.curves.average import BOUNDARY_MEAN, BOUNDARY_SPREAD
from bayescal.curves.cells import BoundaryScore
from bayescal.inference.direct import BinomialCells

CASES = [
    (rows, errors)
    for rows in (1, 30, 10**4, 10**6, 10**8)
    for errors in sorted({0, 1, rows // 100, rows // 2, rows})
]


def end(score, rows, errors):
    positives = errors if score == 0 else rows - errors
    cells = BinomialCells(np.array([rows]), np.array([positives]))
    return BoundaryScore(float(score), cells, BOUNDARY_MEAN, BOUNDARY_SPREAD)


def log_density(place, rows, errors):
    """Log of likelihood times prior at a logit of the error rate."""
    likelihood = -errors * np.logaddexp(0, -place) - (rows - errors) * np.logaddexp(0, place)
    return likelihood + norm.logpdf(place, BOUNDARY_MEAN, BOUNDARY_SPREAD)


def by_quadrature(rows, errors):
    """Log evidence, and the distribution of the logit as a function."""
    grid = np.linspace(-30, 30, 600_001)
    density = log_density(grid, rows, errors)
    peak, held = density.max(), grid[density > density.max() - 40]
    low, high = held[0] - 1e-4, held[-1] + 1e-4

    def integral(to):
        return quad(
            lambda place: np.exp(log_density(place, rows, errors) - peak),
            low,
            to,
            epsabs=0,
            epsrel=1e-7,
            limit=400,
        )[0]

    total = integral(high)
    return peak + np.log(total), lambda place: integral(place) / total


@pytest.mark.parametrize("score", [0, 1])
@pytest.mark.parametrize(("rows", "errors"), CASES)
def test_evidence_is_that_of_quadrature(rows, errors, score):
    expected, _ = by_quadrature(rows, errors)
    assert end(score, rows, errors).log_evidence == pytest.approx(expected, rel=1e-14, abs=1e-5)


@pytest.mark.parametrize(("rows", "errors"), CASES)
def test_draws_have_the_distribution_of_quadrature(rows, errors):
    _, distribution = by_quadrature(rows, errors)
    draws = end(0, rows, errors).draws(10_000, np.random.default_rng(1))
    for level in (0.05, 0.5, 0.95):
        found = distribution(np.quantile(draws, level))
        assert found == pytest.approx(level, abs=4 * np.sqrt(level * (1 - level) / 10_000) + 1e-4)


def test_both_scores_have_the_same_errors():
    """The error is the event at 0 and its absence at 1."""
    drawn = {score: end(score, 40, 3).draws(50, np.random.default_rng(1)) for score in (0, 1)}
    np.testing.assert_allclose(drawn[0], drawn[1], rtol=1e-9)
    np.testing.assert_allclose(end(0, 40, 3).event_rate(drawn[0]), expit(drawn[0]))
    np.testing.assert_allclose(end(1, 40, 3).event_rate(drawn[1]), 1 - expit(drawn[1]))


@pytest.mark.parametrize("score", [0, 1])
def test_a_calibrated_score_never_errs(score):
    assert end(score, 10**4, 0).log_calibrated == pytest.approx(0, abs=2e-5)
    # An error has the probability of the score nearest to it that has a logit.
    assert end(score, 10**4, 1).log_calibrated == pytest.approx(logit(1e-9), rel=1e-4)


def test_draws_before_the_data():
    draws = end(0, 5, 0).prior_draws(40_000, np.random.default_rng(1))
    assert draws.mean() == pytest.approx(BOUNDARY_MEAN, abs=4 * BOUNDARY_SPREAD / 200)
    assert draws.std() == pytest.approx(BOUNDARY_SPREAD, rel=0.015)
    assert abs(end(0, 5, 0).log_prior(draws).mean()) < 4 * np.sqrt(0.5) / 200
