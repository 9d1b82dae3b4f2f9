"""The PyMC model and the fits of calibration errors from positives and unlabelled rows."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Unpack

from bayescal.core.bin_edges import resolved_number
from bayescal.core.binning import Binning, BinningFields
from bayescal.core.checks import check_data, check_is
from bayescal.core.counts import Counts
from bayescal.core.counts_sql import ALONE
from bayescal.core.errors import InputError, ScarWarning
from bayescal.core.quantity import Plan
from bayescal.curves.average import weighing
from bayescal.curves.priors import CurveAverage, SmoothCurve
from bayescal.quantities.pu_ece.class_prior import check_possible, data_warnings
from bayescal.quantities.pu_ece.data import PUCounts, PUScores, problems
from bayescal.quantities.pu_ece.estimator import effective_rows, resolved
from bayescal.quantities.pu_ece.many_rows import binned
from bayescal.quantities.pu_ece.posterior import case_of
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
        Under an average it is the rough component of the scores between 0 and 1, or the smooth
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
    likelihood of a case-control study [1]_. The density of ``events`` has more of it: what the
    scores of exactly 0 and 1 say of the class prior, what the sizes of the two samples do, and the
    evidence by the class prior to the power -.65, so that it counts to the power .35. Segments and
    errors are worked out from the draws.

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
    _check_priors(priors)
    bins = resolved(Binning.of(binning, **fields), data, priors.class_prior_mean)
    found = problems(data, priors, bins)
    if len(found) > 1:
        raise InputError(
            f"a model is that of one classifier; got {len(found)}. "
            f"Take one with .select({data.classifiers[0]!r})."
        )
    return case_of(found[0], priors).build_model()


def plan(
    data: PUScores | Counts | Mapping[str, PUCounts | Counts],
    priors: Priors,
    *,
    binning: Binning | None = None,
) -> Plan:
    """Plan the fits of calibration errors from positives and unlabelled rows.

    Parameters
    ----------
    data : PUScores, Counts, CountTable or mapping of str to PUCounts
        Positive and unlabelled scores, or their counts (by classifier), without negative rows.
    priors : Priors
        Priors.
    binning : Binning, optional
        Bins of the evaluation, cut on the unlabelled scores. Not used with `PUCounts`.

    Returns
    -------
    Plan
        A case a classifier. How their errors correlate over shared rows is not worked out.

    Raises
    ------
    InputError
        If the data are neither, or rule the class prior out.

    Warns
    -----
    ScarWarning
        If the positives do not look drawn from the unlabelled rows at the class prior's mean.
    """
    _check_priors(priors)
    rows: PUScores | Mapping[str, PUCounts] = _binned(data, priors, binning)
    check_data(
        rows, (PUScores, Mapping), "pu_ece", "PUScores(positive=..., unlabeled=...)", PUCounts
    )
    bins = Binning.of(binning)
    if isinstance(rows, PUScores):
        bins = resolved(bins, rows, priors.class_prior_mean)
    found = problems(rows, priors, bins)
    for problem in found:
        check_possible(problem, priors)
        for sentence in data_warnings(problem, priors):
            warnings.warn(sentence, ScarWarning, stacklevel=4)
    # A smooth curve is an average too: of itself and of calibration.
    smooth = isinstance(priors.label_rate, SmoothCurve)
    attrs = _attributes(rows, bins) | weighing(CurveAverage() if smooth else priors.label_rate)
    return Plan([case_of(problem, priors) for problem in found], attrs)


def _binned(data: Any, priors: Priors, binning: Binning | None) -> Any:
    """Put counts by narrow cells into bins of the unlabelled rows; all else stays."""
    if isinstance(data, Counts):
        data = {ALONE: data}
    if not isinstance(data, Mapping):
        return data
    if groups := getattr(data, "groups", ()):
        raise InputError(
            f"pu_ece has no groups; got {len(groups)}. Pass the counts of one group, of "
            "counts.by_group(), or those of all: dict(counts)."
        )

    def of(counts: Any) -> Any:
        if not isinstance(counts, Counts):
            return counts
        own = counts.binning if binning is None else binning
        positive, unlabeled = (
            max(1, int(rows.sum())) for rows in (counts.positives, counts.unlabeled)
        )
        rows = effective_rows(positive, unlabeled, priors.class_prior_mean)
        return binned(counts, own, resolved_number(own.n_bins, rows), "label")

    return {name: of(counts) for name, counts in data.items()}


def _check_priors(priors: object) -> None:
    check_is(priors, Priors, "priors", "Pass bayescal.pu_ece.Priors(class_prior=...).")


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
        "sections": ["class_prior"],
        **(binning.attrs if isinstance(counts, PUScores) else counts.binning_attrs),
    }
