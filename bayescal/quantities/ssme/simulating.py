"""Labels as the model says they arise, with what is true of them."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from bayescal.core.errors import InputError
from bayescal.core.factorize import MISSING
from bayescal.quantities.ssme.case import SSMECase
from bayescal.quantities.ssme.priors import Tilt

type Floats = NDArray[np.float64]


def replicate(case: SSMECase, rng: np.random.Generator) -> tuple[SSMECase, dict[str, Floats]]:
    """Draw coefficients from the prior, and labels from the model.

    Parameters
    ----------
    case : SSMECase
        Its scores stay, and which rows are labeled; the labels give way.
    rng : numpy.random.Generator
        Source of randomness.

    Returns
    -------
    case : SSMECase
        The same rows with new labels.
    values : dict of str to ndarray
        What gave them: metrics and coefficients.

    Raises
    ------
    InputError
        If the posterior is not that of the model: a power below 1, labels forced, or a mixture,
        whose scores would have to be drawn too.

    Notes
    -----
    Metrics are those of the simulated population: labels of all rows drawn given the coefficients,
    and Bayesian bootstrap weights.
    """
    if case.priors.power != 1 or case.problem.labeling != "random":
        raise InputError(
            "simulated labels are the model's own only with power=1 and labeling='random'; got "
            f"power={case.priors.power}, labeling={case.problem.labeling!r}."
        )
    if not isinstance(case.priors.label, Tilt):
        raise InputError(
            "labels are simulated given the scores, which a mixture says nothing of; got "
            f"{type(case.priors.label).__name__}. Pass Tilt()."
        )
    draws = {name: v[None] for name, v in case.model.prior_draws(1, rng).items()}
    prob = case.model.label_probs({name: v[0] for name, v in draws.items()})[0]
    below = prob.cumsum(axis=1)[:, :-1]
    label = (rng.random(len(prob))[:, None] > below).sum(axis=1).astype(np.int32)
    panel = case.problem.panel
    y = np.where(panel.labeled, label, MISSING).astype(np.int32)
    problem = replace(case.problem, panel=replace(panel, y=y))
    new = SSMECase.of(problem, case.priors, case.ece, case.keep_labels)
    found = new.quantities(draws, rng)
    shown = {name: draws[name] for name in case.model.shown}
    return new, {name: v[0, 0] for name, v in {**found, **shown}.items()}
