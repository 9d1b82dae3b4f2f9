"""The difference of two classifiers' errors or metrics on the same rows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np
import xarray as xr
from numpy.typing import NDArray

from bayescal.core.checks import check_is
from bayescal.core.errors import InputError
from bayescal.results import access
from bayescal.results.intervals import tail
from bayescal.results.kind import check_variable, kind_of
from bayescal.results.text import percent, variable_title


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

    @property
    def text(self) -> str:
        """The answer as a sentence."""
        sure = f"{percent(self.prob)} interval {self.lower:+z.4f} to {self.upper:+z.4f}"
        title = "" if self.var == self.first else f"{variable_title(self.var)} of "
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
        Calibration error ("tce", "ece", "mce") or metric; the result's main one by default. Not
        used for two metrics.
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

    Calibration errors, and the metrics of some quantities, are fitted classifier by classifier.
    Shared rows make two errors dependent: labels that by chance flatter one classifier flatter a
    similar one too. The two sets of draws are therefore coupled by a Gaussian copula, whose
    correlation is that of the two estimates over the rows (group `error_correlation`). Each
    marginal posterior stays as it is, draw for draw.

    For the model average, each classifier's draw of a calibration error is replaced by 0 with its
    probability of calibration, independently. The interval sets the averaged draws of the one
    against the other's given miscalibration, as the conservative interval of a single error does:
    its lower end is the alpha quantile of "averaged first minus miscalibrated second", its upper
    end the 1 - alpha quantile of "miscalibrated first minus averaged second". Draw by draw the
    averaged difference lies between the two, so that the interval covers at least `prob` of the
    posterior; for two well calibrated classifiers it neither collapses to [0, 0] nor denies that
    only one of them is. The mean is the difference of the two averaged means. The same result and
    names give the same numbers, and exchanging the names changes their signs only.
    """
    tail(prob)
    kind = kind_of(tree)
    name = var if var is not None else check_variable(tree, None)
    return kind.difference(tree, Pair(first, second, name, prob, class_, group))


def _check_words(first: object, second: object) -> None:
    for name, one in (("first", first), ("second", second)):
        check_is(one, str, name, "Pass the name of one in the result.")


def find_pair(tree: xr.DataTree, pair: Pair) -> tuple[access.ResultSlice, access.ResultSlice]:
    """The cases of two different classifiers, after checking names and variable."""
    first, second, var, _, *where = pair
    _check_words(first, second)
    check_variable(tree, var)
    if first == second:
        raise InputError(f"first and second must differ; got {first!r} twice. Name two.")
    access.check_given(tree, class_=pair.class_, group=pair.group)
    return access.find_case(tree, first, *where), access.find_case(tree, second, *where)


def of_paired_draws(tree: xr.DataTree, pair: Pair) -> Difference:
    """Subtract draw by draw what one posterior holds of both."""
    where = "" if pair.group is None else f" in group {pair.group}"
    draws = [access.flat_draws(tree, pair.var, case) for case in find_pair(tree, pair)]
    return _draw_by_draw(pair, draws, f"{pair.var!r}{where} is")


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
