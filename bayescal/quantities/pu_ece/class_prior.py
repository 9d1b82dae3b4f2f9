"""The class prior: its bounds, whether the data allow it, and what follows from it."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from scipy.interpolate import PchipInterpolator
from scipy.special import ndtr

from bayescal.core.checks import check_data, check_flag, check_number
from bayescal.core.columns import Floats
from bayescal.core.errors import InputError
from bayescal.core.functionals import expected_calibration_error
from bayescal.core.priors import Beta
from bayescal.curves.priors import CurveAverage, SmoothCurve
from bayescal.quantities.pu_ece.data import PUProblem, PUScores
from bayescal.quantities.pu_ece.estimator import of_counts
from bayescal.quantities.pu_ece.models.average import CaseControlAverage
from bayescal.quantities.pu_ece.priors import PriorMap, Priors


class ClassPriorEstimate(NamedTuple):
    """What scores of positive and unlabelled rows say of the share of positives."""

    estimate: float  #: Share of positives among the unlabelled rows, in [0, 1].
    lower: float  #: Interval of probability 1 - delta.
    upper: float  #: Its upper end.
    prior: Beta  #: For `Priors`.
    threshold: float  #: Least score of the best bin.


def estimate_class_prior(
    data: PUScores, *, pure: bool = True, delta: float = 0.1, gamma: float = 0.01
) -> ClassPriorEstimate:
    """Estimate and bound the share of positives among the unlabelled rows, by the best bin.

    Parameters
    ----------
    data : PUScores
        Scores of one classifier that was not trained on these rows.
    pure : bool, default True
        Whether the best bin holds positives only. If not, `lower` is 0, the prior nearly flat.
    delta : float, in (0, 1), default 0.1
        How improbable it may be that the interval fails.
    gamma : float, above 0, default 0.01
        How much more than its bound the noise counts in the choice of the bin, [1]_.

    Returns
    -------
    ClassPriorEstimate
        Estimate, interval and a Beta prior for `Priors`.

    Raises
    ------
    InputError
        If there is more than one classifier, a number lies outside its range, or the rows show that
        the best bin is not pure: `lower` would not be below `upper`.

    Notes
    -----
    Of a threshold c, let P(c) and U(c) be the shares of positives and of unlabelled rows that score
    c or more. Since ``U(c) = pi P(c) + (1 - pi) N(c)``, the ratio U(c) / P(c) is at least pi, and
    equal to it where no negative scores c or more. [1]_ Algorithm 1 takes the ratio at the c that
    makes its upper confidence bound least::

        (U(c) + (1 + gamma) (e_P + e_U)) / P(c),   e_n = sqrt(ln(4 / delta) / (2 n))

    By the inequality of Dvoretzky, Kiefer, Wolfowitz and Massart, P and U are known to e_P and e_U
    at all thresholds at once, with probability ``1 - delta``. So the least of
    ``(U(c) + e_U) / (P(c) - e_P)`` over all c is not below pi, whichever c is chosen: the
    irreducible upper bound. And ``(U(c) - e_U) / (P(c) + e_P)`` at the best bin is not above pi if
    that bin is pure. Positives and unlabelled rows alone cannot show whether it is: a part of the
    negatives that looks like positives counts as positive. So `lower` is an assumption, to be
    replaced by what is known from elsewhere, and `estimate`, which rests on it too, may lie above
    `upper`. On `bayescal.datasets.pu_ece`, where no score is of positives only, the interval covers
    in 93 to 98 of 100 samples at a class prior of .5, but in 52 to 86 at .2, always failing below:
    there, set ``pure=False``.

    A classifier that has seen the rows separates them too well, and the estimate comes out low.

    References
    ----------
    .. [1] S. Garg et al., NeurIPS 2021, Algorithm 1. https://arxiv.org/abs/2111.00980
    .. [2] P. Massart, Annals of Probability 18(3), 1990. https://doi.org/10.1214/aop/1176990746

    Examples
    --------
    >>> import numpy as np
    >>> import bayescal as bc
    >>> from bayescal.quantities.pu_ece.class_prior import estimate_class_prior
    >>> rng = np.random.default_rng(1)  # positives anywhere, negatives below 0.5
    >>> unlabeled = np.concatenate([rng.random(400), rng.random(1600) / 2])
    >>> found = estimate_class_prior(bc.PUScores(positive=rng.random(1000), unlabeled=unlabeled))
    >>> round(found.estimate, 2), round(found.lower, 2), round(found.upper, 2)
    (0.2, 0.13, 0.29)
    """
    check_data(data, (PUScores,), "estimate_class_prior", "PUScores(positive=..., unlabeled=...)")
    check_number(delta, "delta", "(0, 1)")
    check_number(gamma, "gamma", "(0, inf)", "Pass 0.01.")
    check_flag(pure, "pure")
    if data.n_classifiers != 1:
        raise InputError(
            f"the class prior is estimated from one classifier; got {data.n_classifiers}. "
            "Take one of them with select(name)."
        )
    positive, unlabeled = (np.sort(s[0]) for s in (data.positive, data.unlabeled))
    # The shares change at scores only; above the largest positive the ratio does not exist.
    thresholds = np.unique(np.concatenate([positive, unlabeled[unlabeled <= positive[-1]]]))
    # Shares at or above each threshold.
    in_p, in_u = (1 - np.searchsorted(s, thresholds) / len(s) for s in (positive, unlabeled))
    e_p, e_u = (math.sqrt(math.log(4 / delta) / (2 * len(s))) for s in (positive, unlabeled))
    best = int(np.argmin((in_u + (1 + gamma) * (e_p + e_u)) / in_p))
    lower = max(0.0, float((in_u[best] - e_u) / (in_p[best] + e_p))) if pure else 0.0
    sure = in_p > e_p
    upper = min(1.0, float(((in_u[sure] + e_u) / (in_p[sure] - e_p)).min(initial=1.0)))
    if lower >= upper:
        raise InputError(
            f"scores from {thresholds[best]:.3g} on, the best bin, must be of positives only "
            f"(pure=True); they would need a class prior from {lower:.3g} on, and other scores "
            f"allow none above {upper:.3g}. Pass pure=False, or a class prior known otherwise."
        )
    return ClassPriorEstimate(
        estimate=min(1.0, float(in_u[best] / in_p[best])),
        lower=lower,
        upper=upper,
        prior=_prior(lower, upper, delta),
        threshold=float(thresholds[best]),
    )


def _prior(lower: float, upper: float, delta: float) -> Beta:
    tail = delta / 2
    low = lower if lower > 0 else tail * upper
    high = upper if upper < 1 else 1 - tail * (1 - lower)
    return Beta.from_interval(low, high, mass=1 - delta)


# Below the first there is a warning; below the second there is nothing left to fit.
SUSPECT = 0.01
IMPOSSIBLE = 1e-6
# Standard deviations that the class prior of a classifier near calibration seldom moves.
_MOVED = 1.0
# The least class prior that the prior allows: 1 in 1000 is below it.
_LEAST = -3.09


class Excess(NamedTuple):
    """The bin where the positives exceed most what the unlabelled rows can hold."""

    bin: int
    expected: float
    held: float
    p_value: float


def excess(problem: PUProblem, class_prior: float) -> Excess:
    """Find the bin that contradicts a class prior most."""
    n_positive, n_unlabeled = problem.n_positive, problem.n_unlabeled
    r = problem.positive_in_bins() / n_positive
    q = problem.unlabeled.bins.count / n_unlabeled
    # Half a row more keeps the variance of an empty bin off 0.
    spread_r, spread_q = (
        ((share * n + 0.5) / (n + 1)) * (1 - (share * n + 0.5) / (n + 1)) / n
        for share, n in ((r, n_positive), (q, n_unlabeled))
    )
    z = (class_prior * r - q) / np.sqrt(class_prior**2 * spread_r + spread_q)
    worst = int(z.argmax())
    p_value = min(1.0, len(z) * float(ndtr(-z[worst])))
    return Excess(worst, float(class_prior * r[worst]), float(q[worst]), p_value)


def check_possible(problem: PUProblem, priors: Priors) -> None:
    """Refuse a class prior that the data rule out altogether."""
    least = float(PriorMap.of(priors.class_prior)(np.asarray(_LEAST)))
    found = excess(problem, least)
    if found.p_value < IMPOSSIBLE:
        raise InputError(
            f"the class prior must leave each bin no more positives than rows; "
            f"{_where(problem, found)} holds {found.held:.3g} of the unlabelled rows, and a class "
            f"prior of {least:.3g}, the least that its prior allows, needs {found.expected:.3g}. "
            "Pass a class prior with mass below, or check that the positives are a random sample "
            "of the positives among the unlabelled rows (SCAR)."
        )


def data_warnings(problem: PUProblem, priors: Priors) -> list[str]:
    """Warn where the positives do not look drawn from the unlabelled rows."""
    found = excess(problem, priors.class_prior_mean)
    if found.p_value >= SUSPECT:
        return []
    return [
        "SCAR or the class prior does not fit the data: at a class prior of "
        f"{priors.class_prior_mean:.3g} {_where(problem, found)} should hold "
        f"{found.expected:.3g} of the unlabelled rows as positives, and holds "
        f"{found.held:.3g} in all (p = {found.p_value:.2g}). Check how the positives were "
        "selected, and try a smaller class prior."
    ]


def moved(priors: Priors, drawn: Floats, normal: Floats) -> list[str]:
    """Say so where the posterior of the class prior is far from its prior.

    `normal` holds its draws as standard normal ones of the prior.
    """
    off = float(normal.mean())
    if abs(off) <= _MOVED:
        return []
    return [
        f"the class prior has moved from {priors.class_prior_mean:.3g} to {drawn.mean():.3g} "
        f"({abs(off):.1f} standard deviations of its prior). Positive and unlabelled rows only "
        "bound it from above; beyond that, the prior of the curve moves it towards class priors "
        "at which the scores are nearer to calibration. If you know it better than that, pass a "
        "narrower prior or a number; compare the errors at each class prior in `sensitivity`."
    ]


def _where(problem: PUProblem, found: Excess) -> str:
    """Name a bin and its classifier."""
    low, high = problem.unlabeled.bins.edges[found.bin : found.bin + 2]
    return (
        f"the bin of scores from {low:.3g} to {high:.3g} of "
        f"{problem.unlabeled.coords['classifier']!r}"
    )


POINTS = 41
# Known class priors at which the posterior is computed, at least and by how far they reach: the
# error bends where scores are nearest to calibration, within a tenth or so.
NODES, _APART = 5, 0.125
_DRAWS = 400
_TAIL = 0.05
# A class prior is varied this far, relatively, even if it is declared known.
_OFF = 0.15
# And up to where all but 1 in 100 of its prior lies on either side.
_FAR = 2.33


def class_prior_curve(
    problem: PUProblem,
    priors: Priors,
    rng: np.random.Generator,
    near: CaseControlAverage | None = None,
) -> dict[str, Floats]:
    """Compute the error at class priors around the mean of their prior; `near` is its model."""
    grid = _grid(priors)
    bins, positive = problem.unlabeled.bins, problem.positive_in_bins()
    ece = np.array([of_counts(bins, positive, pi).ece for pi in grid])
    mean = priors.class_prior_mean
    centre = of_counts(bins, positive, mean).ece
    found = {
        "class_prior": grid,
        "ece": ece,
        "envelope_lower": np.maximum(centre - np.abs(grid - mean), 0),
        "envelope_upper": centre + np.abs(grid - mean),
    }
    if isinstance(priors.label_rate, CurveAverage | SmoothCurve):
        found |= _posterior(problem, priors.label_rate, grid, rng, near)
    return found


def _grid(priors: Priors) -> Floats:
    """Class priors to look at, about the mean."""
    mean = priors.class_prior_mean
    tails = PriorMap.of(priors.class_prior)(np.array([-_FAR, _FAR]))
    low = min(tails[0], mean * (1 - _OFF))
    high = max(tails[1], mean + _OFF * min(mean, 1 - mean))
    return np.linspace(low, high, POINTS)


def _posterior(
    problem: PUProblem,
    prior: CurveAverage | SmoothCurve,
    grid: Floats,
    rng: np.random.Generator,
    near: CaseControlAverage | None,
) -> dict[str, Floats]:
    """Mean and 90% interval at a few class priors, interpolated."""
    middle = max(NODES // 2, math.ceil((grid[-1] - grid[0]) / (2 * _APART)))
    nodes = np.linspace(grid[0], grid[-1], 2 * middle + 1)
    models: dict[int, CaseControlAverage] = {}
    # From the middle outwards: each begins where its neighbour is.
    for place in sorted(range(len(nodes)), key=lambda place: abs(place - middle)):
        models[place] = CaseControlAverage.joined(
            problem,
            prior,
            float(nodes[place]),
            calibrated=0.0,
            near=models.get(place - np.sign(place - middle), near),
        )
    rates, masses = [], []
    for _, model in sorted(models.items()):
        found = model.population(model.direct_posterior(_DRAWS, rng))
        rates.append(found.rates[0])
        masses.append(model.masses(found, model.draw_gammas((1, _DRAWS), rng))[0])
    numbers = _between(problem.cells.mean_score, nodes, rates, masses, grid)
    return dict(zip(("tce_lower", "tce_mean", "tce_upper"), numbers.T, strict=True))


def _between(
    score: Floats, nodes: Floats, rates: list[Floats], masses: list[Floats], grid: Floats
) -> Floats:
    """Interval and mean of the error between class priors with draws of (draw, cell), (point, 3).

    The error has a kink where the curve, which has none, meets the scores. Draws are those of the
    nodes on either side, about means and with standard deviations that follow the class prior.
    """
    moments = np.stack([(one.mean(axis=0), one.std(axis=0)) for one in rates])
    right = np.clip(np.searchsorted(nodes, grid), 1, len(nodes) - 1)
    share, found = (grid - nodes[right - 1]) / (nodes[right] - nodes[right - 1]), []
    every = PchipInterpolator(nodes, moments)(grid)
    for class_prior, at, k, t in zip(grid, every, right, share, strict=True):
        ends = []
        for node in (k - 1, k):
            own, spread = moments[node]
            scale = np.divide(at[1], spread, out=np.ones_like(spread), where=spread > 0)
            moved = np.clip(at[0] + scale * (rates[node] - own), 0, 1)
            # The mean label rate of each draw is the class prior.
            mean = np.vecdot(masses[node], moved)[:, None]
            moved = np.minimum(moved * (class_prior / np.maximum(mean, 1e-300)), 1)
            tce = expected_calibration_error(masses[node], moved, score)
            ends.append([*np.quantile(tce, [_TAIL, 1 - _TAIL]), tce.mean()])
        found.append((1 - t) * np.array(ends[0]) + t * np.array(ends[1]))
    return np.array(found)[:, [0, 2, 1]]
