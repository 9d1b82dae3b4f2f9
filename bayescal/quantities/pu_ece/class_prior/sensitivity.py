"""The calibration error as a function of the class prior, on which everything depends."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.interpolate import PchipInterpolator

from bayescal.core.calibration_curve.curve_average import CurveAverage
from bayescal.core.calibration_curve.problem import error_draws
from bayescal.core.calibration_curve.smooth_curve import SmoothCurve
from bayescal.quantities.pu_ece.data import PUProblem
from bayescal.quantities.pu_ece.estimator import of_counts
from bayescal.quantities.pu_ece.models.average import Average
from bayescal.quantities.pu_ece.models.prior_map import PriorMap
from bayescal.quantities.pu_ece.priors import Priors

type Floats = NDArray[np.float64]

POINTS = 41
# Known class priors at which the posterior is computed; it is smooth in between.
NODES = 5
_DRAWS = 400
_TAIL = 0.05
# A class prior is varied this far, relatively, even if it is declared known.
_OFF = 0.15
# And up to where all but 1 in 100 of its prior lies on either side.
_FAR = 2.33


def class_prior_curve(
    problem: PUProblem, priors: Priors, rng: np.random.Generator
) -> dict[str, Floats]:
    """Compute the error at class priors around the mean of their prior."""
    grid = _grid(priors)
    bins, positive = problem.unlabeled.bins, problem.positive_in_bins()
    ece = np.array(
        [of_counts(bins.count, positive, bins.mean_score, bins.edges, pi).ece for pi in grid]
    )
    mean = priors.class_prior_mean
    centre = of_counts(bins.count, positive, bins.mean_score, bins.edges, mean).ece
    found = {
        "class_prior": grid,
        "ece": ece,
        "envelope_lower": np.maximum(centre - np.abs(grid - mean), 0),
        "envelope_upper": centre + np.abs(grid - mean),
    }
    if isinstance(priors.label_rate, CurveAverage | SmoothCurve):
        found |= _posterior(problem, priors.label_rate, grid, rng)
    return found


def _grid(priors: Priors) -> Floats:
    """Class priors to look at, the mean among them."""
    mean = priors.class_prior_mean
    tails = PriorMap.of(priors.class_prior)(np.array([-_FAR, _FAR]))[0]
    low = min(tails[0], mean * (1 - _OFF))
    high = max(tails[1], mean + _OFF * min(mean, 1 - mean))
    return np.linspace(low, high, POINTS)


def _posterior(
    problem: PUProblem,
    prior: CurveAverage | SmoothCurve,
    grid: Floats,
    rng: np.random.Generator,
) -> dict[str, Floats]:
    """Mean and 90% interval at a few class priors, interpolated."""
    nodes = np.linspace(grid[0], grid[-1], NODES)
    ends = []
    for node in nodes:
        model = Average.of(problem, prior, float(node), calibrated=0.0)
        drawn = model.averaged_joint(_DRAWS, rng)
        found = drawn.taken(None)
        tce = error_draws(problem.unlabeled, found.rates, model.masses(found, rng))["tce"]
        ends.append([*np.quantile(tce, [_TAIL, 1 - _TAIL]), tce.mean()])
    lower, upper, mean = PchipInterpolator(nodes, ends)(grid).T
    return {"tce_lower": lower, "tce_mean": mean, "tce_upper": upper}
