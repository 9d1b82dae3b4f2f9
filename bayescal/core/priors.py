"""Priors as values: the distribution of a parameter, not how it is sampled."""

from __future__ import annotations

import math
import sys
from abc import ABC, abstractmethod
from dataclasses import asdict, astuple, dataclass
from typing import ClassVar

import numpy as np

from bayescal.core.checks import listing
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
    # Quantile functions are not defined for the tiniest numbers, which have lost their digits.
    if not sys.float_info.min <= value < 1:
        raise InputError(f"{name} must lie strictly between 0 and 1; got {value!r}.")


def _short(value: float) -> str:
    return f"{value:.3g}"


@dataclass(frozen=True, slots=True)
class PriorBase(ABC):
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
    @abstractmethod
    def mean(self) -> float:
        """Mean of the prior."""

    def quantile(self, probability: float) -> float:
        """Give the value below which the prior has this probability."""
        check_mass(probability, "probability")
        return self._quantile(probability)

    @abstractmethod
    def _quantile(self, probability: float) -> float: ...

    def describe(self) -> str:
        """Put the prior into words."""
        parameters = ", ".join(_short(value) for value in astuple(self))
        low, high = self.quantile(0.05), self.quantile(0.95)
        return (
            f"{type(self).__name__}({parameters}): mean {_short(self.mean)}, "
            f"90% between {_short(low)} and {_short(high)}"
        )


_TOLERANCE = 1e-6


@dataclass(frozen=True, slots=True)
class Beta(PriorBase):
    """Beta distribution on [0, 1].

    Parameters
    ----------
    alpha, beta : float, above 0
        Pseudo-observations, positive and negative: the mean is ``alpha / (alpha + beta)``.
        ``Beta(1, 1)`` is flat, ``Beta(0.5, 0.5)`` is Jeffreys' prior of a proportion.

    Raises
    ------
    InputError
        If a parameter is not a finite number above 0.

    Examples
    --------
    >>> from bayescal.core.priors import Beta
    >>> Beta(4, 16).describe()
    'Beta(4, 16): mean 0.2, 90% between 0.0753 and 0.359'
    """

    family: ClassVar[str] = "beta"
    alpha: float
    beta: float

    def __post_init__(self) -> None:
        self._as_floats()
        check_positive(self.alpha, "alpha")
        check_positive(self.beta, "beta")

    @classmethod
    def from_interval(cls, low: float, high: float, mass: float = 0.9) -> Beta:
        """Find the Beta whose central interval is the one given.

        Parameters
        ----------
        low, high : float, in (0, 1)
            Ends of the interval.
        mass : float, in (0, 1), default 0.9
            Probability between them; the rest is split evenly below and above.

        Returns
        -------
        Beta
            Its ``(1 - mass) / 2`` quantile is `low`, its ``(1 + mass) / 2`` quantile `high`.

        Raises
        ------
        InputError
            If the ends are out of order or outside (0, 1), or no Beta has such an interval to
            numerical precision.

        Examples
        --------
        >>> from bayescal.core.priors import Beta
        >>> prior = Beta.from_interval(0.1, 0.3, mass=0.9)
        >>> round(prior.quantile(0.05), 6), round(prior.quantile(0.95), 6)
        (0.1, 0.3)
        """
        from scipy.optimize import brentq
        from scipy.special import betainc, btdtria

        check_mass(mass, "mass")
        if not 0 < low < high < 1:
            raise InputError(
                f"the interval must have 0 < low < high < 1; got low={low!r}, high={high!r}."
            )
        tail = (1 - mass) / 2

        def excess(log_beta: float) -> float:
            # For each beta, the one alpha that puts `low` right; the larger beta, the narrower.
            beta = math.exp(log_beta)
            return float(betainc(btdtria(tail, beta, low), beta, high) - (1 - tail))

        start, stop = -12.0, 14.0
        if excess(start) * excess(stop) < 0:
            beta = math.exp(brentq(excess, start, stop, xtol=1e-13, rtol=1e-13))
            alpha = float(btdtria(tail, beta, low))
            reached = betainc(alpha, beta, np.array([low, high]))
            if np.allclose(reached, [tail, 1 - tail], rtol=0, atol=_TOLERANCE):
                return cls(alpha, beta)
        raise InputError(
            f"no Beta distribution was found with mass {mass} between {low} and {high}. "
            "Give a wider interval, or alpha and beta."
        )

    @property
    def mean(self) -> float:
        """Mean, ``alpha / (alpha + beta)``."""
        return self.alpha / (self.alpha + self.beta)

    def _quantile(self, probability: float) -> float:
        from scipy.special import betaincinv

        return float(betaincinv(self.alpha, self.beta, probability))


@dataclass(frozen=True, slots=True)
class Normal(PriorBase):
    """Normal distribution.

    Parameters
    ----------
    mu : float
        Mean.
    sigma : float, above 0
        Standard deviation.

    Raises
    ------
    InputError
        If a parameter is not finite, or `sigma` not above 0.

    Examples
    --------
    >>> from bayescal.core.priors import Normal
    >>> Normal(0, 0.3).describe()
    'Normal(0, 0.3): mean 0, 90% between -0.493 and 0.493'
    """

    family: ClassVar[str] = "normal"
    mu: float
    sigma: float

    def __post_init__(self) -> None:
        self._as_floats()
        check_finite(self.mu, "mu")
        check_positive(self.sigma, "sigma")

    @property
    def mean(self) -> float:
        """Mean, `mu`."""
        return self.mu

    def _quantile(self, probability: float) -> float:
        from scipy.special import ndtri

        return self.mu + self.sigma * float(ndtri(probability))


@dataclass(frozen=True, slots=True)
class HalfNormal(PriorBase):
    """Absolute value of a normal variable of mean 0.

    Parameters
    ----------
    sigma : float, above 0
        Standard deviation of that normal variable.

    Raises
    ------
    InputError
        If `sigma` is not a finite number above 0.

    Examples
    --------
    >>> from bayescal.core.priors import HalfNormal
    >>> HalfNormal(1).describe()
    'HalfNormal(1): mean 0.798, 90% between 0.0627 and 1.96'
    """

    family: ClassVar[str] = "halfnormal"
    sigma: float

    def __post_init__(self) -> None:
        self._as_floats()
        check_positive(self.sigma, "sigma")

    @property
    def mean(self) -> float:
        """Mean, ``sigma sqrt(2 / pi)``."""
        return self.sigma * math.sqrt(2 / math.pi)

    def _quantile(self, probability: float) -> float:
        from scipy.special import ndtri

        return self.sigma * float(ndtri((1 + probability) / 2))


@dataclass(frozen=True, slots=True)
class LogNormal(PriorBase):
    """Exponential of a normal variable.

    Parameters
    ----------
    mu : float
        Mean of the logarithm.
    sigma : float, above 0
        Standard deviation of the logarithm.

    Raises
    ------
    InputError
        If a parameter is not finite, or `sigma` not above 0.

    Examples
    --------
    >>> from bayescal.core.priors import LogNormal
    >>> LogNormal(0, 1).quantile(0.5)
    1.0
    """

    family: ClassVar[str] = "lognormal"
    mu: float
    sigma: float

    def __post_init__(self) -> None:
        self._as_floats()
        check_finite(self.mu, "mu")
        check_positive(self.sigma, "sigma")

    @property
    def mean(self) -> float:
        """Mean, ``exp(mu + sigma**2 / 2)``."""
        return math.exp(self.mu + self.sigma**2 / 2)

    def _quantile(self, probability: float) -> float:
        from scipy.special import ndtri

        return math.exp(self.mu + self.sigma * float(ndtri(probability)))


type Prior = Beta | Normal | HalfNormal | LogNormal

FAMILIES: dict[str, type[Beta] | type[Normal] | type[HalfNormal] | type[LogNormal]] = {
    prior.family: prior for prior in (Beta, Normal, HalfNormal, LogNormal)
}


def _family(name: str) -> type[Beta] | type[Normal] | type[HalfNormal] | type[LogNormal]:
    try:
        return FAMILIES[name.strip().lower().replace("-", "").replace("_", "")]
    except KeyError:
        raise InputError(
            f"a prior must be one of {listing(FAMILIES)}; got {name!r}. Write it as in 'beta:4,16'."
        ) from None


def prior_from_string(text: str) -> Prior:
    """Read a prior as the command line takes it."""
    name, _, rest = text.partition(":")
    prior = _family(name)
    names = [field for field in prior.__dataclass_fields__ if field != "family"]
    shape = f"'{prior.family}:{','.join(names)}'"
    words = rest.split(",")
    if len(words) != len(names):
        raise InputError(f"a {prior.family} prior must be written {shape}; got {text!r}.")
    try:
        values = [float(word) for word in words]
    except ValueError:
        raise InputError(
            f"a {prior.family} prior must be written {shape} with numbers; got {text!r}."
        ) from None
    return prior(*values)
