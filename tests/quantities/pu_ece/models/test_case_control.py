"""Likelihood of label rates from two samples."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.integrate import quad
from scipy.special import expit, logit
from scipy.stats import binom, norm

import bayescal as bc
from bayescal.curves.cells import BoundaryScore
from bayescal.curves.priors import CurveAverage
from bayescal.quantities.pu_ece.models.average import CaseControlAverage
from bayescal.quantities.pu_ece.models.case_control import (
    CaseControlCells,
    SampleSizes,
    choose_rates,
    fit_boundary,
    joint_masses,
    log_sizes_density,
    sizes_by_rates_of,
)
from tests.quantities.pu_ece.made import of_counts

CELLS = CaseControlCells(np.array([40, 60, 9]), np.array([3, 30, 0]), np.log(0.4))


def test_the_likelihood_is_binomial() -> None:
    at = np.array([-2.0, 0.5, 1.0])
    odds = 0.4 * expit(at)
    law = binom.logpmf(CELLS.positive, CELLS.total, odds / (1 + odds))
    ways = binom.logpmf(CELLS.positive, CELLS.total, 0.5) + CELLS.total * np.log(2)
    np.testing.assert_allclose(CELLS.log_likelihood(at), law - ways)


@given(st.lists(st.floats(-6, 6), min_size=3, max_size=3))
def test_the_slope_is_that_of_finite_differences(at) -> None:
    at, step = np.array(at), 1e-5
    numeric = CELLS.log_likelihood(at + step) - CELLS.log_likelihood(at - step)
    np.testing.assert_allclose(CELLS.slopes(at)[0], numeric / (2 * step), atol=1e-5)


def test_the_information_is_the_variance_of_the_slope() -> None:
    at = np.array([-2.0, 0.5, 1.0])
    counts = np.arange(CELLS.total.max() + 1)[:, None]
    law = binom.pmf(counts, CELLS.total, CELLS.share(at))
    slope = CaseControlCells(CELLS.total, counts, CELLS.log_odds).slopes(at)[0]
    np.testing.assert_allclose(CELLS.slopes(at)[1], (law * slope**2).sum(axis=0))


@pytest.mark.parametrize("class_prior", [0.5, bc.Beta(20, 20)])
def test_the_evidence_and_the_posterior_are_those_of_brute_force(class_prior) -> None:
    made = of_counts([3, 9], [30, 30], [0.25, 0.75])
    # Of a power of 1, at which nothing is tempered.
    model = replace(
        CaseControlAverage.joined(made, CurveAverage(linear=0), class_prior, 0.5),
        power=1.0,
        class_prior_power=1.0,
    )
    rng = np.random.default_rng(4)
    weighted = model.smooth_joint.sample(model.smooth_gaussian, 100_000, rng)
    number = 1_000_000
    design = model.smooth.regression.design
    coef = rng.standard_normal((number, design.shape[1]))
    rate = expit(logit(made.cells.mean_score) + coef @ design.T)
    pi = np.full(number, 0.5) if class_prior == 0.5 else rng.beta(20, 20, number)
    odds = 12 / 60 * rate / pi[:, None]
    law = binom.pmf(made.positive, made.total, odds / (1 + odds)).prod(axis=1)
    law *= np.exp(log_sizes_density(rate, pi, made.total, 12))
    ways = np.log(binom.pmf(made.positive, made.total, 0.5)) + made.total * np.log(2)
    evidence = np.log(law.mean()) - ways.sum()
    error = law.std() / law.mean() / np.sqrt(number)
    assert weighted.log_evidence == pytest.approx(evidence, abs=4 * error + 0.02)
    draws = weighted.resample(100_000, rng)
    mine = expit(model.smooth_joint.regression.logit(draws[:, :-1]))
    size = law.sum() ** 2 / (law**2).sum()
    for ours, theirs in (
        (mine[:, 0], rate[:, 0]),
        (mine[:, 1], rate[:, 1]),
        (model.class_prior(draws[:, -1]), pi),
    ):
        expected = np.average(theirs, weights=law)
        spread = np.sqrt(np.average((theirs - expected) ** 2, weights=law))
        assert ours.mean() == pytest.approx(expected, abs=4 * spread / np.sqrt(size) + 2e-3)
        assert ours.std() == pytest.approx(spread, rel=0.05)


@pytest.mark.parametrize("score", [0.0, 1.0])
@pytest.mark.parametrize(("total", "positive"), [(400, 0), (400, 60), (3, 1)])
def test_evidence_and_error_rate(score, total, positive) -> None:
    log_odds = np.full(20_000, np.log(0.6))
    cells = CaseControlCells(np.array(total), np.array(positive), log_odds)
    found = fit_boundary(BoundaryScore(score, cells, -4.0, 2.5), cells)

    def law(place: float) -> float:
        error = expit(place)
        odds = 0.6 * (error if score == 0 else 1 - error)
        likelihood = positive * np.log(odds) - total * np.log1p(odds)
        return float(np.exp(likelihood - top) * norm.pdf(place, -4, 2.5))

    top = found.log_wrong[0]
    whole = quad(law, -30, 20, points=[-10, -4, 0, 4], limit=400)[0]
    assert np.log(whole) == pytest.approx(0, abs=0.01)
    mean = quad(lambda at: law(at) * expit(at), -30, 20, points=[-10, -4, 0, 4], limit=400)[0]
    drawn = expit(found.draw(np.random.default_rng(1)))
    error = 4 * drawn.std() / np.sqrt(len(drawn))
    assert drawn.mean() == pytest.approx(mean / whole, abs=error + 0.01 * mean / whole)


def test_positives_at_score_0_rule_out_that_it_never_errs() -> None:
    cells = CaseControlCells(np.array(50), np.array(2), np.zeros(1))
    found = fit_boundary(BoundaryScore(0.0, cells, -4.0, 2.5), cells)
    assert found.log_right[0] < found.log_wrong[0] - 20


TOTAL, POSITIVE = np.array([3000, 2000]), np.array([400, 600])


def test_with_the_binomial_it_is_the_likelihood_of_both_samples() -> None:
    # With two cells the class prior and the rates leave one vector of masses. The likelihood of the
    # unlabelled counts and of the positives is then explicit, under the prior 1 / mass of each.
    pi = 0.4
    rates = np.array([[0.246, 0.686], [0.25, 0.67], [0.24, 0.7], [0.255, 0.68]])
    first = (pi - rates[:, 1]) / (rates[:, 0] - rates[:, 1])
    mass = np.stack([first, 1 - first], axis=-1)
    exact = ((TOTAL - 1) * np.log(mass) + POSITIVE * np.log(rates / pi)).sum(axis=-1)
    exact -= np.log(np.abs(rates[:, 0] - rates[:, 1]))
    odds = np.log(POSITIVE.sum() / (TOTAL - POSITIVE).sum() / pi)
    ours = CaseControlCells(TOTAL, POSITIVE, odds).log_likelihood(logit(rates)).sum(axis=-1)
    ours += log_sizes_density(rates, np.full(4, pi), TOTAL, int(POSITIVE.sum()))
    # Near its mean a sum of some thousand gammas is normal to a few per cent.
    np.testing.assert_allclose(ours - ours[0], exact - exact[0], atol=0.15)


@given(st.integers(0, 10**6))
def test_the_mean_label_rate_is_the_class_prior(seed) -> None:
    rng = np.random.default_rng(seed)
    rates = rng.uniform(0, 1, (5, 20))
    pi = rng.uniform(rates.min(axis=1) + 0.05, rates.max(axis=1) - 0.05)
    total = rng.integers(1, 500, 20)
    mass = joint_masses(rng.standard_gamma(total, rates.shape), rates, pi, total, 100)
    assert (mass > 0).all()
    np.testing.assert_allclose(mass.sum(axis=-1), 1)
    np.testing.assert_allclose((mass * rates).sum(axis=-1), pi, atol=1e-4)


def test_masses_are_those_of_both_samples() -> None:
    # Two cells: the rates leave one vector of masses.
    rates, gamma = np.array([[0.25, 0.6]]), np.random.default_rng(1).standard_gamma(TOTAL)
    mass = joint_masses(gamma, rates, np.array([0.4]), TOTAL, int(POSITIVE.sum()))
    assert mass[0, 0] == pytest.approx((0.4 - 0.6) / (0.25 - 0.6), abs=1e-6)


@pytest.mark.parametrize("pi", [0.5, 0.95])  # within the rates, and beyond all of them
def test_cells_without_rows_have_no_mass(pi) -> None:
    total = np.array([50, 0, 40])
    gamma = np.random.default_rng(2).standard_gamma(total)
    mass = joint_masses(gamma, np.array([[0.1, 0.5, 0.9]]), np.array([pi]), total, 20)
    assert mass[0, 1] == 0
    assert mass.sum() == pytest.approx(1)


def test_cells_that_are_left_out_stand_at_their_counts() -> None:
    total, positive = np.array([0, 300, 500, 200]), np.array([0, 10, 90, 60])
    whole = SampleSizes(total, 160, 0.16)
    interior = whole.at(np.array([1, 2]), positive)
    np.testing.assert_array_equal(interior.total, [300, 500])
    assert interior.n_positive == 100
    # The spread of the cell's share, and a Poisson count of 60 known to one.
    assert interior.variance == pytest.approx(1 + 200 * (0.3 - 0.16) ** 2 + 61)
    same = whole.at(np.array([1, 2, 3]), positive)
    share = np.array([0.05, 0.2, 0.25])
    ours = whole.log_density(np.append(0, share), np.asarray(0.4))
    assert same.log_density(share, np.asarray(0.4)) == pytest.approx(ours)


def test_the_chosen_rate_and_its_weight_are_worth_all_that_were_tried() -> None:
    rng, draws = np.random.default_rng(4), 100_000
    rate, weight = rng.normal(size=(3, 1)), rng.normal(size=(3, 2))
    tries = [
        (np.tile(r, (draws, 1)), np.tile(w, (draws, 1))) for r, w in zip(rate, weight, strict=True)
    ]
    boundary, found = choose_rates(tries, np.log([0.3, 0.7]), rng)
    for values, expected in ((1, np.exp(weight)), (boundary, rate * np.exp(weight))):
        each = values * np.exp(found)
        # Four standard errors of a mean.
        error = 4 * each.std(axis=0) / np.sqrt(draws)
        np.testing.assert_array_less(np.abs(each.mean(axis=0) - expected.mean(axis=0)), error)


def test_widened_sizes_draw_what_is_off_as_before() -> None:
    sizes, step = SampleSizes(np.array([30.0, 40.0]), 20.0, 0.3), 0.01
    expected = 23.0 + step * np.array([-1, 0, 1])
    slopes, curvatures = [], []
    for one in (sizes, sizes.widened(9, 3.0)):
        variance = one.wider * np.full(3, 5.0)
        density = one.log_normal(expected, variance, np.array(0.4))
        slopes.append((density[2] - density[0]) / (2 * step))
        curvatures.append(np.diff(density, 2).item() / step**2)
    np.testing.assert_allclose(slopes, -3.0 / 5.0, rtol=1e-6)
    np.testing.assert_allclose(curvatures, [-1 / 5, -1 / 45], rtol=1e-6)


@pytest.mark.parametrize("cells", [[], [0], [0, 3]])
def test_sizes_by_the_rates_of_some_cells_are_those_of_all(cells) -> None:
    rng, total = np.random.default_rng(11), np.array([40, 60, 9, 30])
    rate, pi = rng.random((2, 300, 4)), rng.uniform(0.2, 0.6, (2, 300))
    changed = rate.copy()
    changed[..., cells] = rng.random((2, 300, len(cells)))
    found = sizes_by_rates_of(cells, SampleSizes(total, 33, 33 / 139), rate, pi)
    expected = log_sizes_density(changed, pi, total, 33)
    np.testing.assert_allclose(found(changed[..., cells]), expected, rtol=1e-12)
