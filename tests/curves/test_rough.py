"""The rough description against its covariance, and against sums over fine grids."""

import numpy as np
import pytest
from scipy.special import expit, logit
from scipy.stats import binom, halfnorm, norm

import bayescal as bc
from bayescal.curves.average import Average
from bayescal.curves.priors import SmoothCurve
from bayescal.curves.rough import CELLS, Rough, RoughBasis, at_other_spread, rough_inputs
from bayescal.curves.smooth import curve_basis
from bayescal.inference.direct import BinomialCells, Gaussian, variational_gaussian
from bayescal.quantities.ece.priors import CurveAverage, Priors
from tests.interpreted import PLAIN
from tests.quantities.ece.made import of_counts, problem

LENGTH, SCALE = 0.1, 1.5
SCORE = np.array([0.05, 0.1, 0.11, 0.4, 0.41, 0.42, 0.7, 0.97])


def basis_of(score, length=LENGTH):
    score = np.asarray(score)
    return RoughBasis.of(
        curve_basis(score, np.full(len(score), 10), SmoothCurve(), 32), score, length
    )


def regression_of(score, count, positives):
    score = np.asarray(score)
    cells = BinomialCells(np.array(count), np.array(positives))
    return Rough(basis_of(score), logit(score), cells, SCALE)


def smooth_covariance(basis, first, second):
    return basis.basis.design(first) @ basis.basis.design(second).T


def rough_correlation(basis, first, second):
    """Half exponential, half of each score alone, as documented."""
    places = [logit(score) / basis.basis.spread for score in (first, second)]
    apart = np.abs(places[0][:, None] - places[1])
    return 0.5 * np.exp(-apart / basis.length) + 0.5 * (apart == 0)


@pytest.mark.parametrize("roughness", [1e-3, 0.5, 2.0])
def test_the_directions_have_the_covariance_of_both_parts(roughness):
    basis = basis_of(SCORE)
    root = basis.vectors * basis.spread(np.asarray(roughness))
    expected = smooth_covariance(basis, SCORE, SCORE)
    expected = expected + roughness**2 * rough_correlation(basis, SCORE, SCORE)
    # The jitter of the factorisation, in units of the rough part's variance.
    np.testing.assert_allclose(root @ root.T, expected, atol=2e-8 * (1 + roughness**2))


def test_the_smooth_part_is_that_of_the_smooth_curve():
    basis, curve = basis_of(SCORE), SmoothCurve()
    places = logit(SCORE) / basis.basis.spread
    exact = 1 + np.outer(logit(SCORE), logit(SCORE)) + curve.kernel(places, places)
    found = basis.vectors * np.sqrt(basis.variance)
    # Directions with less than a thousandth of the largest one's variance are left out.
    np.testing.assert_allclose(found @ found.T, curve.scale**2 * exact, atol=0.01)


def test_between_cells_the_curve_is_the_conditional_mean():
    basis, rng = basis_of(SCORE), np.random.default_rng(2)
    between = np.array([0.02, 0.105, 0.3, 0.5, 0.99])
    for roughness in (0.2, 1.5):
        z = rng.standard_normal(len(SCORE))
        within, across = (
            smooth_covariance(basis, score, SCORE)
            + roughness**2 * rough_correlation(basis, score, SCORE)
            for score in (SCORE, between)
        )
        expected = across @ np.linalg.solve(within, basis.deviation(z, np.asarray(roughness)))
        found = basis.deviation_at(z, np.asarray(roughness), between)
        np.testing.assert_allclose(found, expected, atol=1e-5)


def test_draws_at_a_roughness_have_its_covariance():
    basis, draws = basis_of(SCORE), 100_000
    z = np.random.default_rng(3).standard_normal((draws, len(SCORE)))
    found = np.cov(basis.deviation(z, np.full(draws, 0.7)).T)
    expected = smooth_covariance(basis, SCORE, SCORE)
    expected = expected + 0.49 * rough_correlation(basis, SCORE, SCORE)
    # Four standard errors of a variance, relative to the largest.
    scale = np.sqrt(np.outer(np.diag(expected), np.diag(expected)))
    assert (np.abs(found - expected) < 4 * np.sqrt(2 / draws) * scale).all()


def by_summing(rough):
    """Log evidence and mean roughness by sums over grids of the roughness and the deviations."""
    held = np.concatenate([np.geomspace(1e-4, 0.1, 25), np.linspace(0.13, 9, 120)])
    width = np.gradient(held)
    steps = np.linspace(-7, 7, 101)
    cells = len(rough.offset)
    standard = np.stack(np.meshgrid(*[steps] * cells), axis=-1).reshape(-1, cells)
    log_weight = norm.logpdf(standard).sum(axis=1) + cells * np.log(steps[1] - steps[0])
    evidence = np.array(
        [np.exp(rough.at(r).log_likelihood(standard) + log_weight).sum() for r in held]
    )
    density = evidence * halfnorm.pdf(held, scale=rough.scale) * width
    return np.log(density.sum()), (density @ held) / density.sum()


@pytest.mark.parametrize(
    ("score", "count", "positives"),
    [
        ([0.3], [20], [13]),
        ([0.6], [2], [0]),
        ([0.3, 0.32], [12, 15], [11, 1]),
        ([0.2, 0.7], [8, 8], [2, 6]),
        ([0.2, 0.7], [6.5, 6.5], [0.5, 6.5]),
    ],
)
def test_importance_sampling_has_the_evidence_and_roughness_of_a_sum(score, count, positives):
    rough, draws = regression_of(score, count, positives), 40_000
    expected, mean = by_summing(rough)
    weighted, roughness = rough.posterior(draws, np.random.default_rng(1))
    # The nine nodes leave out the far ends of the roughness.
    assert weighted.log_evidence == pytest.approx(expected, abs=0.03)
    drawn = roughness[weighted.resampled_places(draws, np.random.default_rng(2))]
    assert drawn.mean() == pytest.approx(mean, rel=0.05)


def test_roughness_follows_the_scatter():
    """Cells that scatter far from the curve are rough, and cells on it are not."""
    score, rows = np.linspace(0.1, 0.9, 20), np.full(20, 1000)
    even = regression_of(score, rows, np.round(rows * score))
    apart = logit(score) + np.tile([1.5, -1.5], 10)
    jagged = regression_of(score, rows, np.round(rows / (1 + np.exp(-apart))))
    assert even.likely_roughness() < 0.1
    assert 1 < jagged.likely_roughness() < 3


def test_gaussians_are_those_found_without_a_neighbour():
    rough = regression_of([0.2, 0.3, 0.5, 0.7], [20, 9, 30, 12], [3, 6, 11, 12])
    # Farther out the quadrature is too coarse for one answer, and nothing weighs.
    nodes = np.geomspace(0.05, 4, 9)
    found = rough.gaussians(nodes)
    for place, roughness in enumerate(nodes):
        alone = variational_gaussian(rough.at(roughness))
        # Both end at a step of a thousandth of a standard deviation.
        np.testing.assert_allclose(found[place].mean, alone.mean, atol=3e-3)
        np.testing.assert_allclose(found[place].root, alone.root, atol=3e-3)


def test_nothing_depends_on_the_padding():
    rough = regression_of([0.2, 0.5, 0.7], [9, 9, 9], [3, 2, 8])
    likely = rough.likely_roughness()
    found = rough_inputs(rough, likely, variational_gaussian(rough.at(likely)), 25)
    z = np.random.default_rng(1).standard_normal(25)
    spread = np.sqrt(found["variance"] + 0.6**2)
    padded = found["offset"] + found["vectors"] @ (spread * z)
    expected = rough.offset + rough.basis.deviation(z[:3], np.asarray(0.6))
    np.testing.assert_allclose(padded[:3], expected)
    np.testing.assert_array_equal(padded[3:], 0)
    # What is padded is whitened by nothing.
    np.testing.assert_array_equal(found["root"][3:, 3:], np.eye(22))
    np.testing.assert_array_equal(found["root"][:3, 3:], 0)
    np.testing.assert_array_equal(found["centre"][3:], 0)


ROUGH = Priors(CurveAverage(smooth=0, segments=0, linear=0))


def average(made):
    return Average.of(made, CurveAverage(), 0.5)


def scattered(n=3000, leaves=18):
    """Leaves that are off by amounts of their own, in logits."""
    rng = np.random.default_rng(2)
    score = ((np.arange(leaves) + 0.5) / leaves).round(3)
    rate = expit(logit(score) + rng.normal(0, 0.8, leaves))
    leaf = rng.integers(0, leaves, n)
    return bc.Scores(y_true=(rng.random(n) < rate[leaf]).astype(int), y_prob=score[leaf])


def test_density_is_that_of_standard_directions_and_binomial_counts():
    made = of_counts([20, 30, 10], [3, 18, 9], [0.2, 0.5, 0.7])
    found = average(made)
    model = found.build("rough")
    rough = found.rough
    rng = np.random.default_rng(1)
    values = model.initial_point()
    point = {name: 0.3 * rng.standard_normal(np.shape(value)) for name, value in values.items()}
    at = model.replace_rvs_by_values([model["roughness"], model["z"]])
    roughness, z = model.compile_fn(at, mode=PLAIN)(point)
    deviation = rough.basis.deviation(z[:3], np.asarray(roughness))
    rate = expit(logit(made.cells.mean_score) + deviation)
    expected = norm.logpdf(z).sum() + halfnorm.logpdf(roughness, scale=1.5)
    expected += binom.logpmf(made.cells.positives, made.cells.count, rate).sum()
    # Of the directions and the roughness themselves, whatever they are sampled as.
    density = model.compile_logp(jacobian=False, mode=PLAIN)(point)
    assert float(density) == pytest.approx(expected, rel=1e-8)


def test_cells_are_padded_to_the_next_doubling():
    few, many = average(problem(n=20)), average(problem(n=3000))
    keys = [found.members["rough"].compile_key for found in (few, many)]
    assert keys[0] == ("rough", "i", CELLS)
    assert keys[1][2] in (CELLS * 2, CELLS * 4)
    for found, (*_, size) in zip((few, many), keys, strict=True):
        for name, values in found.members["rough"].inputs().items():
            assert set(values.shape) <= {size}, name


def test_effective_rows_have_a_model_of_their_own():
    scores = bc.Scores(y_true=[0, 1, 1], y_prob=[0.2, 0.6, 0.7], sample_weight=[1, 0.5, 0.7])
    (case,) = bc.ece.plan(scores, Priors()).cases
    for model in case.model.members.values():
        assert model.compile_key[1] == "f"


@pytest.mark.mcmc
@pytest.mark.parametrize("name", ["leaves", "over"])
def test_nuts_and_importance_sampling_have_one_posterior(name):
    scores = scattered() if name == "leaves" else bc.datasets.ece.truth("over").scores(500, seed=1)
    direct, nuts = (
        bc.fit(bc.ece, scores, priors=ROUGH, method=method, draws=1000, seed=3)
        for method in ("direct", "nuts")
    )
    assert nuts["diagnostics"]["divergences"].item() == 0
    assert nuts["diagnostics"]["converged"].item()
    for variable in ("tce", "ece"):
        ours, theirs = (tree["posterior"][variable].values for tree in (direct, nuts))
        # Each rests on at least 400 effective draws.
        error = 4 * ours.std() * np.sqrt(2 / 400)
        assert theirs.mean() == pytest.approx(ours.mean(), abs=error)
        assert theirs.std() == pytest.approx(ours.std(), rel=0.25)


def test_what_is_known_of_a_direction_gives_its_coefficient_at_another_spread() -> None:
    """Deviations seen with normal noise, in closed form."""
    seen, precision = np.array([-1.0, 0.0, 2.0]), np.array([0.0, 3.0, 0.2])

    def posterior(spread):
        variance = 1 / (1 + precision * spread**2)
        return Gaussian(variance * spread * precision * seen, np.diag(np.sqrt(variance)))

    before, after = np.array([0.1, 1.0, 3.0]), np.array([0.5, 0.3, 3.0])
    found, expected = at_other_spread(posterior(before), after / before), posterior(after)
    np.testing.assert_allclose(found.mean, expected.mean, atol=1e-14)
    np.testing.assert_allclose(found.root, expected.root, atol=1e-14)
