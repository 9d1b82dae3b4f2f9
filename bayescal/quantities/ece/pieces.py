"""Everything that a result tells of one problem, given draws of its label rates."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from bayescal.core.bin_counts import BinCounts
from bayescal.core.binomial import log_binomial
from bayescal.core.bound import values_of, words_of
from bayescal.core.edges import STRATEGIES
from bayescal.core.error_draws import curve_scores, draw_masses, error_draws
from bayescal.core.problem import Problem, pad
from bayescal.core.room import Pieces
from bayescal.core.sampled import Exact
from bayescal.quantities.ece.bounds import Bounds, bounds
from bayescal.quantities.ece.curve import Curve
from bayescal.quantities.ece.estimator import estimate
from bayescal.quantities.ece.evidence import probability_calibrated
from bayescal.quantities.ece.priors import Priors, SmoothCurve
from bayescal.quantities.ece.segmentation import log_bayes_factor_jump

type Floats = NDArray[np.float64]

PRIOR_DRAWS = 1000
# Enough for an evidence that only has to be right to a unit or so.
_GENTLE_DRAWS = 500
# Jeffreys' "strong" evidence, as the natural logarithm of a Bayes factor.
_STRONG = float(np.log(10))
_ERRORS = ("ece", "tce", "mce")


def tell(
    problem: Problem,
    priors: Priors,
    *,
    rates: Floats,
    curve: Callable[[Floats], Floats],
    prior_rates: Floats,
    exact: Exact,
    size: int,
    rng: np.random.Generator,
) -> Pieces:
    """Work out quantities, estimates, bounds and averages of one problem."""
    count = problem.cells.count
    posterior = error_draws(problem, rates, draw_masses(count, rates.shape[:-1], rng))
    points = curve_scores(problem)
    posterior["calibration_curve"] = curve(points)
    before = error_draws(problem, prior_rates[None], draw_masses(count, (1, len(prior_rates)), rng))
    p_calibrated = probability_calibrated(problem.cells, exact.log_evidence, priors.calibrated)
    slab = 1 - np.nan_to_num(p_calibrated)
    jump = _log_bayes_factor_jump(problem, priors, exact, rng)
    theory = _theory(problem.bins)._asdict()
    # Cells without rows say nothing, and ArviZ's leave-one-out cannot do without a word.
    held = np.flatnonzero(problem.cells.count)
    return Pieces(
        posterior=posterior,
        prior={name: before[name] for name in _ERRORS},
        log_likelihood={
            "events": pad(
                log_binomial(problem.cells.positives, count, rates)[..., held],
                *rates.shape[:-1],
                size,
            )
        },
        observed_data={"events": pad(problem.cells.positives[held], size)},
        constant_data={
            "curve_score": points,
            "cell_count": pad(problem.cells.count[held], size),
            "cell_score": pad(problem.cells.mean_score[held], size),
        },
        point_estimate={
            **estimate(problem.bins)._asdict(),
            "n": problem.bins.n,
            "prevalence": problem.bins.positives.sum() / problem.bins.n,
        },
        bounds=values_of(theory),
        bounds_attrs=words_of(theory),
        model_average={
            "p_calibrated": p_calibrated,
            **{f"{name}_mean": slab * posterior[name].mean() for name in _ERRORS},
        },
        diagnostics={
            "importance_ess": exact.ess,
            "log_bayes_factor_jump": jump,
            "jump_flag": bool(jump > _STRONG and not p_calibrated >= 0.05),
        },
    )


def _log_bayes_factor_jump(
    problem: Problem, priors: Priors, exact: Exact, rng: np.random.Generator
) -> float:
    """Weigh jumps against a smooth curve; bins of their own have none that could miss a jump.

    Pieces that hardly leave the diagonal beat a curve that may stray far because they are simpler,
    not because they jump. A curve that strays a quarter as far has to be beaten too.
    """
    prior = priors.label_rate
    if not isinstance(prior, SmoothCurve):
        return float("nan")
    gentle = Curve.of(problem, replace(prior, scale=prior.scale / 4)).exact(_GENTLE_DRAWS, rng)
    smooth = max(exact.log_evidence, gentle.log_evidence)
    return log_bayes_factor_jump(problem.cells, smooth)


def _theory(bins: BinCounts) -> Bounds:
    """Bounds for bins as they were chosen: those of equal mass follow the scores."""
    known = bins.strategy in STRATEGIES
    return bounds(bins.n, bins.n_bins, bins.strategy if known else bins.edges)
