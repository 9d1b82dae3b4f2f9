"""Diagnostics of whether NUTS has converged."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
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
    posterior: Sequence[NDArray[Any]], sample_stats: Sequence[Mapping[str, NDArray[Any]]]
) -> Health:
    """Judge draws (chain, draw, ...), of unequal numbers, with the statistics of each sampler."""
    by_size: dict[tuple[int, ...], list[NDArray[Any]]] = {}
    for values in posterior:
        shape = values.shape[:2]
        by_size.setdefault(shape, []).append(values.reshape(*shape, -1))
    figures = [_worst(np.concatenate(flat, axis=-1)) for flat in by_size.values()]
    return Health(
        rhat_max=max(rhat for rhat, _ in figures),
        ess_min=min(ess for _, ess in figures),
        divergences=sum(int(stats["diverging"].sum()) for stats in sample_stats),
        ebfmi_min=min((_ebfmi(stats["energy"]) for stats in sample_stats), default=np.nan),
    )


def _worst(draws: NDArray[Any]) -> tuple[float, float]:
    """Largest R-hat and least effective number of what varies, (chain, draw, quantity)."""
    varying = np.moveaxis(draws[..., np.ptp(draws, axis=(0, 1)) > 0], -1, 0)
    if not len(varying):
        return 1.0, float(draws.shape[0] * draws.shape[1])
    effective = np.minimum(ess_bulk(varying), ess_tail(varying))
    return float(rhat(varying).max()), float(effective.min())


def _ebfmi(energy: NDArray[Any]) -> float:
    """Mean squared change of the energy over its variance, the least of the chains."""
    changes = (np.diff(energy, axis=1) ** 2).mean(axis=1)
    return float(np.min(changes / energy.var(axis=1)))
