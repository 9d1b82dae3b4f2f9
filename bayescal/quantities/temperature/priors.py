"""What is assumed before the labels: how far the temperatures of classes differ."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass, field, replace

import numpy as np

from bayescal.core.errors import InputError
from bayescal.core.priors import HalfNormal, Normal, check_positive


@dataclass(frozen=True, slots=True)
class Priors:
    """Priors of the logarithms of the numbers that multiply logits.

    Parameters
    ----------
    mu : Normal, default Normal(0, 0.7)
        Mean over the classes: the shared number lies between 0.3 and 3.2 with probability 0.9.
    tau : HalfNormal, default HalfNormal(0.5)
        Standard deviation over the classes: the counterpart of the paper's Gamma. Numbers of
        two classes differ by a factor of 2 or more with a probability of about a third.
    exact : float, in (0, 1], default 0.8
        Probability that accuracies are those that the temperatures imply.
    concentration : tuple of float, above 0, default (10, 30, 100, 300, 1000)
        Otherwise, how closely they follow: the accuracy of a bin of confidences has a Beta prior of
        this many rows around the one implied. Each value is equally probable.

    Raises
    ------
    InputError
        If a prior is of another kind, or a number lies outside its range.

    Notes
    -----
    ``log alpha_k ~ Normal(mu, tau)`` for predicted class k. The temperatures follow from the
    labels of all rows; `exact` and `concentration` enter the calibration errors only.

    Examples
    --------
    >>> from bayescal.quantities.temperature.priors import Priors
    >>> from bayescal import HalfNormal
    >>> Priors(tau=HalfNormal(0.2)).tau
    HalfNormal(sigma=0.2)
    """

    mu: Normal = field(default_factory=lambda: Normal(0, 0.7))
    tau: HalfNormal = field(default_factory=lambda: HalfNormal(0.5))
    exact: float = 0.8
    concentration: tuple[float, ...] = (10.0, 30.0, 100.0, 300.0, 1000.0)

    def __post_init__(self) -> None:
        for name, kind in (("mu", Normal), ("tau", HalfNormal)):
            if not isinstance(getattr(self, name), kind):
                raise InputError(
                    f"{name} must be a {kind.__name__}; got {getattr(self, name)!r}. "
                    f"Pass bayescal.{kind.__name__}(...)."
                )
        object.__setattr__(self, "concentration", tuple(map(float, self.concentration)))
        if not 0 < self.exact <= 1:
            raise InputError(
                f"exact must lie in (0, 1]; got {self.exact}. Pass 1 to rely on the temperatures."
            )
        for value in self.concentration:
            check_positive(value, "concentration")
        if not self.concentration and self.exact < 1:
            raise InputError("concentration must hold a number above 0, unless exact=1; got none.")

    @property
    def belief(self) -> dict[float, float]:
        """Prior probability of each concentration, infinity where the temperatures hold."""
        each = (1 - self.exact) / max(len(self.concentration), 1)
        return {np.inf: self.exact, **dict.fromkeys(self.concentration, each)}

    def describe(self) -> str:
        """Put the priors into words.

        Returns
        -------
        str
            A sentence.
        """
        rows = ", ".join(f"{value:g}" for value in self.concentration)
        return (
            "The logarithm of the number that multiplies the logits of a predicted class is normal "
            f"over the classes, with mean ~ {self.mu.describe()} and standard deviation ~ "
            f"{self.tau.describe()}. Accuracies of bins are those that the temperatures imply with "
            f"probability {self.exact:g}; otherwise these are worth {rows} rows."
        )

    def to_json(self) -> str:
        """Write the priors as JSON.

        Returns
        -------
        str
            An object with a key for each field.
        """
        return json.dumps(asdict(self))

    def alternatives(self) -> dict[str, Priors]:
        """Give priors to compare these with.

        Returns
        -------
        dict of str to Priors
            Classes that differ less or more, a shared number less certain, and temperatures relied
            on alone.
        """
        return {
            "default": self,
            "classes alike": replace(self, tau=HalfNormal(self.tau.sigma / 3)),
            "classes unlike": replace(self, tau=HalfNormal(self.tau.sigma * 2)),
            "shared number unknown": replace(self, mu=Normal(self.mu.mu, self.mu.sigma * 2)),
            "temperatures alone": replace(self, exact=1.0),
        }
