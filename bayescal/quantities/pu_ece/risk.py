"""Risk of a classifier from positive and unlabelled rows: unbiased, and kept from falling below 0.

A decision value f is above 0 where the classifier says positive; for the logistic loss the risk is
least where f is the logit of the probability of a positive.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from bayescal.core.checks import check_call, check_choice, check_number
from bayescal.core.columns import to_doubles
from bayescal.core.errors import InputError
from bayescal.quantities.pu_ece.estimator import check_class_prior

type Floats = NDArray[np.float64]


class Loss(NamedTuple):
    """A loss of the margin ``y f``, and its slope."""

    value: Callable[[Floats], Floats]
    slope: Callable[[Floats], Floats]


def _expit(z: Floats) -> Floats:
    from scipy.special import expit

    return np.asarray(expit(z))


LOSSES: Final[dict[str, Loss]] = {
    "logistic": Loss(
        value=lambda margin: np.logaddexp(0, -margin), slope=lambda margin: -_expit(-margin)
    ),
    "sigmoid": Loss(
        value=lambda margin: _expit(-margin),
        slope=lambda margin: -_expit(margin) * _expit(-margin),
    ),
}
"""``ln(1 + exp(-margin))`` and ``1 / (1 + exp(margin))``."""

type Correction = str | Callable[[float], float]
CORRECTIONS: Final[dict[str, Callable[[float], float]]] = {
    "max": lambda negative: max(0.0, negative),
    "abs": abs,
}
"""What takes the place of the negatives' part of the risk: consistent-correction functions."""


class RiskParts(NamedTuple):
    """The two parts of the risk, and their slopes in the decision values."""

    positive: float
    negative: float
    positive_slopes: tuple[Floats, Floats]
    negative_slopes: tuple[Floats, Floats]

    def slopes(self, weight: float) -> tuple[Floats, Floats]:
        """Slopes of ``positive + weight * negative``."""
        of_positive, of_unlabeled = (
            one + weight * other
            for one, other in zip(self.positive_slopes, self.negative_slopes, strict=True)
        )
        return of_positive, of_unlabeled

    def reweighted(self, class_prior: float, target_prior: float) -> RiskParts:
        """Weigh positives and negatives as if the share of positives were another one."""
        more, less = target_prior / class_prior, (1 - target_prior) / (1 - class_prior)
        return RiskParts(
            positive=more * self.positive,
            negative=less * self.negative,
            positive_slopes=(more * self.positive_slopes[0], more * self.positive_slopes[1]),
            negative_slopes=(less * self.negative_slopes[0], less * self.negative_slopes[1]),
        )


def risk_parts(positive: Floats, unlabeled: Floats, class_prior: float, loss: str) -> RiskParts:
    """Compute both parts of the risk with their slopes, without asking whether input is valid."""
    value, slope = LOSSES[loss]
    share, each = class_prior / len(positive), 1 / len(unlabeled)
    return RiskParts(
        positive=share * float(value(positive).sum()),
        negative=each * float(value(-unlabeled).sum()) - share * float(value(-positive).sum()),
        positive_slopes=(share * slope(positive), np.zeros_like(unlabeled)),
        negative_slopes=(share * slope(-positive), -each * slope(-unlabeled)),
    )


def upu_risk(
    positive: ArrayLike, unlabeled: ArrayLike, *, class_prior: float, loss: str = "logistic"
) -> float:
    """Estimate a classifier's risk without bias.

    Parameters
    ----------
    positive, unlabeled : array-like of shape (obs,)
        Decision values of each sample; for the logistic loss, logits.
    class_prior : float, in (0, 1)
        Share of positives among the unlabelled.
    loss : {"logistic", "sigmoid"}, default "logistic"
        The loss.

    Returns
    -------
    float
        ``pi R_P+ + R_U- - pi R_P-``. It may be negative, the more so the more flexible a
        classifier was fitted to these rows.

    Raises
    ------
    InputError
        If a number lies outside its range, or the loss is unknown.

    Notes
    -----
    As ``P_U = pi P_+ + (1 - pi) P_-``, the loss of negatives is what is left of that of unlabelled
    rows taken for negatives: ``(1 - pi) R_N- = R_U- - pi R_P-``. With the logistic loss,
    ``loss(f) - loss(-f) = -f`` makes the risk of a linear classifier convex. Section 5.1 of [2]_
    prints the logistic loss as ``log(sigmoid(margin))``, without its minus sign.

    References
    ----------
    .. [1] M. C. du Plessis, G. Niu and M. Sugiyama, "Convex Formulation for Learning from Positive
       and Unlabeled Data", ICML 2015. https://proceedings.mlr.press/v37/plessis15.html
    .. [2] Anonymous authors, "Estimating Expected Calibration Error for Positive-Unlabeled
       Learning", under review for Transactions on Machine Learning Research, 2025, section 2.3, Eq.
       (2). https://openreview.net/forum?id=SvoBtLIrPZ

    Examples
    --------
    >>> from bayescal.quantities.pu_ece.risk import nnpu_risk, upu_risk
    >>> round(upu_risk([4.0, 5.0], [-4.0, -3.0], class_prior=0.5), 3)
    -2.217
    >>> round(nnpu_risk([4.0, 5.0], [-4.0, -3.0], class_prior=0.5), 3)
    0.006
    """
    parts = risk_parts(*_checked(positive, unlabeled, class_prior, loss), class_prior, loss)
    return _number(parts.positive + parts.negative)


def nnpu_risk(
    positive: ArrayLike,
    unlabeled: ArrayLike,
    *,
    class_prior: float,
    loss: str = "logistic",
    correction: Correction = "max",
) -> float:
    """Estimate a classifier's risk with what negatives contribute kept from falling below 0.

    Parameters
    ----------
    positive, unlabeled : array-like of shape (obs,)
        Decision values of each sample; for the logistic loss, logits.
    class_prior : float, in (0, 1)
        Share of positives among the unlabelled.
    loss : {"logistic", "sigmoid"}, default "logistic"
        The loss.
    correction : {"max", "abs"} or callable, default "max"
        The consistent-correction function c: ``max(x, 0)``, ``|x|``, or a function of a number
        that is at least 0 everywhere and returns what is above 0 as it is.

    Returns
    -------
    float, at least 0
        ``pi R_P+ + c(R_U- - pi R_P-)``: biased upward, by little, and safe to minimise.

    Raises
    ------
    InputError
        If a number lies outside its range, the loss or correction is unknown, or a correction of
        one's own returns something below 0.

    References
    ----------
    .. [1] R. Kiryo, G. Niu, M. C. du Plessis and M. Sugiyama, "Positive-Unlabeled Learning with
       Non-Negative Risk Estimator", NeurIPS 2017, Eq. (6). https://arxiv.org/abs/1703.00593
    .. [2] N. Lu, T. Zhang, G. Niu and M. Sugiyama, "Mitigating Overfitting in Supervised
       Classification from Two Unlabeled Datasets: A Consistent Risk Correction Approach", AISTATS
       2020, PMLR 108, pages 1115-1125.
    .. [3] Anonymous authors, "Estimating Expected Calibration Error for Positive-Unlabeled
       Learning", under review for Transactions on Machine Learning Research, 2025, section 2.3.
       https://openreview.net/forum?id=SvoBtLIrPZ

    Examples
    --------
    >>> from bayescal.quantities.pu_ece.risk import nnpu_risk
    >>> nnpu_risk([0.0], [0.0], class_prior=0.4, loss="sigmoid")
    0.5
    >>> round(nnpu_risk([4.0, 5.0], [-4.0, -3.0], class_prior=0.5, correction="abs"), 3)
    2.229
    """
    parts = risk_parts(*_checked(positive, unlabeled, class_prior, loss), class_prior, loss)
    return _number(parts.positive + corrected(parts.negative, correction))


def imbalanced_nnpu_risk(
    positive: ArrayLike,
    unlabeled: ArrayLike,
    *,
    class_prior: float,
    target_prior: float = 0.5,
    loss: str = "logistic",
    correction: Correction = "max",
) -> float:
    """Estimate a classifier's risk in a population where positives are not as rare.

    Parameters
    ----------
    positive, unlabeled : array-like of shape (obs,)
        Decision values of each sample; for the logistic loss, logits.
    class_prior : float, in (0, 1)
        Share of positives among the unlabelled, pi.
    target_prior : float, in (0, 1), default 0.5
        Share of positives that the risk is weighted to, pi'.
    loss : {"logistic", "sigmoid"}, default "logistic"
        The loss.
    correction : {"max", "abs"} or callable, default "max"
        The consistent-correction function c, as of `nnpu_risk`.

    Returns
    -------
    float, at least 0
        ``pi' R_P+ + c((1 - pi') / (1 - pi) (R_U- - pi R_P-))``.

    Raises
    ------
    InputError
        If a number lies outside its range, the loss or correction is unknown, or a correction of
        one's own returns something below 0.

    Notes
    -----
    With the logistic loss the logits that minimise it are those of a population with the share pi'
    of positives: before they are taken for probabilities of this one,
    ``logit(pi') - logit(pi)`` has to be taken off.

    References
    ----------
    .. [1] G. Su, W. Chen and M. Xu, "Positive-Unlabeled Learning from Imbalanced Data", IJCAI 2021,
       pages 2995-3001.
    .. [2] Anonymous authors, "Estimating Expected Calibration Error for Positive-Unlabeled
       Learning", under review for Transactions on Machine Learning Research, 2025, section 5.1.
       https://openreview.net/forum?id=SvoBtLIrPZ

    Examples
    --------
    >>> from bayescal.quantities.pu_ece.risk import imbalanced_nnpu_risk
    >>> round(imbalanced_nnpu_risk([0.0], [0.0], class_prior=0.1, loss="sigmoid"), 12)
    0.5
    """
    check_target_prior(target_prior)
    parts = risk_parts(*_checked(positive, unlabeled, class_prior, loss), class_prior, loss)
    parts = parts.reweighted(class_prior, target_prior)
    return _number(parts.positive + corrected(parts.negative, correction))


def _number(risk: float) -> float:
    """Refuse what is no number: infinite parts that cancel each other."""
    if np.isnan(risk):
        raise InputError(
            "the risk must be a number; it is none with decision values or a class prior so "
            "extreme. Pass finite values, and a class prior that is not as good as 0 or 1."
        )
    return risk


def check_target_prior(target_prior: float) -> None:
    """Check the share of positives that a risk is weighted to."""
    alike = "Pass 0.5 to weigh both classes alike."
    check_number(target_prior, "target_prior", "(0, 1)", alike)


def corrected(negative: float, correction: Correction) -> float:
    """Put a consistent-correction function's value in the place of the negatives' part."""
    if isinstance(correction, str):
        check_choice(correction, tuple(CORRECTIONS), "correction")
        return CORRECTIONS[correction](negative)
    check_call(correction, "correction, if no word,", needed=True)
    found = check_number(correction(negative), "what correction returns", "(-inf, inf)")
    if not found >= 0:
        raise InputError(
            f"correction must return a number >= 0; got {found} at {negative:.6g}. "
            "Pass 'max' or 'abs'."
        )
    return found


def _checked(
    positive: ArrayLike, unlabeled: ArrayLike, class_prior: float, loss: str
) -> tuple[Floats, Floats]:
    check_class_prior(class_prior)
    check_choice(loss, tuple(LOSSES), "loss")
    found = []
    for values, name in ((positive, "positive"), (unlabeled, "unlabeled")):
        array = to_doubles(values, name)
        if array.ndim != 1 or not len(array):
            raise InputError(f"{name} must hold one decision value a row; got {array.shape}.")
        if np.isnan(array).any():
            row = int(np.argmax(np.isnan(array)))
            raise InputError(f"{name} must not be missing; got NaN at row {row}. Drop such rows.")
        found.append(array)
    return found[0], found[1]
