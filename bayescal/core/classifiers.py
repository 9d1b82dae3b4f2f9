"""What the scikit-learn classifiers of the package share."""

from __future__ import annotations

import warnings
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, ClassifierMixin, MetaEstimatorMixin, clone
from sklearn.exceptions import ConvergenceWarning
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import LogisticRegression
from sklearn.utils import _safe_indexing, get_tags, indexable
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import (
    assert_all_finite,
    check_is_fitted,
    column_or_1d,
    has_fit_parameter,
)

from bayescal.core.checks import check_same_length, check_some_weight, listing, shown
from bayescal.core.errors import InputError
from bayescal.core.intake import Column, weights

type Rows = NDArray[np.intp]
type Weights = NDArray[np.float64]


class MostProbable(ClassifierMixin, BaseEstimator):  # type: ignore[misc]  # no types there
    """Classifier that predicts the most probable class."""

    classes_: NDArray[Any]

    def predict(self, X: ArrayLike) -> NDArray[Any]:
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
        place = self.predict_proba(X).argmax(axis=1)
        return np.asarray(self.classes_[place])


class Calibrated(MetaEstimatorMixin, MostProbable):  # type: ignore[misc]  # no types there
    """Classifier that trains another one and calibrates it.

    A subclass has `estimator`, and `_fit`, which checks the other parameters.
    """

    def __sklearn_tags__(self) -> Any:
        """Accept sparse features where the classifier does."""
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = get_tags(self.chosen_estimator()).input_tags.sparse
        return tags

    def fit(self, X: ArrayLike, y: ArrayLike, sample_weight: ArrayLike | None = None) -> Self:
        """Train the classifier, and calibrate it on rows held out.

        Parameters
        ----------
        X : array-like of shape (obs, feature)
            Features.
        y : array-like of shape (obs,)
            Labels.
        sample_weight : array-like of shape (obs,), optional
            Weights, for the classifier and for its calibration; rows of weight 0 are left out.

        Returns
        -------
        Self
            The classifier itself.

        Raises
        ------
        InputError
            If a parameter is out of range, there are fewer than two classes, one has too few rows
            to hold some out, or the classifier takes no weights.
        """
        self._fit(*self._checked_rows(X, y, sample_weight))
        return self

    def chosen_estimator(self) -> Any:
        """What is calibrated, untrained unless the user trained it."""
        return LogisticRegression(max_iter=1000) if self.estimator is None else self.estimator

    def _checked_rows(
        self, x: ArrayLike, y: ArrayLike, sample_weight: ArrayLike | None
    ) -> tuple[Any, NDArray[Any], Weights | None]:
        """Check the classifier, features, labels and weights; leave out rows of weight 0."""
        estimator = self.chosen_estimator()
        if not hasattr(estimator, "fit"):
            raise InputError(
                f"estimator must be a classifier; got {shown(self.estimator)}. Pass "
                "LogisticRegression(), say."
            )
        rows, labels = indexable(x, column_or_1d(y, warn=True))
        assert_all_finite(labels, input_name="y")
        check_classification_targets(labels)
        if sample_weight is None:
            return rows, labels, None
        frozen = isinstance(estimator, FrozenEstimator)
        if not (frozen or has_fit_parameter(estimator, "sample_weight")):
            raise InputError(
                f"the fit of {type(estimator).__name__} takes no sample_weight. Calibrate another "
                "classifier, or leave the weights out."
            )
        weight, kept = positive_weights(sample_weight, len(labels))
        return _safe_indexing(rows, np.flatnonzero(kept)), labels[kept], weight

    def _trained(self, rows: Any, labels: NDArray[Any], weight: Weights | None, some: Rows) -> Any:
        """The classifier, trained on some rows."""
        given = {} if weight is None else {"sample_weight": weight[some]}
        estimator = clone(self.chosen_estimator())
        fitted = estimator.fit(_safe_indexing(rows, some), labels[some], **given)
        # Asked after training: some have it, or not, as what they are made of turns out.
        if not hasattr(fitted, "predict_proba"):
            raise InputError(
                f"estimator must have predict_proba; {type(fitted).__name__} has none. Wrap it in "
                "sklearn.calibration.CalibratedClassifierCV."
            )
        return fitted

    def _classes_of(self, labels: NDArray[Any]) -> NDArray[Any]:
        """Classes of the columns: all labels, or those that the classifier was trained on."""
        estimator = self.chosen_estimator()
        if not isinstance(estimator, FrozenEstimator):
            return np.unique(labels)
        check_is_fitted(estimator)
        classes = np.asarray(estimator.classes_)
        if strange := set(labels.tolist()).difference(classes.tolist()):
            first = shown(min(strange, key=str))
            raise InputError(
                "y must hold the labels that the classifier was trained on, "
                f"{listing(classes.tolist())}; got {first}. Name them as there."
            )
        return classes

    def take_features_of(self, fitted: Any) -> None:
        """Take number and names of the features that a trained classifier has."""
        for name in ("n_features_in_", "feature_names_in_"):
            if hasattr(fitted, name):
                setattr(self, name, getattr(fitted, name))


def positive_weights(sample_weight: ArrayLike, n: int) -> tuple[Weights, NDArray[np.bool_]]:
    """Weights above 0, and which of the rows have them."""
    found = weights(Column("sample_weight", sample_weight))
    check_same_length(len(found), "sample_weight", n, "X")
    kept = found > 0
    check_some_weight(int(kept.sum()), n, "sample_weight")
    return found[kept], kept


def check_class_rows(labels: NDArray[Any], least: int, remedy: str) -> int:
    """Check that there are two classes, and rows enough of each; their number."""
    count = np.unique(labels, return_counts=True)[1]
    if len(count) < 2 or count.min() < least:
        raise InputError(
            f"y must hold two classes or more with at least {least} rows each; got "
            f"{len(count)} class(es), the rarest with {count.min()} rows. {remedy}"
        )
    return len(count)


def warn_unfinished(what: str, max_iter: int, stacklevel: int) -> None:
    """Say that L-BFGS ran out of iterations; `stacklevel` is that of the caller's own warning."""
    warnings.warn(
        f"{what} was still falling after {max_iter} iterations. "
        "Scale the features, or raise max_iter.",
        ConvergenceWarning,
        stacklevel=stacklevel + 1,
    )
