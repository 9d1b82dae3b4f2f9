"""A scikit-learn classifier, trained and then calibrated on rows held out."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import clone
from sklearn.utils import _safe_indexing
from sklearn.utils.validation import check_is_fitted, has_fit_parameter

from bayescal.core.checks import check_same_length
from bayescal.core.classifiers import HeldOut
from bayescal.core.errors import InputError
from bayescal.core.intake import Column, weights
from bayescal.core.quantity import Floats
from bayescal.quantities.temperature.calibrators.base import LogitCalibrator
from bayescal.quantities.temperature.calibrators.class_wise import ClassWiseTemperatureScaling
from bayescal.quantities.temperature.logits import log_probabilities


class HeldOutCalibration(HeldOut):
    """Classifier that holds rows out of its training and fits a calibrator of logits to them.

    Parameters
    ----------
    estimator : classifier with predict_proba, optional
        What to calibrate; logistic regression if not given.
    calibrator : LogitCalibrator, optional
        Of the logarithms of its probabilities; class-wise temperature scaling if not given.
    calibration_size : float, in (0, 1), default 0.25
        Share of the rows held out.
    random_state : int or RandomState, optional
        Source of the split.

    Attributes
    ----------
    estimator_ : classifier
        Trained without the held-out rows.
    calibrator_ : LogitCalibrator
        Fitted to them.
    classes_ : ndarray of shape (class,)
        The labels.
    n_features_in_ : int
        Number of features, where the classifier has it.

    Notes
    -----
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
        calibration_size: float = 0.25,
        random_state: Any = None,
    ) -> None:
        self.estimator = estimator
        self.calibrator = calibrator
        self.calibration_size = calibration_size
        self.random_state = random_state

    def fit(self, X: ArrayLike, y: ArrayLike, sample_weight: ArrayLike | None = None) -> Self:
        """Train the classifier, and calibrate it on rows held out.

        Parameters
        ----------
        X : array-like of shape (obs, feature)
            Features.
        y : array-like of shape (obs,)
            Labels.
        sample_weight : array-like of shape (obs,), optional
            Weights, for the classifier and for the calibrator.

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
        rows, labels = self.checked_rows(X, y)
        weight = self._weights(sample_weight, len(labels))
        train, held_out = self.split(labels)
        self.classes_, code = np.unique(labels, return_inverse=True)
        self.estimator_ = clone(self.chosen_estimator())
        given = {} if weight is None else {"sample_weight": weight[train]}
        self.estimator_.fit(_safe_indexing(rows, train), labels[train], **given)
        self.calibrator_ = clone(
            ClassWiseTemperatureScaling() if self.calibrator is None else self.calibrator
        )
        self.calibrator_.fit(
            self._logits(_safe_indexing(rows, held_out)),
            code[held_out],
            None if weight is None else weight[held_out],
        )
        self.take_features_of(self.estimator_)
        return self

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
        return np.asarray(self.calibrator_.predict_proba(self._logits(X)))

    def _weights(self, sample_weight: ArrayLike | None, n: int) -> Floats | None:
        """Check weights, and that the classifier takes them."""
        if sample_weight is None:
            return None
        estimator = self.chosen_estimator()
        if not has_fit_parameter(estimator, "sample_weight"):
            raise InputError(
                f"the fit of {type(estimator).__name__} takes no sample_weight. Calibrate another "
                "classifier, or leave the weights out."
            )
        found = weights(Column("sample_weight", sample_weight))
        check_same_length(len(found), "sample_weight", n, "X")
        return found

    def _logits(self, x: Any) -> Floats:
        return log_probabilities(np.asarray(self.estimator_.predict_proba(x), np.float64))
