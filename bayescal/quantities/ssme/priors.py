"""What is assumed before the labels: how far they are from what the classifiers say."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import ClassVar, Final, override

from bayescal.core.checks import check_choice, check_is, check_number
from bayescal.core.quantity import BasePriors

__all__ = ["OPINION_POOLS", "GaussianMixture", "Priors", "StudentTMixture", "Tilt"]

OPINION_POOLS: Final = ("agreement", "mean")
TILT_SCALES: Final = (
    "intercept",
    "slope_scale",
    "class_slope",
    "weight",
    "curvature",
    "own_curvature",
    "group",
)
# Beyond, slopes overflow, and NaN would pass for metrics.
_LARGEST = 10.0
_SCALES = f"[1e-9, {_LARGEST:g}]"


@dataclass(frozen=True, slots=True)
class Tilt:
    """An exponential tilt of the classifiers' opinion pool: the default.

    Parameters
    ----------
    intercept : float, in [1e-9, 10] as all scales, default 0.12
        Scale of the classes' intercepts: how far class shares may be from the opinion pool's.
    slope_location : float, in [-10, 10], default 0
        Centre of the narrow part of the log slope's prior; 0 takes the opinion pool as it is.
    slope_scale : float, default 0.1
        Scale of the narrow part.
    wide_weight : float, in [0, 1], default 0.7
        Weight of the wide part where classifiers agree far more or less often than their
        probabilities say; a seventh of it where they agree as often as that, three sevenths where
        there is only one. 0 leaves the wide part out.
    wide_scale : float, default 0.4
        Scale of the wide part, which lies around the log slope that agreement suggests; twice
        that, around 0, where there is only one classifier.
    class_slope : float, default 0.1
        Scale by which the classes' log slopes differ.
    weight : float, default 0.15
        Scale of the weights that lean towards or away from each classifier.
    curvature : float, default 0.05
        Scale of a bend of the calibration curve.
    own_curvature : float, default 0.1
        Scale of each classifier's own bend.
    group : float, default 0.2
        Scale of what groups add to the logits, and of the log of a factor of all other terms:
        normal, with a standard deviation that is half-normal of this scale.
    opinion_pool : {"agreement", "mean"}, default "agreement"
        How probabilities are pooled: weighted by agreement with the other classifiers, or their
        plain mean. Agreement helps where one classifier is bad, and does little harm elsewhere.

    Notes
    -----
    With p the pooled probabilities, l their logarithms, centred over classes, and r_j the log
    probabilities of classifier j, centred over rows too and divided by their standard deviation::

        eta_k = a_k + b_k l_k + sum_j w_j r_jk + c z_k + sum_j d_j z_jk,
        P(Y = k | scores) = softmax(eta)_k

    ``z`` is what p leaves when regressed on l, and ``z_j`` what classifier j's
    probabilities leave on that and on their own logarithm, with standard deviation 1. Intercepts,
    weights, bends and the classes' slopes are multivariate Student-t (3) by kind, so that labels
    that agree with each other overrule the opinion pool. The log slope is a mixture of a narrow
    Student-t (3), under which the pool is right, and a wide Student-t (4).
    """

    intercept: float = 0.12
    slope_location: float = 0.0
    slope_scale: float = 0.1
    wide_weight: float = 0.7
    wide_scale: float = 0.4
    class_slope: float = 0.1
    weight: float = 0.15
    curvature: float = 0.05
    own_curvature: float = 0.1
    group: float = 0.2
    opinion_pool: str = "agreement"

    def __post_init__(self) -> None:
        for name in (*TILT_SCALES, "wide_scale"):
            check_number(getattr(self, name), name, _SCALES, "Pass 0.1, say.")
        check_number(self.slope_location, "slope_location", "[-10, 10]")
        remedy = "Pass 0 to leave the wide part out."
        check_number(self.wide_weight, "wide_weight", "[0, 1]", remedy)
        check_choice(self.opinion_pool, OPINION_POOLS, "opinion_pool")


@dataclass(frozen=True, slots=True)
class GaussianMixture:
    """Scores of each class normal, labels of the unlabelled rows summed over.

    Parameters
    ----------
    location, scale : float, in [1e-9, 10], default 2 and 1
        Standard deviation of classes' means, and of log spreads, in units of whitened scores.

    Notes
    -----
    The literal semi-supervised mixture. Real scores are not normal given the class, and many
    unlabelled rows make it fit their shape rather than the labels: its intervals are narrow and
    wrong. Components keep their class only through labels: every class needs one. Class shares are
    uniform before, and the power of `Priors` is that of unlabelled rows too.
    """

    location: float = 2.0
    scale: float = 1.0

    def __post_init__(self) -> None:
        for name in ("location", "scale"):
            check_number(getattr(self, name), name, _SCALES, "Pass 1, say.")


@dataclass(frozen=True, slots=True)
class StudentTMixture(GaussianMixture):
    """As `GaussianMixture`, with Student-t scores.

    Parameters
    ----------
    location, scale : float, default 2 and 1
        As for `GaussianMixture`.
    degrees : float, above 0, default 4
        Degrees of freedom.
    """

    degrees: float = 4.0

    def __post_init__(self) -> None:
        GaussianMixture.__post_init__(self)
        check_number(self.degrees, "degrees", "(0, inf)")


type LabelPrior = Tilt | GaussianMixture


@dataclass(frozen=True, slots=True)
class Priors(BasePriors):
    """Priors of the labels given all classifiers' scores.

    Parameters
    ----------
    label : Tilt, GaussianMixture or StudentTMixture, default Tilt()
        Model of the labels and its scales.
    power : float, in (0, 1], default 0.75
        Power that the labels' likelihood is raised to with many labels.
    discount : float, at least 0, default 10
        With n labels the power is ``power * n / (n + discount)``. 0 leaves it as it is.

    Notes
    -----
    What few labels say for one tilt over another is noisy, and its largest value over many tilts
    too large. It is shrunk as a mean is whose prior counts for `discount` labels on which all tilts
    do equally well (Bühlmann's credibility): the power is .50, .68 and .74 with 20, 100 and 500
    labels. That it stays below 1 allows for a model that is not quite true [1]_.

    References
    ----------
    .. [1] J. W. Miller and D. B. Dunson, 2019. https://doi.org/10.1080/01621459.2018.1469995

    Examples
    --------
    >>> import bayescal as bc
    >>> bc.ssme.Priors(label=bc.ssme.Tilt(opinion_pool="mean")).likelihood_power(20)
    0.5
    """

    of_kinds: ClassVar[tuple[str, ...]] = ("label",)
    label: LabelPrior = field(default_factory=Tilt)
    power: float = 0.75
    discount: float = 10.0

    def __post_init__(self) -> None:
        check_is(self.label, (Tilt, GaussianMixture, StudentTMixture), "label", "Pass Tilt().")
        plain = "Pass 1, and discount=0, for the plain posterior."
        check_number(self.power, "power", "(0, 1]", plain)
        whole = "Pass 0 for the labels' whole likelihood."
        check_number(self.discount, "discount", "[0, inf)", whole)

    @classmethod
    def trusting(cls) -> Priors:
        """Take the classifiers' opinion pool to be nearly right.

        Returns
        -------
        Priors
            The log slope's narrow part alone, about -0.06, and the power 0.6; other scales.

        Notes
        -----
        For classifiers that are known to be calibrated on data like these: errors with few labels
        are smaller than the default's. Else intervals miss the truth far more often than they say.
        """
        label = Tilt(
            slope_location=-0.06, wide_weight=0.0, weight=0.12, curvature=0.1, own_curvature=0.02
        )
        return cls(label, discount=0.0, power=0.6)

    def likelihood_power(self, n_labeled: float) -> float:
        """Give the power that the likelihood of some labels is raised to.

        Parameters
        ----------
        n_labeled : float, at least 0
            Their number; of weighted ones the effective number.

        Returns
        -------
        float
            ``power * n / (n + discount)``; `power` without labels, which have no likelihood.
        """
        check_number(n_labeled, "n_labeled", "[0, inf)")
        return self.power * n_labeled / (n_labeled + self.discount) if n_labeled else self.power

    def alternatives(self) -> dict[str, Priors]:
        """Give the default grid of a prior sensitivity analysis.

        Returns
        -------
        dict of str to Priors
            ``"default"``, these priors, first; then others that would be as reasonable.

        Notes
        -----
        Each changes a choice that twenty labels cannot check: that the opinion pool is nearly right
        ("trusting"), that classifiers count alike ("plain mean"), scales three times as wide, and
        the likelihood's own power. A mixture is compared with the tilt.

        Examples
        --------
        >>> import bayescal as bc
        >>> list(bc.ssme.Priors().alternatives())
        ['default', 'trusting', 'plain mean', 'wider tilt', 'power 1']
        """
        found = {"default": self}
        if isinstance(self.label, Tilt):
            scales = {n: min(3 * getattr(self.label, n), _LARGEST) for n in TILT_SCALES}
            found["trusting"] = self.trusting()
            found["plain mean"] = replace(self, label=replace(self.label, opinion_pool="mean"))
            found["wider tilt"] = replace(self, label=replace(self.label, **scales))
        else:
            found["tilt"] = replace(self, label=Tilt())
        found["power 1"] = replace(self, discount=0.0, power=1.0)
        return {name: one for name, one in found.items() if name == "default" or one != self}

    @override
    def describe(self) -> str:
        if isinstance(self.label, Tilt):
            text = _tilt_words(self.label)
        else:
            text = _mixture_words(self.label)
        power = f"{self.power:g}"
        if self.discount:
            factor = "" if self.power == 1 else f"{power} * "
            power = f"{factor}n / (n + {self.discount:g}), n being the number of labels"
        what = "The labels' likelihood" if isinstance(self.label, Tilt) else "The rows' likelihood"
        return f"{text} {what} is raised to the power {power}."


def _tilt_words(tilt: Tilt) -> str:
    agreement = tilt.opinion_pool == "agreement"
    pooled = "weighted by agreement" if agreement else "in plain mean"
    wide = ""
    if tilt.wide_weight:
        wide = (
            f", or, with a probability of at most {tilt.wide_weight:g}, around what agreement "
            f"among classifiers suggests, of scale {tilt.wide_scale:g} (of one classifier "
            f"around 0, of scale {2 * tilt.wide_scale:g})"
        )
    return (
        f"The label's probability is that of the pooled classifiers ({pooled}), tilted: intercepts "
        f"of scale {tilt.intercept:g}; a log slope around {tilt.slope_location:g} of scale "
        f"{tilt.slope_scale:g}{wide}; weights of the classifiers of scale {tilt.weight:g}; a bend "
        f"of scale {tilt.curvature:g}, and one for each classifier of {tilt.own_curvature:g}; all "
        "with heavy tails."
    )


def _mixture_words(mixture: GaussianMixture) -> str:
    law, centre = "normals", "means"
    if isinstance(mixture, StudentTMixture):
        law, centre = f"Student-t with {mixture.degrees:g} degrees of freedom", "centres"
    return (
        f"The whitened scores of each class are independent {law}: {centre} of standard deviation "
        f"{mixture.location:g}, log widths of {mixture.scale:g}."
    )
