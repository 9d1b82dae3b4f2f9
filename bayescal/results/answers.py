"""Answers that are no result: decision curves, and a plan of labels."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import groupby, pairwise
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import numpy as np
import xarray as xr
from numpy.typing import NDArray

from bayescal.core import text
from bayescal.core.checks import check_number, checked_numbers, listing
from bayescal.core.columns import Floats
from bayescal.core.errors import InputError
from bayescal.core.shown import Showing, Shown, strip_of
from bayescal.measures.measure import ROWS
from bayescal.measures.registry import range_of
from bayescal.measures.scores import is_called
from bayescal.results import access, schema
from bayescal.results.access import ResultSlice
from bayescal.results.bootstrap import Cells, called_alike, joint_values, rows_of
from bayescal.results.compare import ROUNDING
from bayescal.results.intervals import tail
from bayescal.results.measure import check_curve, curve_cells, inner_names

if TYPE_CHECKING:
    import pandas as pd

USEFUL: Final = 0.95
"""Probability of being useful that the sentence reports."""
_THRESHOLDS: Final = 6
_MOST_SAID: Final = 6


@dataclass(frozen=True, slots=True, eq=False)
class DecisionCurve(Showing):
    """Net benefit by classifier and threshold, and the probability that it is the best choice."""

    prob: float  #: Probability of the intervals.
    table: pd.DataFrame
    """A row a classifier and threshold: see `decision_curve`."""

    @property
    def text(self) -> str:
        """The answer in sentences."""
        names: dict[str, list[str]] = {}
        for name, own in self.table.groupby("classifier", sort=False):
            names.setdefault(_useful_at(own), []).append(strategy(str(name)))
        (place, first), *others = names.items()
        verb = "is" if len(first) == 1 else "are"
        said = [f"{text.several(first)} {verb} useful {place}"]
        said += [f"{text.several(own)} {place}" for place, own in others[: _MOST_SAID - 1]]
        if left := sum(len(own) for _, own in others[_MOST_SAID - 1 :]):
            said.append(f"for {text.counted(left, 'more classifier')} see the table")
        head = text.UNRELIABLE if (self.table["status"] != schema.OK).any() else ""
        head += f"With probability {USEFUL:g} or more, {'; '.join(said)}."
        meant = "Useful is better than treating all and treating none."
        return f"{head} {meant} {_value(self.table)}"

    def _show_(self) -> Shown:
        # As many thresholds as are read at a glance, evenly spaced.
        rows = [
            own.iloc[place]
            for _, own in self.table.groupby("classifier", sort=False)
            for place in sorted({*np.linspace(0, len(own) - 1, _THRESHOLDS).round().astype(int)})
        ]
        interval = f"{text.percent(self.prob)} interval"
        bars = [(one["lower"], one["upper"], one["mean"]) for one in rows]
        columns = ("Net benefit", interval, "Treat all", "P(useful)")
        return Shown(
            lead=[self.text],
            columns=("Threshold", *columns),
            rows=[
                (
                    f"{strategy(one['classifier'])} at {one['threshold']:g}",
                    *(text.fixed(one["mean"], 4), text.ends(one["lower"], one["upper"], 4)),
                    *(text.fixed(one["all_mean"], 4), text.probability(one["p_useful"])),
                )
                for one in rows
            ],
            strip=strip_of(bars, f"Dot: net benefit; band: {interval}.", 0.0),
            failed=[place for place, one in enumerate(rows) if one["status"] != schema.OK],
        )


def strategy(classifier: str) -> str:
    """Name of a classifier, told apart from the strategies that use none."""
    return f"classifier {classifier}" if classifier in ("treat all", "treat none") else classifier


def decision_curve(
    result: xr.DataTree,
    thresholds: Sequence[float] | None = None,
    prob: float = 0.9,
    *,
    class_: str | None = None,
    group: str | None = None,
) -> DecisionCurve:
    """Posterior of the net benefit of acting on the scores, threshold by threshold.

    Parameters
    ----------
    result : xarray.DataTree
        A result that holds a calibration curve, of one classifier or several.
    thresholds : sequence of float, optional
        Scores from which on a row is treated, increasing, in (0, 1). By default 0.01, 0.02, ... up
        to the highest score; in steps of 0.001 where no score reaches 0.1, and so on.
    prob : float, default 0.9
        Posterior probability of the intervals, strictly between 0 and 1.
    class_, group : str, optional
        Which class and group, needed where the result has several.

    Returns
    -------
    DecisionCurve
        `text` says where each classifier is useful; `table` has a row a classifier and threshold.

    Raises
    ------
    InputError
        If the result holds no calibration curve, a threshold lies outside (0, 1), they do not
        increase, or a name is unknown or must be given.

    Notes
    -----
    The estimand is the net benefit in the population: the share of rows that are treated and have
    the label, minus ``t / (1 - t)`` times the share that are treated and have not, for treating
    from a score of t on. At a threshold of t one false positive is held to cost ``t / (1 - t)`` as
    much as a true positive gains. Columns of the table:

    =======================  =====================================================
    classifier, threshold    names of the row
    mean, lower, upper       net benefit of the classifier: posterior mean and interval
    all_mean, _lower,        net benefit of treating all, one number of classifiers of the
    _upper                   same rows; that of treating none is 0
    p_useful                 P(net benefit above those of treating all and treating none)
    p_best                   P(best of all strategies: classifiers, treat all, treat none)
    p_best_all, p_best_none  the same of treating all and of treating none
    evpi                     expected gain of knowing the best strategy: E[max] of the net
                             benefits minus max of their E
    status                   "ok" or "NOT CONVERGED"
    =======================  =====================================================

    Draws are those of the Bayesian bootstrap, with equal-tailed intervals, as of `bayescal.measure`
    by the name "net_benefit"; see `Measure`. A draw has the rates and the masses of all scores, so
    that net benefit and prevalence vary together. Strategies that tie share P(best); a classifier
    that treats all rows, or none, ties with that strategy and is not useful.

    For P(best) and EVPI of several classifiers a draw has the same weights of their shared rows, so
    that strategies which treat the same rows tie. Without shared rows, as in results with groups
    and files of earlier versions, these are NaN; all else remains.

    References
    ----------
    .. [1] A. J. Vickers and E. B. Elkin, 2006. https://doi.org/10.1177/0272989X06295361
    .. [2] G. N. F. Cruz and K. Korthauer, 2023. https://arxiv.org/abs/2308.02067

    Examples
    --------
    >>> import bayescal as bc
    >>> scores = bc.datasets.ece.truth("over").scores(2000, seed=1)
    >>> result = bc.fit(bc.ece, scores, method="direct", seed=20)
    >>> found = bc.decision_curve(result, thresholds=[0.1, 0.25, 0.5])
    >>> found.table["p_useful"].round(1).tolist()
    [1.0, 1.0, 1.0]
    """
    check_curve(result)
    alpha = tail(prob)
    cases = _cases(result, class_, group)
    curves = [curve_cells(result, case, ROWS) for case in cases]
    top = max(float(curve.score.max()) for curve in curves)
    at = _grid(top) if thresholds is None else _checked(thresholds)
    found = [benefit(*curve.parted(at)[:3], at) for curve in curves]
    return DecisionCurve(prob, _table(result, cases, found, at, alpha))


def _cases(result: xr.DataTree, class_: str | None, group: str | None) -> Sequence[ResultSlice]:
    if inner_names(result):
        raise InputError(
            "a decision curve is of one event; this result has a curve for each of several classes "
            'of a row. Fit their calibration errors with multiclass="class-wise".'
        )
    access.check_given(result, class_=class_, group=group)
    first = access.find_case(result, None, class_, group)
    return next(cases for cases in access.along(result, schema.CLASSIFIER) if first in cases)


def _grid(top: float) -> Floats:
    """Two digits of thresholds up to the highest score."""
    top = min(max(top, 1e-6), 0.99)
    # A highest score of .3 is one of 30 steps, not 29.
    step = 10.0 ** (math.floor(math.log10(top) + 1e-9) - 1)
    return np.round(step * np.arange(1, int(top / step + 1e-9) + 1), 12)


def _checked(thresholds: object) -> Floats:
    at = checked_numbers(thresholds, "thresholds", "(0, 1)")
    if any(late <= early for early, late in pairwise(at)):
        raise InputError(
            f"thresholds must increase; got {listing(at)}. Sort them, and leave out what is twice."
        )
    return np.array(at)


def _table(
    result: xr.DataTree,
    cases: Sequence[ResultSlice],
    found: Sequence[Benefit],
    thresholds: Floats,
    alpha: float,
) -> pd.DataFrame:
    import pandas as pd

    known = chances(result, cases, found, thresholds)
    everyone = _everyone(result, cases, found, alpha)
    frames = [
        pd.DataFrame(
            {
                "classifier": case.classifier,
                "threshold": thresholds,
                **_summary(one.own, "", alpha),
                **everyone[k],
                "p_useful": (one.own > np.maximum(one.everyone, 0)).mean(axis=1),
                "p_best": known.best[:, k],
                "p_best_all": known.best[:, -2],
                "p_best_none": known.best[:, -1],
                "evpi": known.evpi,
                "status": access.case_status(result, case),
            }
        )
        for k, (case, one) in enumerate(zip(cases, found, strict=True))
    ]
    return pd.concat(frames, ignore_index=True)


def _everyone(
    tree: xr.DataTree, cases: Sequence[ResultSlice], found: Sequence[Benefit], alpha: float
) -> Sequence[dict[str, Floats]]:
    """Net benefit of treating all, by case: of the same rows one number."""
    draws = [one.everyone for one in found]
    rows = [rows_of(tree, case) for case in cases]
    weights = [(one.by_label * one.unit).sum(axis=1) for one in rows if one is not None]
    # Results keep weights in single precision.
    if len(weights) < len(cases) or not np.allclose(weights, weights[0], rtol=1e-6):
        return [_summary(one, "all_", alpha) for one in draws]
    return [_summary(np.concatenate(draws, axis=1), "all_", alpha)] * len(cases)


def _summary(draws: Floats, prefix: str, alpha: float) -> dict[str, Floats]:
    """Mean and interval of draws (threshold, draw)."""
    lower, upper = np.quantile(draws, [alpha, 1 - alpha], axis=1)
    values = {"mean": draws.mean(axis=1), "lower": lower, "upper": upper}
    return {f"{prefix}{name}": value for name, value in values.items()}


def _useful_at(own: pd.DataFrame) -> str:
    """Where a classifier is useful with high probability, or most probably."""
    at, chance = own["threshold"].to_numpy(), own["p_useful"].to_numpy()
    runs = [f"from {_at(at[a])} to {_at(at[b])}" if a < b else _at(at[a]) for a, b in _runs(chance)]
    if runs:
        one = len(runs) == 1 and " " not in runs[0]
        return f"at the threshold of {runs[0]}" if one else f"at thresholds {text.several(runs)}"
    most = int(np.argmax(chance))
    said = text.in_words(text.probability(float(chance[most])))
    return f"at no threshold (the highest probability is {said}, at {_at(at[most])})"


def _runs(chance: Floats) -> Iterator[tuple[int, int]]:
    """First and last place of each run of thresholds where it is useful."""
    for useful, places in groupby(range(len(chance)), key=lambda k: bool(chance[k] >= USEFUL)):
        held = list(places)
        if useful:
            yield held[0], held[-1]


def _value(table: pd.DataFrame) -> str:
    """What certainty about the best strategy would be worth at most."""
    evpi = table["evpi"]
    if evpi.isna().any():
        return (
            "Which strategy is best is not known: the result does not hold the rows that "
            "its classifiers share."
        )
    most: Any = table.loc[evpi.idxmax()]
    worth = text.fixed(float(most["evpi"]), 4)
    if not float(worth):
        return (
            "Knowing the best strategy would add less than 0.0001 of net benefit at each "
            "threshold: more rows would hardly change the choice."
        )
    return (
        f"Knowing the best strategy would add {worth} of net benefit at most, at "
        f"{_at(most['threshold'])}."
    )


def _at(threshold: float) -> str:
    """A threshold with two decimals, or those that it needs."""
    return f"{threshold:.2f}" if abs(round(threshold, 2) - threshold) < 1e-9 else f"{threshold:g}"


class Benefit(NamedTuple):
    """Net benefit of treating by a classifier's scores, and of treating all, (threshold, draw)."""

    own: Floats
    everyone: Floats


class Chances(NamedTuple):
    """What is known of the best strategy at each threshold."""

    best: Floats
    """P(best), (threshold, strategy): the classifiers, treat all, treat none."""
    evpi: Floats
    """What knowing the best strategy would add to the net benefit, (threshold,)."""


def benefit(rate: Floats, score: Floats, mass: Floats, thresholds: Floats) -> Benefit:
    """Draws at all thresholds from sums over the cells above each."""
    odds = (thresholds / (1 - thresholds))[:, None]
    first = np.count_nonzero(is_called(score[:, None], thresholds) == 0, axis=0)
    true, false = (_from_each(part).T for part in (mass * rate, mass * (1 - rate)))
    return Benefit(true[first] - odds * false[first], true[0] - odds * false[0])


def _from_each(part: Floats) -> Floats:
    """Sums over each cell and those above it, then 0 for none, (draw, cell + 1)."""
    flat = part.reshape(-1, part.shape[-1])
    flat = flat[~np.isnan(flat[:, 0])]
    sums = np.zeros((len(flat), flat.shape[1] + 1))
    sums[:, :-1] = flat[:, ::-1].cumsum(axis=1)[:, ::-1]
    return sums


def chances(
    tree: xr.DataTree, cases: Sequence[ResultSlice], found: Sequence[Benefit], thresholds: Floats
) -> Chances:
    """P(best) and EVPI; NaN of several classifiers without shared rows."""
    if len(cases) == 1:
        (one,) = found
        return _of_draws(np.stack([one.own, one.everyone, 0 * one.own]))
    if schema.SHARED_ROWS not in tree.children:
        shape = (len(thresholds), len(cases) + 2)
        return Chances(np.full(shape, np.nan), np.full(shape[0], np.nan))
    _check_one_event(tree, cases)

    def both(cells: Cells) -> Floats:
        return np.stack(benefit(*cells.parted(thresholds)[:3], thresholds))

    drawn = joint_values(tree, both, cases)
    first = called_alike(tree, cases, thresholds).T
    own, everyone = drawn[first, 0, np.arange(len(thresholds))], drawn[:1, 1]
    return _of_draws(np.concatenate([own, everyone, 0 * everyone]))


def _of_draws(values: Floats) -> Chances:
    """From joint draws (strategy, threshold, draw); strategies that tie share a draw."""
    top = values.max(axis=0).mean(axis=-1)
    return Chances(shares_of_most(values).T, top - values.mean(axis=-1).max(axis=0))


def shares_of_most(values: Floats) -> Floats:
    """Probability that each is the largest, from draws (case, ..., draw); ties share a draw."""
    most = values >= values.max(axis=0) - ROUNDING
    return np.asarray((most / most.sum(axis=0)).mean(axis=-1))


def _check_one_event(tree: xr.DataTree, cases: Sequence[ResultSlice]) -> None:
    labels = [
        access.variable(tree, schema.SHARED_ROWS, schema.LABEL, case).values for case in cases
    ]
    if any((label != labels[0]).any() for label in labels):
        raise InputError(
            "classifiers are compared by net benefit for one event; here each has its own, that "
            'its prediction is right. Fit with multiclass="class-wise", or one classifier.'
        )


ENOUGH: Final = 0.8
"""Probability of excluding the limit with which labels are called enough."""


@dataclass(frozen=True, eq=False, repr=False)
class LabelPlan(Showing):
    """What intervals will be like with more labels, from simulated samples.

    Parameters
    ----------
    var : str
        What the intervals are of.
    prob : float
        Their posterior probability.
    n : tuple of int
        Numbers of labels, rising.
    ends : ndarray of shape (n, replication, 2)
        Intervals of the simulated samples.
    limit : float, optional
        Value to be excluded.
    title : str, optional
        Name of `var` in sentences and pictures.
    converged : bool, default True
        Whether the fit that samples were simulated from did.

    Attributes
    ----------
    table : pandas.DataFrame
        A row a number of labels: `n`; `width` (mean), `width_se` (its Monte Carlo error),
        `width_lower` and `width_upper` (central range of probability `prob` over the samples); with
        a limit `prob_below` and `prob_above` (the interval lies wholly below or above it),
        `prob_excludes` (their sum) and `prob_se` (its Monte Carlo error, the standard deviation of
        Beta(1 + samples that exclude it, 1 + others), which is not 0 where all samples agree).
    text : str
        The same in sentences.
    enough : int or None
        Least number of labels that excludes the limit with a probability of 0.8 or more.
    """

    var: str
    prob: float
    n: tuple[int, ...]
    ends: NDArray[np.float64]
    limit: float | None = None
    title: str = ""
    converged: bool = True

    def with_limit(self, limit: float) -> LabelPlan:
        """Take another limit; the simulated samples stay.

        Parameters
        ----------
        limit : float
            Value to be excluded.

        Returns
        -------
        LabelPlan
            With the probabilities of excluding it.
        """
        return replace(self, limit=check_number(limit, "limit", range_of(self.var)))

    @cached_property
    def table(self) -> pd.DataFrame:
        """Widths and probabilities by number of labels."""
        import pandas as pd

        number = self.ends.shape[1]
        lower, upper = self.ends[..., 0], self.ends[..., 1]
        width, tail = upper - lower, (1 - self.prob) / 2
        low, high = np.quantile(width, (tail, 1 - tail), axis=1)
        columns = {
            "n": self.n,
            "width": width.mean(axis=1),
            "width_se": width.std(axis=1, ddof=1) / np.sqrt(number),
            "width_lower": low,
            "width_upper": high,
        }
        if self.limit is not None:
            below, above = upper < self.limit, lower > self.limit
            chance = (below | above).mean(axis=1)  # 0.7 + 0.1 is less than 0.8
            columns |= {"prob_below": below.mean(axis=1), "prob_above": above.mean(axis=1)}
            share = (1 + chance * number) / (2 + number)
            se = np.sqrt(share * (1 - share) / (3 + number))
            columns |= {"prob_excludes": chance, "prob_se": se}
        return pd.DataFrame(columns)

    @property
    def enough(self) -> int | None:
        """Least number of labels that excludes the limit with a probability of 0.8 or more."""
        if self.limit is None:
            return None
        reached = self.table.n[self.table.prob_excludes >= ENOUGH]
        return None if reached.empty else int(reached.min())

    @property
    def text(self) -> str:
        """Say it in sentences."""
        head = "" if self.converged else text.UNRELIABLE
        width = self.table.width
        digits = text.decimals(0.0, float(width.min()))
        widths = ", ".join(
            f"{text.fixed(one, digits)} with {text.count(n)}"
            for n, one in zip(self.n, width, strict=True)
        )
        what = f"{text.percent(self.prob)} interval of {self.title or self.var}"
        noun = "label" if self.n[-1] == 1 else "labels"
        return f"{head}Expected width of the {what}: {widths} {noun}.{self._on_limit()}"

    def _on_limit(self) -> str:
        """Whether labels are enough to exclude the limit."""
        if self.limit is None:
            return ""
        n, limit = self.enough or self.n[-1], f"{self.limit:g}"
        what = text.counted(n, "label") + (" excludes " if n == 1 else " exclude ") + limit
        row = self.table[self.table.n == n].iloc[0]
        found, below, above = (
            text.in_words(self._share(float(row[name])))
            for name in ("prob_excludes", "prob_below", "prob_above")
        )
        if self.enough is None:
            return f" Even {what} with probability {found} only."
        return (
            f" About {what} with probability {found} ({below} that "
            f"it lies below {limit}, {above} that it lies above)."
        )

    def _share(self, value: float) -> str:
        """Write a share of the samples; that of none or all only as finely as they tell."""
        least = max(1 / self.ends.shape[1], 0.001)
        if value < least:
            return f"< {least:.3g}"
        return f"> {1 - least:.3g}" if value > 1 - least else text.probability(value)

    def _show_(self) -> Shown:
        ranges = self.table[["width_lower", "width_upper", "width"]].itertuples(index=False)
        widths = [(one[0], one[1], one[2]) for one in ranges]
        digits = text.decimals(0.0, float(self.table.width.min()))
        chances = None if self.limit is None else self.table.prob_excludes
        return Shown(
            lead=[self.text],
            columns=(
                *("Labels", "Width", f"{text.percent(self.prob)} range"),
                *([] if chances is None else [f"P(excludes {self.limit:g})"]),
            ),
            rows=[
                (
                    *(text.count(n), text.fixed(width, digits), text.ends(low, high, digits)),
                    *([] if chances is None else [self._share(chances[place])]),
                )
                for place, (n, (low, high, width)) in enumerate(zip(self.n, widths, strict=True))
            ],
            strip=strip_of(widths, "Dot: mean width; band: its range over simulated samples.", 0.0),
        )

    def __repr__(self) -> str:
        """Say what is planned."""
        return f"<LabelPlan: {self.text}>"
