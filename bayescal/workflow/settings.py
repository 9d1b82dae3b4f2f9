"""How to sample, checked once."""

from __future__ import annotations

import secrets
from dataclasses import dataclass
from typing import Final

import numpy as np

from bayescal.core.checks import check_choice
from bayescal.core.errors import InputError
from bayescal.results.intervals import tail

METHODS: Final = ("nuts", "direct")


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """Settings of a fit; see `bayescal.fit`."""

    draws: int = 1000
    tune: int = 300
    chains: int = 4
    target_accept: float | None = None
    seed: int | None = None
    method: str = "nuts"
    prob: float = 0.9

    def __post_init__(self) -> None:
        if self.seed is None:
            object.__setattr__(self, "seed", secrets.randbits(31))
        for name, least in (("draws", 4), ("tune", 0), ("chains", 1), ("seed", 0)):
            value = getattr(self, name)
            if not isinstance(value, int | np.integer) or value < least:
                raise InputError(
                    f"{name} must be a whole number of at least {least}; got {value!r}."
                )
            # NumPy's whole numbers cannot be written as JSON.
            object.__setattr__(self, name, int(value))
        check_choice(self.method, METHODS, "method")
        if self.target_accept is not None and not 0 < self.target_accept < 1:
            raise InputError(
                f"target_accept must lie in (0, 1); got {self.target_accept}. Pass 0.8, or 0.95 "
                "after divergences."
            )
        tail(self.prob)
