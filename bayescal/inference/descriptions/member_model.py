"""The PyMC model of one description out of an average."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np

from bayescal.core.errors import InputError
from bayescal.core.quantity import LabelModel

if TYPE_CHECKING:
    import pymc as pm


def member_model(members: Mapping[str, LabelModel], name: str = "") -> pm.Model:
    """Build the model of the cells inside (0, 1), of the last description by default."""
    import pymc as pm

    if not members:
        raise InputError(
            "a PyMC model must have a smooth or a rough description of some scores between 0 and "
            "1; there is none. Give one a weight, or pass method='direct' to fit."
        )
    labels = members[name or list(members)[-1]]
    size = labels.compile_key[-1]
    coords = {name: np.arange(size) for name in ("cell", "inner", "inner_")}
    with pm.Model(coords=coords) as model:
        labels.add_to_model()
    return model
