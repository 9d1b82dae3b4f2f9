"""Bands of the ROC curves of a result: boxes around their points, and what these leave possible."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import xarray as xr
from numpy.typing import NDArray

from bayescal.core.checks import check_flag
from bayescal.core.errors import InputError
from bayescal.results import access, schema
from bayescal.results.access import ResultSlice
from bayescal.results.bands import (
    Above,
    Band,
    RocRegion,
    band_of_boxes,
    boxes,
    pointwise_band,
    simultaneous_band,
    tpr_at,
)
from bayescal.results.intervals import tail

type Floats = NDArray[np.floating]

# False positive rates at which bands are given.
FPR = np.linspace(0, 1, 101)


def roc_band(
    result: xr.DataTree,
    prob: float = 0.9,
    *,
    simultaneous: bool = True,
    unlabeled: bool = False,
    classifier: str | None = None,
    class_: str | None = None,
) -> xr.Dataset:
    """Give a band of the true positive rates over the false positive rates.

    Parameters
    ----------
    result : xarray.DataTree
        A result of this quantity.
    prob : float, in (0, 1), default 0.9
        Posterior probability.
    simultaneous : bool, default True
        Whether the band holds the whole curve with this probability, or each point for itself.
    unlabeled : bool, default False
        Whether the curve is that of the unlabelled rows, or of the population.
    classifier, class_ : str, optional
        Needed where the result has several.

    Returns
    -------
    xarray.Dataset
        ``lower``, ``upper`` and ``mean`` (roc_point), with the coordinate ``fpr``.

    Raises
    ------
    InputError
        If there is no such classifier or class, no unlabelled row, or `prob` is no probability.

    Notes
    -----
    The simultaneous band holds all curves that have a point in each of the boxes of `roc_boxes`:
    between two boxes the curve is a straight line where all rows between have one score, and rises
    somehow where there are several. The pointwise band is of equal-tailed intervals of the true
    positive rate, straight lines between the thresholds. Both reach 0 and 1 where the labels cannot
    exclude them.

    Examples
    --------
    >>> import bayescal as bc
    >>> scores = bc.datasets.agnostic.truth("over").scores(500, seed=1)
    >>> result = bc.fit(bc.agnostic, scores, method="direct", seed=20)
    >>> band = bc.agnostic.roc_band(result)
    >>> bool((band.lower <= band.upper).all())
    True
    """
    tail(prob)
    check_flag(unlabeled, "unlabeled")
    check_flag(simultaneous, "simultaneous")
    held = _Held.of(result, access.named_case(result, classifier, class_), unlabeled)
    curves = tpr_at(held.fpr, held.tpr, FPR)
    band = held.whole(prob) if simultaneous else held.each_point(curves, prob)
    columns = {**band._asdict(), "mean": curves.mean(axis=0)}
    return xr.Dataset(
        {key: ("roc_point", values) for key, values in columns.items()},
        coords={"fpr": ("roc_point", FPR)},
        attrs={"prob": prob, "simultaneous": simultaneous},
    )


def roc_boxes(
    result: xr.DataTree,
    prob: float = 0.9,
    *,
    unlabeled: bool = False,
    classifier: str | None = None,
    class_: str | None = None,
) -> xr.Dataset:
    """Give bounds of both rates at every threshold, all at once.

    Parameters
    ----------
    result : xarray.DataTree
        A result of this quantity.
    prob : float, in (0, 1), default 0.9
        Posterior probability that all boxes hold their points.
    unlabeled : bool, default False
        Whether the rates are those of the unlabelled rows, or of the population.
    classifier, class_ : str, optional
        Needed where the result has several.

    Returns
    -------
    xarray.Dataset
        ``fpr_lower``, ``fpr_upper``, ``tpr_lower``, ``tpr_upper`` and the means ``fpr`` and
        ``tpr`` (threshold), with the coordinate ``threshold``, which falls: rows of scores above it
        are called positive.

    Raises
    ------
    InputError
        If there is no such classifier or class, no unlabelled row, or `prob` is no probability.

    Notes
    -----
    The boxes are a sup-t band of the false and the true positive rates together. Where all labelled
    rows above a threshold, or all up to it, have the same label, the labels cannot exclude that
    none of the other is there, though a prior with a density does: the bounds are 0 or 1.

    References
    ----------
    .. [1] J. L. Montiel Olea and M. Plagborg-Møller, "Simultaneous confidence bands: Theory,
       implementation, and an application to SVARs", Journal of Applied Econometrics 34(1), 2019,
       Algorithm 2. https://doi.org/10.1002/jae.2656

    Examples
    --------
    >>> import bayescal as bc
    >>> scores = bc.datasets.agnostic.truth("over").scores(500, seed=1)
    >>> result = bc.fit(bc.agnostic, scores, method="direct", seed=20)
    >>> at_half = bc.agnostic.roc_boxes(result).sel(threshold=0.5, method="nearest")
    >>> float(at_half.tpr_lower) < float(at_half.tpr) < float(at_half.tpr_upper)
    True
    """
    tail(prob)
    check_flag(unlabeled, "unlabeled")
    held = _Held.of(result, access.named_case(result, classifier, class_), unlabeled)
    region = held.simultaneous_boxes(prob)
    columns = {**region._asdict(), "fpr": held.fpr.mean(axis=0), "tpr": held.tpr.mean(axis=0)}
    return xr.Dataset(
        {name: ("threshold", np.asarray(values, float)) for name, values in columns.items()},
        coords={"threshold": held.threshold},
        attrs={"prob": prob},
    )


def has_roc(result: xr.DataTree) -> bool:
    """Whether a result holds draws of ROC curves."""
    return access.has_variable(result, schema.CONSTANT_DATA, "roc_threshold")


def labeled_roc(result: xr.DataTree, case: ResultSlice) -> tuple[Floats, Floats] | None:
    """Rates of the labelled rows at the thresholds, (threshold,) each; None if all are alike."""
    above = [
        access.variable(result, schema.CONSTANT_DATA, f"{name}_above", case).values
        for name in ("negative", "positive")
    ]
    if not (above[0][-1] and above[1][-1]):
        return None
    fpr, tpr = (counts / counts[-1] for counts in above)
    return fpr, tpr


@dataclass(frozen=True, eq=False)
class _Held:
    """What a result holds of one classifier's ROC curve."""

    fpr: Floats  # (draw, threshold)
    tpr: Floats  # (draw, threshold)
    threshold: Floats  # falling to -inf, (threshold,)
    straight: NDArray[np.bool_]  # (threshold,)
    above: Above

    @classmethod
    def of(cls, result: xr.DataTree, case: ResultSlice, unlabeled: bool) -> _Held:
        prefix = "unlabeled_" if unlabeled else ""
        if unlabeled and not access.has_variable(result, schema.POSTERIOR, "unlabeled_tpr"):
            raise InputError(
                "the result has no unlabelled rows; got unlabeled=True. Pass unlabeled=... to fit."
            )

        def constant(name: str) -> np.ndarray:
            return np.asarray(access.variable(result, schema.CONSTANT_DATA, name, case).values)

        threshold = constant("roc_threshold")
        size = int(np.argmin(threshold)) + 1
        fpr, tpr = (
            access.flat_draws(result, f"{prefix}{name}", case)[:, :size] for name in ("fpr", "tpr")
        )
        # Without a row of one label there is no curve.
        known = ~(np.isnan(fpr).any(axis=1) | np.isnan(tpr).any(axis=1))
        above = Above(constant("positive_above")[:size], constant("negative_above")[:size])
        return cls(fpr[known], tpr[known], threshold[:size], constant("roc_straight")[:size], above)

    def simultaneous_boxes(self, prob: float) -> RocRegion:
        """Boxes that all hold their points."""
        return self.boxes(simultaneous_band(self._rates, prob))

    def boxes(self, rates: Band) -> RocRegion:
        """Boxes from a band of both rates, the false positive rates first."""
        size = len(self.threshold)
        fpr, tpr = (
            Band(rates.lower[part], rates.upper[part]) for part in (slice(size), slice(size, None))
        )
        return boxes(fpr, tpr, self.above)

    def whole(self, prob: float) -> Band:
        """Band of the whole curve."""
        return band_of_boxes(self.simultaneous_boxes(prob), self.straight, FPR)

    def each_point(self, curves: Floats, prob: float) -> Band:
        """Band of each point for itself, open where the labels exclude nothing."""
        each = pointwise_band(curves, prob)
        region = self.boxes(pointwise_band(self._rates, prob))
        reach = band_of_boxes(region, self.straight, FPR)
        return Band(
            np.where(reach.lower == 0, 0.0, each.lower), np.where(reach.upper == 1, 1.0, each.upper)
        )

    @property
    def _rates(self) -> Floats:
        return np.hstack([self.fpr, self.tpr])
