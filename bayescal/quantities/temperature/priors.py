"""What is assumed before the labels: how far the temperatures of classes differ."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Final, override

import numpy as np

from bayescal.core.checks import check_is, check_number, checked_numbers
from bayescal.core.errors import InputError
from bayescal.core.priors import HalfNormal, Normal
from bayescal.core.quantity import BasePriors

SHARED: Final = "one temperature"
CLASS_WISE: Final = "class temperatures"
VECTOR: Final = "vector scaling"
MODELS: Final = (SHARED, CLASS_WISE, VECTOR)
"""What may calibrate, in the order of a result's dimension ``description``."""


@dataclass(frozen=True, slots=True)
class Priors(BasePriors):
    """Priors of the logarithms of the numbers that multiply logits.

    Parameters
    ----------
    mu : Normal, default Normal(0, 0.7)
        Mean over the classes: the shared number lies between 0.3 and 3.2 with probability 0.9.
    tau : HalfNormal, default HalfNormal(0.5)
        Standard deviation over the classes: the counterpart of the paper's Gamma. Numbers of
        two classes differ by a factor of 2 or more with a probability of about a fifth.
    shift : HalfNormal, default HalfNormal(0.5)
        Standard deviation over the classes of the shifts of vector scaling. Its log numbers have
        the mean and the standard deviation of `mu` and `tau`.
    shared, vector : float, at least 0, default 1/3 each
        Prior probabilities that one number serves all classes, and that each logit needs a number
        and a shift (vector scaling). The rest is that of a number a predicted class.
    exact : float, in (0, 1], default 0.8
        Probability that accuracies are those that the temperatures imply.
    concentration : tuple of float, above 0, default (10, 30, 100, 300, 1000)
        Otherwise, how closely they follow: the accuracy of a bin of confidences has a Beta prior of
        this many rows around the one implied. Each value is equally probable.

    Notes
    -----
    ``log alpha_k ~ Normal(mu, tau)`` for predicted class k, or tau = 0, or vector scaling.
    Temperatures follow from all labels; `exact` and `concentration` enter the errors only.
    """

    mu: Normal = field(default_factory=lambda: Normal(0, 0.7))
    tau: HalfNormal = field(default_factory=lambda: HalfNormal(0.5))
    shift: HalfNormal = field(default_factory=lambda: HalfNormal(0.5))
    shared: float = 1 / 3
    vector: float = 1 / 3
    exact: float = 0.8
    concentration: tuple[float, ...] = (10.0, 30.0, 100.0, 300.0, 1000.0)

    def __post_init__(self) -> None:
        for name, kind in (("mu", Normal), ("tau", HalfNormal), ("shift", HalfNormal)):
            check_is(getattr(self, name), kind, name, f"Pass bayescal.{kind.__name__}(...).")
        for name in ("shared", "vector"):
            check_number(getattr(self, name), name, "[0, 1)", "Pass 0 to leave that model out.")
        if not self.shared + self.vector < 1:
            raise InputError(
                "shared and vector must have a sum below 1; got "
                f"{self.shared} and {self.vector}. Pass 0 to leave a model out."
            )
        found = checked_numbers(self.concentration, "concentration", "(0, inf)", least=0)
        object.__setattr__(self, "concentration", found)
        check_number(self.exact, "exact", "(0, 1]", "Pass 1 to rely on the temperatures.")
        if not self.concentration and self.exact < 1:
            raise InputError("concentration must hold a number above 0, unless exact=1; got none.")

    @property
    def weights(self) -> dict[str, float]:
        """Prior probabilities of the models that are not left out."""
        given = (self.shared, 1 - self.shared - self.vector, self.vector)
        return {name: value for name, value in zip(MODELS, given, strict=True) if value > 0}

    @property
    def belief(self) -> dict[float, float]:
        """Prior probability of each concentration, infinity where the temperatures hold."""
        each = (1 - self.exact) / max(len(set(self.concentration)), 1)
        return {np.inf: self.exact, **dict.fromkeys(self.concentration, each)}

    @override
    def describe(self) -> str:
        rows = ", ".join(f"{value:g}" for value in self.concentration)
        return (
            "The logarithm of the number that multiplies the logits of a predicted class is normal "
            f"over the classes, with mean ~ {self.mu.describe()} and standard deviation ~ "
            f"{self.tau.describe()}. One number for all classes has the prior probability "
            f"{self.shared:.3g}, vector scaling {self.vector:.3g}; its shifts have a standard "
            f"deviation ~ {self.shift.describe()}. Accuracies of bins are those that the "
            f"temperatures imply with probability {self.exact:g}; otherwise these are worth {rows} "
            "rows."
        )

    def alternatives(self) -> dict[str, Priors]:
        """Give priors to compare these with.

        Returns
        -------
        dict of str to Priors
            Classes that differ less or more, a shared number less certain, a number for each
            predicted class in any case, and temperatures relied on alone.
        """
        return {
            "default": self,
            "classes alike": replace(self, tau=HalfNormal(self.tau.sigma / 3)),
            "classes unlike": replace(self, tau=HalfNormal(self.tau.sigma * 2)),
            "shared number unknown": replace(self, mu=Normal(self.mu.mu, self.mu.sigma * 2)),
            "predicted classes": replace(self, shared=0.0, vector=0.0),
            "temperatures alone": replace(self, exact=1.0),
        }
