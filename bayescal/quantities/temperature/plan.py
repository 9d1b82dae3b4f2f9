"""The models to fit for given data, and what a result says of the data."""

from __future__ import annotations

from typing import Any

from bayescal.core.bins.binning import Binning
from bayescal.core.checks import check_data, check_is
from bayescal.core.errors import InputError
from bayescal.core.quantity import Plan
from bayescal.core.scores import Scores
from bayescal.quantities.temperature.data import Problem, Rows
from bayescal.quantities.temperature.errors import BINNING
from bayescal.quantities.temperature.many_rows import CountedRows
from bayescal.quantities.temperature.posterior import TemperatureCase
from bayescal.quantities.temperature.priors import Priors


def plan(
    data: Scores | CountedRows, priors: Priors, *, calibration_bins: Binning = BINNING
) -> Plan:
    """Plan a fit for each classifier.

    Parameters
    ----------
    data : Scores or CountedRows
        Scores of one or several classifiers, by logits or probabilities, or what
        `bayescal.temperature.count_rows` returned. Rows without a label count in the calibration
        errors, where they say how confidences are distributed. Weighted rows count as so many as
        their effective number, in each predicted class and in each bin.
    priors : Priors
        Priors.
    calibration_bins : Binning, default 15 bins of equal width
        Bins of the calibration errors, the same for every predicted class. Those of rows that are
        read part by part must not depend on the scores.

    Returns
    -------
    Plan
        A case a classifier.

    Raises
    ------
    InputError
        If the data are neither, have groups or no label, or a label has a score of 0; or if bins
        depend on scores that are read part by part.
    """
    check_is(priors, Priors, "priors", "Pass bayescal.temperature.Priors().")
    check_is(calibration_bins, Binning, "calibration_bins", "Pass bayescal.Binning(15, 'uniform').")
    if isinstance(data, CountedRows):
        return _of_counted(data, priors, calibration_bins)
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
    logits = data.logits is not None
    return Plan(cases, _attributes(cases[0].problem, calibration_bins, logits))


def _of_counted(data: CountedRows, priors: Priors, binning: Binning) -> Plan:
    """Plan the fit of rows that are read part by part."""
    if binning.strategy == "quantile" or not isinstance(binning.n_bins, int):
        raise InputError(
            "calibration_bins must not depend on the scores where these are read part by part; "
            f"got {binning!r}. Pass Binning(15, 'uniform'), or edges."
        )
    attrs = _attributes(data, binning, data.from_logits)
    return Plan([TemperatureCase.of(data, priors, binning)], attrs)


def _attributes(rows: Rows, binning: Binning, from_logits: bool) -> dict[str, Any]:
    """What a result says of the data."""
    facts = rows.facts()
    return {
        "n_obs": facts.n,
        "n_labeled": facts.n_labeled,
        **({"effective_n": facts.effective_n} if facts.weighted else {}),
        "classes": list(rows.classes),
        "input_scale": "logits" if from_logits else "probabilities",
        "multiclass": "predicted class",
        **binning.attrs,
        "point_label": "class-wise temperature scaling",
        "pairing": "independent",
        "class_variables": ["alpha", "class_ece", "class_ece_uncalibrated"],
    }
