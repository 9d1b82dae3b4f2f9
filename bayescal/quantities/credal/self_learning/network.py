"""A small network that learns from labels, from probabilities and from sets of probabilities."""

from __future__ import annotations

from functools import partial
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import log_softmax, xlogy
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import (
    _check_sample_weight,
    check_is_fitted,
    check_random_state,
    validate_data,
)

from bayescal.core.classifiers import (
    MostProbable,
    check_settings,
    first_weights,
    forward,
    penalty,
    train,
    warn_unfinished,
)
from bayescal.core.errors import InputError
from bayescal.core.quantity import Floats
from bayescal.quantities.credal.self_learning import LabelSets, check_label_sets, from_labels


class NetworkClassifier(MostProbable):
    """Softmax classifier with one hidden layer, trained on label sets.

    Parameters
    ----------
    hidden : int, at least 1, default 16
        Units of the hidden layer (tanh).
    alpha : float, at least 0, default 0.001
        Weight of half the sum of the squared weights, intercepts left out.
    max_iter : int, default 1000
        Iterations of L-BFGS at most.
    random_state : int or RandomState, optional
        Source of the first weights.

    Attributes
    ----------
    classes_ : ndarray of shape (class,)
        Labels, sorted, or those that `fit_credal` was given.
    weights_ : list of ndarray
        Weights and intercepts, layer by layer.
    loss_ : float
        Mean loss reached on the training rows, without the penalty.
    n_iter_ : int
        Iterations of L-BFGS.
    n_features_in_ : int
        Number of features.

    Notes
    -----
    The loss of a row with the set Q and the predicted probabilities p, (3) and (4) of the paper, is
    the optimistic ``min over q in Q of KL(q || p)`` [1]_. Its gradient is the one of KL(q || p)
    with q held at the projection of p on Q (Danskin's theorem), so that L-BFGS minimises the loss
    itself. Nothing is convex: other first weights may end elsewhere. Features should be of like
    scale: put a ``StandardScaler`` before it.

    References
    ----------
    .. [1] J. Lienen and E. Hüllermeier, "Credal Self-Supervised Learning", NeurIPS 2021, Eq. (2).
       https://arxiv.org/abs/2106.11853

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from bayescal.quantities.credal.self_learning.network import NetworkClassifier
    >>> x, y = load_iris(return_X_y=True)
    >>> fitted = NetworkClassifier(hidden=4, alpha=0.01, random_state=0).fit(x, y)
    >>> bool(fitted.score(x, y) > 0.95)
    True
    """

    def __init__(
        self, hidden: int = 16, alpha: float = 0.001, max_iter: int = 1000, random_state: Any = None
    ) -> None:
        self.hidden = hidden
        self.alpha = alpha
        self.max_iter = max_iter
        self.random_state = random_state

    def fit(self, X: ArrayLike, y: ArrayLike, sample_weight: ArrayLike | None = None) -> Self:
        """Train on labels.

        Parameters
        ----------
        X : array-like of shape (obs, feature)
            Features.
        y : array-like of shape (obs,)
            Labels, of at least two classes.
        sample_weight : array-like of shape (obs,), optional
            What each row counts; 1 when left out.

        Returns
        -------
        NetworkClassifier
            Itself.

        Raises
        ------
        InputError
            If `y` holds one class only, or a parameter is out of range.
        """
        x, labels = validate_data(self, X, y, dtype=np.float64)
        check_classification_targets(labels)
        classes = np.unique(labels)
        if len(classes) < 2:
            raise InputError(
                "y must hold at least two classes, as there is nothing to learn from one; "
                f"got 1 class, {classes.tolist()}."
            )
        return self._fit(x, from_labels(labels, classes), classes, sample_weight)

    def fit_credal(
        self,
        X: ArrayLike,
        lower: ArrayLike,
        upper: ArrayLike,
        classes: ArrayLike | None = None,
        sample_weight: ArrayLike | None = None,
    ) -> Self:
        """Train on sets of probabilities.

        Parameters
        ----------
        X : array-like of shape (obs, feature)
            Features.
        lower, upper : array-like of shape (obs, class), in [0, 1]
            Bounds of each row's probabilities. Equal bounds are probabilities, of 0 and 1 a label.
        classes : array-like of shape (class,), optional
            What the columns stand for; 0, 1, ... when left out.
        sample_weight : array-like of shape (obs,), optional
            What each row counts; 1 when left out.

        Returns
        -------
        NetworkClassifier
            Itself.

        Raises
        ------
        InputError
            If bounds cross, leave [0, 1] or hold no probabilities, or a parameter is out of range.
        """
        x = validate_data(self, X, dtype=np.float64)
        sets = check_label_sets(lower, upper, len(x))
        names = np.arange(sets.lower.shape[1]) if classes is None else np.asarray(classes)
        if names.shape != (sets.lower.shape[1],):
            raise InputError(
                f"classes must name each of the {sets.lower.shape[1]} columns of lower; "
                f"got shape {names.shape}."
            )
        return self._fit(x, sets, names, sample_weight)

    def predict_proba(self, X: ArrayLike) -> Floats:
        """Compute probabilities.

        Parameters
        ----------
        X : array-like of shape (obs, feature)
            Features.

        Returns
        -------
        ndarray of shape (obs, class), in [0, 1]
            Of each class, in the order of ``classes_``.
        """
        check_is_fitted(self)
        x = validate_data(self, X, reset=False, dtype=np.float64)
        return np.asarray(np.exp(log_softmax(forward(self.weights_, x), axis=1)))

    def _fit(
        self, x: Floats, sets: LabelSets, classes: NDArray[Any], sample_weight: ArrayLike | None
    ) -> Self:
        check_settings(self.hidden, 1, self.alpha, self.max_iter)
        if sample_weight is not None and not np.any(np.asarray(sample_weight)):
            # The first words are those that scikit-learn's own checks look for.
            raise InputError(
                "Sample weights must contain at least one non-zero number; got 0 in every row. "
                "Leave sample_weight out to count all rows alike."
            )
        weight = _check_sample_weight(sample_weight, x, dtype=np.float64, ensure_non_negative=True)
        share = weight / weight.sum()
        rng = check_random_state(self.random_state)
        start = first_weights(x.shape[1], self.hidden, (len(classes),), rng)
        found = train(partial(optimistic_loss, sets, share), [x], start, self.alpha, self.max_iter)
        if found.unfinished:
            warn_unfinished("the loss", self.max_iter, stacklevel=3)
        self.weights_ = found.weights
        self.loss_ = found.objective - penalty(found.weights, self.alpha)
        self.n_iter_ = found.n_iter
        self.classes_ = classes
        return self


def optimistic_loss(
    sets: LabelSets, share: Floats, output: Floats
) -> tuple[float, tuple[Floats, ...]]:
    """Mean of ``min over q in Q of KL(q || p)``, and its slopes in the logits (Danskin)."""
    log_p = log_softmax(output, axis=1)
    p = np.exp(log_p)
    q = sets.nearest(p)
    loss = share @ (xlogy(q, q) - q * log_p).sum(axis=1)
    return float(loss), (share[:, None] * (p - q),)
