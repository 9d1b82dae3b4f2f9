"""Kernel densities: coordinates, bandwidths and sums of kernels."""

from math import factorial, pi, sqrt

import numpy as np
import pytest
from scipy.special import logit, softmax
from scipy.stats import iqr

from bayescal.quantities.ssme import kde
from tests.conftest import oracle
from tests.quantities.ssme.made import by_hand, contrasts, made


def test_binary_is_the_log_odds():
    s = np.random.default_rng(1).uniform(0.01, 0.99, (3, 20))
    np.testing.assert_allclose(kde.alr(np.stack([1 - s, s], axis=-1)), logit(s).T, atol=1e-12)


@pytest.mark.parametrize(("reference", "place"), [("first", 0), ("last", 3)])
def test_softmax_takes_it_back(reference, place):
    probs = np.random.default_rng(2).dirichlet(np.ones(4), (2, 10))
    ratios = kde.alr(probs, reference).reshape(10, 2, 3)
    logits = np.insert(ratios, place, 0, axis=2)
    np.testing.assert_allclose(softmax(logits, axis=2).transpose(1, 0, 2), probs, atol=1e-12)


def test_exact_0_and_1_are_clipped_and_keep_their_order():
    s = np.array([0.0, 1e-7, 1e-5, 0.5, 1 - 1e-5, 1.0])
    z = kde.alr(np.stack([1 - s, s], axis=-1)[np.newaxis])[:, 0]
    edge = logit(1e-6)
    np.testing.assert_allclose(z, [edge, edge, logit(1e-5), 0, -logit(1e-5), -edge], atol=1e-9)


def test_the_reference_turns_signs_of_two_classes_and_distances_of_more():
    rng = np.random.default_rng(3)
    two, three = rng.dirichlet(np.ones(2), (1, 5)), rng.dirichlet(np.ones(3), (1, 5))
    np.testing.assert_array_equal(kde.alr(two, "last"), -kde.alr(two, "first"))
    first, last = (kde.alr(three, name) for name in ("first", "last"))
    # log p1/p3 = -log p3/p1, and log p2/p3 = log p2/p1 - log p3/p1.
    np.testing.assert_allclose(last, np.stack([-first[:, 1], first[:, 0] - first[:, 1]], axis=1))
    assert not np.isclose(np.linalg.norm(first[0] - first[1]), np.linalg.norm(last[0] - last[1]))


SHAPES = {
    "normal": lambda rng, n: 10 * rng.normal(size=n),
    "two modes": lambda rng, n: np.r_[rng.normal(-20, 1, n // 2), rng.normal(20, 3, n // 2)],
    "skewed": lambda rng, n: 20 * rng.exponential(size=n),
}


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("n", [50, 1000])
def test_isj_equals_kdepy_but_for_the_unit(shape, n):
    """KDEpy's grid of 2^10 nodes is as long as ours, twice the data; it multiplies by the data."""
    rule = oracle("KDEpy.bw_selection")
    x = SHAPES[shape](np.random.default_rng(1), n)
    # 5%: the coarser grid, which matters at the jump of the skewed density only.
    expected = 2 * rule.improved_sheather_jones(x[:, np.newaxis])
    assert kde.improved_sheather_jones(x) == pytest.approx(expected, rel=0.05)


def fixed_point_by_hand(t, n, squared):
    """Botev et al. 2010, Eqs. (29)-(30) and algorithm 1, term by term."""

    def norm(order, time):
        terms = [
            (pi * k) ** (2 * order) * a * np.exp(-((pi * k) ** 2) * time) / 2
            for k, a in enumerate(squared, start=1)
        ]
        return sum(terms)

    value = norm(7, t)
    for j in range(6, 1, -1):
        odd = factorial(2 * j) / (2**j * factorial(j))
        time = ((1 + 0.5 ** (j + 0.5)) / 3 * odd / (n * sqrt(pi / 2) * value)) ** (2 / (3 + 2 * j))
        value = norm(j, time)
    return (2 * n * sqrt(pi) * value) ** (-2 / 5)


@pytest.mark.parametrize("t", [1e-4, 1e-3, 0.02])
def test_fixed_point_follows_the_paper(t):
    squared = np.random.default_rng(3).random(40)
    assert kde.fixed_point(t, 70, squared) == pytest.approx(
        fixed_point_by_hand(t, 70, squared), rel=1e-10
    )


def test_isj_solves_its_equation():
    """Cosine coefficients straight from the points, on a grid from -1/2 to 3/2 of their range."""
    x = np.random.default_rng(4).random(400)
    h = kde.improved_sheather_jones(x)
    length = 2 * np.ptp(x)
    places = (x - x.min()) / length + 0.25
    a = 2 * np.cos(pi * np.outer(np.arange(1, 400), places)).mean(axis=1)
    t = (h / length) ** 2
    # 1e-4: points are split between the two grid nodes beside them.
    assert fixed_point_by_hand(t, 400, a**2) == pytest.approx(t, rel=1e-4)


@pytest.mark.parametrize("shape", SHAPES)
def test_isj_moves_and_stretches_with_the_data(shape):
    x = SHAPES[shape](np.random.default_rng(5), 300)
    h = kde.improved_sheather_jones(x)
    assert kde.improved_sheather_jones(0.1 * x - 7) == pytest.approx(0.1 * h, rel=1e-6)


def test_isj_without_a_solution_is_the_normal_reference():
    x = np.array([0.0, 1.0])
    assert kde.improved_sheather_jones(x) == kde.normal_reference(x)


def test_normal_reference_by_definition():
    x = np.random.default_rng(7).standard_t(2, size=200)
    spread = min(x.std(ddof=1), iqr(x, scale="normal"))
    assert kde.normal_reference(x) == pytest.approx(spread * (4 / (3 * 200)) ** 0.2, rel=1e-12)


def test_normal_reference_where_half_the_numbers_are_tied():
    x = np.r_[np.zeros(30), 1.0]
    assert kde.normal_reference(x) == pytest.approx(
        x.std(ddof=1) * (4 / (3 * 31)) ** 0.2, rel=1e-12
    )


def test_the_narrowest_coordinate_decides():
    rng = np.random.default_rng(8)
    narrow = rng.normal(size=100)
    points = np.stack([5 * rng.normal(size=100), narrow, np.zeros(100)], axis=1)
    expected = 0.25 * kde.normal_reference(narrow)
    assert kde.bandwidth(points, "normal-reference", 0.25) == pytest.approx(expected, rel=1e-12)


def test_points_that_are_all_the_same():
    assert kde.bandwidth(np.zeros((5, 2)), "isj", 0.5) == 0.5


@pytest.mark.parametrize(
    ("n", "n_coords", "widths", "kind"),
    [
        (60, 1, [0.1, 0.1], kde.DenseKernel),
        (61, 1, [0.1, 0.1], kde.GridKernel),
        (60, 3, [0.1, 0.1], kde.DenseKernel),
        (61, 3, [0.1, 0.1], kde.NeighborKernel),
        # Two bandwidths need two kernel matrices.
        (48, 3, [0.1, 0.2], kde.DenseKernel),
        (49, 3, [0.1, 0.2], kde.NeighborKernel),
    ],
)
def test_choice(monkeypatch, n, n_coords, widths, kind):
    """All pairs while distances and one matrix a bandwidth fit: here 7,200 = 2 x 60^2 numbers."""
    monkeypatch.setattr("bayescal.quantities.ssme.kde.MOST_PAIRS", 7_200)
    coords = np.random.default_rng(1).normal(size=(n, n_coords))
    for leave_one_out in (False, True):
        kernel = kde.kernel_of(coords, np.array(widths), leave_one_out)
        assert isinstance(kernel, kind)
        assert kernel.leave_one_out is leave_one_out


def test_five_thousand_rows_are_the_most_of_one_bandwidth():
    assert kde.MOST_PAIRS == 2 * 5000**2


# Rounding in sums of 60 terms; a reach of 5.5 widths loses 3e-7 of a kernel's height for each row.
@pytest.mark.parametrize(("kernel", "atol"), [(kde.DenseKernel, 1e-10), (kde.NeighborKernel, 1e-4)])
@pytest.mark.parametrize("leave_one_out", [False, True])
@pytest.mark.parametrize("widths", [[0.5, 0.5, 0.5], [0.3, 0.6, 1.2], [0.3, 0.6, 0.3]])
def test_sums_pair_by_pair(kernel, atol, leave_one_out, widths, monkeypatch):
    monkeypatch.setattr(kde, "_MOST_UNBOUNDED", 60)
    coords, weight = made()
    widths = np.array(widths)
    expected = np.log(by_hand(coords, widths, weight, leave_one_out))
    found = kernel(coords, widths, leave_one_out).log_sums(weight)
    # Rows left out have no reach: their nearest count however far they are.
    atol = 1e-10 if leave_one_out else atol
    np.testing.assert_allclose(contrasts(found), contrasts(expected), atol=atol)


def test_narrow_kernels_are_kept_sparse_without_loss():
    coords, weight = made(n=200, spread=50)
    widths = np.full(3, 0.4)
    found = kde.DenseKernel(coords, widths).log_sums(weight)
    expected = np.log(by_hand(coords, widths, weight))
    np.testing.assert_allclose(contrasts(found), contrasts(expected), atol=1e-12)


@pytest.mark.parametrize("kernel", [kde.DenseKernel, kde.NeighborKernel])
def test_far_out_left_out_rows_still_see_their_nearest(kernel):
    """exp(-distance^2 / 2) is 0 in double precision from distance 39 on."""
    coords = np.array([[0.0, 0.0], [1e4, 0.0], [1e4, 50.0]])
    weight = np.array([[0.2, 0.8], [0.6, 0.4], [0.5, 0.5]])
    found = contrasts(kernel(coords, np.ones(2), leave_one_out=True).log_sums(weight))
    np.testing.assert_allclose(found[:, 1], np.log([0.4 / 0.6, 1.0, 0.4 / 0.6]), atol=1e-12)


@pytest.mark.parametrize(
    ("kernel", "d"), [(kde.DenseKernel, 2), (kde.GridKernel, 1), (kde.NeighborKernel, 2)]
)
def test_a_class_without_weight_is_nowhere(kernel, d):
    coords, weight = made(d=d)
    weight[:, 1] = 0
    assert np.isneginf(kernel(coords, np.ones(3)).log_sums(weight)[:, 1]).all()


@pytest.mark.parametrize("leave_one_out", [False, True])
def test_sums_on_a_grid(leave_one_out):
    coords, weight = made(n=300, d=1)
    widths = np.array([0.1, 0.2, 0.1])
    kernel = kde.GridKernel(coords, widths, leave_one_out)
    found = kernel.log_sums(weight)
    expected = by_hand(coords, widths, weight, leave_one_out)
    # Rows whose neighbours weigh next to nothing are left out: there the grid's rounding shows.
    rows = (expected * np.sqrt(2 * np.pi) * widths).min(axis=1) > 1e-4
    assert rows.sum() > 280
    # Linear binning widens a kernel by a part in a thousand, which shows most far from other rows.
    difference = contrasts(found)[rows] - contrasts(np.log(expected))[rows]
    np.testing.assert_allclose(difference, 0, atol=1e-2)


def test_a_score_that_does_not_vary_gives_shares_of_weight():
    _, weight = made(n=40)
    found = np.exp(kde.GridKernel(np.full((40, 1), 0.7), np.full(3, 0.2)).log_sums(weight))
    expected = weight.sum(axis=0) / weight.sum()
    shares = found / found.sum(axis=1, keepdims=True)
    np.testing.assert_allclose(shares, np.tile(expected, (40, 1)), atol=1e-12)


def test_nothing_within_nine_widths_is_seen_by_a_row_left_out():
    coords = np.array([[0.0], [1.0], [1000.0]])
    weight = np.full((3, 2), 0.5)
    found = kde.GridKernel(coords, np.ones(2), leave_one_out=True).log_sums(weight)
    assert np.isfinite(found[:2]).all()
    assert np.isneginf(found[2]).all()


@pytest.mark.parametrize("leave_one_out", [False, True])
def test_tied_rows_cost_no_neighbours(leave_one_out, monkeypatch):
    for most in ("_MOST", "_MOST_UNBOUNDED"):
        monkeypatch.setattr(kde, most, 16)
    rng = np.random.default_rng(3)
    coords = rng.integers(0, 4, (300, 2)).astype(float)
    weight = rng.dirichlet(np.ones(2), 300)
    dense = kde.DenseKernel(coords, np.ones(2), leave_one_out)
    near = kde.NeighborKernel(coords, np.ones(2), leave_one_out)
    np.testing.assert_allclose(
        contrasts(near.log_sums(weight)), contrasts(dense.log_sums(weight)), atol=1e-10
    )


def test_near_pairs_are_those_within_reach():
    coords, _ = made(n=100)
    squared, column, ends = kde.near_pairs(coords, 0.7, 100)
    distance = np.sqrt(((coords[:, None] - coords) ** 2).sum(axis=2))
    for i in range(100):
        mine = column[ends[i] : ends[i + 1]]
        np.testing.assert_array_equal(np.sort(mine), np.flatnonzero(distance[i] <= 0.7))
        assert mine[0] == i
        np.testing.assert_allclose(squared[ends[i] : ends[i + 1]], distance[i, mine] ** 2)


def test_near_pairs_are_no_more_than_asked_for():
    coords, _ = made(n=100)
    squared, column, ends = kde.near_pairs(coords, np.inf, 7)
    distance = ((coords[:, None] - coords) ** 2).sum(axis=2)
    np.testing.assert_array_equal(np.diff(ends), 7)
    np.testing.assert_array_equal(column.reshape(100, 7), distance.argsort(axis=1)[:, :7])
    np.testing.assert_allclose(squared.reshape(100, 7), np.sort(distance, axis=1)[:, :7])
