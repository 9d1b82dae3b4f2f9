"""Cells within bins, ties included, and padding."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import bayescal as bc
from bayescal.core.bin_counts import BinCounts
from bayescal.core.binning import Binning
from bayescal.curves.cells import (
    Problem,
    draw_masses,
    error_draws,
    logit_rate,
    pad,
    padded_size,
    rate_logit,
    relabelled,
)
from bayescal.quantities.ece.data import problem_of
from tests.quantities.ece.made import problem


def tied(closed: str) -> Problem:
    """Ten rows at 1, two elsewhere, in six bins of which ties leave four empty."""
    score = np.array([1.0] * 10 + [0.3] * 2)
    scores = bc.Scores(y_true=np.arange(12) % 2, y_prob=score)
    return problem_of(scores.tasks()[0], True, Binning(6, closed=closed))


@pytest.mark.parametrize("closed", ["right", "left"])
def test_every_bin_has_support_and_every_cell_one_bin(closed: str) -> None:
    problem = tied(closed)
    assert (problem.membership().sum(axis=1) == 1).all()
    assert (problem.membership().sum(axis=0) == 0).any()
    assert (problem.support().sum(axis=0) > 0).all()


@pytest.mark.parametrize("closed", ["right", "left"])
def test_where_no_bin_lacks_cells_support_is_membership(closed: str) -> None:
    scores = bc.Scores(y_true=np.arange(12) % 2, y_prob=np.linspace(0.05, 0.95, 12))
    problem = problem_of(scores.tasks()[0], True, Binning(6, closed=closed))
    np.testing.assert_array_equal(problem.support(), problem.membership())


@pytest.mark.parametrize("closed", ["right", "left"])
def test_bins_that_ties_leave_empty_change_no_error(closed: str) -> None:
    problem = tied(closed)
    rng = np.random.default_rng(20)
    rates = rng.random((1, 50, problem.cells.n_bins))
    found = error_draws(problem, rates, draw_masses(problem.cells.count, rates.shape[:-1], rng))
    assert all(np.isfinite(values).all() for values in found.values())
    # Each of the two distinct scores is a bin, so binned and unbinned error are one number.
    np.testing.assert_allclose(found["ece"], found["tce"], rtol=1e-12)
    assert (found["mce"] >= found["ece"]).all()


def test_labels_drawn_anew_have_the_weights_of_their_rows():
    # Rows with the event weigh three times as much: a third of them were kept.
    rows, events = np.array([4000, 6000]), np.array([400, 2000])
    mass, squares = rows + 2.0 * events, rows + 8.0 * events
    count = mass**2 / squares
    positives = count * 3 * events / mass
    cells = BinCounts(
        [0, 0.5, 1], count, positives, [0.3, 0.8], "right", "edges", mass, rows, events
    )
    rates = np.array([0.2, 0.7])
    found = relabelled(cells.evened(), rates, np.random.default_rng(6))
    selected = rates / 3 / (rates / 3 + 1 - rates)
    spread = np.sqrt(selected * (1 - selected) * rows)
    # Four standard errors.
    assert (abs(found.positive_rows - rows * selected) < 4 * spread).all()
    np.testing.assert_allclose(found.mass, rows + 2 * found.positive_rows)
    np.testing.assert_allclose(found.positives / found.count, 3 * found.positive_rows / found.mass)
    for bins in (found, found.evened(), found.merge([0, 1])):
        np.testing.assert_allclose(bins.label_ratio[0], 3)
    np.testing.assert_allclose(found.sums[3], rows + 8 * found.positive_rows)


def test_a_bin_of_far_less_than_one_effective_row_has_a_rate():
    problem, rng = tied("right"), np.random.default_rng(3)
    count = problem.cells.count * np.where(problem.cells.mean_score < 0.5, 1e-6, 1)
    mass = draw_masses(count, (50,), rng)
    np.testing.assert_array_equal(mass > 0, np.broadcast_to(count > 0, mass.shape))
    found = error_draws(problem, np.full(mass.shape, 0.5), mass)
    np.testing.assert_allclose(found["label_rate"], 0.5, rtol=1e-12)


@pytest.mark.parametrize("strategy", ["uniform", "quantile", [0, 0.3, 0.3, 0.31, 1]])
def test_membership_is_where_the_cell_lies(strategy):
    made = problem(n=80, n_bins=7, strategy=strategy)
    table = made.membership()
    assert table.shape == (made.cells.n_bins, made.bins.n_bins)
    np.testing.assert_array_equal(table.sum(axis=1), 1)
    for cell, bin_ in enumerate(table.argmax(axis=1)):
        assert made.bins.edges[bin_] <= made.cells.edges[cell]
        assert made.cells.edges[cell + 1] <= made.bins.edges[bin_ + 1]
    np.testing.assert_array_equal(made.cells.count @ table, made.bins.count)
    np.testing.assert_array_equal(made.cells.positives @ table, made.bins.positives)


def test_cells_that_are_the_bins_are_their_own():
    made = problem(n=80, n_bins=7, fine=False)
    np.testing.assert_array_equal(made.membership(), np.eye(7))


@pytest.mark.parametrize(
    ("mass", "rate", "ece"),
    [
        # The bin without rows has no mass: the plain mean of its cells' rates.
        ([1.0, 0, 0, 0], 0.3, 0.1),
        # It has some, as positives alone give it: .5 |.2 - .1| + .5 |.28 - .62|.
        ([0.5, 0, 0.3, 0.2], 0.28, 0.22),
    ],
)
def test_a_bin_counts_by_the_mass_of_its_cells(mass, rate, ece):
    cells = BinCounts([0, 0.2, 0.4, 0.6, 1], [3, 0, 0, 0], [1, 0, 0, 0], [0.1, 0.3, 0.5, 0.8])
    made = Problem({}, cells, cells.merge([0, 0.4, 1]))
    found = error_draws(made, np.array([0.2, 0.9, 0.2, 0.4]), np.array(mass))
    assert found["label_rate"] == pytest.approx([0.2, rate])
    assert found["ece"] == pytest.approx(ece)


def test_too_many_bins_are_refused_before_a_fit_that_would_not_end() -> None:
    scores = bc.Scores(y_true=np.arange(6000) % 2, y_prob=(np.arange(6000) + 0.5) / 6000)
    said = "at most 2200 cells; the 5000 bins are cut into .* pass fewer bins"
    with pytest.raises(bc.InputError, match=said):
        bc.fit(bc.ece, scores, n_bins=5000)
    assert 0 < float(bc.ece.estimate(scores, binning=Binning(n_bins=5000)).ece) < 1


def test_padding_appends_zeros():
    table = np.arange(6).reshape(2, 3)
    found = pad(table, 4, 3)
    np.testing.assert_array_equal(found[:2], table)
    np.testing.assert_array_equal(found[2:], 0)
    assert found.shape == (4, 3)
    assert found.dtype == table.dtype


def test_padding_never_cuts():
    with pytest.raises(ValueError, match="negative"):
        pad(np.arange(5), 4)


@given(st.integers(1, 10_000), st.sampled_from([1, 16, 128]))
def test_padded_sizes_are_the_least_doublings(n, smallest):
    size = padded_size(n, smallest)
    assert size >= n
    assert (size // smallest) & (size // smallest - 1) == 0
    assert size % smallest == 0
    assert size == smallest or size // 2 < n


def test_rates_come_back_from_their_logits() -> None:
    rate = np.array([0.0, 1e-300, 1e-9, 0.3, 1 - 1e-12, 1.0])
    found = logit_rate(rate_logit(rate))
    np.testing.assert_allclose(found, rate, rtol=1e-12)
    assert found[[0, -1]].tolist() == [0, 1]
    assert np.isfinite(rate_logit(rate)).all()
