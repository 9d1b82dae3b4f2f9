"""The PyMC model: how many rows of each cell of scores have the label."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from bayescal.core.errors import InputError
from bayescal.quantities.credal.calibration_split import CalibrationSplit
from bayescal.quantities.credal.data import Problem
from bayescal.quantities.credal.models import cells_of, label_model
from bayescal.quantities.credal.models.base import LabelModel
from bayescal.quantities.credal.priors import Priors

if TYPE_CHECKING:
    import pymc as pm


def build_model(data: CalibrationSplit, priors: Priors | None = None) -> pm.Model:
    """Build the model of one classifier, unsampled.

    Parameters
    ----------
    data : CalibrationSplit
        Labelled calibration rows; target rows do not enter the model.
    priors : Priors, optional
        Priors; the defaults if not given.

    Returns
    -------
    pm.Model
        Observed ``events`` (curve, cell): label counts in cells of the score's rank. A binary task
        has one curve, another one a curve a class against the rest. All data are pm.Data of shapes
        that do not depend on the rows.

    Raises
    ------
    InputError
        If there are several classifiers.

    Notes
    -----
    Curves of several classes are modelled apart, though they count the same rows.

    Examples
    --------
    >>> import bayescal as bc
    >>> from bayescal.quantities.credal.calibration_split import CalibrationSplit
    >>> from bayescal.quantities.credal.model import build_model
    >>> calibration = bc.Scores(y_true=[0, 1, 0, 1], y_prob=[0.1, 0.4, 0.6, 0.9])
    >>> model = build_model(CalibrationSplit(calibration=calibration, target=[0.5]))
    >>> sorted(v.name for v in model.deterministics)
    ['intercept', 'weight']
    """
    if data.calibration.n_classifiers != 1:
        raise InputError(
            f"build_model takes one classifier; got {data.calibration.n_classifiers}. "
            "Pass data.select(name)."
        )
    prior = (priors or Priors()).label_rate
    problem = Problem.of(data, np.arange(0), cells_of(prior, data.n_calibration))
    names = data.calibration.classes if problem.n_curves > 1 else data.calibration.classes[1:]
    return model_of(label_model(problem, prior), tuple(map(str, names)))


def model_of(label_rates: LabelModel, curves: tuple[str, ...]) -> pm.Model:
    """Build the model of one problem, whose curves have these names."""
    import pymc as pm

    with pm.Model(coords={"curve": list(curves)}) as model:
        label_rates.add_to_model()
    return model
