"""What is assumed before the labels: how far they are from what the classifiers say."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass, field, fields, replace
from typing import Final

from bayescal.core.checks import check_choice
from bayescal.core.errors import InputError
from bayescal.core.priors import check_finite, check_positive

__all__ = ["OPINION_POOLS", "GaussianMixture", "Priors", "StudentTMixture", "Tilt"]

OPINION_POOLS: Final = ("agreement", "mean")
TILT_SCALES: Final = ("intercept", "slope_scale", "class_slope", "weight", "curvature", "group")


@dataclass(frozen=True, slots=True)
class Tilt:
    """An exponential tilt of the classifiers' opinion pool: the default.

    Parameters
    ----------
    intercept : float, above 0, default 0.12
        Scale of the classes' intercepts: how far class shares may be from the opinion pool's.
    slope_location : float, default -0.06
        Centre of the log slope. Below 0 as classifiers trained by likelihood are overconfident
        more often than not; 0 takes the opinion pool as it is.
    slope_scale : float, above 0, default 0.1
        Scale of the log slope.
    class_slope : float, above 0, default 0.1
        Scale by which the classes' log slopes differ.
    weight : float, above 0, default 0.12
        Scale of the weights that lean towards or away from each classifier.
    curvature : float, above 0, default 0.1
        Scale of a bend of the calibration curve.
    group : float, above 0, default 0.2
        Scale by which groups differ in intercept and log slope.
    opinion_pool : {"agreement", "mean"}, default "agreement"
        How probabilities are pooled: weighted by agreement with the other classifiers, or their
        plain mean. Agreement helps where one classifier is bad, and does little harm elsewhere.

    Raises
    ------
    InputError
        If a number lies outside its range, or the opinion pool is none of those named.

    Notes
    -----
    With p the pooled probabilities, and r_j the log probabilities of classifier j, centred over
    classes and over rows and divided by their standard deviation::

        eta_k = a_k + b_k log p_k + sum_j w_j r_jk + c z_k,    P(Y = k | scores) = softmax(eta)_k

    ``z`` is what p leaves when regressed on its centred logarithm, with standard deviation 1.
    Intercepts, weights and bend are normal, with scales that are log-normal around those above (log
    standard deviation 0.8); the log slope is Student-t (3). The scales are small, as twenty labels
    cannot separate the coefficients; the tails are heavy, so that labels that agree
    with each other overrule the opinion pool.
    """

    intercept: float = 0.12
    slope_location: float = -0.06
    slope_scale: float = 0.1
    class_slope: float = 0.1
    weight: float = 0.12
    curvature: float = 0.1
    group: float = 0.2
    opinion_pool: str = "agreement"

    def __post_init__(self) -> None:
        for name in TILT_SCALES:
            check_positive(getattr(self, name), name)
        check_finite(self.slope_location, "slope_location")
        check_choice(self.opinion_pool, OPINION_POOLS, "opinion_pool")


@dataclass(frozen=True, slots=True)
class GaussianMixture:
    """Scores of each class normal, labels of the unlabelled rows summed over.

    Parameters
    ----------
    location, scale : float, above 0, default 2 and 1
        Standard deviation of the classes' means, and of the log of their standard deviations, in
        units of the whitened scores.

    Notes
    -----
    The literal semi-supervised mixture. Real scores are not normal given the class, and many
    unlabelled rows make the mixture fit their shape rather than the labels: its intervals are
    narrow and wrong. The documentation gives the numbers. Components keep their class only through
    labels: every class needs one.
    """

    location: float = 2.0
    scale: float = 1.0

    def __post_init__(self) -> None:
        for each in fields(self):
            check_positive(getattr(self, each.name), each.name)


@dataclass(frozen=True, slots=True)
class StudentTMixture(GaussianMixture):
    """As `GaussianMixture`, with Student-t scores.

    Parameters
    ----------
    location, scale : float, above 0, default 2 and 1
        As for `GaussianMixture`.
    degrees : float, above 0, default 4
        Degrees of freedom.
    """

    degrees: float = 4.0


type LabelPrior = Tilt | GaussianMixture


@dataclass(frozen=True, slots=True)
class Priors:
    """Priors of the labels given all classifiers' scores.

    Parameters
    ----------
    label : Tilt, GaussianMixture or StudentTMixture, default Tilt()
        Model of the labels and its scales.
    power : float, in (0, 1], default 0.6
        Power that the labels' likelihood is raised to. The tilt is an approximation; a power below
        1 keeps its intervals from being too sure of it. 1 is the plain posterior.

    Raises
    ------
    InputError
        If `power` lies outside (0, 1], or `label` is no model of labels.

    References
    ----------
    .. [1] J. W. Miller and D. B. Dunson, "Robust Bayesian Inference via Coarsening", Journal of the
       American Statistical Association 114(527), 2019. https://doi.org/10.1080/01621459.2018.1469995

    Examples
    --------
    >>> import bayescal as bc
    >>> bc.ssme.Priors(label=bc.ssme.Tilt(opinion_pool="mean")).power
    0.6
    """

    label: LabelPrior = field(default_factory=Tilt)
    power: float = 0.6

    def __post_init__(self) -> None:
        if not isinstance(self.label, Tilt | GaussianMixture):
            raise InputError(
                "label must be a Tilt, GaussianMixture or StudentTMixture; "
                f"got {type(self.label).__name__}."
            )
        if not 0 < self.power <= 1:
            raise InputError(
                f"power must lie in (0, 1]; got {self.power}. Pass 1 for the plain posterior."
            )

    def alternatives(self) -> dict[str, Priors]:
        """Give the default grid of a prior sensitivity analysis.

        Returns
        -------
        dict of str to Priors
            ``"default"``, these priors, first; then others that would be as reasonable.

        Notes
        -----
        Each alternative changes one choice that twenty labels cannot check. Whether classifiers
        count alike decides the answer where one is bad ("plain mean"). Scales three times as wide
        were the first choice, two to four times, and served some tasks slightly better ("wide
        tilt"). The likelihood's own power is what a reader who believes the tilt would take
        ("power 1"). A mixture is compared with the default tilt instead of other tilts. What equals
        these priors is left out.

        Examples
        --------
        >>> import bayescal as bc
        >>> list(bc.ssme.Priors().alternatives())
        ['default', 'plain mean', 'wider tilt', 'power 1']
        """
        found = {"default": self}
        if isinstance(self.label, Tilt):
            scales = {name: 3 * getattr(self.label, name) for name in TILT_SCALES}
            found["plain mean"] = replace(self, label=replace(self.label, opinion_pool="mean"))
            found["wider tilt"] = replace(self, label=replace(self.label, **scales))
        else:
            found["tilt"] = replace(self, label=Tilt())
        found["power 1"] = replace(self, power=1.0)
        return {name: one for name, one in found.items() if name == "default" or one != self}

    def to_json(self) -> str:
        """Write the priors as JSON.

        Returns
        -------
        str
            The kind of label model with its parameters, and the power.
        """
        return json.dumps(
            {"label": {type(self.label).__name__: asdict(self.label)}, "power": self.power}
        )

    def describe(self) -> str:
        """Put the priors into words.

        Returns
        -------
        str
            Two or three sentences.
        """
        if isinstance(self.label, Tilt):
            text = _tilt_words(self.label)
        else:
            text = _mixture_words(self.label)
        return f"{text} The labels' likelihood is raised to the power {self.power:g}."


def _tilt_words(tilt: Tilt) -> str:
    agreement = tilt.opinion_pool == "agreement"
    pooled = "weighted by agreement" if agreement else "in plain mean"
    return (
        f"The label's probability is that of the pooled classifiers ({pooled}), tilted: intercepts "
        f"of scale {tilt.intercept:g}, a log slope around {tilt.slope_location:g} of scale "
        f"{tilt.slope_scale:g}, weights of the classifiers of scale {tilt.weight:g} and a bend of "
        f"scale {tilt.curvature:g}, all with heavy tails."
    )


def _mixture_words(mixture: GaussianMixture) -> str:
    law, centre = "normals", "means"
    if isinstance(mixture, StudentTMixture):
        law, centre = f"Student-t with {mixture.degrees:g} degrees of freedom", "centres"
    return (
        f"The whitened scores of each class are independent {law}: {centre} of standard deviation "
        f"{mixture.location:g}, log widths of {mixture.scale:g}."
    )
