"""What a fit must reach to be believed."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

MAX_RHAT = 1.01
MIN_ESS = 400
MIN_EBFMI = 0.3

REMEDY = "Sample longer: draws=2000, tune=1000; after divergences also target_accept=0.99."


def problems(figures: Mapping[str, Any]) -> list[str]:
    """Say what is wrong with a fit.

    Parameters
    ----------
    figures : mapping
        ``rhat_max``, ``ess_min``, ``divergences`` and ``ebfmi_min``; NaN where the sampler has no
        such figure.

    Returns
    -------
    list of str
        One entry a figure that misses its mark; empty if the fit may be believed.

    Examples
    --------
    >>> from bayescal.core.health import problems
    >>> problems({"rhat_max": 1.2, "ess_min": 900.0, "divergences": 0, "ebfmi_min": 0.9})
    ['R-hat is 1.200 (at most 1.01 is asked)']
    """
    found = []
    if figures["rhat_max"] > MAX_RHAT:
        found.append(f"R-hat is {figures['rhat_max']:.3f} (at most {MAX_RHAT} is asked)")
    if not figures["ess_min"] >= MIN_ESS:
        found.append(
            f"the effective sample size is {figures['ess_min']:.0f} (at least {MIN_ESS} is asked)"
        )
    if figures["divergences"] > 0:
        found.append(f"{int(figures['divergences'])} transitions diverged")
    if figures["ebfmi_min"] < MIN_EBFMI:
        found.append(f"E-BFMI is {figures['ebfmi_min']:.2f} (at least {MIN_EBFMI} is asked)")
    return found
