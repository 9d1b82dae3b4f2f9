"""One fit of many, as any process carries it out."""

from __future__ import annotations

import threading
import time
import warnings
from dataclasses import asdict, dataclass, field
from importlib import import_module
from typing import Any, Final, cast

from bayescal.core.errors import ConvergenceWarning
from bayescal.core.quantity import Quantity
from bayescal.core.text import printable
from bayescal.workflow.fit import fit
from bayescal.workflow.many.keys import Key
from bayescal.workflow.many.record import pack
from bayescal.workflow.many.store import Failure
from bayescal.workflow.sampling import Settings

type Outcome = bytes | Failure
"""A finished fit as its file holds it, or why there is none."""

# Compiled models and BLAS limits are a process's own; threads of a Dask worker take turns.
_TURN: Final = threading.Lock()


@dataclass(frozen=True, slots=True)
class Task:
    """All that a process needs for one fit."""

    key: Key
    module: str
    data: Any
    priors: Any
    settings: Settings
    options: dict[str, Any] = field(default_factory=dict)
    keep: str = "draws"
    recipe: dict[str, Any] = field(default_factory=dict)


def carry_out(task: Task) -> Outcome:
    """Fit, and pack what is to be kept; whatever goes wrong is an outcome too."""
    try:
        with _TURN, warnings.catch_warnings():
            # The result says so; the caller says it once, of all fits.
            warnings.simplefilter("ignore", ConvergenceWarning)
            began = time.perf_counter()
            tree = fit(
                cast(Quantity, import_module(task.module)),
                task.data,
                priors=task.priors,
                **asdict(task.settings),
                **task.options,
            )
            about = {
                "key": task.key,
                "recipe": task.recipe,
                "seconds": round(time.perf_counter() - began, 4),
            }
            return pack(tree, task.keep, about)
    except Exception as error:  # one data set that nobody thought of must not stop the others
        return failure_of(error)


def failure_of(error: BaseException) -> Failure:
    """Say what went wrong."""
    name = type(error).__name__
    try:
        message = printable(" ".join(str(error).split()))
    except Exception as second:  # an error of somebody else's may fail to say what it is
        message = f"{name}, whose message cannot be read: it raises {type(second).__name__}"
    return Failure(name, message or name)
