"""Data as the model says they arise, with what is true of them."""

from __future__ import annotations

import numpy as np

from bayescal.core.bin_counts import BinCounts
from bayescal.quantities.ece.case import EceCase
from bayescal.quantities.ece.posterior import Floats, quantities
from bayescal.quantities.ece.problem import Problem


def replicate(case: EceCase, rng: np.random.Generator) -> tuple[EceCase, dict[str, Floats]]:
    """Draw parameters from the prior, and labels for a case's scores from the model.

    Parameters
    ----------
    case : EceCase
        Its scores stay; its labels give way.
    rng : numpy.random.Generator
        Source of randomness.

    Returns
    -------
    case : EceCase
        The same scores with new labels.
    values : dict of str to ndarray
        ``tce``, ``ece``, ``mce`` () and ``label_rate``, ``gap`` (bin) that gave them.

    Notes
    -----
    The model is conditional on the scores. Given them the cells' masses are Dirichlet(count)
    whatever the labels, so that is where the true masses are drawn from: the improper prior that
    they come from is never needed.

    Examples
    --------
    >>> import numpy as np
    >>> import bayescal as bc
    >>> scores = bc.datasets.ece.truth("over").scores(1000, seed=1)
    >>> case = bc.ece.cases(scores, bc.ece.Priors())[0]
    >>> again, values = bc.ece.replicate(case, np.random.default_rng(20))
    >>> bool((again.problem.bins.count == case.problem.bins.count).all())
    True
    """
    rates = case.rates.prior_rates(1, rng)
    problem = _relabelled(case.problem, rng.binomial(case.problem.cells.count, rates[0]))
    drawn = quantities(problem, rates[None], rng)
    return EceCase.of(problem, case.priors), {name: value[0, 0] for name, value in drawn.items()}


def _relabelled(problem: Problem, positives: np.ndarray) -> Problem:
    old = problem.cells
    cells = BinCounts(old.edges, old.count, positives, old.mean_score, old.closed, old.strategy)
    if problem.bins is old:
        return Problem(problem.coords, cells, cells)
    return Problem(problem.coords, cells, cells.merge(problem.bins.edges, problem.bins.strategy))
