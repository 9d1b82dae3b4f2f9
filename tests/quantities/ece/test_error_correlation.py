"""What classifiers on the same rows share, against an explicit Bayesian bootstrap."""

import numpy as np
import pytest

import bayescal as bc
from bayescal.core.binning import fine_counts
from bayescal.core.functionals import correlation
from bayescal.core.scores import Task
from bayescal.quantities.ece.plan import influence
from bayescal.quantities.ece.simulator import sample_panel


@pytest.fixture(scope="module")
def panel():
    made = sample_panel(800, seed=3, names=["less", "better", "over"])
    scores = bc.Scores.stack(made.score, y_true=made.label)
    cells = [fine_counts(task, np.linspace(0, 1, 11)) for task in scores.tasks()]
    truths = [bc.datasets.ece.truth(name) for name in made.score]
    signs = [
        np.sign(truth.probability(cell.mean_score) - cell.mean_score)
        for truth, cell in zip(truths, cells, strict=True)
    ]
    return scores.tasks(), cells, signs


@pytest.fixture(scope="module")
def influences(panel):
    return [influence(*parts) for parts in zip(*panel, strict=True)]


def test_rows_add_the_signed_gap_of_their_cell():
    edges = np.array([0, 0.2, 0.5, 1])
    task = Task({}, np.array([0.0, 0.2, 0.3, 0.5, 0.51, 1.0]), np.array([1, 0, 1, 0, 1, 1]))
    for closed, cell in (("right", [0, 0, 1, 1, 2, 2]), ("left", [0, 1, 1, 2, 2, 2])):
        cells = bc.BinCounts(edges, [1, 1, 1], [0, 0, 0], [0.1, 0.3, 0.7], closed)
        sign = np.array([-1.0, 0.5, 0.25])
        expected = sign[cell] * (task.event - task.score)
        np.testing.assert_allclose(influence(task, cells, sign), expected, rtol=1e-6)


def test_the_mean_influence_is_the_calibration_error(panel, influences):
    """E [d(f) (Y - f)] is the error if d is its sign: here within sampling error of the truth."""
    for task, found in zip(panel[0], influences, strict=True):
        tce = bc.datasets.ece.truth(task.coords["classifier"]).tce
        assert found.mean() == pytest.approx(tce, abs=4 * found.std() / np.sqrt(len(found)))


def test_correlation_is_that_of_the_bayesian_bootstrap(panel, influences):
    rng = np.random.default_rng(11)
    weights = rng.dirichlet(np.ones(800), size=4000)
    errors = np.empty((4000, 3))
    for place, (task, cells, sign) in enumerate(zip(*panel, strict=True)):
        index = np.searchsorted(cells.edges, task.score, side="left") - 1
        index = np.clip(index, 0, cells.n_bins - 1)
        for draw in range(4000):
            # The error of the reweighted rows, cell by cell: sum of |rate - mean score| by mass,
            # with the sign of the gap as it is in the population.
            gap = weights[draw] * (task.event - task.score)
            errors[draw, place] = np.bincount(index, gap, cells.n_bins) @ sign
    expected = np.corrcoef(errors.T)
    found = correlation(influences)
    # Fisher's z: the standard error of a correlation from 4000 draws.
    error = (1 - expected**2) / np.sqrt(4000)
    assert (np.abs(found - expected) <= 4 * error + 1e-12).all()
    assert 0.2 < abs(found[0, 1]) < 0.999


def test_a_classifier_and_its_double_move_together(influences):
    found = correlation([influences[0], influences[0], -influences[0]])
    np.testing.assert_allclose(found, [[1, 1, -1], [1, 1, -1], [-1, -1, 1]], atol=1e-6)


def test_what_does_not_vary_is_correlated_with_nothing(influences):
    found = correlation([influences[0], np.zeros_like(influences[0])])
    np.testing.assert_array_equal(found, np.eye(2))


def test_a_matrix_of_correlations(influences):
    found = correlation(influences)
    np.testing.assert_allclose(found, found.T, rtol=1e-12)
    np.testing.assert_array_equal(np.diag(found), 1)
    assert np.linalg.eigvalsh(found).min() > -1e-9
