"""A scale on which long tails are short."""

from __future__ import annotations

from typing import Any

import numpy as np

BEND = 0.5
"""How early tails are stretched."""


def stretched(value: Any, module: Any = np) -> Any:
    """Stretch the tails: `value` itself near 0, exponential far out; `module` may be PyTensor's."""
    return module.sinh(BEND * value) / BEND


def unstretched(value: Any, module: Any = np) -> Any:
    """Undo `stretched`."""
    return module.arcsinh(value * BEND) / BEND
