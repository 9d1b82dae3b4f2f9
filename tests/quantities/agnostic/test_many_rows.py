"""Measure and cells of many rows: those of rows in memory or near them; of rounded the same."""

import numpy as np
import pytest

import bayescal as bc
from bayescal.core.counts import Counts
from bayescal.core.errors import InputError
from bayescal.quantities.agnostic.data import problem_of, problems
from bayescal.quantities.agnostic.estimator import count_rows, estimate, interval_measure_of_rows
from tests.row_sources import ODD_CUTS, data_set

RULE = bc.DecisionRule({"keep": (5, 0), "drop": (0, 3)}, {"keep": (0, 0.4), "drop": (0.4, 1)})
TASK = bc.datasets.agnostic.truth("over").scores(1500, seed=1).tasks()[0]
# Without two scores in a narrow cell nothing is approximated.
KINDS = {
    "rounded": lambda score: score.round(2),
    "three digits": lambda score: score.round(3),
    "ends": lambda score: np.where(score < 0.2, 0.0, np.where(score > 0.9, 1.0, score)).round(2),
    "one": lambda score: np.full(len(score), 0.7),
}


def made(kind, missing=0.3, positives_last=False):
    """Rows in memory, and as columns."""
    score, label = KINDS.get(kind, np.asarray)(TASK.score), TASK.event.astype(float)
    label[np.random.default_rng(0).random(len(label)) < missing] = np.nan
    if positives_last:
        order = np.argsort(np.nan_to_num(label), kind="stable")
        score, label = score[order], label[order]
    return bc.Scores(y_true=label, y_prob=score, classifier="p"), {"y": label, "p": score}


def assert_same(found, scores, rules):
    (expected,) = problems(scores, None, "top-label", rules)
    for a, b in ((found.cells, expected.cells), (found.labeled.cells, expected.labeled.cells)):
        np.testing.assert_array_equal(a.edges, b.edges)
        np.testing.assert_array_equal(a.count, b.count)
        np.testing.assert_array_equal(a.positives, b.positives)
        np.testing.assert_allclose(a.mean_score, b.mean_score, rtol=1e-11)
    for name in ("labels", "unlabeled_count", "one_score"):
        np.testing.assert_array_equal(getattr(found, name), getattr(expected, name), name)
    np.testing.assert_array_equal(found.above, expected.above)
    one, two = found.figures, expected.figures
    for name in ("n", "n_positive", "n_unlabeled", "only_score"):
        assert getattr(one, name) == getattr(two, name)
    np.testing.assert_allclose(one.measure, two.measure, rtol=1e-10)
    assert one.auc == pytest.approx(two.auc, rel=1e-12)
    assert one.costs == pytest.approx(two.costs, rel=1e-12)
    if two.n_unlabeled:
        assert one.unlabeled_auc == pytest.approx(two.unlabeled_auc, rel=1e-11)
        assert one.unlabeled_costs == pytest.approx(two.unlabeled_costs, rel=1e-11)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("missing", [0, 0.3])
def test_cells_of_rounded_scores_are_those_of_rows_in_memory(kind, missing):
    scores, columns = made(kind, missing)
    counts = Counts.from_arrays(columns["y"], columns["p"])
    assert_same(problem_of("p", counts, [RULE]), scores, [RULE])


def test_cells_of_any_scores_are_near_those_of_rows_in_memory():
    scores, columns = made("continuous")
    found = problem_of("p", Counts.from_arrays(columns["y"], columns["p"]), [RULE])
    (expected,) = problems(scores, None, "top-label", [RULE])
    # Where two of 1,500 rows are in a narrow cell, one may change its cell.
    assert abs(found.cells.count - expected.cells.count).max() <= 1
    one, two = found.figures, expected.figures
    assert one.auc == pytest.approx(two.auc, abs=1e-5)
    assert one.unlabeled_auc == pytest.approx(two.unlabeled_auc, abs=1e-5)
    assert one.costs == pytest.approx(two.costs, abs=0.01)
    assert one.measure.c == pytest.approx(two.measure.c, abs=2 / 1500)


def test_costs_of_counts_are_weighted_as_those_of_their_rows():
    score, label = np.repeat([0.2, 0.8], 4), np.tile([0, 1], 4)
    weight = np.where(label == 1, 5.0, 1.0)
    counts = Counts.from_arrays(label, score, sample_weight=weight)
    # A positive costs 5 below and a negative 3 above; positives have 5/6 of the weight.
    rule = bc.DecisionRule({"a": (5, 0), "b": (0, 3)}, {"a": (0, 0.5), "b": (0.5, 1)})
    assert problem_of("p", counts, [rule]).figures.costs == pytest.approx((5 * 5 / 12 + 3 / 12,))


@pytest.mark.parametrize("threshold", [0.3, 0.6, 0.7])
def test_float32_scores_meet_a_threshold(threshold, tmp_path):
    # As NumPy compares; float32 has .3 and .6 just above their decimals, .7 just below.
    score, event = TASK.score.round(1).astype(np.float32), TASK.event
    rule = bc.DecisionRule({"a": (5, 1), "b": (2, 3)}, {"a": (0, threshold), "b": (threshold, 1)})
    a, b = score <= threshold, score > threshold
    cost = (a * np.where(event, 5, 1) + b * np.where(event, 2, 3)).mean()
    assert rule.action_of(score).tolist() == b.tolist()
    assert bc.agnostic.actual_cost(rule, score, label=event) == pytest.approx(cost)
    (task,) = problems(bc.Scores(event, score), None, "top-label", [rule])
    (rest,) = problems(
        bc.Scores(event[:2], score[:2]), bc.Scores(event, score), "top-label", [rule]
    )
    path = data_set(tmp_path, {"y": event, "p": score}, ODD_CUTS)
    counts = problem_of("p", count_rows(path, label="y", score="p")["p"], [rule])
    for found in (task, counts):
        assert found.figures.costs == pytest.approx((cost,))
        held = found.cells.mean_score[found.cells.count > 0]
        assert held.tolist() == found.labeled.cells.mean_score.tolist()
    for found in (task, counts, rest):
        actions = rule.action_of(found.cells.mean_score)
        assert found.cells.count[actions == 1].sum() == b.sum() + (found is rest) * b[:2].sum()


@pytest.mark.parametrize("power", [1, 1.3])
@pytest.mark.parametrize("shape", [(1, 1), (0.2, 0.3), (100, 100)])
def test_the_measure_of_many_rows_is_that_of_all_to_a_small_part_of_its_error(shape, power):
    rng = np.random.default_rng(4)
    score = rng.beta(*shape, 1_000_000)
    event = (rng.random(len(score)) < score**power).astype(np.uint8)
    found = bc.agnostic.estimate(Counts.from_arrays(event, score))
    expected = bc.agnostic.interval_measure(score, label=event)
    assert -1e-12 < expected.c - found.c < 1e-5
    assert abs(found.ks - expected.ks) < 1e-5


def test_a_fit_is_that_of_rows_in_memory(tmp_path):
    scores, columns = made("three digits")
    path = data_set(tmp_path, columns, ODD_CUTS)
    counts = count_rows(path, label="y", score="p")
    assert interval_measure_of_rows(path, label="y", score="p").c == estimate(counts).c
    found, whole = (
        bc.fit(bc.agnostic, data, method="direct", draws=200, seed=1, decision=RULE)
        for data in (counts, scores)
    )
    for name, values in whole["posterior"].items():
        np.testing.assert_allclose(
            found["posterior"][name], values, rtol=1e-6, atol=1e-9, err_msg=name
        )
    same = set(whole.attrs) - {"data_hash", "created"}
    assert {name: found.attrs[name] for name in same} == {name: whole.attrs[name] for name in same}


def test_what_counts_cannot_give_is_refused():
    _, columns = made("continuous")
    counts = Counts.from_arrays(columns["y"], columns["p"])
    with pytest.raises(InputError, match="unlabeled cannot be added to counts"):
        bc.fit(bc.agnostic, counts, unlabeled=[0.5])
    weighted = Counts.from_arrays(columns["y"], columns["p"], sample_weight=np.ones(1500))
    with pytest.raises(InputError, match="agnostic cannot use sample weights"):
        bc.fit(bc.agnostic, {"p": weighted})
