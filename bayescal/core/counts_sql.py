"""The query by which a database counts the rows of a table as `Counts` does: one GROUP BY."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final, NamedTuple

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
    cells: engines round logarithms and the twelfth decimal in their own ways. Scores are summed up
    as 64-bit floats, in an order that the engine chooses.

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
    source = ".".join(_name(part, "table", sql) for part in checked_words(table, "table"))
    positive, negative = (_literal(one, sql) for one in _labels(pos_label, neg_label))

    def of(column: str, name: str, cast: bool = False) -> str:
        found = f"bayescal_table.{_name(column, name, sql)}"
        return f"CAST({found} AS {sql.double})" if cast else found

    # What is kept of a row beside its score, under names of our own; what is true of it; its sums.
    kept = {"label": of(label, "label")}
    valid = [f"label IS NULL OR label = {positive} OR label = {negative}"]
    sums, keys = dict(_SUMS), []
    if weight is not None:
        kept["weight"] = of(weight, "weight", cast=True)
        valid.append(f"weight >= {LIGHTEST!r} AND weight <= {HEAVIEST!r}")
        sums |= _SUMS_OF_WEIGHTS
    if len(scores) > 1:
        keys.append("classifier")
    if group is not None:
        keys.append(sql.name("group"))
        kept[keys[-1]] = of(group, "group")
        valid.append(f"{keys[-1]} IS NOT NULL")

    def rows_of(column: str) -> str:
        found = {"given": of(column, "score", cast=True)} | kept
        if len(scores) > 1:
            found["classifier"] = sql.word(column)
        named = ", ".join(f"{what} AS {name}" for name, what in found.items())
        return f"SELECT {named} FROM {source} AS bayescal_table"

    named = [f"{what.format(positive)} AS {sql.name(name)}" for name, what in sums.items()]
    single = f"given = CAST(CAST(given AS {sql.single}) AS {sql.double})"
    return _QUERY.format(
        rows="\n  UNION ALL\n  ".join(map(rows_of, scores)),
        kept=", ".join(dict.fromkeys([*kept, *keys])),
        single="FALSE" if sql.single is None else single,
        rounded=sql.rint.format("given * 1e12"),
        valid=" AND ".join(f"({one})" for one in valid),
        whole=sql.whole,
        where="" if weight is None else "\nWHERE weight IS NULL OR weight <> 0",
        keys=", ".join([*keys, "cell"]),
        sums=",\n  ".join(named),
    )


class _Dialect(NamedTuple):
    """What engines write in ways of their own."""

    double: str
    single: str | None
    """The type of 32-bit floats, where there is one: their values are not rounded."""
    whole: str
    rint: str
    """A float to the nearest whole number, halves to the even one."""
    name: Callable[[str], str]
    word: Callable[[str], str]


def _doubled(sign: str) -> Callable[[str], str]:
    """Quotes by a sign, which is doubled within."""
    return lambda text: f"{sign}{text.replace(sign, sign * 2)}{sign}"


def _escaped(sign: str) -> Callable[[str], str]:
    """Quotes by a sign; a backslash stands before signs and backslashes within."""
    return lambda text: sign + re.sub(rf"([\\{sign}])", r"\\\1", text) + sign


def _postgres_word(text: str) -> str:
    """A literal that means the same whether or not a backslash escapes in plain ones."""
    quoted = _doubled("'")(text.replace("\\", "\\\\"))
    return f"E{quoted}" if "\\" in text else quoted


_DIALECTS: Final[Mapping[str, _Dialect]] = {
    "duckdb": _Dialect(
        "DOUBLE", "FLOAT", "BIGINT", "ROUND_EVEN({}, 0)", _doubled('"'), _doubled("'")
    ),
    "spark": _Dialect("DOUBLE", "FLOAT", "BIGINT", "RINT({})", _doubled("`"), _escaped("'")),
    # Halves go away from 0, which one row in 8192 has as the twelfth decimal's remainder.
    "bigquery": _Dialect("FLOAT64", None, "INT64", "ROUND({})", _escaped("`"), _escaped("'")),
    "postgres": _Dialect(
        "DOUBLE PRECISION", "REAL", "BIGINT", "ROUND({})", _doubled('"'), _postgres_word
    ),
}
_MOST_LABEL: Final = 2**63 - 1
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
# Scores are rounded as `core.rounding` does where that can move one into another cell. That of a
# float is -36.8 to 36.8 in logits unless it is small, so that only small ones are clipped.
_QUERY: Final = f"""\
WITH bayescal_rows AS (
  {{rows}}
), bayescal_scores AS (
  SELECT {{kept}}, CASE
    WHEN given < 1e-4 OR given > 1 THEN given
    WHEN {{single}} THEN given
    ELSE {{rounded}} / 1e12
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


def _name(text: str, what: str, sql: _Dialect) -> str:
    """A name of a table or of a column, quoted."""
    if not text or not text.isprintable():
        raise InputError(
            f"{what} must have a name of printable characters; got {shown(text)}. Pass the name as "
            "it is, without quotes."
        )
    return sql.name(text)


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


def _literal(label: Label, sql: _Dialect) -> str:
    """A label, written out."""
    if isinstance(label, str):
        return sql.word(label)
    if not -_MOST_LABEL <= label <= _MOST_LABEL:
        raise InputError(f"a label must be a number of 64 bits; got {shown(label)}. Pass a word.")
    return str(label).upper()
