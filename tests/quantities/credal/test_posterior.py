"""Cases, what a result holds of them, and simulated ones."""

import numpy as np
import pytest
from scipy.stats import beta

import bayescal as bc
from bayescal.quantities.credal.data import FEWEST, MOST, held_rows
from bayescal.workflow.simulation import sbc
from tests.quantities.credal.made import binary, multiclass


def test_all_of_few_rows_are_held():
    assert held_rows(binary(target=MOST)).tolist() == list(range(MOST))


@pytest.mark.parametrize(
    ("data", "number"),
    [
        (binary(target=5000), MOST),
        (multiclass(target=900), MOST // 3),
    ],
)
def test_of_many_rows_evenly_spaced_ones_are_held(data, number):
    rows = held_rows(data)
    score = data.target.y_prob[0]
    score = score if score.ndim == 1 else score[:, -1]
    assert len(rows) == number >= FEWEST
    assert (np.diff(rows) > 0).all()
    assert {score.argmin(), score.argmax()} <= set(rows.tolist())


def test_results_say_what_was_fitted():
    priors = bc.credal.Priors()
    attrs = bc.credal.plan(multiclass(), priors).attrs
    assert (attrs["n_labeled"], attrs["average_power"]) == (90, 0.35)
    assert attrs["n_target"] == attrs["n_held"] == 6
    assert attrs["multiclass"] == "one-vs-rest"
    assert bc.credal.plan(binary(), priors).attrs["multiclass"] == "binary"


AVERAGE = bc.credal.Priors()
RISING = bc.credal.Priors(bc.credal.MonotoneCurve())
STEPS = bc.credal.Priors(bc.credal.IncrementIsotonic())
IMPRECISE = bc.credal.Priors(bc.credal.ImpreciseDirichlet())


def fit(data, priors=STEPS, draws=200):
    return bc.fit(bc.credal, data, priors=priors, seed=20, method="direct", draws=draws)


def split(label, score, target=(0.2, 0.8), **names):
    return bc.CalibrationSplit(
        calibration=bc.Scores(y_true=label, y_prob=score, **names), target=np.asarray(target)
    )


def check(result):
    """Bounds enclose the probability, and everything is a probability."""
    posterior = result["posterior"]
    parts = [posterior[name].to_numpy() for name in ("prob_lower", "prob", "prob_upper")]
    assert all(np.isfinite(part).all() for part in parts)
    assert (parts[0] >= 0).all()
    assert (parts[0] <= parts[1]).all()
    assert (parts[1] <= parts[2]).all()
    assert (parts[2] <= 1).all()


def weighted(weight, n=90):
    data = binary(n)
    (score,), label = data.calibration.y_prob, data.calibration.y_true
    return split(label, score, target=score[:40], sample_weight=weight)


@pytest.mark.parametrize("priors", [AVERAGE, RISING, STEPS, IMPRECISE])
def test_equal_weights_change_nothing(priors):
    plain, doubled = (fit(weighted(weight), priors) for weight in (None, np.full(90, 2.0)))
    for name in ("prob", "prob_lower", "prob_upper", "decision"):
        np.testing.assert_array_equal(plain["posterior"][name], doubled["posterior"][name])
    np.testing.assert_array_equal(plain["point_estimate"]["p0"], doubled["point_estimate"]["p0"])
    assert doubled.attrs["effective_n"] == 90
    assert "effective_n" not in plain.attrs


def test_weighted_rows_of_a_bin_have_a_beta_posterior():
    weight = np.random.default_rng(3).exponential(size=90)
    data = weighted(weight)
    prior = bc.credal.Priors(bc.credal.ImpreciseDirichlet(bins=1))
    prob = fit(data, prior, draws=2000)["posterior"]["prob"].isel(obs=0)
    # Fewer than 100 rows are neighbours of each other: all have the same rows per weight.
    n = weight.sum() ** 2 / (weight**2).sum()
    k = n * np.average(data.calibration.y_true, weights=weight)
    expected = beta(k + 0.5, n - k + 0.5)
    # Four standard errors of 8,000 independent draws.
    assert float(prob.mean()) == pytest.approx(expected.mean(), abs=4 * expected.std() / 8000**0.5)
    assert float(prob.std()) == pytest.approx(expected.std(), rel=4 / 16000**0.5)


@pytest.mark.parametrize("priors", [RISING, STEPS, IMPRECISE])
def test_nuts_takes_no_effective_counts(priors):
    with pytest.raises(bc.InputError, match="whole counts of rows; got effective ones"):
        bc.credal.build_model(weighted(np.arange(1.0, 91)), priors)


def test_the_theory_says_that_weights_are_not_equal():
    found = fit(weighted(np.arange(1.0, 91)))
    for name, bound in found["bounds"].data_vars.items():
        assert "equal weights" in bound.attrs["assumption"], name


@pytest.mark.parametrize("priors", [AVERAGE, STEPS, IMPRECISE])
@pytest.mark.parametrize(
    "data",
    [
        split([1], [0.4], classes=[0, 1]),
        split([1] * 30, np.linspace(0.1, 0.9, 30), classes=[0, 1]),
        split([0] * 30, np.linspace(0.1, 0.9, 30), classes=[0, 1]),
        split([0, 1] * 20, np.full(40, 0.5)),
        split([0, 1] * 20, np.repeat([0.0, 1.0], 20), target=(0.0, 0.5, 1.0)),
        binary(100_000, 300),
    ],
    ids=["one row", "all of label 1", "all of label 0", "all tied", "scores 0 and 1", "many rows"],
)
def test_any_number_of_rows_gives_bounds(priors, data):
    check(fit(data, priors, draws=1000))


@pytest.mark.parametrize("priors", [AVERAGE, STEPS, IMPRECISE])
def test_a_class_never_seen_has_bounds(priors):
    scores = np.random.default_rng(1).dirichlet(np.ones(3), 40)
    data = split([0, 1] * 20, scores, scores[:4], classes=[0, 1, 2])
    result = fit(data, priors, draws=1000)
    check(result)
    # The rows show that the class is rare: its upper bound lies below that of the others' mean.
    upper = result["posterior"]["prob_upper"].mean(("chain", "draw", "obs")).to_numpy().squeeze()
    assert upper[2] < upper[:2].min()


def test_one_compiled_model_serves_every_number_of_rows():
    for priors in (RISING, STEPS, IMPRECISE):
        few, many = (bc.credal.plan(binary(n), priors).cases[0] for n in (2, 100_000))
        assert few.model.compile_key == many.model.compile_key
        shapes = [
            {name: value.shape for name, value in case.model.inputs().items()}
            for case in (few, many)
        ]
        assert shapes[0] == shapes[1]
    several = bc.credal.plan(multiclass(), RISING).cases[0]
    assert several.model.compile_key == ("monotone", 3)


def test_results_hold_dims_and_the_papers_estimates():
    for data, dims in ((binary(), ("obs",)), (multiclass(), ("obs", "label_class"))):
        result = fit(data)
        for name in ("prob", "prob_lower", "prob_upper"):
            assert set(dims) <= set(result["posterior"][name].dims)
        expected = bc.credal.estimate(data)
        found = result["point_estimate"]
        np.testing.assert_allclose(found["p0"].to_numpy().squeeze(), expected.p0)
        np.testing.assert_allclose(found["p1"].to_numpy().squeeze(), expected.p1)


def test_results_do_not_grow_with_the_rows():
    sizes = [fit(binary(50, target)).nbytes for target in (200, 20_000)]
    assert sizes[1] < 1.1 * sizes[0]


@pytest.mark.parametrize("data", [binary(), multiclass()], ids=["binary", "three classes"])
def test_replicated_counts_are_binomial_given_the_rates(data):
    result = fit(data, IMPRECISE)
    replicated, observed = (
        result["posterior_predictive"]["events"],
        result["observed_data"]["events"],
    )
    count, rate = result["constant_data"]["cell_count"], result["posterior"]["rate"]
    assert set(replicated.dims) == {"chain", "draw", *observed.dims}
    assert ((replicated >= 0) & (replicated <= count)).all()
    gap = (replicated - count * rate).mean(("chain", "draw"))
    # Of 800 independent draws; five standard errors for some tens of cells.
    error = np.sqrt((count * rate * (1 - rate)).mean(("chain", "draw")) / 800)
    assert (np.abs(gap) <= 5 * error + 1e-12).all()


@pytest.mark.parametrize("data", [binary(300), multiclass()], ids=["binary", "three classes"])
def test_the_curve_is_kept_by_cell_calibrated_draws_among_them(data):
    result = fit(data, AVERAGE)
    curve, constant = result["curve"].dataset, result["constant_data"].dataset
    off = abs(curve["rate"] - constant["cell_score"]).where(constant["cell_count"] > 0)
    assert bool(((off.max("cell") < 1e-6) == (curve["component"] == 0)).all())
    assert 0 < float((curve["component"] == 0).mean()) < 1
    given = curve["given_rate"]
    assert bool((abs(given - constant["cell_score"]).max("cell") > 1e-6).all())
    share = constant["cell_count"] / constant["cell_count"].sum("cell")
    gap = (curve["mass"].mean(("chain", "draw")) - share) / np.sqrt(share / 800 / 60)
    # A Dirichlet's variance is below share / rows; five standard errors of 800 draws.
    assert float(abs(gap).max()) < 5


def test_measures_are_of_each_class():
    result = fit(multiclass(), IMPRECISE)
    curve, score = result["curve"].dataset, result["constant_data"]["cell_score"]
    expected = (curve["mass"] * (curve["rate"] - score)).sum("cell")
    found = bc.measure(result, "mean_gap")
    assert found.dims == ("chain", "draw", "label_class")
    np.testing.assert_allclose(found, expected, atol=1e-6)
    assert bc.interval(result, "brier").sizes == {"label_class": 3, "ci_bound": 2}


def test_rates_of_bins_are_a_curve_that_is_never_calibrated():
    result = fit(binary(), IMPRECISE)
    curve = result["curve"].dataset
    assert bool((curve["component"] == 1).all())
    np.testing.assert_array_equal(curve["rate"], result["posterior"]["rate"].astype("float32"))
    np.testing.assert_array_equal(curve["rate"], curve["given_rate"])


RATES = [bc.credal.IncrementIsotonic(bins=6), bc.credal.ImpreciseDirichlet(bins=4)]


@pytest.mark.parametrize("rate", [bc.credal.MonotoneCurve(), *RATES])
@pytest.mark.parametrize("make", [binary, multiclass])
def test_labels_give_way_and_scores_stay(rate, make):
    case = bc.credal.plan(make(), bc.credal.Priors(rate)).cases[0]
    again, values = case.simulate(np.random.default_rng(1))
    assert again.problem.count is case.problem.count
    assert (again.problem.positives <= case.problem.count).all()
    assert values["prob"].shape == case.problem.target_rank.shape
    assert set(values) == {"prob", *case.model.variables}


@pytest.mark.parametrize("rate", RATES)
def test_ranks_are_uniform(rate):
    found = sbc(
        bc.credal,
        binary(40, np.array([0.2, 0.7])),
        60,
        seed=20,
        priors=bc.credal.Priors(rate),
        variables=["prob"],
        draws=200,
    )
    # Two variables of either prior, each tested at .001.
    assert min(found.p_values(bins=10).values()) > 0.001


@pytest.mark.parametrize(
    ("rate", "free"),
    [
        (bc.credal.AveragedCurve(), ["z", "roughness"]),
        (bc.credal.AveragedCurve(rough=0), ["coef"]),
        (bc.credal.MonotoneCurve(), ["unit"]),
        (bc.credal.IncrementIsotonic(), ["mass"]),
        (bc.credal.ImpreciseDirichlet(), ["rate"]),
    ],
)
def test_names(rate, free):
    model = bc.credal.build_model(binary(), bc.credal.Priors(rate))
    assert {v.name for v in model.free_RVs} == set(free)
    assert [v.name for v in model.observed_RVs] == ["events"]


def test_curves_are_named_after_their_labels():
    priors = bc.credal.Priors(bc.credal.ImpreciseDirichlet())
    assert bc.credal.build_model(binary(), priors).coords["curve"] == ("1",)
    assert bc.credal.build_model(multiclass(), priors).coords["curve"] == ("0", "1", "2")


def test_several_classifiers_are_refused():
    both = bc.Scores.stack({"a": [0.1, 0.4], "b": [0.2, 0.3]}, y_true=[0, 1])
    with pytest.raises(bc.InputError, match="takes one classifier; got 2"):
        bc.credal.build_model(bc.CalibrationSplit(calibration=both, target=both))
