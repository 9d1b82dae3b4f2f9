"""The Gaussian of a curve and the class prior."""

from dataclasses import replace

import numpy as np
import pytest

import bayescal as bc
from bayescal.curves.cells import Problem
from bayescal.curves.priors import CurveAverage
from bayescal.inference.direct import Gaussian
from bayescal.quantities.pu_ece.data import PUProblem
from bayescal.quantities.pu_ece.models.average import CaseControlAverage
from bayescal.quantities.pu_ece.models.curve_and_class_prior import KNOTS, MovingGaussian, stretched
from bayescal.quantities.pu_ece.simulator import truth
from tests.quantities.pu_ece.made import problem

SIZE = 3


@pytest.fixture(scope="module")
def moving() -> MovingGaussian:
    rng = np.random.default_rng(1)
    bend = np.outer(KNOTS**2 / 20, [1.0, -0.5, 0.2]) + np.outer(KNOTS, [0.1, 0.3, -0.2])
    roots = [np.triu(rng.normal(size=(SIZE, SIZE)), 1) + np.diag([1, -0.5, 2]) for _ in KNOTS]
    return MovingGaussian(0.4, 0.2, Gaussian(bend, np.stack(roots)))


def test_at_a_knot_its_gaussian_places_them(moving) -> None:
    value = np.random.default_rng(2).normal(size=(len(KNOTS), SIZE + 1))
    value[:, -1] = KNOTS
    coef, _ = moving.placed(value)
    np.testing.assert_allclose(coef[:, -1], 0.4 + 0.2 * stretched(KNOTS))
    for knot in range(len(KNOTS)):
        own = moving.gaussians[knot]
        np.testing.assert_allclose(coef[knot, :-1], own.mean + own.root @ value[knot, :-1])


def test_the_volume_is_that_of_finite_differences(moving) -> None:
    for value in ([0.3, -1, 0.5, 0.3], [1, 0, -2, -2.6], [0.1, 0.2, 0.3, 4.4], [0, 1, 0, 7.0]):
        step = 1e-5 * np.eye(SIZE + 1)
        moved = [moving.placed(np.array(value) + sign * step)[0] for sign in (1, -1)]
        _, expected = np.linalg.slogdet((moved[0] - moved[1]) / 2e-5)
        assert moving.placed(np.array([value]))[1][0] == pytest.approx(expected, abs=1e-7)


def test_between_knots_a_bent_mean_is_followed(moving) -> None:
    last = np.linspace(KNOTS[1], KNOTS[-2], 41)
    value = np.zeros((41, SIZE + 1))
    value[:, -1] = last
    # A parabola is a cubic, and central differences have its slope.
    np.testing.assert_allclose(moving.placed(value)[0][:, 0], last**2 / 20 + 0.1 * last)


def test_the_middle_stays_and_tails_are_long() -> None:
    at = np.linspace(-8, 8, 33)
    np.testing.assert_allclose(stretched(at / 100), at / 100, rtol=3e-4)
    assert (np.diff(stretched(at)) > 0).all()
    assert stretched(np.asarray(6.0)) > 20


WIDE = bc.Beta(8, 12)


def average(name, size, class_prior=WIDE) -> CaseControlAverage:
    return CaseControlAverage.joined(problem(name, size), CurveAverage(), class_prior, 0.5)


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
    smooth = model.smooth_joint.sample(model.smooth_gaussian, 4000, rng, 5.0)
    assert smooth.ess > 0.25 * 4000
    # One whose Gaussian is sought, and one where it is blended.
    for node in (6, 7):
        rough = model.rough_joint[node].sample(model.rough_gaussians[node], 4000, rng)
        assert rough.smoothed().ess > 0.2 * 4000


@pytest.mark.parametrize("class_prior", [bc.Beta(8, 12), bc.Beta(1, 1)])
def test_the_class_prior_is_where_the_posterior_is(class_prior) -> None:
    model = average("over", (5000, 50_000), class_prior)
    middle, spread = model.smooth_joint.place()
    weighted = model.smooth_joint.sample(
        model.smooth_gaussian, 20_000, np.random.default_rng(4), 5.0
    )
    normal = weighted.resample(20_000, np.random.default_rng(5))[:, -1]
    # Laplace's approximation of the curve's evidence, against thousands of effective draws.
    assert middle == pytest.approx(normal.mean(), abs=0.3 * normal.std())
    assert spread == pytest.approx(normal.std(), rel=0.3)


def test_many_rows_settle_the_class_prior_and_the_place_is_found() -> None:
    middle, spread = average("over", (500_000, 5_000_000), bc.Beta(1, 1)).smooth_joint.place()
    assert 0 < spread < 0.05
    assert abs(middle) < 0.3


def test_a_known_class_prior_has_one_gaussian() -> None:
    moving = average("less", (200, 1500), 0.4).smooth_gaussian
    assert (moving.middle, moving.spread) == (0.0, 1.0)
    assert moving.gaussians.mean.ndim == 1
    value = np.random.default_rng(5).normal(size=(4, len(moving.gaussians.mean) + 1))
    coef, log_volume = moving.placed(value)
    expected = moving.gaussians.mean + value[:, :-1] @ moving.gaussians.root.T
    np.testing.assert_allclose(coef[:, :-1], expected)
    slant = np.log(np.cosh(value[:, -1] / 2)) + np.linalg.slogdet(moving.gaussians.root)[1]
    np.testing.assert_allclose(log_volume, slant)


def test_rough_gaussians_of_all_nodes_are_those_of_one_after_the_other() -> None:
    model = average("less", (100, 1000))
    smooth = model.smooth_gaussian
    spread = model.rough.basis.spread(model.rough_nodes)
    guide = (smooth.gaussians.mean @ model.rough.basis.smooth.T)[:, None, :] / spread
    for node in (0, 6, 12):
        alone = model.rough_joint[node].knots(smooth.middle, smooth.spread, guide[:, node])
        together = model.rough_gaussians[node].gaussians
        np.testing.assert_allclose(together.mean, alone.mean, atol=1e-6)
        np.testing.assert_allclose(together.root, alone.root, atol=1e-6)


def test_a_start_nearby_leads_to_the_same_gaussians() -> None:
    data = problem("less", (200, 2000))
    near = CaseControlAverage.joined(data, CurveAverage(), 0.5, 0.0)
    alone = CaseControlAverage.joined(data, CurveAverage(), 0.53, 0.0)
    led = CaseControlAverage.joined(data, CurveAverage(), 0.53, 0.0, near)
    for node in (2, 6, 8):
        one, other = (
            model.rough_joint[node].sample(
                model.rough_gaussians[node], 4000, np.random.default_rng(7)
            )
            for model in (alone, led)
        )
        assert other.ess > 0.95 * one.ess
        assert other.log_evidence == pytest.approx(one.log_evidence, abs=0.03)


def test_a_billion_rows_leave_a_needle_that_is_found() -> None:
    cells = problem("over", (20_000, 20_000)).unlabeled.cells
    rate, rng = truth("over").probability(cells.mean_score), np.random.default_rng(1)
    shares = cells.count / cells.n, cells.count * rate / (cells.count @ rate)
    unlabeled, positive = (rng.multinomial(10**9, share) for share in shares)
    made = replace(cells, count=unlabeled)
    counted = PUProblem.of(Problem({"classifier": "made"}, made, made), positive)
    model = CaseControlAverage.joined(counted, CurveAverage(), bc.Beta(20, 20), 0.5)
    found = model.smooth_joint.sample(model.smooth_gaussian, 4000, np.random.default_rng(3), 5.0)
    assert found.ess > 0.25 * 4000
    class_prior = model.smooth_joint.prior(found.resample(1000, np.random.default_rng(4))[:, -1])[0]
    # The mean of the cells' rates, which the positives do not tell by themselves.
    assert class_prior.mean() == pytest.approx(float(shares[0] @ rate), abs=0.01)
