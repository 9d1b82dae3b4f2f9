"""What draws imply and ROC curves, against rows, scikit-learn and section 4; bounds of a result."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.special import expit
from scipy.stats import norm, rankdata
from sklearn.metrics import roc_auc_score, roc_curve

import bayescal as bc
from bayescal.core.errors import InputError
from bayescal.measures import errors
from bayescal.quantities.agnostic.decisions import actual_cost
from bayescal.quantities.agnostic.estimator import interval_measure
from bayescal.quantities.agnostic.functionals import (
    PrefixSums,
    cost_draws,
    draw_labels,
    influences,
    printed_roc,
    prob_above,
    roc,
    roc_draws,
    roc_region,
    rule_difference,
    upper_bound,
)
from bayescal.quantities.agnostic.posterior import plan
from bayescal.results.assemble import combine
from bayescal.results.curves import tpr_at
from bayescal.results.summary import table
from tests.quantities.agnostic.made import COSTS, RULE, rows
from tests.report.pages import sections


def cells(seed, n_cells=7, draws=5):
    """Whole numbers of positives and negatives in each cell, of several draws."""
    rng = np.random.default_rng(seed)
    score = np.sort(rng.random(n_cells))
    positive, negative = rng.integers(0, 6, (2, draws, n_cells)).astype(float)
    positive[:, 0] += 1
    negative[:, -1] += 1
    return score, positive, negative


def as_rows(score, positive, negative):
    """The rows that one draw's counts stand for."""
    times = np.concatenate([positive, negative]).astype(int)
    label = np.repeat([1, 0], len(score))
    return np.repeat(np.tile(score, 2), times), np.repeat(label, times)


@pytest.mark.parametrize("seed", range(20))
def test_every_functional_is_that_of_the_rows(seed):
    score, positive, negative = cells(seed)
    total = positive + negative
    size = total.sum(axis=-1)
    held = np.maximum(total, 1)
    mass, rate = total / size[:, None], positive / held
    c = errors.c(rate, score, mass)
    both = PrefixSums.of(mass * (score - rate)).measures
    assert (both["c"] == c).all()
    cost = cost_draws(RULE, score, positive, negative)
    curves = roc_draws(positive, negative)
    for draw in range(len(positive)):
        rows, label = as_rows(score, positive[draw], negative[draw])
        expected = interval_measure(rows, label=label)
        assert (c[draw], both["ks"][draw]) == pytest.approx((expected.c, expected.ks), abs=1e-12)
        paid = actual_cost(RULE, rows, label=label)
        assert cost[draw] / size[draw] == pytest.approx(paid, abs=1e-12)
        assert curves.auc[draw] == pytest.approx(roc_auc_score(label, rows), abs=1e-12)
        points = roc(rows, probability=label)
        at = np.linspace(0, 1, 11)
        found = tpr_at(curves.fpr[[draw]], curves.tpr[[draw]], at)[0]
        np.testing.assert_allclose(found, np.interp(at, points.fpr, points.tpr), atol=1e-12)


@pytest.mark.parametrize("inner", [0, 1, 6])
def test_measures_with_two_more_cells_are_those_of_every_run_of_cells(inner):
    rng = np.random.default_rng(inner)
    summands = rng.normal(size=(3, 50, inner))
    before, after = rng.normal(size=(2, 3, 50))
    found = PrefixSums.of(summands).between(before, after).measures
    whole = np.concatenate([before[..., None], summands, after[..., None]], axis=-1)
    ends = range(inner + 3)
    runs = [np.abs(whole[..., a:b].sum(axis=-1)) for a in ends for b in ends[a:]]
    prefixes = [np.abs(whole[..., :b].sum(axis=-1)) for b in ends]
    np.testing.assert_allclose(found["c"], np.max(runs, axis=0), atol=1e-12)
    np.testing.assert_allclose(found["ks"], np.max(prefixes, axis=0), atol=1e-12)


def test_leading_axes_broadcast():
    _, positive, negative = cells(1, draws=6)
    shaped = roc_draws(positive.reshape(2, 3, -1), negative.reshape(2, 3, -1))
    assert shaped.auc.shape == (2, 3)
    flat = roc_draws(positive, negative)
    assert (shaped.tpr.reshape(flat.tpr.shape) == flat.tpr).all()


def test_no_row_of_one_label_leaves_no_curve():
    found = roc_draws(np.zeros((1, 3)), np.ones((1, 3)))
    assert np.isnan(found.auc).all()


def test_drawn_labels_have_the_rate():
    rng = np.random.default_rng(2)
    count, rate = np.array([0, 10, 1000]), np.array([0.5, 0.2, 0.7])
    positive, negative = draw_labels(count, np.broadcast_to(rate, (4000, 3)), rng)
    assert (positive + negative == count).all()
    error = 4 * np.sqrt(count * rate * (1 - rate) / 4000)
    assert (np.abs(positive.mean(axis=0) - count * rate) <= error).all()


RULES = {"made": RULE, "bayes": bc.agnostic.bayes_rule(COSTS)}


def two_classifiers(n, seed, n_unlabeled=0, noise=0.6):
    """Two noisy views of one probability, labelled and unlabelled rows in that order."""
    rng = np.random.default_rng(seed)
    truth = rng.normal(-0.5, 1.5, n + n_unlabeled)
    views = [expit(truth + noise * rng.normal(size=len(truth))) for _ in range(2)]
    label = (rng.random(len(truth)) < expit(truth)).astype(int)
    return views, label


def stack(views, label, n):
    labels = [*label[:n].tolist(), *[None] * (len(label) - n)]
    return bc.Scores.stack(dict(zip("ab", views, strict=True)), y_true=labels)


def delong_correlation(views, label):
    """Correlation of two AUCs by DeLong, DeLong and Clarke-Pearson (1988)."""
    parts = []
    for score in views:
        positive, negative = score[label == 1], score[label == 0]
        joint = rankdata(np.concatenate([positive, negative]))
        m, k = len(positive), len(negative)
        of_positive = (joint[:m] - rankdata(positive)) / k
        of_negative = 1 - (joint[m:] - rankdata(negative)) / m
        parts.append((of_positive, of_negative))
    covariance = sum(np.cov(rows) / len(rows[0]) for rows in zip(*parts, strict=True))
    return covariance[0, 1] / math.sqrt(covariance[0, 0] * covariance[1, 1])


@pytest.fixture(scope="module")
def fitted():
    views, label = two_classifiers(1500, seed=3)
    scores = stack(views, label, 1500)
    return views, label, bc.fit(bc.agnostic, scores, decision=RULES, method="direct", seed=20)


def _held(tree, var):
    return float(tree["error_correlation"][var].sel(classifier="a", classifier_other="b"))


def test_the_correlation_of_aucs_is_that_of_delong(fitted):
    views, label, tree = fitted
    # Label rates are a smooth curve's, not the rows': equal up to a few hundredths.
    assert _held(tree, "auc") == pytest.approx(delong_correlation(views, label), abs=0.05)


def test_the_correlation_of_costs_is_that_of_the_rows_costs(fitted):
    views, label, tree = fitted
    table = RULE.cost_table
    costs = [table[RULE.action_of(score), 1 - label] for score in views]
    assert _held(tree, "cost_made") == pytest.approx(np.corrcoef(costs)[0, 1], abs=0.05)


def test_pairing_narrows_differences_as_the_correlation_says(fitted):
    _, _, tree = fitted
    sd = [float(tree["posterior"]["auc"].sel(classifier=name).std()) for name in "ab"]
    found = bc.difference(tree, "a", "b", "auc", prob=0.9)
    # Of the rows that the result keeps, not of the curves.
    assert found.correlation == pytest.approx(_held(tree, "auc"), abs=0.1)
    expected = math.sqrt(sd[0] ** 2 + sd[1] ** 2 - 2 * found.correlation * sd[0] * sd[1])
    # Standard deviations and quantiles of 4,000 draws: 1.1 % and 1.4 % of Monte Carlo error.
    assert (found.upper - found.lower) / (2 * norm.ppf(0.95)) == pytest.approx(expected, rel=0.05)
    assert bc.best(tree, "auc").prob_best.sum() == pytest.approx(1)
    assert float(bc.best(tree, "auc").prob_best.sel(classifier="a")) == pytest.approx(
        found.prob_first_larger, abs=0.03
    )


def test_without_the_rows_that_they_share_classifiers_are_not_compared(fitted):
    refits = combine({"one": fitted[2], "two": fitted[2]})
    for tree in (refits, refits.sel(prior="one")):
        with pytest.raises(InputError, match="needs the rows that they share"):
            bc.best(tree, "auc")
        assert "P(best)" not in table(tree, 0.9).columns
    with pytest.raises(InputError, match="needs the rows that they share"):
        bc.difference(refits.sel(prior="one"), "a", "b", "auc")
    assert "P(best)" not in sections([refits.sel(prior="one")], "answer").section("answer").text


def test_counted_rows_are_not_called_the_same_rows():
    views, label = two_classifiers(200, seed=3)
    counts = bc.Counts.from_scores(stack(views, label, 200))
    tree = bc.fit(bc.agnostic, counts, method="direct", seed=20)
    said = sections([tree], "answer").section("answer").text
    assert "same rows" not in said
    assert "fitted apart" in said


def test_a_classifier_and_its_copy_are_equal():
    # Of other seeds c may be attained in another interval of the copy, whose draws are its own.
    (score, _), label = two_classifiers(400, seed=3, n_unlabeled=200)
    found = bc.fit(
        bc.agnostic, stack([score, score], label, 400), decision=RULE, method="direct", seed=1
    )
    for var in ("auc", "cost", "c", "unlabeled_cost", "unlabeled_auc"):
        assert _held(found, var) == pytest.approx(1.0, abs=1e-4)
    one = bc.difference(found, "a", "b", "cost")
    apart = found["posterior"]["cost"].std(("chain", "draw")).values
    # The two marginals are drawn apart: quantiles of 4,000 draws.
    assert one.upper - one.lower < 0.2 * apart[0]


def test_influences_are_derivatives():
    views, label = two_classifiers(300, seed=5)
    case = plan(stack(views, label, 300), bc.agnostic.Priors(), decision=RULES).cases[0]
    cells = case.problem.cells
    mass = cells.count / cells.count.sum()
    rate = np.clip(cells.mean_score**1.5, 0.02, 0.98)
    found = influences(case, rate)
    step = 1e-6
    for cell in (0, 40, 99):
        moved = rate.copy()
        moved[cell] += step
        for name, value in (("auc", _auc), ("cost_made", _cost), ("c", _c)):
            slope = (value(cells, mass, moved) - value(cells, mass, rate)) / step
            assert found[name].label[cell] * mass[cell] == pytest.approx(slope, abs=1e-6)
            heavier = mass.copy()
            heavier[cell] += step
            heavier /= heavier.sum()
            slope = (value(cells, heavier, rate) - value(cells, mass, rate)) / step
            centred = found[name].score[cell] - mass @ found[name].score
            assert centred == pytest.approx(slope, abs=1e-4)


def _auc(cells, mass, rate):
    positive, negative = mass * rate, mass * (1 - rate)
    below = np.cumsum(negative) - negative / 2
    return positive @ below / positive.sum() / negative.sum()


def _cost(cells, mass, rate):
    positive, negative = RULE.cost_table[RULE.action_of(cells.mean_score)].T
    return mass @ (positive * rate + negative * (1 - rate))


def _c(cells, mass, rate):
    sums = np.append(0, np.cumsum(mass * (cells.mean_score - rate)))
    return sums.max() - sums.min()


def test_classes_have_correlations_of_their_own():
    rng = np.random.default_rng(4)
    probs = rng.dirichlet([1, 1, 1], (2, 120))
    label = [int(rng.choice(3, p=row)) for row in probs.mean(axis=0)]
    scores = bc.Scores.stack(dict(zip("ab", probs, strict=True)), y_true=label)
    found = bc.fit(bc.agnostic, scores, multiclass="class-wise", method="direct", draws=400, seed=1)
    held = found["error_correlation"]["auc"]
    assert held.dims == ("class", "classifier", "classifier_other")
    assert held.shape == (3, 2, 2)
    one = bc.difference(found, "a", "b", "auc", class_="1")
    expected = held.sel({"class": "1", "classifier": "a", "classifier_other": "b"})
    assert one.correlation == pytest.approx(float(expected), abs=0.1)


def test_who_ranks_the_rows_alike_has_no_better_auc():
    """Their curves' priors differ, and said that one is the better with probability .98."""
    rng = np.random.default_rng(5)
    x = rng.normal(size=300)
    label = rng.random(300) < 1 / (1 + np.exp(-2 * x))
    probs = {"steep": 1 / (1 + np.exp(-3 * x)), "flat": 1 / (1 + np.exp(-x))}
    tree = bc.fit(bc.agnostic, bc.Scores.stack(probs, y_true=label), method="direct", seed=0)
    chance = float(bc.best(tree, "auc").prob_best.sel(classifier="steep"))
    assert chance == pytest.approx(0.5, abs=0.05)
    assert abs(bc.difference(tree, "steep", "flat", "auc").mean) < 0.002


def test_a_difference_of_rules_is_of_one_classifier(fitted):
    with pytest.raises(InputError, match="is of one classifier; the result has 2"):
        bc.difference(fitted[2], "cost_made", "cost_bayes")


def test_labels_give_the_usual_curve():
    rng = np.random.default_rng(20)
    score = rng.random(300).round(2)
    label = (rng.random(300) < score).astype(int)
    found = roc(score, probability=label)
    fpr, tpr, _ = roc_curve(label, score, drop_intermediate=False)
    np.testing.assert_allclose(found.fpr, fpr, atol=1e-12)
    np.testing.assert_allclose(found.tpr, tpr, atol=1e-12)
    assert found.auc == pytest.approx(roc_auc_score(label, score))


def test_scores_alone_by_the_formulas_with_the_direction_turned():
    score = np.random.default_rng(21).random(50).round(1)
    found = roc(score)
    for threshold, fpr, tpr in zip(found.threshold, found.fpr, found.tpr, strict=True):
        above = score > threshold
        assert tpr == pytest.approx(score[above].sum() / score.sum())
        assert fpr == pytest.approx((1 - score[above]).sum() / (50 - score.sum()))


def test_scores_alone_are_weighted_rows_of_scikit_learn():
    score = np.random.default_rng(22).random(200)
    both, label = np.tile(score, 2), np.repeat([1, 0], 200)
    weight = np.concatenate([score, 1 - score])
    expected = roc_auc_score(label, both, sample_weight=weight)
    assert roc(score).auc == pytest.approx(expected)


@pytest.mark.slow
@given(st.lists(st.tuples(st.floats(0.01, 0.99), st.booleans()), min_size=2, max_size=40))
def test_the_region_holds_the_curve_of_its_rows(rows):
    score, label = (np.array(column) for column in zip(*rows, strict=True))
    if label.all() or not label.any():
        return
    region = roc_region(score, interval_measure(score, label=label).c)
    # The true rates divide by the true number of positives, the bound by the estimated one.
    true = roc(score, probability=label)
    assert (true.tpr >= region.tpr_lower - 1e-9).all()
    assert (true.tpr <= region.tpr_upper + 1e-9).all()
    assert (true.fpr >= region.fpr_lower - 1e-9).all()
    assert (true.fpr <= region.fpr_upper + 1e-9).all()


def test_a_measure_of_0_leaves_no_room():
    region = roc_region([0.2, 0.5, 0.7], 0.0)
    assert (region.tpr_lower == region.tpr_upper).all()


def test_a_region_of_hardly_any_positives_is_everything():
    region = roc_region([0.0, 5e-324], 0.25)
    assert region.tpr_upper.tolist() == [0, 1, 1]
    assert region.tpr_lower.tolist() == [0, 0, 1]


def test_the_printed_rates_are_those_of_the_scores_below_the_threshold():
    rng = np.random.default_rng(7)
    score = rng.random(40).round(1)
    curve = printed_roc(score)
    for p, tpr, fpr in zip(curve.threshold, curve.tpr, curve.fpr, strict=True):
        assert tpr == pytest.approx((score * (score < p)).sum() / score.sum())
        assert fpr == pytest.approx(((1 - score) * (score < p)).sum() / (40 - score.sum()))
    assert curve.threshold.tolist() == [*np.unique(score), np.inf]
    assert curve.auc == pytest.approx(np.trapezoid(curve.tpr, curve.fpr))
    assert curve.auc < 0.5 < roc(score).auc


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: roc([0.0, 0.0]), "all rows are negative"),
        (lambda: roc([0.5, 0.6], probability=[1, 1]), "all rows are positive"),
        (lambda: roc([0.5], probability=[0.5, 0.5]), "same length"),
    ],
)
def test_bad_input(call, message):
    with pytest.raises(InputError, match=message):
        call()


@pytest.fixture(scope="module")
def result():
    return bc.fit(bc.agnostic, rows(), decision=RULES, method="direct", draws=300, seed=20)


@pytest.fixture(scope="module")
def panel():
    score = rows(n_unlabeled=0).y_prob[0]
    scores = bc.Scores.stack(
        {"a": score, "b": score**2}, y_true=rows(n_unlabeled=0).y_true.tolist()
    )
    return bc.fit(bc.agnostic, scores, method="direct", draws=300, seed=20)


def test_the_upper_bound_is_the_end_of_an_interval(result):
    assert upper_bound(result, 0.9) == float(bc.interval(result, "c", 0.8)[1])
    # The end is that given miscalibration, so that no more than a tenth of all draws is above it.
    right = float(result["model_average"]["p_calibrated"])
    above = prob_above(result, upper_bound(result, 0.9))
    assert above == pytest.approx(0.1 * (1 - right), abs=0.02)
    drawn, weight = result["descriptions"]["c"], result["model_average"]["weight"]
    # Both are of as many draws as there are, of the same curves.
    error = 4 * 0.5 / np.sqrt(result["posterior"]["c"].size)
    expected = float(((drawn > 0.01).mean(("chain", "draw")) * weight).sum())
    assert prob_above(result, 0.01) == pytest.approx(expected, abs=error)
    mean = float((drawn.mean(("chain", "draw")) * weight).sum())
    spread = float(result["posterior"]["c"].std())
    found = bc.summary(result).query("metric == 'c'")["mean"].item()
    assert found == pytest.approx(float(result["posterior"]["c"].mean()))
    assert found == pytest.approx(mean, abs=2 * error * spread)
    assert prob_above(result, 0.0) == pytest.approx(1 - right, abs=error)


def test_near_calibration_the_upper_bound_is_that_of_a_miscalibrated_classifier():
    scores = bc.datasets.agnostic.truth("calibrated").scores(300, seed=3)
    found = bc.fit(bc.agnostic, scores, method="direct", draws=500, seed=20)
    p_calibrated = float(found["model_average"]["p_calibrated"])
    assert p_calibrated > 0.5
    assert prob_above(found, 1e-9) == pytest.approx(1 - p_calibrated, abs=0.01)
    assert float(bc.interval(found, "c", 0.9)[0]) == 0.0
    assert upper_bound(found, 0.95) > 0.0


@pytest.mark.parametrize("unlabeled", [False, True])
def test_rules_are_compared_draw_by_draw(result, unlabeled):
    found = rule_difference(result, "bayes", "made", unlabeled=unlabeled)
    prefix = "unlabeled_" if unlabeled else ""
    one, two = (
        result["posterior"][f"{prefix}cost_{name}"].values.ravel() for name in ("bayes", "made")
    )
    assert found.mean == pytest.approx((one - two).mean())
    assert found.lower <= found.mean <= found.upper
    assert found.prob_first_larger == (one > two).mean()
    other = rule_difference(result, "made", "bayes", unlabeled=unlabeled)
    assert other.mean == pytest.approx(-found.mean)
    same = bc.difference(result, f"{prefix}cost_bayes", f"{prefix}cost_made")
    assert (same.mean, same.lower, same.upper) == (found.mean, found.lower, found.upper)
    assert same.text.startswith(f"{prefix}cost_bayes minus {prefix}cost_made")


def test_a_rule_is_not_compared_with_itself(result):
    with pytest.raises(InputError, match="must differ"):
        bc.difference(result, "cost_made", "cost_made")


def test_a_rule_of_one_price_correlates_with_none():
    rules = {
        "price": bc.DecisionRule({"ask": (3e6, 3e6)}, {"ask": (0, 1)}),
        "halves": bc.DecisionRule(
            {"ask": (3e6, 3e6), "drop": (0, 3e6)}, {"ask": (0, 0.5), "drop": (0.5, 1)}
        ),
    }
    scores = bc.datasets.agnostic.truth("over").scores(200, seed=3)
    found = bc.fit(bc.agnostic, scores, decision=rules, method="direct", draws=500, seed=20)
    assert np.isnan(rule_difference(found, "price", "halves").correlation)


def test_several_classifiers_are_named(panel):
    assert upper_bound(panel, classifier="a") != upper_bound(panel, classifier="b")
    with pytest.raises(InputError, match="classifier must be one of the result's; got none"):
        upper_bound(panel)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda tree: upper_bound(tree, 0.5), "prob must be a number in"),
        (lambda tree: rule_difference(tree, "x", "y", classifier="a"), "cost_x"),
        (lambda tree: prob_above(tree, 0.1, classifier="z"), "z"),
    ],
)
def test_bad_input_of_a_result(panel, call, message):
    with pytest.raises(InputError, match=message):
        call(panel)
