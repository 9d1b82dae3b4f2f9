"""Priors: of the class prior, and of the label rates of unlabelled scores."""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace
from functools import cached_property, lru_cache
from typing import ClassVar, override

import numpy as np
from numpy.typing import ArrayLike
from scipy.interpolate import CubicHermiteSpline, PchipInterpolator
from scipy.special import betaincinv, betaln, expit, logit, ndtr, xlogy

from bayescal.core.checks import check_is, check_number
from bayescal.core.columns import to_doubles
from bayescal.core.errors import InputError
from bayescal.core.priors import Beta
from bayescal.core.quantity import BasePriors, Floats
from bayescal.curves.priors import CurveAverage as CurveAverage
from bayescal.curves.priors import SmoothCurve as SmoothCurve
from bayescal.curves.priors import without_lines

# Fewer draws leave the tails of a class prior to guesswork.
_MIN_DRAWS = 100
# A prior that comes nearer to 0 or 1 would leave no positives, or nothing else.
_LEAST, _LARGEST_LOGIT = 1e-13, 30.0
# By how much of the smaller share a class prior is shifted, for prior sensitivity.
_SHIFT = 0.1


@dataclass(frozen=True, slots=True, init=False)
class PriorDraws:
    """A class prior that another analysis gave as draws, say of a prevalence study's posterior.

    Parameters
    ----------
    values : array-like of shape (draw,), in [1e-13, 1 - 1e-13]
        At least 100 draws that are not all equal.

    Notes
    -----
    The distribution used is that of the draws' logits, smoothed by a Gaussian kernel of width
    ``0.9 sd n**(-1/5)`` (Silverman). Draws of 3 digits or so are no worse for it.

    Examples
    --------
    >>> import numpy as np
    >>> import bayescal as bc
    >>> study = np.random.default_rng(20).beta(40, 160, size=2000)
    >>> round(bc.pu_ece.PriorDraws(study).mean, 2)
    0.2
    """

    values: tuple[float, ...]

    def __init__(self, values: ArrayLike) -> None:
        found = to_doubles(values, "draws of a class prior").ravel()
        if found.size < _MIN_DRAWS:
            raise InputError(
                f"draws of a class prior must be at least {_MIN_DRAWS}; got {found.size}. "
                "Pass a Beta instead, or a number if the class prior is known."
            )
        wrong = np.flatnonzero(~((found >= _LEAST) & (found <= 1 - _LEAST)))
        if wrong.size:
            raise InputError(
                f"draws of a class prior must lie in [{_LEAST}, 1 - {_LEAST}]; got "
                f"{found[wrong[0]]} at draw {wrong[0]}. Leave out draws that hold no positives or "
                "nothing else."
            )
        if np.ptp(found) == 0:
            raise InputError(
                f"draws of a class prior must differ; all are {found[0]}. Pass the number itself."
            )
        object.__setattr__(self, "values", tuple(found.tolist()))

    @property
    def mean(self) -> float:
        """Mean of the draws."""
        return float(np.mean(self.values))

    def describe(self) -> str:
        """Put the draws into words.

        Returns
        -------
        str
            Number, mean and central 90%.
        """
        low, high = np.quantile(self.values, [0.05, 0.95])
        return (
            f"given by {len(self.values)} draws: mean {self.mean:.3g}, "
            f"90% between {low:.3g} and {high:.3g}"
        )


type ClassPrior = float | Beta | PriorDraws


@dataclass(frozen=True, slots=True)
class MixtureBins:
    """Bins of positives r and negatives t whose mixture the unlabelled are.

    Parameters
    ----------
    concentration : float, above 0, default 1
        Of the Dirichlet priors of r and t: 1 is flat.

    Notes
    -----
    The paper's bins as a model: ``q = pi r + (1 - pi) t``, with no link between a bin's
    score and its label rate. Sampling is sound and the intervals are not: noise in each bin pushes
    the calibration error up. The documentation gives the coverage.
    """

    concentration: float = 1.0

    def __post_init__(self) -> None:
        check_number(self.concentration, "concentration", "(0, inf)")


@dataclass(frozen=True, slots=True)
class IndependentBins:
    """Bins of positives r and of unlabelled q, independent but for ``pi r <= q`` in every bin.

    Parameters
    ----------
    concentration : float, above 0, default 1
        Of the Dirichlet priors of r and q: 1 is flat.

    Notes
    -----
    Two independent Dirichlets cut down to where the constraint holds are another prior: a large
    class prior satisfies it less often, by a factor ``(1 - pi)**(bins - 1)`` with flat Dirichlets,
    so that the class prior is pulled down. The documentation gives the coverage.
    """

    concentration: float = 1.0

    def __post_init__(self) -> None:
        check_number(self.concentration, "concentration", "(0, inf)")


type LabelRatePrior = CurveAverage | SmoothCurve | MixtureBins | IndependentBins
LABEL_RATES = (CurveAverage, SmoothCurve, MixtureBins, IndependentBins)


def _default_curve() -> CurveAverage:
    # Positives and unlabelled rows say little of a rate near 1, where real classifiers often are
    # far from the diagonal: narrower priors would pull the rate back to the score.
    return CurveAverage(curve=SmoothCurve(scale=1.0), roughness=1.5, linear=0.0, steep=0.0)


@dataclass(frozen=True, slots=True)
class Priors(BasePriors):
    """Priors of the calibration error from positive and unlabelled rows.

    Parameters
    ----------
    class_prior : float in [1e-13, 1), Beta or PriorDraws
        Share pi of positives among the unlabelled: known, uncertain, or drawn elsewhere. It has no
        default, as the data do not identify it: see `bayescal.pu_ece.estimate_class_prior`. A
        number declares it known: one that is off by a tenth invalidates every interval.
    label_rate : CurveAverage, SmoothCurve, MixtureBins or IndependentBins
        Prior of the probability of the event given the score, should the classifier not be
        calibrated; ``CurveAverage(curve=SmoothCurve(scale=1), roughness=1.5)`` by default. It has
        no steep lines and no linear curve: `steep` and `linear` are 0 here.
    calibrated : float, in [0, 1), default 0.5
        Prior probability that the classifier is calibrated: that the probability of the event is
        the score. 0 leaves this alternative out; bins never have it.

    Examples
    --------
    >>> import bayescal as bc
    >>> bc.pu_ece.Priors(class_prior=bc.Beta(4, 16)).calibrated
    0.5
    """

    class_prior: ClassPrior = None  # type: ignore[assignment]  # refused below, in words
    label_rate: LabelRatePrior = field(default_factory=_default_curve)
    calibrated: float = 0.5
    of_kinds: ClassVar[tuple[str, ...]] = ("class_prior", "label_rate")

    def __post_init__(self) -> None:
        pi = self.class_prior
        if pi is None:
            raise InputError(
                "class_prior must be given: positive and unlabelled rows alone do not identify it. "
                "Pass the share of positives among the unlabelled, as Priors(Beta(4, 16)), or "
                "bound it with bayescal.pu_ece.estimate_class_prior."
            )
        if not isinstance(pi, Beta | PriorDraws):
            remedy = (
                "Pass the share of positives among the unlabelled rows, as Beta(4, 16) or "
                "PriorDraws if it is not known."
            )
            number = check_number(pi, "class_prior", f"[{_LEAST}, 1)", remedy)
            object.__setattr__(self, "class_prior", number)
        elif isinstance(pi, Beta) and not (np.abs(PriorMap.of(pi).value) < _LARGEST_LOGIT).any():
            raise InputError(
                f"class_prior must not have all its mass within {_LEAST} of 0 or 1; got "
                f"Beta({pi.alpha:g}, {pi.beta:g}). Pass larger parameters, or a number."
            )
        check_is(self.label_rate, LABEL_RATES, "label_rate", "Pass CurveAverage().")
        if isinstance(self.label_rate, CurveAverage):
            object.__setattr__(self, "label_rate", without_lines(self.label_rate))
        remedy = "Pass 0.5 to hold both alternatives equally likely."
        check_number(self.calibrated, "calibrated", "[0, 1)", remedy)

    @property
    def class_prior_mean(self) -> float:
        """Mean of the class prior, at which the paper's estimate is taken."""
        return self.class_prior if isinstance(self.class_prior, float) else self.class_prior.mean

    def alternatives(self) -> dict[str, Priors]:
        """Give priors that a result should be compared under.

        Returns
        -------
        dict of str to Priors
            These ones as ``"default"``, then one assumption changed at a time.

        Notes
        -----
        The data do not identify the class prior, and the error moves by as much as it. Its mean is
        therefore shifted by a tenth of the smaller share, of positives or negatives, which is
        enough to move an interval off the true value, and its standard deviation about doubled; a
        known one becomes a Beta whose standard deviation is that tenth. A curve's scale is doubled,
        as it decides how much noise is taken for error; bins are compared with the curve.

        Examples
        --------
        >>> import bayescal as bc
        >>> for name, priors in bc.pu_ece.Priors(0.2).alternatives().items():
        ...     print(f"{name}: {priors.class_prior_mean:.2f}")
        default: 0.20
        lower class prior: 0.18
        higher class prior: 0.22
        wider class prior: 0.20
        wider curve: 0.20
        """
        prior, rate = self.class_prior, self.label_rate
        found = {
            "default": self,
            "lower class prior": replace(self, class_prior=_shifted(prior, -_SHIFT)),
            "higher class prior": replace(self, class_prior=_shifted(prior, _SHIFT)),
            "wider class prior": replace(self, class_prior=_wider(prior)),
        }
        if isinstance(rate, CurveAverage | SmoothCurve):
            return {**found, "wider curve": replace(self, label_rate=rate.rescaled(2))}
        return {**found, "curve average": replace(self, label_rate=_default_curve())}

    @override
    def describe(self) -> str:
        pi, rate = self.class_prior, self.label_rate
        share = f"declared known: {pi:g}" if isinstance(pi, float) else pi.describe()
        text = f"The share of positives among the unlabelled rows is {share}. "
        match rate:
            case CurveAverage() | SmoothCurve():
                return (
                    f"{text}The probability of the event, where it is not the score, is "
                    f"{rate.describe()}. The prior probability of exact calibration is "
                    f"{self.calibrated:g}."
                )
            case MixtureBins():
                what = "positives and of negatives"
            case IndependentBins():
                what = "positives and of unlabelled rows (positives never exceeding their share)"
        return (
            f"{text}The shares of the bins among {what} are Dirichlet with concentration "
            f"{rate.concentration:g} each."
        )


def _smaller(share: float) -> float:
    """The share of positives or that of negatives, whichever is smaller."""
    return min(share, 1 - share)


def _shifted(prior: ClassPrior, part: float) -> ClassPrior:
    """Move the mean of a class prior by a part of the smaller share (of draws, nearly)."""
    if isinstance(prior, float):
        return prior + part * _smaller(prior)
    mean = prior.mean + part * _smaller(prior.mean)
    if isinstance(prior, Beta):
        rows = prior.alpha + prior.beta
        return Beta(rows * mean, rows * (1 - mean))
    odds = mean / (1 - mean) / (prior.mean / (1 - prior.mean))
    values = np.asarray(prior.values)
    # Odds times a factor stay odds, so that no draw leaves (0, 1).
    return PriorDraws(odds * values / (1 - values + odds * values))


def _wider(prior: ClassPrior) -> ClassPrior:
    """Give a class prior twice its standard deviation, or nearly; a known one gets one."""
    if isinstance(prior, float):
        rows = prior * (1 - prior) / (_SHIFT * _smaller(prior)) ** 2 - 1
        return Beta(rows * prior, rows * (1 - prior))
    if isinstance(prior, Beta):
        return Beta(prior.alpha / 4, prior.beta / 4)
    logits = np.log(prior.values) - np.log1p(-np.asarray(prior.values))
    return PriorDraws(1 / (1 + np.exp(logits.mean() - 2 * logits)))


LAST = 6.5
"""Standard normals beyond this, 1 in 10 billion, are taken to be at it."""
INTERVALS = 52
KNOTS = np.linspace(-LAST, LAST, INTERVALS + 1)
LOG_ROOT = np.log(2 * np.pi) / 2
# Numbers of a table that a processor's cache holds.
_TOGETHER = 1 << 18


@dataclass(frozen=True, eq=False)
class Cubic:
    """A function of the class prior's normal: values and slopes at knots, cubic between them."""

    value: Floats  # (knot,)
    slope: Floats  # (knot,)
    first: float = -LAST
    last: float = LAST

    @cached_property
    def _cubic(self) -> CubicHermiteSpline:
        knots = np.linspace(self.first, self.last, len(self.value))
        return CubicHermiteSpline(knots, self.value, self.slope)

    def at(self, normal: Floats | float, derivative: int = 0) -> Floats:
        """Values, or those of a derivative, (...)."""
        return np.asarray(self._cubic(np.clip(normal, self.first, self.last), derivative))


@dataclass(frozen=True, eq=False)
class PriorMap(Cubic):
    """The class prior's logit."""

    @classmethod
    def of(cls, prior: ClassPrior) -> PriorMap:
        """Tabulate the quantiles of a prior."""
        match prior:
            case Beta():
                return _of_beta(prior)
            case PriorDraws():
                return _of_draws(prior)
            case float():
                return cls(np.full(len(KNOTS), logit(prior)), np.zeros(len(KNOTS)))

    @cached_property
    def known(self) -> bool:
        """Whether the class prior is one number."""
        return not self.slope.any()

    def __call__(self, normal: Floats) -> Floats:
        """Class prior, (...)."""
        if self.known:
            return np.full(np.shape(normal), expit(self.value[0]))
        return np.asarray(expit(self.at(normal)))

    def derivative(self, normal: Floats) -> Floats:
        """Derivative of the class prior, (...)."""
        prior = self(normal)
        return np.asarray(prior * (1 - prior) * self.at(normal, 1))

    def log_density(self, normal: Floats) -> Floats:
        """Log density of the class prior at a place given by its standard normal, (...)."""
        if self.known:
            return np.zeros(np.shape(normal))
        return np.asarray(-(normal**2) / 2 - LOG_ROOT - np.log(self.derivative(normal)))


def _of_beta(prior: Beta) -> PriorMap:
    """Quantiles from the nearer tail: the other has no digits left."""
    below = betaincinv(prior.alpha, prior.beta, ndtr(np.minimum(KNOTS, 0)))
    above = betaincinv(prior.beta, prior.alpha, ndtr(-np.maximum(KNOTS, 0)))
    with np.errstate(divide="ignore"):
        value = np.where(
            KNOTS < 0, np.log(below) - np.log1p(-below), np.log1p(-above) - np.log(above)
        )
    value = np.clip(value, -_LARGEST_LOGIT, _LARGEST_LOGIT)
    p, q = expit(value), expit(-value)
    # The logit has the density p**alpha q**beta / B, and gains phi(z) / density a unit of z.
    log_density = xlogy(prior.alpha, p) + xlogy(prior.beta, q) - betaln(prior.alpha, prior.beta)
    slope = np.exp(np.minimum(-(KNOTS**2) / 2 - LOG_ROOT - log_density, 700))
    # Nearly all mass at 0 and 1 makes the slope between them so large that the cubic turns back;
    # three times the rise to either knot is safe (Fritsch and Carlson).
    rise = np.pad(np.diff(value) / np.diff(KNOTS), 1, "edge")
    slope = np.minimum(slope, 3 * np.minimum(rise[1:], rise[:-1]))
    return PriorMap(value, np.where(np.abs(value) < _LARGEST_LOGIT, slope, 0.0))


@lru_cache(maxsize=8)
def _of_draws(prior: PriorDraws) -> PriorMap:
    """Quantiles of the draws' logits, smoothed by a Gaussian kernel of Silverman's width."""
    at = logit(np.asarray(prior.values))
    width = 0.9 * at.std() * len(at) ** -0.2
    grid = np.linspace(at.min() - 8 * width, at.max() + 8 * width, 4001)
    # A table of all draws at all points would be too large for memory.
    parts = np.array_split(grid, math.ceil(len(grid) * len(at) / _TOGETHER))
    below = np.concatenate([ndtr((part[:, None] - at) / width).mean(axis=1) for part in parts])
    kept = np.flatnonzero(np.diff(below, prepend=-1) > 0)
    value = np.interp(ndtr(KNOTS), below[kept], grid[kept]).clip(-_LARGEST_LOGIT, _LARGEST_LOGIT)
    # Slopes that keep the cubic from turning back where draws leave a gap.
    return PriorMap(value, PchipInterpolator(KNOTS, value).derivative()(KNOTS))
