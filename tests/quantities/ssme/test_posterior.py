"""Plans, and the arrays of a result."""

import json
from dataclasses import replace

import arviz as az
import numpy as np
import pytest
from scipy.stats import t

import bayescal as bc
from bayescal.core.errors import InputError
from bayescal.core.quantity import dims_of
from bayescal.quantities.ssme import VARIABLES
from bayescal.quantities.ssme.data import Problem, score_matrix, weighted_matrix
from bayescal.quantities.ssme.metrics import Metrics
from bayescal.quantities.ssme.opinion_pool import DEGREES, LogSlope, under_assumptions
from bayescal.quantities.ssme.posterior import PRIOR_DRAWS, SSMECase, plan
from bayescal.quantities.ssme.priors import GaussianMixture, Priors, Tilt
from bayescal.quantities.ssme.simulator import truth
from bayescal.results.assemble import assemble
from tests.quantities.ssme.made import (
    TINY,
    binary,
    grouped,
    in_chains,
    many_classes,
    problem,
    result_of,
    weighted,
)

# Fifty draws a chain do not converge, and the result says so.
pytestmark = pytest.mark.filterwarnings("ignore::bayescal.core.errors.ConvergenceWarning")


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


def weighted_case(weight, priors=None, labeling="random", **given):
    matrix = weighted_matrix(weighted(weight, **given))
    return SSMECase.of(Problem.of(matrix, labeling), priors or Priors())


def test_equal_weights_change_nothing():
    plain, doubled = weighted_case(None), weighted_case(np.full(200, 2.0))
    for name, values in plain.model.inputs().items():
        np.testing.assert_array_equal(doubled.model.inputs()[name], values, err_msg=name)
    draws = {k: v[None] for k, v in plain.model.prior_draws(20, np.random.default_rng(1)).items()}
    found, other = (case.arrays(draws, None, np.random.default_rng(2)) for case in (plain, doubled))
    for part in ("posterior", "log_likelihood", "point_estimate", "bounds"):
        for name, values in getattr(found, part).items():
            np.testing.assert_allclose(getattr(other, part)[name], values, rtol=1e-9, err_msg=name)


def test_weighted_labels_count_as_their_effective_number():
    weight = np.random.default_rng(4).exponential(size=200)
    case = weighted_case(weight, Priors(power=0.5, discount=10))
    of_labels = weight[:20]
    n = of_labels.sum() ** 2 / (of_labels**2).sum()
    draws = {k: v[None] for k, v in case.model.prior_draws(5, np.random.default_rng(1)).items()}
    plain = weighted_case(None, Priors(power=1, discount=0)).model.log_likelihood(draws)
    expected = plain * 0.5 * n / (n + 10) * of_labels * n / of_labels.sum()
    np.testing.assert_allclose(case.model.log_likelihood(draws), expected, rtol=1e-12)
    found = case.arrays(draws, None, np.random.default_rng(2))
    said = found.bounds_attrs["labeled_accuracy"]["assumption"]
    assert f"effective number of labels, {int(n)}" in said
    # Hoeffding's inequality of a weighted mean: of n that is no whole number, but rounds up.
    assert n % 1 > 0.5
    assert found.bounds["labeled_accuracy"] >= np.sqrt(np.log(2 / 0.1) / (2 * n))


def test_metrics_of_weighted_labels_have_the_moments_of_a_weighted_bootstrap():
    weight = np.random.default_rng(4).exponential(size=200)
    case = weighted_case(weight, n_labeled=200)
    draws = case.model.prior_draws(4000, np.random.default_rng(1))
    found = case._metrics({k: v[None] for k, v in draws.items()}, np.random.default_rng(2))
    matrix = case.problem.matrix
    right = (matrix.probs.argmax(axis=2) == matrix.y).T
    mean = weight @ right / weight.sum()
    # The variance of a ratio of sums of w g, g ~ Exponential(1), to first order.
    sd = np.sqrt(weight**2 @ (right - mean) ** 2) / weight.sum()
    drawn = found["accuracy"][0]
    # Four standard errors; second order is a part in a hundred rows.
    np.testing.assert_allclose(drawn.mean(axis=0), mean, atol=4 * sd.max() / np.sqrt(4000) + 1e-3)
    np.testing.assert_allclose(drawn.std(axis=0), sd, rtol=4 / np.sqrt(8000) + 0.02)


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"priors": Priors(GaussianMixture())}, "a mixture cannot use sample weights"),
        ({"labeling": "one-per-class"}, "labeling must be 'random' where rows have weights"),
    ],
)
def test_models_that_cannot_use_weights_refuse_them(given, message):
    with pytest.raises(InputError, match=message):
        weighted_case(np.arange(1.0, 201), **given)


def test_weighted_rows_are_not_simulated():
    with pytest.raises(InputError, match="the model's own only of rows without weights"):
        weighted_case(np.arange(1.0, 201)).simulate(np.random.default_rng(1))


@pytest.mark.mcmc
def test_a_weighted_fit_is_of_the_population():
    # Rows on which the classifiers err are drawn a third as often as others.
    panel = truth("mixed").scores(2000, 0, seed=1)
    matrix = score_matrix(panel)
    population = (matrix.probs.argmax(axis=2) == matrix.y).mean(axis=1)
    rng = np.random.default_rng(5)
    q = np.where((matrix.probs.argmax(axis=2) == matrix.y).all(axis=0), 1.0, 1 / 3)
    rows = np.flatnonzero(rng.random(2000) < q)
    y = np.where(np.arange(len(rows)) < 400, panel.y_true[rows], -1)
    pairs = dict(zip(panel.classifiers, panel.y_prob[:, rows], strict=True))
    label = [None if k < 0 else int(k) for k in y]
    scores = bc.Scores.stack(pairs, y_true=label, sample_weight=1 / q[rows])
    result = bc.fit(bc.ssme, scores, seed=1, chains=2, draws=500)
    draws = result["posterior"]["accuracy"]
    apart = np.abs(draws.mean(("chain", "draw")).to_numpy() - population)
    assert (apart < 3 * draws.std(("chain", "draw")).to_numpy()).all()
    assert result.attrs["effective_n"] < 400


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


@pytest.mark.mcmc
def test_probabilities_of_labels_need_all_rows(scores, monkeypatch):
    """Of many rows a random part is modelled, and which is which would be lost."""
    monkeypatch.setattr("bayescal.quantities.ssme.data.MOST_UNLABELED", 100)
    with pytest.raises(bc.InputError, match=r"prob_label=True needs at most .* got 270"):
        bc.fit(bc.ssme, scores, prob_label=True, seed=1)


def test_one_classifier_has_no_dim_of_its_own():
    found, _ = result_of(n=100, m=1)
    assert found["posterior"]["accuracy"].dims == ("chain", "draw")
    assert found["reference_estimates"]["auc"].dims == ("method",)


def given(labels, change=lambda prob: prob, rows=200):
    """Three classifiers' scores and up to 32 labels, so that no model is compiled anew."""
    made, truth = binary(n=rows)
    label = [int(y) if keep else None for y, keep in zip(truth, labels(truth), strict=True)]
    scores = zip(made.classifiers, change(made.y_prob), strict=True)
    return bc.Scores.stack(list(scores), y_true=label)


def first(y):
    return np.arange(len(y)) < 20


SPECIAL = {
    "no labels": (lambda: given(lambda y: y < 0), "no row is labelled"),
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


@pytest.mark.mcmc
@pytest.mark.parametrize("label", [bc.ssme.Tilt(), bc.ssme.GaussianMixture()])
def test_there_is_no_method_but_nuts(scores, label):
    priors = bc.ssme.Priors(label=label)
    with pytest.raises(bc.InputError, match="no posterior without NUTS; got method='direct'"):
        bc.fit(bc.ssme, scores, priors=priors, method="direct", seed=1)


def case(made, label=None, **given):
    return SSMECase.of(made, Priors(label=label or Tilt()), **given)


def arrays(own, n=20, seed=1):
    rng = np.random.default_rng(seed)
    return own.arrays(in_chains(own.model.prior_draws(n, rng)), None, rng)


def lengths(own):
    """Length of every dim."""
    matrix = own.problem.matrix
    return {
        "classifier": matrix.n_classifiers,
        "label_class": matrix.n_classes,
        "group": len(matrix.groups),
        "method": 2,
        "obs": matrix.n_obs,
        "label_row": matrix.n_labeled,
        "dim": own.model.score.shape[1] if hasattr(own.model, "score") else 0,
    }


CASES = {
    "three classifiers": lambda: case(problem(n=60)),
    "one classifier": lambda: case(problem(n=60, m=1)),
    "groups": lambda: case(grouped()),
    "one classifier, groups": lambda: case(grouped(m=1)),
    "four classes": lambda: case(many_classes(n=60)),
    "labels kept": lambda: case(problem(n=60), keep_labels=True),
    "mixture": lambda: case(problem(n=60), GaussianMixture()),
}


@pytest.mark.parametrize("name", CASES)
def test_every_array_has_the_dims_that_the_case_names(name):
    own = CASES[name]()
    found, size = arrays(own), lengths(own)
    dims = dims_of(VARIABLES, own.axes)

    def shape(key):
        return tuple(size[dim] for dim in dims.get(key, ()))

    for key, values in found.posterior.items():
        assert values.shape == (2, 10, *shape(key)), key
    for key, values in found.prior.items():
        assert values.shape == (1, PRIOR_DRAWS, *shape(key)), key
    for key, values in found.point_estimate.items():
        if key != "class_prior":
            assert np.shape(values) == shape(key), key
    matrix = own.problem.matrix
    of_group = [matrix.group == k for k in range(len(matrix.groups))] or np.ones(matrix.n_obs, bool)
    assert np.all(found.point_estimate["n"] == np.sum((matrix.y >= 0) & of_group, axis=-1))
    for key, values in found.reference_estimates.items():
        assert values.shape == (2, *shape(key)), key
    for key, values in found.log_prior.items():
        assert values.shape == (2, 10, *shape(f"log_prior/{key}")), key
    assert found.log_likelihood["label"].shape == (2, 10, 20)
    assert found.posterior_predictive["label"].shape == (2, 10, 20)
    assert found.posterior_predictive["label"].dtype == np.int8
    assert set(found.bounds) == set(found.bounds_attrs)
    assert ("prob_label" in found.posterior) == (name == "labels kept")


def test_axes_name_the_dims_that_vary():
    always = {"label_class", "method", "assumption", "summary"}
    assert set(case(problem(n=60)).axes) == {"classifier", *always}
    assert set(case(grouped(m=1)).axes) == {"group", *always}
    assert dict(case(problem(n=60, m=1)).coords) == {"classifier": "c0"}
    assert dict(case(problem(n=60)).coords) == {}


def test_the_fingerprint_is_that_of_data_and_options():
    own = case(problem(n=60))
    assert own.fingerprint() == case(problem(n=60)).fingerprint()
    others = [
        case(problem(n=60, seed=1)),
        case(problem(n=60, n_labeled=19)),
        case(problem("one-per-class", n=60)),
        case(problem(n=60), ece="equal-width"),
        case(problem(n=60), keep_labels=True),
        case(replace(own.problem, weight=2 * own.problem.weight)),
        case(grouped()),
    ]
    assert len({own.fingerprint(), *(other.fingerprint() for other in others)}) == 8


def without(made, *labels):
    """Take the labels of some classes away; all if none is named."""
    matrix = made.matrix
    gone = np.isin(matrix.y, labels) | (not labels)
    return replace(made, matrix=replace(matrix, y=np.where(gone, -1, matrix.y).astype("i4")))


def test_without_labels_the_answer_is_the_prior_and_says_so():
    own = case(without(problem(n=60)))
    assert "no row is labelled" in own.warnings[0]
    found = arrays(own)
    assert np.isfinite(found.posterior["accuracy"]).all()
    assert found.log_likelihood["label"].shape == (2, 10, 0)
    assert found.posterior_predictive["label"].shape == (2, 10, 0)
    assert np.isnan(found.reference_estimates["accuracy"][1]).all()
    assert found.bounds["labeled_accuracy"] == 1


def test_a_group_of_all_rows_is_no_group(scores, tiny):
    rows = dict(zip(scores.classifiers, scores.y_prob, strict=True))
    label = [None if code < 0 else scores.classes[code] for code in scores.y_true]
    whole = bc.Scores.stack(rows, y_true=label, group=["all"] * scores.n_obs)
    found = bc.fit(bc.ssme, whole, **TINY)
    for name in ("accuracy", "ece", "mce", "auc"):
        held = found["posterior"][name].squeeze("group").transpose(*tiny["posterior"][name].dims)
        # Sums of rows taken by their places round in another order.
        np.testing.assert_allclose(held, tiny["posterior"][name], rtol=1e-12, err_msg=name)
    assert "group_slope" not in found["posterior"]


def test_a_group_without_label_is_named():
    made = grouped()
    matrix = made.matrix
    y = np.where(matrix.group == 2, -1, matrix.y).astype("i4")
    own = case(replace(made, matrix=replace(matrix, y=y)))
    assert any("no label in group 'z'" in note for note in own.warnings)
    found = arrays(own)
    assert np.isfinite(found.posterior["accuracy"]).all()
    assert np.isnan(found.reference_estimates["accuracy"][1, :, 2]).all()


def test_all_labels_leave_the_rows_own_chance():
    own = case(problem(n=60, n_labeled=60))
    found = arrays(own, n=400)
    share = (own.problem.matrix.probs.argmax(axis=2) == own.problem.matrix.y).mean(axis=1)
    draws = found.posterior["accuracy"].reshape(400, 3)
    error = draws.std(axis=0) / 20
    assert (np.abs(draws.mean(axis=0) - share) < 4 * error).all()
    assert not any("no label" in note for note in own.warnings)


def warned(made, **changed):
    """Warnings of a score matrix some of which is changed."""
    return " ".join(case(replace(made, matrix=replace(made.matrix, **changed))).warnings)


def calibrated(n=2000, n_labeled=200):
    """Three classifiers whose mean is right: each sees the log odds through a little noise."""
    return Problem.of(
        score_matrix(truth("alike").scores(n_labeled, n - n_labeled, seed=1)), "random"
    )


def stretched(matrix, by):
    moved = matrix.probs**by
    return moved / moved.sum(axis=-1, keepdims=True)


def test_agreement_that_probabilities_do_not_explain_is_warned_of():
    made = calibrated()
    assert "agree" not in warned(made)
    # Each through noise of its own: they agree on no more than four rows of five.
    sure = np.eye(2)[made.matrix.probs.argmax(axis=2)]
    assert "probably overconfident" in warned(made, probs=sure)
    assert "probably underconfident, share errors, or" in warned(
        made, probs=stretched(made.matrix, 0.2)
    )
    assert "agree" not in warned(made, probs=made.matrix.probs[:1], classifiers=("a",))


def test_warnings_are_of_the_pool_that_the_model_has():
    # In plain mean each of three contradicts the other two; by agreement two alike are the pool.
    y_prob = {"a": [0.8, 0.2] * 5, "b": [0.7, 0.3] * 5, "c": [0.001, 0.999] * 5}
    scores = bc.Scores.stack(y_prob, y_true=[0, 1, *[None] * 8])
    for pool, said in (("mean", "less often (0% of the rows)"), ("agreement", "more often (99%")):
        (found,) = plan(scores, Priors(label=Tilt(opinion_pool=pool))).cases
        assert said in " ".join(found.warnings)


def test_labels_that_contradict_the_classifiers_are_warned_of():
    made = calibrated()
    y = made.matrix.y
    assert "contradict" not in warned(made)
    assert "contradict" in warned(made, y=np.where(y < 0, y, 1 - y).astype("i4"))


def test_draws_of_one_class_are_said():
    # A row alone is of one class in every draw; two rows of probability .5 are in half of them.
    score = np.r_[np.linspace(0.05, 0.95, 57), [0.5] * 3]
    y = [int(s > 0.5) if i % 2 else None for i, s in enumerate(score[:57])] + [None] * 3
    groups = ["many"] * 57 + ["two"] * 2 + ["one"]
    made = bc.Scores(y_true=y, y_prob=score, group=groups)
    (said,) = arrays(case(Problem.of(score_matrix(made), "random")), n=500).warnings
    assert said.startswith("all rows of group 'one', 'two' are of one class in up to 100% of")
    whole = arrays(case(Problem.of(score_matrix(made.without_group()), "random")), n=50)
    assert whole.warnings == []


@pytest.mark.parametrize("known", [0, 1, 2])
def test_an_accuracy_without_chance_is_said(known):
    """Rows `few`, all labelled, on which c0 is right and c1 wrong; beside others, or alone."""
    scores, y = binary(n=60, m=2, n_labeled=60)
    prob = np.stack([np.where(y, 0.9, 0.2), np.where(y, 0.1, 0.7)])
    prob[:, 5:] = scores.y_prob[:, 5:]
    label = [int(v) if i < (0, 5, 20)[known] else None for i, v in enumerate(y)]
    given = dict(zip(("c0", "c1"), prob, strict=True))
    group = np.where(np.arange(60) < 5, "few", "many")
    made = bc.Scores.stack(given, y_true=label, classes=[0, 1], group=group)
    own = case(Problem.of(score_matrix(made), "random"))
    said = [one for one in own.warnings if "no width" in one]
    # Of one label a draw's accuracy is that of the label, whatever the weights.
    constant = np.ptp(arrays(own).posterior["accuracy"][..., 0], axis=(0, 1)) < 1e-9
    assert constant.all() == bool(said) == (known > 0)
    whole = case(Problem.of(score_matrix(made.without_group()), "random"))
    assert not any("no width" in one for one in whole.warnings)
    if said:
        assert said[0].startswith("every row of group 'few' is labelled, and 'c0', 'c1' right on")


def test_a_tied_pool_is_right_as_often_as_the_accuracy_says():
    # Of two equal classes the second is predicted, which 20 labels of 200 are.
    made = calibrated()
    y = np.where(made.matrix.labeled, np.arange(2000) < 20, -1).astype("i4")
    said = warned(made, probs=np.full_like(made.matrix.probs, 0.5), y=y)
    assert "right on 10% of them, and should be on 50%" in said


def test_rows_labelled_for_their_class_do_not_contradict_the_classifiers():
    """Of a class of one row in fifty a label was looked for: the pool is right on half the two."""
    scores = bc.Scores.stack({"a": [0.02] * 90, "b": [0.02] * 90}, y_true=[1, 0, *[None] * 88])
    for labeling, wrong in (("random", True), ("one-per-class", False)):
        (found,) = plan(scores, Priors(), labeling=labeling).cases
        assert any("contradict the classifiers" in text for text in found.warnings) == wrong


@pytest.mark.parametrize("make", [problem, grouped, lambda **given: problem(m=1, **given)])
def test_few_labels_come_with_the_answer_under_each_assumption(make):
    own = case(make(n=60, n_labeled=20))
    found = arrays(own, n=2000)
    parts = found.sensitivity["probability"]
    assert parts[[0, 2]].sum() == pytest.approx(1)
    for name in Metrics._fields:
        lower, median, upper = np.moveaxis(found.sensitivity[name], 1, 0)
        assert median.shape == (3, *found.posterior[name].shape[2:])
        defined = np.isfinite(median)
        assert (lower[defined] <= median[defined]).all()
        assert (median[defined] <= upper[defined]).all()
    assert not arrays(case(make(n=120, n_labeled=100))).sensitivity
    assert not arrays(SSMECase.of(make(n=60, n_labeled=20), Priors.trusting())).sensitivity


def test_an_assumption_weighs_the_draws_by_its_prior():
    """Draws of the prior: under the first assumption those of the narrow part."""
    own = case(problem(n=60))
    draws = in_chains(own.model.prior_draws(20_000, np.random.default_rng(1)))
    found = under_assumptions(own.model.log_slope, draws, {"log_slope": draws["log_slope"]})
    slope = own.model.log_slope
    assert found["probability"][0] == pytest.approx(1 - slope.weight, abs=0.02)
    for place, part in ((0, 0), (2, 1)):
        half = slope.scale[part] * t.ppf(0.95, DEGREES[part])
        expected = slope.centre[part] + np.array([-half, 0, half])
        np.testing.assert_allclose(found["log_slope"][place], expected, atol=0.1 * half + 0.005)


def test_a_narrow_part_without_weight_is_an_assumption_still():
    """Where the wide part has all the weight, the other two assumptions are reached by weights."""
    slope = LogSlope(1.0, (0.0, 0.3), (0.3, 0.4))
    draws = {"log_slope": 0.3 + 0.4 * t.rvs(4, size=(2, 20_000), random_state=1)}
    found = under_assumptions(slope, draws, draws)
    np.testing.assert_allclose(found["probability"], [0, np.nan, 1], atol=1e-300)
    half = 0.3 * t.ppf(0.95, DEGREES[0])
    np.testing.assert_allclose(found["log_slope"][0], [-half, 0, half], atol=0.06)


def test_identical_classifiers_get_the_same_numbers():
    made = problem(n=60, m=1)
    twice = replace(
        made.matrix, probs=np.repeat(made.matrix.probs, 2, axis=0), classifiers=("a", "b")
    )
    found = arrays(case(replace(made, matrix=twice)))
    for name in Metrics._fields:
        np.testing.assert_allclose(found.posterior[name][..., 0], found.posterior[name][..., 1])


@pytest.mark.mcmc
def test_fifty_classes_most_of_them_without_label():
    own = case(many_classes(n=120, k=50))
    assert "more: estimates of such a class rest on the prior" in own.warnings[0]
    found = arrays(own)
    assert found.posterior["intercept"].shape == (2, 10, 50)
    for name in Metrics._fields:
        assert np.isfinite(found.posterior[name]).all()


@pytest.mark.parametrize("name", ["three classifiers", "groups", "four classes", "mixture"])
def test_replicated_labels_have_the_probabilities_of_the_model(name):
    own = CASES[name]()
    rng = np.random.default_rng(3)
    # Three different draws, each repeated: shares of their labels are then those of one law.
    few = own.model.prior_draws(3, rng)
    draws = {key: np.repeat(value[:, None], 2000, axis=1) for key, value in few.items()}
    label = own.replicated_labels(draws, rng)
    expected = own.model.label_probs(few)[:, own.problem.rows]
    shares = np.stack(
        [(label == k).mean(axis=1) for k in range(own.problem.matrix.n_classes)], axis=-1
    )
    # A share of 2000 has a standard error of at most .0112; below .052 for all of 240.
    np.testing.assert_allclose(shares, expected, atol=0.052)


@pytest.mark.parametrize(("make", "kind"), [(problem, "binary"), (many_classes, "categorical")])
def test_arviz_plots_replicated_labels_against_those_observed(make, kind):
    own = case(make(n=60))
    tree = assemble([arrays(own)], variables=VARIABLES, attrs={"quantity": "ssme"}, coords=own.axes)
    assert tree["posterior_predictive"]["label"].dims == ("chain", "draw", "label_row")
    assert tree["observed_data"]["label"].dims == ("label_row",)
    az.plot_ppc_pava(tree, data_type=kind, backend="none")
    observed = tree["observed_data"]["label"]
    drawn = az.extract(tree, group="posterior_predictive", var_names="label")
    assert drawn.sizes == {"label_row": observed.size, "sample": 20}
