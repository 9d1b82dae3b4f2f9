"""Segments drawn where the sample sizes allow them, against draws that do not know the sizes."""

from dataclasses import replace

import numpy as np
import pytest
from scipy.special import expit, logsumexp
from scipy.stats import norm

import bayescal as bc
from bayescal.curves.priors import CurveAverage
from bayescal.quantities.pu_ece.models.along_class_prior import CLASS_PRIOR_POWER
from bayescal.quantities.pu_ece.models.average import CaseControlAverage
from bayescal.quantities.pu_ece.models.case_control import CaseControlCells
from bayescal.quantities.pu_ece.models.curve_and_class_prior import Nodes
from bayescal.quantities.pu_ece.models.tilted_segments import TiltedCells
from bayescal.quantities.pu_ece.simulator import truth

TOTAL, POSITIVE = np.array([40, 100, 60]), np.array([3, 30, 45])


def test_tilted_cells_count_the_expected_positives_too() -> None:
    logit, log_odds = np.array([[-2.0, 0.1, 1.5]]), -0.4
    plain = CaseControlCells(TOTAL, POSITIVE, log_odds)
    tilted = TiltedCells(TOTAL, POSITIVE, log_odds, 0.07)
    odds = np.exp(log_odds) * expit(logit)
    found = tilted.log_likelihood(logit) - plain.log_likelihood(logit)
    np.testing.assert_allclose(found, 0.07 * TOTAL * odds / (1 + odds))
    step = 1e-5
    differences = tilted.log_likelihood(logit + step) - tilted.log_likelihood(logit - step)
    np.testing.assert_allclose(tilted.slopes(logit)[0], differences / (2 * step), rtol=1e-6)
    some = tilted.at(np.array([2, 0]))
    np.testing.assert_allclose(
        some.log_likelihood(logit[:, [2, 0]]), tilted.log_likelihood(logit)[:, [2, 0]]
    )


def segments(class_prior, power=CLASS_PRIOR_POWER):
    data = truth("calibrated").scores((500, 5000), seed=1)
    problem = bc.pu_ece.plan(data, bc.pu_ece.Priors(class_prior)).cases[0].problem
    average = CaseControlAverage.joined(problem, CurveAverage(linear=0), class_prior, 0.5)
    return replace(average, class_prior_power=power)._segments


def logits(own, drawn):
    return own.segments.offset + drawn["shift"]


def mean_rate(own, drawn):
    """Mean label rate of the rows, (draw,)."""
    return expit(logits(own, drawn)) @ own.sizes.total / own.sizes.total.sum()


def plainly(own, number, rng):
    """Draws that do not know the sizes: log evidence, weighted mean, its error, effective draws."""
    evidence = np.array([own._at(normal, 0.0).log_evidence for normal in own.normal.tolist()])
    if len(own.normal) > 1:
        width = np.gradient(own.normal)
        evidence = evidence + own.beside.value + norm.logpdf(own.normal) + np.log(width)
    first = Nodes(own.normal, evidence)
    found = own._drawn(rng.permutation(first.draw(number, rng)), 0.0, rng)
    rate = mean_rate(own, found.draws)
    weight = np.exp(found.log_weight - logsumexp(found.log_weight))
    mean = weight @ rate
    error = np.sqrt(np.square(weight) @ np.square(rate - mean))
    log_evidence = first.log_evidence + found.weighted.log_evidence
    return log_evidence, mean, error, found.weighted.ess


# At the last node of an uncertain class prior one in 10,000 draws is where the sizes are: those
# without a tilt find the node's twentieth of the posterior, those of a posterior miss it.
@pytest.mark.parametrize(
    ("class_prior", "few", "missed"),
    [(0.55, 0.1, 0.0), (bc.Beta(11_000, 9_000), 0.15, 0.0), (bc.Beta(4, 6), 0.3, 0.25)],
)
def test_draws_and_evidence_are_those_of_many_draws_without_a_tilt(
    class_prior, few, missed
) -> None:
    own, number = segments(class_prior), 40_000
    drawn, weighted = own.draw(4000, np.random.default_rng(1))
    rate = mean_rate(own, drawn)
    log_evidence, mean, error, ess = plainly(own, number, np.random.default_rng(2))
    assert ess < few * number
    # What the tilt is for: more of its draws count than of those without.
    assert weighted.ess / len(weighted.log_weights) > ess / number
    # Four standard errors; of a log mean of weights that is the root of one over their number.
    apart = 4 * np.sqrt(1 / weighted.ess + 1 / ess)
    assert abs(weighted.log_evidence - log_evidence) < apart
    own_error = rate.std() / np.sqrt(min(weighted.ess, len(rate)))
    assert abs(rate.mean() - mean) < 4 * np.hypot(own_error, error) + missed * rate.std()


def test_where_enough_draws_count_none_are_tilted() -> None:
    own = segments(bc.Beta(50, 50), power=1.0)
    _, weighted = own.draw(2000, np.random.default_rng(3))
    assert weighted.ess > 0.2 * len(weighted.log_weights)
    assert set(own._nodes) == {0.0}


def test_the_class_prior_is_its_prior_times_the_evidence_of_segments_to_the_power() -> None:
    """As it stands, the evidence would leave less than half of the spread."""
    own, rng = segments(bc.Beta(4, 6)), np.random.default_rng(4)
    evidence = own._by_cells(0.0) + own.ends(own.normal)
    for place, normal in enumerate(own.normal.tolist()):
        evidence[place] += own._drawn(np.full(5000, normal), 0.0, rng).weighted.log_evidence
    weight = np.gradient(own.normal) * norm.pdf(own.normal)
    weight *= np.exp(CLASS_PRIOR_POWER * (evidence - evidence.max()))
    mean = np.average(own.normal, weights=weight)
    spread = np.sqrt(np.average((own.normal - mean) ** 2, weights=weight))
    drawn = own.draw(4000, rng)[0]["segments_normal"]
    # The sizes' density is known to half a unit of log evidence, and far evidence to more.
    assert drawn.mean() == pytest.approx(mean, abs=0.5 * spread)
    assert drawn.std() == pytest.approx(spread, rel=0.4)


def test_the_mean_density_of_the_sizes_is_that_of_many_draws() -> None:
    # Expected numbers of positives are skew far from the sizes: as if they were normal, their mean
    # density was 1.7 units too small at one node of those below.
    data, priors = truth("less").scores((300, 2000), 20), bc.pu_ece.Priors(bc.Beta(50, 50))
    case = bc.pu_ece.plan(data, priors, binning=bc.Binning(n_bins=6)).cases[0]
    own = case.simulate(np.random.default_rng(29))[0].model._segments
    every, rng = slice(0, None, 3), np.random.default_rng(7)
    many = [own._drawn(np.full(20_000, at), 0.0, rng).weighted for at in own.normal[every]]
    exact, ess = np.array([(one.log_evidence, one.ess) for one in many]).T
    # Of 2,000 draws 40 count, or more: an error of a sixth.
    near = ess > 400
    np.testing.assert_allclose(own._mean_sizes(0.0)[every][near], exact[near], atol=0.6)
