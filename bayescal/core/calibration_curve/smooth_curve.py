"""A smooth calibration curve: the score's logit plus a Gaussian process, in a fixed basis.

Whatever needs P(Y = 1 | score) as a smooth function of the score starts here: a curve is its
offset (the score's own logit, so that no deviation means calibrated) plus ``design @ coef`` with
standard normal coefficients.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import logit

from bayescal.core.checks import check_number, checked_numbers

type Floats = NDArray[np.float64]

# Scores of exactly 0 or 1 have no logit; beyond this no count of rows separates them.
EDGE = 1e-9
# Directions of the process with less variance than this share of the largest change no curve
# that can be seen.
_RELATIVE_VARIANCE = 1e-3


@dataclass(frozen=True, slots=True)
class SmoothCurve:
    """Prior of a calibration curve: how far it may stray from the diagonal, and how quickly.

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
    by side because either alone is wrong somewhere: the long one irons wiggles out, the short one
    widens every interval.

    Examples
    --------
    >>> from bayescal.core.calibration_curve.smooth_curve import SmoothCurve
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
        """Let the curve stray further.

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
class CurveBasis:
    """Basis in which a smooth curve is linear; made by `curve_basis`."""

    curve: SmoothCurve
    spread: float
    places: Floats  # (m,)
    loadings: Floats  # (m, k)

    @property
    def size(self) -> int:
        """Number of coefficients: intercept, slope and k directions."""
        return 2 + int(self.loadings.shape[1])

    def offset(self, score: Floats) -> Floats:
        """Logit of the scores, finite also at 0 and 1, (...)."""
        return np.asarray(logit(np.clip(score, EDGE, 1 - EDGE)))

    def design(self, score: Floats) -> Floats:
        """What each coefficient adds to the logit at these scores, (m, size)."""
        offset = self.offset(score)
        process = self.curve.kernel(offset / self.spread, self.places) @ self.loadings
        return self.curve.scale * np.column_stack([np.ones_like(offset), offset, process])


def curve_basis(score: Floats, count: NDArray[Any], curve: SmoothCurve, size: int) -> CurveBasis:
    """Find the leading directions of the process over cells of scores.

    Notes
    -----
    The directions are the eigenvectors of the kernel matrix over the cells (Karhunen-Loeve at the
    cells' scores); between cells they are extended by the kernel itself (Nystrom).
    """
    held = count > 0
    offset = np.asarray(logit(np.clip(score[held], EDGE, 1 - EDGE)))
    mean = np.average(offset, weights=count[held])
    variance = np.average((offset - mean) ** 2, weights=count[held])
    # Scores that are all equal have no spread; any unit serves then, as only one place is seen.
    spread = float(np.sqrt(variance)) if variance > 1e-12 else 1.0
    places = offset / spread
    values, vectors = np.linalg.eigh(curve.kernel(places, places))
    kept = np.flatnonzero(values > _RELATIVE_VARIANCE * values[-1])[::-1][: size - 2]
    return CurveBasis(curve, spread, places, vectors[:, kept] / np.sqrt(values[kept]))
