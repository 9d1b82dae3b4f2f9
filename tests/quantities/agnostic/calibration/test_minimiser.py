"""The linear programme against a grid of all functions of a class."""

import numpy as np
import pytest

from bayescal.core.errors import InputError
from bayescal.quantities.agnostic.calibration import minimise_measure


def objective(value, label):
    return np.ptp(np.append(0, np.cumsum(value - label))) / len(label)


@pytest.fixture
def problem():
    rng = np.random.default_rng(20)
    score = np.sort(rng.random(60))
    return score, rng.random(60) < score**2


def test_straight_lines_against_a_grid(problem):
    score, label = problem
    basis = np.column_stack([np.ones(60), score])
    found = minimise_measure(score, label=label, basis=basis)
    grid = np.linspace(0, 1, 101)
    values = (low + (high - low) * score for low in grid for high in grid if high >= low)
    least = min(objective(value, label) for value in values)
    assert found.objective <= least + 1e-9
    # The grid is fine to 0.005 in either end, so that it comes as close.
    assert found.objective >= least - 0.005
    assert objective(found.link(score), label) == pytest.approx(found.objective, abs=1e-9)


def test_the_link_attains_the_objective_and_rises(problem):
    score, label = problem
    found = minimise_measure(score, label=label)
    value = found.link(score)
    assert objective(value, label) == pytest.approx(found.objective, abs=1e-7)
    assert (np.diff(value) >= -1e-9).all()


def test_any_function_reaches_0(problem):
    score, label = problem
    assert minimise_measure(score, label=label, nondecreasing=False).objective < 1e-9


def test_tied_scores_are_pooled():
    found = minimise_measure([0.5, 0.5, 0.5], label=[0, 1, 1])
    assert found.objective < 1e-9
    assert found.link(0.5) == pytest.approx(2 / 3)


@pytest.mark.parametrize(
    ("basis", "message"),
    [
        ([1.0, 2.0], "shape"),
        ([[1.0]], "same length"),
        ([[1.0], [np.nan]], "finite"),
        ([[5.0], [-5.0]], None),
    ],
)
def test_bad_bases(basis, message):
    if message is None:
        # Falling from a positive to a negative value: only 0 lies in [0, 1].
        assert minimise_measure([0.2, 0.4], label=[0, 1], basis=basis).link(0.4) == 0
        return
    with pytest.raises(InputError, match=message):
        minimise_measure([0.2, 0.4], label=[0, 1], basis=basis)


def test_a_basis_that_tears_ties_apart():
    with pytest.raises(InputError, match=r"rows of score 0.2 differ, at row 1"):
        minimise_measure([0.2, 0.2], label=[0, 1], basis=[[1.0], [2.0]])
