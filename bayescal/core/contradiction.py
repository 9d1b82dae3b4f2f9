"""Whether a posterior and the plug-in estimate of the same quantity contradict each other."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

# Of replications from a model that is right, one fit in five hundred is farther out.
_RARE = 0.001


def contradiction(seen: float | NDArray[np.float64], drawn: NDArray[np.float64]) -> list[str]:
    """Say so where an estimate is hardly possible under the posterior."""
    below, above = float((drawn <= seen).mean()), float((drawn >= seen).mean())
    if min(below, above) >= _RARE:
        return []
    low, high = np.quantile(drawn, [0.05, 0.95])
    return [
        f"the plug-in estimate, {seen:.4f}, and the posterior contradict each other: "
        f"data drawn from the posterior give {low:.4f} to {high:.4f} (90%). The model misses "
        "something in the data; look at the bins, and compare priors."
    ]
