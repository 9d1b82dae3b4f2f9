"""Classifiers compared: the difference of two, and which of several is best.

What one posterior holds of all classifiers is compared draw by draw; classifiers fitted one by one
are coupled as their shared rows couple them.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import product
from typing import Any, Final, NamedTuple

import numpy as np
import xarray as xr
from numpy.typing import NDArray

from bayescal.core import text
from bayescal.core.checks import check_is
from bayescal.core.columns import Floats
from bayescal.core.errors import InputError
from bayescal.core.quantity import ERROR, METRIC, MORE, ROW, Variable
from bayescal.core.shown import Showing, Shown, strip_of
from bayescal.measures.registry import measures, resolve
from bayescal.results import access, schema
from bayescal.results.access import ResultSlice
from bayescal.results.bootstrap import alike
from bayescal.results.intervals import tail
from bayescal.results.measure import (
    chosen_variable,
    compared_title,
    measure_correlation,
    paired,
    with_measure,
)

# Sums over different cells of the same rows, which tie, differ by less.
ROUNDING: Final = 1e-12


class Pair(NamedTuple):
    """Two classifiers to compare by a variable, in one class and group, and the interval's prob."""

    first: str
    second: str
    var: str
    prob: float
    class_: str | None
    group: str | None


@dataclass(frozen=True, slots=True, eq=False)
class Difference(Showing):
    """How much larger the first classifier's error or metric is than the second's."""

    first: str  #: Classifier, or variable, whose value is taken.
    second: str  #: The one whose value is subtracted.
    var: str  #: Name of what is compared.
    mean: float  #: Posterior mean of the difference.
    lower: float  #: Interval of probability `prob`.
    upper: float  #: Its upper end.
    prob: float  #: Probability of the interval.
    prob_first_larger: float  #: Posterior probability that the first's is larger.
    prob_equal: float  #: Posterior probability that both are equal.
    correlation: float  #: Of the two estimates.
    draws: NDArray[np.float64] = field(repr=False)  #: Of the difference, (draw,).
    title: str = ""
    """What is compared, in a few words; "" where two variables are."""
    where: str = ""
    """The class and the group that were asked for, in words."""
    converged: bool = True  #: Whether its fits converged.

    @property
    def text(self) -> str:
        """The answer as a sentence."""
        sure = f"{text.percent(self.prob)} interval {self.lower:+z.4f} to {self.upper:+z.4f}"
        head = "" if self.converged else text.UNRELIABLE
        head += f"{self.title} of " if self.title else ""
        chances = map(text.probability, (self.prob_first_larger, self.prob_equal))
        likely, alike = map(text.in_words, chances)
        tie = f", and both are equal with probability {alike}" if self.prob_equal > 0.001 else ""
        return (
            f"{head}{self.first} minus {self.second}{self.where}: {self.mean:+z.4f} ({sure}); "
            f"{self.first}'s is the larger with probability {likely}{tie}."
        )

    def _show_(self) -> Shown:
        digits = text.decimals(self.lower, self.upper)
        interval = f"{text.percent(self.prob)} interval"
        chances = (self.prob_first_larger, self.prob_equal)
        key = f"Dot: posterior mean; band: {interval}."
        return Shown(
            lead=[self.text],
            columns=("", "Difference", interval, "P(first larger)", "P(equal)"),
            rows=[
                (
                    f"{self.first} \N{MINUS SIGN} {self.second}",
                    text.fixed(self.mean, digits),
                    text.ends(self.lower, self.upper, digits),
                    *map(text.probability, chances),
                )
            ],
            strip=strip_of([(self.lower, self.upper, self.mean)], key, 0.0),
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
    var : str, Measure or callable, optional
        Calibration error ("tce", "ece", "mce"), metric or measure, such as "e90", "brier" or
        "net_benefit:0.25", or a function as of `bayescal.measure`; the result's main one by
        default. Not used for two metrics.
    prob : float, default 0.9
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
        If a name is unknown, the result does not hold how the classifiers' errors correlate, it is
        of rows, which have no such difference, or it has several priors.

    Notes
    -----
    Metrics of all classifiers are in one posterior, and so are measures of rows (Brier score, AUC)
    where classifiers share rows: a draw has the same weights of rows for all. Draws are subtracted
    one by one, those in which the metric is undefined left out, and the interval is equal-tailed.

    Calibration errors, other measures, and the metrics of some quantities, are fitted classifier by
    classifier. Shared rows make two errors dependent: labels that by chance flatter one classifier
    flatter a similar one too. The two sets of draws are therefore coupled by a Gaussian copula,
    whose correlation is that of the two estimates over the rows: stored in the group
    `error_correlation`, and of a measure computed from the group `shared_rows`. Each marginal
    posterior stays as it is, draw for draw. Where a quantity cannot pair, the text says so.

    The interval sets the draws of the one against the other's given miscalibration, as the
    conservative interval of a single error does: its lower end is the alpha quantile of "first
    minus miscalibrated second", its upper end the 1 - alpha quantile of "miscalibrated first minus
    second"; of a slope or another number that may be smaller given miscalibration, the lowest and
    the highest of these quantiles and of those of the difference itself. The interval covers at
    least `prob` of the posterior; for two well calibrated classifiers it neither collapses to
    [0, 0] nor denies that only one of them is, unless one is a copy of the other. The mean is the
    difference of the two posterior means. The same result and names give the same numbers, and
    exchanging the names changes their signs only.
    """
    tail(prob)
    check_comparable(tree, "a difference")
    tree, var = with_measure(tree, var)
    name = access.main(tree).name if var is None else var
    tree, pair = paired(tree, name), Pair(first, second, name, prob, class_, group)
    for which, given in (("first", first), ("second", second)):
        check_is(given, str, which, "Pass the name of one in the result.")
    if first == second:
        raise InputError(f"first and second must differ; got {first!r} twice. Name two.")
    metrics = {one.name for one in access.answers(tree) if one.role == METRIC}
    if {first, second} <= metrics:
        return of_two_variables(tree, pair)
    if source := paired_group(tree, name):
        # One posterior holds both.
        draws = [access.flat_draws(tree, name, case, source) for case in find_pair(tree, pair)]
        where = "" if group is None else f" in group {group}"
        found = draw_by_draw(pair, draws, f"{name!r}{where} is")
    else:
        found = couple_pair(tree, pair)
    converged = access.all_converged(tree, find_pair(tree, pair))
    return replace(found, title=compared_title(tree, name), converged=converged)


def check_comparable(tree: xr.DataTree, what: str) -> None:
    """Refuse rows: probabilities given different scores are not one quantity."""
    if access.main(tree).role == ROW:
        raise InputError(
            f"{what} needs an error or a metric of each classifier; this result holds "
            "probabilities given each classifier's own score, which are different quantities. "
            "Compare widths and open rows with bayescal.summary, or fit a calibration error."
        )


def paired_group(tree: xr.DataTree, var: str) -> str | None:
    """Where draws of classifiers are pairs; None where each has its own, to be coupled."""
    if access.has_variable(tree, schema.PAIRED, var):
        return schema.PAIRED
    is_measure = var in access.measure_names(tree)
    # Where rows were shared, draws of classifiers are no pairs, be the rows held or not.
    apart = access.main(tree).role == ERROR or tree.attrs.get("pairing") == "shared rows"
    return None if apart or is_measure or is_coupled(tree, var) else schema.POSTERIOR


def find_pair(tree: xr.DataTree, pair: Pair) -> tuple[access.ResultSlice, access.ResultSlice]:
    """The cases of two classifiers, after checking names and variable."""
    first, second, var, _, *where = pair
    access.check_variable(tree, var)
    access.check_given(tree, class_=pair.class_, group=pair.group)
    return access.find_case(tree, first, *where), access.find_case(tree, second, *where)


def of_two_variables(tree: xr.DataTree, pair: Pair) -> Difference:
    """Subtract one variable of a classifier from another, draw by draw."""
    first, second, *_ = pair
    classifiers = access.classifier_names(tree)
    if len(classifiers) > 1:
        raise InputError(
            f"a difference of two variables is of one classifier; the result has "
            f"{len(classifiers)}. Fit one, or compare two classifiers by a variable."
        )
    case = access.named_case(tree, None, pair.class_, pair.group)
    draws = [access.flat_draws(tree, name, case) for name in (first, second)]
    found = draw_by_draw(pair._replace(var=first), draws, f"{first!r} or {second!r} is")
    return replace(found, converged=access.all_converged(tree, [case]))


def draw_by_draw(pair: Pair, draws: Sequence[NDArray[np.float64]], undefined: str) -> Difference:
    """Summarise the differences of paired draws, those that are undefined left out."""
    alpha = tail(pair.prob)
    one, two = draws
    known = ~(np.isnan(one) | np.isnan(two))
    one, two = one[known], two[known]
    if len(one) == 0:
        raise InputError(
            f"a difference needs draws of both; {undefined} undefined in every draw. Choose "
            f"another metric{' or group' if pair.group else ''}."
        )
    # Costs may be large, and the sums of constant ones vary by rounding.
    none = ROUNDING * max(1.0, *np.median(np.abs([one, two]), axis=1))
    constant = min(np.ptp(one), np.ptp(two)) < none
    correlation = np.nan if constant else float(np.corrcoef(one, two)[0, 1])
    apart = one - two
    apart[np.abs(apart) < none] = 0.0
    lower, upper = np.quantile(apart, [alpha, 1 - alpha])
    return _difference(pair, apart, float(apart.mean()), lower, upper, correlation)


def _difference(
    pair: Pair, apart: Floats, mean: float, lower: float, upper: float, correlation: float
) -> Difference:
    """From draws of a difference, its mean and its interval."""
    larger, equal = float(np.mean(apart > 0)), float(np.mean(apart == 0))
    ends, asked = (float(lower), float(upper)), {"class": pair.class_, "group": pair.group}
    where = "".join(f", {dim} {name}" for dim, name in asked.items() if name is not None)
    known = (pair.first, pair.second, pair.var, mean, *ends, pair.prob)
    return Difference(*known, larger, equal, correlation, apart, where=where)


def couple_pair(tree: xr.DataTree, pair: Pair) -> Difference:
    """Difference of two coupled errors or metrics."""
    var = pair.var
    if not {schema.ERROR_CORRELATION, schema.SHARED_ROWS} & tree.children.keys():
        raise InputError(_APART)  # Before a group is asked for, which would not help.
    cases = find_pair(tree, pair)
    # The pair is coupled in alphabetical order, so that exchanging them only changes the sign.
    order = sorted((0, 1), key=lambda k: cases[k].classifier)
    ordered = [cases[k] for k in order]
    ordered = [ordered[k] for k in alike(tree, ordered)]
    correlation = float(correlation_of(tree, var, ordered)[0, 1])
    rng = access.stream_of(tree, *ordered[0].names, *ordered[1].names)
    values = [in_order(access.flat_draws(tree, var, case)) for case in ordered]
    if np.isnan(values).any():
        raise InputError(
            f"a difference needs draws of both; {var!r} is undefined in every draw. Choose another "
            "metric."
        )
    # Ranks of a sample of a bivariate normal of that correlation.
    first, other = rng.standard_normal((2, len(values[0])))
    coupled = correlation * first + np.sqrt(max(0.0, 1 - correlation**2)) * other
    ranks = order_of(np.stack([first, coupled]))
    group = access.conditional_group(tree, var)
    given = [in_order(access.flat_draws(tree, var, case, group)) for case in ordered]
    if ordered[0] is ordered[1]:
        # Of two copies none is calibrated where the other is not.
        given = values
    found = [
        Errors(own[rank], miscalibrated[rank], access.posterior_mean(tree, var, case))
        for own, miscalibrated, rank, case in zip(values, given, ranks, ordered, strict=True)
    ]
    one, two = (found[k] for k in order)
    return conservative(pair, one, two, correlation)


class Errors(NamedTuple):
    """Draws of an error or a metric, those given miscalibration beside them, and its mean."""

    low: Floats
    high: Floats
    mean: float


def conservative(pair: Pair, one: Errors, two: Errors, correlation: float) -> Difference:
    """Difference of what is paired draw by draw, each against the other given miscalibration."""
    alpha = tail(pair.prob)
    apart = one.low - two.low
    # An error given miscalibration is the larger one; a slope may be the smaller one.
    ends = np.quantile([apart, one.low - two.high, one.high - two.low], [alpha, 1 - alpha], axis=1)
    return _difference(pair, apart, one.mean - two.mean, ends[0].min(), ends[1].max(), correlation)


def is_coupled(tree: xr.DataTree, var: str) -> bool:
    """Whether a result holds how a variable of its classifiers correlates."""
    return access.has_variable(tree, schema.ERROR_CORRELATION, var)


_APART: Final = (
    "comparing classifiers needs the rows that they share, which this result does not hold. "
    "Results of labelled rows do, of classifiers fitted together by this version, under one "
    "prior and without groups: Scores.stack({name: y_prob, ...}, y_true=y)."
)


def correlation_of(tree: xr.DataTree, var: str, cases: list[ResultSlice]) -> Floats:
    """Correlation matrix of the classifiers of one class and group."""
    own, shared = is_coupled(tree, var), schema.SHARED_ROWS in tree.children
    of_curve = var in access.measure_names(tree) and not own
    if of_curve and shared:
        raise InputError(
            f"classifiers must be compared by what rows tell apart; {var!r} of each rests on "
            "the prior of its own curve. Choose 'auc', 'brier' or 'log_loss'."
        )
    name = var if own else "correlation"
    stored = is_coupled(tree, name) and not of_curve
    if not stored and shared:
        # That of the main error stands for errors in bins, as where it is stored.
        named = var if var in measures() else access.main(tree).name
        return measure_correlation(tree, resolve(named).function, cases)
    if not stored:
        raise InputError(_APART)
    held = tree[schema.ERROR_CORRELATION].dataset[name]
    names = [case.classifier for case in cases]
    place, other = access.place_in(held, cases[0]), f"{schema.CLASSIFIER}_other"
    if lost := [one for one in names if one not in np.atleast_1d(held[other])]:
        raise InputError(
            f"{other} must name the classifiers of the result; it has none {lost[0]!r}. Rename "
            f"both: assign_coords(classifier=names, {other}=names) where each stands."
        )
    return np.asarray(held.sel({**place, schema.CLASSIFIER: names, other: names}).values)


def order_of(z: Floats) -> NDArray[np.intp]:
    """Ranks along the last axis."""
    return np.argsort(np.argsort(z, axis=-1), axis=-1)


def square_root(correlation: Floats) -> Floats:
    """The symmetric root, which another order of classifiers only reorders; unit rows restored."""
    full = np.nan_to_num(correlation)
    np.fill_diagonal(full, 1.0)
    values, vectors = np.linalg.eigh(full)
    root = vectors * np.sqrt(np.maximum(values, 0.0)) @ vectors.T
    return np.asarray(root / np.linalg.norm(root, axis=1, keepdims=True))


def in_order(draws: Floats, number: int | None = None) -> Floats:
    """So many draws in order; undefined ones give their places to the others, if there are any."""
    known, n = int(np.count_nonzero(~np.isnan(draws))), number or len(draws)
    return np.sort(draws)[np.arange(n) * (known or len(draws)) // n]


RANK: Final = "rank"
LIKELY: Final = 0.5
"""Probability above which, as it is written, a classifier is called the best."""

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

    var: str  #: Name of what is compared.
    prob_best: xr.DataArray  #: Posterior probability of being the best, (..., classifier).
    prob_rank: xr.DataArray  #: Of each rank, 1 the best, (..., classifier, rank).
    converged: bool = True  #: Whether its fits converged.
    title: str = ""  #: What is compared, in words.

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
        return ("" if self.converged else text.UNRELIABLE) + " ".join(words)

    def _show_(self) -> Shown:
        ranks = (self.prob_rank * self.prob_rank[RANK]).sum(RANK, skipna=False)
        chances = self.prob_best.to_series().sort_values(ascending=False)
        means = ranks.to_series().reindex(chances.index)
        names = [one if isinstance(one, tuple) else (one,) for one in chances.index]
        return Shown(
            lead=[self.text],
            columns=("Classifier", "P(best)", "Mean rank"),
            rows=[
                (" / ".join(map(str, name)), text.probability(chance), text.fixed(mean, 2))
                for name, chance, mean in zip(names, chances, means, strict=True)
            ],
            strip=strip_of([(0.0, one, one) for one in chances], "Bar: P(best).", 0.0, 1.0),
        )

    def _sentence(self, one: xr.DataArray, lead: list[Any]) -> str:
        # Of what was asked for there is a coordinate without a dimension.
        named = dict.fromkeys([*lead, *(dim for dim in _WHERE if dim in one.coords)])
        place = "".join(f" {_WHERE[dim]} {one[dim].item()}" for dim in named)
        head = f"By {self.title or self.var}{place}"
        if bool(one.isnull().all()):
            return f"{head}, nothing can be said: the metric is undefined in every draw."
        chances = dict(zip(map(str, one[schema.CLASSIFIER].values), one.values, strict=True))
        names = sorted(chances, key=chances.__getitem__, reverse=True)[:2]
        first, second = (text.in_words(text.probability(float(chances[name]))) for name in names)
        if len(tied := leaders(chances)) > 1:
            who = text.several(tied) if len(tied) <= MOST_NAMED else f"{len(tied)} classifiers"
            return f"{head}, {who} tie: each is best with probability {first}."
        if round(float(chances[names[0]]), 2) <= LIKELY:
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
        lowest error, loss or cost is best, and the highest of other metrics, such as the AUC.
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
    Draws of several classifiers belong together as in `difference`, so that what is common cancels:
    a rank's probability is its share of the draws, undefined ones left out. Classifiers that are
    equal in a draw share its ranks in equal parts; those equally probably best tie.

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
    source = paired_group(tree, name)
    draws = access.variable(tree, source or schema.POSTERIOR, name)
    lead = [str(dim) for dim in draws.dims if dim not in (*schema.DRAW_DIMS, schema.CLASSIFIER)]
    outer = {dim: [str(value) for value in draws[dim].values] for dim in lead}
    if source is None:
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
    given = (schema.CLASS, class_), (schema.GROUP, group)
    asked = {dim: value for dim, value in given if value is not None}
    rank = rank.sel({dim: value for dim, value in asked.items() if dim in rank.dims})
    shown = [one for one in access.cases(tree) if asked.items() <= {**one.fixed, **one.sel}.items()]
    converged, first = access.all_converged(tree, shown), rank.isel({RANK: 0}, drop=True)
    return Best(name, first, rank, converged, compared_title(tree, name))


def rankable(tree: xr.DataTree, one: Variable) -> bool:
    """Whether a result says which of several classifiers is better by a metric."""
    if one.better is None or len(access.classifier_names(tree)) < 2:
        return False
    held = is_coupled(tree, one.name) or schema.SHARED_ROWS in tree.children
    return held or paired_group(tree, one.name) == schema.POSTERIOR


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
        return text.plain(shares)
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
    errors = np.stack([in_order(access.flat_draws(tree, var, case)) for case in cases])
    normal = np.stack([rng.standard_normal(errors.shape[1]) for rng in streams])
    z = square_root(correlation_of(tree, var, cases)) @ normal
    return np.take_along_axis(errors, order_of(z), axis=1)[alike(tree, cases)].T
