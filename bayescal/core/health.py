"""What a fit must reach to count as converged."""

from __future__ import annotations

from collections.abc import Mapping
from math import isnan
from typing import Any

MAX_RHAT = 1.01
MIN_ESS = 400
MIN_EBFMI = 0.3

REMEDY = "Sample longer: draws=2000, tune=1000; after divergences also target_accept=0.99."
# Of independent draws, which have no R-hat.
DIRECT_REMEDY = "Draw more: draws=4000; or sample by method='nuts'."


def remedy(figures: Mapping[str, Any]) -> str:
    """Say what to try when a fit did not converge."""
    return DIRECT_REMEDY if isnan(figures["rhat_max"]) else REMEDY


def problems(figures: Mapping[str, Any]) -> list[str]:
    """Say what is wrong with a fit."""
    found = []
    if figures["rhat_max"] > MAX_RHAT:
        found.append(f"R-hat is {figures['rhat_max']:.3f}, which exceeds {MAX_RHAT}")
    if not figures["ess_min"] >= MIN_ESS:
        found.append(f"the effective sample size is {figures['ess_min']:.0f}, below {MIN_ESS}")
    if figures["divergences"] > 0:
        found.append(f"{int(figures['divergences'])} transitions diverged")
    if figures["ebfmi_min"] < MIN_EBFMI:
        found.append(f"E-BFMI is {figures['ebfmi_min']:.2f}, below {MIN_EBFMI}")
    return found
