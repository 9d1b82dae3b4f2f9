"""Labels as the model says they arise, with what is true of them."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from bayescal.quantities.credal.case import CredalCase

type Floats = NDArray[np.float64]


def replicate(case: CredalCase, rng: np.random.Generator) -> tuple[CredalCase, dict[str, Floats]]:
    """Draw curves from the prior, and labels from the model.

    Parameters
    ----------
    case : CredalCase
        Its scores stay, its labels give way.
    rng : numpy.random.Generator
        Source of randomness.

    Returns
    -------
    case : CredalCase
        The same scores with new labels.
    values : dict of str to ndarray
        What gave them: ``prob`` of the rows held, and the model's variables.

    Notes
    -----
    Classes are simulated apart, as they are modelled: their labels need not fit together.
    """
    drawn = case.rates.prior_draws(1, rng)
    draws = {name: value[None] for name, value in drawn.items()}
    positives = rng.binomial(case.problem.count, case.rates.cell_prob(drawn)[0])
    prob = case.imagined(draws).prob[0, 0]
    values = {name: value[0] for name, value in drawn.items()}
    return case.relabelled(positives), {"prob": prob, **values}
