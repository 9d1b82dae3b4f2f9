"""Priors of a classifier's label rates, before its labels are seen."""

from __future__ import annotations

import json
from dataclasses import dataclass, field, replace
from typing import ClassVar, override

from bayescal.core.checks import check_is, check_number, shown
from bayescal.core.errors import InputError
from bayescal.core.priors import Beta, LogNormal
from bayescal.core.quantity import BasePriors
from bayescal.curves.priors import CurveAverage as CurveAverage
from bayescal.curves.priors import SmoothCurve as SmoothCurve


@dataclass(frozen=True, slots=True)
class IndependentBins:
    """Label rates of the bins, independent of each other and of the scores.

    Parameters
    ----------
    rate : Beta, default Beta(1, 1)
        Prior of each bin's label rate; ``Beta(0.5, 0.5)`` is Jeffreys'.

    Notes
    -----
    The posterior is conjugate and the bins are the paper's, but its intervals are
    unreliable: noise in each rate pushes ``|rate - confidence|`` up, in the posterior a second time
    after the data. The documentation gives the coverage.

    Examples
    --------
    >>> from bayescal.quantities.ece.priors import IndependentBins
    >>> IndependentBins().rate
    Beta(alpha=1.0, beta=1.0)
    """

    rate: Beta = field(default_factory=lambda: Beta(1, 1))

    def __post_init__(self) -> None:
        check_is(self.rate, Beta, "rate", "Pass Beta(1, 1).")


@dataclass(frozen=True, slots=True)
class HierarchicalBins:
    """Label rates of the bins, drawn to their mean scores as strongly as the data suggest.

    Parameters
    ----------
    concentration : LogNormal, default LogNormal(3.4, 1.5)
        Prior of kappa, in rows: each rate is Beta(kappa f, kappa (1 - f)) about the mean score f.
        The default has its median at 30 rows and 90% between 2.5 and 350.

    Examples
    --------
    >>> from bayescal.quantities.ece.priors import HierarchicalBins
    >>> round(HierarchicalBins().concentration.quantile(0.5))
    30
    """

    concentration: LogNormal = field(default_factory=lambda: LogNormal(3.4, 1.5))

    def __post_init__(self) -> None:
        check_is(self.concentration, LogNormal, "concentration", "Pass LogNormal(3.4, 1.5).")


type LabelRatePrior = CurveAverage | SmoothCurve | IndependentBins | HierarchicalBins
LABEL_RATES = (CurveAverage, SmoothCurve, IndependentBins, HierarchicalBins)
# Averages of version 0.2.0 had no certain segments, no linear curve and no steep lines.
_OLDER = {"certain": 0.0, "linear": 0.0, "steep": 0.0}
_NESTED = {"curve": SmoothCurve, "rate": Beta, "concentration": LogNormal}


@dataclass(frozen=True, slots=True)
class Priors(BasePriors):
    """Priors of the calibration error.

    Parameters
    ----------
    label_rate : CurveAverage, SmoothCurve, IndependentBins or HierarchicalBins
        Prior of the label rate given the score and miscalibration; by default `CurveAverage()`.
    calibrated : float, in [0, 1), default 0.5
        Prior probability that the probability of the event is the score; 0 leaves this out.
    pooling : LogNormal, default LogNormal(-0.9, 0.4)
        With groups: standard deviation of the groups' intercepts and slopes about the common ones,
        relative to the curve's scale. The default has its median at 0.4, 90% between 0.21 and 0.78.
        Each group's own process has half the standard deviation of the common one.

    Raises
    ------
    InputError
        If `calibrated` lies outside [0, 1) or `label_rate` is none of the four.

    Examples
    --------
    >>> import bayescal as bc
    >>> bc.ece.Priors(label_rate=bc.ece.IndependentBins(bc.Beta(0.5, 0.5))).calibrated
    0.5
    """

    label_rate: LabelRatePrior = field(default_factory=CurveAverage)
    calibrated: float = 0.5
    pooling: LogNormal = field(default_factory=lambda: LogNormal(-0.9, 0.4))
    of_kinds: ClassVar[tuple[str, ...]] = ("label_rate",)

    def __post_init__(self) -> None:
        remedy = "Pass 0.5 to hold both alternatives equally likely."
        check_number(self.calibrated, "calibrated", "[0, 1)", remedy)
        check_is(self.label_rate, LABEL_RATES, "label_rate", "Pass CurveAverage().")
        check_is(self.pooling, LogNormal, "pooling", "Pass LogNormal(-0.9, 0.4).")

    def alternatives(self) -> dict[str, Priors]:
        """Give priors that a result should be compared under.

        Returns
        -------
        dict of str to Priors
            These ones as ``"default"``, then one assumption changed at a time.

        Notes
        -----
        How far a curve may deviate decides how much noise is taken for error: its scale is halved
        and doubled, and with it roughness, shifts and label noise. At 0.35 and 1.4 a score of 0.5
        stands for probabilities in (0.31, 0.69) and (0.04, 0.96) with probability 0.9. Bins are
        compared with the average of curves, which knows their order. The calibrated alternative
        pulls means to 0, so it is left out where there is one, else taken in at even odds.

        Examples
        --------
        >>> import bayescal as bc
        >>> list(bc.ece.Priors().alternatives())
        ['default', 'tighter curve', 'wider curve', 'never calibrated']
        """
        found, prior = {"default": self}, self.label_rate
        if isinstance(prior, CurveAverage | SmoothCurve):
            for name, factor in (("tighter curve", 0.5), ("wider curve", 2.0)):
                found[name] = replace(self, label_rate=prior.rescaled(factor))
        else:
            found["average of curves"] = replace(self, label_rate=CurveAverage())
        name, calibrated = ("never calibrated", 0.0) if self.calibrated else ("even odds", 0.5)
        return {**found, name: replace(self, calibrated=calibrated)}

    @classmethod
    def from_json(cls, text: str) -> Priors:
        """Read what `to_json` wrote.

        Parameters
        ----------
        text : str
            JSON, such as the attribute ``priors`` of a result.

        Returns
        -------
        Priors
            The same priors.

        Raises
        ------
        InputError
            If it is other text.

        Examples
        --------
        >>> import bayescal as bc
        >>> bc.ece.Priors.from_json(bc.ece.Priors().to_json()) == bc.ece.Priors()
        True
        """
        check_is(text, str, "text", "Pass the attribute 'priors' of a result.")
        try:
            held = json.loads(text)
            ((kind, parameters),) = held["label_rate"].items()
            parameters = (_OLDER if kind == CurveAverage.__name__ else {}) | parameters
            nested = {key: made for key, made in _NESTED.items() if key in parameters}
            parameters |= {key: made(**parameters[key]) for key, made in nested.items()}
            label_rate = {one.__name__: one for one in LABEL_RATES}[kind](**parameters)
            return cls(label_rate, held["calibrated"], LogNormal(**held["pooling"]))
        except (AttributeError, KeyError, TypeError, ValueError) as error:
            raise InputError(
                f"text must be priors as to_json writes them; got {shown(text)}. Pass the "
                "attribute 'priors' of a result."
            ) from error

    @override
    def describe(self) -> str:
        rate = self.label_rate
        match rate:
            case CurveAverage() | SmoothCurve():
                where = "The probability of the event, where it is not the score, is"
                text = f"{where} {rate.describe()}."
            case IndependentBins():
                text = f"The bins' label rates are independent, each {rate.rate.describe()}."
            case HierarchicalBins():
                text = (
                    "The bins' label rates scatter about their mean scores as strongly as a sample "
                    f"of kappa rows would, kappa {rate.concentration.describe()}."
                )
        return f"{text} The prior probability of exact calibration is {self.calibrated:g}."
