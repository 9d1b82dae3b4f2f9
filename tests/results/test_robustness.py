"""Power scaling against ArviZ and closed forms; conclusions on draws whose answer is known."""

import arviz_stats
import numpy as np
import pytest
import xarray as xr
from scipy.stats import binom

import bayescal as bc
from bayescal.core.quantity import CALIBRATION_ERRORS, CaseArrays
from bayescal.results.assemble import assemble, combine
from bayescal.results.robustness import conclusions, obstacle
from tests.synthetic import make_result


def scores(n, groups=None):
    found = bc.datasets.ece.truth("over").scores(n, seed=1)
    if groups is None:
        return found
    return bc.Scores(y_true=found.y_true, y_prob=found.y_prob[0], group=np.arange(n) % groups)


@pytest.fixture(scope="module")
def fitted():
    tree = bc.fit(bc.ece, scores(300), seed=20, method="direct")
    # ArviZ takes the evidence of components in full.
    tree.attrs["average_power"] = 1.0
    return tree


@pytest.mark.slow
def test_sensitivities_are_those_of_arviz(fitted):
    names = ["ece", "tce", "mce"]
    mine = bc.power_scale(fitted, names)
    theirs = arviz_stats.psense_summary(fitted, var_names=names, round_to=6)
    assert list(mine["quantity"]) == names
    # Theirs smooths the tail of the weights. Of the prior that is in the third digit; of the
    # likelihood a tenth, as the average keeps draws that the rows make improbable. With smoothed
    # weights ours are .3644 where theirs are .3645.
    ours, arviz = mine["prior_sensitivity"].to_numpy(), theirs["prior"].to_numpy()
    np.testing.assert_allclose(ours, arviz, atol=1e-3)
    ours, arviz = mine["likelihood_sensitivity"].to_numpy(), theirs["likelihood"].to_numpy()
    np.testing.assert_allclose(ours, arviz, rtol=0.15)


def scaled_normal(x, log_likelihood):
    """The line of x ~ N(0, 1) from its draws and their log likelihood."""
    tree, dims = make_result(("v",), draws=100), ("chain", "draw")
    data = {
        "posterior": xr.Dataset({"x": (dims, x)}),
        "log_prior": xr.Dataset({"x": (dims, -(x**2) / 2)}),
        "log_likelihood": xr.Dataset({"y": (dims, log_likelihood)}),
        **{name: tree[name].dataset for name in ("point_estimate", "diagnostics")},
    }
    small = xr.DataTree.from_dict(data)
    small.attrs = tree.attrs
    (row,) = bc.power_scale(small).to_dict("records")
    return row


@pytest.mark.slow
def test_the_shift_is_that_of_conjugate_normals():
    """x ~ N(0, 1) with likelihood N(1 | x, 1): the posterior mean is 1 / (power + 1)."""
    levels = np.random.default_rng(20).standard_normal((4, 20_000))
    x = 0.5 + np.sqrt(0.5) * levels
    row = scaled_normal(x, -((1 - x) ** 2) / 2)
    # d/da of 1 / (a + 1) at 1 is -1/4, of the likelihood's a / (a + 1) it is 1/4.
    slope = np.log(2) * 0.25 / np.sqrt(0.5)
    assert row["prior_shift"] == pytest.approx(-slope, rel=0.03)
    assert row["likelihood_shift"] == pytest.approx(slope, rel=0.03)


@pytest.mark.slow
def test_the_shift_of_an_average_is_that_of_refits():
    """A power of the curve's normal prior is one of another scale."""
    rng = np.random.default_rng(0)
    score = rng.random(400)
    odds = (score / (1 - score)) ** 1.3
    data = bc.Scores(y_true=rng.random(400) < odds / (1 + odds), y_prob=score)

    def errors(power):
        curve = bc.ece.SmoothCurve().rescaled(power**-0.5)
        # Of a mixture of two normal priors a power is none of another scale.
        average = bc.ece.CurveAverage(curve=curve, rough=0, segments=0, linear=0, steep=0)
        priors = bc.ece.Priors(average)
        return bc.fit(bc.ece, data, priors=priors, method="direct", draws=4000, seed=20)

    weak, tree, strong = map(errors, (0.5**0.5, 1.0, 2**0.5))
    low, high = (float(one["posterior"]["tce"].mean()) for one in (weak, strong))
    expected = (high - low) / float(tree["posterior"]["tce"].std())
    # Means of 16,000 draws, and the curvature of a finite step; it is .16.
    found = bc.power_scale(tree, "tce")["prior_shift"].item()
    assert found == pytest.approx(expected, abs=0.04)


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["bins", "curve", "concentration"])
def test_the_shift_beside_calibration_is_that_of_refits(kind):
    """A power of a beta, normal or lognormal density is another of the same family."""
    rng = np.random.default_rng(0)
    score = rng.random(50)
    odds = (score / (1 - score)) ** 0.6
    data = bc.Scores(y_true=rng.random(50) < odds / (1 + odds), y_prob=score)

    def prior(power):
        if kind == "bins":
            return bc.ece.IndependentBins(bc.Beta(1 + 2 * power, 1 + 2 * power))
        if kind == "curve":
            return bc.ece.SmoothCurve(scale=0.4 * power**-0.5)
        # exp(-(t - mu)^2 a / (2 s^2) - a t) in t = log kappa, times the Jacobian exp(t).
        variance = 0.25 / power
        return bc.ece.HierarchicalBins(
            concentration=bc.LogNormal(1.5 - (power - 1) * variance, variance**0.5)
        )

    def errors(power):
        priors = bc.ece.Priors(prior(power))
        return bc.fit(bc.ece, data, priors=priors, method="direct", draws=8000, n_bins=6, seed=20)

    weak, tree, strong = map(errors, (0.5**0.5, 1.0, 2**0.5))
    assert 0.02 < float(tree["model_average"]["p_calibrated"].item()) < 0.98
    low, high = (float(one["posterior"]["tce"].mean()) for one in (weak, strong))
    expected = (high - low) / float(tree["posterior"]["tce"].std())
    # Means of 32,000 draws each, .01 by chance, and the curvature of a finite step.
    found = bc.power_scale(tree, "tce")["prior_shift"].item()
    assert found == pytest.approx(expected, abs=0.03)


@pytest.mark.slow
def test_the_shift_of_a_row_is_that_of_refits():
    """A power of the curve's priors is one of other scales, squared where two are multiplied."""
    rng = np.random.default_rng(0)
    places = np.linspace(0.03, 0.97, 20)
    own = rng.integers(0, 20, 60)
    logit = np.log(places / (1 - places)) + 1.5 * np.random.default_rng(5).normal(size=20)
    rows = bc.Scores(y_true=rng.random(60) < 1 / (1 + np.exp(-logit[own])), y_prob=places[own])
    data = bc.CalibrationSplit(calibration=rows, target=[0.5])

    def rates(power):
        curve = bc.ece.SmoothCurve().rescaled(power**-0.5)
        prior = bc.credal.AveragedCurve(curve=curve, roughness=1.5 / power, rising=0, steps=0)
        priors = bc.credal.Priors(prior)
        return bc.fit(bc.credal, data, priors=priors, method="direct", draws=4000, seed=20)

    weak, tree, strong = map(rates, (0.5**0.25, 1.0, 2**0.25))
    low, high = (float(one["posterior"]["prob"].mean()) for one in (weak, strong))
    expected = 2 * (high - low) / float(tree["posterior"]["prob"].std())
    # Means of 16,000 draws, .02 by chance; evidence in full is .06 off.
    found = bc.power_scale(tree)["prior_shift"].item()
    assert found == pytest.approx(expected, abs=0.05)


@pytest.mark.slow
@pytest.mark.usefixtures("one_class_prior")
def test_the_shift_of_an_uncertain_class_prior_is_that_of_refits():
    """A power of its beta density is another beta, of the curve's normal one another scale."""
    rng = np.random.default_rng(0)
    score = rng.random(600)
    odds = (score / (1 - score)) ** 1.5
    positive = score[rng.random(600) < odds / (1 + odds)][:200]
    data = bc.PUScores(positive=positive, unlabeled=rng.random(600))

    def fit(of_curve=1.0, of_class_prior=1.0):
        curve = bc.ece.SmoothCurve().rescaled(of_curve**-0.5)
        average = bc.ece.CurveAverage(curve=curve, rough=0, segments=0, linear=0)
        own = 1 + 19 * of_class_prior
        priors = bc.pu_ece.Priors(class_prior=bc.Beta(own, own), label_rate=average)
        return bc.fit(bc.pu_ece, data, priors=priors, method="direct", draws=2000, seed=20)

    tree = fit()
    found = bc.power_scale(tree, "class_prior").set_index("prior")["prior_shift"]
    sd = float(tree["posterior"]["class_prior"].std())
    for prior, name in (("curve", "of_curve"), ("class_prior", "of_class_prior")):
        ends = [fit(**{name: power}) for power in (0.5**0.5, 2**0.5)]
        low, high = (float(one["posterior"]["class_prior"].mean()) for one in ends)
        # Means of 8,000 draws, .03 by chance; evidence in full is .09 off for the curve.
        assert found[prior] == pytest.approx((high - low) / sd, abs=0.05)


def test_a_prior_that_moves_no_mean_is_not_said_to_matter():
    """x ~ N(0, 1) with likelihood N(0 | x, 9): any power of the prior leaves the mean at 0."""
    x = np.sqrt(0.9) * np.random.default_rng(20).standard_normal((4, 5000))
    x = np.concatenate([x, -x], axis=1)
    row = scaled_normal(x, -(x**2) / 18)
    assert row["prior_sensitivity"] > 0.05
    assert abs(row["prior_shift"]) < 1e-9
    assert row["diagnosis"] == "the prior moves the spread, not the mean"


def test_of_a_vector_the_most_sensitive_element_is_shown(fitted):
    (row,) = bc.power_scale(fitted, "label_rate").to_dict("records")
    every = arviz_stats.psense(fitted, var_names=["label_rate"])["label_rate"].values
    assert row["quantity"] == f"label_rate[{np.argmax(every)}]"
    # Theirs smooths the tail of the weights: as above, in the third digit.
    assert row["prior_sensitivity"] == pytest.approx(float(every.max()), abs=3e-3)


def test_by_default_it_takes_what_has_one_number_a_case_or_a_bin(fitted):
    found = bc.power_scale(fitted)
    names = [name.partition("[")[0] for name in found["quantity"]]
    assert names == ["ece", "tce", "mce", "label_rate", "gap"]
    assert set(found["prior"]) == {"curve"}


@pytest.mark.slow
def test_few_rows_leave_it_to_the_prior_and_many_to_the_data():
    tight, wide = (bc.ece.Priors(bc.ece.SmoothCurve(scale=scale)) for scale in (0.1, 0.5))
    few = bc.fit(bc.ece, scores(30), priors=tight, seed=20, method="direct")
    many = bc.fit(bc.ece, scores(20_000), priors=wide, seed=20, method="direct")
    assert bc.power_scale(few, "tce")["diagnosis"].item() == "the prior dominates"
    assert bc.power_scale(many, "tce")["diagnosis"].item() == "the data decide"


def test_a_flat_prior_is_answered_with_a_refit():
    flat = bc.ece.Priors(bc.ece.IndependentBins(bc.Beta(1, 1)))
    found = bc.power_scale(bc.fit(bc.ece, scores(300), priors=flat, seed=20, method="direct"))
    assert found["prior_sensitivity"].isna().all()
    assert found["prior_shift"].isna().all()
    assert set(found["diagnosis"]) == {"flat prior: refit under others (prior_sensitivity)"}
    assert (found["likelihood_sensitivity"] > 0).all()


def with_two_priors(names):
    """A result in which each of the two coefficients has a prior of its own."""
    tree = make_result(names)
    coef = tree["log_prior"]["coef"]
    parts = {name: coef.isel(basis=k, drop=True) for k, name in enumerate("ac")}
    tree["log_prior"] = xr.DataTree(xr.Dataset(parts))
    return tree


def test_several_priors_are_scaled_together_and_alone():
    found = bc.power_scale(with_two_priors(("v",)), "tce")
    assert list(found["prior"]) == ["all", "a", "c"]
    together, *alone = found["prior_shift"]
    assert together == pytest.approx(sum(alone))


def test_every_case_is_scaled_by_its_own_densities():
    pair = make_result(("v", "w"))
    found = bc.power_scale(pair, "tce")
    assert list(found["classifier"]) == ["v", "w"]
    alone = bc.power_scale(make_result(("v",)), "tce")
    np.testing.assert_allclose(found["prior_sensitivity"][:1], alone["prior_sensitivity"])


@pytest.mark.slow
@pytest.mark.parametrize(("quantity", "var"), [(bc.agnostic, "c"), (bc.credal, "ici")])
def test_errors_are_scaled_by_the_densities_of_their_own_curve(quantity, var):
    """Costs, and probabilities of rows, are of draws of which none is calibrated."""
    rng = np.random.default_rng(0)
    score = rng.random(300)
    data = bc.Scores(y_true=rng.random(300) < score, y_prob=score)
    if quantity is bc.credal:
        data = bc.CalibrationSplit(calibration=data, target=[0.5])
    tree = bc.fit(quantity, data, draws=250, seed=20, method="direct")
    tree.attrs["average_power"] = 1.0  # the densities themselves
    draws = tree["posterior"][var] if var == "c" else bc.measure(tree, var)
    rows, events = tree["constant_data"]["cell_count"], tree["observed_data"]["events"]
    rate = tree["curve"]["rate"].values.astype(float).clip(1e-9, 1 - 1e-9)
    density = binom.logpmf(events, rows, rate).sum(axis=-1)
    covariance = np.cov(draws.values.ravel(), density.ravel(), bias=True)[0, 1]
    found = bc.power_scale(tree, var)
    # The rates have single precision.
    expected = np.log(2) * covariance / float(draws.std())
    assert found["likelihood_shift"].item() == pytest.approx(expected, rel=1e-3)
    # A calibrated curve has no parameters, whose density could differ from its mean.
    assert not tree["curve"]["log_prior"].values[tree["curve"]["component"].values == 0].any()


@pytest.mark.slow
def test_pooled_groups_share_one_prior_and_all_rows():
    tree = bc.fit(bc.ece, scores(300, groups=3), seed=20, method="direct", draws=250)
    found = bc.power_scale(tree, "tce")
    assert list(found["group"].unique()) == ["0", "1", "2"]
    assert list(found["prior"][:3]) == ["all", "pooling", "common"]
    assert found["prior_sensitivity"].notna().all()
    quantities = {name.partition("[")[0] for name in bc.power_scale(tree)["quantity"]}
    assert "pooling" not in quantities


def test_what_does_not_vary_is_said_not_to():
    tree = make_result(("v",))
    tree["posterior"]["ece"][:] = 0.1
    assert set(bc.power_scale(tree, "ece")["diagnosis"]) == {"does not vary"}


def test_a_model_without_priors_is_said_to_have_none():
    tree = make_result(("v",)).drop_nodes("log_prior")
    found = bc.power_scale(tree, "tce")
    assert list(found["prior"]) == ["all"]
    assert found["diagnosis"].item().startswith("no prior in the model")


def test_a_draw_without_density_gives_words_instead_of_a_number():
    tree = make_result(("v",))
    tree["log_likelihood"]["events"][0, 0, 0] = -np.inf
    (row, *_) = bc.power_scale(tree, "tce").to_dict("records")
    assert row["diagnosis"] == "a draw has no finite density"
    assert np.isnan(row["likelihood_sensitivity"])
    assert np.isnan(row["likelihood_shift"])


def test_what_cannot_be_scaled_is_refused_with_the_reason():
    tree = make_result(("v",))
    grid = combine({"a": tree, "b": tree})
    without = tree.drop_nodes("log_likelihood")
    short = make_result(("v",), draws=10, chains=4)
    for found, words in (
        (grid, "holds refits under several"),
        (without, "needs the group 'log_likelihood'"),
        (short, "at least 100 draws; got 40"),
    ):
        assert obstacle(found)
        with pytest.raises(bc.InputError, match=words):
            bc.power_scale(found)
    assert not obstacle(tree)
    with pytest.raises(bc.InputError, match="no variable or measure 'nothing'"):
        bc.power_scale(tree, "nothing")


LEVELS = (np.arange(2000) + 0.5) / 2000


def tree(low, high, p_calibrated=0.0, converged=True, names=("vit",)):
    """Draws spread evenly between two ends; 0 in the share in which it is calibrated."""
    n_zero = round(np.nan_to_num(p_calibrated) * LEVELS.size)
    levels = (np.arange(LEVELS.size - n_zero) + 0.5) / max(LEVELS.size - n_zero, 1)
    draws = np.concatenate([np.zeros(n_zero), low + (high - low) * levels])
    attrs = {
        "bayescal_version": "0",
        "quantity": "ece",
        "title": "t",
        "estimand": "e",
        "seed": 1,
        "status": "ok",
        "converged": converged,
        "n_obs": 9,
        "n_labeled": 9,
    }
    fits = [
        CaseArrays(
            coords={"classifier": name},
            posterior={"tce": draws.reshape(4, 500)},
            given_miscalibration={"tce": (low + (high - low) * LEVELS).reshape(4, 500)},
            point_estimate={"n": 9},
            model_average={"p_calibrated": p_calibrated},
            diagnostics={"converged": converged},
        )
        for name in names
    ]
    return assemble(fits, variables=CALIBRATION_ERRORS, attrs=attrs)


def asked(trees, **options):
    (found,) = conclusions(combine(trees), **options)
    return found


def test_intervals_that_overlap_on_one_side_are_robust():
    found = asked({"a": tree(0.1, 0.2), "b": tree(0.15, 0.25)})
    assert found.robust
    assert found.overlap
    assert found.agree
    assert found.text == (
        "The conclusion on the calibration error is robust to the prior: under both priors the "
        "90% intervals overlap and exclude perfect calibration. The posterior mean moves most "
        "under b: +0.0500 from 0.1500 under a, 1.73 posterior sd."
    )


def test_the_shift_is_in_units_of_the_posterior_sd():
    found = asked({"a": tree(0.1, 0.2), "b": tree(0.15, 0.25), "c": tree(0.0, 0.2)})
    sd = 0.1 / np.sqrt(12)
    first, second, third = found.rows
    assert first.shift == 0
    assert second.sd == pytest.approx(sd, rel=1e-3)
    assert second.shift == pytest.approx(0.05 / sd, rel=1e-3)
    assert third.shift == pytest.approx(-0.05 / np.sqrt((sd**2 + 4 * sd**2) / 2), rel=1e-3)
    assert found.largest is second


def test_sd_and_mean_count_exact_calibration_in():
    found = asked({"a": tree(0.1, 0.2, p_calibrated=0.25), "b": tree(0.1, 0.2)})
    draws = np.concatenate([np.zeros(500), 0.1 + 0.1 * (np.arange(1500) + 0.5) / 1500])
    assert found.rows[0].mean == pytest.approx(draws.mean(), rel=1e-6)
    assert found.rows[0].sd == pytest.approx(draws.std(), rel=1e-3)


def test_intervals_apart_are_not_robust():
    found = asked({"a": tree(0.1, 0.2), "b": tree(0.3, 0.4), "c": tree(0.1, 0.4)})
    assert not found.overlap
    assert not found.robust
    assert "under a (0.1050 to 0.1950) and b (0.3050 to 0.3950) do not overlap" in found.text


def test_one_that_allows_calibration_disagrees_with_one_that_does_not():
    found = asked({"a": tree(0.1, 0.2), "b": tree(0.1, 0.2, p_calibrated=0.3)})
    assert found.overlap
    assert not found.agree
    assert not found.robust
    assert "exclude perfect calibration under a but allow perfect calibration under b" in found.text


def test_a_prior_without_calibration_without_a_probability_does_not_disagree():
    pair = {"a": tree(0.1, 0.2, p_calibrated=0.3), "b": tree(0.1, 0.2, p_calibrated=np.nan)}
    found = asked(pair)
    assert found.rows[1].side == "unknown"
    assert found.rows[1].p_calibrated is None
    assert found.robust
    assert "overlap and, where calibration has a probability, allow perfect" in found.text
    assert "calibration; b gives calibration no probability." in found.text
    neither = asked({"a": pair["b"], "b": pair["b"]})
    assert neither.robust
    assert "none gives calibration a probability" in neither.text
    assert "less than 0.01 sd" in neither.text


@pytest.mark.parametrize(
    ("threshold", "sides"),
    [(0.05, ["above", "above"]), (0.3, ["below", "below"]), (0.17, ["both", "both"])],
)
def test_a_threshold_has_two_sides(threshold, sides):
    found = asked({"a": tree(0.1, 0.2), "b": tree(0.15, 0.25)}, threshold=threshold)
    assert [row.side for row in found.rows] == sides
    assert found.robust


def test_a_threshold_between_the_answers_is_not_robust():
    found = asked({"a": tree(0.1, 0.2), "b": tree(0.15, 0.25)}, threshold=0.11)
    assert [row.side for row in found.rows] == ["both", "above"]
    assert not found.robust
    assert "cover 0.11 under a but lie above 0.11 under b" in found.text


def test_a_wider_interval_may_hide_a_disagreement():
    trees = {"a": tree(0.1, 0.2), "b": tree(0.19, 0.29)}
    assert not asked(trees, prob=0.8).robust
    assert asked(trees, prob=0.95).robust


def test_a_failed_fit_is_said_first():
    found = asked({"a": tree(0.1, 0.2), "b": tree(0.1, 0.2, converged=False)})
    assert not found.converged
    assert found.text.startswith("Unreliable: a fit did not converge. ")


def test_points_that_differ_move_without_end():
    found = asked({"a": tree(0.1, 0.1), "b": tree(0.2, 0.2), "c": tree(0.1, 0.1)})
    assert found.rows[1].shift == np.inf
    assert found.rows[2].shift == 0


def test_every_case_has_its_conclusion():
    names = ("vit", "gbm")
    found = conclusions(
        combine({"a": tree(0.1, 0.2, names=names), "b": tree(0.1, 0.2, names=names)})
    )
    assert [one.case for one in found] == ["vit", "gbm"]
    assert "calibration error of gbm is robust" in found[1].text


def test_other_quantities_need_a_threshold_and_one_number():
    pair = {"a": make_result(("v",)), "b": make_result(("v",), seed=1)}
    for one in pair.values():
        one["posterior"]["slope"] = one["posterior"]["coef"].isel(basis=1, drop=True)
    grid = combine(pair)
    with pytest.raises(bc.InputError, match="threshold must be given for 'slope'"):
        conclusions(grid, "slope")
    assert conclusions(grid, "slope", threshold=0.0)[0].rows[0].p_calibrated is not None
    with pytest.raises(bc.InputError, match="one number a case"):
        conclusions(grid, "label_rate", threshold=0.5)
    with pytest.raises(bc.InputError, match=r"threshold must be a number in \[0, 1\]; got 5"):
        conclusions(grid, "tce", threshold=5)
    with pytest.raises(bc.InputError, match="no variable or measure 'nothing'"):
        conclusions(grid, "nothing")
    with pytest.raises(bc.InputError, match="has one prior"):
        conclusions(make_result())


@pytest.mark.parametrize(("var", "threshold"), [("e90", None), ("auc", 0.7)])
def test_a_measure_is_compared_between_curves_and_bins(var, threshold):
    priors = {"curve": bc.ece.Priors(), "bins": bc.ece.Priors(bc.ece.IndependentBins())}
    how = {"seed": 20, "method": "direct", "draws": 200}
    grid = bc.prior_sensitivity(bc.ece, scores(300), priors, var=var, threshold=threshold, **how)
    assert grid.attrs["conclusion_var"] == var
    for name, one in priors.items():
        alone = bc.interval(bc.fit(bc.ece, scores(300), priors=one, **how), var)
        np.testing.assert_array_equal(bc.interval(grid, var).sel(prior=name), alone)
    with pytest.raises(bc.InputError, match=r"same cells under each.* Pass var= to"):
        bc.conclusions(grid, "brier", threshold=0.2)


def test_priors_of_the_curve_do_not_move_means_over_rows():
    how = {"seed": 20, "method": "direct", "draws": 200}
    grid = bc.prior_sensitivity(bc.ece, scores(300), var="auc", threshold=0.7, **how)
    ends = bc.interval(grid, "auc")
    np.testing.assert_array_equal(ends, ends.isel(prior=[0] * ends.sizes["prior"]))
    assert "moves by less than 0.01 sd" in grid.attrs["conclusion"]


@pytest.mark.filterwarnings("ignore:auc has no value")
def test_of_a_group_without_a_value_nothing_is_concluded():
    score, group = np.tile([0.2, 0.4, 0.6, 0.8], 60), np.repeat(["a", "b"], 120)
    label = ((np.arange(240) % 7 < 7 * score) & (group == "a")).astype(int)
    scores = bc.Scores(y_true=label, y_prob=score, group=group)
    priors = {"narrow": bc.ece.Priors(bc.ece.SmoothCurve(scale=0.2)), "wide": bc.ece.Priors()}
    given = {"var": "auc", "threshold": 0.5, "method": "direct", "draws": 250, "seed": 3}
    grid = bc.prior_sensitivity(bc.ece, scores, priors, **given)
    assert [one.case for one in bc.conclusions(grid, "auc", threshold=0.5)] == ["a"]
    with pytest.raises(bc.InputError, match="'auc' is undefined in every draw"):
        bc.conclusions(grid.sel(group=["b"]), "auc", threshold=0.5)
