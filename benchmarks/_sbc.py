"""What programs of simulation-based calibration keep of their replications, and their table."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

import numpy as np
from _common import print_table

from bayescal.results.schema import MAX_RHAT, MIN_ESS
from bayescal.workflow.simulation import Sbc

LEVEL: Final = 0.01
HEADINGS: Final = {
    "divergences": "divergences",
    "fits_with_divergences": "fits with",
    "rhat_max": "largest R-hat",
    "rhat_over": "R-hat over",
    "ess_min": "least ESS",
    "unhealthy": "fits off a mark",
    "seconds_a_fit": "seconds a fit",
    "cpu_seconds_a_fit": "CPU s a fit",
}


def figures(found: Sbc) -> dict[str, Any]:
    """Tests of uniform ranks, their histograms, and the health of the fits."""
    sick = (found.divergences > 0) | (found.rhat_max > MAX_RHAT) | (found.ess_min < MIN_ESS)
    return {
        "p_values": found.p_values(),
        "histograms": {
            variable: np.bincount(ranks // 5, minlength=20).tolist()
            for variable, ranks in found.ranks.items()
        },
        "divergences": int(found.divergences.sum()),
        "fits_with_divergences": int((found.divergences > 0).sum()),
        # Of fits whose draws are all independent there is no R-hat.
        "rhat_max": float(np.nanmax(found.rhat_max)),
        "rhat_over": int((found.rhat_max > MAX_RHAT).sum()),
        "ess_min": float(found.ess_min.min()),
        "ess_under": int((found.ess_min < MIN_ESS).sum()),
        "unhealthy": int(sick.sum()),
    }


def least(p_values: Mapping[str, float], variable: str) -> float:
    """Of the elements of a variable; 1 where it was not ranked."""
    return min((p for name, p in p_values.items() if name.split("[")[0] == variable), default=1)


def print_ranks(
    title: str,
    names: Mapping[str, str],
    variables: Mapping[str, str],
    health: Sequence[str],
    rows: Sequence[Mapping[str, Any]],
) -> None:
    """Print a line for each of `rows`: its `names`, p-values by variable, level and health."""
    print_table(
        title,
        (*names.values(), *variables.values(), "level", *(HEADINGS[one] for one in health)),
        [
            (
                *(found[name] for name in names),
                *(least(found["p_values"], variable) for variable in variables),
                LEVEL / len(found["p_values"]),
                *(found[one] for one in health),
            )
            for found in rows
        ],
    )
