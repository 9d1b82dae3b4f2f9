"""The difference of two classifiers, and which of several is best.

What one posterior holds of all classifiers is compared draw by draw; classifiers fitted one by one
are coupled as their shared rows couple them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import product
from typing import Any, Final, NamedTuple

import numpy as np
import xarray as xr
from numpy.typing import NDArray

from bayescal.core.checks import check_is
from bayescal.core.errors import InputError
from bayescal.core.variables import ERROR, METRIC, MORE, ROW
from bayescal.measures.registry import measures, resolve
from bayescal.results import access, schema
from bayescal.results.access import ResultSlice
from bayescal.results.coupling import measure_correlation
from bayescal.results.intervals import tail
from bayescal.results.measure import chosen_variable, with_measure
from bayescal.results.text import (
    UNRELIABLE,
    in_words,
    percent,
    plain,
    probability,
    several,
)


class Pair(NamedTuple):
    """Two classifiers to compare by a variable, in one class and group, and the interval's prob."""

    first: str
    second: str
    var: str
    prob: float
    class_: str | None
    group: str | None


@dataclass(frozen=True, slots=True, eq=False)
class Difference:
    """How much larger the first classifier's error or metric is than the second's."""

    first: str
    second: str
    var: str
    mean: float
    lower: float
    upper: float
    prob: float
    prob_first_larger: float
    prob_equal: float
    correlation: float
    draws: NDArray[np.float64] = field(repr=False)
    title: str = ""
    """What is compared, in a few words; "" where two variables are."""

    @property
    def text(self) -> str:
        """The answer as a sentence."""
        sure = f"{percent(self.prob)} interval {self.lower:+z.4f} to {self.upper:+z.4f}"
        title = f"{self.title} of " if self.title else ""
        return (
            f"{title}{self.first} minus {self.second}: "
            f"{self.mean:+z.4f} ({sure}); "
            f"{self.first}'s is the larger with probability {self.prob_first_larger:.2f}."
        )


def difference(
    tree: xr.DataTree,
    first: str,
    second: str,
    var: str | None = None,
    prob: float = 0.9,
    *,
    class_: str | None = None,
    group: str | None = None,
) -> Difference:
    """Posterior of the difference of two classifiers' errors or metrics, first minus second.

    Parameters
    ----------
    tree : xarray.DataTree
        A result of several classifiers on the same rows.
    first, second : str
        Two of its classifiers; or two of its metrics, of one classifier.
    var : str, optional
        Calibration error ("tce", "ece", "mce"), metric or measure, such as "e90", "brier" or
        "net_benefit:0.25"; the result's main one by default. Not used for two metrics.
    prob : float
        Posterior probability of the interval, strictly between 0 and 1.
    class_, group : str, optional
        Which class and group, needed where the result has several.

    Returns
    -------
    Difference
        Mean, interval, probabilities and draws.

    Raises
    ------
    InputError
        If a name is unknown, the result does not hold how the classifiers' errors correlate, or it
        is of rows, which have no such difference.

    Notes
    -----
    Metrics of all classifiers are in one posterior: draws are subtracted one by one, those in which
    the metric is undefined left out, and the interval is equal-tailed.

    Calibration errors, measures, and the metrics of some quantities, are fitted classifier by
    classifier. Shared rows make two errors dependent: labels that by chance flatter one classifier
    flatter a similar one too. The two sets of draws are therefore coupled by a Gaussian copula,
    whose correlation is that of the two estimates over the rows: stored in the group
    `error_correlation`, and of a measure computed from the group `shared_rows`. Each marginal
    posterior stays as it is, draw for draw, those of 0 among them.

    The interval sets the draws of the one against the other's given miscalibration, as the
    conservative interval of a single error does: its lower end is the alpha quantile of "first
    minus miscalibrated second", its upper end the 1 - alpha quantile of "miscalibrated first minus
    second". Draw by draw the difference lies between the two, so that the interval covers at least
    `prob` of the posterior; for two well calibrated classifiers it neither collapses to [0, 0] nor
    denies that only one of them is. The mean is the difference of the two posterior means. The same
    result and names give the same numbers, and exchanging the names changes their signs only.
    """
    tail(prob)
    _check_comparable(tree, "a difference")
    tree, var = with_measure(tree, var)
    name = access.main(tree).name if var is None else var
    pair = Pair(first, second, name, prob, class_, group)
    _check_words(first, second)
    metrics = {one.name for one in access.answers(tree) if one.role == METRIC}
    if {first, second} <= metrics:
        return of_two_variables(tree, pair)
    return (couple_pair if _is_fitted_apart(tree, name) else of_paired_draws)(tree, pair)


def _check_comparable(tree: xr.DataTree, what: str) -> None:
    """Refuse rows: probabilities given different scores are not one quantity."""
    if access.main(tree).role == ROW:
        raise InputError(
            f"{what} needs an error or a metric of each classifier; this result holds "
            "probabilities given each classifier's own score, which are different quantities. "
            "Compare widths and open rows with bayescal.summary, or fit a calibration error."
        )


def _is_fitted_apart(tree: xr.DataTree, var: str) -> bool:
    """Whether classifiers have posteriors of their own, to be coupled."""
    is_measure = var in access.measure_names(tree)
    return access.main(tree).role == ERROR or is_measure or is_coupled(tree, var)


def _check_words(first: object, second: object) -> None:
    for name, one in (("first", first), ("second", second)):
        check_is(one, str, name, "Pass the name of one in the result.")


def find_pair(tree: xr.DataTree, pair: Pair) -> tuple[access.ResultSlice, access.ResultSlice]:
    """The cases of two different classifiers, after checking names and variable."""
    first, second, var, _, *where = pair
    _check_words(first, second)
    access.check_variable(tree, var)
    if first == second:
        raise InputError(f"first and second must differ; got {first!r} twice. Name two.")
    access.check_given(tree, class_=pair.class_, group=pair.group)
    return access.find_case(tree, first, *where), access.find_case(tree, second, *where)


def of_paired_draws(tree: xr.DataTree, pair: Pair) -> Difference:
    """Subtract draw by draw what one posterior holds of both."""
    where = "" if pair.group is None else f" in group {pair.group}"
    draws = [access.flat_draws(tree, pair.var, case) for case in find_pair(tree, pair)]
    found = _draw_by_draw(pair, draws, f"{pair.var!r}{where} is")
    return replace(found, title=access.described(tree, pair.var).title)


def of_two_variables(tree: xr.DataTree, pair: Pair) -> Difference:
    """Subtract one variable of a classifier from another, draw by draw."""
    first, second, *_ = pair
    _check_words(first, second)
    if first == second:
        raise InputError(f"first and second must differ; got {first!r} twice. Name two.")
    classifiers = access.classifier_names(tree)
    if len(classifiers) > 1:
        raise InputError(
            f"a difference of two variables is of one classifier; the result has "
            f"{len(classifiers)}. Fit one, or compare two classifiers by a variable."
        )
    access.check_given(tree, class_=pair.class_, group=pair.group)
    case = access.find_case(tree, None, pair.class_, pair.group)
    draws = [access.flat_draws(tree, name, case) for name in (first, second)]
    return _draw_by_draw(pair._replace(var=first), draws, f"{first!r} or {second!r} is")


def _draw_by_draw(pair: Pair, draws: Sequence[NDArray[np.float64]], undefined: str) -> Difference:
    """Summarise the differences of paired draws, those that are undefined left out."""
    alpha = tail(pair.prob)
    one, two = draws
    known = ~(np.isnan(one) | np.isnan(two))
    one, two = one[known], two[known]
    if len(one) == 0:
        raise InputError(
            f"a difference needs draws of both; {undefined} undefined in every draw. Choose "
            "another metric."
        )
    apart = one - two
    return Difference(
        first=pair.first,
        second=pair.second,
        var=pair.var,
        mean=float(apart.mean()),
        lower=float(np.quantile(apart, alpha)),
        upper=float(np.quantile(apart, 1 - alpha)),
        prob=pair.prob,
        prob_first_larger=float(np.mean(apart > 0)),
        prob_equal=float(np.mean(apart == 0)),
        correlation=_of_draws(one, two),
        draws=apart,
    )


def _of_draws(one: NDArray[np.float64], two: NDArray[np.float64]) -> float:
    if np.ptp(one) == 0 or np.ptp(two) == 0:
        return float("nan")
    return float(np.corrcoef(one, two)[0, 1])


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
class Best:
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
        If the variable is unknown, there is only one classifier, or the classifiers of the result
        cannot be ranked.

    Notes
    -----
    Metrics of all classifiers are in one posterior: a rank's probability is its share of draws.
    Each draw is of all classifiers on the same rows under the same labels, so that what is common
    to them cancels. Draws in which the metric is undefined are left out.

    Calibration errors, measures, and the metrics of some quantities, are fitted one by one. Their
    draws are coupled by a Gaussian copula with their correlations over the shared rows, as
    `difference` does for two.

    Classifiers that are equal in a draw share its ranks in equal parts; those of equal probability
    of being best are said to tie.

    Examples
    --------
    >>> import bayescal as bc
    >>> tree = bc.load("metrics.nc")  # doctest: +SKIP
    >>> bc.best(tree, "auc").text  # doctest: +SKIP
    'By AUC, forest is best with probability 0.83; boosting has 0.15.'
    """
    _check_comparable(tree, "a ranking")
    tree, name = chosen_variable(tree, var)
    better = access.described(tree, name).better
    if better is None:
        known = [one.name for one in access.answers(tree) if one.better]
        raise InputError(
            f"a ranking needs to know whether more of {name!r} is better, which its quantity does "
            f"not say. Choose from {', '.join(known)}, or compare with bayescal.difference."
        )
    if _is_fitted_apart(tree, name):
        return rank_coupled(tree, name, class_, group)
    draws = access.variable(tree, schema.POSTERIOR, name)
    return by_rank_shares(tree, draws, better == MORE, class_, group)


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


def by_rank_shares(
    tree: xr.DataTree, draws: xr.DataArray, higher: bool, class_: str | None, group: str | None
) -> Best:
    """Rank draw by draw what one posterior holds of all classifiers."""
    check_several(tree)
    lead = [dim for dim in draws.dims if dim not in (*schema.DRAW_DIMS, schema.CLASSIFIER)]
    ordered = draws.transpose(*lead, *schema.DRAW_DIMS, schema.CLASSIFIER)
    values = ordered.values.reshape(-1, int(np.prod(ordered.shape[-3:-1])), ordered.shape[-1])
    shares = np.stack([rank_shares(one) for one in (-values if higher else values)])
    outer = {str(dim): [str(value) for value in draws[dim].values] for dim in lead}
    return ranked(tree, str(draws.name), shares, outer, class_, group)


def ranked(
    tree: xr.DataTree,
    var: str,
    shares: NDArray[np.float64],
    outer: Mapping[str, list[str]],
    class_: str | None,
    group: str | None,
) -> Best:
    """Rank probabilities by the dimensions `outer`, of one class or group where it is given."""
    access.find_case(tree, None, class_, group)
    names = access.classifier_names(tree)
    rank = xr.DataArray(
        shares.reshape(*map(len, outer.values()), len(names), len(names)),
        dims=(*outer, schema.CLASSIFIER, RANK),
        coords={**outer, schema.CLASSIFIER: names, RANK: np.arange(1, len(names) + 1)},
        name=var,
    )
    given = {schema.CLASS: class_, schema.GROUP: group}
    rank = rank.sel({dim: value for dim, value in given.items() if value is not None})
    converged = access.is_converged(tree)
    first, title = rank.isel({RANK: 0}, drop=True), access.described(tree, var).title
    return Best(var, first, rank, converged, title)


def check_several(tree: xr.DataTree) -> None:
    """Refuse to rank one classifier."""
    names = access.classifier_names(tree)
    if len(names) < 2:
        raise InputError(
            f"a ranking needs two classifiers; the result has only {names[0]!r}. Fit several "
            "together with Scores.stack."
        )


def rank_shares(badness: NDArray[np.float64]) -> NDArray[np.float64]:
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


type Floats = NDArray[np.float64]


def couple_pair(tree: xr.DataTree, pair: Pair) -> Difference:
    """Difference of two coupled errors or metrics."""
    var = pair.var
    cases = find_pair(tree, pair)
    # The pair is coupled in alphabetical order, so that exchanging them only changes the sign.
    order = sorted((0, 1), key=lambda k: cases[k].classifier)
    ordered = [cases[k] for k in order]
    correlation = float(_correlation(tree, var, ordered)[0, 1])
    rng = access.stream_of(tree, *ordered[0].names, *ordered[1].names)
    values = [_sorted(tree, var, case) for case in ordered]
    if np.isnan(values).any():
        raise InputError(
            f"a difference needs draws of both; {var!r} is undefined in every draw. Choose another "
            "metric."
        )
    ranks = _coupled_ranks(len(values[0]), correlation, rng)
    given = [_sorted(tree, var, case, access.conditional_group(tree, var)) for case in ordered]
    found = [
        Errors(own[rank], other[rank], access.posterior_mean(tree, var, case))
        for own, other, rank, case in zip(values, given, ranks, ordered, strict=True)
    ]
    one, two = (found[k] for k in order)
    title = access.described(tree, var).title
    return replace(conservative(pair, one, two, correlation), title=title)


class Errors(NamedTuple):
    """Draws of an error or a metric, those given miscalibration beside them, and its mean."""

    low: Floats
    high: Floats
    mean: float


def conservative(pair: Pair, one: Errors, two: Errors, correlation: float) -> Difference:
    """Difference of what is paired draw by draw, each against the other given miscalibration."""
    alpha = tail(pair.prob)
    apart = one.low - two.low
    return Difference(
        first=pair.first,
        second=pair.second,
        var=pair.var,
        mean=one.mean - two.mean,
        lower=float(np.quantile(one.low - two.high, alpha)),
        upper=float(np.quantile(one.high - two.low, 1 - alpha)),
        prob=pair.prob,
        prob_first_larger=float(np.mean(apart > 0)),
        prob_equal=float(np.mean(apart == 0)),
        correlation=correlation,
        draws=apart,
    )


def rank_coupled(tree: xr.DataTree, var: str, class_: str | None, group: str | None) -> Best:
    """Ranks of all classifiers' coupled errors or metrics, by class and group."""
    access.check_variable(tree, var)
    check_several(tree)
    posterior = tree[schema.POSTERIOR].dataset
    outer = {
        dim: [str(value) for value in posterior[dim].values]
        for dim in (schema.CLASS, schema.GROUP)
        if dim in posterior.dims
    }
    shares = np.stack(
        [
            _ranks_of_one(tree, var, dict(zip(outer, place, strict=True)))
            for place in product(*outer.values())
        ]
    )
    return ranked(tree, var, shares, outer, class_, group)


def _ranks_of_one(tree: xr.DataTree, var: str, place: dict[str, str]) -> Floats:
    """Rank probabilities (classifier, rank) of one class and group."""
    names = access.classifier_names(tree)
    cases = [
        access.find_case(tree, name, place.get(schema.CLASS), place.get(schema.GROUP))
        for name in names
    ]
    streams = [access.stream_of(tree, *case.names) for case in cases]
    errors = np.stack([_sorted(tree, var, case) for case in cases])
    normal = np.stack([rng.standard_normal(errors.shape[1]) for rng in streams])
    z = square_root(_correlation(tree, var, cases)) @ normal
    errors = np.take_along_axis(errors, _order(z), axis=1)
    return rank_shares(-errors.T if access.described(tree, var).better == MORE else errors.T)


def is_coupled(tree: xr.DataTree, var: str) -> bool:
    """Whether a result holds how a variable of its classifiers correlates."""
    return access.has_variable(tree, schema.ERROR_CORRELATION, var)


def _correlation(tree: xr.DataTree, var: str, cases: list[ResultSlice]) -> Floats:
    """Correlation matrix of the classifiers of one class and group."""
    own = is_coupled(tree, var)
    name = var if own else "correlation"
    stored = access.has_variable(tree, schema.ERROR_CORRELATION, name)
    added = var in access.measure_names(tree)
    shared = schema.SHARED_ROWS in tree.children and var in measures()
    if (added and not own) or (not stored and shared):
        return measure_correlation(tree, resolve(var).function, cases)
    if not stored:
        raise InputError(
            f"comparing classifiers needs the group {schema.ERROR_CORRELATION!r}, which this "
            "result does not have. Fit them together, on the same rows, under one prior and "
            "without groups: Scores.stack({name: y_prob, ...}, y_true=y)."
        )
    held = tree[schema.ERROR_CORRELATION].dataset[name]
    sel = {dim: at for dim, at in cases[0].sel.items() if dim != schema.CLASSIFIER}
    names = [case.classifier for case in cases]
    place = {dim: at for dim, at in sel.items() if dim in held.dims}
    return np.asarray(held.sel(place).sel(classifier=names, classifier_other=names).values)


def _coupled_ranks(
    n: int, correlation: float, rng: np.random.Generator
) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Ranks of two samples of a bivariate normal of that correlation, (n,) each."""
    z = rng.standard_normal((2, n))
    return _order(z[0]), _order(correlation * z[0] + np.sqrt(max(0.0, 1 - correlation**2)) * z[1])


def _order(z: Floats) -> NDArray[np.intp]:
    """Ranks along the last axis."""
    return np.argsort(np.argsort(z, axis=-1), axis=-1)


def square_root(correlation: Floats) -> Floats:
    """The symmetric root of the matrix, which another order of the classifiers only reorders.

    What rounding made negative is set to 0, unit rows restored.
    """
    full = np.nan_to_num(correlation)
    np.fill_diagonal(full, 1.0)
    values, vectors = np.linalg.eigh(full)
    root = vectors * np.sqrt(np.maximum(values, 0.0)) @ vectors.T
    return np.asarray(root / np.linalg.norm(root, axis=1, keepdims=True))


def _sorted(
    tree: xr.DataTree, var: str, case: ResultSlice, group: str = schema.POSTERIOR
) -> Floats:
    draws = access.flat_draws(tree, var, case, group)
    return in_order(draws, len(draws))


def in_order(draws: Floats, n: int) -> Floats:
    """So many draws in order; undefined ones give their places to the others, if there are any."""
    known = int(np.count_nonzero(~np.isnan(draws)))
    return np.sort(draws)[np.arange(n) * (known or len(draws)) // n]
