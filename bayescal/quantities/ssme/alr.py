"""Class probabilities as coordinates without bounds: the additive log-ratio transform."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

EPSILON = 1e-6


def alr(probs: NDArray[np.float64], epsilon: float = EPSILON) -> NDArray[np.float64]:
    """Log ratio of every class to the first, classifier by classifier.

    Parameters
    ----------
    probs : ndarray of shape (classifier, obs, class), in [0, 1]
        Class probabilities.
    epsilon : float, default 1e-6
        Probabilities below `epsilon`, and so those of exactly 0, count as `epsilon`; those above
        ``1 - epsilon`` count as that.

    Returns
    -------
    ndarray of shape (obs, classifier * (class - 1))
        Coordinates; of a binary score its log odds.

    References
    ----------
    .. [1] J. Aitchison, "The Statistical Analysis of Compositional Data", Journal of the Royal
       Statistical Society B 44(2), 1982, section 4. https://doi.org/10.1111/j.2517-6161.1982.tb01195.x

    Examples
    --------
    >>> import numpy as np
    >>> from bayescal.quantities.ssme.alr import alr
    >>> alr(np.array([[[0.5, 0.5], [0.2, 0.8]]])).round(3).tolist()
    [[0.0], [1.386]]
    """
    logs = np.log(np.clip(probs, epsilon, 1 - epsilon))
    ratios = logs[:, :, 1:] - logs[:, :, :1]
    return ratios.transpose(1, 0, 2).reshape(probs.shape[1], -1)
