"""Every public callable, each of its parameters in turn with values that cannot be right.

All other arguments are right. A call may end in a result or in a documented exception.
"""

import math
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

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
    "-10**30": lambda: -(10**30),
    "10**400": lambda: 10**400,
    "a complex number": lambda: 1j,
    "an empty list": list,
    "a list of None": lambda: [None, None],
    "a dict": lambda: {"a": 1},
    "an array of NaN": lambda: np.array([math.nan, 0.5]),
    "half a surrogate pair": lambda: "\ud800",
}


def cases(name: str, values: dict[str, Callable[[], Any]]) -> Iterator[tuple[str, Case]]:
    """Calls of one callable with one argument wrong, each with what is wrong with it."""
    for parameter in parameters(callables()[name]):
        for said, make in values.items():
            yield f"{parameter}: {said}", case(name, parameter, make)


def case(name: str, parameter: str, make: Callable[[], Any]) -> Case:
    """A call with one argument wrong."""
    return Case(name, lambda: callables()[name](**{**right(name), parameter: make()}))
