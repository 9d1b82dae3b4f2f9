"""The Gaussian of a curve and the class prior."""

import math
from dataclasses import replace

import numpy as np
import pytest
from scipy.special import logsumexp, softmax

import bayescal as bc
from bayescal.curves.cells import Problem
from bayescal.curves.priors import CurveAverage
from bayescal.inference import sampler
from bayescal.inference.direct import Gaussian, Weighted
from bayescal.inference.sampler import compile_model
from bayescal.quantities.pu_ece.data import PUProblem
from bayescal.quantities.pu_ece.models.average import CaseControlAverage
from bayescal.quantities.pu_ece.models.curve_and_class_prior import FLAT, _narrowed
from bayescal.quantities.pu_ece.posterior import plan
from bayescal.quantities.pu_ece.simulator import truth
from tests.quantities.pu_ece.made import of_counts, problem

WIDE = bc.Beta(8, 12)


def average(name, size, class_prior=WIDE) -> CaseControlAverage:
    return CaseControlAverage.joined(problem(name, size), CurveAverage(linear=0), class_prior, 0.5)


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
    # Of other seeds .1 to .35.
    assert smooth.ess > 0.2 * 4000
    # One whose Gaussian is sought, and one where it is blended.
    for node in (6, 7):
        rough = model.rough_joint[node].sample(model.rough_gaussians[node], 4000, rng)
        # To the power .2 the class prior reaches where the curve is far from a Gaussian.
        assert rough.smoothed().ess > 0.1 * 4000


@pytest.mark.parametrize("size", [1e-3, 1, 100])
def test_a_direction_that_is_known_narrows_a_root_as_its_precision_does(size) -> None:
    rng = np.random.default_rng(6)
    root, known = np.triu(rng.normal(size=(2, 3, 9, 9))), size * rng.normal(size=(2, 3, 9))
    found = _narrowed(root, known)
    precision = np.eye(9) + known[..., :, None] * known[..., None, :]
    expected = root @ np.linalg.inv(precision) @ np.swapaxes(root, -1, -2)
    # A precision of 1e5 leaves ten digits.
    np.testing.assert_allclose(found @ np.swapaxes(found, -1, -2), expected, rtol=0, atol=1e-8)
    assert not np.tril(found, -1).any()
    assert (np.sign(np.diagonal(found, 0, -2, -1)) == np.sign(np.diagonal(root, 0, -2, -1))).all()


def test_each_class_prior_has_its_own_nodes_of_the_roughness() -> None:
    # Of jagged rates the likely roughness moves with the class prior: nodes of one far off cut its
    # posterior off, and the mean error at .83 was .01 too small.
    rng, cells = np.random.default_rng(2), 104
    positive = np.minimum(rng.poisson(3 * rng.lognormal(-0.5, 1.0, cells)), 9)
    made = of_counts(positive, np.full(cells, 20), (np.arange(cells) + 0.5) / cells)
    near = CaseControlAverage.joined(made, CurveAverage(linear=0), 0.5, 0.0)
    alone, beside = (
        CaseControlAverage.joined(made, CurveAverage(linear=0), 0.83, 0.0, one)
        for one in (None, near)
    )
    np.testing.assert_allclose(beside.rough_nodes, alone.rough_nodes, rtol=1e-9)
    assert np.abs(np.log(near.rough_nodes / alone.rough_nodes)).max() > 0.1
    np.testing.assert_array_equal(beside.rough.basis.vectors, alone.rough.basis.vectors)


@pytest.mark.parametrize("name", ["over", "near"])
def test_a_peak_and_a_plateau_are_both_reached(name) -> None:
    """One place and spread of the class prior would leave one draw in a thousand."""
    data = truth(name).scores((500, 5000), 7)
    made = plan(data, bc.pu_ece.Priors(bc.Beta(4, 16))).cases[0].model
    weighted = made.smooth_joint.sample(made.smooth_gaussian, 8000, np.random.default_rng(4), 5.0)
    assert weighted.smoothed().ess > 0.1 * 8000
    assert weighted.pareto_k < 0.7
    # Both ends of the quantiles' values are about those of the posterior.
    normal = weighted.resample(8000, np.random.default_rng(5))[:, -1]
    low, high = made.smooth_gaussian.quantiles(np.array([-2.5, 2.5]))[0]
    assert low < np.quantile(normal, 0.05)
    assert high > np.quantile(normal, 0.95)


def test_many_rows_settle_the_class_prior_and_the_place_is_found() -> None:
    model = average("over", (500_000, 5_000_000), bc.Beta(1, 1))
    low, high = model.smooth_gaussian.quantiles(np.array([-1.0, 1.0]))[0]
    # Evidence to the power .2 leaves 2.2 times the spread; the prior's own would be 2.
    assert 0 < high - low < 0.3
    assert abs(low) < 0.3


def test_a_known_class_prior_has_one_gaussian() -> None:
    moving = average("less", (200, 1500), 0.4).smooth_gaussian
    mean, root = moving.gaussians.mean, moving.gaussians.root
    value = np.random.default_rng(5).normal(size=(4, mean.shape[-1] + 1))
    coef, log_volume = moving.placed(value)
    np.testing.assert_allclose(coef[:, -1], value[:, -1])
    np.testing.assert_allclose(coef[:, :-1], mean[0] + value[:, :-1] @ root[0].T)
    np.testing.assert_allclose(log_volume, np.linalg.slogdet(root[1])[1])


def conditional(found, standard):
    """The class prior's normal and the curve's Gaussian there by the whitening, as in NUTS."""
    size = found.gaussians.mean.shape[-1]
    points = np.vstack([np.zeros(size), np.eye(size)])
    coef = found.placed(np.column_stack([points, np.full(size + 1, standard)]))[0]
    return coef[0, -1], coef[0, :-1], (coef[1:, :-1] - coef[0, :-1]).T


def cells_at(joint, normal):
    """Its cells at one class prior."""
    odds = joint.log_ratio - np.log(joint.prior(np.asarray(normal)))
    return replace(joint.cells, log_odds=odds)


@pytest.mark.parametrize("class_prior", [0.4, bc.Beta(4000, 6000)])
def test_a_class_prior_that_is_about_known_leaves_a_gaussian_that_knows_the_sizes(
    class_prior,
) -> None:
    model, rng = average("less", (200, 1500), class_prior), np.random.default_rng(6)
    joint = model.smooth_joint
    assert joint.sized
    assert model.members["smooth"].joint.sizes is joint.sizes
    found = model.along.whitening("smooth")
    normal, mean, root = conditional(found, 0.0)
    coef = mean + rng.standard_normal((4000, len(mean))) @ root.T
    cells = cells_at(joint, normal)
    share = cells.share(joint.regression.logit(coef))
    off = share @ cells.total - joint.sizes.n_positive
    # Whatever the cells say, the posterior is hardly wider than the density of the sizes; of a
    # number that is linear in the curve it would be narrower.
    allowed = np.sqrt(joint.sizes.spread(share).mean())
    assert off.std() < 1.5 * allowed
    assert abs(off.mean()) < allowed


def log_density(joint, whitening, value):
    """What NUTS has at standard values, but for a constant; and where these are."""
    coef, log_volume = whitening.placed(value)
    # It has what counts beside cells and sizes in `along`.
    likelihood = replace(joint, beside=FLAT).log_likelihood(coef) + joint.along.at(coef[:, -1])
    return likelihood - np.square(coef).sum(axis=1) / 2 + log_volume, coef


def share_of_effective(joint, whitening) -> float:
    """Of draws of a whitening, weighed by the density that NUTS has."""
    size = whitening.gaussians.mean.shape[-1] + 1
    value = np.random.default_rng(8).standard_normal((2000, size))
    density = log_density(joint, whitening, value)[0]
    log_weight = density + np.square(value).sum(axis=1) / 2
    return Weighted(value, log_weight).smoothed().ess / 2000


@pytest.mark.parametrize(
    ("name", "size"), [("over", (500, 5000)), ("near", (500, 5000)), ("over", (500_000, 500_000))]
)
def test_the_whitening_follows_the_curve_along_a_wide_class_prior(name, size) -> None:
    model = average(name, size)
    joint, found = model.members["smooth"].joint, model.along.whitening("smooth")
    normal, middle = found.quantiles.normal, found.middle
    near = np.abs(found.quantiles.standard).argmin()
    rise = np.gradient(found.gaussians.mean, normal, axis=0)[near]
    line = middle.mean + np.outer(normal - normal[near], rise)
    roots = np.tile(middle.root, (len(normal), 1, 1))
    # One root, with the standard deviations that the curve has at each class prior.
    spread = np.linalg.norm(found.gaussians.root, axis=-1)
    scaled = roots * (spread / spread[near])[..., None]
    others = (line, roots), (0 * line + middle.mean, roots)
    curved, straight, none = (
        share_of_effective(joint, replace(found, gaussians=Gaussian(*one)))
        for one in ((found.gaussians.mean, found.gaussians.root), *others)
    )
    # Of 2000 draws each share is within a fifth of itself.
    assert curved > 0.1
    assert curved > 4 * max(straight, none)
    one_root = Gaussian(found.gaussians.mean, scaled)
    if size[0] == 500_000:
        # NUTS had an effective draw in forty.
        assert curved > 4 * share_of_effective(joint, replace(found, gaussians=one_root))


@pytest.mark.mcmc
@pytest.mark.parametrize("class_prior", [WIDE, 0.4])
def test_nuts_is_where_the_whitening_is_and_has_its_density(class_prior, monkeypatch) -> None:
    """The graph's quantiles, cubics, roots and volumes against NumPy's, knots fewer than room."""
    # In several parts.
    monkeypatch.setattr(sampler, "_TOGETHER", 1 << 17)
    model = average("over", (300, 2000), class_prior)
    member, found = model.members["smooth"], model.along.whitening("smooth")
    assert len(found.quantiles.normal) < 24
    compiled = compile_model(model.build("smooth"))
    size = found.gaussians.mean.shape[-1]
    value = 1.5 * np.random.default_rng(1).standard_normal((600, size + 1))
    sizes, (curve, last) = map(math.prod, compiled.shapes), np.split(value, [size], axis=1)
    point = np.hstack([np.pad(curve, ((0, 0), (0, n - size))) if n > 1 else last for n in sizes])
    data = compiled._checked(member.inputs())
    drawn = compiled._variables_at(point[None], data)
    expected, coef = log_density(member.joint, found, value)
    np.testing.assert_allclose(drawn["coef"][0, :, :size], coef[:, :-1], atol=1e-9)
    np.testing.assert_allclose(drawn["smooth_normal"][0, :, 0], coef[:, -1], atol=1e-9)
    prepared = compiled.density.prepare(*data)
    in_nuts = [compiled.density.function(*compiled._split(p), *prepared)[0] for p in point]
    off = np.array(in_nuts) - expected
    assert np.ptp(off) < 1e-6


@pytest.mark.parametrize("seed", [2, 3])
def test_what_chains_leave_out_of_the_sizes_moves_the_class_prior_little(seed) -> None:
    """With nine times the variance alone they go to a peak that the sizes rule out."""
    data = truth("over").scores((500, 5000), seed)
    model = plan(data, bc.pu_ece.Priors(bc.Beta(2, 8))).cases[0].model
    joint, found = model.members["smooth"].joint, model.along.whitening("smooth")
    rng, mean_weight = np.random.default_rng(9), []
    for standard in (0.0, 0.75, 1.5):
        at, mean, root = conditional(found, standard)
        own = rng.standard_normal((2000, len(mean)))
        coef = np.column_stack([mean + own @ root.T, np.full(2000, at)])
        in_nuts = replace(joint, beside=FLAT).log_likelihood(coef) + joint.along.at(at)
        near = in_nuts - np.square(coef).sum(axis=1) / 2 + np.square(own).sum(axis=1) / 2
        left = model.smooth_joint.log_likelihood(coef) - in_nuts
        mean_weight.append(logsumexp(near + left) - logsumexp(near))
    # By Laplace's approximation; it would be 3.5 and more.
    assert np.ptp(mean_weight) < 2


@pytest.mark.parametrize(("name", "b0", "b1"), [("less", -2, 0.3), ("over", 2, 1)])
def test_what_chains_leave_out_of_the_sizes_leaves_the_curve_in_place(name, b0, b1) -> None:
    """With nine times the variance alone it moved, by three of its deviations, to the cells."""
    law = truth(name)
    data = replace(law, b0=law.b0 + b0, b1=law.b1 * b1).scores((300, 2000), 1)
    model = (
        plan(data, bc.pu_ece.Priors(bc.Beta(50, 50)), binning=bc.Binning(n_bins=6)).cases[0].model
    )
    joint, found = model.members["smooth"].joint, model.along.whitening("smooth")
    at, mean, root = conditional(found, 0.0)
    own = np.random.default_rng(3).standard_normal((4000, len(mean)))
    coef = mean + own @ root.T
    share = cells_at(joint, at).share(joint.regression.logit(coef))
    off = share @ joint.cells.total - model.interior_sizes.n_positive
    near = np.square(own).sum(axis=1) / 2 - np.square(coef).sum(axis=1) / 2
    draws = np.column_stack([coef, np.full(4000, at)])
    in_nuts, of_all = (
        np.average(off, weights=softmax(near + replace(one, beside=FLAT).log_likelihood(draws)))
        for one in (joint, model.smooth_joint)
    )
    deviation = np.sqrt(model.interior_sizes.spread(share).mean())
    # They were 1.2 and 1.4 apart.
    assert abs(in_nuts - of_all) < 0.7 * deviation


def test_the_sizes_count_for_more_the_more_rows_there_are() -> None:
    nearly = bc.Beta(2000, 3000)
    sizes = ((200, 1500), (200_000, 1_500_000))
    assert [average("less", size, nearly).smooth_joint.sized for size in sizes] == [True, False]
    assert not average("less", (200, 1500)).smooth_joint.sized


def test_rough_gaussians_of_all_nodes_are_those_of_one_after_the_other() -> None:
    model = average("less", (100, 1000))
    smooth = model.smooth_gaussian
    spread = model.rough.basis.spread(model.rough_nodes)
    guide = (smooth.gaussians.mean @ model.rough.basis.smooth.T)[:, None, :] / spread
    for node in (0, 6, 12):
        alone = model.rough_joint[node].follow(smooth.quantiles.normal, guide[:, node])
        together = model.rough_gaussians[node].gaussians
        # The search for the sizes ends where none moves by a tenth of a standard deviation, of all
        # nodes at another step than of one.
        np.testing.assert_allclose(together.mean, alone.mean, atol=0.03)
        np.testing.assert_allclose(together.root, alone.root, atol=0.03)


def test_a_start_nearby_leads_to_the_same_gaussians() -> None:
    data = problem("less", (200, 2000))
    near = CaseControlAverage.joined(data, CurveAverage(linear=0), 0.5, 0.0)
    alone = CaseControlAverage.joined(data, CurveAverage(linear=0), 0.53, 0.0)
    led = CaseControlAverage.joined(data, CurveAverage(linear=0), 0.53, 0.0, near)
    for node in (2, 6, 8):
        one, other = (
            model.rough_joint[node].sample(
                model.rough_gaussians[node], 4000, np.random.default_rng(7)
            )
            for model in (alone, led)
        )
        assert other.ess > 0.95 * one.ess
        assert other.log_evidence == pytest.approx(one.log_evidence, abs=0.03)


@pytest.mark.parametrize(("power", "share"), [(1.0, 0.25), (0.2, 0.2)])
def test_a_billion_rows_leave_a_needle_that_is_found(power, share) -> None:
    """To a power, the curve leaves the class prior a ridge beside it."""
    cells = problem("over", (20_000, 20_000)).unlabeled.cells
    rate, rng = truth("over").probability(cells.mean_score), np.random.default_rng(1)
    shares = cells.count / cells.n, cells.count * rate / (cells.count @ rate)
    unlabeled, positive = (rng.multinomial(10**9, share) for share in shares)
    made = replace(cells, count=unlabeled)
    counted = PUProblem.of(Problem({"classifier": "made"}, made, made), positive)
    average = CaseControlAverage.joined(counted, CurveAverage(linear=0), bc.Beta(20, 20), 0.5)
    model = replace(average, class_prior_power=power)
    found = model.smooth_joint.sample(model.smooth_gaussian, 4000, np.random.default_rng(3), 5.0)
    assert found.ess > share * 4000
    class_prior = model.smooth_joint.prior(found.resample(1000, np.random.default_rng(4))[:, -1])[0]
    # The mean of the cells' rates, which the positives do not tell by themselves.
    assert class_prior.mean() == pytest.approx(float(shares[0] @ rate), abs=0.01)
