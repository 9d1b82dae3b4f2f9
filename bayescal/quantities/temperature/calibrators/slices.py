"""Algorithm 1: any calibrator, fitted apart to the rows of each slice."""

from __future__ import annotations

import warnings
from collections.abc import Hashable, Iterator, Sequence
from typing import Any, NamedTuple, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import softmax
from sklearn.base import clone

from bayescal.core.checks import check_is, check_number, check_same_length, check_whole, listing
from bayescal.core.columns import MISSING, factorize
from bayescal.core.errors import InputError
from bayescal.core.quantity import Floats
from bayescal.quantities.temperature.calibrators.base import LogitCalibrator, OfLogits
from bayescal.quantities.temperature.calibrators.near_shared import Part, fit_near
from bayescal.quantities.temperature.calibrators.temperature import TemperatureScaling
from bayescal.quantities.temperature.logits import predicted_class
from bayescal.quantities.temperature.loss import Integers


class _Slices(NamedTuple):
    """The slice of each row, as its place among the names."""

    code: Integers  # (obs,)
    names: Sequence[Hashable]

    def rows(self) -> Iterator[tuple[Hashable, Integers]]:
        """Rows of each slice that has any."""
        for place, name in enumerate(self.names):
            held = np.flatnonzero(self.code == place)
            if len(held):
                yield name, held


class SliceCalibration(OfLogits):
    """Calibrator that fits another one to each predicted class, bundle of classes or slice.

    Parameters
    ----------
    base : LogitCalibrator, optional
        What is fitted to each slice; temperature scaling if not given.
    bundles : sequence of sequence of label, optional
        Predicted classes that share a calibrator; a class in none of them has its own. Without it
        every predicted class has its own.
    min_rows : int, default 1
        A slice of fewer rows takes the calibrator of all rows.
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

    References
    ----------
    .. [1] Y. Zhao, J. Chen and S. Oymak, "On the Role of Dataset Quality and Heterogeneity in Model
       Confidence", 2020, Algorithm 1; bundles of classes, section 4.1.
       https://arxiv.org/abs/2002.09831

    Examples
    --------
    >>> from bayescal.quantities.temperature.calibrators.slices import SliceCalibration
    >>> logits = [[2.0, 0.0]] * 3 + [[0.0, 2.0]] * 4
    >>> y = [0, 0, 1, 1, 1, 1, 0]
    >>> each = SliceCalibration().fit(logits, y)
    >>> [round(each.calibrators_[k].alpha_, 3) for k in (0, 1)]
    [0.347, 0.549]
    >>> women = SliceCalibration().fit(logits, y, slices=["w", "m", "w", "m", "w", "m", "w"])
    >>> sorted(women.calibrators_)
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
            The slice of each row, in place of its predicted class: a word, a whole number or
            true/false.
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
        logits, label, weight = self.check(X, y, sample_weight)
        base = TemperatureScaling() if self.base is None else self.base
        if not isinstance(base, LogitCalibrator):
            raise InputError(
                f"base must be a calibrator of logits; got {type(base).__name__}. Pass "
                "TemperatureScaling(), VectorScaling(), PlattScaling() or another LogitCalibrator."
            )
        self.bundle_of_ = self._bundle_of()
        self.by_slices_ = slices is not None
        of = self._of(logits, slices, sample_weight)
        self.slices_ = frozenset(of.names)
        self.shared_ = clone(base)
        self.shared_.fit_logits(logits, label, weight)
        large = {name: held for name, held in of.rows() if len(held) >= self.min_rows}
        if np.isfinite(gamma) and large:
            one = np.ones(len(label)) if weight is None else weight
            parts = [Part(logits[held], label[held], one[held]) for held in large.values()]
            self.shared_, each = fit_near(base, parts, gamma)
            self.calibrators_ = dict(zip(large, each, strict=True))
            return self
        self.calibrators_ = {}
        for name, held in large.items():
            mine = None if weight is None else weight[held]
            self.calibrators_[name] = clone(base)
            self.calibrators_[name].fit_logits(logits[held], label[held], mine)
        return self

    def predict_proba(
        self,
        X: ArrayLike,
        slices: ArrayLike | None = None,
    ) -> Floats:
        """Compute calibrated probabilities.

        Parameters
        ----------
        X : array-like of shape (obs,) or (obs, class)
            As in `fit`.
        slices : array-like of shape (obs,), optional
            The slice of each row, as in `fit`.

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

    def predict(
        self,
        X: ArrayLike,
        slices: ArrayLike | None = None,
    ) -> NDArray[Any]:
        """Predict the most probable class.

        Parameters
        ----------
        X : array-like of shape (obs,) or (obs, class)
            As in `fit`.
        slices : array-like of shape (obs,), optional
            The slice of each row, as in `fit`.

        Returns
        -------
        ndarray of shape (obs,)
            Labels.
        """
        return np.asarray(self.classes_[predicted_class(self._calibrated(X, slices))])

    def _calibrated(self, x: ArrayLike, slices: ArrayLike | None) -> Floats:
        logits = self.checked_again(x)
        if (slices is not None) != self.by_slices_:
            raise InputError(
                "slices must be given to both fit and predict, or to neither; fit had "
                f"{'them' if self.by_slices_ else 'none'}."
            )
        of = self._of(logits, slices)
        unseen = [name for name in of.names if name not in self.slices_]
        if unseen and self.by_slices_:
            warnings.warn(
                f"fit had no slices {listing(unseen)}: their rows take the calibrator of all rows.",
                UserWarning,
                stacklevel=3,
            )
        found = np.empty_like(logits)
        for name, held in of.rows():
            chosen = self.calibrators_.get(name, self.shared_)
            found[held] = chosen.transform_logits(logits[held])
        return found

    def _of(self, logits: Floats, slices: Any, weight: Any = None) -> _Slices:
        """The slice of each row whose weight is not 0."""
        if slices is None:
            return _Slices(self.bundle_of_[predicted_class(logits)], range(logits.shape[1]))
        code, names = factorize(slices, "slices")
        held = np.ones(len(code), np.bool_)
        if weight is not None:
            check_same_length(len(code), "slices", np.size(weight), "sample_weight")
            held = np.asarray(weight).ravel() > 0
        check_same_length(int(held.sum()), "slices", len(logits), "X")
        if (code == MISSING).any():
            raise InputError(
                "slices must be known in every row; it is missing at row "
                f"{int((code == MISSING).argmax())}. Give such rows a slice of their own, or leave "
                "them out."
            )
        return _Slices(code[held], names)

    def _bundle_of(self) -> NDArray[np.intp]:
        """The smallest class of the bundle of each class."""
        column: dict[Hashable, int] = {name: k for k, name in enumerate(self.classes_.tolist())}
        found = np.arange(len(column))
        seen: set[Hashable] = set()
        bundles = () if self.bundles is None else self.bundles
        check_is(bundles, (list, tuple, np.ndarray), "bundles", "Pass [[0, 1], [2]], say.")
        for bundle in bundles:
            check_is(bundle, (list, tuple, np.ndarray), "a bundle", "Pass lists of classes.")
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
