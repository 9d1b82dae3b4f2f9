"""The models to fit for given data, and what a result says of the data."""

from __future__ import annotations

from bayescal.core.checks import check_data, check_is
from bayescal.core.quantity import Plan
from bayescal.quantities.credal.calibration_split import CalibrationSplit
from bayescal.quantities.credal.data import held_rows
from bayescal.quantities.credal.posterior import CredalCase
from bayescal.quantities.credal.priors import Priors


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
    check_is(priors, Priors, "priors", "Pass bayescal.credal.Priors().")
    rows = held_rows(data)
    names = data.calibration.classifiers
    attrs = {
        "n_obs": data.n_obs,
        "n_labeled": data.n_calibration,
        "n_target": data.n_target,
        "n_held": len(rows),
        "classes": [str(label) for label in data.calibration.classes],
        "multiclass": "binary" if data.calibration.is_binary else "one-vs-rest",
    }
    return Plan([CredalCase.of(data.select(name), rows, priors) for name in names], attrs)
