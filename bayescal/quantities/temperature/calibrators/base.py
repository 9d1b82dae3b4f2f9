"""What calibrators of logits share: checks of logits and labels, and probabilities."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.optimize import minimize
from scipy.special import softmax
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils.validation import check_is_fitted

from bayescal.core.checks import check_same_length, check_some_weight, listing
from bayescal.core.columns import MISSING, Label, factorize, to_numpy
from bayescal.core.errors import InputError
from bayescal.core.intake import Column, weights
from bayescal.core.quantity import Floats
from bayescal.quantities.temperature.logits import (
    as_logits,
    column_names,
    places_of,
    predicted_class,
)
from bayescal.quantities.temperature.loss import Integers

type Objective = Callable[[Floats], tuple[float, Floats]]


class OfLogits(ClassifierMixin, BaseEstimator):  # type: ignore[misc]  # scikit-learn has no types
    """What reads logits or probabilities and labels.

    Attributes
    ----------
    classes_ : ndarray of shape (class,)
        Labels of the columns.
    n_features_in_ : int
        Number of columns.
    feature_names_in_ : ndarray of shape (class,)
        Names of the columns, where they have names.
    """

    scale: str

    def check(
        self, X: ArrayLike, y: ArrayLike, sample_weight: ArrayLike | None = None
    ) -> tuple[Floats, Integers, Floats | None]:
        """Check rows, leave out those of weight 0, and set `classes_`.

        Parameters
        ----------
        X : array-like of shape (obs,) or (obs, class)
            Logits or probabilities.
        y : array-like of shape (obs,)
            Labels.
        sample_weight : array-like of shape (obs,), optional
            Weights.

        Returns
        -------
        logits : ndarray of shape (obs, class)
            Logits.
        label : ndarray of shape (obs,), int
            Columns of the labels.
        weight : ndarray of shape (obs,), or None
            Weights, above 0.
        """
        logits, column = as_logits(X, self.scale), to_numpy(y, "y")
        check_same_length(len(logits), "X", len(column), "y")
        weight = None
        if sample_weight is not None:
            weight, held = held_weights(sample_weight, len(logits))
            logits, column = logits[held], column[held]
        label, self.classes_ = coded_labels(column, logits.shape[1])
        self.n_features_in_ = logits.shape[1]
        names = column_names(X)
        if names is not None:
            place = places_of(names, self.classes_)
            if place is not None:
                logits, names = logits[:, place], [names[k] for k in place]
            self.feature_names_in_ = np.array(names, object)
        return logits, label, weight

    def checked_again(self, X: ArrayLike) -> Floats:
        """Check rows against those of `fit`.

        Parameters
        ----------
        X : array-like of shape (obs,) or (obs, class)
            Logits or probabilities.

        Returns
        -------
        ndarray of shape (obs, class)
            Logits.

        Raises
        ------
        InputError
            If there are other columns than in `fit`.
        """
        check_is_fitted(self, "classes_")
        logits = as_logits(X, self.scale)
        if logits.shape[1] != self.n_features_in_:
            raise InputError(
                f"X must have {self.n_features_in_} columns, as in fit; got {logits.shape[1]}."
            )
        names, known = column_names(X), getattr(self, "feature_names_in_", None)
        if names is None or known is None:
            return logits
        place = places_of(names, known)
        if place is None:
            raise InputError(
                f"X must have the columns of fit, {listing(known)}; got {listing(names)}. Rename "
                "them, or pass an array with the columns in that order."
            )
        return logits[:, place]


class LogitCalibrator(OfLogits, ABC):
    """Calibrator of the logits of a classifier that is trained already; base of the others.

    Attributes
    ----------
    classes_ : ndarray of shape (class,)
        Labels of the columns.
    n_features_in_ : int
        Number of columns.

    Notes
    -----
    A calibrator of one's own fills `fit_logits` and `transform_logits`, and can be the base of
    `SliceCalibration`.
    """

    @abstractmethod
    def fit_logits(self, logits: Floats, label: Integers, weight: Floats | None) -> None:
        """Fit to checked logits.

        Parameters
        ----------
        logits : ndarray of shape (obs, class)
            Logits.
        label : ndarray of shape (obs,), int
            Columns of the labels.
        weight : ndarray of shape (obs,), or None
            Weights, above 0: a row of weight 2 counts as two.
        """

    @abstractmethod
    def transform_logits(self, logits: Floats) -> Floats:
        """Calibrate checked logits.

        Parameters
        ----------
        logits : ndarray of shape (obs, class)
            Logits.

        Returns
        -------
        ndarray of shape (obs, class)
            Calibrated logits.
        """

    def fit(self, X: ArrayLike, y: ArrayLike, sample_weight: ArrayLike | None = None) -> Self:
        """Fit the calibrator.

        Parameters
        ----------
        X : array-like of shape (obs,), (obs, 1) or (obs, class)
            Logits, or probabilities with ``scale="probabilities"``, of rows that the classifier was
            not trained on. One column is that of the second of two classes. Columns of a table
            that are named as the classes are taken by name, in any order.
        y : array-like of shape (obs,)
            Labels: column numbers, or as many different labels as there are columns, which name
            them in sorted order.
        sample_weight : array-like of shape (obs,), optional
            Weights of the rows; a row of weight 2 counts as two.

        Returns
        -------
        LogitCalibrator
            Itself.

        Raises
        ------
        InputError
            If logits are not finite, labels do not fit the columns or are all the same, weights are
            no numbers >= 0 or all 0, or lengths differ.

        Warns
        -----
        UserWarning
            If logits look like probabilities.
        """
        self.fit_logits(*self.check(X, y, sample_weight))
        return self

    def predict_proba(self, X: ArrayLike) -> Floats:
        """Compute calibrated probabilities.

        Parameters
        ----------
        X : array-like of shape (obs,) or (obs, class)
            As in `fit`.

        Returns
        -------
        ndarray of shape (obs, class), in [0, 1]
            Probabilities; rows sum to 1.
        """
        return np.asarray(softmax(self.transform_logits(self.checked_again(X)), axis=1))

    def predict(self, X: ArrayLike) -> NDArray[Any]:
        """Predict the most probable class.

        Parameters
        ----------
        X : array-like of shape (obs,) or (obs, class)
            As in `fit`.

        Returns
        -------
        ndarray of shape (obs,)
            Labels.
        """
        found = predicted_class(self.transform_logits(self.checked_again(X)))
        return np.asarray(self.classes_[found])


class ParametricCalibrator(LogitCalibrator, ABC):
    """Calibrator whose loss is a convex function of a vector of parameters."""

    @abstractmethod
    def domain(self, n_classes: int) -> tuple[Floats, list[tuple[float, float]]]:
        """Give parameters to start from, and the range of each.

        Parameters
        ----------
        n_classes : int
            Classes.

        Returns
        -------
        start : ndarray of shape (parameter,)
            Those that change nothing.
        bounds : list of pairs
            Least and largest value.
        """

    @abstractmethod
    def objective(self, logits: Floats, label: Integers, weight: Floats | None) -> Objective:
        """Make the mean loss of rows, and its gradient, as a function of the parameters.

        Parameters
        ----------
        logits : ndarray of shape (obs, class)
            Logits.
        label : ndarray of shape (obs,), int
            Columns of the labels.
        weight : ndarray of shape (obs,), or None
            Weights, above 0.

        Returns
        -------
        callable
            From parameters to the loss and its gradient.
        """

    @abstractmethod
    def take(self, point: Floats) -> None:
        """Take parameters.

        Parameters
        ----------
        point : ndarray of shape (parameter,)
            The parameters.
        """

    def least_loss(self, logits: Floats, label: Integers, weight: Floats | None) -> Floats:
        """Find the parameters of least loss.

        Parameters
        ----------
        logits : ndarray of shape (obs, class)
            Logits.
        label : ndarray of shape (obs,), int
            Columns of the labels.
        weight : ndarray of shape (obs,), or None
            Weights, above 0.

        Returns
        -------
        ndarray of shape (parameter,)
            Parameters.
        """
        start, bounds = self.domain(logits.shape[1])
        loss = self.objective(logits, label, weight)
        options = {"maxiter": 2000, "maxfun": 4000, "ftol": 1e-14, "gtol": 1e-10}
        found = minimize(loss, start, jac=True, method="L-BFGS-B", bounds=bounds, options=options)
        return np.asarray(found.x)

    def fit_logits(self, logits: Floats, label: Integers, weight: Floats | None = None) -> None:
        """Find and take the parameters of least loss.

        Parameters
        ----------
        logits : ndarray of shape (obs, class)
            Logits.
        label : ndarray of shape (obs,), int
            Columns of the labels.
        weight : ndarray of shape (obs,), optional
            Weights, above 0.
        """
        self.take(self.least_loss(logits, label, weight))


def held_weights(sample_weight: ArrayLike, n: int) -> tuple[Floats, NDArray[np.bool_]]:
    """Weights above 0, and which of the rows have them."""
    found = weights(Column("sample_weight", sample_weight))
    check_same_length(len(found), "sample_weight", n, "X")
    held = found > 0
    check_some_weight(int(held.sum()), n, "sample_weight")
    return found[held], held


def shares(weight: Floats | None, n: int) -> Floats:
    """Share of each row in a mean, (obs,)."""
    return np.full(n, 1 / n) if weight is None else np.asarray(weight / weight.sum())


def coded_labels(y: ArrayLike, n_classes: int) -> tuple[Integers, NDArray[Any]]:
    """Number labels as the columns, and name these, (obs,) and (class,)."""
    codes, values = factorize(y, "y")
    if (codes == MISSING).any():
        row = int((codes == MISSING).argmax())
        raise InputError(f"y must be known in every row; it is missing at row {row}. Drop the row.")
    if len(values) < 2:
        raise InputError(
            f"y must hold two classes or more; got {listing(values)} alone. Pass more rows: with "
            "one class any number calibrates."
        )
    if all(_is_column(value, n_classes) for value in values):
        return np.asarray(values, np.intp)[codes], np.arange(n_classes)
    if len(values) != n_classes:
        strange = next(value for value in values if not _is_column(value, n_classes))
        row = int((codes == values.index(strange)).argmax())
        raise InputError(
            f"y must number the {n_classes} columns of X, or name each of them; got "
            f"{len(values)} labels, and {strange!r} at row {row}. Number the columns from 0."
        )
    return codes, np.asarray(values)


def _is_column(value: Label, n_classes: int) -> bool:
    return not isinstance(value, str) and 0 <= value < n_classes
