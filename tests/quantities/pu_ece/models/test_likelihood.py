"""The case-control likelihood: its slopes, its intercept's density, and the posterior on a grid."""

import numpy as np
import pytest
from scipy.special import expit, logit
from scipy.stats import binom, norm

import bayescal as bc
from bayescal.core.calibration_curve.smooth_curve import SmoothCurve
from bayescal.inference.direct import importance_sample
from bayescal.quantities.pu_ece.models.likelihood import CaseControl
from bayescal.quantities.pu_ece.models.prior_map import PriorMap
from bayescal.quantities.pu_ece.models.smooth_gaussian import smooth_gaussian
from tests.quantities.pu_ece.made import of_counts, problem

CURVE = SmoothCurve(lengthscales=(1.0,))


def likelihood(made, class_prior) -> CaseControl:
    return CaseControl.of(made, CURVE, PriorMap.of(class_prior), 32)


@pytest.mark.parametrize("class_prior", [0.5, bc.Beta(20, 30)])
def test_the_gradient_is_that_of_finite_differences(class_prior) -> None:
    found = likelihood(problem(), class_prior)
    at = np.random.default_rng(1).standard_normal((4, found.size))
    gradient, _ = found.slopes(at)
    steps = 1e-5 * np.eye(found.size)
    numeric = [(found.log_likelihood(at + h) - found.log_likelihood(at - h)) / 2e-5 for h in steps]
    np.testing.assert_allclose(gradient, np.transpose(numeric), rtol=1e-5, atol=1e-5)


@pytest.mark.mcmc
def test_the_information_is_the_mean_outer_product_of_the_score() -> None:
    # Over counts drawn from the likelihood at a point, E[g g'] of the binomial part is the
    # information; the intercept's prior adds an outer product that is there without the counts.
    made = problem(size=(80, 300))
    found, rng = likelihood(made, bc.Beta(20, 30)), np.random.default_rng(2)
    at = 0.5 * rng.standard_normal((1, found.size))
    _, information = found.slopes(at)
    state = found.state(at)
    positive = expit(found.logit_positive(state.logit_rate, state.class_prior))[0]
    scores = []
    for _ in range(4000):
        drawn = made.relabelled(rng.binomial(made.total, positive))
        scores.append(likelihood(drawn, bc.Beta(20, 30)).slopes(at)[0][0])
    by_intercept = found.intercept_at(at[0])[1]
    expected = np.cov(np.array(scores).T, bias=True) + np.outer(by_intercept, by_intercept)
    # Of 4000 draws a variance has a relative standard error of 2.2%.
    scale = np.sqrt(np.outer(np.diag(expected), np.diag(expected)))
    assert np.abs(information[0] - expected).max() < 0.12 * scale.max()


def test_coefficients_give_the_mean_and_the_class_prior_they_say() -> None:
    found = likelihood(problem(), bc.Beta(20, 30))
    coef = np.random.default_rng(3).standard_normal((5, found.size))
    state = found.state(coef)
    mean = expit(state.logit_rate) @ found.problem.weight
    np.testing.assert_allclose(mean, state.class_prior + found.spread * coef[:, 0], atol=1e-12)


@pytest.mark.mcmc
def test_the_evidence_and_the_posterior_are_those_of_brute_force() -> None:
    # Two cells whose scores are equal in logits up to a sign: the curve has few coefficients. Brute
    # force draws the curve from its own prior, weighs by the normal that ties its mean to the
    # class prior, and by the binomial law: none of it goes through the intercept's solution.
    made = of_counts([3, 9], [30, 30], [0.25, 0.75])
    found = likelihood(made, bc.Beta(20, 20))
    weighted = importance_sample(found, smooth_gaussian(found), 100_000, np.random.default_rng(4))
    rng = np.random.default_rng(5)
    number = 2_000_000
    design = found.basis.design(made.cells.mean_score)
    coef = rng.standard_normal((number, design.shape[1]))
    rate = expit(logit(made.cells.mean_score) + coef @ design.T)
    class_prior = rng.beta(20, 20, number)
    tie = norm.pdf(rate.mean(axis=1), class_prior, found.spread)
    odds = 12 / 60 * rate / class_prior[:, None]
    law = binom.pmf(made.positive, made.total, odds / (1 + odds)).prod(axis=1)
    weight = tie * law
    ways = np.log(binom.pmf(made.positive, made.total, 0.5)) + made.total * np.log(2)
    evidence = weight.mean() / np.exp(ways.sum())
    error = weight.std() / weight.mean() / np.sqrt(number)
    log_evidence = weighted.log_evidence - np.log(2 * np.pi) / 2
    assert log_evidence == pytest.approx(np.log(evidence), abs=4 * error + 0.02)
    draws = weighted.resample(100_000, rng)
    state = found.state(draws)
    mine = expit(state.logit_rate)
    size = weight.sum() ** 2 / (weight**2).sum()
    for ours, theirs in ((mine[:, 0], rate[:, 0]), (mine[:, 1], rate[:, 1])):
        expected = np.average(theirs, weights=weight)
        spread = np.sqrt(np.average((theirs - expected) ** 2, weights=weight))
        assert ours.mean() == pytest.approx(expected, abs=4 * spread / np.sqrt(size) + 1e-3)
        assert ours.std() == pytest.approx(spread, rel=0.05)
    expected = np.average(class_prior, weights=weight)
    assert state.class_prior.mean() == pytest.approx(expected, abs=2e-3)


def test_the_curve_at_the_cells_is_the_curve() -> None:
    found = likelihood(problem(), 0.5)
    coef = np.random.default_rng(6).standard_normal((3, found.size))
    score = found.problem.cells.mean_score
    np.testing.assert_allclose(
        found.curve(coef, score), expit(found.state(coef).logit_rate), atol=1e-12
    )
