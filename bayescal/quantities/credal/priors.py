"""What is assumed before the labels: how the probability of the label goes with the score."""

from __future__ import annotations

import json
from abc import ABC, abstractmethod
from dataclasses import dataclass, field, replace
from typing import ClassVar, Final, override

from bayescal.core.bin_edges import OPTIMAL
from bayescal.core.checks import check_is, check_number, check_whole
from bayescal.core.errors import InputError
from bayescal.core.quantity import BasePriors
from bayescal.core.text import counted
from bayescal.curves.priors import ROUGH, SMOOTH, CurveAverage, SmoothCurve

__all__ = ["AveragedCurve", "ImpreciseDirichlet", "IncrementIsotonic", "MonotoneCurve", "Priors"]

MOST_BINS = 200
RISING: Final = "rising"
STEPS: Final = "steps"
ROW_DESCRIPTIONS: Final = (SMOOTH, ROUGH, RISING, STEPS)
"""What a curve may be, in the order of a result's dimension ``description``."""


class _RatePrior(ABC):
    """What every prior of the probability has."""

    __slots__ = ()

    @abstractmethod
    def describe(self) -> str:
        """Put the prior into words."""

    def _check_above_zero(self, *names: str) -> None:
        for name in names:
            check_number(getattr(self, name), name, "(0, inf)")


@dataclass(frozen=True, slots=True)
class MonotoneCurve(_RatePrior):
    """A smooth rising curve of the score's rank.

    Parameters
    ----------
    intercept : float, above 0, default 2
        Standard deviation of the curve's logit at the middle.
    spread : float, above 0, default 4
        Scale of how far the logit rises.
    s : float, above 0, default 1
        Pseudo-observations of either label at the score of the target row, which make the bounds.

    Notes
    -----
    With u the share of calibration rows of smaller score and half of those of equal score, and I_1,
    ..., I_8 quadratic I-splines (Ramsay, 1988) of breaks sin(pi j / 14)^2, j = 0, ..., 7::

        logit g(u) = a + sum_j w_j (I_j(u) - 1/2),    w_j = tau z_j
        a ~ Normal(0, intercept),    tau ~ HalfNormal(spread),    z_j ~ HalfNormal(1)

    The weights are not below 0, so that the curve never falls. Only the scores' order matters, as
    for Venn-Abers predictors. Jumps are smoothed over: see `IncrementIsotonic`.
    """

    intercept: float = 2.0
    spread: float = 4.0
    s: float = 1.0

    def __post_init__(self) -> None:
        self._check_above_zero("intercept", "spread", "s")

    @override
    def describe(self) -> str:
        return (
            "The probability of the label is a smooth curve that rises with the score: its logit "
            f"has standard deviation {self.intercept:g} at the middle rank and rises by I-splines "
            f"of scale {self.spread:g}."
        )


@dataclass(frozen=True, slots=True)
class AveragedCurve(_RatePrior):
    """A curve of a kind that the data choose, smooth, rough, rising or in steps: the default.

    Parameters
    ----------
    smooth, rough, rising : float, at least 0, default 0.4, 0.3 and 0.3
        Prior weights of the descriptions; only their ratios count. 0 leaves a description out.
    curve : SmoothCurve, default SmoothCurve()
        The smooth description, and the smooth part of the rough one.
    roughness : float, above 0, default 1.5
        Scale of the half-normal prior of the rough part's standard deviation, in logits.
    rough_length : float, above 0, default 0.1
        Length over which half of the rough part's variance is correlated, in standard deviations of
        the score's logit; the other half is of each score alone.
    intercept, spread : float, above 0, default 2 and 4
        Scales of the rising description; see `MonotoneCurve`.
    s : float, above 0, default 1
        Pseudo-observations of either label at the score of the target row, which make the bounds.
    steps : float, at least 0, default 0.3
        Prior weight of a description of constant rates between jumps, up or down.
    jump : float, in (0, 1), default 0.06
        Probability of a jump between two of at most 50 blocks of scores.
    level : float, above 0, default 2
        Standard deviation of the steps' logits about ``log((k + 1) / (n - k + 1))``, k of n labels.
    certain : float, in [0, 1), default 0.3
        Prior probability that a step's rate is 0 or 1.

    Notes
    -----
    Smooth and rough curves are about the score itself, in logits, as those of `bayescal.ece`
    without steep lines; the rising one goes by the score's rank. They are averaged by prior weight
    times evidence to the power .35. Calibration is no description: bounds would have no width.

    Each distinct score is a cell where at most 100 of them lie between 0 and 1, else cells are cut
    at quantiles. Between cells the logit of the curve is linear in that of the score. Scores of
    exactly 0 and 1 stand apart in every description: they never err with probability 1/2, else the
    logit of their error rate is Normal(-4, 2.5).

    Examples
    --------
    >>> from bayescal.quantities.credal.priors import AveragedCurve
    >>> AveragedCurve(smooth=1, rough=1, rising=0, steps=0).weights
    {'smooth': 0.5, 'rough': 0.5}
    """

    smooth: float = 0.4
    rough: float = 0.3
    rising: float = 0.3
    curve: SmoothCurve = field(default_factory=SmoothCurve)
    roughness: float = 1.5
    rough_length: float = 0.1
    intercept: float = 2.0
    spread: float = 4.0
    s: float = 1.0
    steps: float = 0.3
    jump: float = 0.06
    level: float = 2.0
    certain: float = 0.3

    def __post_init__(self) -> None:
        for name in ROW_DESCRIPTIONS:
            check_number(getattr(self, name), name, "[0, inf)", "Pass 0.3.")
        if not self.smooth + self.rough > 0:
            raise InputError(
                "smooth or rough must be above 0; got 0 for both. Give one a weight, or pass "
                "MonotoneCurve() for a rising curve alone."
            )
        check_is(self.curve, SmoothCurve, "curve", "Pass SmoothCurve(scale=0.7).")
        check_number(self.jump, "jump", "(0, 1)")
        check_number(self.certain, "certain", "[0, 1)")
        self._check_above_zero("roughness", "rough_length", "intercept", "spread", "level", "s")

    @property
    def weights(self) -> dict[str, float]:
        """Prior weights of the descriptions that are not left out; their sum is 1."""
        given = {name: getattr(self, name) for name in ROW_DESCRIPTIONS}
        total = sum(given.values())
        return {name: weight / total for name, weight in given.items() if weight > 0}

    @property
    def average(self) -> CurveAverage:
        """The smooth and the rough description."""
        return CurveAverage(
            curve=self.curve,
            smooth=self.smooth,
            rough=self.rough,
            segments=0.0,
            linear=0.0,
            roughness=self.roughness,
            rough_length=self.rough_length,
            steep=0.0,
        )

    @property
    def rise(self) -> MonotoneCurve:
        """The rising description."""
        return MonotoneCurve(self.intercept, self.spread, self.s)

    @override
    def describe(self) -> str:
        words = {
            SMOOTH: self.curve.describe(),
            ROUGH: "that curve with a rough part, whose standard deviation is half-normal of scale "
            f"{self.roughness:g}",
            RISING: "a curve that rises with the score's rank by I-splines",
            STEPS: f"constant rates between jumps of probability {self.jump:g}, with logits of "
            f"standard deviation {self.level:g}, or of 0 and 1",
        }
        listed = "; ".join(f"{words[name]}, weight {w:.2g}" for name, w in self.weights.items())
        return (
            "The probability of the label is a curve of the score of a kind that the data choose: "
            f"{listed}. Scores of exactly 0 and 1 stand apart."
        )


@dataclass(frozen=True, slots=True)
class IncrementIsotonic(_RatePrior):
    """A rising step function over bins of equal mass, whose steps are Dirichlet: allows jumps.

    Parameters
    ----------
    bins : int, 2 to 200, or "optimal", default 20
        Number of bins. A score is in that of its rank (see `MonotoneCurve`), or in the upper of
        two. ``"optimal"`` is the cube root of that of calibration rows, rounded up.
    concentration : float, above 0, default 0.3
        Of each of the ``bins + 1`` steps from 0 to 1. Below 1 a few steps do most of the rise: the
        fewer, the smaller its sum over all steps. 0.03 with 50 bins expects a few jumps.
    s : float, above 0, default 1
        Pseudo-observations of either label at the score of the target row, which make the bounds.
    """

    bins: int | str = 20
    concentration: float = 0.3
    s: float = 1.0

    def __post_init__(self) -> None:
        _check_bins(self.bins, 2)
        self._check_above_zero("concentration", "s")

    @override
    def describe(self) -> str:
        return (
            f"The probability of the label rises in steps over {_bins(self.bins)} of equal mass; "
            f"the steps are Dirichlet with concentration {self.concentration:g} each."
        )


@dataclass(frozen=True, slots=True)
class ImpreciseDirichlet(_RatePrior):
    """Walley's imprecise model in each bin of equal mass: nothing is assumed but exchangeability.

    Parameters
    ----------
    s : float, above 0, default 1
        Weight of the prior, in observations; 1 gives a bin the bounds of Clopper and Pearson.
    bins : int, 1 to 200, or "optimal", default 10
        Number of bins. ``"optimal"`` is the cube root of that of calibration rows, rounded up.

    Notes
    -----
    All priors Beta(s t, s (1 - t)), 0 < t < 1, stand side by side (Walley, 1996). With k of n
    labels the lower probability is that under Beta(k, n - k + s), the upper one that under
    Beta(k + s, n - k); the probability itself is drawn with t = 1/2. Bins are independent of each
    other: nothing rises. A score is in the bin of its rank, as for `IncrementIsotonic`.
    """

    s: float = 1.0
    bins: int | str = 10

    def __post_init__(self) -> None:
        self._check_above_zero("s")
        _check_bins(self.bins, 1)

    @override
    def describe(self) -> str:
        return (
            f"In each of {_bins(self.bins)} of equal mass all Beta priors of weight {self.s:g} "
            "stand side by side (imprecise Dirichlet model); bins are independent."
        )


type LabelRatePrior = AveragedCurve | MonotoneCurve | IncrementIsotonic | ImpreciseDirichlet
_KINDS: Final = (AveragedCurve, MonotoneCurve, IncrementIsotonic, ImpreciseDirichlet)


@dataclass(frozen=True, slots=True)
class Priors(BasePriors):
    """Priors of the probability of the label given the score.

    Parameters
    ----------
    label_rate : AveragedCurve, MonotoneCurve, IncrementIsotonic or ImpreciseDirichlet
        Prior of the probability, ``AveragedCurve()`` by default. Where the rise may be a jump, take
        `IncrementIsotonic`.
    """

    label_rate: LabelRatePrior = field(default_factory=AveragedCurve)
    of_kinds: ClassVar[tuple[str, ...]] = ("label_rate",)

    def __post_init__(self) -> None:
        check_is(self.label_rate, _KINDS, "label_rate", "Pass bayescal.credal.AveragedCurve().")

    @override
    def describe(self) -> str:
        return (
            f"{self.label_rate.describe()} Bounds rest on {self.label_rate.s:g} pseudo-observation"
            f"{'s' * (self.label_rate.s != 1)} of either label."
        )

    def alternatives(self) -> dict[str, Priors]:
        """Give the default grid of priors for prior sensitivity.

        Returns
        -------
        dict of str to Priors
            ``"default"``, these priors, first; then the other kinds of `label_rate`, and twice the
            pseudo-observations.

        Notes
        -----
        A rising curve, smooth or in steps, is wrong about labels that grow rarer as the score
        rises; independent bins assume least. The number of pseudo-observations is a convention, and
        moves the bounds alone, but of `ImpreciseDirichlet`, whose prior has that weight.
        """
        rate = self.label_rate
        kinds: dict[str, LabelRatePrior] = {
            "average": AveragedCurve(s=rate.s),
            "rising curve": MonotoneCurve(s=rate.s),
            "steps": IncrementIsotonic(s=rate.s),
            "independent bins": ImpreciseDirichlet(s=rate.s),
        }
        others = {
            name: Priors(kind) for name, kind in kinds.items() if type(kind) is not type(rate)
        }
        more = Priors(replace(rate, s=2 * rate.s))
        return {"default": self, **others, f"{2 * rate.s:g} pseudo-observations": more}


def priors_from_json(text: str) -> Priors:
    """Read what `Priors.to_json` wrote."""
    ((kind, parameters),) = json.loads(text)["label_rate"].items()
    if "curve" in parameters:
        curve = parameters["curve"]
        parameters["curve"] = SmoothCurve(curve["scale"], tuple(curve["lengthscales"]))
    return Priors({one.__name__: one for one in _KINDS}[kind](**parameters))


def _bins(number: int | str) -> str:
    return "n^(1/3) bins" if number == OPTIMAL else counted(int(number), "bin")


def _check_bins(value: int | str, least: int) -> None:
    if not (isinstance(value, str) and value == OPTIMAL):
        check_whole(value, "bins", least, "Pass 20.", MOST_BINS)
