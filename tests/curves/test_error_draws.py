"""Every quantity, draw by draw and bin by bin, in plain loops."""

import numpy as np
import pytest
from scipy.special import logit
from scipy.stats import dirichlet

from bayescal.core.bin_counts import BinCounts
from bayescal.curves.cells import POINTS, Problem, curve_scores, draw_masses, error_draws
from tests.quantities.ece.made import of_counts, problem


def _masses(made, rates):
    return draw_masses(made.cells.count, rates.shape[:-1], np.random.default_rng(5))


def with_empty_bin():
    cells = BinCounts(
        [0, 0.1, 0.2, 0.3, 0.4, 0.7, 1],
        [4, 3, 0, 0, 0, 9],
        [1, 2, 0, 0, 0, 9],
        [0.05, 0.15, 0, 0, 0, 0.9],
    )
    return Problem({"classifier": "made"}, cells, cells.merge([0, 0.2, 0.4, 1]))


def one_draw(made, rates, mass):
    """The quantity's quantities of one draw, cell by cell."""
    score, tce = made.cells.mean_score, 0.0
    for cell in range(made.cells.n_bins):
        tce += mass[cell] * abs(rates[cell] - score[cell])
    ece, gaps, label_rate, mce = 0.0, [], [], 0.0
    for bin_ in range(made.bins.n_bins):
        inside = [
            cell
            for cell in range(made.cells.n_bins)
            if made.bins.edges[bin_] <= made.cells.edges[cell]
            and made.cells.edges[cell + 1] <= made.bins.edges[bin_ + 1]
            and made.cells.edges[cell] < made.cells.edges[cell + 1]
        ]
        held = sum(mass[cell] for cell in inside)
        weight = [mass[cell] / held if held > 0 else 1 / len(inside) for cell in inside]
        rate = sum(w * rates[cell] for w, cell in zip(weight, inside, strict=True))
        mean = sum(w * score[cell] for w, cell in zip(weight, inside, strict=True))
        label_rate.append(rate)
        gaps.append(rate - mean)
        ece += held * abs(rate - mean)
        if held > 0:
            mce = max(mce, abs(rate - mean))
    return {"ece": ece, "tce": tce, "mce": mce, "label_rate": label_rate, "gap": gaps}


@pytest.mark.parametrize(
    "made",
    [
        problem(n=60, n_bins=4),
        problem(n=60, n_bins=4, fine=False),
        problem(n=200, n_bins=6, strategy="uniform"),
        with_empty_bin(),
    ],
    ids=["fine", "bins", "uniform", "empty bin"],
)
def test_against_plain_loops(made):
    rng = np.random.default_rng(4)
    rates = rng.random((2, 3, made.cells.n_bins))
    found = error_draws(made, rates, _masses(made, rates))
    masses = draw_masses(made.cells.count, (2, 3), np.random.default_rng(5))
    for chain in range(2):
        for draw in range(3):
            expected = one_draw(made, rates[chain, draw], masses[chain, draw])
            for name, value in expected.items():
                np.testing.assert_allclose(found[name][chain, draw], value, atol=1e-12)


def test_shapes_and_ranges():
    made = problem(n=500, n_bins=7)
    rates = np.random.default_rng(4).random((2, 50, made.cells.n_bins))
    found = error_draws(made, rates, _masses(made, rates))
    assert {name: value.shape for name, value in found.items()} == {
        **dict.fromkeys(("ece", "tce", "mce"), (2, 50)),
        **dict.fromkeys(("label_rate", "gap"), (2, 50, 7)),
    }
    # Averaging within bins can only take errors away, and the mean is no larger than the largest.
    assert (found["ece"] <= found["tce"] + 1e-12).all()
    assert (found["ece"] <= found["mce"] + 1e-12).all()


def test_rates_equal_to_scores_are_no_error():
    made = problem(n=500, n_bins=7)
    rates = np.broadcast_to(made.cells.mean_score, (1, 20, made.cells.n_bins))
    found = error_draws(made, rates, _masses(made, rates))
    for name in ("ece", "tce", "mce", "gap"):
        np.testing.assert_allclose(found[name], 0, atol=1e-15)


def test_masses_are_dirichlet():
    count = np.array([3, 0, 10, 1])
    masses = draw_masses(count, (4, 5000), np.random.default_rng(1)).reshape(-1, 4)
    np.testing.assert_allclose(masses.sum(axis=1), 1)
    np.testing.assert_array_equal(masses[:, 1], 0)
    law = dirichlet([3, 10, 1])
    held = masses[:, [0, 2, 3]]
    error = np.sqrt(law.var() / 20_000)
    assert (np.abs(held.mean(axis=0) - law.mean()) < 4 * error).all()
    np.testing.assert_allclose(np.cov(held.T), law.cov(), atol=3e-4)


def test_masses_of_one_row_and_of_very_many():
    assert draw_masses(np.array([0, 1]), (3,), np.random.default_rng(1)).tolist() == [[0, 1]] * 3
    masses = draw_masses(np.array([10**9, 3 * 10**9]), (50,), np.random.default_rng(1))
    np.testing.assert_allclose(masses[:, 0], 0.25, atol=5e-5)


def test_the_curve_is_told_where_there_are_rows():
    made = of_counts([3, 0, 4, 0], [1, 0, 2, 0], [0.1, 0.3, 0.6, 0.9])
    score = curve_scores(made)
    assert score.shape == (POINTS,)
    assert (score[0], score[-1]) == (0.1, 0.6)
    assert np.diff(score).min() >= 0
    assert np.diff(score).max() <= 0.5 / (POINTS // 2 - 1) + 1e-12


def test_half_the_points_of_the_curve_lie_in_even_steps_of_the_logit():
    made = of_counts([30, 10, 0, 10], [1, 2, 0, 2], [0.0, 0.3, 0.6, 0.999999])
    score = curve_scores(made)
    assert (score[0], score[-1]) == (0, 0.999999)
    # From the logit of 1e-9 to that of 0.999999.
    steps = logit(score[1:-1])
    assert np.diff(steps[steps < -5]).max() <= (20.8 + 13.9) / (POINTS // 2 - 1)
    assert np.diff(steps[steps > 5]).max() <= (20.8 + 13.9) / (POINTS // 2 - 1)
