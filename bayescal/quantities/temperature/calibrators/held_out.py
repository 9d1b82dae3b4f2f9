"""A scikit-learn classifier, trained and then calibrated on rows held out."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, ClassifierMixin, MetaEstimatorMixin, clone
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import train_test_split
from sklearn.utils import get_tags, indexable
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import assert_all_finite, check_is_fitted, column_or_1d

from bayescal.core.errors import InputError
from bayescal.core.quantity import Floats
from bayescal.quantities.temperature.calibrators.base import LogitCalibrator
from bayescal.quantities.temperature.calibrators.class_wise import ClassWiseTemperatureScaling
from bayescal.quantities.temperature.logits import log_probabilities


# scikit-learn has no types.
class HeldOutCalibration(ClassifierMixin, MetaEstimatorMixin, BaseEstimator):  # type: ignore[misc]
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

    def __sklearn_tags__(self) -> Any:
        """Accept sparse features where the classifier does."""
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = get_tags(self._estimator()).input_tags.sparse
        return tags

    def fit(self, X: ArrayLike, y: ArrayLike) -> Self:  # noqa: N803  # scikit-learn's name
        """Train the classifier, and calibrate it on rows held out.

        Parameters
        ----------
        X : array-like of shape (obs, feature)
            Features.
        y : array-like of shape (obs,)
            Labels.

        Returns
        -------
        HeldOutCalibration
            Itself.

        Raises
        ------
        InputError
            If there are fewer than two classes, or one has fewer than two rows.
        """
        rows, labels = indexable(X, column_or_1d(y, warn=True))
        assert_all_finite(labels, input_name="y")
        check_classification_targets(labels)
        self.classes_, code, count = np.unique(labels, return_inverse=True, return_counts=True)
        if len(count) < 2 or count.min() < 2:
            raise InputError(
                f"y must hold two classes or more with at least 2 rows each; got {len(count)} "
                f"class(es), the rarest with {count.min()} rows. Pass more rows."
            )
        size = max(int(np.ceil(self.calibration_size * len(code))), len(count))
        cut = train_test_split(
            np.arange(len(code)), test_size=size, stratify=code, random_state=self.random_state
        )
        train, held_out = cut
        self.estimator_ = clone(self._estimator()).fit(_rows(rows, train), labels[train])
        self.calibrator_ = clone(
            ClassWiseTemperatureScaling() if self.calibrator is None else self.calibrator
        )
        self.calibrator_.fit(self._logits(_rows(rows, held_out)), code[held_out])
        for name in ("n_features_in_", "feature_names_in_"):
            if hasattr(self.estimator_, name):
                setattr(self, name, getattr(self.estimator_, name))
        return self

    def predict_proba(self, X: ArrayLike) -> Floats:  # noqa: N803
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

    def predict(self, X: ArrayLike) -> NDArray[Any]:  # noqa: N803
        """Predict the most probable class.

        Parameters
        ----------
        X : array-like of shape (obs, feature)
            Features.

        Returns
        -------
        ndarray of shape (obs,)
            Labels.
        """
        check_is_fitted(self)
        return np.asarray(self.classes_[self.calibrator_.predict(self._logits(X))])

    def _estimator(self) -> Any:
        return LogisticRegression() if self.estimator is None else self.estimator

    def _logits(self, x: Any) -> Floats:
        return log_probabilities(np.asarray(self.estimator_.predict_proba(x), np.float64))


def _rows(values: Any, places: NDArray[np.intp]) -> Any:
    from sklearn.utils import _safe_indexing

    return _safe_indexing(values, places)
