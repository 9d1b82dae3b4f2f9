"""One temperature for all classes: its posterior by quadrature."""

from __future__ import annotations

from typing import Final

import numpy as np
from scipy.special import logsumexp
from scipy.stats import norm

from bayescal.core.quantity import Floats
from bayescal.quantities.temperature.priors import Priors
from bayescal.quantities.temperature.table import look_up

_PLACES: Final = 401
# Standard deviations of the prior on either side; natural logarithm below the largest density.
_REACH: Final = 7.0
_DEPTH: Final = 20.0
_ROUNDS: Final = 3


def draw_shared(
    table: Floats, priors: Priors, draws: int, rng: np.random.Generator
) -> tuple[Floats, float]:
    """Draw the log alpha of all classes, (draw,), and compute the log evidence."""
    reach = _REACH * priors.mu.sigma
    place = np.linspace(priors.mu.mu - reach, priors.mu.mu + reach, _PLACES)
    for _ in range(_ROUNDS):
        density = norm.logpdf(place, priors.mu.mu, priors.mu.sigma)
        density += look_up(table, place[:, None]).sum(axis=1)
        held = np.flatnonzero(density > density.max() - _DEPTH)
        ends = place[max(held[0] - 1, 0)], place[min(held[-1] + 1, _PLACES - 1)]
        step, found = place[1] - place[0], place
        place = np.linspace(*ends, _PLACES)
    share = np.exp(density - logsumexp(density))
    at = rng.choice(found, draws, p=share) + rng.uniform(-step / 2, step / 2, draws)
    return at, float(logsumexp(density) + np.log(step))
