"""Counts in cells of the score's rank."""

import numpy as np

import bayescal as bc
from bayescal.quantities.credal.data import Problem, RankCells, ScoreCells
from tests.quantities.credal.made import binary, multiclass

TEN = RankCells(10)


def of(data, cells=TEN):
    return Problem.of(data, np.arange(data.n_target), cells)


def test_every_row_and_label_is_counted_once():
    data = binary(137)
    found = of(data)
    assert found.count.sum() == 137
    assert found.positives.sum() == (data.calibration.y_true == 1).sum()
    assert (found.positives <= found.count).all()
    assert ((found.place >= 0) & (found.place <= 1)).all()


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


def test_only_the_order_of_scores_matters():
    score, label = np.linspace(0.01, 0.99, 50), np.arange(50) % 2
    first, second = (
        of(bc.CalibrationSplit(calibration=bc.Scores(y_true=label, y_prob=p), target=p[:3]))
        for p in (score, score**3)
    )
    np.testing.assert_array_equal(first.positives, second.positives)
    np.testing.assert_allclose(first.target_rank, second.target_rank)


def test_relabelling_keeps_the_rows():
    found = of(binary())
    other = found.relabelled(np.zeros_like(found.positives))
    assert other.count is found.count
    assert not other.positives.any()


def test_few_scores_are_a_cell_each_and_empty_cells_come_last():
    score = np.repeat([0.0, 0.1, 0.7, 1.0], [2, 3, 4, 1])
    label = np.array([0, 0, 0, 1, 0, 1, 1, 0, 1, 1])
    data = bc.CalibrationSplit(calibration=bc.Scores(y_true=label, y_prob=score), target=[0.1])
    found = of(data, ScoreCells(5))
    assert found.count.tolist() == [[2, 3, 4, 1, 0, 0, 0]]
    assert found.positives.tolist() == [[0, 1, 3, 1, 0, 0, 0]]
    np.testing.assert_allclose(found.cell_score()[0, :4], [0, 0.1, 0.7, 1])


def test_many_scores_are_cut_at_quantiles_and_the_ends_stay_apart():
    score = np.concatenate([np.zeros(7), np.linspace(0.01, 0.99, 500), np.ones(3)])
    label = np.arange(len(score)) % 2
    data = bc.CalibrationSplit(calibration=bc.Scores(y_true=label, y_prob=score), target=[0.1])
    found = of(data, ScoreCells(20))
    held = found.count[0][found.count[0] > 0]
    assert held[[0, -1]].tolist() == [7, 3]
    assert held.sum() == 510
    assert held[1:-1].max() <= 26
