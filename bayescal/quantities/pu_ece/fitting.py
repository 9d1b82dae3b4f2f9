"""The models to fit for given data, and what they share."""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from bayescal.core.edges import Strategy, strategy_name
from bayescal.core.errors import InputError, ScarWarning
from bayescal.core.pu_scores import PUScores
from bayescal.quantities.pu_ece.case import PUCase
from bayescal.quantities.pu_ece.doubt import check_possible, doubts
from bayescal.quantities.pu_ece.prepare import problems
from bayescal.quantities.pu_ece.priors import Priors


def cases(
    data: PUScores,
    priors: Priors,
    *,
    n_bins: int = 15,
    strategy: Strategy = "quantile",
    closed: str = "right",
) -> list[PUCase]:
    """Cut data into the models to fit.

    Parameters
    ----------
    data : PUScores
        Positive and unlabelled scores.
    priors : Priors
        Priors.
    n_bins, strategy, closed
        Bins, cut on the unlabelled scores; see `bayescal.bin_scores`.

    Returns
    -------
    list of PUCase
        One a classifier.

    Raises
    ------
    InputError
        If the data are no PUScores, or rule the class prior out.

    Warns
    -----
    ScarWarning
        If the positives do not look drawn from the unlabelled rows at the class prior's mean.
    """
    if not isinstance(data, PUScores):
        raise InputError(
            "the data must be PUScores, positive and unlabelled scores; "
            f"got {type(data).__name__}. With labels, fit bayescal.ece."
        )
    found = problems(data, priors, n_bins, strategy, closed)
    for problem in found:
        check_possible(problem, priors)
        for doubt in doubts(problem, priors):
            warnings.warn(doubt, ScarWarning, stacklevel=3)
    return [PUCase.of(problem, priors) for problem in found]


def pairing(
    data: PUScores, cases: Sequence[Any], draws: Sequence[Mapping[str, Any]], **_: Any
) -> None:
    """No correlation of classifiers: they are compared as if on rows of their own.

    Parameters
    ----------
    data : PUScores
        What was fitted.
    cases : sequence of PUCase
        The fits' cases.
    draws : sequence of mapping of str to ndarray
        What the fits gave.
    **_
        Options that matter not here.
    """


def describe(
    data: PUScores,
    *,
    n_bins: int = 15,
    strategy: Strategy = "quantile",
    closed: str = "right",
) -> dict[str, Any]:
    """Say what was binned, and how.

    Parameters
    ----------
    data : PUScores
        What was fitted.
    n_bins, strategy, closed
        As in `bayescal.fit`.

    Returns
    -------
    dict
        Root attributes of the result.
    """
    return {
        "n_obs": data.n_positive + data.n_unlabeled,
        "n_labeled": data.n_positive,
        "n_positive": data.n_positive,
        "n_unlabeled": data.n_unlabeled,
        "classes": ["unlabeled", "positive"],
        "multiclass": "binary",
        "binning_strategy": strategy_name(strategy),
        "n_bins": n_bins if isinstance(strategy, str) else len(np.asarray(strategy)) - 1,
        "closed": closed,
    }
