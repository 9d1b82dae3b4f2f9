"""The quantity's PyMC model: label rates given counts, and the calibration errors they imply."""

from __future__ import annotations

from typing import TYPE_CHECKING, Unpack

import numpy as np

from bayescal.core.bin_counts import BinCounts
from bayescal.core.binning import Binning, BinningFields
from bayescal.core.checks import check_data, check_is
from bayescal.core.counts import Counts
from bayescal.core.errors import InputError
from bayescal.core.scores import Scores
from bayescal.curves.average import Average
from bayescal.curves.cells import Problem
from bayescal.curves.smooth import BASIS
from bayescal.quantities.ece.data import in_table, problems
from bayescal.quantities.ece.models import label_model
from bayescal.quantities.ece.models.base import LabelModel
from bayescal.quantities.ece.models.pooled_curves import PooledCurves
from bayescal.quantities.ece.priors import CurveAverage, Priors

if TYPE_CHECKING:
    import pymc as pm


def build_model(
    data: Scores | BinCounts | Counts,
    priors: Priors | None = None,
    *,
    binning: Binning | None = None,
    multiclass: str = "top-label",
    **fields: Unpack[BinningFields],
) -> pm.Model:
    """Build the model of one classifier, unsampled.

    Parameters
    ----------
    data : Scores, BinCounts or Counts
        One classifier's scores with labels, or counts.
    priors : Priors, optional
        Priors; `Priors()` if not given.
    binning : Binning, optional
        Bins of the evaluation. Not used with counts.
    multiclass : {"top-label"}, default "top-label"
        How several classes become binary problems.
    **fields
        `n_bins`, `strategy` and `closed` of a `Binning`, instead of `binning`.

    Returns
    -------
    pm.Model
        Observed ``events``, data as pm.Data; cells are padded with empty ones. Under an average
        it is the model of the last description that NUTS samples, with the parameters ``z``
        (interior) and ``roughness``: errors come from the draws of all descriptions. Under one
        prior ``events`` have the dim cell, and there are Deterministics ``label_rate`` and ``gap``
        (bin), ``ece``, ``tce`` and ``mce``.

    Raises
    ------
    InputError
        If the data hold more than one binary problem, or rows have weights.

    Notes
    -----
    The model is that of a classifier that is not calibrated; the probability that it is comes from
    comparing its evidence with that of the calibrated alternative, which has no parameters.
    ``gamma`` has no data below it: the cells' masses are Dirichlet(count) whatever the labels.

    Examples
    --------
    >>> import bayescal as bc
    >>> scores = bc.Scores(y_true=[0, 0, 1, 1], y_prob=[0.1, 0.4, 0.5, 0.9])
    >>> sorted(v.name for v in bc.ece.build_model(scores, n_bins=2).free_RVs)
    ['roughness', 'z']
    >>> one = bc.ece.Priors(label_rate=bc.ece.SmoothCurve())
    >>> sorted(v.name for v in bc.ece.build_model(scores, one, n_bins=2).deterministics)
    ['ece', 'gap', 'label_rate', 'mce', 'tce']
    """
    priors = Priors() if priors is None else priors
    check_is(priors, Priors, "priors", "Pass bayescal.ece.Priors().")
    check_data(data, (Scores, BinCounts, Counts), "ece", "Scores(y_true=..., y_prob=...)")
    bins = Binning.of(binning, **fields)
    rows = in_table(data, bins if binning is not None or fields else None)
    found = problems(rows, priors, bins, multiclass)
    if len(found) > 1:
        raise InputError(
            f"a model is that of one binary problem; got {len(found)}. "
            "Take one classifier with .select(name), and one class with .one_vs_rest(label)."
        )
    if isinstance(priors.label_rate, CurveAverage):
        return Average.of(found[0], priors.label_rate, priors.calibrated).build()
    return model_of(found[0], label_model(found[0], priors))


def model_of(problem: Problem, labels: LabelModel) -> pm.Model:
    """Label rates of cells and their counts, the cells' masses, and the errors of both."""
    import pymc as pm

    from bayescal.curves.error_model import add_errors, mass_of_rows

    _check_whole(problem)
    cells = labels.compile_key[-1]
    coords = {"cell": np.arange(cells), "bin": np.arange(problem.bins.n_bins)}
    with pm.Model(coords=coords) as model:
        rate = labels.add_to_model()
        mass = mass_of_rows(problem, cells)
        add_errors(problem, rate, mass, cells)
    return model


def _check_whole(problem: Problem) -> None:
    """Check that counts are whole: PyMC would cut effective ones down to whole numbers."""
    if problem.cells.weighted:
        raise InputError(
            "the PyMC model must have whole counts of rows; got effective ones of weighted rows. "
            "Pass method='direct'."
        )


def model_of_groups(labels: PooledCurves) -> pm.Model:
    """Label rates of the cells of all groups and their counts; errors are computed from draws."""
    import pymc as pm

    for problem in labels.problems:
        _check_whole(problem)
    _, groups, cells = labels.compile_key
    basis = np.arange(BASIS)
    coords = {"group": np.arange(groups), "cell": np.arange(cells)}
    with pm.Model(coords={**coords, "basis": basis, "basis_": basis}) as model:
        labels.add_to_model()
    return model
