"""How to sample, checked once."""

from __future__ import annotations

import secrets
from dataclasses import dataclass

import numpy as np

from bayescal.core.errors import InputError
from bayescal.results.intervals import tail


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """Settings of a fit; see `bayescal.fit`.

    Attributes
    ----------
    draws, tune, chains : int
    target_accept, prob : float
    seed : int
    quick : bool

    Raises
    ------
    InputError
        If a number is not whole, too small, or not a probability.
    """

    draws: int
    tune: int
    chains: int
    target_accept: float | None
    seed: int
    quick: bool
    prob: float

    def __post_init__(self) -> None:
        for name, least in (("draws", 4), ("tune", 0), ("chains", 1), ("seed", 0)):
            value = getattr(self, name)
            if not isinstance(value, int | np.integer) or value < least:
                raise InputError(
                    f"{name} must be a whole number of at least {least}; got {value!r}."
                )
            # NumPy's whole numbers cannot be written as JSON.
            object.__setattr__(self, name, int(value))
        if self.target_accept is not None and not 0 < self.target_accept < 1:
            raise InputError(
                f"target_accept must lie in (0, 1); got {self.target_accept}. Pass 0.8, or 0.95 "
                "after divergences."
            )
        tail(self.prob)


def seed_or_new(seed: int | None) -> int:
    """Take the seed given, or draw one that can be told in the result."""
    return secrets.randbits(31) if seed is None else seed
