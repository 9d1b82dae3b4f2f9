"""Cells of many rows are those of rows in memory, and so are fits of them."""

import numpy as np
import pytest

import bayescal as bc
from bayescal.core.errors import InputError
from bayescal.quantities.agnostic.data import problems
from bayescal.quantities.agnostic.row_counts import count_rows
from tests.row_sources import ODD_CUTS, SOURCES, data_set

RULE = bc.DecisionRule({"keep": (5, 0), "drop": (0, 3)}, {"keep": (0, 0.4), "drop": (0.4, 1)})
TASK = bc.datasets.agnostic.truth("over").scores(1500, seed=1).tasks()[0]
KINDS = {
    "continuous": lambda score: score,
    "rounded": lambda score: score.round(2),
    "ends": lambda score: np.where(score < 0.2, 0.0, np.where(score > 0.9, 1.0, score)),
    "ties": lambda score: np.where((score > 0.3) & (score < 0.39), 0.35, score),
    "one": lambda score: np.full(len(score), 0.7),
}


def made(kind, missing=0.3, positives_last=False):
    """Rows in memory, and as columns."""
    score, label = KINDS[kind](TASK.score), TASK.event.astype(float)
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
        np.testing.assert_allclose(a.mean_score, b.mean_score, rtol=1e-12)
    for name in ("labels", "unlabeled_count", "one_score", "straight", "threshold"):
        np.testing.assert_array_equal(getattr(found, name), getattr(expected, name), name)
    np.testing.assert_array_equal(found.above, expected.above)
    one, two = found.figures, expected.figures
    for name in ("n", "n_positive", "n_unlabeled", "only_score"):
        assert getattr(one, name) == getattr(two, name)
    np.testing.assert_allclose(one.estimate(), two.estimate(), rtol=1e-12)
    # Scores of one narrow cell are taken for tied: at most as many pairs as these cells hold.
    assert one.auc() == pytest.approx(two.auc(), abs=1e-5)
    for rule in rules:
        assert one.cost(rule) == pytest.approx(two.cost(rule), rel=1e-12)
    if two.n_unlabeled:
        assert one.unlabeled_auc() == pytest.approx(two.unlabeled_auc(), abs=1e-8)
        for rule in rules:
            assert one.unlabeled_cost(rule) == pytest.approx(two.unlabeled_cost(rule), rel=1e-12)


@pytest.mark.parametrize("source", SOURCES)
@pytest.mark.parametrize("kind", KINDS)
def test_cells_are_those_of_rows_in_memory(source, kind, tmp_path):
    scores, columns = made(kind)
    data = source(tmp_path, columns, ODD_CUTS)
    found = count_rows(data, label="y", score="p", decision=RULE)["p"]
    assert found.classes == (0, 1)
    assert_same(found.problem, scores, [RULE])


@pytest.mark.parametrize("missing", [0, 0.3])
def test_a_label_seen_in_the_last_part_alone(missing, tmp_path):
    scores, columns = made("continuous", missing, positives_last=True)
    found = count_rows(data_set(tmp_path, columns, (300, 700)), label="y", score="p")["p"]
    assert_same(found.problem, scores, [])


def test_exact_areas_where_no_narrow_cell_holds_two_scores(tmp_path):
    scores, columns = made("rounded")
    found = count_rows(data_set(tmp_path, columns, (700,)), label="y", score="p")["p"].problem
    (expected,) = problems(scores, None, "top-label", [])
    assert found.figures.auc() == pytest.approx(expected.figures.auc(), rel=1e-12)
    assert found.figures.unlabeled_auc() == pytest.approx(
        expected.figures.unlabeled_auc(), rel=1e-12
    )


def test_a_fit_is_that_of_rows_in_memory(tmp_path):
    scores, columns = made("continuous")
    counts = count_rows(data_set(tmp_path, columns, ODD_CUTS), label="y", score="p", decision=RULE)
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


def test_a_rule_whose_threshold_divides_a_cell_is_refused(tmp_path):
    _, columns = made("continuous")
    counts = count_rows(data_set(tmp_path, columns, (700,)), label="y", score="p")
    with pytest.raises(InputError, match=r"0.4 divides one of 'p'.*decision="):
        bc.fit(bc.agnostic, counts, decision=RULE)
    with pytest.raises(InputError, match="unlabeled cannot be added to counts"):
        bc.fit(bc.agnostic, counts, unlabeled=[0.5])


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"y": {1000: 2.0}}, "y must hold two labels"),
        ({"y": {1000: 0.5}}, r"rows counted from row 950.*got 0.5 at row 50"),
        ({"p": {1000: np.nan}}, r"p \(rows counted from row 950\) must not be missing.*at row 50"),
        ({"y": {slice(None): np.nan}}, "y must hold at least one label; all 1500 rows are missing"),
    ],
)
def test_bad_rows_are_named(changes, message, tmp_path):
    _, columns = made("continuous", missing=0)
    for name, rows in changes.items():
        columns[name] = columns[name].copy()
        for row, value in rows.items():
            columns[name][row] = value
    with pytest.raises(InputError, match=message):
        count_rows(data_set(tmp_path, columns, ODD_CUTS), label="y", score="p")
