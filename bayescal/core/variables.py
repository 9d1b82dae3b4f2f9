"""What the variables of a result are, said once by the quantity that gives them.

A quantity lists its `Variable` records in ``VARIABLES``, the main ones first. A fit stores them in
its result (root attribute ``variables``), so that a result, a loaded one too, describes itself.
Whatever reads results asks the records, by `bayescal.results.access`, and neither names a variable
nor looks whether it is there:

- ``access.answers(tree)``: errors and metrics with one number a case, or what rows are judged by,
  in the quantity's order: what is summarised, compared, concluded on and drawn. The first is the
  main one, ``access.main(tree)``; its ``role`` says which form tables and pages have: a line a case
  (`ERROR`), a line a case and metric (`METRIC`), or rows with bounds and decisions (`ROW`).
- ``access.of_role(tree, role)``: the variables of a role that the posterior holds, such as curves
  to draw or parameters to list; those with dims of their own have a number for each item of them.
- ``access.described(tree, name)``: the record of one variable. ``title`` is for axes, columns and
  short sentences, ``full`` for prose, ``meaning`` for the glossary; ``better`` says which way a
  ranking goes and an axis points; ``point`` names the estimate to be shown beside the posterior.

A figure or section that only one quantity has asks for a role and dims ("a metric along
``label_class``"), not for a quantity.
"""

from __future__ import annotations

import json
from collections.abc import Container, Iterable, Mapping
from functools import lru_cache
from typing import Final, NamedTuple

ERROR: Final = "error"
"""A calibration error: exactly 0 where the classifier is calibrated, positive otherwise."""
METRIC: Final = "metric"
"""Any other number that says how good a classifier is."""
CURVE: Final = "curve"
"""A function of the score or of a threshold, along a dim of its own."""
ROW: Final = "row"
"""Something of each target row: its probability, bounds and decision."""
PARAMETER: Final = "parameter"
"""Anything else that is drawn: parameters of the model, and what explains the draws."""
DATA: Final = "data"
"""What is not drawn: counts, bins, cells and single estimates."""

CASE_DIMS: Final = ("classifier", "class", "group")
"""Dims of cases: a variable lists one where a model answers for several cases at once."""

LESS: Final = "less"
MORE: Final = "more"


class Variable(NamedTuple):
    """One variable of a result.

    Parameters
    ----------
    name : str
        Name in the result; ``group/name`` where it has dims of its own in one group.
    title : str
        Name in a few words, for an axis or a column.
    dims : tuple of str
        Dims without chain and draw, and without those that the coords of its case name.
    role : str
        `ERROR`, `METRIC`, `CURVE`, `ROW`, `PARAMETER` or `DATA`.
    better : {"less", "more"}, optional
        Which of two values is better; None where neither is.
    point : str, optional
        Name of the point estimate that stands beside the posterior.
    meaning : str
        What it is, in sentences, for the glossary.
    full : str
        Name in full, for a sentence; the title where it is empty.
    """

    name: str
    title: str
    dims: tuple[str, ...] = ()
    role: str = PARAMETER
    better: str | None = None
    point: str | None = None
    meaning: str = ""
    full: str = ""


type Dims = Mapping[str, tuple[str, ...]]


def named(
    *names: str, dims: tuple[str, ...] = (), role: str = PARAMETER, full: str = ""
) -> tuple[Variable, ...]:
    """Variables that need no more than their names and common dims."""
    return tuple(
        Variable(name, name.rpartition("/")[2].replace("_", " "), dims, role, full=full)
        for name in names
    )


def undrawn(*names: str, dims: tuple[str, ...] = ()) -> tuple[Variable, ...]:
    """What is not drawn, of common dims."""
    return named(*names, dims=dims, role=DATA)


def dims_of(
    variables: Iterable[Variable], axes: Container[str] = CASE_DIMS
) -> dict[str, tuple[str, ...]]:
    """Dims by name; those of cases only where one model answers for several (`axes`)."""
    return {
        one.name: tuple(dim for dim in one.dims if dim not in CASE_DIMS or dim in axes)
        for one in variables
    }


def to_json(variables: Iterable[Variable]) -> str:
    """Write the records as a result keeps them."""
    return json.dumps([one._asdict() for one in variables])


@lru_cache(maxsize=64)
def from_json(text: str) -> tuple[Variable, ...]:
    """Read what `to_json` wrote, by this version or a later one."""
    known = (
        {name: value for name, value in one.items() if name in Variable._fields}
        for one in json.loads(text)
    )
    return tuple(Variable(**{**one, "dims": tuple(one["dims"])}) for one in known)


def result_kind(variables: Iterable[Variable]) -> str:
    """What version 0.2 calls a result with these variables: "errors", "metrics" or "rows"."""
    first = next((one.role for one in variables if one.role in (ERROR, ROW)), METRIC)
    return f"{first}s"


# Variables that several quantities have.
CALIBRATION_ERRORS: Final = (
    Variable(
        "tce",
        "TCE",
        role=ERROR,
        better=LESS,
        point="ece",
        full="calibration error",
        meaning="Mean absolute difference over rows of the score and the probability of a positive "
        "label. 0.03 means that scores are off by three percentage points. It is a "
        "property of the population, so a sample leaves it uncertain.",
    ),
    Variable(
        "ece",
        "ECE",
        role=ERROR,
        better=LESS,
        point="ece",
        full="binned calibration error (ECE)",
        meaning="The mean absolute difference of score and probability after rows are put into "
        "bins by score. Errors of opposite sign within a bin cancel, so the ECE is never larger "
        "than the calibration error.",
    ),
    Variable(
        "mce",
        "MCE",
        role=ERROR,
        better=LESS,
        point="mce",
        full="largest calibration gap (MCE)",
        meaning="The largest gap of any bin.",
    ),
)
BINS: Final = (
    *named("label_rate", "gap", dims=("bin",), role=CURVE),
    *undrawn("confidence", "bin_mass", "count", dims=("bin",)),
    *undrawn("bin_edges", dims=("bin_edge",)),
)
CALIBRATION_CURVE: Final = (
    Variable("calibration_curve", "calibration curve", ("point",), CURVE),
    *undrawn("curve_score", dims=("point",)),
)
CELLS: Final = undrawn("events", "cell_count", "cell_score", dims=("cell",))
CURVE_DRAWS: Final = (
    *named("curve/rate", "curve/mass", dims=("cell",), role=CURVE),
    *named("curve/given_rate", "curve/given_mass", dims=("cell",), role=CURVE),
    *named("curve/component", role=CURVE),
)
"""Group ``curve``: label rate and mass of cells, and each draw's place in the components.
`given_rate` is given miscalibration, as `given_mass` where masses depend on the curve."""
SHARED_ROWS: Final = undrawn(
    *("shared_rows/cell", "shared_rows/label", "shared_rows/weight", "shared_rows/stands_for"),
    dims=("shared_row",),
)
"""Group ``shared_rows``: of rows that several classifiers share, the cell with rows and label."""
AVERAGE: Final = (
    *named("description"),
    *named("curve", role=DATA, full="calibration curve"),
    *undrawn("weight", "nuts_draws", dims=("description",)),
    *undrawn("boundary_calibrated", dims=("boundary",)),
    *undrawn("description_curve", dims=("description", "point")),
    *undrawn("jump_probability", dims=("cell",)),
)
"""What a result of an average over descriptions of the curve holds besides."""
