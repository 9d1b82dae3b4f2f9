"""The numbers of a result: as a tidy table, and by flat names as trackers of experiments have."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import partial
from itertools import product
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import xarray as xr

from bayescal.core import text
from bayescal.core.errors import InputError
from bayescal.core.quantity import CALIBRATION_ERRORS, ERROR, ROW, Variable
from bayescal.core.shown import Shown, strip_of
from bayescal.results import access, schema
from bayescal.results.access import ResultSlice
from bayescal.results.compare import best, rankable
from bayescal.results.curves import curve_shape
from bayescal.results.intervals import Marginal, if_calibrated, interval, marginals, tail
from bayescal.results.measure import shown_measures
from bayescal.results.rows import read_rows, row_table, share_of_targets

if TYPE_CHECKING:
    import pandas as pd

_LEADING: Final = 4
"""Metrics that a terminal leaves out last."""
_MOST_FITS: Final = 30
_COUNTS: Final = ("n", "n_target", "n_rows", "divergences")
_KEY: Final = "Dot: posterior mean; band: interval."


class Table(NamedTuple):
    """What a terminal shows of a result."""

    columns: tuple[str, ...]
    rows: list[tuple[str, ...]]
    notes: tuple[str, ...] = ()
    spare: tuple[str, ...] = ()
    """Headings that a narrow terminal leaves out, the first one first."""


def summary(tree: xr.DataTree, prob: float = 0.9, measures: Any = ()) -> pd.DataFrame:
    """Tabulate a result.

    Parameters
    ----------
    tree : xarray.DataTree
        A result.
    prob : float, default 0.9
        Posterior probability of the intervals, strictly between 0 and 1.
    measures : sequence of str, Measure or callable, optional
        Further numbers of the calibration curve that the result holds, such as ``["e90", "slope",
        "net_benefit:0.25"]``, see `bayescal.measure`: columns `<name>_point`, `_mean`, `_lower` and
        `_upper`, or rows of a table of metrics.

    Returns
    -------
    pandas.DataFrame
        Index `case`, the shortest name that distinguishes the rows. Calibration errors have one row
        a classifier, class and group, with NaN where the result holds no such number:

        ==================  ==========================================================
        classifier          name; then `class` and `group` where there are several
        n                   labelled rows
        ece_point           the paper's point estimate
        ece_mean            posterior mean, draws of 0 among the others
        ece_median          posterior median, likewise
        ece_lower, _upper   interval, see `interval`
        p_calibrated        posterior probability of perfect calibration
        ece_if_calibrated   expected point estimate if the scores were calibrated, by simulation;
                            `_lower` and `_upper`: its range of probability `prob`. Not of
                            positives and unlabelled rows
        p_value_calibrated  probability of as large a point estimate, or larger, if they were
        tce_mean            as ece_mean, of the calibration error without bins
        tce_lower, _upper   its interval
        rhat_max, ess_min   worst over the variables
        divergences         number of divergent transitions
        curve               most probable description of the calibration curve, "calibrated",
                            "smooth", "rough", "segments" or "linear"; None without two scores
                            between 0 and 1. Only where the prior is an average over descriptions
        status              "ok", "NOT CONVERGED", or "WARNED": ``attrs["status"]`` of the
                            result says of what
        ==================  ==========================================================

        Metrics have one row a classifier (and group) and metric:

        ==================  ==========================================================
        classifier          name; then `group` where there are several
        metric              accuracy, ece, auc, auprc, mce, log_loss, brier or another
        mean, median        of the posterior
        lower, upper        equal-tailed interval
        point               the paper's estimate; NaN where there is none, as an AUC of one class
        (by method)         reference estimates, such as `ensemble` (under the mean score,
                            without a fit) and `labeled` (on the labelled rows alone)
        rhat_max, ess_min   worst over the metrics of all classifiers
        divergences         number of divergent transitions
        status              as above, or "NO LABELS": the numbers are the prior's
        ==================  ==========================================================

        Class probabilities have one row a classifier; `bayescal.row_table` has their rows:

        ==================  ==========================================================
        classifier          name
        n                   labelled calibration rows
        n_target, n_rows    target rows, and those of them that the result holds
        width               mean width of the bounds of probability `prob`, over rows and classes
        ivap_width          mean of p1 - p0 of the Venn-Abers predictors
        open_share          share of rows with more than one class left open
        improper_share      share of all target rows whose p0 and p1 fit no probabilities
        rhat_max, ess_min   worst over the probabilities
        divergences         number of divergent transitions
        status              as of calibration errors
        ==================  ==========================================================

        Scores and errors are in [0, 1], but for the log loss.

    Raises
    ------
    InputError
        If the tree is no result, prob not in (0, 1), a measure unknown, or none has a value.

    Warns
    -----
    DataWarning
        If a measure has no value and is left out; the others are in the table.
    """
    schema.check_result(tree)
    tail(prob)
    return tabulate(*shown_measures(tree, measures), prob)


def tabulate(tree: xr.DataTree, measures: Sequence[Variable], prob: float) -> pd.DataFrame:
    """Tabulate a result, and those of its variables that are measures."""
    import pandas as pd

    form = {ERROR: _of_errors, ROW: _of_rows}.get(access.main(tree).role, _of_metrics)
    lines, said = form(tree, measures, prob), _statuses(tree)
    index = pd.Index([case.label for case, _ in lines], name="case")
    found = pd.DataFrame([{**line, "status": said[case]} for case, line in lines], index=index)
    counts = [name for name in _COUNTS if name in found and found[name].notna().all()]
    return found.astype(dict.fromkeys(counts, "int64"))


def finest(tree: xr.DataTree, prob: float) -> pd.DataFrame:
    """Tabulate a result as finely as there is: row by row, or as `summary`."""
    return (row_table if access.main(tree).role == ROW else summary)(tree, prob)


def records(tree: xr.DataTree, prob: float, measures: Sequence[str] = ()) -> list[dict[str, Any]]:
    """Rows of the summary as plain values, and the means over classes where they are the result."""
    tree, further = shown_measures(tree, measures)
    found = text.plain_records(tabulate(tree, further, prob))
    if access.main(tree).role != ERROR or tree.attrs.get("multiclass") != "marginal":
        return found
    errors = [*_shown_errors(tree), *(one for one in further if one.role == ERROR)]
    by_error = {one.name: marginals(tree, one.name, prob) for one in errors}
    cases = [case for case, _ in next(iter(by_error.values()))]
    means = [{name: of[place][1] for name, of in by_error.items()} for place in range(len(cases))]
    return found + [
        _mean_over_classes(case, mean, found) for case, mean in zip(cases, means, strict=True)
    ]


def row_records(tree: xr.DataTree, prob: float) -> list[dict[Any, Any]]:
    """The target rows of a result of rows as JSON holds them; none of any other."""
    if access.main(tree).role != ROW:
        return []
    return [*row_table(tree, prob).to_dict("records")]


def table(tree: xr.DataTree, prob: float) -> Table:
    """What a terminal shows of a result."""
    form = {ERROR: _error_table, ROW: _row_table}.get(access.main(tree).role, _metric_table)
    return form(tree, prob)


def measure_table(tree: xr.DataTree, prob: float, measures: Sequence[str] = ()) -> Table | None:
    """What a terminal shows of measures: a line a case and measure; None without any."""
    tree, shown = shown_measures(tree, measures)
    intervals = _intervals(tree, shown, prob)
    columns = ("", "measure", "plug-in", "mean", f"{text.percent(prob)} interval")
    lines: list[tuple[str, ...]] = [
        (
            case.label if one is shown[0] else "",
            one.name,
            *numbers_of(tree, case, one, access.ends(intervals[one.name], case)),
        )
        for case in access.cases(tree)
        for one in shown
    ]
    return Table(columns, lines) if lines else None


def numbers_of(
    tree: xr.DataTree, case: ResultSlice, one: Variable, bounds: tuple[float, float]
) -> tuple[str, ...]:
    """Plug-in, mean and interval of a measure, as tables write them."""
    digits = text.decimals(*bounds)
    numbers = own_point(tree, one, case), access.posterior_mean(tree, one.name, case)
    return *(text.fixed(value, digits) for value in numbers), text.ends(*bounds, digits)


def own_point(tree: xr.DataTree, one: Variable, case: ResultSlice) -> float | None:
    """The plug-in of a measure itself: that beside an error may be of another one."""
    return access.point(tree, one.name, case) if one.point == one.name else None


type _Lines = list[tuple[ResultSlice, dict[str, Any]]]


type _Intervals = dict[str, xr.DataArray]


def _intervals(tree: xr.DataTree, shown: Iterable[Variable], prob: float) -> _Intervals:
    """Intervals of all cases, by variable."""
    return {one.name: interval(tree, one.name, prob) for one in shown}


def _measure_columns(
    tree: xr.DataTree, case: ResultSlice, intervals: _Intervals
) -> dict[str, float | None]:
    """Columns of the measures of a case."""
    row: dict[str, float | None] = {}
    for name, bounds in intervals.items():
        point = own_point(tree, access.described(tree, name), case)
        row |= {} if point is None else {f"{name}_point": point}
        row[f"{name}_mean"] = access.posterior_mean(tree, name, case)
        row[f"{name}_lower"], row[f"{name}_upper"] = access.ends(bounds, case)
    return row


def _shown_errors(tree: xr.DataTree) -> list[Variable]:
    """The error that the point estimate is of, the main one, and that which is concluded on."""
    main, asked = access.main(tree), tree.attrs.get("conclusion_var")
    held = {one.name: one for one in access.of_role(tree, ERROR)}
    return [held[name] for name in dict.fromkeys((main.point, main.name, asked)) if name in held]


def _of_errors(tree: xr.DataTree, measures: Sequence[Variable], prob: float) -> _Lines:
    """One line a case."""
    errors = _intervals(tree, _shown_errors(tree), prob)
    further = _intervals(tree, [one for one in measures if one.name not in errors], prob)
    return [(case, _errors_of(tree, case, errors, further, prob)) for case in access.cases(tree)]


def _errors_of(
    tree: xr.DataTree, case: ResultSlice, errors: _Intervals, further: _Intervals, prob: float
) -> dict[str, Any]:
    scalar = partial(access.scalar, tree, case=case)
    row: dict[str, Any] = {**case.coords, "n": scalar(schema.POINT_ESTIMATE, "n")}
    if (rows := scalar(schema.POINT_ESTIMATE, schema.EFFECTIVE_N)) is not None:
        row[schema.EFFECTIVE_N] = rows
    for name, bounds in errors.items():
        lower, upper = access.ends(bounds, case)
        mean = {f"{name}_mean": access.posterior_mean(tree, name, case)}
        both = {f"{name}_lower": lower, f"{name}_upper": upper}
        if access.described(tree, name).point != name:
            row |= mean | both
            continue
        median = float(access.variable(tree, schema.POSTERIOR, name, case).median())
        row |= {f"{name}_point": access.point(tree, name, case), **mean}
        row |= {f"{name}_median": median, **both}
        row[schema.P_CALIBRATED] = scalar(schema.MODEL_AVERAGE, schema.P_CALIBRATED)
        found = if_calibrated(tree, case, prob) if name == access.main(tree).point else None
        if found is not None:
            row |= zip(_under_calibration(name), found[1:5], strict=True)
    row |= _measure_columns(tree, case, further) | access.health(tree, case)
    if access.has_variable(tree, schema.MODEL_AVERAGE, schema.WEIGHT):
        shape = curve_shape(tree, case)
        row["curve"] = None if shape is None else shape.name
    return row


def _under_calibration(var: str) -> tuple[str, ...]:
    """Columns of the plug-in estimate if the case were calibrated: mean, range, p-value."""
    mean = f"{var}_if_calibrated"
    return mean, f"{mean}_lower", f"{mean}_upper", schema.P_VALUE_CALIBRATED


def _mean_over_classes(
    case: ResultSlice, mean: Mapping[str, Marginal], found: Sequence[Mapping[str, Any]]
) -> dict[str, Any]:
    """One classifier's (group's, prior's) mean over classes, as sound as its worst class."""
    names = {dim: name for dim, name in case.coords.items() if dim != schema.CLASS}
    own = [row for row in found if all(row[name] == value for name, value in names.items())]
    # In this order, "NOT CONVERGED" before "WARNED".
    failed = sorted(row["status"] for row in own if row["status"] != schema.OK)
    varying = [value for dim, value in names.items() if len({row[dim] for row in found}) > 1]
    line: dict[str, Any] = {
        "case": " / ".join([*varying, "mean over classes"]),
        **names,
        **{name: own[0][name] for name in ("n", schema.EFFECTIVE_N) if name in own[0]},
    }
    for name, one in mean.items():
        own_point = f"{name}_point" in own[0]
        line |= {f"{name}_point": text.plain(one.plug_in)} if own_point else {}
        line |= {f"{name}_{end}": getattr(one, end) for end in ("mean", "lower", "upper")}
        # Classes of one row depend on each other, which cells do not know.
        blank = (schema.P_CALIBRATED, *_under_calibration(name))
        line |= {key: None for key in blank if own_point and key in own[0]}
    return {**line, "status": failed[0] if failed else schema.OK}


def _error_table(tree: xr.DataTree, prob: float) -> Table:
    """The main error of each case, or what is concluded on, and the point estimate beside it."""
    found, asked = records(tree, prob), tree.attrs.get("conclusion_var")
    main = next((own for own in access.answers(tree) if own.name == asked), access.main(tree))
    var, point = main.name, f"{main.point}_point"
    with_effective, with_curve = schema.EFFECTIVE_N in found[0], "curve" in found[0]
    plug_in = f"{access.described(tree, main.point or var).title}, {access.point_label(tree)}"
    with_point = point in found[0]
    columns = (
        "",
        "rows (effective)" if with_effective else "rows",
        heading(main),
        f"{text.percent(prob)} interval",
        *(["P(calibrated)", plug_in] if with_point else []),
        *(["curve"] if with_curve else []),
        "status",
    )
    lines = []
    for row in found:
        low, high = row[f"{var}_lower"], row[f"{var}_upper"]
        digits = text.decimals(low, high)
        line = [str(row["case"]), text.row_count(row["n"], row.get(schema.EFFECTIVE_N))]
        line += [text.fixed(row[f"{var}_mean"], digits), text.ends(low, high, digits)]
        if with_point:
            line += [text.probability(row[schema.P_CALIBRATED]), text.fixed(row[point], digits)]
        if with_curve:
            line.append(row.get("curve") or text.MISSING)
        lines.append((*line, str(row["status"])))
    spare = ["curve", *_sound(lines), columns[1], plug_in]
    return Table(columns, lines, spare=tuple(spare))


def heading(one: Variable) -> str:
    """Name a variable in full, with its abbreviation: "calibration error (TCE)"."""
    full = one.full or one.title
    return full if one.title in full else f"{full} ({one.title})"


def _sound(lines: Sequence[Sequence[str]]) -> list[str]:
    """The column of the status, where it says nothing of any line."""
    return ["status"] if all(line[-1] == schema.OK for line in lines) else []


def _of_metrics(tree: xr.DataTree, measures: Sequence[Variable], prob: float) -> _Lines:
    """One line a case and metric."""
    shown = _intervals(tree, (*access.answers(tree), *measures), prob)
    lines: _Lines = []
    for case, (var, bounds) in product(access.cases(tree), shown.items()):
        lower, upper = access.ends(bounds, case)
        line = {
            **case.coords,
            "metric": var,
            "mean": access.posterior_mean(tree, var, case),
            "median": float(access.variable(tree, schema.POSTERIOR, var, case).median()),
            "lower": lower,
            "upper": upper,
            "point": access.point(tree, var, case),
            **access.reference_estimates(tree, var, case),
            **access.health(tree, case),
        }
        lines.append((case, line))
    return lines


def _statuses(tree: xr.DataTree) -> dict[ResultSlice, str]:
    """What tables say of each case; without a label, the numbers are the prior's."""
    cases = access.cases(tree)
    warned = {case for own in access.warned_cases(tree, cases).values() for case in own}

    def status(case: ResultSlice) -> str:
        if not access.case_converged(tree, case):
            return schema.NOT_CONVERGED
        if tree.attrs.get("n_labeled") == 0:
            return schema.NO_LABELS
        return schema.WARNED if case in warned else schema.OK

    return {case: status(case) for case in cases}


def _metric_table(tree: xr.DataTree, prob: float) -> Table:
    """A row a case, a column a metric: mean and interval; and which classifier is best."""
    first, *others = access.answers(tree)
    # What is concluded on comes next, and stays longest.
    asked = tree.attrs.get("conclusion_var")
    others.sort(key=lambda one: one.name != asked)
    shown = [first, *others]
    leading = shown[:_LEADING]
    ranked = best(tree, first.name) if rankable(tree, first) else None
    ends = _intervals(tree, shown, prob)
    titles = [one.title for one in shown]
    columns = ("", *titles, *(["P(best)"] if ranked else []), "status")
    lines = [
        (
            case.label,
            *(
                text.with_ends(access.posterior_mean(tree, name, case), *access.ends(one, case))
                for name, one in ends.items()
            ),
            *([text.probability(float(access.at(ranked.prob_best, case)))] if ranked else []),
            status,
        )
        for case, status in _statuses(tree).items()
    ]
    names = [f"{one.title}: {one.full.partition(' (')[0]}" for one in shown if one.full]
    notes = [f"{'; '.join([f'Posterior means with {text.percent(prob)} intervals', *names])}."]
    if ranked:
        notes += [f"P(best) is by {first.title}.", ranked.text]
    # So does what has no better and worse: it is there to compare with.
    last = sorted(
        shown[:0:-1],
        key=lambda one: (one in leading, one.name == asked, one.better is None),
    )
    spare = [*_sound(lines), *(one.title for one in last)]
    return Table(columns, lines, tuple(notes), tuple(spare))


def _of_rows(tree: xr.DataTree, measures: Sequence[Variable], prob: float) -> _Lines:
    """One line a case, over its rows."""
    further, lines = _intervals(tree, measures, prob), []
    for case in access.cases(tree):
        found, scalar = read_rows(tree, case, prob), partial(access.scalar, tree, case=case)
        line = {
            **case.coords,
            "n": scalar(schema.POINT_ESTIMATE, "n"),
            "n_target": tree.attrs["n_target"],
            "n_rows": len(found.row),
            "width": float(found.width.mean()),
            "ivap_width": float((found.p1 - found.p0).mean()),
            "open_share": float((found.n_open > 1).mean()),
            "improper_share": scalar(schema.POINT_ESTIMATE, schema.IMPROPER_SHARE),
            **_measure_columns(tree, case, further),
            **access.health(tree, case),
        }
        lines.append((case, line))
    return lines


def _row_table(tree: xr.DataTree, prob: float) -> Table:
    """Widths of each case, and how many of the rows that the result holds are decided."""
    found = records(tree, prob)
    columns = ("", "calibration rows", f"{text.percent(prob)} width", "p0 to p1")
    lines = [_row_cells(row) for row in found]
    shown, target = (round(found[0][name]) for name in ("n_rows", "n_target"))
    note = f"Widths and decisions are of {share_of_targets(tree, shown)}"
    note += "; -o rows.csv (in Python write_rows) has all." if shown < target else "."
    spare = ("improper", *_sound(lines), "p0 to p1", "open", "calibration rows")
    return Table((*columns, "decided", "open", "improper", "status"), lines, (note,), spare)


def _row_cells(row: dict[str, Any]) -> tuple[str, ...]:
    n_open = round(row["open_share"] * row["n_rows"])
    of = f" of {text.count(row['n_rows'])}"
    return (
        str(row["case"]),
        text.count(row["n"]),
        text.fixed(row["width"], 3),
        text.fixed(row["ivap_width"], 3),
        text.count(row["n_rows"] - n_open) + of,
        text.count(n_open) + of,
        f"{100 * row['improper_share']:.1f}%" if row["improper_share"] else text.MISSING,
        str(row["status"]),
    )


def shown_summaries(found: Sequence[tuple[str, Sequence[Mapping[str, Any]]]]) -> Shown:
    """The main number of each case of many results by name, with its interval if it has one."""
    lines = [
        (" / ".join(dict.fromkeys((name, str(row["case"])))), row)
        for name, rows in found[:_MOST_FITS]
        for row in rows
        if row.get("metric") == rows[0].get("metric")
    ]
    main = CALIBRATION_ERRORS[0]
    lower, title = f"{main.name}_lower", text.capital(heading(main))
    if not all(lower in row for _, row in lines):
        lower = next((key for _, row in lines for key in row if key.endswith("lower")), "")
        title = str(lines[0][1].get("metric", lower.removesuffix("_lower"))) if lines else ""
    notes = []
    if len(found) > _MOST_FITS:
        notes.append(f"The first {_MOST_FITS} of {len(found):,}; summary() has all.")
    if not lower:
        rows = [(name, str(row["status"])) for name, row in lines]
        return Shown(lead=[], columns=("Fit", "Status"), rows=rows, notes=notes)
    var = lower.removesuffix("lower")
    bars = [(row[lower], row[f"{var}upper"], row[f"{var}mean"]) for _, row in lines]
    digits = [text.decimals(low, high) for low, high, _ in bars]
    return Shown(
        lead=[],
        columns=("Fit", title, "Interval", "Status"),
        rows=[
            (name, text.fixed(mean, n), text.ends(low, high, n), str(row["status"]))
            for (name, row), (low, high, mean), n in zip(lines, bars, digits, strict=True)
        ],
        strip=strip_of(bars, _KEY),
        notes=notes,
    )


def metrics(tree: xr.DataTree, measures: Any = (), *, prob: float = 0.9) -> dict[str, float]:
    """Give the numbers of a result by flat names, for MLflow, Weights & Biases or skore.

    Parameters
    ----------
    tree : xarray.DataTree
        A result.
    measures : sequence of str, Measure or callable, optional
        Further numbers of the curve, such as ``["e90", "net_benefit:0.25"]``: `bayescal.measure`.
    prob : float, default 0.9
        Posterior probability of the intervals, strictly between 0 and 1.

    Returns
    -------
    dict of str to float
        The columns of `bayescal.summary`: posterior means as ``tce``, intervals as ``tce_lower``
        and ``tce_upper``, plug-in estimates as ``ece_point``, and ``p_calibrated``, ``n`` and
        diagnostics; ``converged`` is 1 or 0. With several classifiers, classes or groups each has
        them as ``classifier/tce``. Numbers without a value are left out.

    Raises
    ------
    InputError
        If prob lies outside (0, 1), a measure is unknown, or two numbers have the same flat name.

    Notes
    -----
    Names have letters, digits, ``_ - . /`` and blanks alone, which every tracker takes; other
    characters become ``_``, as in ``net_benefit_0.25``.

    Examples
    --------
    >>> import bayescal as bc
    >>> scores = bc.datasets.ece.truth("over").scores(500, seed=1)
    >>> found = bc.metrics(bc.fit(bc.ece, scores, method="direct", seed=20), ["e90"])
    >>> found["tce_lower"] < found["tce"] < found["tce_upper"]
    True
    """
    schema.check_result(tree)
    tail(prob)
    rows = records(tree, prob, measures)
    dims = [dim for dim in schema.CASE_DIMS if len({str(row.get(dim, "")) for row in rows}) > 1]
    origin: dict[str, tuple[str, ...]] = {}
    found: dict[str, float] = {}
    for row in rows:
        # Means over classes have no class.
        names = tuple(str(row.get(dim) or "mean over classes") for dim in dims)
        for key, value in _numbers(row):
            name = "/".join(map(_safe, (*names, key)))
            if origin.setdefault(name, names) != names:
                raise InputError(
                    f"names of a result must differ in letters, digits, '_', '-' or '.'; "
                    f"{' / '.join(origin[name])!r} and {' / '.join(names)!r} do not. Rename one."
                )
            if found.setdefault(name, value) != value:
                raise InputError(
                    "names of measures must differ, from each other and from other columns of "
                    f"bayescal.summary, in letters, digits, '_', '-' or '.'; {name!r} would be two "
                    "numbers. Rename one."
                )
    return found


def _numbers(row: Mapping[str, Any]) -> Iterator[tuple[str, float]]:
    """Numbers of a row of the summary that have a value; of a row of a metric under its name."""
    metric = row.get("metric")
    yield "converged", float(row["status"] != schema.NOT_CONVERGED)
    for key, value in row.items():
        if isinstance(value, int | float):
            name = key if metric is None or key in access.HEALTH else f"{metric}_{key}"
            yield name.removesuffix("_mean"), float(value)


def _safe(name: str) -> str:
    """A part of a name that no tracker takes for a path or refuses."""
    kept = re.sub(r"[^\w.\- ]", "_", name)
    return kept if kept.strip(". ") else "_" * max(len(kept), 1)
