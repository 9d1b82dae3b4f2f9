"""Risk of a classifier from positive and unlabelled rows, and a small one that minimises it.

A decision value f is above 0 where the classifier says positive; for the logistic loss the risk is
least where f is the logit of the probability of a positive.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, Final, NamedTuple, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import expit
from sklearn.utils.multiclass import check_classification_targets, type_of_target
from sklearn.utils.validation import check_is_fitted, check_random_state, validate_data

from bayescal.core import classifiers
from bayescal.core.checks import check_call, check_choice, check_flag, check_number
from bayescal.core.classifiers import Layers, MostProbable, Trained
from bayescal.core.columns import to_doubles
from bayescal.core.errors import InputError
from bayescal.core.intake import check_same_order
from bayescal.core.quantity import Floats
from bayescal.quantities.pu_ece.estimator import check_class_prior


class Loss(NamedTuple):
    """A loss of the margin ``y f``, and its slope."""

    value: Callable[[Floats], Floats]
    slope: Callable[[Floats], Floats]


LOSSES: Final[dict[str, Loss]] = {
    "logistic": Loss(lambda margin: np.logaddexp(0, -margin), lambda margin: -expit(-margin)),
    "sigmoid": Loss(lambda margin: expit(-margin), lambda margin: -expit(margin) * expit(-margin)),
}
"""``ln(1 + exp(-margin))`` and ``1 / (1 + exp(margin))``."""

type Correction = str | Callable[[float], float]
CORRECTIONS: Final[dict[str, Callable[[float], float]]] = {
    "max": lambda negative: max(0.0, negative),
    "abs": abs,
}
"""What takes the place of the negatives' part of the risk: consistent-correction functions."""


class Part(NamedTuple):
    """A part of the risk, and its slopes in the decision values of positives and unlabelled."""

    value: float
    slopes: tuple[Floats, Floats]

    def times(self, factor: float) -> Part:
        """Weigh it."""
        return Part(factor * self.value, (factor * self.slopes[0], factor * self.slopes[1]))


class RiskParts(NamedTuple):
    """What positives and what negatives contribute to the risk."""

    positive: Part
    negative: Part

    def slopes(self, weight: float) -> tuple[Floats, Floats]:
        """Slopes of ``positive + weight * negative``."""
        of_positive, of_unlabeled = (
            one + weight * other
            for one, other in zip(self.positive.slopes, self.negative.slopes, strict=True)
        )
        return of_positive, of_unlabeled


def risk_parts(
    positive: Floats, unlabeled: Floats, class_prior: float, loss: str, target_prior: float
) -> RiskParts:
    """Compute both parts of the risk, weighed as if `target_prior` were the share of positives."""
    value, slope = LOSSES[loss]
    share, each = class_prior / len(positive), 1 / len(unlabeled)
    of_positive = Part(
        share * float(value(positive).sum()), (share * slope(positive), np.zeros_like(unlabeled))
    )
    of_negative = Part(
        each * float(value(-unlabeled).sum()) - share * float(value(-positive).sum()),
        (share * slope(-positive), -each * slope(-unlabeled)),
    )
    return RiskParts(
        of_positive.times(target_prior / class_prior),
        of_negative.times((1 - target_prior) / (1 - class_prior)),
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

    Notes
    -----
    As ``P_U = pi P_+ + (1 - pi) P_-``, the loss of negatives is what is left of that of unlabelled
    rows taken for negatives: ``(1 - pi) R_N- = R_U- - pi R_P-``. With the logistic loss,
    ``loss(f) - loss(-f) = -f`` makes the risk of a linear classifier convex. Section 5.1 of [2]_
    prints the logistic loss as ``log(sigmoid(margin))``, without its minus sign.

    References
    ----------
    .. [1] M. C. du Plessis et al., ICML 2015. https://proceedings.mlr.press/v37/plessis15.html
    .. [2] The PU-ECE paper, section 2.3, Eq. (2). https://openreview.net/forum?id=SvoBtLIrPZ

    Examples
    --------
    >>> from bayescal.quantities.pu_ece.classifier import nnpu_risk, upu_risk
    >>> round(upu_risk([4.0, 5.0], [-4.0, -3.0], class_prior=0.5), 3)
    -2.217
    >>> round(nnpu_risk([4.0, 5.0], [-4.0, -3.0], class_prior=0.5), 3)
    0.006
    """
    parts = _checked_parts(positive, unlabeled, class_prior, loss, class_prior)
    return _number(parts.positive.value + parts.negative.value)


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
        If a number is out of range, the loss or correction unknown, or a correction below 0.

    References
    ----------
    .. [1] R. Kiryo et al., NeurIPS 2017, Eq. (6). https://arxiv.org/abs/1703.00593
    .. [2] N. Lu et al., "Mitigating Overfitting in Supervised Classification from Two Unlabeled
       Datasets: A Consistent Risk Correction Approach", AISTATS 2020, PMLR 108, pages 1115-1125.
    .. [3] The PU-ECE paper, section 2.3. https://openreview.net/forum?id=SvoBtLIrPZ

    Examples
    --------
    >>> from bayescal.quantities.pu_ece.classifier import nnpu_risk
    >>> nnpu_risk([0.0], [0.0], class_prior=0.4, loss="sigmoid")
    0.5
    >>> round(nnpu_risk([4.0, 5.0], [-4.0, -3.0], class_prior=0.5, correction="abs"), 3)
    2.229
    """
    parts = _checked_parts(positive, unlabeled, class_prior, loss, class_prior)
    return _number(parts.positive.value + corrected(parts.negative.value, correction))


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
        If a number is out of range, the loss or correction unknown, or a correction below 0.

    Notes
    -----
    With the logistic loss the logits that minimise it are those of a population with the share pi'
    of positives: before they are taken for probabilities of this one,
    ``logit(pi') - logit(pi)`` has to be taken off.

    References
    ----------
    .. [1] G. Su et al., "Positive-Unlabeled Learning from Imbalanced Data", IJCAI 2021, p. 2995.
    .. [2] The PU-ECE paper, section 5.1. https://openreview.net/forum?id=SvoBtLIrPZ

    Examples
    --------
    >>> from bayescal.quantities.pu_ece.classifier import imbalanced_nnpu_risk
    >>> round(imbalanced_nnpu_risk([0.0], [0.0], class_prior=0.1, loss="sigmoid"), 12)
    0.5
    """
    check_target_prior(target_prior)
    parts = _checked_parts(positive, unlabeled, class_prior, loss, target_prior)
    return _number(parts.positive.value + corrected(parts.negative.value, correction))


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


def _checked_parts(
    positive: ArrayLike, unlabeled: ArrayLike, class_prior: float, loss: str, target_prior: float
) -> RiskParts:
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
    return risk_parts(found[0], found[1], class_prior, loss, target_prior)


# The risk is minimised to this, far below what it is known to from any number of rows.
_GAP: Final = 1e-4
_HALVINGS: Final = 14
# Differences over it stand for slopes of a correction.
_STEP: Final = 1e-6


class _Found(NamedTuple):
    weights: Layers
    risk: float
    negative: float
    total: float
    unfinished: bool
    n_iter: int = 0


class PUClassifier(MostProbable):
    """Linear classifier, or one hidden layer, that minimises the risk of positive-unlabelled data.

    Parameters
    ----------
    class_prior : float, in (0, 1), default 0.5
        Share of positives among the unlabelled rows.
    hidden : int, default 0
        Units of the hidden layer (tanh); 0 for a linear classifier.
    loss : {"logistic", "sigmoid"}, default "logistic"
        With the logistic loss `predict_proba` estimates probabilities; with the sigmoid loss only
        its side of 0.5 means something.
    non_negative : bool, default True
        Whether what negatives contribute to the risk is kept from falling below 0: nnPU, not uPU.
    alpha : float, at least 0, default 0.001
        Weight of half the sum of the squared weights, intercepts left out.
    max_iter : int, default 500
        Iterations of L-BFGS at most, for each w (see Notes).
    random_state : int or RandomState, optional
        Source of the hidden layer's first weights.
    target_prior : float, in (0, 1), optional
        Share of positives that the risk is weighted to, 0.5 for imbalanced nnPU; `class_prior` if
        not given. Probabilities are then those of a population with this share.
    correction : {"max", "abs"} or callable, default "max"
        The consistent-correction function c of nnPU (l_cc in [3]_), as of
        `bayescal.pu_ece.nnpu_risk`; not used by uPU.

    Attributes
    ----------
    classes_ : ndarray of shape (2,)
        What `fit` found for unlabelled and for positive rows: 0 and 1.
    weights_ : list of ndarray
        Weights and intercepts, layer by layer.
    risk_ : float
        Risk reached on the training rows, without the penalty.
    n_iter_ : int
        Iterations of L-BFGS, over all w.
    n_features_in_ : int
        Number of features.

    Notes
    -----
    The rows are a sample of positives and a separate sample of the population, in one table. With
    ``A = pi R_P+`` and ``N = R_U- - pi R_P-``, uPU is ``A + N`` and nnPU ``A + c(N)``, with
    ``c(N) = max(0, N)`` by default. For a linear classifier and the logistic loss both are then
    convex, nnPU as the larger of A and ``A + N``.
    With another `target_prior` pi', A is weighed by ``pi' / pi`` and N by ``(1 - pi') / (1 - pi)``
    [2]_, and both stay convex where pi' is not below pi.

    The least nnPU often lies on the kink ``N = 0``, where L-BFGS may stop short of it. So L-BFGS
    minimises the smooth ``A + w N`` instead, with w halved in on where N changes sign. As
    ``max(0, N)`` is the largest ``w N`` for w between 0 and 1, each of these least values is below
    the least nnPU, and the best w has found it to 1e-4. For another c the w go down to its slope
    below 0, and from the best of them L-BFGS goes on on ``A + c(N)`` itself: with w below 0 nothing
    is convex any more.
    With a hidden layer nothing is convex, and this is a way to go down.

    Features should be of like scale: put a ``StandardScaler`` before it.

    References
    ----------
    .. [1] R. Kiryo et al., NeurIPS 2017, Eqs. (3), (6). https://arxiv.org/abs/1703.00593
    .. [2] G. Su et al., "Positive-Unlabeled Learning from Imbalanced Data", IJCAI 2021, p. 2995.
    .. [3] The PU-ECE paper, section 2.3. https://openreview.net/forum?id=SvoBtLIrPZ

    Examples
    --------
    >>> import numpy as np
    >>> from bayescal.quantities.pu_ece.classifier import PUClassifier
    >>> rng = np.random.default_rng(1)
    >>> x = np.concatenate([rng.normal(1, 1, 500), rng.normal(np.repeat([1, -1], 500), 1)])
    >>> s = np.repeat([1, 0], [500, 1000])
    >>> fitted = PUClassifier(class_prior=0.5).fit(x[:, None], s)
    >>> fitted.predict([[2.0], [-2.0]]).tolist()
    [1, 0]
    """

    def __init__(
        self,
        class_prior: float = 0.5,
        hidden: int = 0,
        loss: str = "logistic",
        non_negative: bool = True,
        alpha: float = 0.001,
        max_iter: int = 500,
        random_state: Any = None,
        target_prior: float | None = None,
        correction: Correction = "max",
    ) -> None:
        self.class_prior = class_prior
        self.hidden = hidden
        self.loss = loss
        self.non_negative = non_negative
        self.alpha = alpha
        self.max_iter = max_iter
        self.random_state = random_state
        self.target_prior = target_prior
        self.correction = correction

    def __sklearn_tags__(self) -> Any:
        """Say that there are two classes, and that the labels of training rows are not the aim."""
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_class = False
        # Of the unlabelled rows some are positive: to call all of them negative would be wrong.
        tags.classifier_tags.poor_score = True
        return tags

    def fit(self, X: ArrayLike, y: ArrayLike) -> Self:
        """Train on positives and unlabelled rows.

        Parameters
        ----------
        X : array-like of shape (obs, feature)
            Features.
        y : array-like of shape (obs,)
            1 for a positive, 0 for an unlabelled row; of two other values the last is positive.

        Returns
        -------
        PUClassifier
            Itself.

        Raises
        ------
        InputError
            If `y` does not hold two values, or a parameter is out of range.
        """
        self._check_parameters()
        check_same_order(X=X, y=y)
        x, s = validate_data(self, X, y, dtype=np.float64)
        self.classes_, known = self._classes(s)
        rng = check_random_state(self.random_state) if self.hidden else None
        start = classifiers.first_weights(x.shape[1], self.hidden, (), rng)
        found = self._minimise(start, x[known == 1], x[known == 0])
        if found.unfinished:
            classifiers.warn_unfinished("the PU risk", self.max_iter)
        self.weights_ = found.weights
        self.risk_ = found.risk
        self.n_iter_ = found.n_iter
        return self

    def decision_function(self, X: ArrayLike) -> Floats:
        """Compute decision values; for the logistic loss, logits of being positive.

        Parameters
        ----------
        X : array-like of shape (obs, feature)
            Features.

        Returns
        -------
        ndarray of shape (obs,)
            Above 0 where a row is rather positive.
        """
        check_is_fitted(self)
        return classifiers.forward(
            self.weights_, validate_data(self, X, reset=False, dtype=np.float64)
        )

    def _probabilities(self, x: ArrayLike) -> Floats:
        """Of being negative and of being positive, (obs, 2)."""
        logit = self.decision_function(x)
        return np.column_stack([expit(-logit), expit(logit)])

    def _check_parameters(self) -> None:
        check_class_prior(self.class_prior)
        check_flag(self.non_negative, "non_negative")
        if self.target_prior is not None:
            check_target_prior(self.target_prior)
        check_choice(self.loss, tuple(LOSSES), "loss")
        corrected(-1.0, self.correction)
        classifiers.check_settings(self.hidden, 0, self.alpha, self.max_iter)

    def _classes(self, s: NDArray[Any]) -> tuple[NDArray[Any], NDArray[np.int64]]:
        check_classification_targets(s)
        kind = type_of_target(s, input_name="y")
        classes, known = np.unique(s, return_inverse=True)
        if kind != "binary":
            # The first words are those that scikit-learn's own checks look for.
            raise InputError(
                f"Only binary classification is supported: the type of the target is {kind}. "
                "y must hold 1 for positives and 0 for unlabelled rows."
            )
        if len(classes) != 2:
            raise InputError(
                "y must hold two classes, 1 for positives and 0 for unlabelled rows; "
                f"got 1 class, {classes.tolist()}."
            )
        return classes, known

    def _minimise(self, start: Layers, positive: Floats, unlabeled: Floats) -> _Found:
        """Minimise the penalised risk."""
        # From the slope of the correction just below 0 on.
        low = (self._counted(0.0) - self._counted(-_STEP)) / _STEP
        high, weight, spent = 1.0, 1.0, 0
        rows = (positive, unlabeled)
        tried: list[_Found] = []
        least = -np.inf
        for _ in range(_HALVINGS):
            risk = partial(self._weighted_risk, weight)
            trained = classifiers.train(risk, rows, start, self.alpha, self.max_iter)
            spent += trained.n_iter
            tried.append(self._found(trained, rows))
            least = max(least, trained.objective)
            if min(each.total for each in tried) - least <= _GAP:
                break
            # From the side where N > 0 on: beyond the kink a flexible classifier has run away.
            if tried[-1].negative > 0:
                low, start = weight, trained.weights
            else:
                high = weight
            weight = (low + high) / 2
        best = min(tried, key=lambda found: found.total)
        if self.non_negative and self.correction != "max":
            trained = classifiers.train(self._risk, rows, best.weights, self.alpha, self.max_iter)
            spent += trained.n_iter
            best = min(best, self._found(trained, rows), key=lambda found: found.total)
        return best._replace(n_iter=spent)

    def _found(self, trained: Trained, rows: tuple[Floats, Floats]) -> _Found:
        """Look up what was reached on the rows."""
        parts = self._parts(*(classifiers.forward(trained.weights, x) for x in rows))
        negative = parts.negative.value
        risk = parts.positive.value + self._counted(negative)
        total = risk + classifiers.penalty(trained.weights, self.alpha)
        return _Found(trained.weights, risk, negative, total, trained.unfinished)

    def _counted(self, negative: float) -> float:
        """What the risk counts of the negatives' part."""
        return corrected(negative, self.correction) if self.non_negative else negative

    def _parts(self, at_positive: Floats, at_unlabeled: Floats) -> RiskParts:
        target = self.target_prior or self.class_prior
        return risk_parts(at_positive, at_unlabeled, self.class_prior, self.loss, target)

    def _weighted_risk(self, weight: float, *outputs: Floats) -> tuple[float, Sequence[Floats]]:
        """``A + weight N`` of both tables' decision values, with its slopes."""
        parts = self._parts(*outputs)
        return parts.positive.value + weight * parts.negative.value, parts.slopes(weight)

    def _risk(self, *outputs: Floats) -> tuple[float, Sequence[Floats]]:
        """``A + c(N)``, with its slopes."""
        parts = self._parts(*outputs)
        negative = parts.negative.value
        low, value, high = (self._counted(negative + step) for step in (-_STEP, 0.0, _STEP))
        return parts.positive.value + value, parts.slopes((high - low) / (2 * _STEP))
