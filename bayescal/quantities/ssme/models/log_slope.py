"""Prior of the log slope: the opinion pool is right, or it is off by what agreement suggests."""

from __future__ import annotations

from typing import Any, Final, NamedTuple

import numpy as np
from scipy.stats import norm, t

from bayescal.core.quantity import Floats
from bayescal.quantities.ssme.models.opinion_pool import rates_of_agreement
from bayescal.quantities.ssme.priors import Tilt

# Degrees of freedom of the narrow and the wide part.
DEGREES: Final = (3.0, 4.0)
# Shared errors make classifiers agree; nothing but overconfidence makes them disagree.
_DISAGREEMENT = 2.0
# Share of the largest weight that the wide part has where classifiers agree as often as they say,
# and where there is only one.
_LEAST, _ALONE = 1 / 7, 3 / 7
# Scale of the wide part where there is only one classifier, in units of that of several.
_ALONE_WIDER = 2.0

# Normal units at which the table has the quantile of the mixture: beyond, it is linear.
_REACH, _STEP = 4.0, 1 / 32
_UNITS: Final = np.arange(-_REACH, _REACH + _STEP / 2, _STEP)
# Where the distribution function is tabulated to be inverted, in scales of each part.
_GRID: Final = np.sinh(np.linspace(-8, 8, 4001)) / 8


class LogSlope(NamedTuple):
    """A mixture of two Student-t."""

    weight: float  # of the wide part
    centre: tuple[float, float]
    scale: tuple[float, float]

    @classmethod
    def of(cls, prior: Tilt, probs: Floats, weights: Floats) -> LogSlope:
        """Centre the wide part at the log slope that would explain how often classifiers agree."""
        if len(probs) == 1:
            wide, centre, weight = _ALONE_WIDER * prior.wide_scale, 0.0, _ALONE
        else:
            wide, centre = prior.wide_scale, rates_of_agreement(probs, weights).gap
            evidence = max(centre, -_DISAGREEMENT * centre)
            weight = _LEAST + (1 - _LEAST) * min(evidence, 1.0)
        return cls(
            prior.wide_weight * weight,
            (prior.slope_location, centre),
            (prior.slope_scale, wide),
        )

    def log_parts(self, values: Floats) -> Floats:
        """Log of weight times density of each part, (part, ...)."""
        with np.errstate(divide="ignore"):
            log_weight = np.log([1 - self.weight, self.weight])
        parts = zip(log_weight, DEGREES, self.centre, self.scale, strict=True)
        return np.array([own + t.logpdf(values, nu, at, scale) for own, nu, at, scale in parts])

    def table(self) -> Floats:
        """Quantiles at normal units, and their derivatives times a step, (2, unit)."""
        around = (at + scale * _GRID for at, scale in zip(self.centre, self.scale, strict=True))
        grid = np.unique(np.concatenate([*around]))
        parts = zip((1 - self.weight, self.weight), DEGREES, self.centre, self.scale, strict=True)
        below = sum(w * t.cdf(grid, nu, at, scale) for w, nu, at, scale in parts)
        values = np.interp(norm.cdf(_UNITS), below, grid)
        density = np.exp(np.logaddexp(*self.log_parts(values)))
        return np.stack([values, _STEP * norm.pdf(_UNITS) / density])


def log_slope_at(units: Any, table: Any) -> Any:
    """Log slope at normal units, by cubic interpolation; in NumPy and in PyTensor.

    Notes
    -----
    The two parts of the mixture may be far apart. In normal units they are side by side: there is
    one mode, where the sampler would have to find its way between two.
    """
    inside = units.clip(-_REACH, _REACH)
    place = (inside + _REACH) / _STEP
    left = place.clip(0, len(_UNITS) - 2).astype("int64")
    u = place - left
    (y0, y1), (d0, d1) = ((table[i][left], table[i][left + 1]) for i in range(2))
    cubic = y0 + u * (d0 + u * (3 * (y1 - y0) - 2 * d0 - d1 + u * (2 * (y0 - y1) + d0 + d1)))
    return cubic + (units - inside) * (d0 * (1 - u) + d1 * u) / _STEP
