"""Data as the model says they arise, with what is true of them."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from bayescal.core.bin_counts import BinCounts
from bayescal.core.error_draws import Floats, draw_masses, error_draws
from bayescal.core.problem import Problem
from bayescal.quantities.ece.case import EceCase
from bayescal.quantities.ece.grouped import GroupedCase

type Values = dict[str, Floats]


def replicate[Replicated: (EceCase, GroupedCase)](
    case: Replicated, rng: np.random.Generator
) -> tuple[Replicated, Values]:
    """Draw parameters from the prior, and labels for a case's scores from the model.

    Parameters
    ----------
    case : EceCase or GroupedCase
        Its scores stay; its labels give way.
    rng : numpy.random.Generator
        Source of randomness.

    Returns
    -------
    case : EceCase or GroupedCase
        The same scores with new labels.
    values : dict of str to ndarray
        What gave them: ``tce``, ``ece`` and ``mce``, ``label_rate`` and ``gap`` (bin), all of them
        after a dim `group` where there are groups, and then ``pooling``.

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
    if isinstance(case, GroupedCase):
        return _grouped(case, rng)
    problem, values = _drawn(case.problem, case.rates.prior_rates(1, rng), rng)
    return EceCase.of(problem, case.priors), values


def _grouped(case: GroupedCase, rng: np.random.Generator) -> tuple[GroupedCase, Values]:
    before = case.rates.prior_draws(1, rng)
    problems, values = zip(
        *(
            _drawn(alone.problem, case.rates.cell_rates(before, place), rng)
            for place, alone in enumerate(case.alone)
        ),
        strict=True,
    )
    again = GroupedCase.of(problems, case.rates.prior, case.alone[0].priors, case.told)
    stacked = {name: np.stack([value[name] for value in values]) for name in values[0]}
    return again, {**stacked, "pooling": before["pooling"][0]}


def _drawn(problem: Problem, rates: Floats, rng: np.random.Generator) -> tuple[Problem, Values]:
    """Labels of one problem for one draw of its cells' rates, and the quantities behind them."""
    again = _relabelled(problem, rng.binomial(problem.cells.count, rates[0]))
    mass = draw_masses(problem.cells.count, (1, len(rates)), rng)
    drawn = error_draws(problem, rates[None], mass)
    return again, {name: value[0, 0] for name, value in drawn.items()}


def _relabelled(problem: Problem, positives: NDArray[np.int64]) -> Problem:
    old = problem.cells
    cells = BinCounts(old.edges, old.count, positives, old.mean_score, old.closed, old.strategy)
    if problem.bins is old:
        return Problem(problem.coords, cells, cells)
    return Problem(problem.coords, cells, cells.merge(problem.bins.edges, problem.bins.strategy))
