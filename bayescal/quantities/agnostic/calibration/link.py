"""A calibrating function: from a classifier's score to a better one."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from bayescal.core.intake import to_probabilities

type Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True, eq=False)
class Link:
    """A function of the score, known at the scores that it was fitted to.

    Parameters
    ----------
    score : ndarray of shape (distinct,), in [0, 1]
        Scores, rising.
    value : ndarray of shape (distinct,), in [0, 1]
        Calibrated scores. Between two scores the function is a straight line, beyond them constant.

    Examples
    --------
    >>> import numpy as np
    >>> from bayescal.quantities.agnostic.calibration.link import Link
    >>> Link(np.array([0.25, 0.75]), np.array([0.5, 1.0]))([0.0, 0.5, 0.75]).tolist()
    [0.5, 0.75, 1.0]
    """

    score: Floats
    value: Floats

    def __call__(self, score: ArrayLike) -> Floats:
        """Calibrate scores.

        Parameters
        ----------
        score : array-like of shape (...), in [0, 1]
            Scores.

        Returns
        -------
        ndarray of shape (...), in [0, 1]
            Calibrated scores.

        Raises
        ------
        InputError
            If scores are not probabilities.
        """
        return np.asarray(np.interp(to_probabilities(score, "score"), self.score, self.value))
