"""Diagnostics of whether NUTS has converged."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from bayescal.core.health import problems
from bayescal.inference.convergence import ess_bulk, ess_tail, rhat


class Health(NamedTuple):
    """Figures of one fit, worst case over its quantities."""

    rhat_max: float
    ess_min: float
    divergences: int
    ebfmi_min: float

    @property
    def converged(self) -> bool:
        """Whether the fit passes all checks."""
        return not problems(self._asdict())


def check(
    posterior: Mapping[str, NDArray[Any]], sample_stats: Mapping[str, NDArray[Any]]
) -> Health:
    """Judge draws.

    References
    ----------
    .. [1] A. Vehtari et al., "Rank-Normalization, Folding, and Localization: An Improved R-hat",
       Bayesian Analysis 16(2), 2021.
    """
    flat = [values.reshape(*values.shape[:2], -1) for values in posterior.values()]
    joined = np.concatenate(flat, axis=-1)
    varying = np.moveaxis(joined[..., np.ptp(joined, axis=(0, 1)) > 0], -1, 0)
    some = len(varying) > 0
    return Health(
        rhat_max=float(rhat(varying).max()) if some else 1.0,
        ess_min=float(
            np.minimum(ess_bulk(varying), ess_tail(varying)).min()
            if some
            else joined.shape[0] * joined.shape[1]
        ),
        divergences=sum(int(found.sum()) for found in _all(sample_stats, "diverging")),
        ebfmi_min=min(map(_ebfmi, _all(sample_stats, "energy")), default=np.nan),
    )


def _all(sample_stats: Mapping[str, NDArray[Any]], name: str) -> list[NDArray[Any]]:
    """A statistic of every model that was sampled: members of an average prefix their names."""
    return [values for key, values in sample_stats.items() if key.endswith(name)]


def _ebfmi(energy: NDArray[Any]) -> float:
    """Mean squared change of the energy over its variance, the least of the chains."""
    changes = (np.diff(energy, axis=1) ** 2).mean(axis=1)
    return float(np.min(changes / energy.var(axis=1)))
