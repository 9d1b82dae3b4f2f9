"""The model: a calibration curve and the counts of its cells."""

from __future__ import annotations

from typing import TYPE_CHECKING

from bayescal.core.checks import check_data, check_is
from bayescal.core.count_frames import ALONE
from bayescal.core.counts import Counts
from bayescal.core.errors import InputError
from bayescal.core.scores import Scores
from bayescal.curves.average import Average
from bayescal.quantities.agnostic.data import checked, problem_of, problems
from bayescal.quantities.agnostic.priors import Priors

if TYPE_CHECKING:
    import pymc as pm


def build_model(
    data: Scores | Counts, priors: Priors | None = None, *, multiclass: str = "top-label"
) -> pm.Model:
    """Build the model of one classifier, unsampled.

    Parameters
    ----------
    data : Scores or Counts
        One classifier's scores with labels.
    priors : Priors, optional
        Priors; `Priors()` if not given.
    multiclass : {"top-label"}, default "top-label"
        How several classes become binary problems.

    Returns
    -------
    pm.Model
        The rough description, or the smooth one where that is left out: observed ``events``
        (interior), the cells of scores between 0 and 1, padded with empty ones; data as pm.Data.

    Raises
    ------
    InputError
        If the data hold more than one binary problem, or no score between 0 and 1.

    Notes
    -----
    Segments and scores of exactly 0 and 1 have no parameters that need a sampler. The measure,
    costs and ROC curves are functions of draws of the average.

    Examples
    --------
    >>> import bayescal as bc
    >>> scores = bc.Scores(y_true=[0, 0, 1, 1], y_prob=[0.1, 0.4, 0.5, 0.9])
    >>> [variable.name for variable in bc.agnostic.build_model(scores).observed_RVs]
    ['events']
    """
    check_data(data, (Scores, Counts), "agnostic", "Scores(y_true=..., y_prob=...)")
    found = (
        [problem_of(ALONE, data, [0.0, 1.0])]
        if isinstance(data, Counts)
        else problems(checked(data), None, multiclass, [])
    )
    if len(found) > 1:
        raise InputError(
            f"a model is that of one binary problem; got {len(found)}. "
            "Take one classifier with .select(name), and one class with .one_vs_rest(label)."
        )
    used = Priors() if priors is None else priors
    check_is(used, Priors, "priors", "Pass bayescal.agnostic.Priors().")
    return Average.of(found[0].labeled, used.label_rate, used.calibrated).build()
