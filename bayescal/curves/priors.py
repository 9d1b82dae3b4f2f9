"""Priors of a calibration curve: smooth, or an average over descriptions."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Final

import numpy as np

from bayescal.core.checks import check_is, check_number, checked_numbers
from bayescal.core.columns import Floats
from bayescal.core.errors import InputError

CALIBRATED: Final = "calibrated"
SMOOTH: Final = "smooth"
ROUGH: Final = "rough"
SEGMENTS: Final = "segments"
LINEAR: Final = "linear"
COMPONENTS: Final = (CALIBRATED, SMOOTH, ROUGH, SEGMENTS, LINEAR)
"""What a calibration curve may be, in the order of a result's dimension ``description``."""
BOUNDARY: Final = "boundary"
AVERAGED_AXES: Final = {"description": COMPONENTS, BOUNDARY: ("0", "1")}
"""Names along the dims of an average: descriptions, and the scores of exactly 0 and 1."""


@dataclass(frozen=True, slots=True)
class SmoothCurve:
    """Prior of a calibration curve: how far it may deviate from the diagonal, and how quickly.

    Parameters
    ----------
    scale : float, above 0, default 0.7
        Standard deviation of the intercept, of the slope and of the Gaussian process, in logits.
    lengthscales : tuple of float, default (0.25, 1.0)
        Length scales of the process, in standard deviations of the score's logit. The kernel is
        the mean of squared-exponential kernels at these scales.

    Raises
    ------
    InputError
        If `scale` or a length scale is not a finite number above 0, or there is no length scale.

    Notes
    -----
    ``logit P(Y = 1 | s) = l + a + c l + g(l / sd(l))`` with ``l = logit(s)``, ``a`` and ``c``
    Normal(0, scale) and ``g`` a Gaussian process of standard deviation `scale`. At the default
    scale a score of 0.5 stands for a probability between 0.16 and 0.84 with probability 0.9, and
    the slope lies between -0.15 and 2.15, where 1 is calibrated. Short and long scales stand side
    by side: the long one alone irons wiggles out, the short one widens every interval.

    Examples
    --------
    >>> from bayescal.curves.priors import SmoothCurve
    >>> SmoothCurve(scale=0.3).lengthscales
    (0.25, 1.0)
    """

    scale: float = 0.7
    lengthscales: tuple[float, ...] = (0.25, 1.0)

    def __post_init__(self) -> None:
        check_number(self.scale, "scale", "(0, inf)")
        scales = checked_numbers(self.lengthscales, "lengthscales", "(0, inf)")
        object.__setattr__(self, "lengthscales", scales)

    def rescaled(self, factor: float) -> SmoothCurve:
        """Let the curve deviate further.

        Parameters
        ----------
        factor : float, above 0
            How many times as far.

        Returns
        -------
        SmoothCurve
            The same length scales, and the scale times the factor.
        """
        return replace(self, scale=self.scale * check_number(factor, "factor", "(0, inf)"))

    def describe(self) -> str:
        """Put the prior into words.

        Returns
        -------
        str
            Without a capital and a full stop.
        """
        scales = ", ".join(f"{scale:g}" for scale in self.lengthscales)
        return (
            "a smooth curve of the score (in logits, an intercept, a slope and a Gaussian process "
            f"of standard deviation {self.scale:g} each, at length scales {scales})"
        )

    def kernel(self, first: Floats, second: Floats) -> Floats:
        """Correlation of the process between two sets of places.

        Parameters
        ----------
        first : ndarray of shape (m,)
            Places, in standard deviations of the logit.
        second : ndarray of shape (n,)
            Other places.

        Returns
        -------
        ndarray of shape (m, n), in [0, 1]
            Correlations.
        """
        squared = (first[:, None] - second[None, :]) ** 2
        kernels = [np.exp(-squared / (2 * scale**2)) for scale in self.lengthscales]
        return np.asarray(np.mean(kernels, axis=0))


@dataclass(frozen=True, slots=True)
class CurveAverage:
    """A calibration curve of a kind that the data choose: an average over descriptions.

    Parameters
    ----------
    curve : SmoothCurve, default SmoothCurve()
        The smooth description, and the smooth part of the rough one.
    smooth, rough, segments : float, at least 0, default 0.45, 0.30 and 0.25
        Prior weights of descriptions, given miscalibration: only ratios count; 0 leaves one out.
    roughness : float, above 0, default 1.5
        Scale of the half-normal prior of the rough part's standard deviation, in logits.
    rough_length : float, above 0, default 0.1
        Length over which half of the rough part's variance is correlated, in standard deviations of
        the score's logit; the other half is of each score alone.
    jump : float, in (0, 1), default 0.03
        Prior probability that a new segment starts at a block, a fiftieth of the rows.
    shift : float, above 0, default 0.6
        Standard deviation of a segment's shift, in logits.
    certain : float, in [0, 1), default 0.2
        Prior probability that a segment that is not calibrated has the event never or always.
    steep : float, in [0, 1), default 0.2
        Prior probability that intercept and slope of the smooth description deviate further; 0 of
        groups, and in `bayescal.pu_ece`.
    steepness : float, above 1, default 4
        How many times as far they then deviate.
    linear : float, at least 0, default 0.05
        Prior weight of the linear description; 0 of groups, and in `bayescal.pu_ece`.
    label_noise : float, above 0, default 0.15
        Scale of the half-normal priors of the shares of wrong labels, which make a curve linear.

    Raises
    ------
    InputError
        If a parameter lies outside its range, or all weights are 0.

    Notes
    -----
    Smooth: the score's logit plus a smooth process. Rough: without steep lines, but with a further
    process, partly alone at each score, whose standard deviation is inferred. Segments: stretches
    of scores, each calibrated with probability 1/2, with a rate of 0 or 1, or with all its logits
    shifted by one amount; not all are calibrated. Linear: calibrated, but shares of the negative
    and of the positive labels are wrong. Without rates of 0 and 1, and without steep lines, errors
    of classifiers that separate most rows, as forests do, would be drawn to calibration; without
    linear curves, those that label noise makes would come out too high.

    Rows whose score is exactly 0 or 1 stand apart in every description: such a score is calibrated,
    and never errs (in likelihoods with probability 1e-9), or its error rate has a logit that is
    Normal(-4, 2.5). "Every score is calibrated" has one prior probability, 1/2. Of the rest, .05 is
    that the scores between 0 and 1 are calibrated and only a score of 0 or 1 errs; with .95 they
    are not, and then each of the scores 0 and 1 errs with probability 1/2.

    Examples
    --------
    >>> from bayescal.curves.priors import CurveAverage
    >>> CurveAverage(smooth=0.5, rough=0.25, segments=0.25, linear=0).weights
    {'smooth': 0.5, 'rough': 0.25, 'segments': 0.25}
    """

    curve: SmoothCurve = field(default_factory=SmoothCurve)
    smooth: float = 0.45
    rough: float = 0.30
    segments: float = 0.25
    roughness: float = 1.5
    rough_length: float = 0.1
    jump: float = 0.03
    shift: float = 0.6
    certain: float = 0.2
    steep: float = 0.2
    steepness: float = 4.0
    linear: float = 0.05
    label_noise: float = 0.15

    def __post_init__(self) -> None:
        for name in (SMOOTH, ROUGH, SEGMENTS, LINEAR):
            check_number(getattr(self, name), name, "[0, inf)", "Pass 0.3.")
        if not self.smooth + self.rough + self.segments + self.linear > 0:
            raise InputError(
                "smooth, rough, segments or linear must be above 0; got 0 for all. Give one a "
                "weight."
            )
        for name in ("roughness", "rough_length", "shift", "label_noise"):
            check_number(getattr(self, name), name, "(0, inf)")
        check_number(self.jump, "jump", "(0, 1)", "Pass 0.03.")
        for name in ("certain", "steep"):
            check_number(getattr(self, name), name, "[0, 1)", "Pass 0.2.")
        check_number(self.steepness, "steepness", "(1, inf)", "Pass 4.")
        check_is(self.curve, SmoothCurve, "curve", "Pass SmoothCurve(scale=0.7).")

    @property
    def weights(self) -> dict[str, float]:
        """Prior weights of the descriptions that are not left out; their sum is 1."""
        given = {name: getattr(self, name) for name in COMPONENTS if name != CALIBRATED}
        total = sum(given.values())
        return {name: weight / total for name, weight in given.items() if weight > 0}

    def rescaled(self, factor: float) -> CurveAverage:
        """Let the curve, its rough part, segments and label noise deviate further.

        Parameters
        ----------
        factor : float, above 0
            How many times as far.

        Returns
        -------
        CurveAverage
            The same weights, and scales times the factor.
        """
        check_number(factor, "factor", "(0, inf)")
        return replace(
            self,
            curve=self.curve.rescaled(factor),
            roughness=factor * self.roughness,
            shift=factor * self.shift,
            label_noise=factor * self.label_noise,
        )

    def describe(self) -> str:
        """Put the prior into words.

        Returns
        -------
        str
            Without a capital and a full stop.
        """
        steep = (
            f", intercept and slope {self.steepness:g} times as far with probability {self.steep:g}"
        )
        words = {
            SMOOTH: self.curve.describe() + steep * (self.steep > 0),
            ROUGH: "that curve with a rough part, whose standard deviation is half-normal of scale "
            f"{self.roughness:g}",
            SEGMENTS: "segments that are calibrated, shifted by a standard deviation of "
            f"{self.shift:g} in logits, or of rate 0 or 1",
            LINEAR: "a line, as wrong labels make it, whose shares are half-normal of scale "
            f"{self.label_noise:g}",
        }
        listed = "; ".join(f"{words[name]}, weight {w:.2g}" for name, w in self.weights.items())
        return f"an average of descriptions: {listed}. Scores of exactly 0 and 1 stand apart"


def without_lines(average: CurveAverage) -> CurveAverage:
    """Leave out steep lines and the linear description."""
    if average.weights.keys() == {LINEAR}:
        raise InputError(
            "smooth, rough or segments must be above 0 for groups and in bayescal.pu_ece, which "
            "have no linear curve; got 0 for all. Give one a weight."
        )
    return replace(average, linear=0.0, steep=0.0)
