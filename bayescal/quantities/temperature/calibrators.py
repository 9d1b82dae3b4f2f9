"""Calibrators of logits: one number, one a predicted class, or one and a shift for each logit."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import Any, Final, Self, override

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.optimize import minimize, minimize_scalar
from scipy.special import log_expit, logsumexp, softmax
from sklearn.utils.validation import check_is_fitted

from bayescal.core import classifiers
from bayescal.core.binning import Binning
from bayescal.core.checks import check_choice, listing
from bayescal.core.classifiers import MostProbable
from bayescal.core.columns import Label, column_names, factorize
from bayescal.core.errors import InputError
from bayescal.core.intake import round_scores
from bayescal.core.quantity import Floats
from bayescal.core.scores import predicted_class
from bayescal.quantities.temperature.estimator import binned_error, top_class
from bayescal.quantities.temperature.logits import (
    ALPHA_MAX,
    ALPHA_MIN,
    Integers,
    as_logits,
    at_end,
    check_alpha_bounds,
    class_wise,
    labeled_rows,
    least_loss,
    logit_of_top,
    places_of,
    undetermined,
    warn_of,
    warn_of_zeros,
)

type Objective = Callable[[Floats], tuple[float, Floats]]
type Domain = tuple[Floats, list[tuple[float, float]], Floats]


class OfLogits(MostProbable):
    """What reads logits or probabilities, and labels; columns of tables by their names."""

    scale: str

    def check(
        self, X: ArrayLike, y: ArrayLike, sample_weight: ArrayLike | None = None
    ) -> tuple[Floats, Integers, Floats | None]:
        """Check rows, leave out those of weight 0, and set `classes_`."""
        column, logits = classifiers.label_column(y), as_logits(X, self.scale)
        classifiers.check_one_table(X, len(logits), y, len(column), sample_weight)
        weight = None
        if sample_weight is not None:
            weight, kept = classifiers.positive_weights(sample_weight, len(logits))
            logits, column = logits[kept], column[kept]
        label, self.classes_ = coded_labels(column, logits.shape[1])
        self.n_features_in_ = logits.shape[1]
        self.__dict__.pop("feature_names_in_", None)  # of an earlier fit
        if (names := column_names(X)) is not None and len(names) > 1:
            place, seen = places_of(names, self.classes_), self.classes_[np.unique(label)]
            if place is not None:
                logits, names = logits[:, place], [names[k] for k in place]
            elif set(map(str, seen)) <= set(names):
                raise InputError(
                    f"y must hold every class where columns are named by them, {listing(names)}; "
                    f"got {listing(seen.tolist())} alone. Pass an array, whose columns labels "
                    "number from 0."
                )
            self.feature_names_in_ = np.array(names, object)
        warn_of_zeros(logits, label, self.scale)
        return logits, label, weight

    def checked_again(self, X: ArrayLike) -> Floats:
        """Check rows against those of `fit`."""
        check_is_fitted(self, "classes_")
        logits = as_logits(X, self.scale)
        if logits.shape[1] != self.n_features_in_:
            raise self._other_shape(np.shape(X))
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

    def _other_shape(self, shape: tuple[int, ...]) -> InputError:
        """Refuse rows in the words of scikit-learn."""
        n, name = self.n_features_in_, type(self).__name__
        if len(shape) == 1:
            remedy = "Reshape your data with X.reshape(1, -1) if it is one row."
            return InputError(f"X must have shape (obs, {n}), as in fit; got {shape}. {remedy}")
        got = f"X has {shape[1]} features, but {name} is expecting {n} features as input"
        return InputError(f"{got}. Pass the columns of fit.")


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
    A custom calibrator implements `fit_logits` and `transform_logits`, and can be the base of
    `SliceCalibration`.
    """

    @abstractmethod
    def fit_logits(self, logits: Floats, label: Integers, weight: Floats | None) -> str | None:
        """Fit to checked logits.

        Parameters
        ----------
        logits : ndarray of shape (obs, class)
            Logits.
        label : ndarray of shape (obs,), int
            Columns of the labels.
        weight : ndarray of shape (obs,), or None
            Weights, above 0: a row of weight 2 counts as two.

        Returns
        -------
        str or None
            What `fit` is to warn of.
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
            Column numbers, or as many labels as there are columns, which name them in sorted order.
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
            If logits look like probabilities, a label has a probability of 0, or rows do not
            determine the number that multiplies logits within its range.
        """
        warn_of(self.fit_logits(*self.check(X, y, sample_weight)))
        return self

    @override
    def predict(self, X: ArrayLike) -> NDArray[Any]:
        # By logits, which differ where probabilities are equal but for rounding.
        found = predicted_class(self._calibrated(X))
        return np.asarray(self.classes_[found])

    def _probabilities(self, x: ArrayLike) -> Floats:
        """Calibrated probabilities, (obs, class)."""
        return np.asarray(softmax(self._calibrated(x), axis=1))

    def _calibrated(self, x: ArrayLike) -> Floats:
        return self.transform_logits(self.checked_again(x))


class ParametricCalibrator(LogitCalibrator, ABC):
    """Calibrator whose loss is a convex function of a vector of parameters."""

    def __init__(self, scale: str = "logits") -> None:
        self.scale = scale

    @abstractmethod
    def domain(self, logits: Floats) -> Domain:
        """Give parameters to start from, the range of each, and the size of what it multiplies."""

    @abstractmethod
    def objective(self, logits: Floats, label: Integers, weight: Floats) -> Objective:
        """Make the mean loss of rows, and its gradient, as a function of the parameters."""

    @abstractmethod
    def take(self, point: Floats) -> None:
        """Take parameters."""

    def centred(self, logits: Floats, weight: Floats | None) -> tuple[Floats, Floats]:
        """Logits to find parameters of, and the matrix that turns these into those of the whole."""
        return logits, np.eye(len(self.domain(logits)[0]))

    def least_loss(self, logits: Floats, label: Integers, weight: Floats | None) -> Floats:
        """Find the parameters of least loss."""
        start, bounds, size = self.domain(logits)
        size = np.where(size > 0, size, 1.0)
        loss = self.objective(logits, label, np.ones(len(label)) if weight is None else weight)

        # L-BFGS stops early where slopes are of very different sizes.
        def in_units(point: Floats) -> tuple[float, Floats]:
            value, slope = loss(point / size)
            return value, slope / size

        how = {"maxiter": 2000, "maxfun": 4000, "ftol": 1e-14, "gtol": 1e-10}
        ends, first = np.array(bounds) * size[:, None], start * size
        found = minimize(in_units, first, jac=True, method="L-BFGS-B", bounds=ends, options=how)
        return np.asarray(found.x / size)

    @override
    def fit_logits(self, logits: Floats, label: Integers, weight: Floats | None = None) -> str:
        found, whole = self.centred(logits, weight)
        self.take(self.least_loss(found, label, weight) @ whole)
        return ""


def coded_labels(y: ArrayLike, n_classes: int) -> tuple[Integers, NDArray[Any]]:
    """Number labels as the columns, and name these, (obs,) and (class,)."""
    codes, values = factorize(y, "y")
    classifiers.check_labels(codes, values)
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
    return not isinstance(value, str | bool) and 0 <= value < n_classes


LOSSES: Final = {"nll": "log loss", "ece": "calibration error"}
_GRID: Final = 201


class TemperatureScaling(LogitCalibrator):
    """Calibrator that multiplies all logits by one number.

    Parameters
    ----------
    loss : {"nll", "ece"}, default "nll"
        What is minimised on the rows: log loss, or the expected calibration error.
    alpha_min, alpha_max : float, above 0, default 0.01 and 100
        Range of the number.
    n_bins : int, default 15
        Bins of equal width of ``loss="ece"``.
    scale : {"logits", "probabilities"}, default "logits"
        What rows hold. Probabilities are taken as their logarithms.

    Attributes
    ----------
    alpha_ : float
        The number: 1 over the temperature. Above 1 the classifier was under-confident.
    classes_ : ndarray of shape (class,)
        Labels of the columns.

    Notes
    -----
    Log loss is a convex function of the number and is minimised by Newton's method. Where all
    labels are those of the largest logits it has no minimum, and `alpha_` is `alpha_max`; where all
    logits of each row are equal every number has the same, and it is 1, with a warning. The
    calibration error jumps; it is searched over a grid in the logarithm and refined between its
    best neighbours. Predictions are those of the logits. The logit of a single column is that of
    the second class, ``P = 1 / (1 + exp(-alpha x))``.

    References
    ----------
    .. [1] C. Guo et al., ICML 2017, section 4.2. https://arxiv.org/abs/1706.04599
    .. [2] Y. Zhao, J. Chen and S. Oymak, 2020, section 4.1. https://arxiv.org/abs/2002.09831

    Examples
    --------
    >>> import bayescal as bc
    >>> fitted = bc.temperature.TemperatureScaling().fit([[2.0, 0.0]] * 3, [0, 0, 1])
    >>> round(fitted.alpha_, 4), fitted.predict_proba([[2.0, 0.0]]).round(3).tolist()
    (0.3466, [[0.667, 0.333]])
    """

    def __init__(
        self,
        loss: str = "nll",
        alpha_min: float = ALPHA_MIN,
        alpha_max: float = ALPHA_MAX,
        n_bins: int = 15,
        scale: str = "logits",
    ) -> None:
        self.loss = loss
        self.alpha_min = alpha_min
        self.alpha_max = alpha_max
        self.n_bins = n_bins
        self.scale = scale

    @override
    def fit_logits(self, logits: Floats, label: Integers, weight: Floats | None = None) -> str:
        check_choice(self.loss, tuple(LOSSES), "loss")
        check_alpha_bounds(self.alpha_min, self.alpha_max)
        rows = labeled_rows(logits, label, np.zeros(len(label), np.intp), 1, weight)
        if self.loss == "ece" and rows.told.any():
            self.alpha_ = self._least_error(logits, label, weight)
        else:
            self.alpha_ = float(least_loss(rows, self.alpha_min, self.alpha_max)[0])
        return undetermined(rows, self.alpha_, self.alpha_min, self.alpha_max, LOSSES[self.loss])

    @override
    def transform_logits(self, logits: Floats) -> Floats:
        return np.asarray(self.alpha_ * logits)

    def _least_error(self, logits: Floats, label: Integers, weight: Floats | None) -> float:
        def error(log_alpha: float) -> float:
            score, predicted = top_class(np.exp(log_alpha) * logits)
            right, bins = predicted == label, Binning(self.n_bins, "uniform")
            return binned_error(round_scores(score), right, bins, weight)

        grid = np.linspace(np.log(self.alpha_min), np.log(self.alpha_max), _GRID)
        values = [error(place) for place in grid]
        best = int(np.argmin(values))
        around = (grid[max(best - 1, 0)], grid[min(best + 1, _GRID - 1)])
        refined = minimize_scalar(error, bounds=around, method="bounded")
        place = refined.x if refined.fun < values[best] else grid[best]
        return float(np.clip(np.exp(place), self.alpha_min, self.alpha_max))


_MOST_SCALE, _MOST_SHIFT = 100.0, 50.0


class VectorScaling(ParametricCalibrator):
    """Calibrator that multiplies each logit by a number of its own and shifts it.

    Parameters
    ----------
    scale : {"logits", "probabilities"}, default "logits"
        What rows hold. Probabilities are taken as their logarithms.

    Attributes
    ----------
    coef_, intercept_ : ndarray of shape (class,)
        Numbers and shifts; the shifts sum to 0.
    classes_ : ndarray of shape (class,)
        Labels of the columns.

    Notes
    -----
    Calibrated logits are ``coef * logits + intercept``. The log loss is convex and minimised by
    L-BFGS with ``|coef| <= 100`` and, of logits less their column's mean, ``|intercept| <= 50``.
    Predictions may change, as each logit has its own number; hence numbers added to whole rows
    matter. With few rows a class 2K parameters fit noise.

    References
    ----------
    .. [1] C. Guo et al., ICML 2017, section 4.2. https://arxiv.org/abs/1706.04599
    .. [2] Y. Zhao, J. Chen and S. Oymak, 2020, equation (4.5). https://arxiv.org/abs/2002.09831

    Examples
    --------
    >>> import bayescal as bc
    >>> logits = [[2.0, 0.0]] * 3 + [[0.0, 2.0]] * 4
    >>> fitted = bc.temperature.VectorScaling().fit(logits, [0, 0, 1, 1, 1, 1, 0])
    >>> fitted.predict_proba([[2.0, 0.0], [0.0, 2.0]]).round(3).tolist()
    [[0.667, 0.333], [0.25, 0.75]]
    """

    @override
    def domain(self, logits: Floats) -> Domain:
        one = np.ones(logits.shape[1])
        ends = [(-end, end) for end in (*_MOST_SCALE * one, *_MOST_SHIFT * one)]
        return np.append(one, 0 * one), ends, np.append(np.abs(logits).max(axis=0), one)

    @override
    def centred(self, logits: Floats, weight: Floats | None) -> tuple[Floats, Floats]:
        # Numbers and shifts of logits far from 0 move together, and optimisers stop early.
        middle, whole = np.average(logits, axis=0, weights=weight), np.eye(2 * logits.shape[1])
        whole[: len(middle), len(middle) :] = -np.diag(middle)
        return logits - middle, whole

    @override
    def objective(self, logits: Floats, label: Integers, weight: Floats) -> Objective:
        rows, share = np.arange(len(label)), weight / weight.sum()
        true = np.zeros_like(logits)
        true[rows, label] = 1

        def loss(point: Floats) -> tuple[float, Floats]:
            coef, shift = np.split(point, 2)
            moved = coef * logits + shift
            total = logsumexp(moved, axis=1)
            off = share[:, None] * (np.exp(moved - total[:, None]) - true)
            value = share @ (total - moved[rows, label])
            return float(value), np.append((off * logits).sum(axis=0), off.sum(axis=0))

        return loss

    @override
    def fit_logits(self, logits: Floats, label: Integers, weight: Floats | None = None) -> str:
        super().fit_logits(logits, label, weight)
        right = (predicted_class(self.transform_logits(logits)) == label).all()
        farthest = float(self.coef_[np.abs(self.coef_).argmax()])
        return "" if right else at_end(farthest, -_MOST_SCALE, _MOST_SCALE)

    @override
    def take(self, point: Floats) -> None:
        self.coef_, shift = np.split(point, 2)
        self.intercept_ = shift - shift.mean()

    @override
    def transform_logits(self, logits: Floats) -> Floats:
        return np.asarray(self.coef_ * logits + self.intercept_)


class PlattScaling(ParametricCalibrator):
    """Calibrator of the predicted class's probability; the other classes keep their proportions.

    Parameters
    ----------
    scale : {"logits", "probabilities"}, default "logits"
        What rows hold. Probabilities are taken as their logarithms.

    Attributes
    ----------
    coef_, intercept_ : float
        Slope, in [0.01, 100], and intercept.
    classes_ : ndarray of shape (class,)
        Labels of the columns.

    Notes
    -----
    With p the largest probability, the calibrated one is ``sigmoid(coef logit(p) + intercept)``.
    The log loss of being right is minimised by L-BFGS. A low intercept may change predictions.

    References
    ----------
    .. [1] J. Platt, "Probabilistic Outputs for Support Vector Machines and Comparisons to
       Regularized Likelihood Methods", Advances in Large Margin Classifiers, 1999.

    Examples
    --------
    >>> import bayescal as bc
    >>> logits = [[2.0, 0.0]] * 3 + [[4.0, 0.0]] * 5
    >>> fitted = bc.temperature.PlattScaling().fit(logits, [0, 0, 1, 0, 0, 0, 0, 1])
    >>> fitted.predict_proba([[2.0, 0.0], [4.0, 0.0]]).round(3).tolist()
    [[0.667, 0.333], [0.8, 0.2]]
    """

    @override
    def domain(self, logits: Floats) -> Domain:
        ends = [(ALPHA_MIN, ALPHA_MAX), (-_MOST_SHIFT, _MOST_SHIFT)]
        return np.array([1.0, 0.0]), ends, np.append(np.abs(logit_of_top(logits)).max(), 1.0)

    @override
    def objective(self, logits: Floats, label: Integers, weight: Floats) -> Objective:
        score, share = logit_of_top(logits), weight / weight.sum()
        sign = np.where(predicted_class(logits) == label, 1.0, -1.0)

        def loss(point: Floats) -> tuple[float, Floats]:
            moved = sign * (point[0] * score + point[1])
            off = -share * sign * np.exp(log_expit(-moved))
            return -float(share @ log_expit(moved)), np.array([off @ score, off.sum()])

        return loss

    @override
    def fit_logits(self, logits: Floats, label: Integers, weight: Floats | None = None) -> str:
        super().fit_logits(logits, label, weight)
        right = (predicted_class(logits) == label).all()
        return "" if right else at_end(self.coef_, ALPHA_MIN, ALPHA_MAX)

    @override
    def take(self, point: Floats) -> None:
        self.coef_, self.intercept_ = map(float, point)

    @override
    def transform_logits(self, logits: Floats) -> Floats:
        rows, top = np.arange(len(logits)), predicted_class(logits)
        moved = self.coef_ * logit_of_top(logits) + self.intercept_
        found = logits.copy()
        found[rows, top] = -np.inf
        found += (log_expit(-moved) - logsumexp(found, axis=1))[:, None]
        found[rows, top] = log_expit(moved)
        return found


class ClassWiseTemperatureScaling(LogitCalibrator):
    """Calibrator that multiplies the logits of each predicted class by a number of its own.

    Algorithm 1 and equations (4.2) and (4.3) of the paper.

    Parameters
    ----------
    gamma : float, at least 0, default infinity
        Largest difference of a class's number from the shared one. 0 is temperature scaling,
        infinity calibrates every class apart.
    alpha_min, alpha_max : float, above 0, default 0.01 and 100
        Range of all numbers.
    scale : {"logits", "probabilities"}, default "logits"
        What rows hold. Probabilities are taken as their logarithms.

    Attributes
    ----------
    alpha_ : ndarray of shape (class,)
        The number of each predicted class.
    shared_alpha_ : float
        The shared one, which a class never predicted has.
    classes_ : ndarray of shape (class,)
        Labels of the columns.

    Notes
    -----
    Minimises the log loss of all rows over ``|alpha_k - alpha_0| <= gamma``. A class's loss is
    convex in its number, so that given alpha_0 its best number is its own minimiser clipped to
    ``[alpha_0 - gamma, alpha_0 + gamma]``; what is left is a convex function of alpha_0, whose
    derivative is a sum over the classes at a limit. Where several alpha_0 are best, it is the one
    next to the number of temperature scaling. The paper bounds only alpha_0, so that its alpha_k
    may be negative and reverse predictions; here all lie in ``[alpha_min, alpha_max]``, and
    predictions are those of the logits.

    Examples
    --------
    >>> import bayescal as bc
    >>> logits = [[2.0, 0.0]] * 3 + [[0.0, 2.0]] * 4
    >>> fitted = bc.temperature.ClassWiseTemperatureScaling().fit(logits, [0, 0, 1, 1, 1, 1, 0])
    >>> fitted.alpha_.round(3).tolist()
    [0.347, 0.549]
    """

    def __init__(
        self,
        gamma: float = np.inf,
        alpha_min: float = ALPHA_MIN,
        alpha_max: float = ALPHA_MAX,
        scale: str = "logits",
    ) -> None:
        self.gamma = gamma
        self.alpha_min = alpha_min
        self.alpha_max = alpha_max
        self.scale = scale

    @override
    def fit_logits(self, logits: Floats, label: Integers, weight: Floats | None = None) -> str:
        check_alpha_bounds(self.alpha_min, self.alpha_max)
        rows = labeled_rows(logits, label, predicted_class(logits), logits.shape[1], weight)
        found = class_wise(rows, self.gamma, self.alpha_min, self.alpha_max)
        self.alpha_, self.shared_alpha_ = found
        return undetermined(rows, self.shared_alpha_, self.alpha_min, self.alpha_max)

    @override
    def transform_logits(self, logits: Floats) -> Floats:
        return np.asarray(self.alpha_[predicted_class(logits)][:, None] * logits)
