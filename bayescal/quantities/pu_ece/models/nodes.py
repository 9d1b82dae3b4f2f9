"""A distribution of the class prior's normal on few points."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy.special import logsumexp

from bayescal.core.quantity import Floats


class Nodes(NamedTuple):
    """A distribution of the class prior's normal on few points."""

    normal: Floats  # (node,)
    log_weight: Floats  # (node,)

    @property
    def log_evidence(self) -> float:
        """Log of the sum of the weights."""
        return float(logsumexp(self.log_weight))

    @property
    def _share(self) -> Floats:
        return np.exp(self.log_weight - self.log_evidence)

    @property
    def moments(self) -> tuple[float, float]:
        """Mean and standard deviation."""
        mean = self._share @ self.normal
        return float(mean), float(np.sqrt(self._share @ (self.normal - mean) ** 2))

    def draw(self, draws: int, rng: np.random.Generator) -> Floats:
        """Draw, as many of each as the weights give."""
        if not np.isfinite(self.log_evidence):
            return np.zeros(draws)
        ladder = (np.arange(draws) + rng.random()) / draws
        place = np.searchsorted(np.cumsum(self._share), ladder).clip(0, len(self.normal) - 1)
        return np.asarray(rng.permutation(self.normal[place]))
