"""Segments drawn where the sample sizes allow them, against draws that do not know the sizes."""

from dataclasses import replace

import numpy as np
import pytest
from scipy.special import expit, logsumexp

import bayescal as bc
from bayescal.curves.priors import CurveAverage
from bayescal.inference.direct import Weighted
from bayescal.quantities.pu_ece.models import tilted_segments
from bayescal.quantities.pu_ece.models.average import CaseControlAverage
from bayescal.quantities.pu_ece.models.case_control import CaseControlCells
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


def segments(class_prior, power=0.35):
    data = truth("calibrated").scores((500, 5000), seed=1)
    problem = bc.pu_ece.plan(data, bc.pu_ece.Priors(class_prior)).cases[0].problem
    average = CaseControlAverage.joined(problem, CurveAverage(), class_prior, 0.5)
    return replace(average, power=power)._segments


def weigh(own, draws):
    """Mean label rate of the rows, and log weights of what the draws do not know of the sizes."""
    logit = own.segments.offset + draws["shift"]
    normal = draws["segments_normal"]
    share = expit(own.cells(normal[:, None]).positive_logit(logit))
    weight = own.sizes.log_density(share, own.class_prior(normal)[0])
    known = draws["segments_known"] - own.beside(normal)
    return expit(logit) @ own.sizes.total / own.sizes.total.sum(), weight - known


def estimate(rate, log_weight):
    """Log evidence of the sizes, weighted mean, its standard error, and effective draws."""
    weight = np.exp(log_weight - logsumexp(log_weight))
    mean = weight @ rate
    error = np.sqrt(np.square(weight) @ np.square(rate - mean))
    ess = Weighted(rate, log_weight).ess
    return logsumexp(log_weight) - np.log(len(rate)), mean, error, ess


@pytest.mark.parametrize(("class_prior", "few"), [(0.55, 0.1), (bc.Beta(11_000, 9_000), 0.15)])
def test_draws_and_evidence_are_those_of_many_draws_without_a_tilt(
    monkeypatch, class_prior, few
) -> None:
    own = segments(class_prior)
    tilted = estimate(*weigh(own, own.draw(4000, np.random.default_rng(1))))
    monkeypatch.setattr(tilted_segments, "_ROUNDS", 0)
    number = 40_000
    plain = estimate(*weigh(own, own.draw(number, np.random.default_rng(2))))
    assert plain[3] < few * number
    assert tilted[3] > 0.2 * 4000
    # Four standard errors; of a log mean of weights that is the root of one over their number.
    assert abs(tilted[0] - plain[0]) < 4 * np.sqrt(1 / tilted[3] + 1 / plain[3])
    assert abs(tilted[1] - plain[1]) < 4 * np.hypot(tilted[2], plain[2])


def test_where_enough_draws_count_none_are_tilted() -> None:
    own = segments(bc.Beta(50, 50), power=1.0)
    found = own.draw(2000, np.random.default_rng(3))
    np.testing.assert_array_equal(found["segments_known"], own.beside(found["segments_normal"]))
