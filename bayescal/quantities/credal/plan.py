"""The models to fit for given data, and the attributes of their result."""

from __future__ import annotations

from typing import Final

import numpy as np
from numpy.typing import NDArray

from bayescal.core.checks import check_data
from bayescal.core.quantity import Plan
from bayescal.quantities.credal.calibration_split import CalibrationSplit
from bayescal.quantities.credal.posterior import CredalCase
from bayescal.quantities.credal.priors import Priors

# Curves times rows that a result holds draws of: it does not grow with the target rows.
MOST: Final = 200
FEWEST: Final = 20


def plan(data: CalibrationSplit, priors: Priors) -> Plan:
    """Plan the fits of class probabilities.

    Parameters
    ----------
    data : CalibrationSplit
        Calibration rows and target rows, of one or several classifiers.
    priors : Priors
        Priors.

    Returns
    -------
    Plan
        A case a classifier. There is no correlation: probabilities given different scores have no
        difference to speak of.

    Raises
    ------
    InputError
        If the data are no CalibrationSplit.
    """
    check_data(data, (CalibrationSplit,), "credal", "CalibrationSplit(calibration=..., target=...)")
    rows = held_rows(data)
    names = data.calibration.classifiers
    attrs = {
        "n_obs": data.calibration.n_obs,
        "n_labeled": data.n_calibration,
        "n_target": data.n_target,
        "n_held": len(rows),
        "classes": [str(label) for label in data.calibration.classes],
        "multiclass": "binary" if data.calibration.is_binary else "one-vs-rest",
    }
    return Plan([CredalCase.of(data.select(name), rows, priors) for name in names], attrs)


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
