"""The whitening that follows the class prior, in a PyMC model."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from bayescal.core.calibration_curve.problem import pad
from bayescal.inference.stretching import unstretched
from bayescal.quantities.pu_ece.models.along import (
    KNOTS,
    LAST,
    Along,
    cubic_weights,
    level_share,
)

ALONG_DIMS: Final[dict[str, Any]] = dict.fromkeys(
    ("means", "roots", "log_scales", "normal_middle", "normal_spread")
)


def along_inputs(along: Along, size: int) -> dict[str, NDArray[Any]]:
    """Means between knots, and where the class prior's normal is."""
    return {
        "means": pad(along.mean, len(KNOTS) - 1, 4, size),
        "normal_middle": np.asarray(along.middle),
        "normal_spread": np.asarray(along.spread),
    }


def padded_roots(along: Along, size: int) -> NDArray[np.float64]:
    """Roots at the knots; idle coefficients stay as they are, (knot, size, size)."""
    found, held = np.tile(np.eye(size), (len(KNOTS), 1, 1)), along.root.shape[-1]
    found[:, :held, :held] = along.root
    return found


@dataclass(frozen=True, slots=True)
class NormalInGraph:
    """The class prior's normal, and what the whitening is there; beyond the knots it stays."""

    normal: Any
    data: Mapping[str, Any]
    left: Any
    t: Any

    @classmethod
    def add(cls, name: str, data: Mapping[str, Any]) -> NormalInGraph:
        """Add the normal to the model in context."""
        import pytensor.tensor as pt

        from bayescal.inference.whitening import stretched_normal

        middle, spread = data["normal_middle"], data["normal_spread"]
        normal = stretched_normal(name, middle, spread)
        place = pt.clip(unstretched((normal - middle) / spread, pt) + LAST, 0, len(KNOTS) - 1)
        left = pt.clip(pt.floor(place), 0, len(KNOTS) - 2).astype("int64")
        return cls(normal, data, left, place - left)

    @property
    def mean(self) -> Any:
        """Mean of the coefficients."""
        return self._cubic("means")

    @property
    def root(self) -> Any:
        """Root of their covariance."""
        share, roots = level_share(self.t), self.data["roots"]
        return (1 - share) * roots[self.left] + share * roots[self.left + 1]

    @property
    def scale(self) -> Any:
        """Standard deviations over those in the middle: less to compute than a root."""
        import pytensor.tensor as pt

        return pt.exp(self._cubic("log_scales"))

    def _cubic(self, name: str) -> Any:
        import pytensor.tensor as pt

        # A product, not a sum of terms: its gradient is a product, too.
        return pt.stack(cubic_weights(self.t)) @ self.data[name][self.left]
