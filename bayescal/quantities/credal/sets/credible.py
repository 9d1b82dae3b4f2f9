"""Credal sets of a result: credible bounds of each row, and what they decide."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

from bayescal.core.probability_intervals import decide, decide_binary, of_both_classes
from bayescal.core.quantity import Floats
from bayescal.results import access, schema
from bayescal.results.intervals import tail

if TYPE_CHECKING:
    from xarray import DataTree


class CredibleSets(NamedTuple):
    """Credal sets of the rows that a result holds; a leading dim ``classifier`` where several.

    Parameters
    ----------
    lower, upper : ndarray of shape (..., obs, class), in [0, 1]
        Credal-credible bounds of each class, as `e_admissible` and other decisions take them.
    proper : ndarray of shape (..., obs), bool
        Whether class probabilities lie between the bounds.
    decision : ndarray of shape (..., obs), int
        Place of the class decided on: of the admissible ones that of the largest lower probability.
    admissible : ndarray of shape (..., obs, class), bool
        Whether a class is the most probable one for some member. More than one is admissible where
        the rows do not decide.
    """

    lower: Floats
    upper: Floats
    proper: NDArray[np.bool_]
    decision: NDArray[np.int64]
    admissible: NDArray[np.bool_]


def credible_sets(result: DataTree, prob: float = 0.9) -> CredibleSets:
    """Compute the credal sets of a result.

    Parameters
    ----------
    result : xarray.DataTree
        What ``bayescal.fit(bayescal.credal, ...)`` returned.
    prob : float, in (0, 1), default 0.9
        Credible probability of the bounds of each class.

    Returns
    -------
    CredibleSets
        Bounds from the ``(1 - prob) / 2`` quantile of ``prob_lower`` to the ``(1 + prob) / 2``
        quantile of ``prob_upper``, and what holds of them.

    Raises
    ------
    InputError
        If the result is of another quantity, or `prob` lies outside (0, 1).

    Notes
    -----
    `prob` holds for the bounds of each class, not for all classes at once. Bounds of several
    classes are discounted before a decision where they leave no probabilities.

    Examples
    --------
    >>> import bayescal as bc
    >>> data = bc.datasets.credal.truth("logistic").split(100, 5, seed=1)
    >>> priors = bc.credal.Priors(bc.credal.ImpreciseDirichlet())
    >>> result = bc.fit(bc.credal, data, priors=priors, seed=20, method="direct")
    >>> bc.credal.credible_sets(result).lower.shape
    (5, 2)
    """
    schema.check_result_of(result, "credal")
    alpha = tail(prob)
    draws = schema.DRAW_DIMS
    held = (access.variable(result, schema.POSTERIOR, f"prob_{end}") for end in ("lower", "upper"))
    lower, upper = (
        values.transpose(*draws, ...).quantile(level, draws).to_numpy()
        for values, level in zip(held, (alpha, 1 - alpha), strict=True)
    )
    if result.attrs["multiclass"] == "binary":
        both = of_both_classes(lower, upper)
        return CredibleSets(both.lower, both.upper, *decide_binary(lower, upper))
    return CredibleSets(lower, upper, *decide(lower, upper))
