"""The models to fit for given data, and what a result says of them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from bayescal.core.calibration_split import CalibrationSplit
from bayescal.core.errors import InputError
from bayescal.quantities.credal.case import CredalCase
from bayescal.quantities.credal.priors import Priors

# Curves times rows that a result holds draws of, so that its size does not grow with the rows.
MOST: Final = 200
FEWEST: Final = 20


def cases(data: CalibrationSplit, priors: Priors) -> list[CredalCase]:
    """Make the models of all classifiers.

    Parameters
    ----------
    data : CalibrationSplit
        Calibration rows and rows to answer for, of one or several classifiers.
    priors : Priors
        Priors.

    Returns
    -------
    list of CredalCase
        One a classifier.

    Raises
    ------
    InputError
        If the data are no CalibrationSplit.
    """
    rows = held_rows(_checked(data))
    names = data.calibration.classifiers
    return [CredalCase.of(data.select(name), rows, priors) for name in names]


def held_rows(data: CalibrationSplit) -> NDArray[np.intp]:
    """Choose the target rows that a result holds draws of, (obs,)."""
    score = data.target.y_prob[0]
    last = score if score.ndim == 1 else score[:, -1]
    curves = 1 if score.ndim == 1 else score.shape[1]
    number = max(FEWEST, MOST // curves)
    if len(last) <= number:
        return np.arange(len(last))
    order = np.argsort(last, kind="stable")
    return np.sort(order[np.linspace(0, len(last) - 1, number).round().astype(np.intp)])


def pairing(
    data: CalibrationSplit, cases: Sequence[Any], draws: Sequence[Mapping[str, Any]], **_: Any
) -> None:
    """Take classifiers apart: probabilities given different scores have no difference to speak of.

    Parameters
    ----------
    data : CalibrationSplit
        What was fitted.
    cases : sequence of CredalCase
        The fit's cases.
    draws : sequence of mapping of str to ndarray
        What the fits gave.
    **_
        Options, of which there are none.
    """


def describe(data: CalibrationSplit) -> dict[str, Any]:
    """Say what was fitted.

    Parameters
    ----------
    data : CalibrationSplit
        What was fitted.

    Returns
    -------
    dict
        Root attributes of the result.
    """
    return {
        "n_obs": data.calibration.n_obs,
        "n_labeled": data.n_calibration,
        "n_target": data.n_target,
        "n_held": len(held_rows(data)),
        "classes": [str(label) for label in data.calibration.classes],
        "multiclass": "binary" if data.calibration.is_binary else "one-vs-rest",
    }


def _checked(data: CalibrationSplit) -> CalibrationSplit:
    if not isinstance(data, CalibrationSplit):
        raise InputError(
            f"credal takes a CalibrationSplit; got {type(data).__name__}. Pass "
            "bayescal.CalibrationSplit(calibration=..., target=...)."
        )
    return data
