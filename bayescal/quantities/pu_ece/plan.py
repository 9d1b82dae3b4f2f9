"""The models to fit for given data, and what they share."""

from __future__ import annotations

import warnings

from bayescal.core.bins.binning import Binning
from bayescal.core.checks import check_data
from bayescal.core.errors import ScarWarning
from bayescal.core.quantity import Plan
from bayescal.quantities.pu_ece.averaged_posterior import case_of
from bayescal.quantities.pu_ece.class_prior.scar_check import check_possible, data_warnings
from bayescal.quantities.pu_ece.data import PUScores, problems
from bayescal.quantities.pu_ece.estimator import resolved
from bayescal.quantities.pu_ece.priors import Priors


def plan(data: PUScores, priors: Priors, *, binning: Binning | None = None) -> Plan:
    """Plan the fits of calibration errors from positives and unlabelled rows.

    Parameters
    ----------
    data : PUScores
        Positive and unlabelled scores.
    priors : Priors
        Priors.
    binning : Binning, optional
        Bins of the evaluation, cut on the unlabelled scores.

    Returns
    -------
    Plan
        A case a classifier. Classifiers are compared as if on rows of their own.

    Raises
    ------
    InputError
        If the data are no PUScores, or rule the class prior out.

    Warns
    -----
    ScarWarning
        If the positives do not look drawn from the unlabelled rows at the class prior's mean.
    """
    check_data(data, (PUScores,), "pu_ece", "PUScores(positive=..., unlabeled=...)")
    bins = resolved(Binning.of(binning), data, priors.class_prior_mean)
    found = problems(data, priors, bins)
    for problem in found:
        check_possible(problem, priors)
        for sentence in data_warnings(problem, priors):
            warnings.warn(sentence, ScarWarning, stacklevel=4)
    attrs = {
        "n_obs": data.n_positive + data.n_unlabeled,
        "n_labeled": data.n_positive,
        "n_positive": data.n_positive,
        "n_unlabeled": data.n_unlabeled,
        "classes": ["unlabeled", "positive"],
        "multiclass": "binary",
        **bins.attrs,
    }
    return Plan([case_of(problem, priors) for problem in found], attrs)
