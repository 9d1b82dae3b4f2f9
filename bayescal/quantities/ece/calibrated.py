"""The probability that a classifier is calibrated."""

from __future__ import annotations

import numpy as np
from scipy.special import expit, logit

from bayescal.core.bin_counts import BinCounts
from bayescal.curves.cells import score_logit


def log_calibrated(cells: BinCounts) -> float:
    """Log-likelihood of the counts if each cell's label rate is its mean score."""
    eta = score_logit(cells.mean_score)
    return float((cells.positives * eta - cells.count * np.logaddexp(0, eta)).sum())


def probability_calibrated(cells: BinCounts, log_evidence: float, prior: float) -> float:
    """Posterior probability that the classifier is calibrated.

    Notes
    -----
    With B the Bayes factor, the ratio of the two marginal likelihoods, it is
    ``prior B / (prior B + 1 - prior)``.
    """
    if prior == 0:
        return float("nan")
    return float(expit(log_calibrated(cells) - log_evidence + logit(prior)))
