"""Counting by a database: the query, one GROUP BY, and its result turned into sums by cell."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, Final, TypedDict

import numpy as np
from numpy.typing import NDArray

from bayescal.core.bin_counts import totals
from bayescal.core.checks import (
    HEAVIEST,
    LIGHTEST,
    check_choice,
    check_columns,
    check_known,
    check_rows,
    check_same_length,
    checked_scores,
    checked_words,
    shown,
)
from bayescal.core.columns import Floats, Label, Whole, frame_columns, to_floats
from bayescal.core.errors import InputError
from bayescal.core.intake import checked_label, code_groups, negative_of
from bayescal.core.sums import ONE, PER_LOGIT, ZERO, Held, cell_bounds, check_room, lowest, units_of


def counts_sql(
    table: str | Sequence[str],
    *,
    label: str,
    score: str | Sequence[str],
    group: str | None = None,
    weight: str | None = None,
    pos_label: Any = 1,
    neg_label: Any = None,
    dialect: str = "duckdb",
) -> str:
    """Write the query that counts the rows of a table in a database.

    Parameters
    ----------
    table : str or sequence of str
        The table, by one name, which in DuckDB may be the path of a file; or by its parts, such as
        ``("catalog", "schema", "table")``.
    label : str
        Column of the labels; NULL where the label is not known.
    score : str or sequence of str
        Column of each classifier's scores: probabilities of `pos_label`.
    group : str, optional
        Column of the groups.
    weight : str, optional
        Column of sample weights.
    pos_label : default 1
        The positive label.
    neg_label : optional
        The negative label; by default 0, or False where `pos_label` is True. Others need it.
    dialect : {"duckdb", "spark", "bigquery", "postgres"}, default "duckdb"
        Whose SQL it is.

    Returns
    -------
    str
        One SELECT, whose result `Counts.from_frame` takes: a row for each cell with rows.

    Raises
    ------
    InputError
        If a name or a label cannot be written, or the dialect is not known.

    Notes
    -----
    No row is left out silently. Rows whose score is NULL, NaN or outside [0, 1], whose label is
    neither of the two, whose weight cannot be used or whose group is NULL have the cell NULL, which
    `Counts.from_frame` refuses. Only rows of weight 0 do not count.

    The cells are those of `Counts.from_arrays`, but for scores within 1e-12 of an edge between two
    cells, as engines round logarithms in their own ways, and below 1e-300, which Python takes for
    0. Scores are summed up as 64-bit floats, in an order that the engine chooses.

    Examples
    --------
    >>> import bayescal as bc
    >>> query = bc.counts_sql("rows.parquet", label="y", score="p", group="month")
    >>> query.splitlines()[-1]
    'GROUP BY "group", cell'
    """
    check_choice(dialect, list(_DIALECTS), "dialect")
    scores = checked_scores(score)
    check_columns(scores, label=label, group=group, weight=weight)
    sql = _DIALECTS[dialect]
    source = ".".join(sql.name(part, "table") for part in checked_words(table, "table"))
    positive, negative = map(sql.literal, _labels(pos_label, neg_label))

    def column(name: str, what: str, cast: bool = False) -> str:
        found = f"bayescal_table.{sql.name(name, what)}"
        return f"CAST({found} AS {sql.double})" if cast else found

    # What is kept of a row beside its score, under names of our own; what is true of it; its sums.
    kept = {"label": column(label, "label")}
    valid = [f"(label IS NULL OR label = {positive} OR label = {negative})"]
    sums, where, keys = _SUMS, "", ["cell"]
    if weight is not None:
        kept["weight"] = column(weight, "weight", cast=True)
        valid.append(f"weight >= {LIGHTEST!r} AND weight <= {HEAVIEST!r}")
        sums, where = _SUMS | _SUMS_OF_WEIGHTS, " WHERE weight IS NULL OR weight <> 0"
    if group is not None:
        keys.insert(0, sql.quote("group"))
        kept[keys[0]] = column(group, "group")
        valid.append(f"{keys[0]} IS NOT NULL")
    if len(scores) > 1:
        keys.insert(0, "classifier")
        kept["classifier"] = ""

    def rows_of(name: str) -> str:
        found = {"given": column(name, "score", cast=True)} | kept
        if len(scores) > 1:
            found["classifier"] = sql.literal(name)
        return f"SELECT {_aliased(found, ', ')} FROM {source} AS bayescal_table"

    named = {sql.quote(name): what.format(positive) for name, what in sums.items()}
    single = f"given = CAST(CAST(given AS {sql.single}) AS {sql.double})"
    return _QUERY.format(
        rows="\n  UNION ALL ".join(map(rows_of, scores)),
        kept=", ".join(kept),
        single=single if sql.single else "FALSE",
        valid=" AND ".join(valid),
        whole=sql.whole,
        where=where,
        keys=", ".join(keys),
        sums=_aliased(named, ",\n  "),
    )


def _aliased(columns: Mapping[str, str], between: str) -> str:
    return between.join(f"{what} AS {name}" for name, what in columns.items())


def _labels(pos_label: Any, neg_label: Any) -> tuple[Label, Label]:
    positive = checked_label(pos_label)
    if neg_label is None and isinstance(positive, str):
        raise InputError(
            f"neg_label must be given where pos_label is a word; got pos_label={positive!r} alone. "
            "Pass the other label."
        )
    negative = negative_of(positive) if neg_label is None else checked_label(neg_label, "neg_label")
    if negative == positive:
        raise InputError(
            f"neg_label must differ from pos_label; got {negative!r} for both. Pass two labels."
        )
    return positive, negative


def _printable(text: str, what: str) -> str:
    """A word that can stand in a query."""
    if not text or not text.isprintable():
        raise InputError(
            f"{what} must be a word of printable characters; got {shown(text)}. Pass it as it is, "
            "without quotes."
        )
    return text


def _doubled(text: str, sign: str) -> str:
    """Quote by a sign, which is doubled within."""
    return f"{sign}{text.replace(sign, sign * 2)}{sign}"


def _escaped(text: str, sign: str) -> str:
    """Quote by a sign; a backslash stands before signs and backslashes within."""
    return sign + re.sub(rf"([\\{sign}])", r"\\\1", text) + sign


def _postgres(text: str) -> str:
    """Quote so that it does not matter whether a backslash escapes in plain literals."""
    return "E" + _escaped(text, "'") if "\\" in text else _doubled(text, "'")


@dataclass(frozen=True, slots=True)
class _Dialect:
    """What engines write in ways of their own."""

    quote: Callable[[str], str]
    word: Callable[[str], str]
    double: str = "DOUBLE"
    whole: str = "BIGINT"
    single: str | None = "FLOAT"
    """Type of floats of 32 bits, where there is one: such scores are not rounded."""

    def name(self, text: str, what: str) -> str:
        """Name of a table or a column."""
        return self.quote(_printable(text, what))

    def literal(self, label: Label) -> str:
        """A label, written out."""
        if isinstance(label, str):
            return self.word(_printable(label, "a label"))
        if abs(label) >= 1 << 63:
            raise InputError(f"a label must have 64 bits at most; got {shown(label)}. Pass a word.")
        return str(label).upper()


_NAME, _WORD = partial(_doubled, sign='"'), partial(_doubled, sign="'")
_TICKS, _ESCAPED = partial(_doubled, sign="`"), partial(_escaped, sign="'")
_DIALECTS: Final = {
    "duckdb": _Dialect(_NAME, _WORD),
    "spark": _Dialect(_TICKS, _ESCAPED),
    "bigquery": _Dialect(partial(_escaped, sign="`"), _ESCAPED, "FLOAT64", "INT64", None),
    "postgres": _Dialect(_NAME, _postgres, "DOUBLE PRECISION", single="REAL"),
}
_SUMS: Final = {
    "rows": "COUNT(label)",
    "positives": "COUNT(CASE WHEN label = {0} THEN 1 END)",
    "score_sum": "SUM(score)",
    "unlabeled": "COUNT(*) - COUNT(label)",
}
_SUMS_OF_WEIGHTS: Final = {
    "weight_sum": "SUM(CASE WHEN label IS NOT NULL THEN weight ELSE 0 END)",
    "positive_weight": "SUM(CASE WHEN label = {0} THEN weight ELSE 0 END)",
    "weight_squares": "SUM(CASE WHEN label IS NOT NULL THEN weight * weight ELSE 0 END)",
}
# 1.5 times 2^52: a float of at most 2^51 that it is added to loses its fraction, halves to even.
_TO_WHOLE: Final = "6755399441055744e0"
# Scores are rounded as `core.intake` does where that can move one into another cell. The largest
# float below 1 is 36.7 in logits, so that only small scores are clipped.
_QUERY: Final = f"""\
WITH bayescal_rows AS (
  {{rows}}
), bayescal_scores AS (
  SELECT {{kept}}, CASE
    WHEN given < 1e-4 OR given > 1 THEN given
    WHEN {{single}} THEN given
    ELSE ((given * 1e12 + {_TO_WHOLE}) - {_TO_WHOLE}) / 1e12
  END AS score
  FROM bayescal_rows
), bayescal_cells AS (
  SELECT {{kept}}, score, CASE
    WHEN score >= 0 AND score <= 1 AND {{valid}} THEN CASE
      WHEN score = 0 THEN {ZERO}
      WHEN score = 1 THEN {ONE}
      ELSE CAST(GREATEST(FLOOR({PER_LOGIT} * LN(score / (1 - score))), {ZERO + 1}) AS {{whole}})
    END
  END AS cell
  FROM bayescal_scores{{where}}
)
SELECT {{keys}},
  {{sums}}
FROM bayescal_cells
GROUP BY {{keys}}
"""


ALONE: Final = "classifier"
"""What a classifier without a name is called."""
WHOLE: Final = ""
"""What the group of all rows is called, where there are no groups."""


class CountColumns(TypedDict, total=False):
    """Names of the columns of a GROUP BY, where they are not called so."""

    cell: str
    rows: str
    positives: str
    score_sum: str
    unlabeled: str
    weight_sum: str
    positive_weight: str
    weight_squares: str


type Numbers = dict[str, Floats]

_NAMES: Final = tuple(CountColumns.__annotations__)
_NEEDED, _WEIGHTS = _NAMES[:4], _NAMES[5:]
# A sum of floats may leave its cell by so much of its width, and by the rounding of each addition.
_SLACK: Final = 1e-3
_EPS: Final = float(np.finfo(np.float64).eps)
_MOST: Final = 2.0**53


def frame_sums(
    frame: Any, classifier: str | None, group: str | None, columns: CountColumns
) -> dict[str, dict[str, Held]]:
    """Sums by cell of each classifier and group; rows of the frame with one cell are added up."""
    found = frame_columns(frame, "Pass the result of the GROUP BY as one of these.")
    check_columns(classifier=classifier, group=group)
    for name in (classifier, group):
        if name is not None:
            check_known(name, tuple(found), "column", "the frame")
    names = _names(columns, tuple(found))
    numbers = {name: _numbers(found[own], own) for name, own in names.items()}
    n = len(numbers["cell"])
    check_rows(n, "the frame")
    for name, values in numbers.items():
        check_same_length(len(values), names[name], n, names["cell"])
    held = _held(numbers, names)
    counted = held.sums[:3].any(axis=0)
    check_rows(int(counted.sum()), "the frame")

    def codes(name: str | None, alone: str) -> tuple[NDArray[np.int32], tuple[str, ...]]:
        if name is None:
            return np.zeros(n, np.int32), (alone,)
        return code_groups(found[name], name, n, names["cell"])

    (own, classifiers), (part, groups) = codes(classifier, ALONE), codes(group, WHOLE)
    return {
        one: {
            two: _added(held, rows)
            for place, two in enumerate(groups)
            if (rows := counted & (own == number) & (part == place)).any()
        }
        for number, one in enumerate(classifiers)
    }


def _names(columns: CountColumns, known: tuple[str, ...]) -> dict[str, str]:
    """The column of each number; those that need not be given only where they are."""
    for name in columns:
        check_known(name, _NAMES, "column", "a frame of counts")
    check_columns(**columns)
    named = {name: str(columns.get(name, name)) for name in _NAMES}
    weighted = any(name in columns or name in known for name in _WEIGHTS)
    needed = dict.fromkeys([*_NEEDED, *columns, *(_WEIGHTS if weighted else ())])
    for name in needed:
        check_known(named[name], known, "column", "the frame")
    return {name: own for name, own in named.items() if name in needed or own in known}


def _numbers(values: Any, name: str) -> Floats:
    """Numbers of a column, none of which is missing."""
    found = to_floats(values, name).astype(np.float64)
    found = found[:, 0] if found.ndim == 2 and found.shape[1] == 1 else found
    if found.ndim != 1:
        raise InputError(f"{name} must have one dimension; got shape {found.shape}. Pass a column.")
    remedy = (
        "Correct or leave out rows of the table whose score is missing or outside [0, 1], or whose "
        "label is neither of the two: bayescal.counts_sql gives them the cell NULL."
    )
    _refuse(~np.isfinite(found), found, name, "must be a finite number", remedy)
    return found


def _refuse(bad: NDArray[np.bool_], values: Floats, name: str, rule: str, remedy: str) -> None:
    """Name the first row that breaks a rule."""
    if bad.any():
        row = int(bad.argmax())
        raise InputError(f"{name} {rule}; got {values[row]:.17g} at row {row}. {remedy}")


def _held(numbers: Numbers, names: Mapping[str, str]) -> Held:
    """Checked sums, row by row of the frame."""
    cell = _whole(numbers["cell"], names["cell"], ZERO, ONE, "A cell is floor(8192 logit(score)).")
    rows, positives, unlabeled = (
        _whole(
            numbers.get(name, np.zeros(len(cell))), names.get(name, name), 0, _MOST, "Count rows."
        )
        for name in ("rows", "positives", "unlabeled")
    )
    _refuse(
        positives > rows,
        numbers["positives"],
        names["positives"],
        f"must be at most {names['rows']}",
        "Count labelled rows in the one, and those of the positive label in the other.",
    )
    sums = np.stack([rows - positives, positives, unlabeled, np.zeros_like(rows)])
    check_room(cell, rows + unlabeled)
    sums[3] = _excess(cell, rows + unlabeled, numbers["score_sum"], names["score_sum"])
    weights = _weights(numbers, names, rows, positives) if "weight_sum" in numbers else None
    return Held(cell, sums, np.zeros((0, len(cell))) if weights is None else weights)


def _whole(values: Floats, name: str, least: float, most: float, remedy: str) -> Whole:
    bad = (values != np.floor(values)) | (values < least) | (values > most)
    _refuse(bad, values, name, f"must be a whole number from {least:.0f} to {most:.0f}", remedy)
    return values.astype(np.int64)


def _excess(cell: Whole, rows: Whole, score_sum: Floats, name: str) -> Whole:
    """What scores exceed the least one of their cell by, in units."""
    least, most = cell_bounds(cell)
    # The outermost cells hold all scores beyond.
    least, most = np.where(cell == ZERO + 1, 0.0, least), np.where(cell == ONE - 1, 1.0, most)
    mean = score_sum / np.maximum(rows, 1)
    slack = _SLACK * (most - least) + _EPS * (rows + 8) * np.abs(mean)
    out = np.where(rows > 0, (mean < least - slack) | (mean > most + slack), score_sum != 0)
    if out.any():
        row = int(out.argmax())
        raise InputError(
            f"{name} must be the sum of the scores of its cell, {cell[row]}, that lie from "
            f"{least[row]:.9g} to {most[row]:.9g}; got a mean of {mean[row]:.9g} at row {row}. "
            "Sum the scores of labelled and unlabelled rows, in double precision."
        )
    units, low = units_of(cell), lowest(cell)
    least, most = cell_bounds(cell)
    excess = (np.clip(score_sum, rows * least, rows * most) - rows * (low / units)) * units
    return np.rint(excess).astype(np.int64)


def _weights(numbers: Numbers, names: Mapping[str, str], rows: Whole, positives: Whole) -> Floats:
    """Weights of negative and of positive rows, and the squares of both."""
    total, positive, squares = (numbers[name] for name in _WEIGHTS)
    slack = _EPS * (rows + 8) * np.abs(total)
    remedy = "Sum the weights of labelled rows, and leave out rows of weight 0."
    rule = f"must be 0 where there are no rows, and above 0 elsewhere, as {names['rows']} is"
    _refuse((total > 0) != (rows > 0), total, names["weight_sum"], rule, remedy)
    rule = (
        f"must lie within {names['weight_sum']}, above 0 where there are positives, and be all of "
        "it where there are no others"
    )
    bad = ((positive > 0) != (positives > 0)) | (positive < 0) | (positive > total + slack)
    bad |= (positives == rows) & (positive < total - slack)
    _refuse(bad, positive, names["positive_weight"], rule, remedy)
    # By Cauchy and Schwarz.
    bad = (squares * rows < total * (total - slack)) | (squares > total * (total + slack))
    rule = (
        f"must lie between {names['weight_sum']}**2 / {names['rows']} and {names['weight_sum']}**2"
    )
    _refuse(bad, squares, names["weight_squares"], rule, "Sum the squares of the weights.")
    negative = np.where(rows > positives, np.maximum(total - positive, 0), 0.0)
    return np.stack([negative, positive, squares])


def _added(held: Held, rows: NDArray[np.bool_]) -> Held:
    """Add up some rows of a frame by their cells."""
    cell, place = np.unique(held.cell[rows], return_inverse=True)
    weights = totals(held.weights[:, rows], place, len(cell))
    return Held(cell, totals(held.sums[:, rows], place, len(cell)), weights)
