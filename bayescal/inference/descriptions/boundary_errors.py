"""Which of the scores of exactly 0 and 1 err: every combination, before the data."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray
from scipy.special import softmax

type Floats = NDArray[np.float64]

# Prior probability, should some score not be calibrated, that only scores of 0 or 1 are not. At
# 0.05 rows of such a score that are all right hardly move P(calibrated): by -5 % to +9 %.
ONLY_BOUNDARY = 0.05


@dataclass(frozen=True, eq=False)
class BoundaryErrors:
    """Prior of the scores 0 and 1, which has one probability for "every score is calibrated".

    Notes
    -----
    Should some score not be calibrated, those between 0 and 1 are calibrated with probability
    `ONLY_BOUNDARY`, and then one of the scores 0 and 1 errs, or both. Otherwise each of the two is
    calibrated with probability `calibrated`, independently.
    """

    number: int
    calibrated: float
    inside: bool

    @property
    def only(self) -> float:
        """Probability that the scores inside are calibrated, given that some score is not."""
        if not self.inside:
            return 1.0
        return ONLY_BOUNDARY if self.number and self.calibrated else 0.0

    @property
    def inside_calibrated(self) -> float:
        """Probability that the scores inside are calibrated."""
        return self.calibrated + (1 - self.calibrated) * self.only

    @cached_property
    def patterns(self) -> NDArray[np.bool_]:
        """Which of the scores err, (pattern, end); in the first pattern none does."""
        places = np.arange(2**self.number)[:, None] >> np.arange(self.number)
        return np.asarray(places & 1 == 1)

    def log_prior(self, inside_calibrated: bool) -> Floats:
        """Log probabilities of the patterns, given whether the scores inside are calibrated."""
        apart = np.where(self.patterns, 1 - self.calibrated, self.calibrated).prod(axis=1)
        if inside_calibrated and self.inside_calibrated:
            some = (1 - self.calibrated) * self.only * apart / max(1 - apart[0], 1e-300)
            some[0] = self.calibrated
            apart = some / self.inside_calibrated
        with np.errstate(divide="ignore"):
            return np.log(apart)

    def log_joint(self, inside_calibrated: bool, right: Floats, wrong: Floats) -> Floats:
        """Add log-likelihoods of no error and of errors, (..., end), to `log_prior`."""
        errors = np.where(self.patterns, wrong[..., None, :], right[..., None, :]).sum(axis=-1)
        return np.asarray(self.log_prior(inside_calibrated) + errors)

    def draw(self, log_weight: Floats, rng: np.random.Generator) -> NDArray[np.bool_]:
        """Draw a pattern for each row of log weights (..., pattern); shape (..., end)."""
        if not self.number:
            return np.zeros((*log_weight.shape[:-1], 0), dtype=bool)
        steps = np.cumsum(softmax(log_weight, axis=-1), axis=-1)[..., :-1]
        place = (rng.random((*log_weight.shape[:-1], 1)) >= steps).sum(axis=-1)
        return np.asarray(self.patterns[place])
