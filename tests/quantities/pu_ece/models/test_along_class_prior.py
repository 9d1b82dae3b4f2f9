"""What counts of the class prior: its posterior is its prior times the evidence to a power."""

from dataclasses import replace

import numpy as np
import pytest
from scipy.special import expit, logit, logsumexp
from scipy.stats import binom, norm

import bayescal as bc
from bayescal.curves.average import POWER
from bayescal.curves.priors import CurveAverage
from bayescal.inference.direct import Gaussian, importance_sample
from bayescal.quantities.pu_ece.models.average import CaseControlAverage
from bayescal.quantities.pu_ece.models.case_control import log_sizes_density
from tests.quantities.pu_ece.made import of_counts, problem

SMOOTH, BELIEF = CurveAverage(rough=0, segments=0, linear=0), bc.Beta(20, 30)
# Of the high scores few are events unless the class prior is .6: far from calibration below that.
MADE = of_counts([10, 30], [60, 60], [0.1, 0.9])


def average(class_prior=BELIEF, made=MADE, prior=SMOOTH, calibrated=0.0):
    return CaseControlAverage.joined(made, prior, class_prior, calibrated)


def log_evidence(model, class_prior, draws=50_000) -> np.ndarray:
    """Log of the mean likelihood over the prior of the smooth component, by class prior."""
    design = model.smooth.regression.design
    coef = np.random.default_rng(1).standard_normal((draws, design.shape[1]))
    return log_mean_likelihood(model.problem, coef @ design.T, class_prior)


def log_mean_likelihood(made, curve, class_prior) -> np.ndarray:
    """Log of the mean likelihood over curves, (draw, cell), by class prior."""
    rate = expit(logit(made.cells.mean_score) + curve)
    ratio = made.n_positive / made.n_unlabeled
    found = []
    for pi in class_prior:
        odds = ratio * rate / pi
        law = binom.pmf(made.positive, made.total, odds / (1 + odds)).prod(axis=1)
        sizes = log_sizes_density(rate, np.full(len(rate), pi), made.total, made.n_positive)
        found.append(np.log((law * np.exp(sizes)).mean()))
    return np.array(found)


class Conditional:
    """The likelihood of a curve at one class prior."""

    def __init__(self, joint, normal) -> None:
        self.joint, self.normal = joint, normal

    def log_likelihood(self, coef) -> np.ndarray:
        return self.joint.log_likelihood(np.insert(coef, coef.shape[1], self.normal, axis=1))


NORMAL = np.linspace(-4, 4, 41)


@pytest.fixture(scope="module")
def evidence() -> np.ndarray:
    return log_evidence(average(), average().class_prior(NORMAL))


@pytest.mark.parametrize("power", [0.2, POWER, 1.0])
def test_the_posterior_is_the_prior_times_the_evidence_to_the_power(power, evidence) -> None:
    model = replace(average(), class_prior_power=power)
    class_prior = model.class_prior(NORMAL)
    weight = norm.pdf(NORMAL) * np.exp(power * evidence)
    mean = np.average(class_prior, weights=weight)
    spread = np.sqrt(np.average((class_prior - mean) ** 2, weights=weight))
    rng = np.random.default_rng(2)
    draws = model.population(model.direct_posterior(4000, rng)).class_prior
    # The evidence is off by a tenth of a unit; 400 effective draws.
    assert draws.mean() == pytest.approx(mean, abs=0.25 * spread)
    assert draws.std() == pytest.approx(spread, rel=0.15)
    prior = model.class_prior(np.zeros(1)).item()
    # The evidence moves it, the less the lower the power.
    assert mean - prior > 0.1 * power * spread


def test_evidence_is_that_of_brute_force() -> None:
    along = average().along
    inside = np.abs(along.knots) < 3
    found = along.evidence["smooth"][inside]
    expected = log_evidence(average(), average().class_prior(along.knots[inside]))
    np.testing.assert_allclose(found - found[2], expected - expected[2], atol=0.3)


def test_evidence_of_the_rough_component_is_summed_over_its_roughness() -> None:
    made = of_counts([10, 0, 12, 1], [30, 30, 30, 30], [0.2, 0.4, 0.6, 0.8])
    model = average(BELIEF, made, CurveAverage(linear=0))
    normal, rough = np.linspace(-2, 2, 5), model.rough
    class_prior, rng = model.class_prior(normal), np.random.default_rng(1)
    curve = rough.deviation(rough.prior_draws(200_000, rng))
    expected = log_mean_likelihood(made, curve, class_prior)
    expected -= log_evidence(model, class_prior, 200_000)
    evidence = model.along.evidence
    found = np.interp(normal, model.along.knots, evidence["rough"] - evidence["smooth"])
    # Brute force and importance sampling err by .1 each. At the likely roughness alone .9 off.
    np.testing.assert_allclose(found, expected, atol=0.35)


def test_many_cells_of_few_positives_do_not_tell_the_class_prior() -> None:
    # Rates that jump from cell to cell. By Laplace's approximation the evidence fell by 16 units
    # from end to end, and what tempers it moved the class prior by 1.3 of its deviations.
    rng, cells = np.random.default_rng(3), 104
    positive = np.minimum(rng.poisson(3 * rng.lognormal(-0.32, 0.8, cells)), 9)
    made = of_counts(positive, np.full(cells, 20), (np.arange(cells) + 0.5) / cells)
    model = average(bc.Beta(50, 50), made, CurveAverage(linear=0), 0.5)
    along, normal = model.along, np.array([-1.875, 0.0, 1.875])
    joint, expected = along.joints["rough"], []
    for at in normal:
        own = joint.by_cells(np.array([at]), np.zeros((1, cells)))
        curve = joint.with_sizes(np.array([at]), joint.matched(np.array([at]), own)).curve
        own = Gaussian(curve.mean[0], curve.root[0])
        draws = importance_sample(Conditional(joint, at), own, 40_000, rng)
        expected.append(draws.log_evidence)
        # From the Gaussian whose moments are not matched 100 draws count.
        assert draws.ess > 200
    found = np.interp(normal, along.knots, along._with_sizes["rough"].evidence)
    # A hundred times as many draws; tens of those count.
    np.testing.assert_allclose(found - found[1], np.array(expected) - expected[1], atol=0.7)
    posterior = model.direct_posterior(1000, np.random.default_rng(1))
    # The evidence summed over all roughnesses says -.04; at the likely one alone .28. Draws err by
    # .1, the evidence by as much again.
    assert abs(model.class_prior_normal(posterior).mean()) < 0.25


def test_a_class_prior_that_is_known_or_evidence_to_the_power_1_is_not_tempered() -> None:
    for model in (average(0.4), replace(average(), class_prior_power=1.0)):
        assert not model.along.tempering.value.any()


def test_a_sharp_peak_between_knots_of_nuts_is_moved_by_few_nats() -> None:
    model = average(
        bc.Beta(2, 3), problem("over", (200_000, 2_000_000)), CurveAverage(linear=0), 0.5
    )
    for member in model.members.values():
        assert np.ptp(member.joint.along.value) <= 60


def test_rows_at_0_and_1_alone_temper_the_class_prior() -> None:
    model = average(
        bc.Beta(30, 70), of_counts([2, 88], [900, 300], [0.0, 1.0]), CurveAverage(linear=0), 0.5
    )
    rng = np.random.default_rng(3)
    found, exact = (
        one.population(one.direct_posterior(4000, rng)).class_prior
        for one in (model, replace(model, class_prior_power=1.0))
    )
    assert found.std() > exact.std()


def test_scores_of_1_that_are_right_leave_no_peak_between_knots() -> None:
    made = of_counts([10, 30, 60], [60, 60, 40], [0.1, 0.6, 1.0])
    along = average(bc.Beta(2, 8), made, SMOOTH, 0.5).along
    log_prior = along.boundary.log_prior(interior_calibrated=False)
    at = np.linspace(along.knots[0], along.knots[-1], 2001)
    ends = logsumexp(along.patterns(at) + log_prior, axis=-1)
    peak = np.argmax(ends)
    near = np.flatnonzero(np.abs(at - at[peak]) < 0.3)
    near = near[ends[near] > ends[peak] - 8]
    assert len(near) > 10
    off = along.tempering(at[near]) - along.tempering(at[peak])
    # What is between 0 and 1 changes the evidence by less than a unit there.
    np.testing.assert_allclose(off, (along.power - 1) * (ends[near] - ends[peak]), atol=1)


def test_all_components_count_under_a_flat_class_prior() -> None:
    """Without the sizes, calibrated scores would be sought where the tempering is largest."""
    model = average(bc.Beta(1, 1), problem("near", (150, 600)), CurveAverage(linear=0), 0.5)
    assert model.direct_draws(1000, np.random.default_rng(1)).ess > 1000


def test_a_flat_class_prior_is_known_near_one() -> None:
    # Nearly all rows are events there, and rates far from linear in the curve: three steps to the
    # sample sizes left the evidence at .98 three nats too small, and draws about .98 too many.
    model = average(bc.Beta(1, 1), of_counts([4, 9, 20], [60, 40, 50], [0.2, 0.5, 0.8]))
    # 2 in 100 of the prior are below, and 1 in 1000 above.
    normal = np.linspace(-2, 3, 26)
    class_prior = model.class_prior(normal)
    expected = log_evidence(model, class_prior, draws=200_000)
    found = np.interp(normal, model.along.knots, model.along.evidence["smooth"])
    near = (class_prior > 0.4) & (class_prior < 0.99)
    # A skewed posterior, unlike the Gaussian that draws are from.
    assert np.ptp((found - expected)[near]) < 1.2
    weight = norm.pdf(normal) * np.exp(0.2 * expected)
    share = weight[class_prior > 0.9].sum() / weight.sum()
    drawn = model.population(model.direct_posterior(4000, np.random.default_rng(2))).class_prior
    # The former, to the power .8, and points of the sum that are .2 apart.
    assert (drawn > 0.9).mean() == pytest.approx(share, abs=0.03)


def test_few_positives_of_high_scores_leave_a_flat_class_prior_wide() -> None:
    # Near one, steps to the curve's Gaussian went back and forth: at some knots the evidence was
    # 30 to 140 nats too small, and what tempers it put all draws there, about .996.
    truth = replace(bc.datasets.pu_ece.truth("over"), b0=5.9, class_prior=0.98)
    plan = bc.pu_ece.plan(truth.scores((20, 1000), seed=3), bc.pu_ece.Priors(bc.Beta(1, 1)))
    model = plan.cases[0].model
    normal = np.linspace(-1.5, 3, 19)
    expected = log_evidence(model, model.class_prior(normal), draws=10_000)
    along = model.along
    through = np.interp(normal, along.knots, along.evidence["smooth"])
    near = normal >= 0
    # A skewed posterior, unlike the Gaussian that draws are from, and lines between knots.
    assert np.ptp((through - expected)[near]) < 2.5
    weight = norm.pdf(normal) * np.exp(0.2 * expected)
    share = weight[normal > 2].sum() / weight.sum()
    found = model.population(model.direct_posterior(1000, np.random.default_rng(2)))
    assert (found.class_prior > model.class_prior(np.array([2.0]))).mean() < share + 0.1


def test_a_flat_class_prior_is_tempered_between_the_knots_as_at_them() -> None:
    made = of_counts([1, 2, 3, 5, 8], [12, 9, 7, 6, 6], np.linspace(0.1, 0.9, 5))
    model = average(bc.Beta(1, 1), made)
    normal = np.linspace(-1, 1.2, 23)
    expected = log_evidence(model, model.class_prior(normal), draws=30_000)
    off = model.along.tempering(normal) / (model.along.power - 1) - expected
    # A passage that is level at its highest knot was .6 off beside it.
    assert np.ptp(off) < 0.25


@pytest.mark.parametrize("at_zero", [0, 5])
def test_a_class_prior_beside_scores_of_0_and_1_alone_is_that_of_quadrature(at_zero: int) -> None:
    made = of_counts([at_zero, 30], [100, 60], [0.0, 1.0])
    model = average(bc.Beta(1, 1), made, CurveAverage(linear=0), calibrated=0.0)
    curve = model.direct_posterior(4000, np.random.default_rng(2))
    drawn = model.population(curve).class_prior
    # Either score errs at a rate whose logit is N(-4, 2.5), or, where it can, never.
    place, class_prior = np.linspace(-20, 12, 321), np.linspace(0.005, 0.995, 199)
    law = norm.pdf(place, -4, 2.5) * (place[1] - place[0])
    rate = np.stack(np.meshgrid(expit(place), 1 - expit(place), indexing="ij"), axis=-1)
    evidence = []
    for pi in class_prior:
        odds = made.n_positive / made.n_unlabeled * rate / pi
        likelihood = binom.pmf(made.positive, made.total, odds / (1 + odds)).prod(axis=-1)
        sizes = log_sizes_density(rate, np.asarray(pi), made.total, made.n_positive)
        evidence.append(law @ (likelihood * np.exp(sizes)) @ law)
    expected = np.average(class_prior, weights=np.array(evidence) ** 0.2)
    # How near the sizes are to the number of positives counts in full: the means are .29 for .31
    # and .33 for .38. Were their 1 / pi not tempered either, both would be .17.
    assert drawn.mean() == pytest.approx(expected, abs=0.07)
    assert np.mean(drawn < 0.001) < 0.01


def test_a_score_of_0_that_never_errs_has_no_positives_however_small_the_class_prior() -> None:
    made = of_counts([5, 30], [100, 60], [0.0, 1.0])
    model = average(bc.Beta(1, 1), made, CurveAverage(linear=0), calibrated=0.5)
    curve = model.direct_posterior(1000, np.random.default_rng(2))
    # By quadrature .41. At a class prior of 1e-7 a rate of 1e-9 would do: all draws were there.
    assert model.population(curve).class_prior.mean() == pytest.approx(0.41, abs=0.07)
