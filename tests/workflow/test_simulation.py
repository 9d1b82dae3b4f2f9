"""Coverage and simulation-based calibration, against binomial and uniform laws."""

import numpy as np
import pytest
import toy_quantity_0_2 as toy
from scipy.stats import binom

import bayescal as bc
from bayescal.core.errors import InputError
from bayescal.quantities import base
from bayescal.workflow.simulation import RANKED, Coverage, Sbc, coverage, sbc

TRUTH = bc.datasets.ece.truth("over")
COUNTS = bc.bin_scores(TRUTH.scores(300, seed=2), n_bins=10, strategy="quantile")
RANKED_HERE = ["tce", "label_rate"]
PRIORS = {
    "average": bc.ece.Priors(),
    "curve": bc.ece.Priors(bc.ece.SmoothCurve()),
    "jeffreys": bc.ece.Priors(label_rate=bc.ece.IndependentBins(bc.Beta(0.5, 0.5))),
    "hierarchical": bc.ece.Priors(label_rate=bc.ece.HierarchicalBins()),
}


def test_an_interval_is_that_of_the_result():
    found = coverage(bc.ece, TRUTH, 300, 1, seed=5, draws=1000)
    rng = np.random.default_rng(np.random.SeedSequence(5).spawn(1)[0])
    tree = bc.fit(bc.ece, TRUTH.scores(300, rng), method="direct", seed=5, draws=1000, chains=1)
    np.testing.assert_array_equal(bc.interval(tree, "tce").values, [found.lower[0], found.upper[0]])
    assert found.mean[0] == pytest.approx(tree["posterior"]["tce"].mean().item())
    assert found.truth == TRUTH.tce
    assert found.converged.all()


@pytest.mark.slow
def test_the_truth_is_covered_as_often_as_a_smooth_truth_should_be():
    found = coverage(bc.ece, TRUTH, 1000, 20, seed=1, draws=400)
    assert binom.cdf(found.covered.sum(), 20, 0.9) > 0.001
    assert abs(found.error.mean()) < 0.3 * found.width.mean()


def test_rows_depend_on_the_seed_alone():
    first, second = (
        coverage(bc.ece, TRUTH, 200, 3, seed=9, draws=100, priors=priors)
        for priors in (PRIORS["jeffreys"], bc.ece.Priors(PRIORS["jeffreys"].label_rate, 0))
    )
    np.testing.assert_array_equal(first.upper, second.upper)
    assert np.isnan(second.p_calibrated).all()
    assert (second.mean >= first.mean).all()


def test_properties_of_coverage():
    found = Coverage(
        0.1, np.array([0, 0.2]), np.array([0.1, 0.3]), np.array([0.05, 0.25]), *[0] * 3
    )
    assert found.covered.tolist() == [True, False]
    np.testing.assert_allclose(found.width, 0.1)
    np.testing.assert_allclose(found.error, [-0.05, 0.15])


def test_a_truth_must_know_the_quantity():
    with pytest.raises(InputError, match="the truth must know its 'mce'"):
        coverage(bc.ece, TRUTH, 100, 1, seed=0, var="mce")


@pytest.mark.mcmc
@pytest.mark.parametrize("name", PRIORS)
def test_ranks_are_uniform(name):
    found = sbc(bc.ece, COUNTS, 40, seed=3, priors=PRIORS[name], draws=400, variables=RANKED_HERE)
    p_values = found.p_values(bins=5)
    assert list(p_values) == ["tce", *(f"label_rate[{i}]" for i in range(10))]
    assert min(p_values.values()) > 0.001 / len(p_values)
    assert (found.divergences == 0).all()
    assert (found.ess_min > 200).all()


@pytest.mark.slow
def test_groups_have_ranks_of_their_own():
    rng = np.random.default_rng(6)
    score, label = TRUTH.sample(100, rng)
    data = bc.Scores(y_true=label, y_prob=score, group=rng.choice(["a", "b"], 100, p=[0.8, 0.2]))
    options = {"priors": PRIORS["curve"], "n_bins": 3, "variables": RANKED_HERE}
    found = sbc(bc.ece, data, 4, seed=3, draws=200, **options)
    names = ["tce[0]", "tce[1]", *(f"label_rate[{i}]" for i in range(6))]
    assert list(found.ranks) == names
    assert all(ranks.min() >= 0 and ranks.max() <= RANKED for ranks in found.ranks.values())
    assert (found.ess_min > 50).all()


@pytest.mark.slow
def test_ranks_see_a_prior_that_is_not_the_one_fitted(monkeypatch):
    def larger(case, rng):
        again, values = simulate(case, rng)
        return again, {name: value * 1.3 for name, value in values.items()}

    case = type(bc.ece.plan(COUNTS, bc.ece.Priors()).cases[0])
    simulate = case.simulate
    monkeypatch.setattr(case, "simulate", larger)
    found = sbc(bc.ece, COUNTS, 40, seed=3, draws=200, variables=["tce"])
    assert found.p_values(bins=10)["tce"] < 1e-6


def test_all_that_is_simulated_is_ranked_unless_variables_are_given():
    found = sbc(bc.ece, COUNTS, 2, seed=3, draws=100)
    assert {"tce", "ece", "mce"} <= set(found.ranks)


@pytest.mark.slow
def test_coverage_of_several_classifiers_at_once():
    """The accuracies of a conjugate model: its interval has the law of the binomial."""
    base.adapted.cache_clear()
    with pytest.warns(DeprecationWarning, match="VARIABLES"):
        found = coverage(toy, Guesses(), 60, 40, seed=7, draws=2000)
    assert found.covered.shape == (40, 2)
    for covered in found.covered.T:
        assert binom.cdf(covered.sum(), 40, 0.9) > 0.0005
    # 40 means of 60 rows: four standard errors of the share.
    np.testing.assert_allclose(found.mean.mean(axis=0), [0.8, 0.6], atol=4 * 0.5 / np.sqrt(2400))
    assert np.isnan(found.p_calibrated).all()


class Guesses:
    """Two classifiers that are right with known probabilities."""

    accuracy = (0.8, 0.6)

    def scores(self, n, rng):
        label = rng.integers(0, 2, n)
        right = rng.random((2, n)) < np.array(self.accuracy)[:, None]
        prob = np.where(right, label, 1 - label) * 0.8 + 0.1
        return bc.Scores.stack({"a": prob[0], "b": prob[1]}, y_true=label)


@pytest.mark.slow
def test_coverage_of_rows_with_bounds():
    """An imprecise Dirichlet model of bins that hold a step: its bounds cover as often or more."""
    truth = bc.datasets.credal.truth("calibrated")
    rows = np.array([0.25, 0.75])

    class AtRows:
        prob = truth.probability(rows)

    found = coverage(
        "credal",
        AtRows(),
        400,
        10,
        seed=5,
        priors=bc.credal.Priors(bc.credal.ImpreciseDirichlet(bins=10)),
        sample=lambda n, rng: truth.split(n, rows, rng),
        draws=400,
    )
    assert found.covered.shape == (10, 2)
    assert (found.lower < found.upper).all()
    assert found.covered.mean() > 0.6


def test_p_values_are_those_of_the_chi_square_test():
    ranks = np.arange(RANKED + 1)
    flat = Sbc({"x": ranks, "low": ranks // 2}, *[np.zeros(100)] * 3)
    assert flat.p_values()["x"] == pytest.approx(1.0)
    assert flat.p_values()["low"] < 1e-10
    with pytest.raises(InputError, match="bins must divide 100; got 7"):
        flat.p_values(bins=7)


@pytest.mark.mcmc
def test_nuts_ranks_and_health():
    found = sbc(bc.ece, COUNTS, 2, seed=3, method="nuts", variables=["tce", "mce"])
    assert list(found.ranks) == ["tce", "mce"]
    assert (found.divergences == 0).all()
    assert (found.rhat_max <= 1.01).all()
    assert (found.ess_min > 400).all()
