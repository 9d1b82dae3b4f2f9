"""The true calibration error where no closed form gives it: from mixtures fitted to logits."""

from __future__ import annotations

import warnings
from typing import Any, Final, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from bayescal.core.checks import MOST_DRAWN, check_whole, generator
from bayescal.core.columns import to_doubles
from bayescal.core.errors import InputError
from bayescal.quantities.pu_ece.estimator import check_class_prior
from bayescal.quantities.pu_ece.logit_mixtures import (
    POINTS,
    LogitMixture,
    MixtureTruth,
    Seed,
    calibration_error,
)

type Floats = NDArray[np.float64]
_TRIES: Final = 3
_ITERATIONS: Final = 500


# Beyond it squares of logits are no longer numbers that a mixture can be fitted to.
_LARGEST = 1e6


class MixtureTCE(NamedTuple):
    """True calibration error under fitted densities of the logits."""

    tce: float
    n_components_positive: int
    n_components_negative: int
    truth: MixtureTruth


def tce_from_logits(
    positive: ArrayLike,
    negative: ArrayLike,
    *,
    class_prior: float,
    max_components: int = 10,
    points: int = POINTS,
    seed: Seed = None,
) -> MixtureTCE:
    """Compute the calibration error of a classifier from densities fitted to its logits.

    It takes rows of both classes: a reference for estimates from positive and unlabelled rows, not
    an estimate of that kind.

    Parameters
    ----------
    positive, negative : array-like of shape (obs,)
        Logits of rows of each class.
    class_prior : float, in (0, 1)
        Share of positives in the population, whatever that of the rows given.
    max_components : int, default 10
        Largest number of Gaussians that is tried for a class.
    points : int, default 10_000
        Points of the trapezoid rule; more are taken where a Gaussian is so narrow as to need them.
    seed : int or Generator, optional
        Source of the starting values of the fits.

    Returns
    -------
    MixtureTCE
        The error, how many Gaussians describe each class, and the Gaussians.

    Raises
    ------
    InputError
        If logits are missing, infinite or all the same, or a number lies outside its range.

    Notes
    -----
    With p+ and p- the densities of the logit z in the classes and pi the class prior, the error is
    that of the score ``sigmoid(z)``::

        TCE = integral of | pi p+(z) - sigmoid(z) (pi p+(z) + (1 - pi) p-(z)) | dz

    Each density is a mixture of Gaussians fitted by EM, with the number of components from 1 to
    `max_components` that makes the Bayesian information criterion least. Fits that do not converge
    are left out. The experiments of [1]_ go on with rows drawn from the mixtures, whose true error
    is known: `MixtureTruth.scores` draws them. The result is as good as the mixtures: it inherits
    their sampling error, and is biased upward for a calibrated classifier, as every distance is.

    References
    ----------
    .. [1] Anonymous authors, "Estimating Expected Calibration Error for Positive-Unlabeled
       Learning", under review for Transactions on Machine Learning Research, 2025, section 5.1.
       https://openreview.net/forum?id=SvoBtLIrPZ

    Examples
    --------
    >>> import numpy as np
    >>> from bayescal.quantities.pu_ece.mixture_tce import tce_from_logits
    >>> rng = np.random.default_rng(1)
    >>> x = rng.standard_normal((2, 2000)) + [[1], [-1]]
    >>> found = tce_from_logits(*(4 * x), class_prior=0.5, seed=1)  # calibrated: 2 x
    >>> round(found.tce, 3), found.n_components_positive
    (0.077, 1)
    >>> found.truth.scores((100, 1000), seed=1)
    <PUScores: classifiers 'mixture'; n_positive 100, n_unlabeled 1000>
    """
    check_class_prior(class_prior)
    for count, name in ((max_components, "max_components"), (points, "points")):
        check_whole(count, name, most=MOST_DRAWN)
    rng = generator(seed)
    found, others = (
        _fit(_checked(logits, name), max_components, int(rng.integers(2**31)))
        for logits, name in ((positive, "positive"), (negative, "negative"))
    )
    truth = MixtureTruth(found, others, class_prior)
    tce = calibration_error(truth, points)
    return MixtureTCE(tce, len(found.weight), len(others.weight), truth)


def _checked(logits: ArrayLike, name: str) -> Floats:
    values = to_doubles(logits, name)
    if values.ndim != 1 or not len(values):
        raise InputError(f"{name} must hold one logit a row; got shape {values.shape}.")
    if not np.isfinite(values).all():
        row = int(np.argmin(np.isfinite(values)))
        raise InputError(
            f"{name} logits must be finite; got {values[row]} at row {row}. "
            "Compute them from the classifier, not from scores that round to 0 or 1."
        )
    if np.abs(values).max() > _LARGEST:
        row = int(np.argmax(np.abs(values)))
        raise InputError(
            f"{name} logits must be {_LARGEST:g} at most in size; got {values[row]:.6g} at row "
            f"{row}. Divide them by a number."
        )
    # The variance of logits as near to each other as 1e-162 is 0 too.
    if values.min() == values.max() or values.std() == 0:
        raise InputError(f"{name} logits must differ; all are {values[0]:g}. They have no density.")
    return values


def _fit(logits: Floats, max_components: int, seed: int) -> LogitMixture:
    """Fit mixtures of 1, 2, ... Gaussians; return the one with the least BIC."""
    # EM's regularisation is absolute: standardised logits make it relative.
    centre, scale = logits.mean(), logits.std()
    rows = ((logits - centre) / scale)[:, None]
    most = min(max_components, len(np.unique(logits)))
    fits = [_converged(rows, count, seed) for count in range(1, most + 1)]
    best = min((fit for fit in fits if fit is not None), key=lambda fit: float(fit.bic(rows)))
    return LogitMixture(
        weight=tuple(best.weights_.tolist()),
        mean=tuple((centre + scale * best.means_[:, 0]).tolist()),
        scale=tuple((scale * np.sqrt(best.covariances_[:, 0, 0])).tolist()),
    )


def _converged(rows: Floats, n_components: int, seed: int) -> Any | None:
    from sklearn.exceptions import ConvergenceWarning
    from sklearn.mixture import GaussianMixture

    mixture = GaussianMixture(
        n_components, n_init=_TRIES, max_iter=_ITERATIONS, random_state=seed, reg_covar=1e-6
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        mixture.fit(rows)
    return mixture if mixture.converged_ else None
