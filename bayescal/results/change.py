"""Change over time: each window against the one before it and against a baseline."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import numpy as np
import xarray as xr

from bayescal.core.checks import check_is, check_known, check_number
from bayescal.core.errors import InputError
from bayescal.core.variables import MORE, ROW, Variable
from bayescal.results import access, schema
from bayescal.results.access import ResultSlice
from bayescal.results.compare import Errors, Pair, conservative, in_order
from bayescal.results.intervals import interval, tail
from bayescal.results.text import in_words, probability, several

if TYPE_CHECKING:
    import pandas as pd

_MOST_NAMED: Final = 4
"""Windows that a sentence names."""


@dataclass(frozen=True, slots=True, eq=False)
class Change:
    """How an error or a metric changed from window to window, and where it is worse than before."""

    variable: Variable
    baseline: str
    prob: float
    alarm: float
    table: pd.DataFrame
    """A row a window: see `change`."""

    @property
    def alarms(self) -> list[str]:
        """Windows with an alarm, in order."""
        return [str(name) for name in self.table.index[self.table["alarm"]]]

    @property
    def text(self) -> str:
        """The answer in a sentence or two."""
        lost = list(self.table.index[self.table["status"] != schema.OK])
        said = f" Not converged, so not to be relied on: {several(lost)}." if lost else ""
        return self._of_alarms() + said

    def _of_alarms(self) -> str:
        name, more = self.variable.full or self.variable.title, self.variable.better == MORE
        if not self.alarms:
            return (
                f"No window's {name} is {'below' if more else 'above'} that of {self.baseline} "
                f"with probability {self.alarm:g} or more."
            )
        change = f"the {name} {'fell below' if more else 'rose above'} that of {self.baseline}"
        if len(self.alarms) == 1:
            chance = float(self.table.loc[self.alarms[0], "baseline_prob_worse"])
            return f"In {self.alarms[0]} {change} (probability {in_words(probability(chance))})."
        if len(self.alarms) <= _MOST_NAMED:
            where = several(self.alarms)
        else:
            where = f"{len(self.alarms)} windows, of which {self.alarms[0]} is the first,"
        return f"In {where} {change} (probability {self.alarm:g} or more in each)."


def change(
    results: Mapping[Any, xr.DataTree] | Sequence[xr.DataTree] | xr.DataTree,
    var: str | None = None,
    prob: float = 0.9,
    *,
    baseline: str | None = None,
    alarm: float = 0.95,
    classifier: str | None = None,
    class_: str | None = None,
    group: str | None = None,
) -> Change:
    """Posterior of the change of a calibration error, or metric, over windows of time.

    Parameters
    ----------
    results : mapping of window to result, sequence of results, or one result with groups
        Windows in order: what `bayescal.fit_many` returned, or results by name; a sequence has the
        windows "1", "2" and so on. Of one result the windows are its groups.
    var : str, optional
        Calibration error or metric; the results' main one by default.
    prob : float
        Posterior probability of the intervals, strictly between 0 and 1.
    baseline : str, optional
        Window that all others are compared with; the first by default.
    alarm : float
        Least probability of being worse than the baseline that is an alarm, from 0.5 to 1.
    classifier, class_, group : str, optional
        Which case, needed where the results have several.

    Returns
    -------
    Change
        Its `text` says in which windows there is an alarm; its `table` has a row a window.

    Raises
    ------
    InputError
        If there are fewer than two windows, one has no result, they differ in their classifiers,
        a name is unknown, or the variable has no better direction.

    Notes
    -----
    Columns of the table:

    ========================  ====================================================
    n                         labelled rows
    mean, lower, upper        posterior mean, and interval of `bayescal.interval`
    previous_mean, _lower,    difference from the window before: posterior mean and
    _upper                    interval
    previous_prob_worse       P(worse than in the window before)
    baseline_...              the same four of the difference from the baseline; NaN of
                              the baseline itself, as the former of the first window
    alarm                     whether the window is worse than the baseline
    status                    "ok" or "NOT CONVERGED"
    ========================  ====================================================

    An error is worse where it is larger, a metric of which more is better where it is smaller.

    Windows that were fitted one by one have rows of their own, so that their draws are independent:
    they are paired at random, the same results and names in the same way. Groups of one result are
    paired draw by draw. The intervals of differences are those of `bayescal.difference`: each
    window's draws against the other's given miscalibration.

    Examples
    --------
    >>> import bayescal as bc
    >>> truths, data = {"2025-01": "near", "2025-02": "near", "2025-03": "over"}, {}
    >>> for place, (month, name) in enumerate(truths.items()):
    ...     score, label = bc.datasets.ece.truth(name).sample(1000, seed=place)
    ...     data[month] = bc.Scores(y_true=label, y_prob=score)
    >>> found = bc.change(bc.fit_many(bc.ece, data, method="direct", seed=20))
    >>> found.text
    'In 2025-03 the calibration error rose above that of 2025-01 (probability above 0.999).'
    >>> found.table["alarm"].tolist()
    [False, False, True]
    """
    import pandas as pd

    tail(prob)
    check_number(alarm, "alarm", "[0.5, 1]", "Pass 0.95, say.")
    windows = _windows(results, classifier, class_, group)
    names = list(windows)
    base = names[0] if baseline is None else baseline
    check_known(base, names, "baseline", "the series")
    one = _variable(windows[names[0]].tree, var)
    errors = _errors(windows, one.name, paired=isinstance(results, xr.DataTree))

    def against(name: str, other: str | None, prefix: str) -> dict[str, float]:
        known = other not in (None, name)
        pair = Pair(name, str(other), one.name, prob, None, None)
        found = _differ(pair, errors, one.better) if known else (np.nan,) * len(_FIGURES)
        return {f"{prefix}_{key}": value for key, value in zip(_FIGURES, found, strict=True)}

    rows = []
    for name, before in zip(names, [None, *names], strict=False):
        row = _row(windows[name], one.name, prob)
        row |= against(name, before, "previous") | against(name, base, "baseline")
        row["alarm"] = row["baseline_prob_worse"] >= alarm
        rows.append(row | {"status": access.case_status(*windows[name])})
    table = pd.DataFrame(rows, index=pd.Index(names, name="window"))
    return Change(one, base, prob, alarm, table)


_FIGURES: Final = ("mean", "lower", "upper", "prob_worse")


class _Window(NamedTuple):
    """One window: its result, and the case of it."""

    tree: xr.DataTree
    case: ResultSlice


def _windows(
    results: object, classifier: str | None, class_: str | None, group: str | None
) -> dict[str, _Window]:
    """Windows by name, in order, all of the same classifier."""
    if isinstance(results, xr.DataTree):
        found = _groups(results, classifier, class_, group)
    else:
        found = {
            name: _window(name, tree, classifier, class_, group)
            for name, tree in _named(results).items()
        }
    if len(found) < 2:
        raise InputError(
            f"a change needs two windows or more; got {len(found)}. Pass the results of several, "
            "as {window: result, ...}, or one result with groups."
        )
    by_classifier = {window.case.classifier: name for name, window in reversed(found.items())}
    if len(by_classifier) > 1:
        said = ", ".join(f"{one!r} ({name})" for one, name in reversed(by_classifier.items()))
        raise InputError(
            f"windows must be of the same classifier; they have {said}. Give their scores the same "
            "classifier name."
        )
    return found


def _groups(
    tree: xr.DataTree, classifier: str | None, class_: str | None, group: str | None
) -> dict[str, _Window]:
    """Groups of one result, which are its windows."""
    if group is not None:
        raise InputError(
            f"the groups of one result are its windows; got group={group!r}. Leave group out, or "
            "pass a result a window."
        )
    access.check_given(tree, classifier=classifier, class_=class_)
    names = access.names_along(tree, schema.GROUP)
    return {name: _Window(tree, access.find_case(tree, classifier, class_, name)) for name in names}


def _named(results: Any) -> dict[str, Any]:
    """Results by the name of their window."""
    if isinstance(results, Sequence) and not isinstance(results, str | bytes):
        return {str(place): tree for place, tree in enumerate(results, start=1)}
    check_is(results, Mapping, "results", "Pass {window: result, ...}.")
    # Of many fits, those that failed.
    for name, why in getattr(results, "failures", {}).items():
        raise InputError(
            f"every window must have a result; {name!r} failed: {why.message}. Leave it out with "
            "dict(fits)."
        )
    for name in results:
        if isinstance(name, bool) or not isinstance(name, str | int):
            raise InputError(
                f"a window must be named by a word or a whole number; got {name!r}. Pass the "
                "windows of one series, as {window: fits[series, window], ...}."
            )
    return {str(name): tree for name, tree in results.items()}


def _window(
    name: str, tree: Any, classifier: str | None, class_: str | None, group: str | None
) -> _Window:
    """The case of one result."""
    with _said_of(name):
        access.check_given(tree, classifier=classifier, class_=class_, group=group)
        return _Window(tree, access.find_case(tree, classifier, class_, group))


def _variable(tree: xr.DataTree, var: str | None) -> Variable:
    """What is compared; it has a better direction."""
    if access.main(tree).role == ROW:
        raise InputError(
            "a change is of an error or a metric; these results hold probabilities of rows. Fit a "
            "calibration error."
        )
    one = access.described(tree, access.check_variable(tree, var))
    if one.better is None:
        raise InputError(
            f"a change for the worse needs to know whether more of {one.name!r} is better, which "
            "its quantity does not say. Choose another variable."
        )
    return one


def _row(window: _Window, var: str, prob: float) -> dict[str, Any]:
    """What is known of one window by itself."""
    ends = access.at(interval(window.tree, var, prob), window.case).values
    return {
        "n": access.scalar(window.tree, schema.POINT_ESTIMATE, "n", window.case),
        "mean": access.posterior_mean(window.tree, var, window.case),
        "lower": float(ends[0]),
        "upper": float(ends[1]),
    }


def _errors(windows: Mapping[str, _Window], var: str, paired: bool) -> dict[str, Errors]:
    """Draws of every window: as they are where one model has them all, else in random order."""
    found = {}
    for name, (tree, case) in windows.items():
        with _said_of(name):
            access.check_variable(tree, var)
            low, high = (
                access.flat_draws(tree, var, case, group)
                for group in (schema.POSTERIOR, access.conditional_group(tree, var))
            )
            if np.isnan(low).all():
                raise InputError(
                    f"a change needs draws; {var!r} is undefined in every draw. Choose another "
                    "metric."
                )
        found[name] = Errors(low, high, access.posterior_mean(tree, var, case))
    if paired:
        return found
    n = max(len(one.low) for one in found.values())
    return {name: _shuffled(one, n, name, windows[name]) for name, one in found.items()}


def _shuffled(one: Errors, n: int, name: str, window: _Window) -> Errors:
    """So many draws, independent of those of other windows."""
    order = access.stream_of(window.tree, *window.case.names, name).permutation(n)
    return Errors(in_order(one.low, n)[order], in_order(one.high, n)[order], one.mean)


def _differ(pair: Pair, errors: Mapping[str, Errors], better: str | None) -> tuple[float, ...]:
    """Figures of the difference of two windows, over the draws in which both are defined."""
    one, two = (errors[name] for name in (pair.first, pair.second))
    known = ~np.isnan([*one[:2], *two[:2]]).any(axis=0)
    one, two = (Errors(own.low[known], own.high[known], own.mean) for own in (one, two))
    found = conservative(pair, one, two, np.nan)
    larger = found.prob_first_larger
    worse = 1 - larger - found.prob_equal if better == MORE else larger
    return found.mean, found.lower, found.upper, worse


@contextmanager
def _said_of(window: str) -> Iterator[None]:
    """Name the window that an error is of."""
    try:
        yield
    except InputError as error:
        raise InputError(f"window {window!r}: {error}") from None
