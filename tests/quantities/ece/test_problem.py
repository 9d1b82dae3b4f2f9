"""Cells and bins of one problem, ties included."""

import numpy as np
import pytest

import bayescal as bc
from bayescal.quantities.ece.posterior import quantities
from bayescal.quantities.ece.prepare import problem_of
from bayescal.quantities.ece.problem import Problem


def tied(closed: str) -> Problem:
    """Ten rows at 1, two elsewhere, in six bins of which ties leave four empty."""
    score = np.array([1.0] * 10 + [0.3] * 2)
    scores = bc.Scores(y_true=np.arange(12) % 2, y_prob=score)
    return problem_of(scores.tasks()[0], True, 6, "quantile", closed)


@pytest.mark.parametrize("closed", ["right", "left"])
def test_every_bin_has_support_and_every_cell_one_bin(closed: str) -> None:
    problem = tied(closed)
    assert (problem.membership().sum(axis=1) == 1).all()
    assert (problem.membership().sum(axis=0) == 0).any()
    assert (problem.support().sum(axis=0) > 0).all()


@pytest.mark.parametrize("closed", ["right", "left"])
def test_where_no_bin_lacks_cells_support_is_membership(closed: str) -> None:
    scores = bc.Scores(y_true=np.arange(12) % 2, y_prob=np.linspace(0.05, 0.95, 12))
    problem = problem_of(scores.tasks()[0], True, 6, "quantile", closed)
    np.testing.assert_array_equal(problem.support(), problem.membership())


@pytest.mark.parametrize("closed", ["right", "left"])
def test_bins_that_ties_leave_empty_change_no_error(closed: str) -> None:
    problem = tied(closed)
    rng = np.random.default_rng(20)
    rates = rng.random((1, 50, problem.cells.n_bins))
    found = quantities(problem, rates, rng)
    assert all(np.isfinite(values).all() for values in found.values())
    # Each of the two distinct scores is a bin, so binned and unbinned error are one number.
    np.testing.assert_allclose(found["ece"], found["tce"], rtol=1e-12)
    assert (found["mce"] >= found["ece"]).all()
