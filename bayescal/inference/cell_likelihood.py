"""What counts say of the logit of each cell's label rate."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Protocol, Self

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit

type Floats = NDArray[np.float64]


class CellLikelihood(Protocol):
    """Likelihood of the logits of cells that are independent given them.

    Logits have the shape (..., cell), and so has what the methods return.
    """

    def log_likelihood(self, logit: Floats) -> Floats:
        """Log-likelihood of each cell, without constants that no logit changes."""
        ...

    def slopes(self, logit: Floats) -> tuple[Floats, Floats]:
        """Derivative of the log-likelihood, and expected information, by the logit."""
        ...

    def at(self, cells: NDArray[Any]) -> Self:
        """Take some of the cells; an index of shape (..., cell) gives arrays of that shape."""
        ...


@dataclass(frozen=True, slots=True, eq=False)
class BinomialCells:
    """Events of each cell among its labelled rows."""

    count: NDArray[Any]  # (cell,)
    positives: NDArray[Any]  # (cell,)

    def log_likelihood(self, logit: Floats) -> Floats:
        """Log-likelihood of each cell, without the binomial coefficients."""
        return np.asarray(self.positives * logit - self.count * softplus(logit))

    def slopes(self, logit: Floats) -> tuple[Floats, Floats]:
        """Events less those expected, and their binomial variance."""
        rate = expit(logit)
        expected = self.count * rate
        return self.positives - expected, expected * expit(-logit)

    def at(self, cells: NDArray[Any]) -> Self:
        """Take some of the cells."""
        return type(self)(self.count[cells], self.positives[cells])


def softplus(logit: Floats) -> Floats:
    """``log(1 + exp(logit))``, in a third of the time of ``logaddexp``."""
    return np.maximum(logit, 0) + np.log1p(np.exp(-np.abs(logit)))
