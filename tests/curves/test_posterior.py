"""Draws of a curve: their states, their rates at cells and at any score, and conditions on them."""

import numpy as np
import pytest
from scipy.integrate import quad
from scipy.special import expit
from scipy.stats import norm

from bayescal.curves.average import in_chains, log_posterior_weights
from bayescal.curves.posterior import CurvePosterior, evidence_warnings
from bayescal.curves.priors import COMPONENTS
from tests.curves.test_average import described

ENDS = np.array([0.0, 1.0])
SCORE = [0.0, 0.2, 0.5, 0.8, 1.0]
DRAWS = 4000


def drawn(made, seed=1):
    direct = made.direct_draws(DRAWS, np.random.default_rng(seed))
    draws = in_chains(direct.draws, (2, DRAWS // 2))
    return CurvePosterior.of(made, draws, direct.evidence, np.random.default_rng(2)), direct


@pytest.fixture(scope="module")
def made():
    return described(SCORE, [12, 30, 30, 30, 15], [0, 8, 13, 25, 15])


@pytest.fixture(scope="module")
def curve(made):
    return drawn(made)[0]


def test_states_come_as_often_as_their_weights(made):
    curve, direct = drawn(made)
    weights = np.exp(made.log_weights(direct.evidence))
    expected = {}
    for state, weight in zip(made.states, weights, strict=True):
        key = (COMPONENTS.index(state.component), *state.errs)
        expected[key] = weight
    rows = np.column_stack([curve.component.ravel(), curve.errs.reshape(DRAWS, 2)])
    for key, weight in expected.items():
        assert abs((rows == key).all(axis=1).sum() - DRAWS * weight) <= 1, key


def test_each_draw_has_the_rates_of_its_component(curve):
    for number, name in enumerate(COMPONENTS):
        own = curve.component == number
        alone = curve.given(name)
        assert (alone.component == number).all()
        np.testing.assert_allclose(curve.rate[own][:, 1:-1], alone.rate[own][:, 1:-1])
    calibrated = curve.given("calibrated").at(np.linspace(0.1, 0.9, 5))
    np.testing.assert_array_equal(calibrated[0, 0], np.linspace(0.1, 0.9, 5))


def test_what_was_asked_for_first_changes_nothing(made):
    points = np.linspace(0, 1, 9)
    late, early = drawn(made)[0], drawn(made)[0]
    for name in COMPONENTS:
        assert early.given(name).rate.shape == early.rate.shape
        assert early.given(name).at(points).shape == (*early.place.shape, 9)
    for one, other in ((late, early), (late.miscalibrated, early.miscalibrated)):
        np.testing.assert_allclose(one.rate, other.rate, rtol=1e-12)
        np.testing.assert_allclose(one.at(points), other.at(points), rtol=1e-12)


def test_cells_agree_with_the_curve_at_their_scores(made, curve):
    np.testing.assert_allclose(curve.rate, curve.at(made.score), atol=1e-6)


def test_calibrated_draws_are_exactly_so_and_others_are_not(made, curve):
    same = (curve.rate == made.score).all(axis=-1)
    np.testing.assert_array_equal(same, curve.calibrated)
    assert 0.05 < same.mean() < 0.95
    assert not (curve.miscalibrated.rate == made.score).all(axis=-1).any()


def test_components_that_are_given_keep_their_ratios(made):
    curve, direct = drawn(made)
    weights = made.weights(direct.evidence)
    given = curve.given("smooth", "rough")
    share = (given.component == COMPONENTS.index("smooth")).mean()
    expected = weights["smooth"] / (weights["smooth"] + weights["rough"])
    assert share == pytest.approx(expected, abs=1 / DRAWS)


def test_scores_of_0_and_1_err_as_their_states_say(made, curve):
    smooth = curve.given("smooth")
    right = (smooth.at(ENDS) == ENDS).mean(axis=(0, 1))
    # All of 12 and 15 rows are right.
    before = np.exp(made.boundary.log_prior(False))
    log_weights = log_posterior_weights(before, made._log_evidence_of_errors)
    expected = np.exp(log_weights) @ ~made.boundary.patterns
    np.testing.assert_allclose(right, expected, atol=2 / DRAWS)
    assert (smooth.erring.at(ENDS) != ENDS).all()


def test_costs_and_roc_curves_may_have_scores_of_0_and_1_that_never_err(curve):
    right = (curve.wide.at(ENDS) == ENDS).mean(axis=(0, 1))
    # Of 12 and of 15 rows, all right, with even odds before: by their evidence to the power .35.
    errs = [
        quad(lambda x, n=rows: expit(-x) ** n * norm.pdf(x, -4, 2.5), -25, 15)[0] ** 0.35
        for rows in (12, 15)
    ]
    np.testing.assert_allclose(right, 1 / (1 + np.array(errs)), atol=2 / DRAWS)


def test_scores_of_0_and_1_without_rows_have_their_prior():
    curve, _ = drawn(described([0.2, 0.8], [20, 20], [5, 14]))
    for found, never in (
        (curve.given("smooth").erring, 0.0),
        (curve.wide, 0.0),
        (curve.given("smooth"), 0.5),
        (curve.given("calibrated"), 1.0),
    ):
        error = np.abs(found.at(ENDS) - ENDS)
        assert (error == 0).mean() == pytest.approx(never, abs=0.03)
        assert (error > expit(-4)).mean() == pytest.approx((1 - never) / 2, abs=0.03)


def test_a_component_without_weight_can_still_be_given():
    """Of scores so far off that no draw of the average is calibrated."""
    curve, _ = drawn(described([0.2, 0.8], [9000, 9000], [8000, 500]))
    assert not curve.calibrated.any()
    np.testing.assert_array_equal(curve.given("calibrated").rate[0, 0], [0.2, 0.8])


def test_weights_may_differ_from_draw_to_draw(made, curve):
    weight = np.full((*curve.place.shape, len(curve.states)), -np.inf)
    wanted = np.arange(DRAWS).reshape(curve.place.shape) % len(curve.states)
    np.put_along_axis(weight, wanted[..., None], 0.0, axis=-1)
    found = CurvePosterior(
        made, curve.draws, curve.states, weight, curve.place, curve.unseen, curve.unseen_errs
    )
    names = np.array([COMPONENTS.index(state.component) for state in curve.states])
    np.testing.assert_array_equal(found.component, names[wanted])


def test_before_the_data_components_come_by_their_prior_weights(made):
    curve = CurvePosterior.prior(made, DRAWS, np.random.default_rng(1))
    shares = np.bincount(curve.component.ravel(), minlength=5) / DRAWS
    expected = [0.5 + 0.025, *(0.475 * np.array([0.45, 0.30, 0.25, 0.05]) / 1.05)]
    assert shares == pytest.approx(expected, abs=1 / DRAWS)
    assert curve.calibrated.mean() == pytest.approx(0.5, abs=1 / DRAWS)


@pytest.mark.parametrize(("ess", "said"), [(4000, []), (120, ["120 effective draws"])])
def test_evidence_that_rests_on_few_draws_is_doubted(ess, said):
    warnings = evidence_warnings(ess)
    assert len(warnings) == len(said)
    assert all(words in warning for words, warning in zip(said, warnings, strict=True))
