"""The difference of two classifiers.

What one posterior holds of all classifiers is compared draw by draw; classifiers fitted one by one
are coupled as their shared rows couple them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Final, NamedTuple

import numpy as np
import xarray as xr
from numpy.typing import NDArray

from bayescal.core.checks import check_is
from bayescal.core.columns import Floats
from bayescal.core.errors import InputError
from bayescal.core.quantity import ERROR, METRIC, ROW
from bayescal.core.shown import Showing, Shown, strip_of
from bayescal.core.text import decimals, ends, fixed, in_words, percent, probability
from bayescal.measures.registry import measures, resolve
from bayescal.results import access, schema
from bayescal.results.access import ResultSlice
from bayescal.results.bootstrap import alike
from bayescal.results.intervals import tail
from bayescal.results.measure import measure_correlation, paired, with_measure

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
        likely, alike = map(in_words, map(probability, (self.prob_first_larger, self.prob_equal)))
        tie = f", and both are equal with probability {alike}" if self.prob_equal > 0.001 else ""
        return (
            f"{title}{self.first} minus {self.second}: {self.mean:+z.4f} ({sure}); "
            f"{self.first}'s is the larger with probability {likely}{tie}."
        )

    def _show_(self) -> Shown:
        digits, interval = decimals(self.lower, self.upper), f"{percent(self.prob)} interval"
        chances = (self.prob_first_larger, self.prob_equal)
        key = f"Dot: posterior mean; band: {interval}."
        return Shown(
            lead=[self.text],
            columns=("", "Difference", interval, "P(first larger)", "P(equal)"),
            rows=[
                (
                    f"{self.first} \N{MINUS SIGN} {self.second}",
                    fixed(self.mean, digits),
                    ends(self.lower, self.upper, digits),
                    *map(probability, chances),
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
        If a name is unknown, the result does not hold how the classifiers' errors correlate, it is
        of rows, which have no such difference, or it has several priors.

    Notes
    -----
    Metrics of all classifiers are in one posterior, and so are measures of rows, such as the Brier
    score or the AUC, where classifiers share rows: a draw has the same rows, and weights of them,
    for all. Draws are subtracted one by one, those in which the metric is undefined left out, and
    the interval is equal-tailed.

    Calibration errors, other measures, and the metrics of some quantities, are fitted classifier by
    classifier. Shared rows make two errors dependent: labels that by chance flatter one classifier
    flatter a similar one too. The two sets of draws are therefore coupled by a Gaussian copula,
    whose correlation is that of the two estimates over the rows: stored in the group
    `error_correlation`, and of a measure computed from the group `shared_rows`. Each marginal
    posterior stays as it is, draw for draw, those of 0 among them.

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
    if access.has_variable(tree, schema.PAIRED, name):
        return of_paired_draws(tree, pair, schema.PAIRED)
    return couple_pair(tree, pair) if is_fitted_apart(tree, name) else of_paired_draws(tree, pair)


def check_comparable(tree: xr.DataTree, what: str) -> None:
    """Refuse rows: probabilities given different scores are not one quantity."""
    if access.main(tree).role == ROW:
        raise InputError(
            f"{what} needs an error or a metric of each classifier; this result holds "
            "probabilities given each classifier's own score, which are different quantities. "
            "Compare widths and open rows with bayescal.summary, or fit a calibration error."
        )


def is_fitted_apart(tree: xr.DataTree, var: str) -> bool:
    """Whether classifiers have posteriors of their own, to be coupled."""
    is_measure = var in access.measure_names(tree)
    # Where rows were shared, draws of classifiers are no pairs, be the rows held or not.
    apart = access.main(tree).role == ERROR or tree.attrs.get("pairing") == "shared rows"
    return apart or is_measure or is_coupled(tree, var)


def find_pair(tree: xr.DataTree, pair: Pair) -> tuple[access.ResultSlice, access.ResultSlice]:
    """The cases of two classifiers, after checking names and variable."""
    first, second, var, _, *where = pair
    access.check_variable(tree, var)
    access.check_given(tree, class_=pair.class_, group=pair.group)
    return access.find_case(tree, first, *where), access.find_case(tree, second, *where)


def of_paired_draws(tree: xr.DataTree, pair: Pair, source: str = schema.POSTERIOR) -> Difference:
    """Subtract draw by draw what one posterior holds of both."""
    where = "" if pair.group is None else f" in group {pair.group}"
    draws = [access.flat_draws(tree, pair.var, case, source) for case in find_pair(tree, pair)]
    found = draw_by_draw(pair, draws, f"{pair.var!r}{where} is")
    return replace(found, title=access.described(tree, pair.var).title)


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
    return draw_by_draw(pair._replace(var=first), draws, f"{first!r} or {second!r} is")


def draw_by_draw(pair: Pair, draws: Sequence[NDArray[np.float64]], undefined: str) -> Difference:
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
    ends = float(lower), float(upper)
    return Difference(
        pair.first, pair.second, pair.var, mean, *ends, pair.prob, larger, equal, correlation, apart
    )


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
    values = [sorted_draws(tree, var, case) for case in ordered]
    if np.isnan(values).any():
        raise InputError(
            f"a difference needs draws of both; {var!r} is undefined in every draw. Choose another "
            "metric."
        )
    # Ranks of a sample of a bivariate normal of that correlation.
    first, other = rng.standard_normal((2, len(values[0])))
    coupled = correlation * first + np.sqrt(max(0.0, 1 - correlation**2)) * other
    ranks = order_of(np.stack([first, coupled]))
    given = [sorted_draws(tree, var, case, access.conditional_group(tree, var)) for case in ordered]
    if ordered[0] is ordered[1]:
        # Of two copies none is calibrated where the other is not.
        given = values
    found = [
        Errors(own[rank], miscalibrated[rank], access.posterior_mean(tree, var, case))
        for own, miscalibrated, rank, case in zip(values, given, ranks, ordered, strict=True)
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
    own = is_coupled(tree, var)
    if var in access.measure_names(tree) and not own:
        if schema.SHARED_ROWS in tree.children:
            raise InputError(
                f"classifiers must be compared by what rows tell apart; {var!r} of each rests on "
                "the prior of its own curve. Choose 'auc', 'brier' or 'log_loss'."
            )
        raise InputError(_APART)
    name = var if own else "correlation"
    stored = access.has_variable(tree, schema.ERROR_CORRELATION, name)
    if not stored and schema.SHARED_ROWS in tree.children:
        # That of the main error stands for errors in bins, as where it is stored.
        named = var if var in measures() else access.main(tree).name
        return measure_correlation(tree, resolve(named).function, cases)
    if not stored:
        raise InputError(_APART)
    held = tree[schema.ERROR_CORRELATION].dataset[name]
    names = [case.classifier for case in cases]
    place = access.place_in(held, cases[0])
    place |= {schema.CLASSIFIER: names, f"{schema.CLASSIFIER}_other": names}
    return np.asarray(held.sel(place).values)


def shares_of_most(values: Floats) -> Floats:
    """Probability that each is the largest, from draws (case, ..., draw); ties share a draw."""
    most = values >= values.max(axis=0) - ROUNDING
    return np.asarray((most / most.sum(axis=0)).mean(axis=-1))


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


def sorted_draws(
    tree: xr.DataTree, var: str, case: ResultSlice, group: str = schema.POSTERIOR
) -> Floats:
    """Draws of a case in order."""
    draws = access.flat_draws(tree, var, case, group)
    return in_order(draws, len(draws))


def in_order(draws: Floats, n: int) -> Floats:
    """So many draws in order; undefined ones give their places to the others, if there are any."""
    known = int(np.count_nonzero(~np.isnan(draws)))
    return np.sort(draws)[np.arange(n) * (known or len(draws)) // n]
