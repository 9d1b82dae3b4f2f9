"""Bands, against normal quantiles, a search over all of them, and curves drawn inside boxes."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import norm

from bayescal.results.curves import (
    Above,
    Band,
    RocRegion,
    band_of_boxes,
    boxes,
    pointwise_band,
    simultaneous_band,
)


def test_the_pointwise_band_is_of_quantiles():
    curves = np.random.default_rng(3).normal(size=(20_000, 4))
    band = pointwise_band(curves, 0.9)
    assert band.upper == pytest.approx(norm.ppf(0.95), abs=0.05)
    assert band.lower == pytest.approx(-norm.ppf(0.95), abs=0.05)


def test_the_simultaneous_band_of_independent_points():
    # Inside at all of 10 points with probability .9: at each with .9 ** (1 / 10).
    curves = np.random.default_rng(4).normal(size=(20_000, 10))
    band = simultaneous_band(curves, 0.9)
    expected = norm.ppf((1 + 0.9**0.1) / 2)
    assert band.upper == pytest.approx(expected, abs=0.12)
    assert band.lower == pytest.approx(-expected, abs=0.12)


@pytest.mark.parametrize("prob", [0.5, 0.9, 0.95])
@pytest.mark.parametrize("seed", range(3))
def test_the_simultaneous_band_holds_its_share_of_draws_and_no_narrower_one_does(seed, prob):
    curves = np.cumsum(np.random.default_rng(seed).normal(size=(400, 12)), axis=1)
    curves[:, 5] = 1.0
    band = simultaneous_band(curves, prob)
    inside = ((curves >= band.lower) & (curves <= band.upper)).all(axis=1)
    assert inside.mean() >= prob
    ordered = np.sort(curves, axis=0)
    place = int((ordered[:, 0] < band.lower[0]).sum())
    tighter = (curves >= ordered[place + 1]) & (curves <= ordered[-place - 2])
    assert tighter.all(axis=1).mean() < prob


def test_one_point_is_the_pointwise_band():
    curves = np.random.default_rng(5).random((1001, 1))
    one, other = simultaneous_band(curves, 0.9), pointwise_band(curves, 0.9)
    assert one.lower == pytest.approx(other.lower, abs=0.003)
    assert one.upper == pytest.approx(other.upper, abs=0.003)


def _boxes(rng, n):
    """Boxes around n points of a rising curve between (0, 0) and (1, 1)."""
    ends = np.sort(rng.random((2, 2, n)), axis=2)
    (x, also_x), (y, also_y) = ends
    lower, upper = np.minimum, np.maximum
    return RocRegion(
        *(
            np.concatenate([[0.0], values, [1.0]])
            for values in (lower(x, also_x), upper(x, also_x), lower(y, also_y), upper(y, also_y))
        )
    )


def _curve_through(region, straight, rng):
    """A curve with a random point in each box, and in between what `straight` allows."""
    low, high = region.fpr_lower, region.fpr_upper
    x = np.maximum.accumulate(low + rng.random(len(low)) * (high - low))
    y = region.tpr_lower + rng.random(len(low)) * (region.tpr_upper - region.tpr_lower)
    y = np.maximum.accumulate(y)
    points = [(x[0], y[0])]
    for k in range(1, len(x)):
        if not straight[k]:
            more = np.sort(rng.random((2, 3)), axis=1)
            points += zip(
                x[k - 1] + more[0] * (x[k] - x[k - 1]),
                y[k - 1] + more[1] * (y[k] - y[k - 1]),
                strict=True,
            )
        points.append((x[k], y[k]))
    return np.array(points).T


@settings(max_examples=200, deadline=None)
@given(st.integers(0, 10**6), st.integers(1, 6))
def test_curves_through_all_boxes_lie_in_the_band(seed, n):
    rng = np.random.default_rng(seed)
    region = _boxes(rng, n)
    straight = np.append(True, rng.random(n + 1) < 0.5)
    fpr = np.linspace(0, 1, 41)
    band = band_of_boxes(region, straight, fpr)
    for _ in range(5):
        tpr = np.interp(fpr, *_curve_through(region, straight, rng))
        assert (band.lower[:-1] <= tpr[:-1] + 1e-12).all()
        assert (tpr <= band.upper + 1e-12).all()


def test_boxes_without_extent_leave_one_curve_where_it_is_straight():
    x, y = np.array([0.0, 0.25, 0.5, 1.0]), np.array([0.0, 0.5, 1.0, 1.0])
    band = band_of_boxes(RocRegion(x, x, y, y), np.array([True] * 4), np.array([0.125, 0.4]))
    assert band.lower.tolist() == pytest.approx([0.25, 0.8])
    assert band.upper.tolist() == pytest.approx([0.25, 0.8])


def test_between_points_that_no_line_joins_the_curve_may_be_anywhere():
    x, y = np.array([0.0, 0.25, 0.5, 1.0]), np.array([0.0, 0.5, 0.75, 1.0])
    straight = np.array([True, True, False, True])
    band = band_of_boxes(RocRegion(x, x, y, y), straight, np.array([0.125, 0.4, 0.75]))
    assert band.lower.tolist() == pytest.approx([0.25, 0.5, 0.875])
    assert band.upper.tolist() == pytest.approx([0.25, 0.75, 0.875])


def test_a_side_with_one_label_only_excludes_nothing():
    rate = Band(np.array([0.0, 0.2, 0.4, 1.0]), np.array([0.0, 0.3, 0.9, 1.0]))
    above = Above(positive=np.array([0, 2, 5, 5]), negative=np.array([0, 0, 3, 6]))
    found = boxes(rate, rate, above)
    assert found.fpr_lower.tolist() == [0.0, 0.0, 0.4, 1.0]
    assert found.fpr_upper.tolist() == [0.0, 0.3, 0.9, 1.0]
    assert found.tpr_lower.tolist() == [0.0, 0.2, 0.4, 1.0]
    assert found.tpr_upper.tolist() == [0.0, 0.3, 1.0, 1.0]
