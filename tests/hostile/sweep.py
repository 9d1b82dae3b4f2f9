"""Every public callable, each of its parameters in turn with values that cannot be right.

All other arguments are right. A call may end in a result or in a documented exception.
"""

from __future__ import annotations

import datetime
import math
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import numpy as np
import pandas as pd

from hostile.judge import Case
from hostile.public import callables, parameters, right

# Made anew for each call, since a function may change what it is given.
FEW: dict[str, Callable[[], Any]] = {
    "a word": lambda: "words",
    "an empty word": lambda: "",
    "None": lambda: None,
    "NaN": lambda: math.nan,
    "inf": lambda: math.inf,
    "-inf": lambda: -math.inf,
    "10**30": lambda: 10**30,
    "-1": lambda: -1,
    "-5.5": lambda: -5.5,
    "0": lambda: 0,
    "a list": lambda: [0.5, 1.0],
    "nested lists": lambda: [[0.5], [1.0]],
    "an object": object,
    "bytes": lambda: b"words",
}
MANY: dict[str, Callable[[], Any]] = {
    **FEW,
    "True": lambda: True,
    "a number as a word": lambda: "0.5",
    "5e-324": lambda: 5e-324,
    "1e300": lambda: 1e300,
    "10**400": lambda: 10**400,
    "-10**30": lambda: -(10**30),
    "2.5": lambda: 2.5,
    "1": lambda: 1,
    "a complex number": lambda: 1j,
    "an empty list": list,
    "a ragged list": lambda: [[0.5], [0.5, 1.0]],
    "a list of words": lambda: ["a", "b"],
    "a list of None": lambda: [None, None],
    "a dict": lambda: {"a": 1},
    "an empty dict": dict,
    "a set": lambda: {1, 2},
    "a function": lambda: len,
    "a class": lambda: int,
    "a generator": lambda: iter(()),
    "an array of NaN": lambda: np.array([math.nan, 0.5]),
    "an array of three dimensions": lambda: np.zeros((2, 2, 2)),
    "an empty array": lambda: np.zeros(0),
    "an array of objects": lambda: np.array([object(), None]),
    "an array of dates": lambda: np.array(["2020-01-01"], dtype="datetime64[D]"),
    "a masked array": lambda: np.ma.masked_invalid([math.nan, 0.5]),
    "a series": lambda: pd.Series([0.5, None], dtype="Float64"),
    "a table": lambda: pd.DataFrame({"a": [0.5]}),
    "a date": lambda: datetime.date(2020, 1, 1),
    "a NUL": lambda: "\x00",
    "half a surrogate pair": lambda: "\ud800",
    "300 characters": lambda: "a" * 300,
}


def cases(name: str, values: dict[str, Callable[[], Any]]) -> Iterator[tuple[str, Case]]:
    """Calls of one callable with one argument wrong, each with what is wrong with it."""
    for parameter in parameters(callables()[name]):
        for said, make in values.items():
            call = partial(_call, name, parameter, make)
            yield f"{parameter}: {said}", Case(name, call)


def _call(name: str, parameter: str, make: Callable[[], Any]) -> Any:
    return callables()[name](**{**right(name), parameter: make()})
