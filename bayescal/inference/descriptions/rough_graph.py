"""The rough description in a PyMC model."""

from __future__ import annotations

from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from bayescal.core.calibration_curve.problem import pad
from bayescal.inference.descriptions.rough import RoughRegression
from bayescal.inference.direct import variational_gaussian

VARIABLES: Final = ("z", "roughness")
DIMS: Final[dict[str, str | tuple[str, ...] | None]] = {
    "offset": "inner",
    "vectors": ("inner", "inner_"),
    "variance": "inner",
    "roughness_scale": None,
    "centre": "inner",
    "slope": "inner",
    "likely_roughness": None,
    "root": ("inner", "inner_"),
}


def rough_inputs(rough: RoughRegression, size: int) -> dict[str, NDArray[Any]]:
    """Offsets, directions, and the Gaussian that whitens them, padded.

    Many rows settle the deviations, not the directions' coefficients z: these shrink as the
    roughness grows. The centre follows the secant of the middle nodes of the roughness, and the
    root shrinks in the directions that the rows settle.
    """
    held = len(rough.offset)
    low, likely, high = rough.nodes()[[3, 4, 5]]
    gaussian = variational_gaussian(rough.at(likely))
    below, above = (variational_gaussian(rough.at(roughness)).mean for roughness in (low, high))
    root = np.eye(size)
    root[:held, :held] = gaussian.root
    return {
        "offset": pad(rough.offset, size),
        "vectors": pad(rough.basis.vectors, size, size),
        "variance": pad(rough.basis.variance, size),
        "roughness_scale": np.asarray(rough.scale),
        "centre": pad(gaussian.mean, size),
        "slope": pad((above - below) / np.log(high / low), size),
        "likely_roughness": np.asarray(likely),
        "root": root,
    }


def rough_logit(data: dict[str, Any]) -> Any:
    """Add ``z`` and ``roughness`` to the model in context; return the cells' logits, (inner,)."""
    import pymc as pm

    from bayescal.inference.whitening import whitened_normal

    roughness = pm.HalfNormal("roughness", data["roughness_scale"])
    spread = pm.math.sqrt(data["variance"] + roughness**2)
    likely = pm.math.sqrt(data["variance"] + data["likely_roughness"] ** 2)
    settled = pm.math.maximum(1 - (data["root"] ** 2).sum(axis=-1), 0)
    centre = data["centre"] + data["slope"] * pm.math.log(roughness / data["likely_roughness"])
    root = data["root"] * ((likely / spread) ** settled)[:, None]
    z = whitened_normal("z", centre, root, dims="inner")
    return data["offset"] + data["vectors"] @ (spread * z)
