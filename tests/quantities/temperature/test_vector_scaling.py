"""Vector scaling: posterior by normal approximation."""

import numpy as np
import pytest
from scipy.optimize import approx_fprime
from scipy.special import logsumexp
from scipy.stats import norm

from bayescal.quantities.temperature.priors import Priors
from bayescal.quantities.temperature.vector_scaling import (
    CentredRows,
    centred,
    parabola,
    scaled_probabilities,
    vector_posterior,
)
from tests.quantities.temperature.made import labels, log_loss, rows


def log_likelihood(logits, label, point):
    """Row by row."""
    log_coef, shift = np.split(point, 2)
    return -log_loss(np.exp(log_coef) * logits + shift, label) * len(label)


def test_the_parabola_has_the_derivatives_of_the_likelihood():
    logits, label = rows(80, 3)
    held = centred(logits)
    point = np.random.default_rng(1).normal(0, 0.3, 6)
    found = parabola(CentredRows(held, label), point)
    assert found.value == pytest.approx(log_likelihood(held, label, point), rel=1e-12)
    slope = approx_fprime(point, lambda at: log_likelihood(held, label, at), 1e-6)
    # Forward differences of a step 1e-6 are off by half the curvature times the step.
    np.testing.assert_allclose(found.slope, slope, atol=1e-3)
    centred_rows = CentredRows(held, label)
    curvature = approx_fprime(point, lambda at: parabola(centred_rows, at).slope, 1e-6)
    np.testing.assert_allclose(found.curvature, -curvature, atol=1e-3)


def test_blocks_of_centred_rows_add_up():
    logits, label = rows(90_000, 3)
    held, point = centred(logits), np.array([0.2, -0.1, 0.0, 0.3, 0.0, -0.2])
    found = parabola(CentredRows(held, label), point)
    halves = [
        parabola(CentredRows(held[at], label[at]), point)
        for at in (slice(0, 45_000), slice(45_000, None))
    ]
    np.testing.assert_allclose(found.slope, halves[0].slope + halves[1].slope, atol=1e-6)
    np.testing.assert_allclose(
        found.information, halves[0].information + halves[1].information, atol=1e-6
    )
    assert found.value == pytest.approx(halves[0].value + halves[1].value, rel=1e-12)


def posterior_of(logits, label):
    return vector_posterior(CentredRows.of(logits, label), Priors())


def importance(logits, label, priors, draws):
    """Log evidence, and means of log coefs and shifts, by importance sampling from the prior."""
    rng = np.random.default_rng(0)
    n_classes = logits.shape[1]
    mean = rng.normal(priors.mu.mu, priors.mu.sigma, draws)[:, None]
    of_coef, of_shift = (
        np.abs(rng.normal(0, sigma, (draws, 1))) for sigma in (priors.tau.sigma, priors.shift.sigma)
    )
    coef = rng.normal(mean, of_coef, (draws, n_classes))
    shift = rng.normal(0, of_shift, (draws, n_classes))
    points = np.hstack([coef, shift])
    held = centred(logits)
    fit = np.array([log_likelihood(held, label, point) for point in points])
    weight = np.exp(fit - logsumexp(fit))
    means = weight @ points
    error = np.sqrt(weight**2 @ (points - means) ** 2)
    spread = np.sqrt(weight @ (points - means) ** 2)
    # The relative error of a mean of weights is that of the evidence.
    return logsumexp(fit) - np.log(draws), np.sqrt((weight**2).sum()), means, error, spread


@pytest.mark.parametrize(("n", "n_classes", "seed"), [(20, 2, 0), (60, 3, 2)])
def test_evidence_and_draws_are_those_of_importance_sampling(n, n_classes, seed):
    logits, label = rows(n, n_classes, seed)
    found = posterior_of(logits, label)
    evidence, error, means, of_means, spread = importance(logits, label, Priors(), 15_000)
    # Four standard errors, and what Laplace's approximation and a grid of six scales leave.
    assert found.log_evidence == pytest.approx(evidence, abs=4 * error + 0.1)
    drawn = found.draw(20_000, np.random.default_rng(1))
    points = np.hstack([drawn["log_coef"], drawn["shift"]])
    # A normal distribution leaves out the skewness that log coefs have with so few rows.
    assert (np.abs(points.mean(axis=0) - means) < 4 * of_means + 0.3 * spread).all()
    np.testing.assert_allclose(points.std(axis=0), spread, rtol=0.2)


def test_the_shared_mean_is_drawn_given_the_log_coefs():
    logits, label = rows(40, 3)
    drawn = posterior_of(logits, label).draw(20_000, np.random.default_rng(0))
    middle, scale = drawn["log_coef"].mean(axis=1), drawn["coef_tau"]
    # Of a normal mean with prior Normal(0, .7), given three values of known scale.
    precision = 0.7**-2 + 3 / scale**2
    apart = (drawn["coef_mu"] - middle * 3 / scale**2 / precision) * np.sqrt(precision)
    assert apart.mean() == pytest.approx(0, abs=4 / 20_000**0.5)
    assert apart.std() == pytest.approx(1, abs=0.02)


def test_many_centred_rows_find_the_truth():
    rng = np.random.default_rng(0)
    coef, shift = np.array([0.4, 1.0, 1.6]), np.array([0.5, -0.5, 0.0])
    logits = centred(rng.normal(0, 2, (40_000, 3)))
    label = labels(coef * logits + shift, rng)
    drawn = posterior_of(logits, label).draw(2000, np.random.default_rng(1))
    apart = (drawn["log_coef"].mean(axis=0) - np.log(coef)) / drawn["log_coef"].std(axis=0)
    assert np.abs(apart).max() < 4
    gap = drawn["shift"] - drawn["shift"].mean(axis=1, keepdims=True)
    assert (np.abs(gap.mean(axis=0) - shift) < 4 * gap.std(axis=0)).all()


def test_thinned_centred_rows_only_start_the_search():
    logits, label = rows(200_000, 2)
    found = posterior_of(logits, label)
    middle = found.parts[int(found.share.argmax())].mean
    at_mode = parabola(CentredRows.of(logits, label), middle)
    # The slope of the prior is below 100; standard deviations are about 1 / sqrt(curvature).
    off = at_mode.slope / np.sqrt(np.diag(at_mode.information))
    assert np.abs(off).max() < 0.5


def test_a_constant_added_to_a_row_changes_nothing():
    logits, label = rows(50, 3)
    moved = logits + np.random.default_rng(0).normal(0, 5, (50, 1))
    a, b = (posterior_of(x, label).log_evidence for x in (logits, moved))
    assert a == pytest.approx(b, abs=1e-8)


def test_probabilities_of_no_scaling_are_the_softmax():
    logits, _ = rows(20, 3)
    found = scaled_probabilities(centred(logits), np.zeros(3), np.zeros(3))
    weight = np.exp(logits)
    np.testing.assert_allclose(found, weight / weight.sum(axis=1, keepdims=True))


def test_no_labels_beside_the_prior_give_the_prior():
    # One row that all points explain alike: logits of 0 and two classes of no shift to speak of.
    logits, label = np.zeros((1, 2)), np.array([0])
    drawn = posterior_of(logits, label).draw(20_000, np.random.default_rng(0))
    assert drawn["coef_mu"].std() == pytest.approx(norm(0, 0.7).std(), rel=0.05)
