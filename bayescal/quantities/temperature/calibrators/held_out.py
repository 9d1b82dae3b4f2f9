"""A scikit-learn classifier, calibrated on rows that it was not trained on, and trained on all."""

from __future__ import annotations

from typing import Any, Final, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import clone
from sklearn.model_selection import StratifiedKFold
from sklearn.utils import _safe_indexing
from sklearn.utils.validation import check_is_fitted, has_fit_parameter

from bayescal.core.checks import check_whole, shown
from bayescal.core.classifiers import Calibrated, check_class_rows
from bayescal.core.errors import InputError
from bayescal.core.quantity import Floats
from bayescal.quantities.temperature.calibrators.base import LogitCalibrator, held_weights
from bayescal.quantities.temperature.calibrators.class_wise import ClassWiseTemperatureScaling
from bayescal.quantities.temperature.logits import log_probabilities

# Chosen on other seeds than those of docs/benchmarks.md, by benchmarks/temperature_default.py.
_GAMMA: Final = 0.1


class HeldOutCalibration(Calibrated):
    """Classifier that is calibrated on rows held out of its training, fold by fold.

    Parameters
    ----------
    estimator : classifier with predict_proba, optional
        What to calibrate; logistic regression if not given.
    calibrator : LogitCalibrator, optional
        Of the logarithms of its probabilities; class-wise temperature scaling with ``gamma=0.1``
        if not given.
    n_folds : int, at least 2, default 5
        Parts that are held out in turn; at most as many as the rarest class has rows.
    random_state : int or RandomState, optional
        Source of the folds.

    Attributes
    ----------
    estimator_ : classifier
        Trained on all rows.
    calibrator_ : LogitCalibrator
        Fitted to the probabilities that each row got from a classifier trained on the other folds.
    classes_ : ndarray of shape (class,)
        The labels.
    n_features_in_ : int
        Number of features, where the classifier has it.

    Notes
    -----
    Every row serves both to train and to calibrate. A single part held out leaves fewer for
    either, and where its predictions are all right, temperature scaling has no finite optimum. The
    classifiers of the folds see fewer rows than the last, and are a little less sure than it.

    A classifier trained already needs no such wrapper: pass its logits to the calibrator.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from bayescal.quantities.temperature.calibrators.held_out import HeldOutCalibration
    >>> x, y = load_iris(return_X_y=True)
    >>> HeldOutCalibration(random_state=0).fit(x, y).predict_proba(x[:2]).shape
    (2, 3)
    """

    def __init__(
        self,
        estimator: Any = None,
        calibrator: LogitCalibrator | None = None,
        n_folds: int = 5,
        random_state: Any = None,
    ) -> None:
        self.estimator = estimator
        self.calibrator = calibrator
        self.n_folds = n_folds
        self.random_state = random_state

    def fit(self, X: ArrayLike, y: ArrayLike, sample_weight: ArrayLike | None = None) -> Self:
        """Train the classifier, and calibrate it on rows held out in turn.

        Parameters
        ----------
        X : array-like of shape (obs, feature)
            Features.
        y : array-like of shape (obs,)
            Labels.
        sample_weight : array-like of shape (obs,), optional
            Weights, for the classifier and for the calibrator; rows of weight 0 are left out.

        Returns
        -------
        HeldOutCalibration
            Itself.

        Raises
        ------
        InputError
            If there are fewer than two classes, one has fewer than two rows, or a parameter is
            out of range.
        """
        check_whole(self.n_folds, "n_folds", least=2)
        if self.calibrator is not None and not hasattr(self.calibrator, "fit"):
            raise InputError(
                f"calibrator must be a calibrator of logits; got {shown(self.calibrator)}. Pass "
                "TemperatureScaling(), say."
            )
        rows, labels = self.checked_rows(X, y)
        weight = None
        if sample_weight is not None:
            self._check_takes_weights()
            weight, held = held_weights(sample_weight, len(labels))
            rows, labels = _safe_indexing(rows, np.flatnonzero(held)), labels[held]
        check_class_rows(labels, 2, "Pass more rows.")
        self.classes_, code = np.unique(labels, return_inverse=True)
        held_out = self._held_out_logits(rows, labels, weight)
        default = ClassWiseTemperatureScaling(gamma=_GAMMA)
        self.calibrator_ = clone(default if self.calibrator is None else self.calibrator)
        self.calibrator_.fit(held_out, code, weight)
        self.estimator_ = self._trained(rows, labels, weight, np.arange(len(labels)))
        self.take_features_of(self.estimator_)
        return self

    def _held_out_logits(self, rows: Any, labels: NDArray[Any], weight: Floats | None) -> Floats:
        """Logits of each row by a classifier that was not trained on it, (obs, class)."""
        most = int(np.unique(labels, return_counts=True)[1].min())
        folds = StratifiedKFold(
            min(self.n_folds, most), shuffle=True, random_state=self.random_state
        )
        found = np.empty((len(labels), len(self.classes_)))
        for train, held in folds.split(np.zeros(len(labels)), labels):
            trained = self._trained(rows, labels, weight, train)
            found[held] = _logits(trained, _safe_indexing(rows, held))
        return found

    def _trained(
        self, rows: Any, labels: NDArray[Any], weight: Floats | None, some: NDArray[np.intp]
    ) -> Any:
        """The classifier, trained on some rows."""
        given = {} if weight is None else {"sample_weight": weight[some]}
        estimator = clone(self.chosen_estimator())
        return estimator.fit(_safe_indexing(rows, some), labels[some], **given)

    def predict_proba(self, X: ArrayLike) -> Floats:
        """Compute calibrated probabilities.

        Parameters
        ----------
        X : array-like of shape (obs, feature)
            Features.

        Returns
        -------
        ndarray of shape (obs, class), in [0, 1]
            Probabilities; rows sum to 1.
        """
        check_is_fitted(self)
        return np.asarray(self.calibrator_.predict_proba(_logits(self.estimator_, X)))

    def _check_takes_weights(self) -> None:
        estimator = self.chosen_estimator()
        if not has_fit_parameter(estimator, "sample_weight"):
            raise InputError(
                f"the fit of {type(estimator).__name__} takes no sample_weight. Calibrate another "
                "classifier, or leave the weights out."
            )


def _logits(estimator: Any, x: Any) -> Floats:
    return log_probabilities(np.asarray(estimator.predict_proba(x), np.float64))
