"""Calibration splits, ranks against SciPy's, counts in cells, and warnings of the labels."""

from functools import partial

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import rankdata

import bayescal as bc
from bayescal.core.errors import InputError
from bayescal.core.scores import Scores
from bayescal.quantities.credal.data import (
    CalibrationSplit,
    EmpiricalCDF,
    Problem,
    cell_of,
    effective_rows,
    rank_cells,
    score_cells,
)
from bayescal.quantities.ece.data import problem_of
from tests.quantities.credal.made import binary, multiclass


def labelled(**changes):
    return Scores(**{"y_true": [0, 1, 1], "y_prob": [0.2, 0.4, 0.9], "classifier": "a"} | changes)


def test_target_may_be_scores_or_probabilities():
    target = labelled(y_prob=[0.3, 0.5, 0.7])
    by_scores = CalibrationSplit(calibration=labelled(), target=target)
    by_array = CalibrationSplit(calibration=labelled(), target=[0.3, 0.5, 0.7])
    by_columns = CalibrationSplit(
        calibration=labelled(), target=np.array([[0.7, 0.3], [0.5, 0.5], [0.3, 0.7]])
    )
    for split in (by_scores, by_array, by_columns):
        assert split.target.y_prob.tolist() == [[0.3, 0.5, 0.7]]
        assert split.target.classes == split.calibration.classes
        assert (split.n_calibration, split.n_target, split.n_classes) == (3, 3, 2)
    assert by_array.target.n_labeled == 0


def test_one_classifier_of_several():
    panel = Scores.stack({"a": [0.1, 0.9], "b": [0.3, 0.8]}, y_true=[0, 1])
    split = CalibrationSplit(calibration=panel, target=panel).select("b")
    assert split.calibration.y_prob.tolist() == [[0.3, 0.8]]
    with pytest.raises(InputError, match="did you mean 'b'"):
        CalibrationSplit(calibration=panel, target=panel).select("B")


THREE = [[0.2, 0.3, 0.5], [0.1, 0.8, 0.1]]


@pytest.mark.parametrize(
    ("calibration", "target", "message"),
    [
        ([0.1], [0.2], "calibration must be Scores; got list"),
        (labelled(y_true=[None] * 3, classes=[0, 1]), [0.2], "must hold labelled rows; got none"),
        (labelled(), labelled(classifier="b"), "must have the same classifiers; got 'a' and 'b'"),
        (labelled(), labelled(y_true=["no", "yes", "yes"], pos_label="yes"), "the same classes"),
        (
            labelled(),
            pd.DataFrame({"1": [0.9], "0": [0.1]}),
            "target that are named as the classes",
        ),
        (labelled(), THREE, r"got shape \(2, 3\) for classes"),
        (Scores(y_true=[0, 2], y_prob=THREE), [0.5], r"got shape \(1,\) for classes 0, 1, 2"),
        (Scores.stack({"a": [0.1], "b": [0.2]}, y_true=[1]), [0.5], "where there are several"),
        (labelled(), [0.5, np.nan], "target must not be missing; got NaN at row 1"),
        (labelled(), [1.5], r"target must lie in \[0, 1\]; got 1.5 at row 0"),
        (labelled(), [], "target must have at least one row"),
        (labelled(), 0.5, "target"),
        (labelled(group=[1, 2, 1]), [0.5], "credal has no groups; got '1', '2'. Take .*by_group"),
        (labelled(), labelled(group=[1, 2, 1]), "target has no groups; got '1', '2'. Take"),
        (labelled(), labelled(sample_weight=[1, 2, 1]), "target cannot use sample weights"),
    ],
)
def test_parts_that_do_not_belong_together_are_refused(calibration, target, message):
    with pytest.raises(InputError, match=message):
        CalibrationSplit(calibration=calibration, target=target)


SCORES = st.lists(st.integers(0, 20).map(lambda k: k / 20), min_size=1, max_size=40)


@given(SCORES)
def test_ranks_of_the_rows_are_mid_ranks(scores):
    score = np.array(scores)
    expected = (rankdata(score) - 0.5) / len(score)  # mid-ranks: half of the ties below
    np.testing.assert_allclose(EmpiricalCDF.of(score)(score), expected, rtol=1e-14)


@given(SCORES)
def test_ranks_rise_and_stay_inside(scores):
    rank = EmpiricalCDF.of(np.array(scores))(np.linspace(0, 1, 101))
    assert (np.diff(rank) >= 0).all()
    assert rank.min() >= 0
    assert rank.max() <= 1


def test_cells_have_equal_widths_and_rank_1_the_last():
    assert cell_of(np.array([0.0, 0.24, 0.25, 0.99, 1.0]), 4).tolist() == [0, 0, 1, 3, 3]


def test_the_last_bit_decides_neither_on_ties_nor_on_cells():
    score = np.round(np.random.default_rng(3).random(100), 3)
    ranks = EmpiricalCDF.of(score)
    for side in (0, 1):
        moved = np.nextafter(score, side)
        np.testing.assert_array_equal(ranks(moved), ranks(score))
        np.testing.assert_array_equal(EmpiricalCDF.of(moved).rank, ranks.rank)
    # 0.29 * 100 falls one bit short of 29.
    assert cell_of(np.array([0.29]), 100).tolist() == [29]


TEN = partial(rank_cells, 10)


def of(data, cells=TEN):
    return Problem.of(data, np.arange(data.n_target), cells)


def test_cells_of_distinct_scores_hold_equal_numbers():
    assert of(binary(200)).count.tolist() == [[20] * 10]


def test_each_class_is_a_curve_against_the_rest():
    data = multiclass()
    found = of(data)
    assert found.n_curves == 3
    np.testing.assert_array_equal(
        found.positives.sum(axis=1), np.bincount(data.calibration.y_true, minlength=3)
    )
    assert found.target_rank.shape == (6, 3)


def test_rows_without_labels_are_left_out():
    scores = bc.Scores(y_true=[0, 1, None, 1], y_prob=[0.1, 0.4, 0.5, 0.8])
    assert of(bc.CalibrationSplit(calibration=scores, target=[0.3])).count.sum() == 3


def weighted(split, weight):
    known = split.calibration
    scores = bc.Scores(y_true=known.y_true, y_prob=known.y_prob[0], sample_weight=weight)
    return bc.CalibrationSplit(calibration=scores, target=split.target.y_prob[0])


@pytest.mark.parametrize("n", [90, 600])
def test_weighted_rows_count_as_in_ece(n):
    data = weighted(binary(n), np.random.default_rng(2).exponential(size=n))
    (task,) = data.calibration.tasks()
    # One bin, whose cells are cut as those of rows without bins.
    cells = problem_of(task, True, bc.Binning(1, "uniform")).cells
    held = cells.count > 0
    found = of(data, partial(score_cells, 100))
    number = held.sum()
    for name, values in (("count", cells.count), ("positives", cells.positives)):
        np.testing.assert_allclose(getattr(found, name)[0, :number], values[held], rtol=1e-12)
    np.testing.assert_allclose(found.rows[0, :number], cells.mass_count[held], rtol=1e-12)
    np.testing.assert_allclose(found.unit[:, 0, :number], cells.unit[:, held], rtol=1e-12)
    if n < 100:
        rows = effective_rows(task.score, task.event, task.weight)
        np.testing.assert_allclose(rows[np.argsort(task.score)], cells.count[held], rtol=1e-12)
        # These weights differ by the label more than most do by chance.
        assert data.effective_n == pytest.approx(rows.sum(), rel=0.03)


def test_only_the_order_of_scores_matters():
    score, label = np.linspace(0.01, 0.99, 50), np.arange(50) % 2
    first, second = (
        of(bc.CalibrationSplit(calibration=bc.Scores(y_true=label, y_prob=p), target=p[:3]))
        for p in (score, score**3)
    )
    np.testing.assert_array_equal(first.positives, second.positives)
    np.testing.assert_allclose(first.target_rank, second.target_rank)


def test_few_scores_are_a_cell_each_and_empty_cells_come_last():
    score = np.repeat([0.0, 0.1, 0.7, 1.0], [2, 3, 4, 1])
    label = np.array([0, 0, 0, 1, 0, 1, 1, 0, 1, 1])
    data = bc.CalibrationSplit(calibration=bc.Scores(y_true=label, y_prob=score), target=[0.1])
    found = of(data, partial(score_cells, 5))
    assert found.count.tolist() == [[2, 3, 4, 1, 0, 0, 0]]
    assert found.positives.tolist() == [[0, 1, 3, 1, 0, 0, 0]]
    np.testing.assert_allclose(found.cell_score()[0, :4], [0, 0.1, 0.7, 1])


def test_many_scores_are_cut_at_quantiles_and_the_ends_stay_apart():
    score = np.concatenate([np.zeros(7), np.linspace(0.01, 0.99, 500), np.ones(3)])
    label = np.arange(len(score)) % 2
    data = bc.CalibrationSplit(calibration=bc.Scores(y_true=label, y_prob=score), target=[0.1])
    found = of(data, partial(score_cells, 20))
    held = found.count[0][found.count[0] > 0]
    assert held[[0, -1]].tolist() == [7, 3]
    assert held.sum() == 510
    assert held[1:-1].max() <= 26


def warnings(label, score, rate=None):
    data = bc.CalibrationSplit(calibration=bc.Scores(y_true=label, y_prob=score), target=[0.5])
    priors = bc.credal.Priors(rate) if rate else bc.credal.Priors()
    return bc.credal.plan(data, priors).cases[0].warnings


def test_ordinary_rows_raise_no_warning():
    assert not bc.credal.plan(binary(), bc.credal.Priors()).cases[0].warnings


def test_falling_labels_are_reported_unless_the_prior_allows_them():
    score = np.linspace(0.01, 0.99, 60)
    label = np.arange(60) % 2 * (score < 0.6)
    (note,) = warnings(label, score)
    assert "rarer as its score rises" in note
    assert not warnings(label, score, bc.credal.ImpreciseDirichlet())


def test_scores_that_look_reversed_are_reported_under_every_prior():
    score = np.linspace(0.01, 0.99, 60)
    label = (score < 0.5).astype(int)
    sign, note = warnings(label, score)
    assert "rarer as its score rises" in note
    (same,) = warnings(label, score, bc.credal.ImpreciseDirichlet())
    assert same == sign
    assert "the scores look reversed" in sign


@pytest.mark.parametrize("seed", range(20))
def test_flat_labels_are_hardly_ever_taken_for_falling(seed):
    rng = np.random.default_rng(seed)
    label = rng.integers(0, 2, 100)
    assert not warnings(label, rng.random(100))
