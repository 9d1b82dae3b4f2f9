"""Prior of the calibration curve, before any label is seen."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import ClassVar, override

from bayescal.core.checks import check_is, check_number
from bayescal.core.quantity import BasePriors
from bayescal.curves.priors import CurveAverage as CurveAverage
from bayescal.curves.priors import SmoothCurve as SmoothCurve


@dataclass(frozen=True, slots=True)
class Priors(BasePriors):
    """Prior of the calibration curve, from which everything else follows.

    Parameters
    ----------
    label_rate : CurveAverage, default CurveAverage()
        Prior of the probability of the event given the score, should the classifier not be
        calibrated: an average over descriptions; a smooth curve alone with 0 for the other three.
    calibrated : float, in [0, 1), default 0.5
        Prior probability that every score is calibrated.
    """

    label_rate: CurveAverage = field(default_factory=CurveAverage)
    calibrated: float = 0.5
    of_kinds: ClassVar[tuple[str, ...]] = ("label_rate",)

    def __post_init__(self) -> None:
        given = "Pass bayescal.agnostic.CurveAverage(curve=...)."
        check_is(self.label_rate, CurveAverage, "label_rate", given)
        remedy = "Pass 0.5 to hold both alternatives equally likely."
        check_number(self.calibrated, "calibrated", "[0, 1)", remedy)

    def alternatives(self) -> dict[str, Priors]:
        """Give priors that a result should be compared under.

        Returns
        -------
        dict of str to Priors
            These ones as ``"default"``; curves at half and twice the scales of all descriptions;
            and without, or with, the calibrated alternative.

        Examples
        --------
        >>> import bayescal as bc
        >>> list(bc.agnostic.Priors().alternatives())
        ['default', 'tighter curve', 'wider curve', 'never calibrated']
        """
        found = {"default": self}
        for name, factor in (("tighter curve", 0.5), ("wider curve", 2.0)):
            found[name] = replace(self, label_rate=self.label_rate.rescaled(factor))
        name, calibrated = ("never calibrated", 0.0) if self.calibrated else ("even odds", 0.5)
        return {**found, name: replace(self, calibrated=calibrated)}

    @override
    def describe(self) -> str:
        weights = ", ".join(f"{name} {w:.2f}" for name, w in self.label_rate.weights.items())
        return (
            "The probability of the event is a curve of the score, in logits about the score's own "
            f"at a scale of {self.label_rate.curve.scale:g}, averaged over descriptions "
            f"({weights}). The prior probability of exact calibration is {self.calibrated:g}."
        )
