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
    "precision": "inner",
    "root": ("inner", "inner_"),
}
# Variance of the directions that only fill the array: whatever the roughness, they stay the same.
_IDLE: Final = 1e8


def rough_inputs(
    rough: RoughRegression, roughness: float, gaussian: Gaussian, size: int
) -> dict[str, NDArray[Any]]:
    """Offsets, directions, and the Gaussian that whitens them, padded.

    `gaussian` is near the posterior of the coefficients at this roughness; it has as many of them
    as there are directions, or `size`.
    """
    held, known = len(rough.offset), len(gaussian.mean)
    variance = np.full(size, _IDLE)
    variance[:held] = rough.basis.variance
    root = np.eye(size)
    root[:known, :known] = gaussian.root
    shrunk = np.minimum(np.square(root).sum(axis=1), 1)
    return {
        "offset": pad(rough.offset, size),
        "vectors": pad(rough.basis.vectors, size, size),
        "variance": variance,
        "roughness_scale": np.asarray(rough.scale),
        "centre": pad(gaussian.mean, size),
        "likely_spread": np.sqrt(variance + roughness**2),
        "precision": 1 / shrunk - 1,
        "root": root,
    }


def rough_logit(data: dict[str, Any]) -> Any:
    """Add ``z`` and ``roughness`` to the model in context; return the cells' logits, (inner,).

    Notes
    -----
    A direction of standard deviation s whose deviation d the rows know with precision p has a
    coefficient of mean ``s p d / (1 + p s^2)`` and variance ``1 / (1 + p s^2)``. The whitening
    follows both from the likely roughness to any other; `precision` is ``p s^2`` at the likely one.
    """
    import pymc as pm
    from pymc.distributions.transforms import log_exp_m1

    from bayescal.inference.whitening import whitened_normal

    # On a log scale the prior is a wall above its scale, at which transitions diverge.
    roughness = pm.HalfNormal("roughness", data["roughness_scale"], default_transform=log_exp_m1)
    spread = pm.math.sqrt(data["variance"] + roughness**2)
    ratio = spread / data["likely_spread"]
    narrower = (1 + data["precision"]) / (1 + data["precision"] * ratio**2)
    centre = data["centre"] * ratio * narrower
    scale = pm.math.sqrt(narrower)
    z = whitened_normal("z", centre, data["root"], dims="inner", scale=scale)
    return data["offset"] + data["vectors"] @ (spread * z)
