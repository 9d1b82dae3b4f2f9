"""Which of several classifiers is best, and how probable each rank of each is."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from itertools import product
from typing import Any, Final

import numpy as np
import xarray as xr
from numpy.typing import NDArray

from bayescal.core.columns import Floats
from bayescal.core.errors import InputError
from bayescal.core.quantity import MORE, Variable
from bayescal.core.shown import Showing, Shown, strip_of
from bayescal.core.text import UNRELIABLE, fixed, in_words, plain, probability, several
from bayescal.results import access, schema
from bayescal.results.bootstrap import alike
from bayescal.results.compare import (
    ROUNDING,
    check_comparable,
    correlation_of,
    is_coupled,
    is_fitted_apart,
    order_of,
    sorted_draws,
    square_root,
)
from bayescal.results.measure import chosen_variable, paired

RANK: Final = "rank"
LIKELY: Final = 0.5
"""Probability from which on a classifier is called the best."""

MOST_NAMED: Final = 4
"""Classifiers that a sentence names."""

_WHERE: Final = {
    schema.CLASS: "of class",
    schema.GROUP: "in group",
    schema.PRIOR_NAME: "under prior",
}


@dataclass(frozen=True, slots=True, eq=False)
class Best(Showing):
    """How probable it is that each classifier is the best, the second best, and so on."""

    var: str
    prob_best: xr.DataArray
    prob_rank: xr.DataArray
    converged: bool = True
    title: str = ""

    @property
    def name(self) -> str:
        """The classifier most probably best over all cases; the first of several that tie."""
        dims = [dim for dim in self.prob_best.dims if dim != schema.CLASSIFIER]
        return str(self.prob_best.mean(dims).idxmax(schema.CLASSIFIER).item())

    @property
    def text(self) -> str:
        """The answer in sentences."""
        lead = [dim for dim in self.prob_best.dims if dim != schema.CLASSIFIER]
        shares = self.prob_best.stack(where=lead) if lead else self.prob_best.expand_dims("where")
        words = [self._sentence(one, lead) for one in shares.transpose("where", ...)]
        return ("" if self.converged else UNRELIABLE) + " ".join(words)

    def _show_(self) -> Shown:
        ranks = (self.prob_rank * self.prob_rank[RANK]).sum(RANK, skipna=False)
        chances = self.prob_best.to_series().sort_values(ascending=False)
        means = ranks.to_series().reindex(chances.index)
        names = [one if isinstance(one, tuple) else (one,) for one in chances.index]
        return Shown(
            lead=[self.text],
            columns=("Classifier", "P(best)", "Mean rank"),
            rows=[
                (" / ".join(map(str, name)), probability(chance), fixed(mean, 2))
                for name, chance, mean in zip(names, chances, means, strict=True)
            ],
            strip=strip_of([(0.0, one, one) for one in chances], "Bar: P(best).", 0.0, 1.0),
        )

    def _sentence(self, one: xr.DataArray, lead: list[Any]) -> str:
        place = "".join(f" {_WHERE[dim]} {one[dim].item()}" for dim in lead)
        head = f"By {self.title or self.var}{place}"
        if bool(one.isnull().all()):
            return f"{head}, nothing can be said: the metric is undefined in every draw."
        order = np.argsort(-one.values, kind="stable")
        names = [str(one[schema.CLASSIFIER].values[k]) for k in order[:2]]
        first, second = (in_words(probability(float(one.values[k]))) for k in order[:2])
        tied = leaders(dict(zip(map(str, one[schema.CLASSIFIER].values), one.values, strict=True)))
        if len(tied) > 1:
            who = several(tied) if len(tied) <= MOST_NAMED else f"{len(tied)} classifiers"
            return f"{head}, {who} tie: each is best with probability {first}."
        if one.values[order[0]] < LIKELY:
            return (
                f"{head}, no classifier is clearly best; {names[0]} leads with probability "
                f"{first}, before {names[1]} with {second}."
            )
        return f"{head}, {names[0]} is best with probability {first}; {names[1]} has {second}."


def best(
    tree: xr.DataTree,
    var: str | None = None,
    *,
    class_: str | None = None,
    group: str | None = None,
) -> Best:
    """Posterior probability of each classifier that it is the best, and of every rank.

    Parameters
    ----------
    tree : xarray.DataTree
        A result of two classifiers or more on the same rows.
    var : str, optional
        Metric, calibration error or measure, such as "brier"; the result's main one by default. The
        highest accuracy, auc, auprc or net benefit is best, and the lowest of all others.
    class_, group : str, optional
        Only this class or group; all by default.

    Returns
    -------
    Best
        Probabilities by classifier and rank, and a sentence.

    Raises
    ------
    InputError
        If the variable is unknown, or there is only one classifier, or they cannot be ranked.

    Notes
    -----
    Draws of several classifiers belong together as in `difference`, so that what is common to them
    cancels: a rank's probability is its share of the draws, undefined ones left out. Classifiers
    that are equal in a draw share its ranks in equal parts; those of equal probability of being
    best are said to tie.

    Examples
    --------
    >>> import bayescal as bc
    >>> tree = bc.load("metrics.nc")  # doctest: +SKIP
    >>> bc.best(tree, "auc").text  # doctest: +SKIP
    'By AUC, forest is best with probability 0.83; boosting has 0.15.'
    """
    check_comparable(tree, "a ranking")
    tree, name = chosen_variable(tree, var)
    better = access.described(tree, name).better
    if better is None:
        known = [one.name for one in access.answers(tree) if one.better]
        raise InputError(
            f"a ranking needs to know whether more of {name!r} is better; nothing says so. "
            f"Choose from {', '.join(known)}, pass a bayescal.measures.Measure with `better` "
            "for a function, or compare with bayescal.difference."
        )
    names = access.classifier_names(tree)
    if len(names) < 2:
        raise InputError(
            f"a ranking needs two classifiers; the result has only {names[0]!r}. Fit several "
            "together with Scores.stack."
        )
    tree = paired(tree, name)
    by_rows = access.has_variable(tree, schema.PAIRED, name)
    draws = access.variable(tree, schema.PAIRED if by_rows else schema.POSTERIOR, name)
    lead = [str(dim) for dim in draws.dims if dim not in (*schema.DRAW_DIMS, schema.CLASSIFIER)]
    outer = {dim: [str(value) for value in draws[dim].values] for dim in lead}
    if is_fitted_apart(tree, name) and not by_rows:
        places = (dict(zip(outer, place, strict=True)) for place in product(*outer.values()))
        badness = [_coupled(tree, name, names, place) for place in places]
    else:
        ordered = draws.transpose(*lead, *schema.DRAW_DIMS, schema.CLASSIFIER)
        badness = [*ordered.values.reshape(-1, math.prod(ordered.shape[-3:-1]), len(names))]
    shares = [rank_shares(-one if better == MORE else one) for one in badness]
    access.find_case(tree, None, class_, group)
    rank = xr.DataArray(
        np.reshape(shares, (*map(len, outer.values()), len(names), len(names))),
        dims=(*outer, schema.CLASSIFIER, RANK),
        coords={**outer, schema.CLASSIFIER: names, RANK: np.arange(1, len(names) + 1)},
        name=name,
    )
    given = {schema.CLASS: class_, schema.GROUP: group}
    asked = {dim: value for dim, value in given.items() if dim in rank.dims and value is not None}
    rank = rank.sel(asked)
    converged = access.is_converged(tree)
    first, title = rank.isel({RANK: 0}, drop=True), access.described(tree, name).title
    return Best(name, first, rank, converged, title)


def rankable(tree: xr.DataTree, one: Variable) -> bool:
    """Whether a result says which of several classifiers is better by a metric."""
    if one.better is None or len(access.classifier_names(tree)) < 2:
        return False
    held = is_coupled(tree, one.name) or schema.SHARED_ROWS in tree.children
    return held or not is_fitted_apart(tree, one.name)


def leaders(chances: Mapping[str, float]) -> list[str]:
    """The classifiers most probably best: several if they tie, up to rounding."""
    most = max(chances.values())
    return [name for name, chance in chances.items() if np.isclose(chance, most, rtol=1e-9)]


def best_records(tree: xr.DataTree) -> dict[str, Any]:
    """Probabilities of being best as JSON holds them, by variable; {} where there is no ranking."""
    found: dict[str, Any] = {}
    for one in (*access.answers(tree), *access.added_measures(tree)):
        try:
            found[one.name] = _nested(best(tree, one.name).prob_best)
        except InputError:
            continue
    return found


def _nested(shares: xr.DataArray) -> Any:
    """A mapping by the first dimension of mappings by the next."""
    if shares.ndim == 0:
        return plain(shares)
    first = shares.dims[0]
    return {str(name): _nested(shares.sel({first: name})) for name in shares[first].values}


def rank_shares(badness: NDArray[np.float64]) -> NDArray[np.float64]:
    """Share of the draws in which each classifier has each rank, (classifier, rank)."""
    known = badness[~np.isnan(badness).any(axis=1)]
    n = known.shape[1]
    if len(known) == 0:
        return np.full((n, n), np.nan)
    shares = np.empty((n, n))
    for k in range(n):
        own = known[:, k, None]
        tie = np.abs(known - own) < ROUNDING
        above, tied = ((known < own) & ~tie).sum(axis=1), tie.sum(axis=1)
        # A tie of t classifiers takes t ranks; each of them has 1/t of each rank.
        steps = np.zeros(n + 1)
        np.add.at(steps, above, 1 / tied)
        np.add.at(steps, above + tied, -1 / tied)
        shares[k] = steps.cumsum()[:n] / len(known)
    return np.clip(shares, 0.0, 1.0)


def _coupled(tree: xr.DataTree, var: str, names: list[str], place: dict[str, str]) -> Floats:
    """Coupled draws of one class and group, (draw, classifier)."""
    where = (place.get(schema.CLASS), place.get(schema.GROUP))
    cases = [access.find_case(tree, name, *where) for name in names]
    streams = [access.stream_of(tree, *case.names) for case in cases]
    errors = np.stack([sorted_draws(tree, var, case) for case in cases])
    normal = np.stack([rng.standard_normal(errors.shape[1]) for rng in streams])
    z = square_root(correlation_of(tree, var, cases)) @ normal
    return np.take_along_axis(errors, order_of(z), axis=1)[alike(tree, cases)].T
