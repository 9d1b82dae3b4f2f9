"""Class probabilities as coordinates without bounds: the additive log-ratio transform."""

from __future__ import annotations

import numpy as np

from bayescal.core.quantity import Floats

EPSILON = 1e-6


def alr(probs: Floats, epsilon: float = EPSILON) -> Floats:
    """Log ratio of every class to the first, classifier by classifier.

    References
    ----------
    .. [1] J. Aitchison, "The Statistical Analysis of Compositional Data", Journal of the Royal
       Statistical Society B 44(2), 1982, section 4. https://doi.org/10.1111/j.2517-6161.1982.tb01195.x
    """
    logs = np.log(np.clip(probs, epsilon, 1 - epsilon))
    ratios = logs[:, :, 1:] - logs[:, :, :1]
    return ratios.transpose(1, 0, 2).reshape(probs.shape[1], -1)
