"""What is assumed before the labels: how far the temperatures of classes differ."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass, field, replace

import numpy as np

from bayescal.core.errors import InputError
from bayescal.core.priors import HalfNormal, Normal


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
    concentration : tuple of float, above 0, default (10, 30, 100, 300, 1000, inf)
        How closely accuracies follow the temperatures: the accuracy of a bin of confidences has
        a Beta prior of this many rows around the model's. Each value is equally probable; infinity
        means that the model holds.

    Raises
    ------
    InputError
        If a prior is of another kind, or a concentration is not above 0.

    Notes
    -----
    ``log alpha_k ~ Normal(mu, tau)`` for predicted class k. The temperatures follow from the
    labels of all rows; `concentration` enters the calibration errors only.

    Examples
    --------
    >>> from bayescal.quantities.temperature.priors import Priors
    >>> from bayescal import HalfNormal
    >>> Priors(tau=HalfNormal(0.2)).tau
    HalfNormal(sigma=0.2)
    """

    mu: Normal = field(default_factory=lambda: Normal(0, 0.7))
    tau: HalfNormal = field(default_factory=lambda: HalfNormal(0.5))
    concentration: tuple[float, ...] = (10.0, 30.0, 100.0, 300.0, 1000.0, np.inf)

    def __post_init__(self) -> None:
        for name, kind in (("mu", Normal), ("tau", HalfNormal)):
            if not isinstance(getattr(self, name), kind):
                raise InputError(
                    f"{name} must be a {kind.__name__}; got {getattr(self, name)!r}. "
                    f"Pass bayescal.{kind.__name__}(...)."
                )
        object.__setattr__(self, "concentration", tuple(map(float, self.concentration)))
        if not self.concentration or not all(value > 0 for value in self.concentration):
            raise InputError(
                "concentration must hold numbers above 0, at least one; got "
                f"{self.concentration}. Pass (inf,) to rely on the temperatures alone."
            )

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
            f"{self.tau.describe()}. Accuracies of bins follow the temperatures like a prior of "
            f"{rows} rows."
        )

    def to_json(self) -> str:
        """Write the priors as JSON.

        Returns
        -------
        str
            An object with a key for each field.
        """
        rows = [value if np.isfinite(value) else "inf" for value in self.concentration]
        return json.dumps({"mu": asdict(self.mu), "tau": asdict(self.tau), "concentration": rows})

    def alternatives(self) -> dict[str, Priors]:
        """Priors to compare these with.

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
            "temperatures alone": replace(self, concentration=(np.inf,)),
        }
