"""The models to fit for given data, and what they share."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from typing import Any

from bayescal.core.bins.binning import Binning
from bayescal.core.checks import check_data, check_is
from bayescal.core.errors import ScarWarning
from bayescal.core.quantity import Plan
from bayescal.quantities.pu_ece.averaged_posterior import case_of
from bayescal.quantities.pu_ece.class_prior.scar_check import check_possible, data_warnings
from bayescal.quantities.pu_ece.counts import PUCounts
from bayescal.quantities.pu_ece.data import PUScores, problems
from bayescal.quantities.pu_ece.estimator import resolved
from bayescal.quantities.pu_ece.priors import Priors


def plan(
    data: PUScores | Mapping[str, PUCounts], priors: Priors, *, binning: Binning | None = None
) -> Plan:
    """Plan the fits of calibration errors from positives and unlabelled rows.

    Parameters
    ----------
    data : PUScores or mapping of str to PUCounts
        Positive and unlabelled scores, or their counts by classifier.
    priors : Priors
        Priors.
    binning : Binning, optional
        Bins of the evaluation, cut on the unlabelled scores. Not used with counts.

    Returns
    -------
    Plan
        A case a classifier. Classifiers are compared as if on rows of their own.

    Raises
    ------
    InputError
        If the data are neither, or rule the class prior out.

    Warns
    -----
    ScarWarning
        If the positives do not look drawn from the unlabelled rows at the class prior's mean.
    """
    check_data(
        data, (PUScores, Mapping), "pu_ece", "PUScores(positive=..., unlabeled=...)", PUCounts
    )
    check_is(priors, Priors, "priors", "Pass bayescal.pu_ece.Priors(class_prior=...).")
    bins = Binning.of(binning)
    if isinstance(data, PUScores):
        bins = resolved(bins, data, priors.class_prior_mean)
    found = problems(data, priors, bins)
    for problem in found:
        check_possible(problem, priors)
        for sentence in data_warnings(problem, priors):
            warnings.warn(sentence, ScarWarning, stacklevel=4)
    return Plan([case_of(problem, priors) for problem in found], _attributes(data, bins))


def _attributes(data: PUScores | Mapping[str, PUCounts], binning: Binning) -> dict[str, Any]:
    """What was binned, and how: root attributes of the result."""
    counts = data if isinstance(data, PUScores) else next(iter(data.values()))
    return {
        "n_obs": counts.n_positive + counts.n_unlabeled,
        "n_labeled": counts.n_positive,
        "n_positive": counts.n_positive,
        "n_unlabeled": counts.n_unlabeled,
        "classes": ["unlabeled", "positive"],
        "multiclass": "binary",
        **(binning.attrs if isinstance(counts, PUScores) else counts.binning_attrs),
    }
