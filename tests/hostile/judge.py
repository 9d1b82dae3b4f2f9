"""What is wrong with a call: an undocumented exception, or NaN as a number."""

import traceback
import warnings
from collections.abc import Callable, Iterator, Mapping
from dataclasses import fields, is_dataclass
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
import xarray as xr

from bayescal.core.errors import InputError, OutputError

DOCUMENTED = (InputError, OutputError)


class Case(NamedTuple):
    """One call: its name, what it does, and what may be NaN in what it returns."""

    name: str
    run: Callable[[], Any]


def numbers(value: Any, at: str = "") -> Iterator[tuple[str, Any]]:
    """All floats of what a function returned, each with where it stands."""
    if isinstance(value, float | np.floating):
        yield at, np.array(value)
    elif isinstance(value, np.ndarray) and value.dtype.kind == "f":
        yield at, value
    elif hasattr(value, "_fields"):
        for name in value._fields:
            yield from numbers(getattr(value, name), f"{at}.{name}")
    elif is_dataclass(value) and not isinstance(value, type):
        for field in fields(value):
            yield from numbers(getattr(value, field.name), f"{at}.{field.name}")
    elif isinstance(value, pd.DataFrame):
        for name in value.select_dtypes("float"):
            yield f"{at}.{name}", value[name].to_numpy()
    elif isinstance(value, xr.DataTree):
        # Diagnostics and point estimates say by NaN that there are none.
        yield from numbers(value["posterior"].to_dataset(), f"{at}posterior")
    elif isinstance(value, xr.Dataset | xr.DataArray):
        for name in getattr(value, "data_vars", ()):
            yield from numbers(value[name].values, f"{at}.{name}")
    elif isinstance(value, Mapping):
        for name in value:
            yield from numbers(value[name], f"{at}.{name}")


def trouble(case: Case) -> str | None:
    """What is wrong with a call: an undocumented exception, or NaN as a number; None if nothing."""
    try:
        with warnings.catch_warnings():
            # Users see NumPy's warnings; here they are the start of a NaN.
            warnings.simplefilter("ignore")
            found = case.run()
    except DOCUMENTED as error:
        return None if str(error).strip() else "an empty message"
    except Exception as error:  # everything else is what is looked for
        return None if _of_scikit_learn(error) else f"{type(error).__name__}: {error}"
    for at, values in numbers(found):
        if np.isnan(values).any() and not is_documented_nan(case.name, at):
            return f"NaN at {at or 'the result'}"
    return None


def _of_scikit_learn(error: Exception) -> bool:
    """Whether rows given to an estimator were refused by scikit-learn's own checks of rows."""
    files = [frame.filename for frame in traceback.extract_tb(error.__traceback__)]
    refused = "/sklearn/" in files[-1] or any("/sklearn/utils/" in file for file in files)
    return refused and isinstance(error, ValueError | TypeError | OverflowError)


# Where the documentation says that NaN stands for "there is none".
RANKED = (".auc", ".auprc")
NAN_SAYS_NONE: Mapping[str, tuple[str, ...]] = {
    "ece.estimate": (".label_rate", ".gap"),  # of an empty bin
    "pu_ece.estimate": (".label_rate", ".gap"),
    "temperature.calibration_errors": (".class_ece", ".class_accuracy", ".class_confidence"),
    "agnostic.rule_difference": (".correlation",),
    "bayescal.change": tuple(
        f".table.{against}_{figure}"
        for against in ("previous", "baseline")
        for figure in ("mean", "lower", "upper", "prob_worse")
    ),  # of the first window
    "bayescal.decision_curve": tuple(
        f".table.{column}" for column in ("p_best", "p_best_all", "p_best_none", "evpi")
    ),  # without shared rows
    "bayescal.difference": (".correlation",),
    # R-hat of direct draws; the plug-in of an AUC whose labelled rows are of one class.
    "bayescal.summary": (".rhat_max", ".point"),
    "fit agnostic": (
        "posterior.auc",
        *(f"posterior.unlabeled_{name}" for name in ("auc", "fpr", "tpr")),
    ),  # where all labels drawn are alike, or the only score never errs
    "fit temperature": (
        "posterior.class_ece",
        "posterior.class_ece_uncalibrated",
    ),  # of a class never predicted
}


def is_documented_nan(name: str, at: str) -> bool:
    """Whether NaN stands for "there is none": a rate of no rows, an AUC of one class."""
    if name == "ssme.subgroup_metrics":
        return True
    of_metrics = name.startswith(("ssme.", "baselines.")) and at.endswith(RANKED)
    return of_metrics or at in NAN_SAYS_NONE.get(name, ())
