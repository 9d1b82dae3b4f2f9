"""What the scikit-learn classifiers of the package share, and a small network trained by L-BFGS."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Final, NamedTuple, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.optimize import minimize
from sklearn.base import BaseEstimator, ClassifierMixin, MetaEstimatorMixin, clone
from sklearn.exceptions import ConvergenceWarning, NotFittedError
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import LogisticRegression
from sklearn.utils import _safe_indexing, check_random_state, get_tags, indexable
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted, column_or_1d, has_fit_parameter

from bayescal.core.checks import (
    MOST_DRAWN,
    check_number,
    check_same_length,
    check_some_weight,
    check_whole,
    listing,
    shown,
)
from bayescal.core.columns import MISSING, Codes, Label, factorize, to_numpy
from bayescal.core.errors import InputError, warn_caller
from bayescal.core.intake import Column, check_same_order, weights
from bayescal.core.quantity import Floats

type Rows = NDArray[np.intp]


class MostProbable(ClassifierMixin, BaseEstimator):  # type: ignore[misc]  # no types there
    """Classifier that predicts the most probable class; a subclass has `_probabilities`."""

    classes_: NDArray[Any]

    def predict_proba(self, X: ArrayLike) -> Floats:
        """Compute probabilities.

        Parameters
        ----------
        X : array-like of shape (obs, feature), or another that `fit` takes
            Rows, as in `fit`.

        Returns
        -------
        ndarray of shape (obs, class), in [0, 1]
            Of each class, in the order of ``classes_``; rows sum to 1.
        """
        check_is_fitted(self)
        return np.asarray(self._probabilities(X))

    def predict(self, X: ArrayLike) -> NDArray[Any]:
        """Predict the most probable class.

        Parameters
        ----------
        X : array-like of shape (obs, feature), or another that `fit` takes
            Rows, as in `fit`.

        Returns
        -------
        ndarray of shape (obs,)
            Labels.
        """
        place = self.predict_proba(X).argmax(axis=1)
        return np.asarray(self.classes_[place])


class Calibrated(MetaEstimatorMixin, MostProbable):  # type: ignore[misc]  # no types there
    """Classifier that trains another one and calibrates it.

    A subclass has `estimator`, `random_state`, and `_fit`, which checks the other parameters.
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
            to hold some out, or the classifier takes no weights or not these rows.
        """
        try:
            self._fit(*self._checked_rows(X, y, sample_weight))
        except (InputError, NotFittedError):
            raise
        except ValueError as error:  # of the classifier: some take NaN or words, others do not
            said = f"the classifier refuses X or y: {error}".splitlines()[0].rstrip(".:")
            raise InputError(f"{said}. Mend the rows, or pass another estimator.") from error
        return self

    def chosen_estimator(self) -> Any:
        """What is calibrated, untrained unless the user trained it."""
        return LogisticRegression(max_iter=1000) if self.estimator is None else self.estimator

    def _checked_rows(
        self, x: ArrayLike, y: ArrayLike, sample_weight: ArrayLike | None
    ) -> tuple[Any, NDArray[Any], Floats | None]:
        """Check the classifier, features, labels and weights; leave out rows of weight 0."""
        estimator = self.chosen_estimator()
        if not hasattr(estimator, "fit") or isinstance(estimator, type):
            raise InputError(
                f"estimator must be a classifier; got {shown(self.estimator)}. Pass "
                "LogisticRegression(), say."
            )
        try:
            check_random_state(self.random_state)
        except ValueError as error:
            said = f"a whole number in [0, 2**32) or None; got {shown(self.random_state)}"
            raise InputError(f"random_state must be {said}. Pass 0, say.") from error
        labels = known_labels(y)
        (rows,) = indexable(x)
        n_rows = rows.shape[0] if hasattr(rows, "shape") else len(rows)
        check_one_table(x, n_rows, y, len(labels), sample_weight)
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

    def _trained(self, rows: Any, labels: NDArray[Any], weight: Floats | None, some: Rows) -> Any:
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
            first, known = shown(min(strange, key=str)), listing(classes.tolist())
            raise InputError(
                f"y must hold the labels that the classifier was trained on, {known}; got {first}. "
                "Name them as there."
            )
        return classes

    def take_features_of(self, fitted: Any) -> None:
        """Take number and names of the features that a trained classifier has."""
        for name in ("n_features_in_", "feature_names_in_"):
            # Those of an earlier fit are over, as of a table where these rows are an array.
            self.__dict__.pop(name, None)
            if hasattr(fitted, name):
                setattr(self, name, getattr(fitted, name))


def check_one_table(x: Any, n_rows: int, y: Any, n_labels: int, sample_weight: Any) -> None:
    """Check that rows, labels and weights are those of one table, in one order."""
    check_same_length(n_rows, "X", n_labels, "y")
    check_same_order(X=x, y=y, sample_weight=sample_weight)


def known_labels(y: Any) -> NDArray[Any]:
    """Check that labels are all known, and of one kind, (obs,)."""
    column = label_column(y)
    try:
        codes, values = factorize(column, "y")
    except InputError as error:
        # The first words are those that scikit-learn's own checks look for.
        raise InputError(f"Unknown label type: {error}") from error
    check_labels(codes, values)
    return np.asarray(values)[codes] if column.dtype.kind == "O" else column


def label_column(y: Any) -> NDArray[Any]:
    """Labels as an array; scikit-learn warns of a table of one column, and takes it."""
    if y is None:  # in words that scikit-learn's own checks look for
        raise InputError("fit requires y to be passed, but the target y is None. Pass the labels.")
    column = to_numpy(y, "y")
    if column.dtype.kind == "c":
        raise InputError("Complex data not supported: y must hold labels. Pass another column.")
    return column_or_1d(column, warn=True) if column.shape[1:] == (1,) else column


def check_labels(codes: Codes, values: Sequence[Label]) -> None:
    """Check that no label is missing, and that all are words or all are none."""
    if (codes == MISSING).any():
        row = int((codes == MISSING).argmax())
        raise InputError(f"y must be known in every row; it is missing at row {row}. Drop the row.")
    first = next((k for k, value in enumerate(values) if isinstance(value, str)), 0)
    if first:
        # Numbers come first, and words in an array of both would be all there is.
        row = int((codes == first).argmax())
        raise InputError(
            f"y must hold words or numbers, not both; got {values[0]!r} and, at row {row}, "
            f"{values[first]!r}. Write all of them as words."
        )


def positive_weights(sample_weight: ArrayLike, n: int) -> tuple[Floats, NDArray[np.bool_]]:
    """Weights above 0, and which of the rows have them."""
    found = weights(Column("sample_weight", sample_weight))
    check_same_length(len(found), "sample_weight", n, "X")
    kept = found > 0
    check_some_weight(int(kept.sum()), n, "sample_weight")
    return found[kept], kept


def check_class_rows(labels: NDArray[Any], least: int, remedy: str) -> int:
    """Check that there are two classes, and rows enough of each; their number."""
    count = np.unique(labels, return_counts=True)[1]
    rarest = min(count, default=0)
    if len(count) < 2 or rarest < least:
        raise InputError(
            f"y must hold two classes or more with at least {least} rows each; got "
            f"{len(count)} class{'es' * (len(count) != 1)}, the rarest with {rarest}. {remedy}"
        )
    return len(count)


def warn_unfinished(what: str, max_iter: int) -> None:
    """Say that L-BFGS ran out of iterations."""
    text = f"{what} was still falling after {max_iter} iterations. "
    warn_caller(f"{text}Scale the features, or raise max_iter.", ConvergenceWarning)


type Layers = list[Floats]
"""Weights and intercepts, layer by layer: two arrays of a linear model, else four."""
type Loss = Callable[..., tuple[float, Sequence[Floats]]]
"""From the outputs for each table of rows to the loss and its slopes in these outputs."""

_OUT_OF_ITERATIONS: Final = 1
_EVALUATIONS: Final = 15_000  # what SciPy allows unless the iterations need more


class Trained(NamedTuple):
    """Where L-BFGS stopped: weights, loss with its penalty, and whether it was still falling."""

    weights: Layers
    objective: float
    unfinished: bool
    n_iter: int


def check_settings(hidden: int, least_hidden: int, alpha: float, max_iter: int) -> None:
    """Check the parameters that the classifiers share."""
    for value, least, name in ((hidden, least_hidden, "hidden"), (max_iter, 1, "max_iter")):
        check_whole(value, name, least, most=MOST_DRAWN)
    check_number(alpha, "alpha", "[0, inf)", "Pass 0.001, say.")


def first_weights(features: int, hidden: int, outputs: tuple[int, ...], rng: Any) -> Layers:
    """Draw weights of unit variance per output; one output has the shape ()."""
    intercept = np.zeros(outputs or 1)
    if not hidden:
        return [np.zeros((features, *outputs)), intercept]
    return [
        rng.normal(0, features**-0.5, (features, hidden)),
        np.zeros(hidden),
        rng.normal(0, hidden**-0.5, (hidden, *outputs)),
        intercept,
    ]


def forward(weights: Layers, x: Floats) -> Floats:
    """Outputs for rows, (obs, ...)."""
    return _layers(weights, x)[0]


def penalty(weights: Layers, alpha: float) -> float:
    """Half the sum of the squared weights times alpha; intercepts are left out."""
    return alpha / 2 * float(sum((w**2).sum() for w in weights[::2]))


def train(
    loss: Loss, tables: Sequence[Floats], start: Layers, alpha: float, max_iter: int
) -> Trained:
    """Minimise a loss of the outputs for some tables of rows, plus the penalty."""
    shapes = [part.shape for part in start]
    found = minimize(
        lambda flat: objective(loss, tables, _split(flat, shapes), alpha),
        _joined(start),
        jac=True,
        method="L-BFGS-B",
        options={"maxiter": max_iter, "maxfun": max(_EVALUATIONS, 2 * max_iter)},
    )
    unfinished = found.status == _OUT_OF_ITERATIONS
    return Trained(_split(found.x, shapes), float(found.fun), unfinished, int(found.nit))


def objective(
    loss: Loss, tables: Sequence[Floats], weights: Layers, alpha: float
) -> tuple[float, Floats]:
    """Penalised loss, and its gradient in all weights as one vector."""
    outputs, inner = zip(*(_layers(weights, x) for x in tables), strict=True)
    value, slopes = loss(*outputs)
    by_table = [_backward(weights, *side) for side in zip(tables, inner, slopes, strict=True)]
    gradient = [sum(parts) for parts in zip(*by_table, strict=True)]
    for place in range(0, len(weights), 2):
        gradient[place] = gradient[place] + alpha * weights[place]
    return value + penalty(weights, alpha), _joined(gradient)


def _layers(weights: Layers, x: Floats) -> tuple[Floats, Floats]:
    """Outputs, and what goes into the last layer."""
    inner = x if len(weights) == 2 else np.tanh(x @ weights[0] + weights[1])
    return inner @ weights[-2] + weights[-1], inner


def _backward(weights: Layers, x: Floats, inner: Floats, slope: Floats) -> Layers:
    """Gradient in each array of the weights, from the slopes in the outputs."""
    last = [inner.T @ slope, np.atleast_1d(slope.sum(axis=0))]
    if len(weights) == 2:
        return last
    by_output = np.outer(slope, weights[-2]) if slope.ndim == 1 else slope @ weights[-2].T
    by_inner = by_output * (1 - inner**2)
    return [x.T @ by_inner, by_inner.sum(axis=0), *last]


def _joined(parts: Sequence[Any]) -> Floats:
    return np.concatenate([part.ravel() for part in parts])


def _split(flat: Floats, shapes: Sequence[tuple[int, ...]]) -> Layers:
    cut = np.split(flat, np.cumsum([int(np.prod(shape)) for shape in shapes])[:-1])
    return [part.reshape(shape) for part, shape in zip(cut, shapes, strict=True)]
