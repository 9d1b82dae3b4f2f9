"""Power scaling against ArviZ, closed forms, and the refusals that it owes."""

import arviz_stats
import numpy as np
import pytest
import xarray as xr

import bayescal as bc
from bayescal.results.assemble import combine
from bayescal.results.robustness import scalable
from tests.synthetic import make_result


def scores(n, groups=None):
    found = bc.datasets.ece.truth("over").scores(n, seed=1)
    if groups is None:
        return found
    return bc.Scores(y_true=found.y_true, y_prob=found.y_prob[0], group=np.arange(n) % groups)


@pytest.fixture(scope="module")
def fitted():
    return bc.fit(bc.ece, scores(300), seed=20, method="direct")


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


@pytest.mark.slow
def test_the_shift_is_that_of_conjugate_normals():
    """x ~ N(0, 1) with likelihood N(1 | x, 1): the posterior mean is 1 / (power + 1)."""
    levels = np.random.default_rng(20).standard_normal((4, 20_000))
    x = 0.5 + np.sqrt(0.5) * levels
    tree = make_result(("v",), draws=20_000)
    dims = ("chain", "draw")
    data = {
        "posterior": xr.Dataset({"x": (dims, x)}),
        "log_prior": xr.Dataset({"x": (dims, -(x**2) / 2)}),
        "log_likelihood": xr.Dataset({"y": (dims, -((1 - x) ** 2) / 2)}),
        "point_estimate": tree["point_estimate"].dataset,
        "diagnostics": tree["diagnostics"].dataset,
    }
    small = xr.DataTree.from_dict(data)
    small.attrs = tree.attrs
    (row,) = bc.power_scale(small).to_dict("records")
    # d/da of 1 / (a + 1) at 1 is -1/4, of the likelihood's a / (a + 1) it is 1/4.
    slope = np.log(2) * 0.25 / np.sqrt(0.5)
    assert row["prior_shift"] == pytest.approx(-slope, rel=0.03)
    assert row["likelihood_shift"] == pytest.approx(slope, rel=0.03)


def test_a_prior_that_moves_no_mean_is_not_said_to_matter():
    """x ~ N(0, 1) with likelihood N(0 | x, 9): any power of the prior leaves the mean at 0."""
    x = np.sqrt(0.9) * np.random.default_rng(20).standard_normal((4, 5000))
    x = np.concatenate([x, -x], axis=1)
    tree = make_result(("v",), draws=100)
    dims = ("chain", "draw")
    data = {
        "posterior": xr.Dataset({"x": (dims, x)}),
        "log_prior": xr.Dataset({"x": (dims, -(x**2) / 2)}),
        "log_likelihood": xr.Dataset({"y": (dims, -(x**2) / 18)}),
        "point_estimate": tree["point_estimate"].dataset,
        "diagnostics": tree["diagnostics"].dataset,
    }
    small = xr.DataTree.from_dict(data)
    small.attrs = tree.attrs
    (row,) = bc.power_scale(small).to_dict("records")
    assert row["prior_sensitivity"] > 0.05
    assert abs(row["prior_shift"]) < 1e-9
    assert row["diagnosis"] == "the prior moves the spread, not the mean"


def test_of_a_vector_the_most_sensitive_element_is_shown(fitted):
    (row,) = bc.power_scale(fitted, "label_rate").to_dict("records")
    every = arviz_stats.psense(fitted, var_names=["label_rate"])["label_rate"].values
    assert row["quantity"] == f"label_rate[{np.argmax(every)}]"
    assert row["prior_sensitivity"] == pytest.approx(float(every.max()), abs=1e-3)


def test_by_default_it_takes_what_has_one_number_a_case_or_a_bin(fitted):
    found = bc.power_scale(fitted)
    names = [name.partition("[")[0] for name in found["quantity"]]
    assert names == ["ece", "tce", "mce", "label_rate", "gap"]
    assert set(found["prior"]) == {"curve"}


@pytest.mark.slow
def test_few_rows_leave_it_to_the_prior_and_many_to_the_data():
    tight = bc.ece.Priors(bc.ece.SmoothCurve(scale=0.1))
    few = bc.fit(bc.ece, scores(30), priors=tight, seed=20, method="direct")
    many = bc.fit(bc.ece, scores(20_000), seed=20, method="direct")
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
def test_pooled_groups_share_one_prior_and_all_rows():
    tree = bc.fit(bc.ece, scores(600, groups=3), seed=20, method="direct")
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
        assert not scalable(found)
        with pytest.raises(bc.InputError, match=words):
            bc.power_scale(found)
    assert scalable(tree)
    with pytest.raises(bc.InputError, match="no variable or measure 'nothing'"):
        bc.power_scale(tree, "nothing")
