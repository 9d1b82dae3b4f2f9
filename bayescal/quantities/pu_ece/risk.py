"""Risk of a classifier from positive and unlabelled rows: unbiased, and kept from falling below 0.

A decision value f is above 0 where the classifier says positive; for the logistic loss the risk is
least where f is the logit of the probability of a positive.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from bayescal.core.checks import check_choice
from bayescal.core.errors import InputError
from bayescal.quantities.pu_ece.estimator import check_class_prior

type Floats = NDArray[np.float64]


class Loss(NamedTuple):
    """A loss of the margin ``y f``, and its slope.

    Parameters
    ----------
    value, slope : callable
        Functions of an array of margins.
    """

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


class RiskParts(NamedTuple):
    """The two parts of the risk, and their slopes in the decision values.

    Parameters
    ----------
    positive, negative : float
        ``pi R_P+`` and ``R_U- - pi R_P-``: what positives and what negatives contribute. The
        second estimates something that is at least 0, but may itself lie below.
    positive_slopes, negative_slopes : tuple of ndarray
        Derivatives of each, in the decision values of positives and of unlabelled rows.
    """

    positive: float
    negative: float
    positive_slopes: tuple[Floats, Floats]
    negative_slopes: tuple[Floats, Floats]


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
    ``loss(f) - loss(-f) = -f`` makes the risk of a linear classifier convex.

    References
    ----------
    .. [1] M. C. du Plessis, G. Niu and M. Sugiyama, "Convex Formulation for Learning from Positive
       and Unlabeled Data", ICML 2015. https://proceedings.mlr.press/v37/plessis15.html
    .. [2] "Estimating Expected Calibration Error for Positive-Unlabeled Learning", Transactions on
       Machine Learning Research, 2025, section 2.3. https://openreview.net/forum?id=SvoBtLIrPZ

    Examples
    --------
    >>> from bayescal.quantities.pu_ece.risk import nnpu_risk, upu_risk
    >>> round(upu_risk([4.0, 5.0], [-4.0, -3.0], class_prior=0.5), 3)
    -2.217
    >>> round(nnpu_risk([4.0, 5.0], [-4.0, -3.0], class_prior=0.5), 3)
    0.006
    """
    parts = risk_parts(*_checked(positive, unlabeled, class_prior, loss), class_prior, loss)
    return parts.positive + parts.negative


def nnpu_risk(
    positive: ArrayLike, unlabeled: ArrayLike, *, class_prior: float, loss: str = "logistic"
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

    Returns
    -------
    float, at least 0
        ``pi R_P+ + max(0, R_U- - pi R_P-)``: biased upward, by little, and safe to minimise.

    Raises
    ------
    InputError
        If a number lies outside its range, or the loss is unknown.

    References
    ----------
    .. [1] R. Kiryo, G. Niu, M. C. du Plessis and M. Sugiyama, "Positive-Unlabeled Learning with
       Non-Negative Risk Estimator", NeurIPS 2017, Eq. (6). https://arxiv.org/abs/1703.00593
    .. [2] "Estimating Expected Calibration Error for Positive-Unlabeled Learning", Transactions on
       Machine Learning Research, 2025, section 2.3. https://openreview.net/forum?id=SvoBtLIrPZ

    Examples
    --------
    >>> from bayescal.quantities.pu_ece.risk import nnpu_risk
    >>> nnpu_risk([0.0], [0.0], class_prior=0.4, loss="sigmoid")
    0.5
    """
    parts = risk_parts(*_checked(positive, unlabeled, class_prior, loss), class_prior, loss)
    return parts.positive + max(0.0, parts.negative)


def _checked(
    positive: ArrayLike, unlabeled: ArrayLike, class_prior: float, loss: str
) -> tuple[Floats, Floats]:
    check_class_prior(class_prior)
    check_choice(loss, tuple(LOSSES), "loss")
    found = []
    for values, name in ((positive, "positive"), (unlabeled, "unlabeled")):
        array = np.asarray(values, np.float64)
        if array.ndim != 1 or not len(array):
            raise InputError(f"{name} must hold one decision value a row; got {array.shape}.")
        if np.isnan(array).any():
            row = int(np.argmax(np.isnan(array)))
            raise InputError(f"{name} must not be missing; got NaN at row {row}. Drop such rows.")
        found.append(array)
    return found[0], found[1]
