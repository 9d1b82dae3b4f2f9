"""The rough description in a PyMC model."""

from __future__ import annotations

from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from bayescal.core.calibration_curve.problem import pad
from bayescal.inference.descriptions.rough import RoughRegression
from bayescal.inference.direct import Gaussian

VARIABLES: Final = ("z", "roughness")
DIMS: Final[dict[str, str | tuple[str, ...] | None]] = {
    "offset": "inner",
    "vectors": ("inner", "inner_"),
    "variance": "inner",
    "roughness_scale": None,
    "centre": "inner",
    "likely_spread": "inner",
    "shrunk": "inner",
    "root": ("inner", "inner_"),
}
# Variance of the directions that only fill the array: whatever the roughness, they stay the same.
_IDLE: Final = 1e8


def rough_inputs(
    rough: RoughRegression, roughness: float, gaussian: Gaussian, size: int
) -> dict[str, NDArray[Any]]:
    """Offsets, directions, and the Gaussian that whitens them, padded.

    `gaussian` is near the posterior of the coefficients at this roughness.
    """
    held = len(rough.offset)
    variance = np.full(size, _IDLE)
    variance[:held] = rough.basis.variance
    root = np.eye(size)
    root[:held, :held] = gaussian.root
    return {
        "offset": pad(rough.offset, size),
        "vectors": pad(rough.basis.vectors, size, size),
        "variance": variance,
        "roughness_scale": np.asarray(rough.scale),
        "centre": pad(gaussian.mean, size),
        "likely_spread": np.sqrt(variance + roughness**2),
        "shrunk": np.square(root).sum(axis=1),
        "root": root,
    }


def rough_logit(data: dict[str, Any], centre: Any, scale: Any = 1.0) -> Any:
    """Add ``z`` and ``roughness`` to the model in context; return the cells' logits, (inner,).

    The whitening has the mean `centre`, and the root of the data times `scale`.

    Notes
    -----
    A direction of standard deviation s whose deviation d the rows know with precision p has a
    coefficient of mean ``s p d / (1 + p s^2)`` and variance ``1 / (1 + p s^2)``. The whitening
    follows both from the likely roughness, where `shrunk` is the variance, to any other.
    """
    import pymc as pm
    import pytensor.tensor as pt

    from bayescal.inference.whitening import whitened_normal

    roughness = pm.HalfNormal("roughness", data["roughness_scale"])
    spread = pm.math.sqrt(data["variance"] + roughness**2)
    ratio = spread / data["likely_spread"]
    shrunk = pt.minimum(data["shrunk"] * scale**2, 1)
    narrower = 1 / (shrunk + (1 - shrunk) * ratio**2)
    z = whitened_normal(
        "z",
        centre * ratio * narrower,
        data["root"],
        dims="inner",
        scale=scale * pm.math.sqrt(narrower),
    )
    return data["offset"] + data["vectors"] @ (spread * z)
