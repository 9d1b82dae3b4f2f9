"""What is fitted for given data and for groups, and what classifiers share."""

from pathlib import Path

import numpy as np
import pytest
from scipy.special import expit

import bayescal as bc
from bayescal.core.binning import Binning
from bayescal.core.errors import InputError
from bayescal.core.functionals import correlation
from bayescal.curves.average import POWER
from bayescal.curves.priors import COMPONENTS
from bayescal.quantities.ece.command import estimates
from bayescal.quantities.ece.plan import GroupedCase, influence, plan
from bayescal.quantities.ece.posterior import log_calibrated
from bayescal.quantities.ece.priors import HierarchicalBins, IndependentBins, Priors, SmoothCurve
from bayescal.quantities.ece.simulator import sample_panel
from bayescal.results.access import cases as result_cases
from bayescal.workflow import fit as fit_module

PANEL = sample_panel(400, seed=7, names=["less", "better", "over"])
SCORES = bc.Scores.stack(PANEL.score, y_true=PANEL.label)
THREE = bc.Scores(
    y_true=np.tile([0, 1, 2], 20), y_prob=np.random.default_rng(1).dirichlet([1, 2, 3], 60)
)


def fitted(case, draws=200):
    """Draws of a case's model, and what a result holds of them."""
    rng = np.random.default_rng(3)
    direct = case.model.direct_draws(draws, rng)
    drawn = {name: value[None] for name, value in direct.draws.items()}
    return drawn, case.arrays(drawn, direct, rng)


def test_one_case_a_classifier():
    made = plan(SCORES, Priors()).cases
    assert [case.coords["classifier"] for case in made] == ["less", "better", "over"]
    assert len({case.model.compile_key for case in made}) == 1
    assert len({case.fingerprint() for case in made}) == 3


def test_options_reach_every_case():
    for case in plan(SCORES, Priors(), binning=Binning(4, "uniform", "left")).cases:
        np.testing.assert_array_equal(case.problem.bins.edges, [0, 0.25, 0.5, 0.75, 1])
        assert case.problem.bins.closed == "left"


@pytest.mark.parametrize("prior", [Priors(), Priors(IndependentBins()), Priors(HierarchicalBins())])
def test_errors_correlate_as_the_influences_of_their_rows(prior):
    made = plan(SCORES, prior)
    arrays = [fitted(case)[1] for case in made.cases]
    found = made.correlate(arrays)
    influences = []
    for task, case, held in zip(SCORES.tasks(), made.cases, arrays, strict=True):
        cells = case.problem.cells
        sign = np.zeros(cells.n_bins)
        rows = np.flatnonzero(cells.count)
        sign[rows] = held.constant_data["gap_direction"][: len(rows)]
        influences.append(influence(task, cells, sign))
    np.testing.assert_allclose(found, correlation(influences), atol=1e-6)
    assert found.shape == (3, 3)
    assert found[0, 1] > 0.5


@pytest.mark.parametrize("prior", [SmoothCurve(), IndependentBins()])
def test_the_direction_of_a_gap_is_that_of_most_draws(prior):
    case = plan(SCORES, Priors(prior)).cases[0]
    drawn, arrays = fitted(case)
    rates, score = case.model.cell_rates(drawn, None), case.problem.cells.mean_score
    expected = (rates > score).mean((0, 1)) - (rates < score).mean((0, 1))
    held = expected[case.problem.cells.count > 0]
    np.testing.assert_allclose(arrays.constant_data["gap_direction"][: len(held)], held)


@pytest.mark.parametrize(
    "data",
    [
        SCORES.select("less"),
        bc.bin_scores(SCORES.select("less"), n_bins=5),
        bc.Scores.stack(PANEL.score, y_true=PANEL.label, group=PANEL.label),
    ],
    ids=["one classifier", "counts", "groups"],
)
def test_nothing_to_correlate(data):
    assert plan(data, Priors(IndependentBins())).correlate is None


def test_classes_are_not_correlated():
    assert plan(THREE, Priors(), multiclass="class-wise").correlate is None


def test_description_of_scores():
    label = PANEL.label.astype(float)
    label[:50] = np.nan
    scores = bc.Scores(y_true=label, y_prob=PANEL.score["less"], classes=(0, 1))
    assert plan(scores, Priors(), binning=Binning(7, "uniform", "left")).attrs == {
        "n_obs": 400,
        "n_labeled": 350,
        "classes": ["0", "1"],
        "multiclass": "binary",
        "binning_strategy": "uniform",
        "n_bins": 7,
        "closed": "left",
        "average_power": 0.35,
    }


@pytest.mark.parametrize("edges", [[0, 0.5, 1], np.array([0, 0.5, 1]), (0, 0.5, 1)])
def test_given_edges_have_their_number(edges):
    found = plan(THREE, Priors(), binning=Binning(strategy=edges), multiclass="class-wise").attrs
    assert (found["n_bins"], found["binning_strategy"]) == (2, "edges")
    assert found["multiclass"] == "class-wise"


@pytest.mark.parametrize("strategy", ["uniform", "quantile"])
def test_the_optimal_number_of_bins_is_in_the_description_and_in_the_case(strategy):
    made = plan(SCORES, Priors(), binning=Binning("optimal", strategy))
    assert made.attrs["n_bins"] == 8  # 7^3 < 400 <= 8^3
    assert {case.problem.bins.n_bins for case in made.cases} == {8}


def test_groups_have_one_optimal_number_of_bins():
    group = np.repeat(["a", "b", "c"], [30, 70, 300])
    scores = bc.Scores(y_true=SCORES.y_true, y_prob=SCORES.y_prob[0], group=group)
    for prior in (Priors(), Priors(IndependentBins())):
        made = plan(scores, prior, binning=Binning("optimal"))
        assert made.attrs["n_bins"] == 6  # 400 rows in three groups: 5^3 < 133.3 <= 6^3
    assert {case.problem.bins.n_bins for case in made.cases} == {6}


def test_counts_of_groups_without_a_label_are_refused():
    none = bc.Scores(
        y_true=[None] * 4, y_prob=[0.1, 0.4, 0.6, 0.9], group=[*"abab"], classes=(0, 1)
    )
    table = bc.Counts.from_scores(none)
    with pytest.raises(InputError, match="the counts must have at least one row"):
        plan(table, Priors(), binning=Binning("optimal"))
    given = {"n_bins": 15, "strategy": "quantile", "closed": "right", "multiclass": None}
    with pytest.raises(InputError, match="the counts must have at least one row"):
        estimates(table, given)


def test_description_of_counts_is_their_own():
    bins = bc.bin_scores(SCORES.select("over"), n_bins=6, strategy="quantile", closed="left")
    found = plan(bins, Priors(), binning=Binning(99)).attrs
    assert (found["n_bins"], found["binning_strategy"], found["closed"]) == (6, "quantile", "left")
    assert found["n_labeled"] == 400


def test_counts_have_the_cases_of_their_rows():
    score = SCORES.select("over").y_prob[0].round(2)
    label = np.append(np.where(SCORES.y_true == 1, "yes", "no"), [None] * 50)
    scores = bc.Scores(
        y_true=label, y_prob=np.append(score, [0.5] * 50), pos_label="yes", classifier="over"
    )
    counts = bc.Counts.from_arrays(label, np.append(score, [0.5] * 50), pos_label="yes")
    for priors in (Priors(), Priors(IndependentBins())):
        (expected,) = plan(scores, priors, binning=Binning(6)).cases
        made = plan({"over": counts}, priors, binning=Binning(6))
        (case,) = made.cases
        for name in ("edges", "count", "positives"):
            np.testing.assert_array_equal(
                getattr(case.problem.cells, name), getattr(expected.problem.cells, name)
            )
        assert made.correlate is None
        assert (made.attrs["n_obs"], made.attrs["n_labeled"]) == (450, 400)
        assert made.attrs["classes"] == ["no", "yes"]
        assert made.attrs["n_bins"] == 6
    (alone,) = plan(counts, Priors()).cases
    assert alone.coords == {"classifier": "classifier"}
    assert alone.problem.bins.n_bins == 15


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


def test_lines_of_groups_are_not_steep_and_no_curve_is_linear(scores):
    """Their evidence is that of normal ones, as their draws are."""
    (case,) = bc.ece.plan(scores, bc.ece.Priors()).cases
    assert {one.model.smooth.line.steep for one in case.alone} == {0.0}
    assert {one.model.fitted for one in case.alone} == {("smooth", "rough", "segments")}


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


@pytest.mark.parametrize("prior", [Priors(), Priors(IndependentBins())])
def test_signs_of_wrong_classes_are_seen_whether_or_not_there_are_groups(prior):
    prob = np.random.default_rng(1).dirichlet([1, 1, 1], 90)
    for group in (None, np.repeat(["a", "b"], 45)):
        wrong = bc.Scores(y_true=prob.argmin(axis=1), y_prob=prob, group=group)
        for case in plan(wrong, prior, binning=Binning(3)).cases:
            assert case.warnings[0].startswith("the most probable class is right in 0 of 90")


def test_a_group_without_a_curve_hides_no_tail_of_the_weights():
    group, score = np.repeat(["a", "b"], 40), np.repeat([[0.0, 1.0], [0.3, 0.6]], 20)
    found = plan(bc.Scores(y_true=np.tile([0, 1], 40), y_prob=score, group=group), Priors()).cases[
        0
    ]
    _, arrays = fitted(found)
    assert np.isfinite(arrays.diagnostics["pareto_k"])


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
