"""The model: a calibration curve, the counts of its cells, and the measure of both."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from bayescal.core.calibration_curve.problem import Problem, pad
from bayescal.core.checks import check_data
from bayescal.core.errors import InputError
from bayescal.core.scores import Scores
from bayescal.quantities.agnostic.data import checked, problems
from bayescal.quantities.agnostic.models.smooth_curve import BASIS, Curve
from bayescal.quantities.agnostic.priors import Priors

if TYPE_CHECKING:
    import pymc as pm


def build_model(
    data: Scores, priors: Priors | None = None, *, multiclass: str = "top-label"
) -> pm.Model:
    """Build the model of one classifier, unsampled.

    Parameters
    ----------
    data : Scores
        One classifier's scores with labels.
    priors : Priors, optional
        Priors; `Priors()` if not given.
    multiclass : {"top-label"}, default "top-label"
        How several classes become binary problems.

    Returns
    -------
    pm.Model
        Observed ``events`` (cell) and Deterministic ``c``; data as pm.Data. Cells are padded with
        empty ones.

    Raises
    ------
    InputError
        If the data hold more than one binary problem.

    Notes
    -----
    ``gamma`` has no data below it: the cells' masses are Dirichlet(count) whatever the labels.

    Examples
    --------
    >>> import bayescal as bc
    >>> scores = bc.Scores(y_true=[0, 0, 1, 1], y_prob=[0.1, 0.4, 0.5, 0.9])
    >>> [variable.name for variable in bc.agnostic.build_model(scores).deterministics]
    ['c']
    """
    check_data(data, (Scores,), "agnostic", "Scores(y_true=..., y_prob=...)")
    found = problems(checked(data), None, multiclass, [])
    if len(found) > 1:
        raise InputError(
            f"a model is that of one binary problem; got {len(found)}. "
            "Take one classifier with .select(name), and one class with .one_vs_rest(label)."
        )
    labeled = found[0].labeled
    return model_of(labeled, Curve.of(labeled.cells, (priors or Priors()).label_rate))


def model_of(labeled: Problem, curve: Curve) -> pm.Model:
    """Label rates of cells and their counts, the cells' masses, and the measure of both."""
    import pymc as pm
    import pytensor.tensor as pt

    from bayescal.inference.error_model import mass_of_rows

    _, cells = curve.compile_key
    basis = np.arange(BASIS)
    with pm.Model(coords={"cell": np.arange(cells), "basis": basis, "basis_": basis}) as model:
        rate = curve.add_to_model()
        score = pm.Data("mean_score", pad(labeled.cells.mean_score, cells), dims="cell")
        sums = (mass_of_rows(labeled, cells) * (score - rate)).cumsum()
        pm.Deterministic("c", pt.maximum(sums.max(), 0) - pt.minimum(sums.min(), 0))
    return model
