"""What the families of priors share: checked numbers, being written down and put into words."""

from __future__ import annotations

import json
import math
from dataclasses import asdict, astuple, dataclass
from typing import ClassVar

from bayescal.core.errors import InputError


def check_finite(value: float, name: str) -> None:
    """Check that a number is finite."""
    if not math.isfinite(value):
        raise InputError(f"{name} must be a finite number; got {value!r}.")


def check_positive(value: float, name: str) -> None:
    """Check that a number is finite and above 0."""
    if not (math.isfinite(value) and value > 0):
        raise InputError(f"{name} must be a finite number above 0; got {value!r}.")


def check_mass(value: float, name: str) -> None:
    """Check that a probability is strictly between 0 and 1."""
    if not 0 < value < 1:
        raise InputError(f"{name} must lie strictly between 0 and 1; got {value!r}.")


def _short(value: float) -> str:
    return f"{value:.3g}"


@dataclass(frozen=True, slots=True)
class PriorBase:
    """A prior as a frozen value; its fields are the parameters, in the usual order."""

    family: ClassVar[str] = ""

    def _as_floats(self) -> None:
        # NumPy scalars would not go into JSON.
        for name, value in asdict(self).items():
            try:
                object.__setattr__(self, name, float(value))
            except (TypeError, ValueError) as error:
                raise InputError(f"{name} must be a number; got {value!r}.") from error

    @property
    def mean(self) -> float:
        """Mean of the prior."""
        raise NotImplementedError

    def quantile(self, probability: float) -> float:
        """Give the value below which the prior has this probability."""
        check_mass(probability, "probability")
        return self._quantile(probability)

    def _quantile(self, probability: float) -> float:
        raise NotImplementedError

    def describe(self) -> str:
        """Put the prior into words."""
        parameters = ", ".join(_short(value) for value in astuple(self))
        low, high = self.quantile(0.05), self.quantile(0.95)
        return (
            f"{type(self).__name__}({parameters}): mean {_short(self.mean)}, "
            f"90% between {_short(low)} and {_short(high)}"
        )

    def to_string(self) -> str:
        """Write the prior as the command line takes it."""
        values = (str(int(v)) if v.is_integer() else repr(v) for v in astuple(self))
        return f"{self.family}:{','.join(values)}"

    def to_json(self) -> str:
        """Write the prior as a JSON object."""
        return json.dumps({"family": self.family} | asdict(self))
