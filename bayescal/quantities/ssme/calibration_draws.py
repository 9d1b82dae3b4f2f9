"""Calibration errors alone, for many draws of the labels' probabilities."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from bayescal.quantities.ssme.binned_error import CONVENTIONS, binned_errors, membership
from bayescal.quantities.ssme.metrics import convention_name

type Floats = NDArray[np.float64]


def calibration_errors(
    probs: Floats, q: Floats, weights: Floats, ece: str | None = None
) -> tuple[Floats, Floats]:
    """Take the calibration errors that `metrics` gives, at a fraction of its time.

    Parameters
    ----------
    probs : ndarray of shape (classifier, obs, class), in [0, 1]
        Class probabilities.
    q : ndarray of shape (draw, obs, class), in [0, 1]
        Probability of each label of each row.
    weights : ndarray of shape (draw, obs)
        Row weights.
    ece : {"equal-mass", "equal-width", "top-label"}, optional
        Convention.

    Returns
    -------
    ece, mce : ndarray of shape (draw, classifier)
        Mean and largest gap of the bins.

    Raises
    ------
    InputError
        If the convention is unknown or does not fit.

    Examples
    --------
    >>> import numpy as np
    >>> from bayescal.quantities.ssme.calibration_draws import calibration_errors
    >>> probs = np.array([[[0.9, 0.1], [0.2, 0.8]]])
    >>> ece, mce = calibration_errors(probs, np.eye(2)[None], np.ones((1, 2)), "equal-width")
    >>> ece.round(2).tolist(), mce.round(2).tolist()
    ([[0.15]], [[0.2]])
    """
    convention = CONVENTIONS[convention_name(ece, probs.shape[2])]
    rows = np.arange(probs.shape[1])
    found = []
    for own in probs:
        # The event of a top-label error is that the class predicted is the label.
        event = own.argmax(axis=1) if convention.top_label else np.ones(len(own), dtype=np.intp)
        score = own[rows, event]
        happened = q[:, rows, event] * weights
        bins = membership(score, convention)
        found.append(
            binned_errors(score, bins, happened, weights, mass_weighted=convention.mass_weighted)
        )
    errors, largest = (np.stack(values, axis=-1) for values in zip(*found, strict=True))
    return errors, largest
