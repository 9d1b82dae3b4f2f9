"""The approximate posterior of curve and class prior, against the posterior itself."""

from dataclasses import replace

import numpy as np
import pytest

import bayescal as bc
from bayescal.core.calibration_curve.curve_average import CurveAverage
from bayescal.core.calibration_curve.problem import Problem
from bayescal.quantities.pu_ece.data import PUProblem
from bayescal.quantities.pu_ece.models.average import Average
from bayescal.quantities.pu_ece.simulator import truth
from tests.quantities.pu_ece.made import problem

WIDE = bc.Beta(8, 12)


def average(name, size, class_prior=WIDE) -> Average:
    return Average.of(problem(name, size), CurveAverage(), class_prior, 0.5)


@pytest.mark.parametrize(
    ("name", "size", "class_prior"),
    [
        ("over", (500, 5000), WIDE),
        ("less", (50, 500), bc.Beta(1, 1)),
        ("calibrated", (5000, 50_000), bc.Beta(1, 1)),
        ("near", (500, 5000), 0.5),
    ],
)
def test_most_draws_of_it_count(name, size, class_prior) -> None:
    """A class prior held at one place, or sizes left out, leave one in a hundred."""
    model = average(name, size, class_prior)
    rng = np.random.default_rng(3)
    smooth = model.smooth.sample(model.smooth_along, 4000, rng, 5.0)
    assert smooth.ess > 0.25 * 4000
    middle = len(model.rough_nodes) // 2
    target = model.rough_at(model.rough_nodes[middle])
    rough = target.sample(model.rough_along[middle], 4000, rng)
    assert rough.smoothed().ess > 0.2 * 4000


@pytest.mark.parametrize("class_prior", [bc.Beta(8, 12), bc.Beta(1, 1)])
def test_the_class_prior_is_where_the_posterior_is(class_prior) -> None:
    model = average("over", (5000, 50_000), class_prior)
    middle, spread = model.smooth.place()
    weighted = model.smooth.sample(model.smooth_along, 20_000, np.random.default_rng(4), 5.0)
    normal = weighted.resample(20_000, np.random.default_rng(5))[:, -1]
    # Laplace's approximation of the curve's evidence, against thousands of effective draws.
    assert middle == pytest.approx(normal.mean(), abs=0.3 * normal.std())
    assert spread == pytest.approx(normal.std(), rel=0.3)


def test_many_rows_settle_the_class_prior_and_the_place_is_found() -> None:
    middle, spread = average("over", (500_000, 5_000_000), bc.Beta(1, 1)).smooth.place()
    assert 0 < spread < 0.05
    assert abs(middle) < 0.3


def test_a_known_class_prior_has_one_gaussian() -> None:
    along = average("less", (200, 1500), 0.4).smooth_along
    assert (along.middle, along.spread) == (0.0, 1.0)
    assert all(one is along.gaussians[0] for one in along.gaussians)


def test_a_billion_rows_leave_a_needle_that_is_found() -> None:
    cells = problem("over", (20_000, 20_000)).unlabeled.cells
    rate, rng = truth("over").probability(cells.mean_score), np.random.default_rng(1)
    shares = cells.count / cells.n, cells.count * rate / (cells.count @ rate)
    unlabeled, positive = (rng.multinomial(10**9, share) for share in shares)
    made = replace(cells, count=unlabeled)
    counted = PUProblem.of(Problem({"classifier": "made"}, made, made), positive)
    model = Average.of(counted, CurveAverage(), bc.Beta(20, 20), 0.5)
    found = model.smooth.sample(model.smooth_along, 4000, np.random.default_rng(3), 5.0)
    assert found.ess > 0.25 * 4000
    class_prior = model.smooth.prior(found.resample(1000, np.random.default_rng(4))[:, -1])[0]
    # The mean of the cells' rates, which the positives do not tell by themselves.
    assert class_prior.mean() == pytest.approx(float(shares[0] @ rate), abs=0.01)
