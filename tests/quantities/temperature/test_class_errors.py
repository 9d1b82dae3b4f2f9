import numpy as np
import pytest
from scipy.stats import betabinom, binom

import bayescal as bc
from bayescal.quantities.temperature.errors import (
    CellSums,
    Implied,
    error_draws,
    errors_of,
    implied_by_draws,
    implied_by_temperatures,
    relative_fits,
)

BINNING = bc.Binning(5, "uniform")


def implied(cells, accuracy, concentration):
    """Accuracies of cells, and how they fit the labels."""
    return Implied(accuracy, relative_fits(cells, accuracy, concentration).sum(axis=1))


def cells_of(score, predicted, label):
    return CellSums.of(score, predicted, label, 4, BINNING).cells()


def made(n=400, seed=0):
    rng = np.random.default_rng(seed)
    score, predicted = rng.uniform(0.3, 1, n), rng.integers(0, 3, n)
    label = np.where(rng.random(n) < 0.7, predicted, 3)
    return score, predicted, label


def test_cells_hold_the_rows_of_a_class_in_a_bin():
    score, predicted, label = made()
    label[::4] = -1
    sums = CellSums.of(score, predicted, label, 4, BINNING, [score[None] ** 2])
    cells, (squares,) = sums.cells(), sums.means()
    assert cells.rows.sum() == 400
    assert cells.labeled.sum() == 300
    for c in range(len(cells.of)):
        low, high = cells.bin[c] / 5, (cells.bin[c] + 1) / 5
        held = (predicted == cells.of[c]) & (score > low) & (score <= high)
        assert cells.rows[c] == held.sum()
        assert cells.correct[c] == (label[held] == cells.of[c]).sum()
        assert cells.score[c] == pytest.approx(score[held].mean())
        assert squares[0, c] == pytest.approx((score[held] ** 2).mean())


def test_sums_of_parts_add_up():
    score, predicted, label = made()
    label[::4] = -1
    whole = CellSums.of(score, predicted, label, 4, BINNING, [score[None] ** 2])
    at = slice(0, 150), slice(150, None)
    parts = [
        CellSums.of(score[i], predicted[i], label[i], 4, BINNING, [score[None, i] ** 2]) for i in at
    ]
    found = parts[0].plus(parts[1])
    for name in ("rows", "labeled", "correct"):
        np.testing.assert_array_equal(getattr(found, name), getattr(whole, name))
    for name in ("score", "labeled_score"):
        np.testing.assert_allclose(getattr(found, name), getattr(whole, name), rtol=1e-13)
    np.testing.assert_allclose(found.means()[0], whole.means()[0], rtol=1e-13)


def test_what_temperatures_imply_lies_between_the_points():
    score, predicted, label = made()
    cells = cells_of(score, predicted, label)
    at = np.array([[0.5], [0.7], [1.0]]) * cells.score
    places = np.tile([[-1.0], [0.0], [1.0]], (1, 3))
    draws = np.tile([[-1.0], [-0.5], [1.0], [3.0]], (1, 3))
    found = implied_by_temperatures(cells, at, places, draws, (3.0, np.inf))
    factor = np.array([0.5, 0.6, 1.0])[:, None]
    np.testing.assert_allclose(found.accuracy[:3], factor * cells.score)
    direct = implied_by_draws(cells, at, (3.0, np.inf))
    np.testing.assert_allclose(found.fit[[0, 2]], direct.fit[[0, 2]])
    np.testing.assert_allclose(found.fit[1], direct.fit[:2].mean(axis=0))


def test_a_class_whose_points_are_one_has_that_value():
    score, predicted, label = made()
    cells = cells_of(score, predicted, label)
    same = np.tile(cells.score, (3, 1))
    found = implied_by_temperatures(cells, same, np.zeros((3, 3)), np.zeros((2, 3)), (3.0,))
    np.testing.assert_allclose(found.accuracy, np.tile(cells.score, (2, 1)))


def test_many_labels_give_the_binned_errors():
    score, predicted, label = made(200_000)
    cells = cells_of(score, predicted, label)
    accuracy = np.broadcast_to(cells.score, (300, len(cells.of)))
    found = error_draws(
        cells, implied(cells, accuracy, [1.0]), {1.0: 1.0}, 4, np.random.default_rng(0)
    )
    expected = errors_of(score, label == predicted, predicted, 4, BINNING)
    # 13,000 rows a cell: standard errors of .004.
    assert found.ece.mean() == pytest.approx(expected.ece, abs=0.003)
    assert found.max_ece.mean() == pytest.approx(expected.max_ece, abs=0.005)
    assert found.avg_ece.mean() == pytest.approx(expected.avg_ece, abs=0.003)
    np.testing.assert_allclose(found.class_ece.mean(axis=0)[:3], expected.class_ece[:3], atol=0.005)
    assert np.isnan(found.class_ece[:, 3]).all()


def test_infinite_concentration_is_the_temperatures_alone():
    score, predicted, label = made()
    cells = cells_of(score, predicted, label)
    accuracy = np.broadcast_to(cells.score, (200, len(cells.of)))
    found = error_draws(
        cells, implied(cells, accuracy, [np.inf]), {np.inf: 1.0}, 3, np.random.default_rng(0)
    )
    assert np.abs(found.ece).max() < 1e-12
    moved = error_draws(
        cells, implied(cells, accuracy - 0.1, [np.inf]), {np.inf: 1.0}, 3, np.random.default_rng(0)
    )
    np.testing.assert_allclose(moved.max_ece, 0.1)
    np.testing.assert_allclose(moved.ece, 0.1)


def test_draws_are_weighed_by_beta_binomial_over_binomial_probabilities():
    score, predicted, label = made(60)
    cells = cells_of(score, predicted, label)
    accuracy = np.stack([cells.score, 0.9 * cells.score])
    found = relative_fits(cells, accuracy, (3.0, np.inf)).sum(axis=1)
    for place, mean in enumerate(accuracy):
        spread = betabinom.logpmf(cells.correct, cells.labeled, 3 * mean, 3 * (1 - mean)).sum()
        exact = binom.logpmf(cells.correct, cells.labeled, mean).sum()
        assert found[place, 0] == pytest.approx(spread - exact, abs=1e-8)
    assert (found[:, 1] == 0).all()


def test_labels_that_the_temperatures_do_not_explain_give_accuracies_of_their_own():
    score, predicted, label = made(20_000)
    cells = cells_of(score, predicted, label)
    accuracy = np.broadcast_to(cells.score, (300, len(cells.of)))
    found = error_draws(
        cells,
        implied(cells, accuracy, [np.inf, 10.0]),
        {np.inf: 0.9, 10.0: 0.1},
        4,
        np.random.default_rng(0),
    )
    expected = errors_of(score, label == predicted, predicted, 4, BINNING)
    assert found.ece.mean() == pytest.approx(expected.ece, abs=0.01)
