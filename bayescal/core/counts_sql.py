"""The query by which a database counts the rows of a table as `Counts` does: one GROUP BY."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, Final

from bayescal.core.cell_sums import ONE, PER_LOGIT, ZERO
from bayescal.core.checks import (
    HEAVIEST,
    LIGHTEST,
    check_choice,
    check_columns,
    check_unique,
    checked_words,
    shown,
)
from bayescal.core.columns import Label
from bayescal.core.errors import InputError
from bayescal.core.intake import checked_label, negative_of


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
    check_columns(label=label, group=group, weight=weight)
    check_unique(scores := checked_words(score, "score"), "classifier")
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
    """Columns of a SELECT by their names."""
    return between.join(f"{what} AS {name}" for name, what in columns.items())


def _labels(pos_label: Any, neg_label: Any) -> tuple[Label, Label]:
    """The positive and the negative label."""
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
# Scores are rounded as `core.rounding` does where that can move one into another cell. The largest
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
