"""Plans, and the arrays of a result."""

import numpy as np
import pandas as pd
import polars as pl
import pytest
import xarray as xr
from scipy.special import softmax
from scipy.stats import beta

import bayescal as bc
from bayescal.core.scores import select_rows
from bayescal.quantities.temperature.data import Problem, data_warnings
from bayescal.quantities.temperature.posterior import (
    TemperatureCase,
    confidences,
    mean_probabilities,
    plan,
    points_of,
)
from bayescal.quantities.temperature.priors import MODELS, Priors
from tests.quantities.temperature.made import rows

QUICK = {"method": "direct", "draws": 250, "seed": 1}


def two_classifiers(n):
    logits = np.random.default_rng(0).normal(size=(n, 3))
    both = {"a": logits, "b": 5 * logits}
    return logits, bc.Scores.stack(both, y_true=logits.argmax(axis=1), from_logits=True)


def test_titles_of_errors_say_whether_they_are_of_before_or_after():
    titles = [one.title for one in bc.temperature.VARIABLES if "ECE" in one.title]
    assert len(titles) == 8
    assert sum(title.endswith(" before calibration") for title in titles) == 4
    assert sum(title.endswith(" after calibration") for title in titles) == 4


def test_one_case_a_classifier():
    found = plan(two_classifiers(30)[1], Priors())
    assert [case.coords for case in found.cases] == [{"classifier": "a"}, {"classifier": "b"}]
    assert found.attrs["n_labeled"] == 30


def test_comparisons_say_that_rows_are_not_paired():
    result = bc.fit(bc.temperature, two_classifiers(30)[1], **QUICK)
    for found in (bc.difference(result, "a", "b"), bc.best(result)):
        assert "ECE after calibration (as if each had rows of its own)" in found.text


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (
            lambda: bc.Scores(y_true=[1, 0], y_prob=[0.0, 0.2]),
            r"score above 0; it is 0 for classifier at row 0 \(1 such rows\)",
        ),
        (
            lambda: bc.Scores(y_true=[0, 1], y_prob=[0.2, 0.0], sample_weight=[0, 1]),
            r"it is 0 for classifier at row 0 of those of weight above 0 \(1 such rows\)",
        ),
        (
            lambda: bc.Scores(y_true=[None, None], y_prob=[0.1, 0.2]),
            "got none in 2 rows",
        ),
        (
            lambda: bc.Scores(
                y_true=[1, 0], y_prob=[[np.inf, 0.0, 1.0], [0.0, 1.0, 2.0]], from_logits=True
            ),
            "largest logit of each row of y_prob must be finite; got inf at row 0",
        ),
        (
            lambda: bc.Scores(y_true=[3, 0], y_prob=np.eye(3)[:2], from_logits=True),
            "y_true must number the 3 columns of y_prob, 0 to 2; got 3|got 3 at row 0",
        ),
        (lambda: [0.5], "temperature takes Scores or CountedRows; got list"),
    ],
)
def test_data_that_cannot_be_used_are_refused(make, message):
    with pytest.raises(bc.InputError, match=message):
        plan(make(), Priors())


def test_logits_of_single_precision_are_other_data():
    # Their confidences are rounded otherwise, and may lie in other bins.
    given = np.array([[0.5, 0.25], [1.5, -2.0], [0.0, 3.0]])
    cases = [
        bc.temperature.plan(bc.Scores([0, 1, 1], logits, from_logits=True), Priors()).cases[0]
        for logits in (given, given.astype(np.float32))
    ]
    assert len({case.problem.logits.tobytes() for case in cases}) == 1
    assert len({case.fingerprint() for case in cases}) == 2


def test_weights_of_models_sum_to_1():
    assert Priors().weights == pytest.approx(dict.fromkeys(MODELS, 1 / 3))
    assert Priors(shared=0, vector=0).weights == {"class temperatures": 1}
    assert "prior probability 0.333" in Priors().describe()
    with pytest.raises(bc.InputError, match=r"got 0\.5 and 0\.5"):
        Priors(shared=0.5, vector=0.5)


@pytest.fixture(scope="module")
def result():
    scores = bc.datasets.temperature.truth("heterogeneous").scores(600, seed=1)
    return bc.fit(bc.temperature, scores, method="direct", seed=20)


def test_many_rows_find_the_truth():
    truth = bc.datasets.temperature.truth("heterogeneous")
    fitted = bc.fit(bc.temperature, truth.scores(40_000, seed=2), **QUICK)
    draws = fitted["posterior"]["log_alpha"]
    apart = (draws.mean(("chain", "draw")) - np.log(truth.alpha)) / draws.std(("chain", "draw"))
    # Ten standard normal values.
    assert np.abs(apart).max() < 4
    logits = truth.logits(50_000, seed=3)
    prob = bc.temperature.calibrate(fitted, logits)
    np.testing.assert_allclose(prob, truth.probability(logits), atol=0.03)


def test_a_seed_moves_errors_no_more_than_their_draws_say():
    # Of few rows, bins and the rows added to them moved means by .15 standard deviations.
    scores = bc.datasets.temperature.truth("heterogeneous").scores(300, seed=1)
    kept = ["ece", "avg_ece", "ece_uncalibrated", "avg_ece_uncalibrated"]
    fits = [bc.fit(bc.temperature, scores, method="direct", seed=seed) for seed in range(5)]
    draws = xr.concat([fit["posterior"].dataset[kept] for fit in fits], "seed")
    among = draws.mean(["chain", "draw"]).std("seed", ddof=1)
    # Means of 4,000 draws: .016, with a standard error of a third of it.
    assert (among < 0.04 * draws.std(["seed", "chain", "draw"])).to_array().all()


def test_errors_before_calibration_are_those_of_the_truth():
    truth = bc.datasets.temperature.truth("heterogeneous")
    logits = truth.logits(100_000, seed=5)
    top = softmax(logits, axis=1).max(axis=1)
    ece, each = truth.class_errors(logits, top, bc.Binning(15, "uniform"))
    fitted = bc.fit(bc.temperature, truth.scores(5000, seed=2), **QUICK)
    for name, value in (
        ("ece", ece),
        ("max_ece", np.nanmax(each)),
        ("avg_ece", np.nanmean(each)),
    ):
        draws = fitted["posterior"][f"{name}_uncalibrated"]
        assert abs(float(draws.mean()) - value) < 4 * float(draws.std()), name


def test_simulated_numbers_are_drawn_from_the_prior():
    scores = bc.datasets.temperature.truth("homogeneous").scores(100, seed=1, n_unlabeled=20)
    case = TemperatureCase.of(Problem.of(scores, "classifier"), Priors(shared=0.4, vector=0))
    rng = np.random.default_rng(0)
    drawn = [case.simulate(rng)[1] for _ in range(100)]
    mu = np.array([one["mu"] for one in drawn])
    assert abs(mu.mean()) < 4 * 0.7 / 10
    alike = np.array([one["tau"] == 0 for one in drawn])
    assert abs(alike.mean() - 0.4) < 4 * 0.05
    assert all(np.ptp(one["log_alpha"]) == 0 for one in np.array(drawn)[alike])
    again, values = case.simulate(rng)
    assert (again.problem.label[100:] == -1).all()
    assert values["log_alpha"].shape == (10,)


@pytest.mark.slow
def test_ranks_of_simulated_numbers_are_uniform():
    from bayescal.workflow.simulation import sbc

    found = sbc(
        bc.temperature,
        bc.datasets.temperature.truth("binary").scores(60, seed=1),
        100,
        seed=20,
        priors=Priors(vector=0),
        method="direct",
        draws=100,
    )
    p_values = found.p_values(bins=5)
    # The model, three variables, one of two classes, at a joint error of 1%.
    assert min(p_values.values()) > 0.01 / len(p_values)


@pytest.mark.slow
def test_models_are_as_probable_as_they_are_true():
    truth = bc.datasets.temperature.truth("homogeneous")
    case = TemperatureCase.of(Problem.of(truth.scores(100, seed=1), "classifier"), Priors())
    rng = np.random.default_rng(20)
    given = np.zeros((3, 3))
    times = np.zeros(3)
    for _ in range(60):
        again, value = case.simulate(rng)
        weight = again.model.probabilities(again.model.direct_draws(10, rng).evidence)
        given[value["description"]] += weight
        times[value["description"]] += 1
    # Over data from the prior the probability of each model is on average its prior one: 1/3. Its
    # standard deviation is at most .47.
    np.testing.assert_allclose(given.sum(axis=0) / 60, times / 60, atol=4 * 0.47 / 60**0.5)
    assert (given.argmax(axis=1) == np.arange(3)).all()


def test_masked_logits_have_the_probability_0_and_the_others_keep_theirs(result):
    # A logit of -500 has a probability below 1e-100 at every temperature of the posterior.
    row, deep = np.arange(10.0), np.arange(10.0)
    row[3], deep[3] = -np.inf, -500
    prob = bc.temperature.calibrate(result, [row, np.arange(10.0)])
    assert prob[0, 3] == 0
    np.testing.assert_allclose(prob[0], bc.temperature.calibrate(result, [deep])[0], atol=1e-12)
    np.testing.assert_allclose(prob.sum(axis=1), 1)
    table = pd.DataFrame([row[::-1]], columns=range(9, -1, -1))
    np.testing.assert_array_equal(bc.temperature.calibrate(result, table), prob[:1])
    for bad in (np.inf, np.nan):
        with pytest.raises(bc.InputError, match="logits must hold finite logits"):
            bc.temperature.calibrate(result, [[bad, *row[1:]]])
    with pytest.raises(bc.InputError, match="logits must hold finite logits; got -inf at row 0"):
        bc.temperature.calibrate(result, [[-np.inf] * 10])


def test_vector_scaling_is_found_and_calibrates():
    truth = bc.datasets.temperature.truth("vector")
    fitted = bc.fit(bc.temperature, truth.scores(3000, seed=2), **QUICK)
    assert float(fitted["model_average"]["weight"].sel(description="vector scaling")) > 0.99
    logits = truth.logits(5000, seed=3)
    prob = bc.temperature.calibrate(fitted, logits)
    np.testing.assert_allclose(prob.sum(axis=1), 1)
    off = np.abs(prob - truth.probability(logits)).mean()
    alone = bc.fit(bc.temperature, truth.scores(3000, seed=2), priors=Priors(vector=0), **QUICK)
    other = np.abs(bc.temperature.calibrate(alone, logits) - truth.probability(logits)).mean()
    # Of 3,000 rows vector scaling leaves about half of the error; draws move it by a few per cent.
    assert off < 0.6 * other


def test_calibration_errors_fall(result):
    posterior = result["posterior"]
    for name in ("ece", "max_ece", "avg_ece"):
        assert float(posterior[name].mean()) < float(posterior[f"{name}_uncalibrated"].mean()) / 2


def problem(label, logits):
    data = bc.Scores(y_true=label, y_prob=np.array(logits, float), from_logits=True)
    return Problem.of(data, "classifier")


def test_a_class_never_predicted_and_one_always_right_are_named():
    found = data_warnings(problem([0, 1, 0, 2], [[3, 0, 0], [2, 0, 0], [2, 0, 1], [0, 0, 4]]))
    assert any("predicted class 1: never predicted" in text for text in found)
    assert any("predicted class 2: right in every labelled row" in text for text in found)


@pytest.mark.parametrize(("sure", "said"), [(1.0, True), (0.999, False)])
def test_right_rows_that_no_temperature_lets_err_are_said(sure, said):
    label = np.arange(30) % 3
    prob = np.where(np.eye(3)[label] > 0, sure, (1 - sure) / 2)
    scores = bc.Scores(y_true=label, y_prob=prob)
    status = bc.fit(bc.temperature, scores, **QUICK).attrs["status"]
    limit = beta.ppf(0.95, 1, 30)  # of the rate of errors, by Clopper and Pearson
    assert (f"near 0, though {limit:.2g} of such rows may be wrong" in status) == said
    # The remedy has scores of 1 err: a tenth of the limit or more.
    assert bc.interval(bc.fit(bc.ece, scores.top_label(), **QUICK), "ece").max() > limit / 10


def test_fewer_rows_than_classes_and_labels_of_one_class_are_said():
    found = data_warnings(problem([0, 0], [[3.0, 0, 0], [0, 1, 0]]))
    assert any("labelled rows, 2, are fewer than the 3 classes" in text for text in found)
    assert any("all labels are 0" in text for text in found)


def test_a_label_far_below_the_largest_logit_is_refused_and_a_mask_is_not():
    logits = np.array([[0.0, 2.0, -1e30], [3e9, 0.0, -1e30], [0.0, 1.0, -1e30]])
    masked = problem([1, 0, 0], logits).numbers
    assert np.isfinite(masked.alpha).all()
    with pytest.raises(bc.InputError, match=r"within 1e\+08 .*; got 0 beside 3e\+09 .* row 1"):
        problem([1, 1, 0], logits)


def test_equal_scores_of_all_classes_are_said():
    found = data_warnings(problem([0, 1, 2, 1], np.full((4, 3), 0.1)))
    assert any("equal in every labelled row: temperatures change nothing" in text for text in found)
    found = data_warnings(problem([0, 1, 2, 1], [[0.0, 0, 0]] * 3 + [[0, 0.1, 0]]))
    assert not any("equal in every" in text for text in found)


@pytest.mark.parametrize(("scale", "temperature"), [(1, None), (1e3, "100"), (1e-3, "0.01")])
def test_a_temperature_at_an_end_of_its_range_is_said(scale, temperature):
    logits, label = rows(200, 3)
    data = bc.Scores(y_true=label, y_prob=scale * logits, from_logits=True)
    status = bc.fit(bc.temperature, data, method="direct", seed=1).attrs["status"]
    assert ("an end of its range" in status) == (temperature is not None)
    assert temperature is None or f"of all rows is {temperature}, an end" in status


def test_probabilities_given_as_logits_are_said():
    logits = bc.datasets.temperature.truth("heterogeneous").logits(50, seed=1)
    prob = softmax(logits, axis=1)
    label = prob.argmax(axis=1)
    assert any("look like probabilities" in text for text in data_warnings(problem(label, prob)))
    for other in (logits, 0.1 * logits):
        found = data_warnings(problem(label, other))
        assert not any("look like probabilities" in text for text in found)


@pytest.mark.parametrize("n_rows", [4, 2])
def test_few_rows_and_odd_classes_are_fitted(n_rows):
    logits = np.array([[3.0, 0, 0], [2, 0, 0], [2, 0, 1], [0, 0, 4]])[:n_rows]
    data = bc.Scores(y_true=[0, 1, 0, 2][:n_rows], y_prob=logits, from_logits=True)
    fitted = bc.fit(bc.temperature, data, method="direct", seed=1, draws=200)
    posterior = fitted["posterior"]
    for name in ("ece", "max_ece", "avg_ece", "alpha"):
        assert np.isfinite(posterior[name]).all()
    assert fitted.attrs["status"] != "ok"


def test_two_classes_as_one_column_or_two():
    truth = bc.datasets.temperature.truth("binary")
    logits = truth.logits(200, seed=1)
    label = (logits[:, 1] + np.random.default_rng(0).normal(0, 3, 200) > logits[:, 0]).astype(int)
    label = np.array(["no", "yes"])[label]
    given = {"from_logits": True, "pos_label": "yes"}
    both = bc.Scores(y_true=label, y_prob=logits, classes=["no", "yes"], **given)
    one = bc.Scores(y_true=label, y_prob=logits[:, 1] - logits[:, 0], **given)
    found = [bc.fit(bc.temperature, x, method="direct", seed=1, draws=300) for x in (both, one)]
    means = [fit["posterior"]["log_alpha"].mean(("chain", "draw")).values for fit in found]
    np.testing.assert_allclose(*means, atol=1e-6)
    apart = logits[:5, 1] - logits[:5, 0]
    expected = bc.temperature.calibrate(found[0], logits[:5])
    for column in (apart, pd.DataFrame({"z": apart}), pd.DataFrame({"yes": apart})):
        np.testing.assert_allclose(bc.temperature.calibrate(found[1], column), expected, atol=1e-6)
    with pytest.raises(bc.InputError, match=r"columns must be the classes .*, 'no', 'yes'.*'no'"):
        bc.temperature.calibrate(found[1], pd.DataFrame({"no": -apart}))


def weighted(n, weight, seed=2):
    """Rows of the heterogeneous truth with weights."""
    scores = bc.datasets.temperature.truth("heterogeneous").scores(n, seed=seed)
    return bc.Scores(
        y_true=scores.y_true, y_prob=scores.y_prob[0], sample_weight=weight, classes=scores.classes
    )


def test_equal_weights_change_nothing():
    plain, tripled = (
        bc.fit(bc.temperature, data, method="direct", seed=20, draws=200)
        for data in (weighted(2000, None), weighted(2000, np.full(2000, 3.0)))
    )
    for name in ("ece", "max_ece", "log_alpha", "mu", "shift"):
        # Sums of thirds differ in the last digits; vector scaling is found to 1e-6.
        np.testing.assert_allclose(plain["posterior"][name], tripled["posterior"][name], atol=1e-4)
    assert tripled.attrs["effective_n"] == pytest.approx(2000)
    assert "effective_n" not in plain.attrs


def test_rows_of_negligible_weight_do_not_count():
    data = weighted(3000, np.where(np.arange(3000) < 2000, 5.0, 5e-9))
    result = bc.fit(bc.temperature, data, method="direct", seed=20, draws=500)
    rest = select_rows(data, np.arange(2000)).without_weight()
    expected = bc.fit(bc.temperature, rest, method="direct", seed=20, draws=500)
    for name in ("ece", "avg_ece", "ece_uncalibrated", "log_alpha", "mu"):
        one, two = (each["posterior"][name] for each in (result, expected))
        # Both are 2,000 draws; four standard errors of a difference of means.
        apart = np.abs(one.mean(("chain", "draw")) - two.mean(("chain", "draw")))
        sd = two.std(("chain", "draw"))
        assert float((apart - 4 * sd * np.sqrt(2 / 2000) - 1e-9).max()) < 0, name
        ratio = one.std(("chain", "draw")) / sd
        # A standard deviation of 2,000 draws is known to 1.6%.
        assert float(np.abs(ratio - 1).max()) < 0.12, name
    assert result.attrs["effective_n"] == pytest.approx(2000)


def test_weights_undo_that_rows_were_drawn_unevenly():
    # Sure rows are drawn with a tenth of the probability of others.
    truth, rng = bc.datasets.temperature.truth("heterogeneous"), np.random.default_rng(3)
    logits = truth.logits(40_000, seed=5)
    label = (np.log(truth.probability(logits)) + rng.gumbel(size=logits.shape)).argmax(axis=1)
    top = softmax(logits, axis=1).max(axis=1)
    ece, _ = truth.class_errors(logits, top, bc.Binning(15, "uniform"))
    drawn = rng.random(len(top)) < np.where(top > 0.5, 0.1, 1.0)
    given = {"y_true": label[drawn], "y_prob": logits[drawn], "from_logits": True}
    weight = np.where(top > 0.5, 10.0, 1.0)[drawn]
    apart = {}
    for name, more in (("plain", {}), ("weighted", {"sample_weight": weight})):
        fitted = bc.fit(bc.temperature, bc.Scores(**given, **more), method="direct", seed=1)
        draws = fitted["posterior"]["ece_uncalibrated"]
        apart[name] = abs(float(draws.mean()) - ece) / float(draws.std())
    assert apart["weighted"] < 4 < 10 < apart["plain"]


def test_the_theory_says_nothing_of_weighted_rows():
    data = weighted(300, np.random.default_rng(0).uniform(1, 2, 300))
    result = bc.fit(bc.temperature, data, method="direct", seed=20, draws=100)
    assert float(result["bounds"]["deviation"]) == np.inf
    assert "equal weights" in result["bounds"]["deviation"].attrs["assumption"]


def test_a_result_bounds_a_loss_that_its_numbers_need_not_minimise(result):
    assert set(result["bounds"].data_vars) == {"deviation", "class_deviation"}
    for bound in result["bounds"].data_vars.values():
        assert "half the Brier score: difference between the mean loss" in bound.attrs["kind"]
    n, logits = 600, bc.datasets.temperature.truth("heterogeneous").logits(600, seed=1)
    norm = np.linalg.norm(logits - logits.mean(axis=1, keepdims=True), axis=1).max()
    # Half of Theorem 4.1 with Gamma half the range of the numbers.
    unit, width = np.sqrt(2 * n) * norm, 100 - 0.01
    inner = 11 * np.log(4 * width * unit)
    expected = 4 * np.sqrt(np.log(20) / n) + 2 * np.sqrt(inner / n)
    assert float(result["bounds"]["deviation"]) == pytest.approx(expected)


@pytest.fixture(scope="module")
def two_classes():
    scores = bc.datasets.temperature.truth("binary").scores(200, seed=1)
    return bc.fit(bc.temperature, scores, method="direct", seed=20, draws=300)


def test_rows_are_on_the_scale_of_the_fit(two_classes):
    prob = np.array([0.3, 0.9])
    logit = np.log(prob / (1 - prob))
    scores = bc.datasets.temperature.truth("binary").scores(200, seed=1)
    again = bc.Scores(y_true=scores.y_true, y_prob=scores.y_prob[0])
    fitted = bc.fit(bc.temperature, again, method="direct", seed=20, draws=300)
    assert (two_classes.attrs["input_scale"], fitted.attrs["input_scale"]) == (
        "logits",
        "probabilities",
    )
    # Vector scaling is found to 1e-6.
    for more in ({}, {"scale": "probabilities"}):
        np.testing.assert_allclose(
            bc.temperature.calibrate(fitted, prob, **more),
            bc.temperature.calibrate(two_classes, logit),
            atol=1e-4,
        )
    with pytest.raises(bc.InputError, match=r"rows must hold probabilities.*softmax of the logits"):
        bc.temperature.calibrate(fitted, logit, scale="logits")
    with pytest.raises(bc.InputError, match=r"rows must hold logits.*Pass the logarithms"):
        bc.temperature.calibrate(two_classes, prob, scale="probabilities")
    with pytest.raises(bc.InputError, match=r"rows must lie in \[0, 1\].*pass their sigmoid"):
        bc.temperature.calibrate(fitted, logit)
    with pytest.raises(bc.InputError, match="scale must be one of"):
        bc.temperature.calibrate(two_classes, prob, scale="percent")


@pytest.mark.parametrize("frame", [pd.DataFrame, pl.DataFrame])
def test_columns_are_taken_by_the_names_of_the_classes(frame):
    truth = bc.datasets.temperature.truth("heterogeneous")
    names, logits = list("abcdefghij"), truth.logits(300, seed=1)
    label = np.array(names)[truth.scores(300, seed=1).y_true]
    data = bc.Scores(y_true=label, y_prob=logits, from_logits=True, classes=names)
    fitted = bc.fit(bc.temperature, data, method="direct", seed=1, draws=200)
    expected = bc.temperature.calibrate(fitted, logits)
    order = np.random.default_rng(0).permutation(10)
    swapped = frame({names[k]: logits[:, k] for k in order})
    np.testing.assert_array_equal(bc.temperature.calibrate(fitted, swapped), expected)
    given = [names[k] for k in order]
    np.testing.assert_array_equal(
        bc.temperature.calibrate(fitted, logits[:, order], classes=given), expected
    )
    other = frame({f"z_{name}": logits[:, k] for k, name in enumerate(names)})
    with pytest.raises(bc.InputError, match="columns must be the classes of the result, 'a', 'b'"):
        bc.temperature.calibrate(fitted, other)
    np.testing.assert_array_equal(bc.temperature.calibrate(fitted, other, classes=names), expected)
    for wrong in (3, "abcdefghij"):
        with pytest.raises(bc.InputError, match="classes must be a list of labels; got"):
            bc.temperature.calibrate(fitted, logits, classes=wrong)


def test_one_of_several_classifiers_is_named():
    logits, data = two_classifiers(60)
    fitted = bc.fit(bc.temperature, data, method="direct", seed=1, draws=200)
    with pytest.raises(bc.InputError, match="classifier must be one of the result's"):
        bc.temperature.calibrate(fitted, logits)
    a, b = (bc.temperature.calibrate(fitted, logits, classifier=name) for name in "ab")
    assert not np.allclose(a, b)
    with pytest.raises(bc.InputError, match="one in the result; got 'c'"):
        bc.temperature.calibrate(fitted, logits, classifier="c")


def test_other_columns_and_results_are_refused(two_classes):
    with pytest.raises(bc.InputError, match=r"logits must have 2 columns.*; got shape \(1, 3\)"):
        bc.temperature.calibrate(two_classes, [[1.0, 2.0, 3.0]])
    other = bc.fit(
        bc.ece, bc.datasets.ece.truth("over").scores(500, seed=1), method="direct", seed=1
    )
    with pytest.raises(bc.InputError, match=r"of bayescal\.temperature; got one of ece"):
        bc.temperature.calibrate(other, [1.0])


def test_probabilities_are_means_over_the_draws_of_the_predicted_class():
    logits, _ = rows(50, 3)
    draws = np.random.default_rng(0).normal([-0.5, 0.0, 0.5], [0.1, 0.3, 0.5], (2, 4000, 3))
    alpha = np.exp(draws.reshape(-1, 3))[:, logits.argmax(axis=1)]
    full = np.mean([softmax(each[:, None] * logits, axis=1) for each in alpha[::4]], axis=0)
    found = mean_probabilities(logits, draws)
    # 2000 draws have standard errors up to .005; 16 points leave out part of the tails.
    np.testing.assert_allclose(found, full, atol=0.01)
    np.testing.assert_allclose(found.sum(axis=1), 1)
    assert np.array_equal(found.argmax(axis=1), logits.argmax(axis=1))


def test_confidences_are_the_probabilities_of_the_predicted_class():
    logits, _ = rows(50, 3)
    predicted = logits.argmax(axis=1)
    draws = np.random.default_rng(0).normal(0, 0.3, (1, 400, 3))
    places, at = points_of(draws), np.arange(50)
    found = confidences(logits, predicted, places)
    calibrated = mean_probabilities(logits, draws)[at, predicted]
    np.testing.assert_allclose(found.mean(axis=0), calibrated)
    alpha = np.exp(places[3])[predicted]
    np.testing.assert_allclose(found[3], softmax(alpha[:, None] * logits, axis=1)[at, predicted])


def test_the_rows_are_left_as_they_are():
    # Columns that lie one behind the other in memory are rows of the transposed array.
    logits = np.asfortranarray(np.random.default_rng(0).normal(size=(50, 3)))
    before = logits.copy()
    confidences(logits, logits.argmax(axis=1), np.zeros((10, 3)))
    np.testing.assert_array_equal(logits, before)


@pytest.mark.parametrize("chosen", ["3", ["3"], ["2", "3"]])
def test_a_selection_of_classes_is_reported_but_does_not_calibrate(result, chosen, tmp_path):
    some = result.sel(label_class=chosen)
    page = bc.report(some, tmp_path / "some.html").read_text()
    whole = bc.report(result, tmp_path / "whole.html").read_text()
    names = [chosen] if isinstance(chosen, str) else chosen
    mean = result["posterior"]["alpha"].sel(label_class=names[0]).values.mean()
    assert f"{mean:.3f} (" in page
    assert f"{mean:.3f} (" in whole
    with pytest.raises(bc.InputError, match="probabilities of rows need all classes, '0', '1'"):
        bc.temperature.calibrate(some, np.zeros((1, 10)))


def test_classes_in_another_order_do_not_calibrate(result):
    names = result["posterior"]["label_class"].values[::-1]
    with pytest.raises(bc.InputError, match=r"in that order; got a result of '9', '8'"):
        bc.temperature.calibrate(result.sel(label_class=names), np.zeros((1, 10)))
