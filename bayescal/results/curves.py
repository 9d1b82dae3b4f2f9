"""Curves of a result: of calibration and ROC, their bands, and what they look like.

A point of an ROC curve has a threshold, at which both of its rates are uncertain. A band of the
true positive rate alone, at fixed false positive rates, would be narrower than any step of the
curve where that is steep or close to 1.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final, Literal, NamedTuple

import numpy as np
import xarray as xr
from numpy.typing import NDArray

from bayescal.core.checks import check_flag
from bayescal.core.errors import InputError
from bayescal.core.text import in_words, probability, several
from bayescal.results import access, schema
from bayescal.results.access import ResultSlice
from bayescal.results.intervals import may_be_calibrated, tail

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
    """Band that holds whole curves (draw, point) with a given probability: see `calibration_band`.

    A draw's depth is its least distance in ranks from either end, over the points; the band runs
    between the order statistics of the depth that `prob` of the draws reach.
    """
    n, order = len(curves), np.argsort(curves.T, axis=1)
    ordered = np.take_along_axis(curves.T, order, axis=1)
    depth = np.full(n, n)
    for place, column in zip(order, ordered, strict=True):
        # Of equal values each has the deepest rank from either end, from 1 on.
        below, above = (np.searchsorted(column, column, side) for side in ("right", "left"))
        depth[place] = np.minimum(depth[place], np.minimum(below, n - above))
    # At least `prob` of the draws have this depth or more.
    reached = int(np.sort(depth)[n - max(1, int(np.ceil(prob * n - 1e-9)))])
    return Band(ordered[:, reached - 1], ordered[:, n - reached])


def calibration_band(
    result: xr.DataTree,
    prob: float = 0.9,
    *,
    simultaneous: bool = True,
    classifier: str | None = None,
    class_: str | None = None,
    group: str | None = None,
) -> xr.Dataset:
    """Give a band of the calibration curve.

    Parameters
    ----------
    result : xarray.DataTree
        A result with a calibration curve.
    prob : float, in (0, 1), default 0.9
        Posterior probability.
    simultaneous : bool, default True
        Whether the band holds the whole curve with this probability, or each point for itself.
    classifier, class_, group : str, optional
        Needed where the result has several.

    Returns
    -------
    xarray.Dataset
        ``lower``, ``upper`` and ``mean`` (point), by ``curve_score``: 80 scores over those of rows.

    Raises
    ------
    InputError
        If there is no such case, no curve, several priors, or `prob` is no probability.

    Notes
    -----
    The estimand is the curve P(Y = 1 | score) over the range of the scores. The band is the union
    of two, that of the posterior, whose draws are the diagonal where the classifier is calibrated,
    and that given miscalibration, as the interval of an error is: the first alone would shrink to
    the diagonal near calibration. It holds at least `prob` of the posterior.

    Each is a sup-t band by quantiles: equal-tailed intervals at all points, widened until `prob` of
    the draws lie inside everywhere. No shape of the curve is assumed but what the prior says.

    References
    ----------
    .. [1] J. L. Montiel Olea and M. Plagborg-Møller, 2019, Algorithm 2.
       https://doi.org/10.1002/jae.2656
    .. [2] T. Dimitriadis et al., on bands of rising curves, 2023. https://arxiv.org/abs/2203.04065

    Examples
    --------
    >>> import bayescal as bc
    >>> scores = bc.datasets.ece.truth("over").scores(1000, seed=1)
    >>> result = bc.fit(bc.ece, scores, method="direct", seed=20)
    >>> whole = bc.calibration_band(result)
    >>> each = bc.calibration_band(result, simultaneous=False)
    >>> bool((whole.lower <= each.lower).all() and (each.upper <= whole.upper).all())
    True
    """
    check_flag(simultaneous, "simultaneous")
    schema.check_result(result)
    if not access.has_calibration_curve(result):
        raise InputError(
            f"a band needs a result with a calibration curve; this one, of "
            f"{result.attrs['quantity']}, has none. Fit a calibration error to labelled rows."
        )
    case = access.named_case(result, classifier, class_, group)
    if not lies_on_curve(result, case):
        raise InputError(
            "a band needs a calibration curve; the rows have fewer than two scores between 0 and "
            "1. Read the interval of their label rates: bayescal.interval(result, 'label_rate')."
        )
    lower, upper = curve_band(result, case, prob, simultaneous)
    mean = access.flat_draws(result, schema.CALIBRATION_CURVE, case).mean(axis=0)
    score = access.variable(result, schema.CONSTANT_DATA, schema.CURVE_SCORE, case).values
    return xr.Dataset(
        {"lower": ("point", lower), "upper": ("point", upper), "mean": ("point", mean)},
        coords={schema.CURVE_SCORE: ("point", score)},
        attrs={"prob": prob, "simultaneous": simultaneous},
    )


def curve_band(result: xr.DataTree, case: ResultSlice, prob: float, simultaneous: bool) -> Band:
    """Band of the calibration curve of one case."""
    tail(prob)  # refuses what is no probability
    name = schema.CALIBRATION_CURVE
    groups = [schema.POSTERIOR]
    groups += [schema.GIVEN_MISCALIBRATION] if may_be_calibrated(result, name) else []
    of_draws = simultaneous_band if simultaneous else pointwise_band
    bands = [of_draws(access.flat_draws(result, name, case, group), prob) for group in groups]
    lower, upper = zip(*bands, strict=True)
    return Band(np.minimum.reduce(lower), np.maximum.reduce(upper))


class RocRegion(NamedTuple):
    """Region that holds an ROC curve, by threshold."""

    fpr_lower: Floats  #: False positive rate, (threshold,).
    fpr_upper: Floats  #: Its upper end.
    tpr_lower: Floats  #: True positive rate, (threshold,).
    tpr_upper: Floats  #: Its upper end.


class Above(NamedTuple):
    """Labelled rows with a score above each threshold, which falls, (threshold,)."""

    positive: NDArray[np.int64]
    negative: NDArray[np.int64]


def boxes(fpr: Band, tpr: Band, above: Above) -> RocRegion:
    """Bounds of both rates at each threshold, 0 or 1 where labels exclude neither: `roc_boxes`."""
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
    """True positive rates of curves (draw, point) at false ones, with upper ends of steps."""
    return np.array([np.interp(at, x, y) for x, y in zip(fpr, tpr, strict=True)])


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
        A result that holds ROC curves, such as of `bayescal.agnostic`.
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
    positive rate, straight between the thresholds. Both reach 0 and 1 where labels exclude neither.

    Examples
    --------
    >>> import bayescal as bc
    >>> scores = bc.datasets.agnostic.truth("over").scores(500, seed=1)
    >>> result = bc.fit(bc.agnostic, scores, method="direct", seed=20)
    >>> band = bc.agnostic.roc_band(result)
    >>> bool((band.lower <= band.upper).all())
    True
    """
    check_flag(simultaneous, "simultaneous")
    held = _Held.of(result, prob, unlabeled, classifier, class_)
    curves = tpr_at(held.fpr, held.tpr, FPR)
    if simultaneous:
        band = band_of_boxes(held.boxes(simultaneous_band, prob), held.straight, FPR)
    else:
        band = held.each_point(curves, prob)
    columns = {**band._asdict(), "mean": curves.mean(axis=0)}
    return xr.Dataset(
        {key: ("roc_point", values) for key, values in columns.items()},
        coords={schema.FPR: ("roc_point", FPR)},
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
        A result that holds ROC curves, such as of `bayescal.agnostic`.
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
        ``tpr`` (threshold), with the coordinate ``threshold``, falling: rows above it are positive.

    Raises
    ------
    InputError
        If there is no such classifier or class, no unlabelled row, or `prob` is no probability.

    Notes
    -----
    The boxes are a sup-t band, see `bayescal.calibration_band`, of the false and the true positive
    rates together. Where all labelled rows above a threshold, or all up to it, have the same label,
    labels cannot exclude that none of the other is there: bounds are 0 or 1.

    Examples
    --------
    >>> import bayescal as bc
    >>> scores = bc.datasets.agnostic.truth("over").scores(500, seed=1)
    >>> result = bc.fit(bc.agnostic, scores, method="direct", seed=20)
    >>> at_half = bc.agnostic.roc_boxes(result).sel(threshold=0.5, method="nearest")
    >>> float(at_half.tpr_lower) < float(at_half.tpr) < float(at_half.tpr_upper)
    True
    """
    held = _Held.of(result, prob, unlabeled, classifier, class_)
    region = held.boxes(simultaneous_band, prob)
    means = {schema.FPR: held.fpr.mean(axis=0), schema.TPR: held.tpr.mean(axis=0)}
    return xr.Dataset(
        {
            name: ("threshold", np.asarray(values, float))
            for name, values in (region._asdict() | means).items()
        },
        coords={"threshold": held.threshold},
        attrs={"prob": prob},
    )


def has_roc(result: xr.DataTree) -> bool:
    """Whether a result holds draws of ROC curves."""
    return access.has_variable(result, schema.POSTERIOR, schema.FPR, schema.TPR)


def check_roc(result: xr.DataTree) -> None:
    """Refuse a result without ROC curves."""
    if not has_roc(result):
        raise InputError(
            f"the result of {result.attrs['quantity']} holds no ROC curves. Fit bayescal.agnostic."
        )


def has_unlabeled_roc(result: xr.DataTree) -> bool:
    """Whether the unlabelled rows of each case are of both labels in some draw."""
    names = [f"{schema.UNLABELED}{name}" for name in (schema.FPR, schema.TPR)]
    if not access.has_variable(result, schema.POSTERIOR, *names):
        return False
    # The first point is (0, 0) without rows, too.
    fpr, tpr = (result[schema.POSTERIOR].dataset[name].isel(threshold=1) for name in names)
    known = (fpr + tpr).notnull()
    return bool(known.any([dim for dim in schema.DRAW_DIMS if dim in known.dims]).all())


def labeled_roc(result: xr.DataTree, case: ResultSlice) -> tuple[Floats, Floats] | None:
    """Rates of the labelled rows at the thresholds, (threshold,) each; None if all are alike."""
    names = (schema.NEGATIVE_ABOVE, schema.POSITIVE_ABOVE)
    above = access.values(result, schema.CONSTANT_DATA, case, *names)
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
    def of(cls, result: xr.DataTree, prob: float, unlabeled: bool, *names: str | None) -> _Held:
        """Of the case of these names, after checking what is asked for."""
        tail(prob)
        check_flag(unlabeled, "unlabeled")
        case = access.named_case(result, *names)
        check_roc(result)
        prefix = schema.UNLABELED if unlabeled else ""
        if not access.has_variable(result, schema.POSTERIOR, f"{prefix}{schema.TPR}"):
            raise InputError(
                "the result has no unlabelled rows; got unlabeled=True. Pass unlabeled=... to fit."
            )
        above = (schema.POSITIVE_ABOVE, schema.NEGATIVE_ABOVE)
        names = (schema.ROC_THRESHOLD, schema.ROC_STRAIGHT, *above)
        held = access.values(result, schema.CONSTANT_DATA, case, *names)
        size = int(np.argmin(held[0])) + 1
        threshold, straight, *counts = (values[:size] for values in held)
        fpr, tpr = (
            access.flat_draws(result, f"{prefix}{name}", case)[:, :size]
            for name in (schema.FPR, schema.TPR)
        )
        # Without a row of one label there is no curve.
        known = ~(np.isnan(fpr).any(axis=1) | np.isnan(tpr).any(axis=1))
        if not known.any():
            raise InputError(
                "an ROC curve needs rows of both labels; the unlabelled rows are of one in every "
                "draw. Pass unlabeled=False, or fit more unlabelled rows."
            )
        return cls(fpr[known], tpr[known], threshold, straight, Above(*counts))

    def boxes(self, band_of: Callable[[Floats, float], Band], prob: float) -> RocRegion:
        """Boxes from a band of both rates."""
        rates, size = band_of(np.hstack([self.fpr, self.tpr]), prob), len(self.threshold)
        fpr, tpr = (Band(*(end[part] for end in rates)) for part in np.s_[:size, size:])
        return boxes(fpr, tpr, self.above)

    def each_point(self, curves: Floats, prob: float) -> Band:
        """Band of each point for itself, open where the labels exclude nothing."""
        each = pointwise_band(curves, prob)
        reach = band_of_boxes(self.boxes(pointwise_band, prob), self.straight, FPR)
        return Band(
            np.where(reach.lower == 0, 0.0, each.lower), np.where(reach.upper == 1, 1.0, each.upper)
        )


# A jump is told where the curve jumps within so many cells with at least this probability.
_WINDOW: Final = 2
_LIKELY: Final = 0.5
_MOST_JUMPS: Final = 4


class CurveShape(NamedTuple):
    """The most probable description of a calibration curve."""

    name: str
    weight: float
    jumps: tuple[float, ...]

    @property
    def words(self) -> str:
        """What the curve looks like, if one description is more probable than all others."""
        near = several([f"{score:.2g}" for score in self.jumps])
        found = {
            schema.CALIBRATED: "The scores between 0 and 1 look calibrated",
            "smooth": "The calibration curve is smooth",
            "rough": "The calibration curve is rough: one score's rate says little of its "
            "neighbour's",
            "segments": f"The calibration curve jumps near {near}"
            if near
            else "The calibration curve has stretches that are off and others that are not",
            "linear": "The calibration curve is a line in the score, as wrong labels make it",
        }
        said = found[self.name]
        return said if self.weight > _LIKELY else f"Perhaps {said[0].lower()}{said[1:]}"

    @property
    def sentence(self) -> str:
        """What it looks like, and how probable that is."""
        return f"{self.words} (probability {in_words(probability(self.weight))})."


def curve_shape(tree: xr.DataTree, case: ResultSlice) -> CurveShape | None:
    """Find the most probable description; None where there are none, or no curve."""
    weights = description_weights(tree, case)
    if not weights:
        return None
    name = max(weights, key=lambda one: weights[one])
    return CurveShape(name, weights[name], _jumps(tree, case) if name == "segments" else ())


class BoundaryScore(NamedTuple):
    """Rows whose score is exactly 0 or 1."""

    score: str
    rows: float
    positives: float
    p_calibrated: float


def boundary_scores(tree: xr.DataTree, case: ResultSlice) -> list[BoundaryScore]:
    """Find the scores of exactly 0 and 1 that have rows, with what the posterior says of them."""
    if not access.has_variable(tree, schema.MODEL_AVERAGE, schema.BOUNDARY_CALIBRATED):
        return []
    chance = access.variable(tree, schema.MODEL_AVERAGE, schema.BOUNDARY_CALIBRATED, case).dropna(
        schema.BOUNDARY
    )
    score, rows = access.values(
        tree, schema.CONSTANT_DATA, case, schema.CELL_SCORE, schema.CELL_COUNT
    )
    events = access.cell_events(tree, case).values
    found = []
    for one in chance:
        name = str(one[schema.BOUNDARY].item())
        own = (score == float(name)) & (rows > 0)
        found.append(BoundaryScore(name, rows[own].sum(), events[own].sum(), float(one)))
    return found


def description_weights(tree: xr.DataTree, case: ResultSlice) -> dict[str, float]:
    """Posterior probabilities of the descriptions; {} where there are none, or no curve."""
    if not (
        access.has_variable(tree, schema.MODEL_AVERAGE, schema.WEIGHT) and lies_on_curve(tree, case)
    ):
        return {}
    weight = access.variable(tree, schema.MODEL_AVERAGE, schema.WEIGHT, case)
    if weight.isnull().any():
        return {}
    names = map(str, weight[schema.DESCRIPTION].values)
    return dict(zip(names, map(float, weight.values), strict=True))


def lies_on_curve(tree: xr.DataTree, case: ResultSlice) -> bool:
    """Whether rows have two scores or more between 0 and 1, so that they lie on a curve."""
    held = (schema.CELL_SCORE, schema.CELL_COUNT)
    if not access.has_variable(tree, schema.CONSTANT_DATA, *held):
        return True
    score, count = access.values(tree, schema.CONSTANT_DATA, case, *held)
    return np.unique(score[(count > 0) & (score > 0) & (score < 1)]).size > 1


def _jumps(tree: xr.DataTree, case: ResultSlice) -> tuple[float, ...]:
    """Scores near which the curve jumps, the likeliest ones, in order."""
    held = {schema.MODEL_AVERAGE: schema.JUMP_PROBABILITY, schema.CONSTANT_DATA: schema.CELL_SCORE}
    if not all(access.has_variable(tree, *one) for one in held.items()):
        return ()
    chance, score = (access.variable(tree, *one, case).values for one in held.items())
    near = np.array([chance[_window(place)].sum() for place in range(len(chance))])
    found: list[int] = []
    for place in np.argsort(-near, kind="stable"):
        if near[place] < _LIKELY or len(found) == _MOST_JUMPS:
            break
        if all(abs(place - other) > 2 * _WINDOW for other in found):
            found.append(int(place))
    windows = map(_window, sorted(found))
    return tuple(float(np.average(score[near], weights=chance[near])) for near in windows)


def _window(place: int) -> slice:
    return slice(max(place - _WINDOW, 0), place + _WINDOW + 1)
