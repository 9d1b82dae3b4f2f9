"""Venn-Abers calibration of a scikit-learn classifier."""

from __future__ import annotations

from typing import Any, Final

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.frozen import FrozenEstimator
from sklearn.model_selection import StratifiedKFold, StratifiedShuffleSplit
from sklearn.utils import _safe_indexing
from sklearn.utils.validation import check_is_fitted

from bayescal.core.checks import check_number, check_whole
from bayescal.core.classifiers import Calibrated, Rows, check_class_rows
from bayescal.core.columns import MISSING
from bayescal.core.intake import Parts, round_scores
from bayescal.core.probability_intervals import Interval, of_both_classes
from bayescal.core.quantity import Draws, Floats
from bayescal.core.scores import Scores, from_parts
from bayescal.quantities.credal.data import CalibrationSplit
from bayescal.quantities.credal.estimator import predictors
from bayescal.quantities.credal.models import LabelModel
from bayescal.quantities.credal.priors import IncrementIsotonic
from bayescal.quantities.credal.row_lookup import Lookup
from bayescal.quantities.credal.venn_abers import Pair, merge_folds
from bayescal.results.intervals import tail

_STEPS: Final = IncrementIsotonic()
_DRAWS: Final = 2000


def _direct_draws(model: LabelModel) -> Draws:
    """Draws that every call repeats, so that equal rows have equal bounds."""
    return model.direct_draws(_DRAWS, np.random.default_rng(_DRAWS)).draws


def _of_every_class(low: Floats, high: Floats) -> Interval:
    """Bounds of all classes, (obs, class), from one column where there are two."""
    return Interval(low, high) if low.shape[1] > 1 else of_both_classes(low[:, 0], high[:, 0])


class VennAbersCalibrator(Calibrated):
    """Classifier whose probabilities are calibrated by Venn-Abers predictors.

    Parameters
    ----------
    estimator : classifier with predict_proba, optional
        What to calibrate; logistic regression if not given. A classifier trained already, wrapped
        in ``sklearn.frozen.FrozenEstimator``, is calibrated on all rows given to `fit`.
    cv : int, at least 2, optional
        Folds of a cross Venn-Abers predictor. Without, an inductive one: rows held out once.
    calibration_size : float, in (0, 1), default 0.25
        Share of the rows held out, where there are no folds.
    random_state : int or RandomState, optional
        Source of the split.

    Attributes
    ----------
    classes_ : ndarray of shape (class,)
        The labels.
    estimators_ : list of classifiers
        The classifier trained without the held-out rows, of each fold.
    calibrators_ : list of tuple of InductiveVennAbers
        Of each fold: of two classes one predictor, of the second class; of several one a class.
    calibration_scores_ : list of Scores
        The rows held out of each fold.
    n_features_in_ : int
        Number of features, where the classifier has it.

    Notes
    -----
    Several classes are calibrated one against the rest. `predict_proba` gives the merged
    probabilities, ``p1 / (1 - p0 + p1)`` with one fold, of several classes divided by their sum.
    `predict_interval` gives bounds of the
    posterior. `predict_venn_abers` gives p0 to p1, no intervals that cover P(class | score) with
    some probability (see `bayescal.quantities.credal.estimator`).

    The scale of weights does not matter, as they are no counts of repeats: a held-out row of weight
    w counts as about ``w * w.sum() / (w**2).sum()`` rows, with sums over near scores, as in
    `bayescal.credal`. The row to predict counts as one. The theorem is of equal weights.

    Examples
    --------
    >>> from sklearn.datasets import make_classification
    >>> from bayescal.quantities.credal.calibrator import VennAbersCalibrator
    >>> x, y = make_classification(random_state=0)
    >>> fitted = VennAbersCalibrator(cv=5, random_state=0).fit(x, y)
    >>> lower, upper = fitted.predict_interval(x, prob=0.9)
    >>> bool((lower <= upper).all()), fitted.predict_proba(x[:2]).shape
    (True, (2, 2))
    """

    def __init__(
        self,
        estimator: Any = None,
        cv: int | None = None,
        calibration_size: float = 0.25,
        random_state: Any = None,
    ) -> None:
        self.estimator = estimator
        self.cv = cv
        self.calibration_size = calibration_size
        self.random_state = random_state

    def _fit(self, rows: Any, labels: NDArray[Any], weight: Floats | None) -> None:
        """Train the classifier of each fold, and calibrate it on the rows held out."""
        check_number(self.calibration_size, "calibration_size", "(0, 1)", "Pass 0.25, say.")
        if self.cv is not None:
            check_whole(self.cv, "cv", 2, "Leave it out to hold rows out once.")
        self.classes_ = self._classes_of(labels)
        frozen = isinstance(self.chosen_estimator(), FrozenEstimator)
        splits = [(np.arange(0), np.arange(len(labels)))] if frozen else self._splits(labels)
        self.estimators_, self.calibrators_, self.calibration_scores_ = [], [], []
        for train, held_out in splits:
            fitted = self._trained(rows, labels, weight, train)
            score = fitted.predict_proba(_safe_indexing(rows, held_out))
            codes = (labels[held_out][:, None] == self.classes_).argmax(axis=1)
            calibration = self._scores(score, codes, None if weight is None else weight[held_out])
            self.estimators_.append(fitted)
            self.calibration_scores_.append(calibration)
            self.calibrators_.append(predictors(calibration))
        self.take_features_of(self.estimators_[0])

    def _probabilities(self, x: ArrayLike) -> Floats:
        """Merged probabilities, (obs, class)."""
        each = merge_folds(*self._pairs(x))
        if each.shape[1] == 1:
            return np.hstack([1 - each, each])
        return each / each.sum(axis=1, keepdims=True)

    def predict_interval(self, X: ArrayLike, prob: float = 0.9) -> Interval:
        """Compute credal-credible bounds of the probability of each class.

        Parameters
        ----------
        X : array-like of shape (obs, feature)
            Features.
        prob : float, in (0, 1), default 0.9
            Credible probability of the bounds of each class.

        Returns
        -------
        Interval
            Lower and upper ends, (obs, class) each; with folds the least and the largest.

        Notes
        -----
        The prior is `IncrementIsotonic`, whose posterior needs no MCMC: the probability of a class
        rises in steps with its score. Bounds are of P(class | score of the held-out rows'
        classifier). The draws' seed is fixed, so that equal rows have equal bounds.
        """
        check_is_fitted(self)
        alpha = tail(prob)
        folds = zip(self.estimators_, self.calibration_scores_, strict=True)
        lower, upper = zip(*(self._bounds(*fold, X, alpha) for fold in folds), strict=True)
        return Interval(np.min(lower, axis=0), np.max(upper, axis=0))

    def predict_venn_abers(self, X: ArrayLike) -> Interval:
        """Compute the interval between p0 and p1 of each class, which is no coverage interval.

        Parameters
        ----------
        X : array-like of shape (obs, feature)
            Features.

        Returns
        -------
        Interval
            Lower and upper ends, each of shape (obs, class); with folds the least p0 and the
            largest p1. For two classes the probability of `predict_proba` lies between them.
        """
        pairs = self._pairs(X)
        return _of_every_class(pairs.p0.min(axis=0), pairs.p1.max(axis=0))

    def _splits(self, labels: NDArray[Any]) -> list[tuple[Rows, Rows]]:
        """Cut rows into those to train on and those held out, of each fold."""
        remedy = "Pass more rows, fewer folds, or a trained classifier in FrozenEstimator."
        n_classes = check_class_rows(labels, self.cv or 2, remedy)
        if self.cv is None:
            # Each class is on both sides.
            size = max(int(np.ceil(self.calibration_size * len(labels))), n_classes)
            size = min(size, len(labels) - n_classes)
            cut = StratifiedShuffleSplit(1, test_size=size, random_state=self.random_state)
        else:
            cut = StratifiedKFold(self.cv, shuffle=True, random_state=self.random_state)
        return list(cut.split(np.zeros(len(labels)), labels))

    def _scores(
        self, score: Floats, codes: NDArray[np.integer], weight: Floats | None = None
    ) -> Scores:
        """Probabilities and places of the labels among the classes, as scores."""
        y_prob = round_scores(score[:, 1] if len(self.classes_) == 2 else score)
        classes = tuple(map(str, self.classes_))
        parts = Parts(y_prob[None], codes.astype(np.int32), ("classifier",), classes)
        return from_parts(parts._replace(sample_weight=weight))

    def _bounds(self, fitted: Any, calibration: Scores, x: ArrayLike, alpha: float) -> Interval:
        """Bounds under the classifier of one fold."""
        score = fitted.predict_proba(x)
        target = self._scores(score, np.full(len(score), MISSING))
        split = CalibrationSplit(calibration=calibration, target=target)
        found = Lookup.of(split, _STEPS, _direct_draws, alpha).all_bounds()
        shape = len(score), -1
        return _of_every_class(found.lower.reshape(shape), found.upper.reshape(shape))

    def _pairs(self, x: ArrayLike) -> Pair:
        """Look up p0 and p1, of shape (fold, obs, column)."""
        check_is_fitted(self)
        found = []
        for fitted, calibrators in zip(self.estimators_, self.calibrators_, strict=True):
            score = fitted.predict_proba(x)[:, -len(calibrators) :]
            found.append([one.predict(score[:, k]) for k, one in enumerate(calibrators)])
        p0, p1 = np.moveaxis(np.array(found), (2, 1), (0, -1))
        return Pair(p0, p1)
