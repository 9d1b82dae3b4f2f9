"""Calibrators made of others: one for each slice of the rows; fitted on rows held out."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import Any, Final, NamedTuple, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.optimize import LinearConstraint, minimize
from scipy.special import softmax
from sklearn.base import clone
from sklearn.model_selection import StratifiedKFold
from sklearn.utils import _safe_indexing

from bayescal.core.checks import (
    check_is,
    check_number,
    check_same_length,
    check_whole,
    listing,
    shown,
)
from bayescal.core.classifiers import Calibrated, check_class_rows
from bayescal.core.columns import MISSING, factorize
from bayescal.core.errors import InputError
from bayescal.core.intake import check_same_order
from bayescal.core.quantity import Floats
from bayescal.core.scores import predicted_class
from bayescal.quantities.temperature.calibrators import (
    ClassWiseTemperatureScaling,
    LogitCalibrator,
    OfLogits,
    ParametricCalibrator,
    TemperatureScaling,
)
from bayescal.quantities.temperature.logits import (
    Integers,
    class_wise,
    labeled_rows,
    log_probabilities,
    warn_of,
)


class SliceCalibration(OfLogits):
    """Calibrator that fits another one to each predicted class, bundle of classes or slice.

    Algorithm 1; bundles of classes, section 4.1 of the paper.

    Parameters
    ----------
    base : LogitCalibrator, optional
        What is fitted to each slice; temperature scaling if not given.
    bundles : sequence of sequence of label, optional
        Predicted classes that share a calibrator; a class in none of them has its own.
    min_rows : int, default 1
        A slice of fewer rows takes `shared_`, in which with a finite `gamma` it has no part.
    scale : {"logits", "probabilities"}, default "logits"
        What rows hold. Probabilities are taken as their logarithms.
    gamma : float, at least 0, default infinity
        Largest Euclidean distance of a slice's parameters from the shared ones, the paper's Gamma.
        Below infinity the base has to be temperature scaling by log loss, Platt or vector scaling.

    Attributes
    ----------
    shared_ : LogitCalibrator
        For slices that `fit` has not seen: fitted to all rows, or the one that those of the slices
        are near.
    calibrators_ : dict
        The calibrator of each slice: by its smallest class's column, or by the value in `slices`.
    classes_ : ndarray of shape (class,)
        Labels of the columns.

    Notes
    -----
    With ``TemperatureScaling()`` as base it is class-wise temperature scaling without
    regularisation; with ``TemperatureScaling(loss="ece")`` each slice's calibration error is
    minimised. Predictions stay those of the logits where the base keeps them.

    With `gamma` the mean loss of all slices is minimised over the parameters of each and the shared
    ones at once: of temperature scaling as by `ClassWiseTemperatureScaling`, of the other two, a
    convex programme, by SLSQP. The paper leaves the norm open.

    Examples
    --------
    >>> import bayescal as bc
    >>> logits = [[2.0, 0.0]] * 3 + [[0.0, 2.0]] * 4
    >>> y = [0, 0, 1, 1, 1, 1, 0]
    >>> each = bc.temperature.SliceCalibration().fit(logits, y)
    >>> [round(each.calibrators_[k].alpha_, 3) for k in (0, 1)]
    [0.347, 0.549]
    >>> by_sex = bc.temperature.SliceCalibration().fit(logits, y, slices=list("wmwmwmw"))
    >>> sorted(by_sex.calibrators_)
    ['m', 'w']
    """

    def __init__(
        self,
        base: LogitCalibrator | None = None,
        bundles: Sequence[Sequence[Any]] | None = None,
        min_rows: int = 1,
        scale: str = "logits",
        gamma: float = np.inf,
    ) -> None:
        self.base = base
        self.bundles = bundles
        self.min_rows = min_rows
        self.scale = scale
        self.gamma = gamma

    def fit(
        self,
        X: ArrayLike,
        y: ArrayLike,
        slices: ArrayLike | None = None,
        sample_weight: ArrayLike | None = None,
    ) -> Self:
        """Fit a calibrator to each slice.

        Parameters
        ----------
        X : array-like of shape (obs,), (obs, 1) or (obs, class)
            Logits or probabilities.
        y : array-like of shape (obs,)
            Labels.
        slices : array-like of shape (obs,), optional
            The slice of each row, not its predicted class: a word, a whole number or true/false.
        sample_weight : array-like of shape (obs,), optional
            Weights of the rows; a row of weight 2 counts as two.

        Returns
        -------
        SliceCalibration
            Itself.

        Raises
        ------
        InputError
            If rows cannot be used, a slice is missing, the base is no calibrator of logits, or
            bundles name an unknown class or one twice.
        """
        check_whole(self.min_rows, "min_rows")
        gamma = check_number(
            self.gamma, "gamma", "[0, inf]", "Pass infinity to fit each slice apart."
        )
        base = TemperatureScaling() if self.base is None else self.base
        if not isinstance(base, LogitCalibrator):
            raise InputError(
                f"base must be a calibrator of logits; got {type(base).__name__}. Pass "
                "TemperatureScaling(), VectorScaling(), PlattScaling() or another LogitCalibrator."
            )
        if (scale := getattr(base, "scale", "logits")) not in ("logits", self.scale):
            raise InputError(
                f"scale must be that of base, {scale!r}; got {self.scale!r}. Pass scale={scale!r} "
                "to SliceCalibration, which reads the rows."
            )
        check_same_order(X=X, slices=slices)
        logits, label, weight = self.check(X, y, sample_weight)
        self.bundle_of_ = self._bundle_of()
        self.by_slices_ = slices is not None
        of = self._of(logits, slices, sample_weight)
        self.slices_ = frozenset(name for name, rows in of.items() if len(rows))
        self.shared_ = clone(base)
        warn_of(self.shared_.fit_logits(logits, label, weight))
        large = {name: rows for name, rows in of.items() if len(rows) >= self.min_rows}
        if np.isfinite(gamma) and large:
            one = np.ones(len(label)) if weight is None else weight
            parts = [Part(logits[rows], label[rows], one[rows]) for rows in large.values()]
            self.shared_, each = fit_near(base, parts, gamma)
            self.calibrators_ = dict(zip(large, each, strict=True))
            return self
        self.calibrators_ = {}
        for name, rows in large.items():
            mine = None if weight is None else weight[rows]
            self.calibrators_[name] = clone(base)
            self.calibrators_[name].fit_logits(logits[rows], label[rows], mine)
        return self

    def predict_proba(self, X: ArrayLike, slices: ArrayLike | None = None) -> Floats:
        """Compute calibrated probabilities.

        Parameters
        ----------
        X, slices
            As for `fit`.

        Returns
        -------
        ndarray of shape (obs, class), in [0, 1]
            Probabilities; rows sum to 1.

        Raises
        ------
        InputError
            If `fit` had slices and there are none here, or the other way round, or one is missing.

        Warns
        -----
        UserWarning
            If `fit` has not seen a slice, so that its rows take the calibrator of all.
        """
        return np.asarray(softmax(self._calibrated(X, slices), axis=1))

    def predict(self, X: ArrayLike, slices: ArrayLike | None = None) -> NDArray[Any]:
        """Predict the most probable class.

        Parameters
        ----------
        X, slices
            As for `fit`.

        Returns
        -------
        ndarray of shape (obs,)
            Labels.
        """
        found = predicted_class(self._calibrated(X, slices))
        return np.asarray(self.classes_[found])

    def _calibrated(self, x: ArrayLike, slices: ArrayLike | None) -> Floats:
        check_same_order(X=x, slices=slices)
        logits = self.checked_again(x)
        if (slices is not None) != self.by_slices_:
            raise InputError(
                "slices must be given to both fit and predict, or to neither; fit had "
                f"{'them' if self.by_slices_ else 'none'}."
            )
        of = self._of(logits, slices)
        unseen = [name for name in of if name not in self.slices_]
        if unseen and self.by_slices_:
            warn_of(
                f"fit had no slices {listing(unseen)}: their rows take the calibrator of all rows."
            )
        found = np.empty_like(logits)
        for name, rows in of.items():
            if len(rows):
                chosen = self.calibrators_.get(name, self.shared_)
                found[rows] = chosen.transform_logits(logits[rows])
        return found

    def _of(self, logits: Floats, slices: Any, weight: Any = None) -> dict[Hashable, Integers]:
        """Rows of each slice, perhaps none, among those whose weight is not 0."""
        if slices is None:
            bundle = self.bundle_of_[predicted_class(logits)]
            return {k: np.flatnonzero(bundle == k) for k in range(logits.shape[1])}
        code, names = factorize(slices, "slices")
        kept = np.ones(len(code), np.bool_)
        if weight is not None:
            check_same_length(len(code), "slices", np.size(weight), "sample_weight")
            kept = np.asarray(weight).ravel() > 0
        check_same_length(int(kept.sum()), "slices", len(logits), "X")
        if (code == MISSING).any():
            raise InputError(
                "slices must be known in every row; it is missing at row "
                f"{int((code == MISSING).argmax())}. Give such rows a slice of their own, or leave "
                "them out."
            )
        return {name: np.flatnonzero(code[kept] == k) for k, name in enumerate(names)}

    def _bundle_of(self) -> NDArray[np.intp]:
        """The smallest class of the bundle of each class."""
        column: dict[Hashable, int] = {name: k for k, name in enumerate(self.classes_.tolist())}
        found = np.arange(len(column))
        seen: set[Hashable] = set()
        bundles = () if self.bundles is None else self.bundles
        check_is(bundles, (list, tuple, np.ndarray), "bundles", "Pass [[0, 1], [2]], say.")
        for bundle in bundles:
            check_is(bundle, (list, tuple, np.ndarray), "a bundle", "Pass lists of classes.")
            if not len(bundle):
                raise InputError("a bundle must name a class or more; got none. Leave it out.")
            for name in bundle:
                if not isinstance(name, Hashable) or name not in column or name in seen:
                    raise InputError(
                        f"bundles must name classes of y, each once; got {name!r}. "
                        f"The classes are {self.classes_.tolist()}."
                    )
                seen.add(name)
            columns = [column[name] for name in bundle]
            found[columns] = min(columns)
        return found


# Each step solves a system of as many equations.
_MOST_PARAMETERS: Final = 600


class Part(NamedTuple):
    """The rows of a slice."""

    logits: Floats  # (obs, class)
    label: Integers  # (obs,)
    weight: Floats  # (obs,)


type Near = tuple[LogitCalibrator, Sequence[LogitCalibrator]]
"""The shared calibrator, and that of each slice."""


def fit_near(base: LogitCalibrator, parts: Sequence[Part], gamma: float) -> Near:
    """Minimise the loss of all slices over parameters at most `gamma` from shared ones."""
    if isinstance(base, TemperatureScaling) and base.loss == "nll":
        return _temperatures(base, parts, gamma)
    if isinstance(base, ParametricCalibrator):
        return _parametric(base, parts, gamma)
    raise InputError(
        f"gamma must be infinity for {base!r}, whose loss is not known to be convex in parameters. "
        "Pass TemperatureScaling(), PlattScaling() or VectorScaling() as base, or leave gamma out."
    )


def _temperatures(base: TemperatureScaling, parts: Sequence[Part], gamma: float) -> Near:
    logits, label, weight = (np.concatenate(arrays) for arrays in zip(*parts, strict=True))
    of = np.repeat(np.arange(len(parts)), [len(part.label) for part in parts])
    rows = labeled_rows(logits, label, of, len(parts), weight)
    found = class_wise(rows, gamma, base.alpha_min, base.alpha_max)

    def with_number(alpha: float) -> Any:
        made = clone(base)
        made.alpha_ = float(alpha)
        return made

    return with_number(found.shared), [with_number(alpha) for alpha in found.alpha]


class _Near(NamedTuple):
    """Parameters of slices; a flat point has the shared ones, then how far each slice is off."""

    # From what a slice is off, in a unit that is no more than gamma, to parameters sought: in
    # these themselves first steps would pass a small gamma by far.
    off: Floats
    most: float  # in that unit

    def points(self, flat: Floats) -> Floats:
        """Parameters of the slices, (slice, parameter)."""
        shared, *apart = flat.reshape(-1, len(self.off))
        return np.asarray(shared + np.array(apart) @ self.off)

    def slope(self, slopes: Floats) -> Floats:
        """Derivative by the flat point, from that by the slices' parameters."""
        return np.vstack([slopes.sum(axis=0), slopes @ self.off.T]).ravel()

    def room(self, flat: Floats) -> Floats:
        """What is left, at least 0 where a slice is near enough, (slice,)."""
        apart = flat.reshape(-1, len(self.off))[1:] / self.most
        return np.asarray(1 - (apart**2).sum(axis=1))

    def slope_of_room(self, flat: Floats) -> Floats:
        """Derivative of `room` by the flat point, (slice, (slice + 1) * parameter)."""
        apart = flat.reshape(-1, len(self.off))[1:]
        found, slices = np.zeros((len(apart), *apart.shape)), np.arange(len(apart))
        found[slices, slices] = -2 * apart / self.most**2
        return np.hstack([np.zeros_like(apart), found.reshape(len(apart), -1)])

    def within(self, ends: Sequence[tuple[float, float]], n_slices: int) -> LinearConstraint:
        """The slices' parameters within their ranges."""
        shared = np.tile(np.eye(len(self.off)), (n_slices, 1))
        matrix = np.hstack([shared, np.kron(np.eye(n_slices), self.off.T)])
        return LinearConstraint(matrix, *np.tile(np.transpose(ends), n_slices))


def _parametric(base: ParametricCalibrator, parts: Sequence[Part], gamma: float) -> Near:
    logits, label, weight = map(np.concatenate, zip(*parts, strict=True))
    logits, whole = base.centred(logits, weight)
    ends = np.cumsum([len(part.label) for part in parts])[:-1]
    parts = [Part(own, *part[1:]) for own, part in zip(np.split(logits, ends), parts, strict=True)]
    n_slices, start = len(parts), base.least_loss(logits, label, weight)
    size = len(start)
    if (n_slices + 1) * size > _MOST_PARAMETERS:
        raise InputError(
            f"gamma must be infinity, or slices fewer: {n_slices} of {type(base).__name__} and a "
            f"shared one have {(n_slices + 1) * size} parameters, more than {_MOST_PARAMETERS}. "
            "Bundle classes, or leave gamma out."
        )
    losses = [base.objective(*part) for part in parts]
    mass = np.array([part.weight.sum() for part in parts])
    mass /= mass.sum()
    near = _Near(min(gamma, 1.0) * np.linalg.inv(whole), max(gamma, 1.0))

    def loss(flat: Floats) -> tuple[float, Floats]:
        each = zip(losses, near.points(flat), strict=True)
        values, slopes = zip(*(f(x) for f, x in each), strict=True)
        return float(mass @ values), near.slope(mass[:, None] * np.array(slopes))

    flat = np.append(start, np.zeros(n_slices * size))
    if gamma > 0:
        within = {"type": "ineq", "fun": near.room, "jac": near.slope_of_room}
        ranges = base.domain(parts[0].logits)[1]
        flat = minimize(
            loss,
            flat,
            jac=True,
            method="SLSQP",
            bounds=ranges + [(None, None)] * (n_slices * size),
            constraints=[within, near.within(ranges, n_slices)],
            options={"maxiter": 1000, "ftol": 1e-13},
        ).x
    shared, *each = (_at(base, point @ whole) for point in (flat[:size], *near.points(flat)))
    return shared, each


def _at(base: ParametricCalibrator, point: Floats) -> Any:
    made = clone(base)
    made.take(point)
    return made


# Chosen on other seeds than those of docs/benchmarks.md, by benchmarks/temperature_default.py.
_GAMMA: Final = 0.1


class HeldOutCalibration(Calibrated):
    """Classifier that is calibrated on rows held out of its training, fold by fold.

    Parameters
    ----------
    estimator : classifier with predict_proba, optional
        What to calibrate; logistic regression if not given.
    calibrator : LogitCalibrator, optional
        Of the logarithms of its probabilities; by default class-wise scaling with ``gamma=0.1``.
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
    least_ : float
        What smaller probabilities count as; 0 where no row got one of 0.
    classes_ : ndarray of shape (class,)
        The labels.
    n_features_in_ : int
        Number of features, where the classifier has it.

    Notes
    -----
    Every row serves both to train and to calibrate. A single part held out leaves fewer for
    either, and where its predictions are all right, temperature scaling has no finite optimum. The
    classifiers of the folds see fewer rows than the last, and are a little less sure than it.

    Probabilities of 0, as neighbours and forests give them, have no logit. Where held-out rows got
    some, half of the least other one stands for them.

    A classifier trained already needs no such wrapper: pass its logits to the calibrator.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> import bayescal as bc
    >>> x, y = load_iris(return_X_y=True)
    >>> bc.temperature.HeldOutCalibration(random_state=0).fit(x, y).predict_proba(x[:2]).shape
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

    def _fit(self, rows: Any, labels: NDArray[Any], weight: Floats | None) -> None:
        """Calibrate on rows held out in turn, and train the classifier on all."""
        check_whole(self.n_folds, "n_folds", least=2)
        default = ClassWiseTemperatureScaling(gamma=_GAMMA)
        chosen: Any = default if self.calibrator is None else self.calibrator
        if not hasattr(chosen, "fit") or getattr(chosen, "scale", "logits") != "logits":
            raise InputError(
                f"calibrator must be a calibrator of logits; got {shown(chosen)}. Pass "
                "TemperatureScaling(), say."
            )
        check_class_rows(labels, 2, "Pass more rows.")
        self.classes_ = self._classes_of(labels)
        held_out, target = self._held_out_logits(rows, labels, weight), labels
        if len(seen := np.unique(labels)) < len(self.classes_):
            if getattr(chosen, "bundles", None) is not None:
                raise InputError(
                    "y must hold every class where a calibrator has bundles; got "
                    f"{listing(seen.tolist())} of {listing(self.classes_.tolist())}. Pass rows of "
                    "all classes, or leave bundles out."
                )
            target = (labels[:, None] == self.classes_).argmax(axis=1)
        self.calibrator_ = clone(chosen)
        given = {} if weight is None else {"sample_weight": weight}
        self.calibrator_.fit(held_out, target, **given)
        self.estimator_ = self._trained(rows, labels, weight, np.arange(len(labels)))
        self.take_features_of(self.estimator_)

    def _held_out_logits(self, rows: Any, labels: NDArray[Any], weight: Floats | None) -> Floats:
        """Logits of each row by a classifier that was not trained on it, (obs, class)."""
        most = int(np.unique(labels, return_counts=True)[1].min())
        folds = StratifiedKFold(
            min(self.n_folds, most), shuffle=True, random_state=self.random_state
        )
        found = np.empty((len(labels), len(self.classes_)))
        for train, left_out in folds.split(np.zeros(len(labels)), labels):
            trained = self._trained(rows, labels, weight, train)
            found[left_out] = trained.predict_proba(_safe_indexing(rows, left_out))
        above_0 = found > 0
        self.least_ = 0.0 if above_0.all() else float(found.min(where=above_0, initial=1.0)) / 2
        return log_probabilities(np.maximum(found, self.least_))

    def _probabilities(self, x: ArrayLike) -> Any:
        """Calibrated probabilities, (obs, class)."""
        prob = np.asarray(self.estimator_.predict_proba(x), np.float64)
        return self.calibrator_.predict_proba(log_probabilities(np.maximum(prob, self.least_)))
