"""Priors as values: the distribution of a parameter, not how it is sampled."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from dataclasses import astuple, dataclass, fields
from typing import ClassVar, Final

import numpy as np

from bayescal.core.checks import check_number, listing
from bayescal.core.errors import InputError

# Quantile functions are not defined for the tiniest numbers, which have lost their digits.
_PROBABILITIES: Final = "[1e-300, 1)"


@dataclass(frozen=True, slots=True)
class PriorBase(ABC):
    """A prior as a frozen value; its fields are the parameters, in the usual order."""

    family: ClassVar[str] = ""

    def __post_init__(self) -> None:
        for name in (field.name for field in fields(self)):
            interval = "(-inf, inf)" if name == "mu" else "(0, inf)"
            # NumPy scalars would not go into JSON.
            object.__setattr__(self, name, check_number(getattr(self, name), name, interval))

    @property
    @abstractmethod
    def mean(self) -> float:
        """Mean of the prior."""

    def quantile(self, probability: float) -> float:
        """Give the value below which the prior has this probability."""
        return self._quantile(check_number(probability, "probability", _PROBABILITIES))

    @abstractmethod
    def _quantile(self, probability: float) -> float: ...

    def describe(self) -> str:
        """Put the prior into words."""
        parameters = ", ".join(f"{value:.3g}" for value in astuple(self))
        low, high = self.quantile(0.05), self.quantile(0.95)
        return (
            f"{type(self).__name__}({parameters}): mean {self.mean:.3g}, "
            f"90% between {low:.3g} and {high:.3g}"
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
            If the ends are out of order or outside (0, 1), or no Beta has such an interval.

        Examples
        --------
        >>> from bayescal.core.priors import Beta
        >>> prior = Beta.from_interval(0.1, 0.3, mass=0.9)
        >>> round(prior.quantile(0.05), 6), round(prior.quantile(0.95), 6)
        (0.1, 0.3)
        """
        from scipy.optimize import brentq
        from scipy.special import betainc, btdtria

        mass = check_number(mass, "mass", _PROBABILITIES)
        low, high = check_number(low, "low", "(0, 1)"), check_number(high, "high", "(0, 1)")
        if low >= high:
            raise InputError(f"low must be below high; got {low} and {high}. Exchange them.")
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

    @property
    def mean(self) -> float:
        """Mean, ``sigma sqrt(2 / pi)``."""
        return self.sigma * math.sqrt(2 / math.pi)

    def _quantile(self, probability: float) -> float:
        # Near 1 the upper tail is a number of its own, and half of 1 plus the probability is 1.
        return -Normal(0, self.sigma).quantile((1 - probability) / 2)


def _exp(value: float) -> float:
    with np.errstate(over="ignore"):
        return float(np.exp(value))


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

    @property
    def mean(self) -> float:
        """Mean, ``exp(mu + sigma**2 / 2)``."""
        return _exp(self.mu + self.sigma * self.sigma / 2)

    def _quantile(self, probability: float) -> float:
        return _exp(Normal(self.mu, self.sigma).quantile(probability))


type Prior = Beta | Normal | HalfNormal | LogNormal

FAMILIES: dict[str, type[Prior]] = {
    one.family: one for one in (Beta, Normal, HalfNormal, LogNormal)
}


def prior_from_string(text: str) -> Prior:
    """Read a prior as the command line takes it."""
    name, _, rest = text.partition(":")
    prior = FAMILIES.get(name.strip().lower().replace("-", "").replace("_", ""))
    if prior is None:
        raise InputError(
            f"a prior must be one of {listing(FAMILIES)}; got {name!r}. Write it as in 'beta:4,16'."
        )
    names = [field.name for field in fields(prior)]
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
