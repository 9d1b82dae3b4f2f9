"""Groups through ``bc.fit``: what the result holds, and what a reader is told."""

from pathlib import Path

import numpy as np
import pytest
from scipy.special import expit

import bayescal as bc
from bayescal.core.binning import Binning
from bayescal.curves.average import POWER
from bayescal.curves.priors import COMPONENTS
from bayescal.quantities.ece import IndependentBins, Priors
from bayescal.quantities.ece.plan import GroupedCase, plan
from bayescal.quantities.ece.posterior import log_calibrated
from bayescal.results.access import cases as result_cases
from bayescal.workflow import fit as fit_module

SIZES = {"men": 400, "women": 300, "other": 60}
DIRECT = {"seed": 20, "method": "direct", "n_bins": 6, "draws": 250}


def make(seed=1, classifiers=1):
    rng = np.random.default_rng(seed)
    group = np.repeat(list(SIZES), list(SIZES.values()))
    rng.shuffle(group)
    x = rng.normal(0, 1.5, len(group))
    event = (rng.random(len(group)) < expit(0.6 * x)).astype(int)
    noisy = [expit(x + 0.3 * k * rng.normal(size=len(x))) for k in range(classifiers)]
    if classifiers == 1:
        return bc.Scores(y_true=event, y_prob=noisy[0], group=group)
    stacked = {f"m{k}": p for k, p in enumerate(noisy)}
    return bc.Scores.stack(stacked, y_true=event, group=group)


def rows_of(scores, name):
    """One group's rows as scores of their own."""
    rows = scores.group == scores.groups.index(name)
    return bc.Scores(y_true=scores.y_true[rows], y_prob=scores.y_prob[0, rows])


@pytest.fixture(scope="module")
def scores():
    return make()


@pytest.fixture(scope="module")
def tree(scores):
    return bc.fit(bc.ece, scores, **DIRECT)


def test_all_groups_are_one_case(scores):
    (found,) = plan(scores, Priors()).cases
    assert isinstance(found, GroupedCase)
    assert found.axes == {"group": scores.groups, "description": COMPONENTS, "boundary": ("0", "1")}
    assert dict(found.coords) == {"classifier": "classifier"}


def test_the_result_has_a_dim_group(scores, tree):
    groups = tree["posterior"]["group"].values.tolist()
    assert groups == list(scores.groups)
    assert tree["posterior"]["ece"].dims == ("chain", "draw", "group")
    assert tree["posterior"]["label_rate"].dims == ("chain", "draw", "group", "bin")
    assert tree["posterior"]["deviation"].dims == ("chain", "draw", "group", "basis")
    assert tree["posterior"]["common"].dims == ("chain", "draw", "basis")
    assert tree["posterior"]["pooling"].dims == ("chain", "draw")
    assert tree["model_average"]["p_calibrated"].dims == ("group",)
    assert tree["model_average"]["weight"].dims == ("group", "description")
    np.testing.assert_allclose(tree["model_average"]["weight"].sum("description"), 1)
    assert tree["descriptions"]["tce"].dims == ("chain", "draw", "group", "description")
    for group, name in (("posterior", "description"), ("given_miscalibration", "tce")):
        assert tree[group][name].dims == ("chain", "draw", "group")
    assert tree["bounds"]["deviation"].dims == ("group",)
    assert [case.group for case in result_cases(tree)] == groups
    assert tree.attrs["status"] == "ok"


def test_point_estimates_are_those_of_the_groups_rows(scores, tree):
    for name in scores.groups:
        expected = bc.ece.estimate(rows_of(scores, name), n_bins=6)
        found = tree["point_estimate"].dataset.sel(group=name)
        for variable in ("ece", "mce", "l2", "l2_debiased", "label_rate", "count", "bin_edges"):
            np.testing.assert_allclose(
                found[variable].values, getattr(expected, variable), rtol=1e-12
            )
        assert found["n"].item() == SIZES[name]


def test_the_errors_agree_with_their_curves(tree):
    """Gap is label rate less confidence, and the ECE lies between none and the largest gap."""
    posterior_ = tree["posterior"].dataset
    gap = np.abs(posterior_["gap"]).max("bin")
    np.testing.assert_allclose(posterior_["mce"], gap, rtol=1e-9)
    assert (posterior_["ece"] <= posterior_["mce"]).all()
    assert (posterior_["ece"] <= posterior_["tce"] + 1e-12).all()


@pytest.mark.slow
def test_probability_of_calibration_is_that_of_the_groups_own_rows(scores, tree):
    (grouped,) = plan(scores, Priors(), binning=Binning(6)).cases
    for alone in grouped.alone:
        evidence = alone.model.direct_draws(20_000, np.random.default_rng(1)).evidence
        right = log_calibrated(alone.problem.cells)
        # One against one, as calibrated or not is as likely; no score is 0 or 1.
        odds = sum(
            share * np.exp(POWER * (evidence[name] - right))
            for name, share in alone.priors.label_rate.weights.items()
        )
        expected = 1 / (1 + odds)
        found = tree["model_average"]["p_calibrated"].sel(group=alone.coords["group"]).item()
        # Four errors of an evidence that rests on some 400 effective draws.
        error = 4 * expected * (1 - expected) / 20
        assert found == pytest.approx(float(expected), abs=error)


def test_the_draws_behind_that_probability_are_counted(tree):
    assert 400 < tree["diagnostics"]["importance_ess"].item() <= 4000


@pytest.mark.slow
def test_a_group_without_labels_is_left_out_and_named(scores):
    label = scores.y_true.astype(float)
    label[scores.group == scores.groups.index("other")] = np.nan
    names = np.array(scores.groups)[scores.group]
    some = bc.Scores(y_true=label, y_prob=scores.y_prob[0], group=names)
    tree = bc.fit(bc.ece, some, **DIRECT)
    assert set(tree["posterior"]["group"].values) == {"men", "women"}
    assert "group other has no labelled row and is left out." in tree.attrs["status"]
    assert len(bc.summary(tree)) == 2


def test_warnings_name_the_group():
    label, group = [1] * 30 + [0, 1] * 30, ["a"] * 30 + ["b"] * 60
    p = np.linspace(0.2, 0.9, 90)
    tree = bc.fit(bc.ece, bc.Scores(y_true=label, y_prob=p, group=group), **DIRECT)
    assert "in group a, all 30 labels are positive" in tree.attrs["status"]
    one = bc.Scores(y_true=[1, 0, 1], y_prob=[0.3, 0.4, 0.6], group=["a", "b", "b"])
    assert "in group a, the only label is positive" in bc.fit(bc.ece, one, **DIRECT).attrs["status"]


def test_many_groups_of_one_fault_are_one_warning():
    names = np.repeat([f"g{number}" for number in range(12)], 3)
    scores = bc.Scores(y_true=np.tile([1, 1, 1, 0, 0, 0], 6), y_prob=np.full(36, 0.5), group=names)
    said = bc.fit(bc.ece, scores, **DIRECT).attrs["status"]
    assert "in groups g0, g10, g2, g4, g6 and 1 more, all 3 labels are positive" in said
    assert said.count("labels are") == 2


@pytest.mark.slow
def test_one_group_only():
    scores = make()
    names = np.full(scores.n_obs, "all")
    one = bc.Scores(y_true=scores.y_true, y_prob=scores.y_prob[0], group=names)
    tree = bc.fit(bc.ece, one, **DIRECT)
    assert len(bc.summary(tree)) == 1
    expected = bc.ece.estimate(scores, n_bins=6).ece
    assert bc.summary(tree)["ece_point"].item() == pytest.approx(float(expected))
    bc.interval(tree, "tce")
    without = bc.fit(bc.ece, scores.without_group(), **DIRECT)["posterior"]["tce"].values
    # The prior is wider by the deviation from a common curve of which this is the only one.
    assert abs(tree["posterior"]["tce"].values.mean() - without.mean()) < 0.5 * without.std()


@pytest.mark.slow
def test_a_group_of_one_row():
    scores = make()
    names = np.array(scores.groups)[scores.group].astype(object)
    names[0] = "lone"
    lone = bc.Scores(y_true=scores.y_true, y_prob=scores.y_prob[0], group=names)
    tree = bc.fit(bc.ece, lone, **DIRECT)
    assert np.isfinite(tree["posterior"]["tce"].sel(group="lone")).all()
    assert tree["point_estimate"]["n"].sel(group="lone").item() == 1


def test_independent_bins_are_separate_cases(scores):
    priors = Priors(label_rate=IndependentBins())
    found = plan(scores, priors, binning=Binning(6)).cases
    assert [case.coords["group"] for case in found] == list(scores.groups)
    assert not any(isinstance(case, GroupedCase) for case in found)
    tree = bc.fit(bc.ece, scores, priors=priors, **DIRECT)
    table = bc.summary(tree)
    for name in scores.groups:
        expected = bc.ece.estimate(rows_of(scores, name), n_bins=6).ece
        assert table.set_index("group").loc[name, "ece_point"] == pytest.approx(float(expected))


def test_separate_cases_say_once_what_is_left_out(scores):
    label = scores.y_true.astype(float)
    label[scores.group == scores.groups.index("other")] = np.nan
    names = np.array(scores.groups)[scores.group]
    some = bc.Scores(y_true=label, y_prob=scores.y_prob[0], group=names)
    tree = bc.fit(bc.ece, some, priors=Priors(label_rate=IndependentBins()), **DIRECT)
    assert tree.attrs["status"].count("group other has no labelled row") == 1


@pytest.mark.slow
def test_classes_and_groups():
    rng = np.random.default_rng(2)
    p = rng.dirichlet((1, 2, 3), 300)
    label = (rng.random((300, 1)) > p.cumsum(axis=1)).sum(axis=1)
    scores = bc.Scores(y_true=label, y_prob=p, group=np.repeat(["a", "b"], 150))
    tree = bc.fit(bc.ece, scores, multiclass="marginal", **DIRECT)
    assert len(bc.summary(tree)) == 6
    found = bc.marginal(tree, group="b")
    own = bc.Scores(y_true=label[150:], y_prob=p[150:])
    expected = bc.ece.estimate(own, n_bins=6, multiclass="marginal").ece
    assert found.plug_in == pytest.approx(float(expected))


@pytest.mark.slow
def test_a_checkpoint_is_used_again(scores, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    first = bc.fit(bc.ece, scores, checkpoint=tmp_path, **DIRECT)
    assert len(list(tmp_path.iterdir())) == 1

    def refuse(*_):
        raise AssertionError("the case was fitted again")

    monkeypatch.setattr(fit_module, "fit_case", refuse)
    again = bc.fit(bc.ece, scores, checkpoint=tmp_path, **DIRECT)
    for name in ("ece", "tce", "deviation", "pooling"):
        np.testing.assert_array_equal(again["posterior"][name], first["posterior"][name])
        assert again["posterior"][name].dims == first["posterior"][name].dims
    with pytest.raises(AssertionError, match="fitted again"):
        bc.fit(bc.ece, make(seed=2), checkpoint=tmp_path, **DIRECT)


@pytest.mark.mcmc
def test_nuts_through_fit(scores, tree):
    found = bc.fit(bc.ece, scores, seed=3, n_bins=6, draws=1000)
    assert found.attrs["status"] == "ok"
    for name in scores.groups:
        ours = found["posterior"]["tce"].sel(group=name).values
        theirs = tree["posterior"]["tce"].sel(group=name).values
        assert abs(ours.mean() - theirs.mean()) < 0.2 * theirs.std()
