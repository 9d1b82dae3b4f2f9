"""Class probabilities as coordinates without bounds: the additive log-ratio transform."""

from __future__ import annotations

from typing import Final

import numpy as np

from bayescal.core.quantity import Floats

# A probability of 0 has no logarithm. The paper names no bound.
EPSILON = 1e-6
# The class that the others are compared with, by name.
REFERENCES: Final = {"first": 0, "last": -1}


def alr(probs: Floats, reference: str = "first", epsilon: float = EPSILON) -> Floats:
    """Log ratio of every class to a reference class, classifier by classifier.

    Notes
    -----
    Probabilities are clipped to [`epsilon`, 1 - `epsilon`] first; the paper's text has no bound.
    Of two classes the choice only turns the sign. Of more it changes distances between rows, and
    with them every kernel: the transform is one-to-one, but no isometry.

    References
    ----------
    .. [1] J. Aitchison, "The Statistical Analysis of Compositional Data", Journal of the Royal
       Statistical Society B 44(2), 1982, section 4. https://doi.org/10.1111/j.2517-6161.1982.tb01195.x
    """
    logs = np.log(np.clip(probs, epsilon, 1 - epsilon))
    place = REFERENCES[reference] % probs.shape[2]
    ratios = np.delete(logs, place, axis=2) - logs[:, :, [place]]
    return ratios.transpose(1, 0, 2).reshape(probs.shape[1], -1)
