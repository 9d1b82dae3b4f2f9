"""The rough description as PyMC has it, against its density and against importance sampling."""

import numpy as np
import pytest
from scipy.special import expit, logit
from scipy.stats import binom, halfnorm, norm

import bayescal as bc
from bayescal.curves.average import Average, member_model
from bayescal.curves.rough import CELLS
from bayescal.quantities.ece.priors import CurveAverage, Priors
from tests.quantities.ece.made import of_counts, problem

ROUGH = Priors(CurveAverage(smooth=0, segments=0))


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
    model = member_model(found.members, "rough")
    rough = found.rough
    rng = np.random.default_rng(1)
    values = model.initial_point()
    point = {name: 0.3 * rng.standard_normal(np.shape(value)) for name, value in values.items()}
    at = model.replace_rvs_by_values([model["roughness"], model["z"]])
    roughness, z = model.compile_fn(at, mode="FAST_COMPILE")(point)
    deviation = rough.basis.deviation(z[:3], np.asarray(roughness))
    rate = expit(logit(made.cells.mean_score) + deviation)
    expected = norm.logpdf(z).sum() + halfnorm.logpdf(roughness, scale=1.5)
    expected += binom.logpmf(made.cells.positives, made.cells.count, rate).sum()
    # Of the directions and the roughness themselves, whatever they are sampled as.
    density = model.compile_logp(jacobian=False, mode="FAST_COMPILE")(point)
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
