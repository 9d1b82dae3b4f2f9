"""Which of several classifiers is best by a metric, and with what probability."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final

import numpy as np
import xarray as xr
from numpy.typing import NDArray

from bayescal.core.errors import InputError
from bayescal.results import schema
from bayescal.results.metrics import HIGHER, check_joint, check_metric, metric_title

RANK: Final = "rank"
LIKELY: Final = 0.5
"""Probability from which on a classifier is called the best."""

_WHERE: Final = {schema.GROUP: "in group", schema.PRIOR_NAME: "under prior"}


@dataclass(frozen=True, slots=True, eq=False)
class Best:
    """How probable it is that each classifier is the best, the second best, and so on.

    Attributes
    ----------
    var : str
        The metric.
    prob_best : xarray.DataArray
        Probability of being best, (classifier,), with dims group and prior first where the result
        has them; sums to 1 over classifiers.
    prob_rank : xarray.DataArray
        Probability of each rank, 1 for the best, (..., classifier, rank); sums to 1 over
        classifiers and over ranks.
    converged : bool
        Whether the fit passed its diagnostics.
    """

    var: str
    prob_best: xr.DataArray
    prob_rank: xr.DataArray
    converged: bool = True

    @property
    def text(self) -> str:
        """The answer in sentences."""
        lead = [dim for dim in self.prob_best.dims if dim != schema.CLASSIFIER]
        told = self.prob_best.stack(where=lead) if lead else self.prob_best.expand_dims("where")
        words = [self._sentence(one, lead) for one in told.transpose("where", ...)]
        doubt = "" if self.converged else "Not to be relied on, the fit did not converge. "
        return doubt + " ".join(words)

    def _sentence(self, one: xr.DataArray, lead: list[Any]) -> str:
        place = "".join(f" {_WHERE[dim]} {one[dim].item()}" for dim in lead)
        head = f"By {metric_title(self.var)}{place}"
        if bool(one.isnull().all()):
            return f"{head}, nothing can be said: the metric is undefined in every draw."
        order = np.argsort(-one.values, kind="stable")
        names = [str(one[schema.CLASSIFIER].values[k]) for k in order[:2]]
        first, second = (_probability(float(one.values[k])) for k in order[:2])
        if one.values[order[0]] < LIKELY:
            return (
                f"{head}, no classifier is clearly best; {names[0]} leads with probability "
                f"{first}, before {names[1]} with {second}."
            )
        return f"{head}, {names[0]} is best with probability {first}; {names[1]} has {second}."


def best(tree: xr.DataTree, var: str = "accuracy") -> Best:
    """Posterior probability of each classifier that it is the best, and of every rank.

    Parameters
    ----------
    tree : xarray.DataTree
        A result of `bayescal.fit` with `bayescal.ssme`, of two classifiers or more.
    var : str, default "accuracy"
        Metric. The highest accuracy, auc and auprc are best, and the lowest ece, mce, log_loss and
        brier.

    Returns
    -------
    Best
        Probabilities by classifier and rank, by group where there are groups, and a sentence.

    Raises
    ------
    InputError
        If the metric is unknown, there is only one classifier, or the result is of another kind.

    Notes
    -----
    The share of draws in which the classifier's metric is the best. Each draw is of all classifiers
    on the same rows under the same labels, so that what is common to them cancels. Classifiers that
    are equal in a draw share its ranks in equal parts. Draws in which the metric is undefined
    are left out.

    Examples
    --------
    >>> import bayescal as bc
    >>> tree = bc.load("ssme.nc")  # doctest: +SKIP
    >>> bc.best(tree, "auc").text  # doctest: +SKIP
    'By AUC, forest is best with probability 0.83; boosting has 0.15.'
    """
    check_joint(tree, "a ranking")
    check_metric(tree, var)
    draws = schema.variable(tree, schema.POSTERIOR, var)
    if draws.sizes.get(schema.CLASSIFIER, 1) < 2:
        raise InputError(
            f"a ranking needs two classifiers; the result has only "
            f"{schema.classifier_names(tree)[0]!r}. Fit several together with Scores.stack."
        )
    lead = [dim for dim in draws.dims if dim not in (*schema.DRAW_DIMS, schema.CLASSIFIER)]
    ordered = draws.transpose(*lead, *schema.DRAW_DIMS, schema.CLASSIFIER)
    values = ordered.values.reshape(-1, int(np.prod(ordered.shape[-3:-1])), ordered.shape[-1])
    badness = -values if var in HIGHER else values
    shares = np.stack([_rank_shares(one) for one in badness])
    n = values.shape[-1]
    rank = xr.DataArray(
        shares.reshape(*(draws.sizes[dim] for dim in lead), n, n),
        dims=(*lead, schema.CLASSIFIER, RANK),
        coords={
            **{str(dim): draws[dim] for dim in (*lead, schema.CLASSIFIER)},
            RANK: np.arange(1, n + 1),
        },
        name=var,
    )
    return Best(var, rank.isel({RANK: 0}, drop=True), rank, schema.is_converged(tree))


def _rank_shares(badness: NDArray[np.float64]) -> NDArray[np.float64]:
    """Share of the draws in which each classifier has each rank, (classifier, rank)."""
    known = badness[~np.isnan(badness).any(axis=1)]
    n = known.shape[1]
    if len(known) == 0:
        return np.full((n, n), np.nan)
    shares = np.empty((n, n))
    for k in range(n):
        own = known[:, k, None]
        above, tied = (known < own).sum(axis=1), (known == own).sum(axis=1)
        # A tie of t classifiers takes t ranks; each of them has 1/t of each rank.
        steps = np.zeros(n + 1)
        np.add.at(steps, above, 1 / tied)
        np.add.at(steps, above + tied, -1 / tied)
        shares[k] = steps.cumsum()[:n] / len(known)
    return np.clip(shares, 0.0, 1.0)


def _probability(value: float) -> str:
    """A probability that is never rounded to certainty."""
    if value < 0.001:
        return "below 0.001"
    if value > 0.999:
        return "above 0.999"
    return f"{value:.3f}" if value < 0.01 or value > 0.99 else f"{value:.2f}"
