"""Which model a prior stands for, and the PyMC model of one classifier."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from bayescal.core.bins.edges import optimal_number
from bayescal.core.checks import check_data, check_is
from bayescal.core.errors import InputError
from bayescal.curves.average import member_model
from bayescal.quantities.credal.data import CalibrationSplit, Cells, Problem, RankCells, ScoreCells
from bayescal.quantities.credal.models import LabelModel
from bayescal.quantities.credal.models.averaged import MOST, Averaged
from bayescal.quantities.credal.models.bins import Imprecise, Isotonic
from bayescal.quantities.credal.models.rising import CELLS, Monotone
from bayescal.quantities.credal.priors import (
    MOST_BINS,
    AveragedCurve,
    IncrementIsotonic,
    LabelRatePrior,
    MonotoneCurve,
    Priors,
)

if TYPE_CHECKING:
    import pymc as pm


def cells_of(prior: LabelRatePrior, rows: float) -> Cells:
    """Cells that a prior's model counts so many calibration rows in."""
    if isinstance(prior, AveragedCurve):
        return ScoreCells(MOST)
    if isinstance(prior, MonotoneCurve):
        return RankCells(CELLS)
    if isinstance(prior.bins, int):
        return RankCells(prior.bins)
    # Within what a prior may ask for by number.
    return RankCells(min(max(2, optimal_number(rows)), MOST_BINS))


def label_model(problem: Problem, prior: LabelRatePrior) -> LabelModel:
    """Join a problem and a prior."""
    if isinstance(prior, AveragedCurve):
        return Averaged(problem, prior)
    if isinstance(prior, MonotoneCurve):
        return Monotone.of(problem, prior)
    if isinstance(prior, IncrementIsotonic):
        return Isotonic(problem, prior)
    return Imprecise(problem, prior)


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
        Under the default prior the rough description of one curve, or the smooth one where that is
        left out: observed ``events`` (interior), label counts in cells of scores between 0 and 1;
        of several classes that of the last one. Under the other priors ``events`` (curve, cell):
        counts in cells of the score's rank, of one curve in a binary task, and of one a class
        against the rest otherwise. All data are pm.Data of shapes that do not depend on the rows.

    Raises
    ------
    InputError
        If there are several classifiers.

    Notes
    -----
    Curves of several classes are modelled apart, though they count the same rows. The rising
    description, and scores of exactly 0 and 1, have no PyMC model under the default prior.

    Examples
    --------
    >>> import bayescal as bc
    >>> from bayescal.quantities.credal.data import CalibrationSplit
    >>> from bayescal.quantities.credal.model import build_model
    >>> calibration = bc.Scores(y_true=[0, 1, 0, 1], y_prob=[0.1, 0.4, 0.6, 0.9])
    >>> model = build_model(CalibrationSplit(calibration=calibration, target=[0.5]))
    >>> sorted(v.name for v in model.free_RVs)
    ['roughness', 'z']
    """
    remedy = "CalibrationSplit(calibration=..., target=...)"
    check_data(data, (CalibrationSplit,), "credal", remedy)
    if data.calibration.n_classifiers != 1:
        raise InputError(
            f"build_model takes one classifier; got {data.calibration.n_classifiers}. "
            "Pass data.select(name)."
        )
    priors = Priors() if priors is None else priors
    check_is(priors, Priors, "priors", "Pass bayescal.credal.Priors().")
    prior = priors.label_rate
    problem = Problem.of(data, np.arange(0), cells_of(prior, data.effective_n))
    names = data.calibration.classes if problem.n_curves > 1 else data.calibration.classes[1:]
    return model_of(label_model(problem, prior), tuple(map(str, names)))


def model_of(label_rates: LabelModel, curves: tuple[str, ...], member: str = "") -> pm.Model:
    """Build the model of one problem, whose curves have these names, or of a member."""
    import pymc as pm

    if isinstance(label_rates, Averaged):
        return member_model(label_rates.members, member)
    if label_rates.problem.count.dtype.kind == "f":
        # PyMC would cut effective counts down to whole numbers.
        raise InputError(
            "the PyMC model must have whole counts of rows; got effective ones of weighted rows. "
            "Pass method='direct'."
        )
    with pm.Model(coords={"curve": list(curves)}) as model:
        label_rates.add_to_model()
    return model
