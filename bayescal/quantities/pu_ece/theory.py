"""The paper's estimate and theory for counts that are there already."""

from __future__ import annotations

from typing import Any

from bayescal.core.edges import STRATEGIES
from bayescal.quantities.pu_ece.bounds import Bounds, bounds
from bayescal.quantities.pu_ece.estimator import of_counts
from bayescal.quantities.pu_ece.priors import Priors
from bayescal.quantities.pu_ece.problem import PUProblem


def estimate_of(problem: PUProblem, priors: Priors) -> dict[str, Any]:
    """Estimate at the mean of the class prior."""
    bins = problem.unlabeled.bins
    found = of_counts(
        bins.count,
        problem.positive_in_bins(),
        bins.mean_score,
        bins.edges,
        priors.class_prior_mean,
    )
    return {
        **found._asdict(),
        "n": problem.n_positive + problem.n_unlabeled,
        "class_prior": priors.class_prior_mean,
    }


def theory_of(problem: PUProblem, priors: Priors) -> Bounds:
    """Bounds for bins as they were chosen: those of equal mass follow the scores."""
    bins = problem.unlabeled.bins
    return bounds(
        problem.n_positive,
        problem.n_unlabeled,
        priors.class_prior_mean,
        bins.n_bins,
        bins.strategy if bins.strategy in STRATEGIES else bins.edges,
    )
