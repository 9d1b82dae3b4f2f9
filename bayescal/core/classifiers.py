"""What the scikit-learn classifiers of the package share."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, ClassifierMixin, MetaEstimatorMixin
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import StratifiedShuffleSplit
from sklearn.utils import get_tags, indexable
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import assert_all_finite, column_or_1d

from bayescal.core.checks import check_number, shown
from bayescal.core.errors import InputError

type Rows = NDArray[np.intp]


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
    """Classifier that trains another one and calibrates it; a subclass has `estimator`."""

    def __sklearn_tags__(self) -> Any:
        """Accept sparse features where the classifier does."""
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = get_tags(self.chosen_estimator()).input_tags.sparse
        return tags

    def chosen_estimator(self) -> Any:
        """What is calibrated, untrained unless the user trained it."""
        return LogisticRegression(max_iter=1000) if self.estimator is None else self.estimator

    def checked_rows(self, x: ArrayLike, y: ArrayLike) -> tuple[Any, NDArray[Any]]:
        """Check features and labels, and that there is a classifier to train."""
        if not hasattr(self.chosen_estimator(), "fit"):
            raise InputError(
                f"estimator must be a classifier; got {shown(self.estimator)}. Pass "
                "LogisticRegression(), say."
            )
        rows, labels = indexable(x, column_or_1d(y, warn=True))
        assert_all_finite(labels, input_name="y")
        check_classification_targets(labels)
        return rows, labels

    def take_features_of(self, fitted: Any) -> None:
        """Take number and names of the features that a trained classifier has."""
        for name in ("n_features_in_", "feature_names_in_"):
            if hasattr(fitted, name):
                setattr(self, name, getattr(fitted, name))


class HeldOut(Calibrated):
    """One with `estimator`, `calibration_size` and `random_state`, calibrated on rows held out."""

    def checked_rows(self, x: ArrayLike, y: ArrayLike) -> tuple[Any, NDArray[Any]]:
        """Check features and labels, and the share that is held out."""
        share = "Pass the share of rows to hold out."
        check_number(self.calibration_size, "calibration_size", "(0, 1)", share)
        return super().checked_rows(x, y)

    def split(self, labels: NDArray[Any]) -> tuple[Rows, Rows]:
        """Cut rows into those to train on and those held out, each with every class."""
        n_classes = check_class_rows(labels, 2, "Pass more rows.")
        size = max(int(np.ceil(self.calibration_size * len(labels))), n_classes)
        cut = StratifiedShuffleSplit(
            1, test_size=min(size, len(labels) - n_classes), random_state=self.random_state
        )
        train, held_out = next(cut.split(np.zeros(len(labels)), labels))
        return train, held_out


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
