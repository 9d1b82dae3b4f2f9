"""The models to fit for given data, and what a result says of the data."""

from __future__ import annotations

from bayescal.core.bins.binning import Binning
from bayescal.core.checks import check_data
from bayescal.core.errors import InputError
from bayescal.core.quantity import Plan
from bayescal.core.scores import Scores
from bayescal.quantities.temperature.data import Problem
from bayescal.quantities.temperature.errors import BINNING
from bayescal.quantities.temperature.posterior import TemperatureCase
from bayescal.quantities.temperature.priors import Priors


def plan(data: Scores, priors: Priors, *, calibration_bins: Binning = BINNING) -> Plan:
    """Plan a fit for each classifier.

    Parameters
    ----------
    data : Scores
        Scores of one or several classifiers, by logits or probabilities. Rows without a label
        count in the calibration errors, where they say how confidences are distributed.
    priors : Priors
        Priors.
    calibration_bins : Binning, default 15 bins of equal width
        Bins of the calibration errors, the same for every predicted class.

    Returns
    -------
    Plan
        A case a classifier.

    Raises
    ------
    InputError
        If the data are no Scores, have groups or no label, or a label has a score of 0.
    """
    check_data(data, (Scores,), "temperature", "Scores(y_true=..., y_prob=..., from_logits=True)")
    if data.n_labeled == 0:
        raise InputError(
            f"y_true must hold at least one label; all {data.n_obs} rows are missing. Label some "
            "rows: temperatures cannot be estimated without."
        )
    if data.group is not None:
        raise InputError(
            f"temperature has no groups; got {len(data.groups)}. Pass data.without_group(), or fit "
            "SliceCalibration with slices."
        )
    cases = [
        TemperatureCase.of(Problem.of(data, name), priors, calibration_bins)
        for name in data.classifiers
    ]
    attrs = {
        "n_obs": data.n_obs,
        "n_labeled": data.n_labeled,
        "classes": [str(name) for name in data.classes],
        "multiclass": "predicted class",
        **calibration_bins.attrs,
        "point_label": "class-wise temperature scaling",
        "pairing": "independent",
        "class_variables": ["alpha", "class_ece", "class_ece_uncalibrated"],
    }
    return Plan(cases, attrs)
