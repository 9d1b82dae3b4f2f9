"""What is fitted, predicted, refused and simulated, and what depends on the class prior."""

import json

import arviz as az
import numpy as np
import pytest
import xarray as xr
from matplotlib import pyplot as plt

import bayescal as bc
from bayescal.quantities.pu_ece.posterior import plan
from bayescal.quantities.pu_ece.simulator import truth
from bayescal.workflow.simulation import sbc
from tests.interpreted import PLAIN

# One description of the curve: the average of three takes five times as long.
CURVE = bc.pu_ece.SmoothCurve()
PRIORS = bc.pu_ece.Priors(bc.Beta(20, 20), CURVE)


def data(seed=1, size=(100, 600)):
    return truth("over").scores(size, seed)


@pytest.fixture(scope="module")
def direct_fit():
    return bc.fit(bc.pu_ece, data(), priors=PRIORS, seed=5, method="direct")


def test_priors_must_be_given() -> None:
    with pytest.raises(bc.InputError, match="class_prior must be given"):
        bc.fit(bc.pu_ece, data(), seed=1)


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"class_prior": 1.2}, r"class_prior must be a number in \[1e-13, 1\); got 1.2"),
        ({"class_prior": 1e-300}, r"class_prior must be a number in \[1e-13, 1\); got 1e-300"),
        ({"class_prior": bc.Beta(1, 1e20)}, "not have all its mass within 1e-13 of 0 or 1"),
        ({"class_prior": bc.Normal(0, 1)}, "class_prior must be a number in"),
        ({"class_prior": 0.5, "calibrated": 1.0}, "calibrated must be a number in"),
        ({"class_prior": 0.5, "label_rate": "curve"}, "label_rate must be CurveAverage"),
    ],
)
def test_bad_priors_are_refused(given, words) -> None:
    with pytest.raises(bc.InputError, match=words):
        bc.pu_ece.Priors(**given)


@pytest.mark.parametrize("strategy", ["uniform", "quantile"])
@pytest.mark.parametrize("rate", [bc.pu_ece.SmoothCurve(), bc.pu_ece.MixtureBins()])
def test_the_optimal_number_of_bins_is_that_of_the_mean_class_prior(strategy, rate) -> None:
    binning = bc.Binning(n_bins="optimal", strategy=strategy)
    made = plan(data(), bc.pu_ece.Priors(bc.Beta(20, 20), rate), binning=binning)
    # (.25 / 100 + 1 / 600)^(-1/3) = 6.21
    assert made.attrs["n_bins"] == made.cases[0].problem.unlabeled.bins.n_bins == 7


def test_a_bin_that_holds_positives_only_counts_in_the_error() -> None:
    pu = bc.PUScores(positive=[0.1, 0.5, 0.52, 0.9], unlabeled=[0.1, 0.2, 0.3, 0.8, 0.9])
    priors = bc.pu_ece.Priors(0.4, bc.pu_ece.MixtureBins())
    case = plan(pu, priors, binning=bc.Binning(n_bins=3, strategy="uniform")).cases[0]
    r, t = np.array([0.2, 0.5, 0.3]), np.array([0.5, 0.2, 0.3])
    names = ("positive_mass", "negative_mass", "class_prior_normal")
    found = case.quantities(dict(zip(names, (r, t, np.zeros(())), strict=True)))
    # |P(Y = 1, bin) - E[f; bin]|, of the scores' means .2 and .85, and the middle of the other.
    gaps = 0.4 * r - (0.4 * r + 0.6 * t) * [0.2, 0.5, 0.85]
    assert found["ece"] == pytest.approx(np.abs(gaps).sum())
    assert found["mce"] == pytest.approx((np.abs(gaps) / (0.4 * r + 0.6 * t)).max())


# A known class prior leaves few effective draws, of which the result warns; here bins matter.
@pytest.mark.filterwarnings("ignore:Under 0:bayescal.ConvergenceWarning")
def test_priors_may_differ_in_their_optimal_number_of_bins() -> None:
    priors = {str(pi): bc.pu_ece.Priors(pi, CURVE) for pi in (0.4, 0.6)}
    grid = bc.prior_sensitivity(
        bc.pu_ece, data(), priors, n_bins="optimal", method="direct", seed=1
    )
    # (.16 / 100 + 1 / 600)^(-1/3) = 6.75 and (.36 / 100 + 1 / 600)^(-1/3) = 5.75
    assert json.loads(grid.attrs["n_bins"]) == {"0.4": 7, "0.6": 6}
    assert np.isfinite(grid["posterior"]["ece"]).all()


@pytest.mark.parametrize(
    ("values", "words"),
    [
        (np.linspace(0, 0.5, 500), r"must lie in \[1e-13, 1 - 1e-13\]; got 0.0 at draw 0"),
        ([0.2, 0.3], "at least 100; got 2"),
    ],
)
def test_bad_draws_of_a_class_prior_are_refused(values, words) -> None:
    with pytest.raises(bc.InputError, match=words):
        bc.pu_ece.PriorDraws(values)


@pytest.mark.mcmc
def test_other_data_and_several_classifiers_are_distinguished() -> None:
    labelled = bc.Scores(y_true=[0, 1], y_prob=[0.2, 0.7])
    with pytest.raises(bc.InputError, match="pu_ece takes PUScores"):
        bc.fit(bc.pu_ece, labelled, priors=PRIORS, seed=1)
    one = data()
    both = bc.PUScores.stack(
        {
            name: (one.positive[0] ** power, one.unlabeled[0] ** power)
            for name, power in (("a", 1), ("b", 2))
        }
    )
    with pytest.raises(bc.InputError, match="a model is that of one classifier; got 2"):
        bc.pu_ece.build_model(both, PRIORS)
    fit = bc.fit(bc.pu_ece, both, priors=PRIORS, seed=1, method="direct", draws=250)
    assert fit["sensitivity"]["tce_mean"].dims == ("classifier", "class_prior_point")


@pytest.mark.mcmc
def test_the_result_names_its_priors_and_is_unchanged_by_a_file(direct_fit, tmp_path) -> None:
    fit = direct_fit
    assert json.loads(fit.attrs["priors"])["class_prior"] == {"Beta": {"alpha": 20, "beta": 20}}
    assert "Beta(20, 20)" in fit.attrs["prior_text"]
    path = tmp_path / "pu.nc"
    bc.save(fit, path)
    assert bc.load(path)["sensitivity"].dataset.equals(fit["sensitivity"].dataset)


@pytest.mark.mcmc
def test_the_class_prior_curve_stays_in_its_envelope_and_agrees_with_a_refit(direct_fit) -> None:
    found = direct_fit["sensitivity"].dataset
    assert (found["ece"] <= found["envelope_upper"] + 1e-12).all()
    assert (found["ece"] >= found["envelope_lower"] - 1e-12).all()
    place = int(np.abs(found["class_prior"].to_numpy() - 0.4).argmin())
    pi = float(found["class_prior"][place])
    plug_in = bc.pu_ece.estimate(data(), class_prior=pi).ece
    assert found["ece"][place] == pytest.approx(float(plug_in))
    end = float(found["class_prior"][0])
    priors = bc.pu_ece.Priors(end, CURVE)
    again = bc.fit(bc.pu_ece, data(), priors=priors, seed=1, method="direct")
    # 400 draws: a mean within 4 standard errors of the refit's.
    tce = again["posterior"]["tce"]
    assert found["tce_mean"][0] == pytest.approx(tce.mean().item(), abs=4 * tce.std().item() / 20)


@pytest.mark.mcmc
@pytest.mark.usefixtures("one_class_prior")
def test_a_classifier_far_from_calibrated_is_not_drawn_to_calibration() -> None:
    """Of a naive Bayes whose scores are mostly 0 and 1: a third of those at 1 are events."""
    rng = np.random.default_rng(0)
    values, share = [0.0, 1.0, 0.98, 0.99, np.nan], [0.67, 0.26, 0.005, 0.005, 0.06]
    score = rng.choice(values, 40_000, p=share)
    score = np.where(np.isnan(score), rng.integers(1, 98, len(score)) / 100, score)
    rate = np.select([score == 0, score == 1, score >= 0.98], [0.009, 0.36, 0.2], 0.0)
    event = rng.random(len(score)) < rate
    rows = bc.PUScores(positive=rng.choice(score[event], 1000), unlabeled=score[:4000])
    mean, spread = event.mean(), 0.11
    number = mean * (1 - mean) / spread**2 - 1
    priors = bc.pu_ece.Priors(bc.Beta(mean * number, (1 - mean) * number))
    result = bc.fit(bc.pu_ece, rows, priors=priors, method="direct", draws=400, seed=0)
    low, high = np.quantile(result.posterior["tce"], [0.05, 0.95])
    assert low < np.abs(rate - score).mean() < high


@pytest.mark.usefixtures("one_class_prior")
def test_ranks_of_the_truth_are_uniform() -> None:
    found = sbc(
        bc.pu_ece,
        data(size=(80, 400)),
        16,
        seed=20,
        priors=PRIORS,
        variables=["tce", "class_prior", "label_rate"],
        n_bins=3,
        draws=300,
    )
    # benchmarks/pu_sbc.py has more replications, and pu_coverage.py the coverage of intervals.
    p_values = found.p_values(bins=4)
    # Five quantities at a joint error of 1%.
    assert min(p_values.values()) > 0.01 / len(p_values)


def test_mixture_bins_simulate_themselves() -> None:
    priors = bc.pu_ece.Priors(bc.Beta(20, 20), bc.pu_ece.MixtureBins())
    (case,) = bc.pu_ece.plan(data(), priors, binning=bc.Binning(3)).cases
    again, values = case.simulate(np.random.default_rng(1))
    assert again.problem.n_unlabeled == 600
    assert again.problem.n_positive == 100
    assert 0 < values["class_prior"] < 1


@pytest.mark.mcmc
def test_the_model_is_one_of_pymc() -> None:
    import pymc as pm

    model = bc.pu_ece.build_model(data(), PRIORS, n_bins=3)
    assert {v.name for v in model.observed_RVs} == {"events"}
    density = model.compile_logp(vars=model.observed_RVs, mode=PLAIN)
    assert np.isfinite(density(model.initial_point()))
    with model:
        before = pm.sample_prior_predictive(20, random_seed=1, compile_kwargs={"mode": PLAIN})
    assert before["prior"]["class_prior"].shape == (1, 20)


def check_replicated(tree: xr.DataTree) -> None:
    replicated = tree["posterior_predictive"]["events"]
    observed = tree["observed_data"]["events"]
    assert replicated.dims == ("chain", "draw", "cell")
    assert replicated.dtype == np.int32
    assert replicated.sizes["cell"] == observed.sizes["cell"]
    assert (replicated >= 0).all()
    assert (replicated <= tree["constant_data"]["cell_count"]).all()
    az.plot_ppc_dist(tree, num_samples=20, kind="ecdf")
    plt.close("all")


@pytest.mark.usefixtures("one_class_prior")
def test_replicated_positives_are_counts_that_arviz_compares() -> None:
    data = truth("less").scores((300, 2000), seed=1)
    priors = bc.pu_ece.Priors(bc.Beta(50, 50))
    check_replicated(
        bc.fit(bc.pu_ece, data, priors=priors, n_bins=6, seed=20, method="direct", draws=100)
    )
