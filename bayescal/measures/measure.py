"""What a measure is: a function of a calibration curve, and what is said of it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from importlib import import_module
from typing import Any, Final, NamedTuple

import numpy as np

from bayescal.core.quantity import ERROR, LESS, METRIC, Variable

ALL: Final = "all"
"""Drawn from the whole posterior, so that a calibrated classifier has its exact value."""
MISCALIBRATED: Final = "miscalibrated"
"""Drawn given miscalibration: where the curve is fixed, its numbers have no spread left."""
ROWS: Final = "rows"
"""Drawn from the labelled rows alone: a mean over rows needs no curve."""


class Measure(NamedTuple):
    """A number of a calibration curve.

    Parameters
    ----------
    name : str
        Name, with the options up to the last one given, as ``net_benefit:0.25``.
    title : str
        Name in a few words, for an axis or a column.
    function : callable
        ``function(rate, score, mass, **options)``: label rates (..., cell), scores (cell,) and
        masses (..., cell) of the cells, scores increasing, to values (...).
    meaning : str
        What it is, in a sentence.
    better : {"less", "more"}, optional
        Which of two values is better; None where neither is.
    components : {"all", "miscalibrated", "rows"}
        Which draws of the curve it is computed from, see Notes.
    options : tuple of str
        Names of the function's further parameters, in the order of a name such as ``cost:0.2,5``.
    undefined : str
        Where it has no value, and what to do about it.
    reference : str
        Source of the definition.
    copies_tie : bool
        Whether near copies of a classifier have near values: logarithms of scores have not.
    by_part : bool
        Whether it needs parts of cells, as squares and logits do: those of a rare event are wide.

    Notes
    -----
    An error is exactly 0, and a slope exactly 1, in the draws in which the classifier is
    calibrated: with ``components="all"`` they are a part of the posterior. Other numbers are known
    all too well in these draws, where the scores themselves are the rates, and their intervals
    would collapse: ``components="miscalibrated"`` leaves these draws out.

    Rates of rows and costs are made of means over rows, and need no smooth curve: with
    ``components="rows"`` rates are those of the Bayesian bootstrap, which gives rows Dirichlet
    weights [1]_. Two rows are added to those with labels, whose own labels are tosses of a coin:
    one has the score of a row at random, the other that nearest to any in [0, 1]. PPV and NPV count
    the former among the rows that they are of. Without them, no false positive among few rows would
    mean that there are none. From unlabelled rows, such a measure is drawn given miscalibration.

    References
    ----------
    .. [1] D. B. Rubin, Annals of Statistics 9(1), 1981. https://doi.org/10.1214/aos/1176345338
    """

    name: str
    title: str
    function: Callable[..., Any]
    meaning: str = ""
    better: str | None = LESS
    components: str = ALL
    options: tuple[str, ...] = ()
    undefined: str = ""
    reference: str = ""
    copies_tie: bool = False
    by_part: bool = False


def with_options(measure: Measure, options: Mapping[str, float]) -> Measure:
    """The measure with its options set, which its name then says."""
    if not options:
        return measure
    values = ",".join(f"{value:.12g}" for value in options.values())
    name, title = f"{measure.name}:{values}", f"{measure.title} at {values}"
    function = partial(measure.function, **options)
    return measure._replace(name=name, title=title, function=function, options=())


def as_variable(measure: Measure, point: str | None) -> Variable:
    """The record of a measure as a variable of a result."""
    name, title, better = measure.name, measure.title, measure.better
    role = ERROR if measure.components == ALL and better == LESS else METRIC
    return Variable(name, title, (), role, better, point, measure.meaning, title)


def functions_for(values: Any) -> Any:
    """The module with functions of arrays: NumPy, or PyTensor for its tensors."""
    symbolic = type(values).__module__.startswith("pytensor")
    return import_module("pytensor.tensor") if symbolic else np
