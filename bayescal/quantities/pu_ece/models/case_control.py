"""Likelihood of label rates in a case-control study: positives among all rows of a cell."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit

from bayescal.inference.cell_likelihood import softplus

type Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True, eq=False)
class CaseControlCells:
    """Positives of each cell out of positives and unlabelled rows, at known class priors.

    Notes
    -----
    With the probability p of the event, a row is one of the positives with the odds
    ``p nP / (nU pi)``.
    """

    total: NDArray[Any]
    positive: NDArray[Any]
    log_odds: Floats | float

    def positive_logit(self, logit: Floats) -> Floats:
        """Logit of the probability that a row is one of the positives, (..., cell)."""
        return np.asarray(self.log_odds - softplus(-logit))

    def log_likelihood(self, logit: Floats) -> Floats:
        """Log-likelihood of each cell, without the binomial coefficients."""
        at = self.positive_logit(logit)
        return np.asarray(self.positive * at - self.total * softplus(at))

    def slopes(self, logit: Floats) -> tuple[Floats, Floats]:
        """Derivative of the log-likelihood, and expected information, by the logit."""
        share, other = expit(self.positive_logit(logit)), expit(-logit)
        expected = self.total * share
        return (self.positive - expected) * other, expected * (1 - share) * other**2

    def at(self, cells: NDArray[Any]) -> Self:
        """Take some of the cells."""
        return type(self)(self.total[cells], self.positive[cells], self.log_odds)
