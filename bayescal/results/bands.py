"""Bands of curves from draws, and of ROC curves from boxes around their points.

A point of an ROC curve has a threshold, at which both of its rates are uncertain. A band of the
true positive rate alone, at fixed false positive rates, would be narrower than any step of the
curve where that is steep or close to 1.
"""

from __future__ import annotations

from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

type Floats = NDArray[np.floating]


class Band(NamedTuple):
    """A band around a curve, (point,)."""

    lower: Floats
    upper: Floats


def pointwise_band(curves: Floats, prob: float) -> Band:
    """Equal-tailed interval at each point of curves (draw, point)."""
    lower, upper = np.quantile(curves, [(1 - prob) / 2, (1 + prob) / 2], axis=0)
    return Band(lower, upper)


def simultaneous_band(curves: Floats, prob: float) -> Band:
    """Band that holds whole curves (draw, point) with a given probability.

    Notes
    -----
    The sup-t band by quantiles: the same quantiles at every point, moved outwards until the share
    of draws that lie inside everywhere reaches `prob`. A draw's depth is its least distance in
    ranks from either end, over the points; the band runs between the order statistics of the depth
    that `prob` of the draws reach.

    References
    ----------
    .. [1] J. L. Montiel Olea and M. Plagborg-Møller, "Simultaneous confidence bands: Theory,
       implementation, and an application to SVARs", Journal of Applied Econometrics 34(1), 2019,
       Algorithm 2. https://doi.org/10.1002/jae.2656
    """
    n = len(curves)
    columns = np.ascontiguousarray(curves.T)
    order = np.argsort(columns, axis=1)
    ordered = np.take_along_axis(columns, order, axis=1)
    depth = np.full(n, n)
    for draws, ranks in zip(order, _ranks_from_ends(ordered), strict=True):
        depth[draws] = np.minimum(depth[draws], ranks)
    # At least `prob` of the draws have this depth or more.
    reached = int(np.sort(depth)[n - max(1, int(np.ceil(prob * n - 1e-9)))])
    return Band(ordered[:, reached - 1], ordered[:, n - reached])


def _ranks_from_ends(ordered: Floats) -> NDArray[np.int64]:
    """Ranks from the nearer end of values in order, from 1 on, (point, draw).

    Of tied values the deepest rank counts: a point where all draws agree excludes none.
    """
    n = ordered.shape[1]
    places = np.arange(n)
    new = ordered[:, 1:] != ordered[:, :-1]
    first, last = np.zeros(ordered.shape, np.int64), np.full(ordered.shape, n - 1)
    first[:, 1:] = np.where(new, places[1:], 0)
    last[:, :-1] = np.where(new, places[:-1], n - 1)
    first = np.maximum.accumulate(first, axis=1)
    last = np.minimum.accumulate(last[:, ::-1], axis=1)[:, ::-1]
    return np.asarray(np.minimum(last + 1, n - first))


class RocRegion(NamedTuple):
    """Region that holds an ROC curve, by threshold."""

    fpr_lower: Floats
    fpr_upper: Floats
    tpr_lower: Floats
    tpr_upper: Floats


class Above(NamedTuple):
    """Labelled rows with a score above each threshold, which falls, (threshold,)."""

    positive: NDArray[np.int64]
    negative: NDArray[np.int64]


def boxes(fpr: Band, tpr: Band, above: Above) -> RocRegion:
    """Bounds of both rates at each threshold.

    Notes
    -----
    A prior with a density gives a label rate of exactly 0 or 1 no probability, but the labels
    cannot exclude one where all rows on a side of the threshold have the same label: there the
    bound is 0 or 1.
    """
    return RocRegion(*_opened(fpr, above.negative), *_opened(tpr, above.positive))


def _opened(band: Band, above: NDArray[np.int64]) -> Band:
    return Band(
        np.where(above == 0, 0.0, band.lower), np.where(above == above[-1], 1.0, band.upper)
    )


def band_of_boxes(region: RocRegion, straight: NDArray[np.bool_], fpr: Floats) -> Band:
    """Bounds of the true positive rate of all ROC curves with a point in each box."""
    rises = np.flatnonzero(~straight)
    upper = _with_steps(region.fpr_lower, region.tpr_upper, rises, first="tpr")
    lower = _with_steps(region.fpr_upper, region.tpr_lower, rises, first="fpr")
    return Band(np.interp(fpr, *lower), np.interp(fpr, *upper))


def _with_steps(
    fpr: Floats, tpr: Floats, rises: NDArray[np.int64], first: Literal["fpr", "tpr"]
) -> tuple[Floats, Floats]:
    """Corners joined by lines, and by steps to those at `rises`; a step goes up or right first."""
    across, up = (rises, rises - 1) if first == "fpr" else (rises - 1, rises)
    return np.insert(fpr, rises, fpr[across]), np.insert(tpr, rises, tpr[up])


def tpr_at(fpr: Floats, tpr: Floats, at: Floats) -> Floats:
    """True positive rates of curves (draw, point) at given false positive rates, (draw, at).

    A vertical piece of a curve counts with its upper end.
    """
    return np.array([np.interp(at, x, y) for x, y in zip(fpr, tpr, strict=True)])
