"""Fits: what is sampled, said and refused. All of three classifiers share one compiled model."""

import json

import numpy as np
import pytest

import bayescal as bc
from bayescal.quantities.ssme.metrics import Metrics
from tests.quantities.ssme.made import binary
from tests.quantities.ssme.problems import TINY

pytestmark = [
    pytest.mark.mcmc,
    # Fifty draws a chain do not converge, and the result says so.
    pytest.mark.filterwarnings("ignore::bayescal.core.errors.ConvergenceWarning"),
]


@pytest.fixture(scope="module")
def scores():
    return binary(n=300, n_labeled=30)[0]


@pytest.fixture(scope="module")
def fit(scores):
    return bc.fit(bc.ssme, scores, seed=20)


@pytest.fixture(scope="module")
def tiny(scores):
    with pytest.warns(bc.core.errors.ConvergenceWarning):
        return bc.fit(bc.ssme, scores, prob_label=True, **TINY)


@pytest.mark.mcmc
def test_a_default_fit_converges(fit):
    assert fit.attrs["converged"] == "true"
    assert "not converge" not in fit.attrs["status"]
    assert fit["diagnostics"]["divergences"] == 0
    assert fit["diagnostics"]["rhat_max"] <= 1.01
    assert fit["diagnostics"]["ess_min"] > 400


@pytest.mark.mcmc
def test_intervals_cover_what_all_labels_say(fit):
    """At 300 rows and three like classifiers; not one of 9 intervals of 99.8% may miss."""
    scores, truth = binary(n=300, n_labeled=30)
    full = bc.Scores.stack(dict(zip(scores.classifiers, scores.y_prob, strict=True)), y_true=truth)
    expected = bc.ssme.ensemble(full)
    for name in ("accuracy", "auc", "brier"):
        draws = fit["posterior"][name]
        low, high = (draws.quantile(q, ("chain", "draw")).to_numpy() for q in (0.001, 0.999))
        assert ((low <= getattr(expected, name)) & (getattr(expected, name) <= high)).all()


@pytest.mark.mcmc
def test_the_result_says_what_was_done(fit):
    attrs = fit.attrs
    assert (attrs["n_obs"], attrs["n_labeled"]) == (300, 30)
    assert (attrs["labeling"], attrs["ece_convention"]) == ("random", "equal-mass")
    assert json.loads(attrs["priors"])["discount"] == 10
    assert "power 0.75 * n / (n + 10)" in attrs["prior_text"]
    for name in Metrics._fields:
        assert fit["posterior"][name].dims == ("chain", "draw", "classifier")
        assert fit["reference_estimates"][name].dims == ("method", "classifier")
        assert fit["point_estimate"][name].dims == ("classifier",)
    assert fit["posterior"]["slope"].dims == ("chain", "draw", "label_class")


@pytest.mark.mcmc
def test_it_is_the_same_after_a_file(tiny, tmp_path):
    path = tmp_path / "ssme.nc"
    bc.save(tiny, path)
    again = bc.load(path)
    for group in (
        "posterior",
        "prior",
        "posterior_predictive",
        "reference_estimates",
        "point_estimate",
        "bounds",
    ):
        assert again[group].dataset.equals(tiny[group].dataset)


@pytest.mark.mcmc
def test_the_same_seed_gives_the_same_result(scores, tiny):
    again = bc.fit(bc.ssme, scores, prob_label=True, **TINY)
    for group in ("posterior", "prior", "point_estimate"):
        assert again[group].dataset.equals(tiny[group].dataset)
    other = bc.fit(bc.ssme, scores, **(TINY | {"seed": 2}))
    assert not other["posterior"]["accuracy"].equals(tiny["posterior"]["accuracy"])


@pytest.mark.mcmc
def test_probabilities_of_labels_are_those_of_every_row(scores, tiny):
    prob = tiny["posterior"]["prob_label"]
    assert prob.dims == ("chain", "draw", "obs", "label_class")
    np.testing.assert_allclose(prob.sum("label_class"), 1, rtol=1e-5)
    known = np.flatnonzero(scores.y_true >= 0)
    expected = np.broadcast_to(np.eye(2)[scores.y_true[known]], (2, 50, 30, 2))
    np.testing.assert_array_equal(prob.isel(obs=known), expected)


def test_probabilities_of_labels_need_all_rows(scores, monkeypatch):
    """Of many rows a random part is modelled, and which is which would be lost."""
    monkeypatch.setattr("bayescal.quantities.ssme.data.MOST_UNLABELED", 100)
    with pytest.raises(bc.InputError, match=r"prob_label=True needs at most .* got 270"):
        bc.fit(bc.ssme, scores, prob_label=True, seed=1)


@pytest.mark.mcmc
def test_binary_scores_of_two_columns_are_those_of_one(tiny):
    scores, truth = binary(n=300, n_labeled=30)
    label = [int(y) if i < 30 else None for i, y in enumerate(truth)]
    columns = {
        name: np.stack([1 - p, p], axis=1)
        for name, p in zip(scores.classifiers, scores.y_prob, strict=True)
    }
    both = bc.Scores.stack(columns, y_true=label)
    found = bc.fit(bc.ssme, both, prob_label=True, **TINY)
    for name in Metrics._fields:
        # Scores kept in single precision differ in the last bit of 1 - s.
        np.testing.assert_allclose(
            found["posterior"][name].to_numpy(), tiny["posterior"][name].to_numpy(), atol=1e-3
        )


@pytest.mark.mcmc
def test_one_classifier_has_no_dim_of_its_own():
    scores, _ = binary(n=100, m=1)
    found = bc.fit(bc.ssme, scores, **TINY)
    assert found["posterior"]["accuracy"].dims == ("chain", "draw")
    assert json.loads(found.attrs["classifiers"]) == ["c0"]
    assert found["reference_estimates"]["auc"].dims == ("method",)


@pytest.mark.mcmc
def test_groups_have_a_dim_and_one_without_label_is_named():
    group = ["x" if i < 60 else "y" for i in range(100)]
    scores, _ = binary(n=100, m=1, group=group)
    found = bc.fit(bc.ssme, scores, **TINY)
    assert found["posterior"]["accuracy"].dims == ("chain", "draw", "group")
    assert list(found["posterior"]["group"].to_numpy()) == ["x", "y"]
    assert "no label in group 'y': it is taken to be like the others" in found.attrs["status"]


def given(labels, change=lambda prob: prob, rows=200):
    """Three classifiers' scores and up to 32 labels, so that no model is compiled anew."""
    made, truth = binary(n=rows)
    label = [int(y) if keep else None for y, keep in zip(truth, labels(truth), strict=True)]
    scores = zip(made.classifiers, change(made.y_prob), strict=True)
    return bc.Scores.stack(list(scores), y_true=label)


def first(y):
    return np.arange(len(y)) < 20


SPECIAL = {
    "no labels": (lambda: given(lambda y: y < 0), "no row is labeled"),
    "one class": (lambda: given(lambda y: first(y) & (y == 1)), "no label of 0"),
    "all labels": (lambda: given(lambda y: y >= 0, rows=30), None),
    "identical classifiers": (lambda: given(first, lambda p: np.stack([p[0]] * 3)), None),
    "exactly 0 and 1": (lambda: given(first, np.round), None),
    "scores that do not vary": (lambda: given(first, lambda p: 0 * p + 0.4), None),
}


@pytest.mark.mcmc
@pytest.mark.parametrize("name", SPECIAL)
def test_special_data_are_fitted_and_named(name):
    make, words = SPECIAL[name]
    found = bc.fit(bc.ssme, make(), **TINY)
    for metric in Metrics._fields:
        assert np.isfinite(found["posterior"][metric]).all()
    assert (
        "no row" not in found.attrs["status"] if words is None else words in found.attrs["status"]
    )
    table = bc.summary(found)
    assert np.isfinite(table[["mean", "lower", "upper", "ensemble"]]).all(axis=None)
    assert (table["lower"] <= table["upper"]).all()
    assert table["labeled"].isna().all() == (name == "no labels")


@pytest.mark.parametrize("label", [bc.ssme.Tilt(), bc.ssme.GaussianMixture()])
def test_there_is_no_method_but_nuts(scores, label):
    priors = bc.ssme.Priors(label=label)
    with pytest.raises(bc.InputError, match="no posterior without NUTS; got method='direct'"):
        bc.fit(bc.ssme, scores, priors=priors, method="direct", seed=1)


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"labeling": "forced"}, "labeling must be"),
        ({"ece": "adaptive"}, "ece must be"),
        ({"priors": bc.ece.Priors()}, "priors must be ssme.Priors; got Priors"),
        ({"tune": -1}, "tune must be a whole number"),
    ],
)
def test_unknown_options_are_refused(scores, given, words):
    with pytest.raises(bc.InputError, match=words):
        bc.fit(bc.ssme, scores, seed=1, **given)


def test_other_data_are_refused():
    data = bc.PUScores(positive=[0.2, 0.4], unlabeled=[0.3, 0.1])
    with pytest.raises(bc.InputError, match="ssme takes Scores or SampledRows; got PUScores"):
        bc.fit(bc.ssme, data, seed=1)


def test_nan_scores_of_one_classifier_are_refused():
    with pytest.raises(bc.InputError, match="b"):
        bc.Scores.stack({"a": [0.1, 0.2], "b": [0.3, float("nan")]}, y_true=[0, None])
