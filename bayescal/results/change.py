"""Change over time: each window against the one before it and against a baseline."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Final, NamedTuple, cast

import numpy as np
import xarray as xr

from bayescal.core import text
from bayescal.core.checks import check_is, check_known, check_number
from bayescal.core.errors import DataWarning, InputError, NoValueError, ignored, warn_caller
from bayescal.core.quantity import CALIBRATION_ERRORS, MORE, ROW, Variable
from bayescal.core.shown import Showing, Shown, strip_of
from bayescal.results import access, schema
from bayescal.results.access import ResultSlice
from bayescal.results.compare import Errors, Pair, conservative, in_order
from bayescal.results.intervals import interval, tail
from bayescal.results.measure import is_of_rows, with_measure

if TYPE_CHECKING:
    import pandas as pd

_MAIN: Final = CALIBRATION_ERRORS[0].name
_MOST_NAMED: Final = 4
"""Windows that a sentence names."""
_FEW: Final = 5
"""Rows whose Bayesian bootstrap is too sure: of one, a fifth of Brier scores alarm falsely."""
_AGAINST: Final = {
    "previous": "P(worse than the window before)",
    "baseline": "P(worse than the baseline)",
}


@dataclass(frozen=True, slots=True, eq=False)
class Change(Showing):
    """How an error or a metric changed from window to window, and where it is worse than before."""

    variable: Variable  #: What is compared.
    baseline: str  #: Name of the window that others are compared with.
    prob: float  #: Probability of the intervals.
    alarm: float  #: Probability from which on there is an alarm.
    table: pd.DataFrame
    """A row a window: see `change`."""

    @property
    def alarms(self) -> list[str]:
        """Windows with an alarm, in order."""
        return [str(name) for name in self.table.index[self.table["alarm"]]]

    @property
    def windows(self) -> list[Window]:
        """What is known of each window, in order."""
        rows: Any = self.table.itertuples()
        return [
            Window(
                str(row.Index), row.n, row.mean, row.lower, row.upper, None, row.status == schema.OK
            )
            for row in rows
        ]

    @property
    def text(self) -> str:
        """The answer in a sentence or two."""
        lost = list(self.table.index[self.table["status"] != schema.OK])
        said = f" Not converged, so not to be relied on: {text.several(lost)}." if lost else ""
        return self._of_alarms() + said

    def _show_(self) -> Shown:
        windows, interval = self.windows, f"{text.percent(self.prob)} interval"
        digits = max(text.decimals(one.lower, one.upper) for one in windows)
        worse = [map(text.probability, self.table[f"{one}_prob_worse"]) for one in _AGAINST]
        title = self.variable.full or self.variable.title
        bars = [(one.lower, one.upper, one.mean) for one in windows]
        return Shown(
            lead=[self.text],
            columns=("Window", text.capital(title), interval, *_AGAINST.values(), "Alarm"),
            rows=[
                (
                    one.name,
                    text.fixed(one.mean, digits),
                    text.ends(one.lower, one.upper, digits),
                    *chances,
                    "alarm" if alarm else text.MISSING,
                )
                for one, alarm, *chances in zip(windows, self.table.alarm, *worse, strict=True)
            ],
            strip=strip_of(bars, f"Dot: posterior mean; band: {interval}."),
            failed=[k for k, one in enumerate(windows) if not one.converged],
        )

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
            said = text.in_words(text.probability(chance))
            return f"In {self.alarms[0]} {change} (probability {said})."
        if len(self.alarms) <= _MOST_NAMED:
            where = text.several(self.alarms)
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
        Windows in order: of `bayescal.fit_many` or `load_many`, or results by name; a sequence has
        the windows "1", "2" and so on. Of one result the windows are its groups.
    var : str, optional
        Error, metric, or measure such as "brier" (`bayescal.measure`); by default the main one.
    prob : float, default 0.9
        Posterior probability of the intervals, strictly between 0 and 1.
    baseline : str, optional
        Window that all others are compared with; the first by default.
    alarm : float, default 0.95
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
        a name is unknown, the variable has no better direction, or no value in `baseline`.

    Warns
    -----
    DataWarning
        If the variable has no value in a window, as the AUC of one label: it is left out. If a
        window has too few rows for a mean over them.

    Notes
    -----
    Columns of the table:

    ========================  ====================================================
    n                         labelled rows
    mean, lower, upper        posterior mean, and interval of `bayescal.interval`
    previous_mean, _lower,    difference from the window before: posterior mean and
    _upper                    interval
    previous_prob_worse       P(worse than in the window before)
    ``baseline_*``            the same four of the difference from the baseline; NaN of
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
    windows = _windows(results, _Asked(var, prob, classifier, class_, group, baseline))
    names = list(windows)
    base = names[0] if baseline is None else baseline
    check_known(base, names, "baseline", "the series")
    one = windows[names[0]].variable
    if few := [name for name, window in windows.items() if window.is_small]:
        warn_caller(
            f"alarms of {one.name} need more than {_FEW} labelled rows a window, on both sides "
            f"of a threshold; there are too few in {text.several(few)}. Join windows.",
            DataWarning,
        )
    errors = {name: window.errors for name, window in windows.items()}
    if not isinstance(results, xr.DataTree):
        errors = _independent(windows)

    def against(name: str, other: str | None, prefix: str) -> dict[str, float]:
        known = other not in (None, name)
        pair = Pair(name, str(other), one.name, prob, None, None)
        found = _differ(pair, errors, one.better) if known else (np.nan,) * len(_FIGURES)
        return {f"{prefix}_{key}": value for key, value in zip(_FIGURES, found, strict=True)}

    rows = []
    for name, before in zip(names, [None, *names], strict=False):
        since, above = against(name, before, "previous"), against(name, base, "baseline")
        last = {"alarm": above["baseline_prob_worse"] >= alarm, "status": windows[name].status}
        rows.append({**windows[name].figures, **since, **above, **last})
    table = pd.DataFrame(rows, index=pd.Index(names, name="window"))
    return Change(one, base, prob, alarm, table)


_FIGURES: Final = ("mean", "lower", "upper", "prob_worse")


class _Asked(NamedTuple):
    """What is compared."""

    var: Any
    prob: float
    classifier: str | None
    class_: str | None
    group: str | None
    baseline: str | None


class _Window(NamedTuple):
    """What is read of one window."""

    classifier: str  # and the class, if there are several
    variable: Variable
    errors: Errors
    figures: dict[str, float | None]
    status: str
    rng: np.random.Generator  # random numbers that belong to the window
    is_small: bool  # too few rows for a mean over them, or none called otherwise


def _windows(results: object, asked: _Asked) -> dict[str, _Window]:
    """Windows by name, in order, all of the same classifier; those without a value left out."""
    if isinstance(results, xr.DataTree):
        # Once for all groups; those without a value are warned of as windows.
        with ignored(DataWarning):
            results, var = with_measure(results, asked.var)
        asked = asked._replace(var=var)
    found, lost = dict[str, _Window](), dict[str, NoValueError]()
    for name, tree, group in _parts(results, asked):
        if name in found or name in lost:
            raise InputError(
                f"windows must have different names; {name!r} is one as a word and as a number. "
                "Rename one."
            )
        try:
            found[name] = one = _window(name, tree, asked._replace(group=group))
        except NoValueError as error:
            lost[name] = error
            continue
        # All are of what the first has, so that it is missed where another has not.
        asked = asked._replace(var=one.variable.name) if asked.var is None else asked
    for name, why in lost.items():
        if len(found) < 2 or name == asked.baseline:
            raise why
        warn_caller(f"{why} It is left out of the change.", DataWarning)
    if len(found) < 2:
        raise InputError(
            f"a change needs two windows or more; got {len(found)}. Pass the results of several, "
            "as {window: result, ...}, or one result with groups."
        )
    by_classifier = {window.classifier: name for name, window in reversed(found.items())}
    if len(by_classifier) > 1:
        said = ", ".join(f"{one!r} ({name})" for one, name in reversed(by_classifier.items()))
        raise InputError(
            f"windows must be of the same classifier and class; they have {said}. Give their "
            "scores the same classifier name, and select the same class."
        )
    return found


def _parts(results: object, asked: _Asked) -> Iterator[tuple[str, Any, str | None]]:
    """Name, result and group of each window."""
    if not isinstance(results, xr.DataTree):
        yield from ((str(name), tree, asked.group) for name, tree in _named(results).items())
        return
    if asked.group is not None:
        raise InputError(
            f"the groups of one result are its windows; got group={asked.group!r}. Leave group "
            "out, or pass a result a window."
        )
    yield from ((name, results, name) for name in access.names_along(results, schema.GROUP))


def _named(results: Any) -> Mapping[Any, Any]:
    """Results by their windows, read one by one."""
    if isinstance(results, Sequence) and not isinstance(results, str | bytes):
        return dict(enumerate(results, start=1))
    check_is(results, Mapping, "results", "Pass {window: result, ...}.")
    # Of many fits, those that failed.
    for name, why in getattr(results, "failures", {}).items():
        raise InputError(
            f"every window must have a result; {name!r} failed: {why.message}. Leave it out with "
            "dict(fits)."
        )
    for name in results:
        if isinstance(name, bool) or not isinstance(name, str | int | np.integer):
            remedy = "Name it by str(window), such as a date written as '2025-01'."
            if isinstance(name, tuple):
                remedy = "Pass the windows of one series: {window: fits[series, window], ...}."
            raise InputError(
                f"a window must be named by a word or a whole number; got {name!r}. {remedy}"
            )
    return cast("Mapping[Any, Any]", results)


def _window(name: str, tree: Any, asked: _Asked) -> _Window:
    try:
        tree, var = with_measure(tree, asked.var)
        one = _variable(tree, var)
        case = access.named_case(tree, asked.classifier, asked.class_, asked.group)
        errors = _errors(tree, one.name, case)
    except InputError as error:
        raise type(error)(f"window {name!r}: {error}") from None
    lower, upper = access.ends(interval(tree, one.name, asked.prob), case)
    n = access.scalar(tree, schema.POINT_ESTIMATE, schema.N, case)
    figures = {"n": n, "mean": errors.mean, "lower": lower, "upper": upper}
    rng = access.stream_of(tree, *case.names, name)
    whose, status = replace(case, group=None, prior=None).title, access.case_status(tree, case)
    few = n is not None and n <= _FEW
    small = is_of_rows(tree, one.name) and bool(few or np.ptp(errors.low) == 0)
    return _Window(whose, one, errors, figures, status, rng, small)


def _variable(tree: xr.DataTree, var: Any) -> Variable:
    """What is compared; it has a better direction."""
    if access.main(tree).role == ROW:
        raise InputError(
            "a change is of an error or a metric; this result holds probabilities of rows. Fit a "
            "calibration error."
        )
    one = access.described(tree, access.check_variable(tree, var))
    if one.better is None:
        raise InputError(
            f"a change for the worse needs to know whether more of {one.name!r} is better; "
            "nothing says so. Choose another, or pass a bayescal.measures.Measure with `better`."
        )
    return one


def _errors(tree: xr.DataTree, var: str, case: ResultSlice) -> Errors:
    low, high = (
        access.flat_draws(tree, var, case, group)
        for group in (schema.POSTERIOR, access.conditional_group(tree, var))
    )
    if np.isnan(low).all():
        raise NoValueError(
            f"a change needs draws; {var!r} is undefined in every draw, as it may be of rows with "
            "one label. Choose another metric."
        )
    return Errors(low, high, access.posterior_mean(tree, var, case))


def _independent(windows: Mapping[str, _Window]) -> dict[str, Errors]:
    """As many draws of each window, in random order."""
    n = max(len(window.errors.low) for window in windows.values())
    found = {}
    for name, window in windows.items():
        low, high, mean = window.errors
        order = window.rng.permutation(n)
        found[name] = Errors(in_order(low, n)[order], in_order(high, n)[order], mean)
    return found


def _differ(pair: Pair, errors: Mapping[str, Errors], better: str | None) -> tuple[float, ...]:
    """Figures of the difference of two windows, over the draws in which both are defined."""
    one, two = (errors[name] for name in (pair.first, pair.second))
    known = ~np.isnan([*one[:2], *two[:2]]).any(axis=0)
    one, two = (Errors(own.low[known], own.high[known], own.mean) for own in (one, two))
    found = conservative(pair, one, two, np.nan)
    worse = float((found.draws < 0).mean()) if better == MORE else found.prob_first_larger
    return found.mean, found.lower, found.upper, worse


class Window(NamedTuple):
    """What is known of one classifier (in one group) in one window of time."""

    name: str
    n: float
    mean: float
    lower: float
    upper: float
    p_calibrated: float | None
    converged: bool


class Series(NamedTuple):
    """One classifier (in one group) over time, and its change where it was compared."""

    name: str
    windows: list[Window]
    change: Change | None = None


def series_of(
    rows: Iterable[tuple[str, str, dict[str, Any]]],
    order: Iterable[str],
    changes: Mapping[tuple[str, str], Change],
) -> list[Series]:
    """Put rows of summaries in order, each with its group ("" for none) and its window."""
    place = {name: at for at, name in enumerate(order)}
    found: dict[tuple[str, str], list[Window]] = {}
    for group, window, row in rows:
        mean, low, high = (row[f"{_MAIN}_{what}"] for what in ("mean", "lower", "upper"))
        p_calibrated, failed = row.get(schema.P_CALIBRATED), row["status"] == schema.NOT_CONVERGED
        one = Window(window, row["n"], mean, low, high, p_calibrated, not failed)
        found.setdefault((group, row["classifier"]), []).append(one)
    return [
        Series(name, sorted(found[key], key=lambda one: place[one.name]), changes.get(key))
        for key, name in series_names(found).items()
    ]


def series_names(keys: Iterable[tuple[str, str]]) -> dict[tuple[str, str], str]:
    """Name groups ("" for none) and classifiers by what differs."""
    several = len({classifier for _, classifier in keys}) > 1
    return {
        (group, one): " / ".join(filter(None, (group, one if several or not group else "")))
        for group, one in sorted(keys)
    }
