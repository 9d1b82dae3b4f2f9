"""Bandwidths against KDEpy, against their definitions, and against what they promise."""

from math import factorial, pi, sqrt

import numpy as np
import pytest
from scipy.stats import iqr

from bayescal.quantities.ssme.kde import (
    bandwidth,
    fixed_point,
    improved_sheather_jones,
    normal_reference,
)
from tests.conftest import oracle

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
    assert improved_sheather_jones(x) == pytest.approx(expected, rel=0.05)


def by_hand(t, n, squared):
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
    assert fixed_point(t, 70, squared) == pytest.approx(by_hand(t, 70, squared), rel=1e-10)


def test_isj_solves_its_equation():
    """Cosine coefficients straight from the points, on a grid from -1/2 to 3/2 of their range."""
    x = np.random.default_rng(4).random(400)
    h = improved_sheather_jones(x)
    length = 2 * np.ptp(x)
    places = (x - x.min()) / length + 0.25
    a = 2 * np.cos(pi * np.outer(np.arange(1, 400), places)).mean(axis=1)
    t = (h / length) ** 2
    # 1e-4: points are split between the two grid nodes beside them.
    assert by_hand(t, 400, a**2) == pytest.approx(t, rel=1e-4)


@pytest.mark.parametrize("shape", SHAPES)
def test_isj_moves_and_stretches_with_the_data(shape):
    x = SHAPES[shape](np.random.default_rng(5), 300)
    h = improved_sheather_jones(x)
    assert improved_sheather_jones(0.1 * x - 7) == pytest.approx(0.1 * h, rel=1e-6)


def test_isj_finds_the_optimum_of_a_normal_density():
    """The optimum is (4 / (3 n))^(1/5) s; the rule's own error at n = 20000 is a few percent."""
    x = np.random.default_rng(6).normal(size=20_000)
    assert improved_sheather_jones(x) == pytest.approx((4 / 3 / 20_000) ** 0.2, rel=0.07)


def test_isj_without_a_solution_is_the_normal_reference():
    x = np.array([0.0, 1.0])
    assert improved_sheather_jones(x) == normal_reference(x)


def test_normal_reference_by_definition():
    x = np.random.default_rng(7).standard_t(2, size=200)
    spread = min(x.std(ddof=1), iqr(x, scale="normal"))
    assert normal_reference(x) == pytest.approx(spread * (4 / (3 * 200)) ** 0.2, rel=1e-12)


def test_normal_reference_where_half_the_numbers_are_tied():
    x = np.r_[np.zeros(30), 1.0]
    assert normal_reference(x) == pytest.approx(x.std(ddof=1) * (4 / (3 * 31)) ** 0.2, rel=1e-12)


def test_the_narrowest_coordinate_decides():
    rng = np.random.default_rng(8)
    narrow = rng.normal(size=100)
    points = np.stack([5 * rng.normal(size=100), narrow, np.zeros(100)], axis=1)
    expected = 0.25 * normal_reference(narrow)
    assert bandwidth(points, "normal-reference", 0.25) == pytest.approx(expected, rel=1e-12)


def test_points_that_are_all_the_same():
    assert bandwidth(np.zeros((5, 2)), "isj", 0.5) == 0.5
