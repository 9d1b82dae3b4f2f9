"""What fitting asks of a model before it samples it, and what it gets where it need not."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray


class Sampled(Protocol):
    """A model under its prior, as the sampler sees it."""

    @property
    def structure(self) -> tuple[Any, ...]:
        """What tells one compiled model from another: equal structures share one."""
        ...

    @property
    def variables(self) -> tuple[str, ...]:
        """Variables of the model that draws are kept of."""
        ...

    @property
    def target_accept(self) -> float:
        """Acceptance to which NUTS tunes its steps, unless asked otherwise."""
        ...

    @property
    def max_depth(self) -> int:
        """Doublings of a NUTS trajectory that serve the posterior."""
        ...

    def inputs(self) -> Mapping[str, NDArray[Any]]:
        """Values of the model's pm.Data that sampling reads, padded to the structure's shapes."""
        ...


@dataclass(frozen=True, slots=True)
class Exact:
    """The posterior without NUTS: by importance sampling, quadrature or conjugacy.

    Attributes
    ----------
    draws : mapping of str to ndarray of shape (draw, ...)
        Independent draws of the model's variables.
    log_evidence : float
        Log marginal likelihood of the counts, without the binomial coefficients.
    ess : float
        Effective number of draws that the evidence rests on.
    """

    draws: Mapping[str, NDArray[np.float64]]
    log_evidence: float
    ess: float
