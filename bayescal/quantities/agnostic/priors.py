"""Prior of the calibration curve, before any label is seen."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass, field, replace

from bayescal.core.calibration_curve.smooth_curve import SmoothCurve
from bayescal.core.errors import InputError

__all__ = ["Priors", "SmoothCurve"]


@dataclass(frozen=True, slots=True)
class Priors:
    """Prior of the calibration curve, from which everything else follows.

    Parameters
    ----------
    label_rate : SmoothCurve, default SmoothCurve()
        Prior of the probability of the event given the score.

    Raises
    ------
    InputError
        If `label_rate` is no SmoothCurve.

    Examples
    --------
    >>> import bayescal as bc
    >>> bc.agnostic.Priors().label_rate.scale
    0.7
    """

    label_rate: SmoothCurve = field(default_factory=SmoothCurve)

    def __post_init__(self) -> None:
        if not isinstance(self.label_rate, SmoothCurve):
            raise InputError(
                f"label_rate must be a SmoothCurve; got {type(self.label_rate).__name__}. "
                "Pass bayescal.agnostic.SmoothCurve(scale=0.7)."
            )

    def alternatives(self) -> dict[str, Priors]:
        """Give priors that a result should be compared under.

        Returns
        -------
        dict of str to Priors
            These ones as ``"default"``, then curves that stray half and twice as far.

        Examples
        --------
        >>> import bayescal as bc
        >>> list(bc.agnostic.Priors().alternatives())
        ['default', 'tighter curve', 'wider curve']
        """
        found = {"default": self}
        for name, factor in (("tighter curve", 0.5), ("wider curve", 2.0)):
            curve = replace(self.label_rate, scale=factor * self.label_rate.scale)
            found[name] = Priors(curve)
        return found

    def to_json(self) -> str:
        """Write the prior as JSON.

        Returns
        -------
        str
            Its kind and parameters.
        """
        return json.dumps({"label_rate": {"SmoothCurve": asdict(self.label_rate)}})

    def describe(self) -> str:
        """Put the prior into words.

        Returns
        -------
        str
            A sentence.
        """
        scales = ", ".join(f"{scale:g}" for scale in self.label_rate.lengthscales)
        return (
            "The probability of the event is a smooth curve of the score: in logits, an intercept, "
            "a slope and a Gaussian process of standard deviation "
            f"{self.label_rate.scale:g} each, at length scales {scales}."
        )
