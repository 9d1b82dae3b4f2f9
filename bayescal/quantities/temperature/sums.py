"""Sums of what parts of the rows give."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from bayescal.core.partial_sums import Sums


@dataclass(frozen=True, slots=True, eq=False)
class Total:
    """An array that adds up."""

    value: NDArray[np.float64]

    def plus(self, other: Total) -> Total:
        """Add that of other rows."""
        return Total(self.value + other.value)


@dataclass(frozen=True, slots=True, eq=False)
class Noted[S: Sums]:
    """Sums, and what the rows are known by that they are of."""

    sums: S
    n: int
    mark: float  # another if a logit, a label or a weight is

    def plus(self, other: Noted[S]) -> Noted[S]:
        """Add those of other rows."""
        return Noted(self.sums.plus(other.sums), self.n + other.n, self.mark + other.mark)


def joined(
    one: NDArray[np.float64] | None, two: NDArray[np.float64] | None
) -> NDArray[np.float64] | None:
    """Put the weights of two parts one behind the other; None where rows have none."""
    return None if one is None or two is None else np.append(one, two)
