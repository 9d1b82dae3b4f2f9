"""The quantity's PyMC model: positives and unlabelled rows by cell, and the calibration errors."""

from __future__ import annotations

from typing import TYPE_CHECKING, Unpack

import numpy as np

from bayescal.core.bins.binning import Binning, BinningFields
from bayescal.core.calibration_curve.curve_average import CurveAverage
from bayescal.core.calibration_curve.smooth_curve import SmoothCurve
from bayescal.core.checks import check_data, check_is
from bayescal.core.errors import InputError
from bayescal.inference.descriptions.member_model import member_model
from bayescal.quantities.pu_ece.data import PUProblem, PUScores, problems
from bayescal.quantities.pu_ece.estimator import resolved
from bayescal.quantities.pu_ece.models.average import Average
from bayescal.quantities.pu_ece.models.mixture_bins import Bins
from bayescal.quantities.pu_ece.priors import Priors

if TYPE_CHECKING:
    import pymc as pm


def build_model(
    data: PUScores,
    priors: Priors,
    *,
    binning: Binning | None = None,
    **fields: Unpack[BinningFields],
) -> pm.Model:
    """Build the model of one classifier, unsampled.

    Parameters
    ----------
    data : PUScores
        One classifier's positive and unlabelled scores.
    priors : Priors
        Priors; the class prior has no default.
    binning : Binning, optional
        Bins of the evaluation, cut on the unlabelled scores.
    **fields
        `n_bins`, `strategy` and `closed` of a `Binning`, instead of `binning`.

    Returns
    -------
    pm.Model
        Observed ``events``, the positives, and Deterministic ``class_prior``; data as pm.Data.
        Under an average it is the rough description of the scores between 0 and 1, or the smooth
        one if that is left out. Under bins there are Deterministics ``label_rate`` and ``gap``
        (bin), ``ece``, ``tce`` and ``mce`` as well.

    Raises
    ------
    InputError
        If the data hold more than one classifier.

    Notes
    -----
    In a cell of the score with U unlabelled rows, of which the share ``rate`` is positive, the
    positives' density is ``rate / pi`` times that of the unlabelled rows. Of the cell's P + U rows
    therefore ``P ~ Binomial(P + U, rho)``, ``logit rho = log(nP / nU) + log rate - log pi``: the
    likelihood of a case-control study [1]_. What the sizes of the two samples add to it, the scores
    of exactly 0 and 1, segments and errors are worked out from the draws.

    References
    ----------
    .. [1] R. L. Prentice and R. Pyke, "Logistic disease incidence models and case-control studies",
       Biometrika 66(3), 1979. https://doi.org/10.1093/biomet/66.3.403

    Examples
    --------
    >>> import numpy as np
    >>> import bayescal as bc
    >>> score = np.linspace(0.05, 0.95, 40)
    >>> pu = bc.PUScores(positive=score[20:], unlabeled=score)
    >>> priors = bc.pu_ece.Priors(bc.Beta(4, 6))
    >>> sorted(v.name for v in bc.pu_ece.build_model(pu, priors, n_bins=2).deterministics)
    ['class_prior']
    """
    check_data(data, (PUScores,), "pu_ece", "PUScores(positive=..., unlabeled=...)")
    check_is(priors, Priors, "priors", "Pass bayescal.pu_ece.Priors(class_prior=...).")
    binning = resolved(Binning.of(binning, **fields), data, priors.class_prior_mean)
    found = problems(data, priors, binning)
    if len(found) > 1:
        raise InputError(
            f"a model is that of one classifier; got {len(found)}. "
            f"Take one with .select({data.classifiers[0]!r})."
        )
    prior = priors.label_rate
    if isinstance(prior, CurveAverage | SmoothCurve):
        average = Average.of(found[0], prior, priors.class_prior, priors.calibrated)
        return member_model(average.members)
    return model_of_bins(found[0], Bins.of(found[0], prior, priors.class_prior))


def model_of_bins(problem: PUProblem, labels: Bins) -> pm.Model:
    """Label rates of cells, their masses, counts of both samples, and the errors they imply."""
    import pymc as pm

    from bayescal.inference.error_model import add_errors

    cells = labels.compile_key[-1]
    coords = {"cell": np.arange(cells), "bin": np.arange(problem.unlabeled.bins.n_bins)}
    with pm.Model(coords=coords) as model:
        rate, mass = labels.add_to_model()
        add_errors(problem.unlabeled, rate, mass, cells)
    return model
