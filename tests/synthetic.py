"""Valid results without PyMC, for the tests of everything that only presents them.

The draws are a genuine, if simple, posterior: logistic recalibration of simulated scores, Laplace
approximation at its mode, and Savage-Dickey ratio for the probability of calibration, the share of
draws in which the rates are the scores. Where asked for, the weights of descriptions of the curve
are made up: all but calibrated have these draws.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import wraps
from typing import Any

import numpy as np
import xarray as xr
from numpy.typing import NDArray
from scipy.special import expit, logit
from scipy.stats import binom, norm

from bayescal.core.quantity import CaseArrays
from bayescal.quantities.ece import VARIABLES
from bayescal.results.assemble import assemble

Array = NDArray[Any]

# (intercept, slope) of the score's logit where the truth is 2 x: from badly to well calibrated.
_TRUTHS = ((-0.5, 1.5), (-0.2, 1.9), (0.0, 4.0), (-0.05, 1.97), (0.0, 2.0))
_PRIOR_SD = 0.6
_N_CELLS = 50
_N_POINTS = 101

DESCRIPTIONS = ("calibrated", "smooth", "rough", "segments")
Weights = tuple[float, float, float]
"""Of smooth, rough and segments, relative to each other."""


def _once[**P](make: Callable[P, xr.DataTree]) -> Callable[P, xr.DataTree]:
    """Make a result of the same arguments once; each test has a copy that it may change."""
    made: dict[str, xr.DataTree] = {}

    @wraps(make)
    def copied(*given: P.args, **named: P.kwargs) -> xr.DataTree:
        key = repr((given, named))
        if key not in made:
            made[key] = make(*given, **named)
        return made[key].copy(deep=True)

    return copied


@_once
def make_result(
    classifiers: Sequence[str] = ("a", "b"),
    classes: Sequence[str] | None = None,
    groups: Sequence[str] | None = None,
    n_bins: int = 15,
    chains: int = 4,
    draws: int = 500,
    converged: bool = True,
    shape: Weights | None = None,
    p_calibrated: float | None = None,
    seed: int = 0,
    *,
    n: int = 2000,
    strategy: str = "quantile",
    score: str = "smooth",
    prior: bool = False,
) -> xr.DataTree:
    """Simulate scores, `n` rows a case, fit them simply and assemble a result.

    A dimension is there only with more than one value. If not converged, one chain of the first
    case sits elsewhere. By default the result is of no average over descriptions, and says itself
    how probable calibration is; the curve of segments jumps at the cells 20 and 35. Scores are
    "smooth", "rare", which leaves some of uniform bins empty, or "constant".
    """
    grid = [
        {"classifier": name, **({} if cls is None else {"class": cls}), **_group(group)}
        for name in classifiers
        for cls in classes or (None,)
        for group in groups or (None,)
    ]
    results = []
    for index, coords in enumerate(grid):
        rng = np.random.default_rng([seed, index])
        data = _simulate(rng, index, n, score)
        forced = index == 0 and not converged
        results.append(
            _case(coords, data, n_bins, strategy, (chains, draws), rng, forced, p_calibrated)
        )
        if shape is not None:
            results[-1] = _described(results[-1], shape)
        if prior:
            drawn = _prior_draws(results[-1], draws, rng)
            results[-1] = replace(results[-1], prior={**results[-1].prior, **drawn})
    return assemble(
        results,
        variables=VARIABLES,
        attrs=_attrs(classifiers, classes, groups, n_bins, chains, draws, strategy, seed, n)
        | _status(converged, grid[0])
        | ({} if shape is None else {"average_power": 0.35}),
        coords={} if shape is None else {"description": DESCRIPTIONS},
        error_correlation=_error_correlation(classifiers, classes, groups),
    )


def _group(group: str | None) -> dict[str, str]:
    return {} if group is None else {"group": group}


def _simulate(rng: np.random.Generator, index: int, n: int, score: str) -> tuple[Array, Array]:
    b0, b1 = _TRUTHS[index % len(_TRUTHS)]
    x = rng.normal(rng.choice([-1.0, 1.0], n), 1.0) - (2.5 if score == "rare" else 0.0)
    f = np.full(n, 0.3) if score == "constant" else expit(b0 + b1 * x)
    y = rng.random(n) < (0.4 if score == "constant" else expit(2 * x))
    order = np.argsort(f, kind="stable")
    return f[order], y[order].astype(np.uint8)


def _case(
    coords: dict[str, str],
    data: tuple[Array, Array],
    n_bins: int,
    strategy: str,
    shape: tuple[int, int],
    rng: np.random.Generator,
    forced: bool,
    p_calibrated: float | None,
) -> CaseArrays:
    score, event = data
    cell_of = np.arange(len(score)) * _N_CELLS // len(score)
    cell_n = np.bincount(cell_of, minlength=_N_CELLS)
    cell_score = np.bincount(cell_of, score) / cell_n
    k = np.bincount(cell_of, event, _N_CELLS).astype(int)
    basis = np.column_stack([np.ones(_N_CELLS), logit(cell_score)])
    mode, cov = _laplace(basis, k, cell_n)
    theta = rng.multivariate_normal(mode, cov, shape)
    if forced:
        theta[0] += 6 * np.sqrt(np.diag(cov))
    rate = expit(logit(cell_score) + theta @ basis.T)
    mass = rng.dirichlet(cell_n, shape)
    estimate = _estimate(score, event, n_bins, strategy)
    points = np.linspace(0, 1, _N_POINTS)[1:-1]
    curve = expit(logit(points) + theta @ np.stack([np.ones_like(points), logit(points)]))
    p0 = _savage_dickey(mode, cov) if p_calibrated is None else p_calibrated
    calibrated = _calibrated(p0, shape, int(cell_n @ (cell_score + k)))
    own = calibrated[..., None]
    drawn = np.where(own, cell_score, rate)
    given, average = (_measures(one, cell_score, mass, estimate, n_bins) for one in (rate, drawn))
    for name in ("ece", "tce", "mce", "gap"):
        average[name][calibrated] *= 0.0
    lp = norm.logpdf(theta, 0, _PRIOR_SD)
    return CaseArrays(
        coords=coords,
        posterior={**average, "calibration_curve": np.where(own, points, curve), "coef": theta},
        given_miscalibration={**given, "calibration_curve": curve},
        curve={
            "rate": drawn.astype(np.float32),
            "mass": mass.astype(np.float32),
            "component": np.where(calibrated, 0, 1).astype(np.int8),
        },
        prior={},
        sample_stats={
            "diverging": np.zeros(shape, bool),
            "energy": rng.normal(size=shape),
            "n_steps": np.full(shape, 3, np.uint64),
        },
        log_likelihood={"events": binom.logpmf(k, cell_n, drawn)},
        log_prior={"coef": lp},
        observed_data={"events": k},
        constant_data={"curve_score": points, "cell_count": cell_n, "cell_score": cell_score},
        point_estimate=estimate,
        bounds_attrs={
            "total_bias": {
                "kind": "upper bound on |E[ECE] - TCE|",
                "assumption": "the calibration curve is Lipschitz",
            }
        },
        bounds={"total_bias": (2 * n_bins / len(score)) ** 0.5, "optimal_n_bins": 12},
        model_average={"p_calibrated": p0},
        diagnostics={
            "rhat_max": 1.53 if forced else 1.002,
            "ess_min": 7.0 if forced else 1834.0,
            "divergences": 31 if forced else 0,
            "ebfmi_min": 0.9,
            "converged": not forced,
        },
    )


def _described(case: CaseArrays, shape: Weights) -> CaseArrays:
    """The same case under an average over descriptions."""
    p0 = float(np.asarray(case.model_average["p_calibrated"]))
    weight = np.array([p0, *((1 - p0) * np.array(shape) / sum(shape))])
    given = case.given_miscalibration
    errors = {name: np.asarray(given[name]) for name in ("ece", "tce", "mce")}
    points = np.asarray(case.constant_data["curve_score"])
    curve = np.asarray(given["calibration_curve"]).mean((0, 1))
    component = np.asarray(case.curve["component"]) * (1 + int(np.argmax(shape)))
    jumps = np.zeros(_N_CELLS)
    jumps[[20, 35]] = 0.9
    return replace(
        case,
        posterior={
            **{name: draws for name, draws in case.posterior.items() if name != "coef"},
            "description": component,
        },
        curve={**case.curve, "component": component.astype(np.int8)},
        log_prior={"curve": np.asarray(case.log_prior["coef"]).sum(axis=-1)},
        descriptions={
            name: np.stack([np.zeros_like(draws), draws, draws, draws], axis=-1)
            for name, draws in errors.items()
        },
        model_average={
            **case.model_average,
            "weight": weight,
            # Apart enough to be seen.
            "description_curve": np.stack([points, curve, 0.97 * curve, 0.94 * curve]),
            "jump_probability": jumps,
        },
    )


def _laplace(basis: Array, k: Array, n: Array) -> tuple[Array, Array]:
    """Mode and covariance of the logistic recalibration, by Newton steps."""
    theta = np.zeros(2)
    for _ in range(30):
        p = expit(basis[:, 1] + basis @ theta)
        precision = basis.T @ (basis * (n * p * (1 - p))[:, None]) + np.eye(2) / _PRIOR_SD**2
        theta = theta + np.linalg.solve(precision, basis.T @ (k - n * p) - theta / _PRIOR_SD**2)
    return theta, np.linalg.inv(precision)


def _savage_dickey(mode: Array, cov: Array) -> float:
    """Probability of a = c = 0, whose prior probability is 1/2."""
    log_posterior = -0.5 * (mode @ np.linalg.solve(cov, mode) + np.linalg.slogdet(cov)[1])
    return float(expit(log_posterior + np.log(_PRIOR_SD**2)))


def _calibrated(p0: float, shape: tuple[int, int], seed: int) -> Array:
    """Draws in which the classifier is calibrated, that share of them, in no order."""
    size = shape[0] * shape[1]
    return (np.random.default_rng(seed).permutation(size) < round(p0 * size)).reshape(shape)


def _measures(
    rate: Array, score: Array, mass: Array, estimate: Mapping[str, Array], n_bins: int
) -> dict[str, Array]:
    member = _bin_of(score, estimate["bin_edges"])
    bin_rate, bin_gap, bin_mass = _by_bin(rate, score, mass, member, n_bins)
    return {
        "ece": (bin_mass * np.abs(bin_gap)).sum(-1),
        "tce": (mass * np.abs(rate - score)).sum(-1),
        "mce": np.abs(bin_gap).max(-1),
        "label_rate": np.where(estimate["count"] > 0, bin_rate, np.nan),
        "gap": np.where(estimate["count"] > 0, bin_gap, np.nan),
    }


def _estimate(score: Array, event: Array, n_bins: int, strategy: str) -> dict[str, Array]:
    if strategy == "uniform":
        edges = np.linspace(0, 1, n_bins + 1)
    else:
        edges = np.concatenate([[0], np.quantile(score, np.arange(1, n_bins) / n_bins), [1]])
    member = _bin_of(score, edges)
    count = np.bincount(member, minlength=n_bins)
    positives = np.bincount(member, event, n_bins).astype(int)
    with np.errstate(invalid="ignore"):
        rate = positives / count
        confidence = np.where(
            count > 0, np.bincount(member, score, n_bins) / count, (edges[1:] + edges[:-1]) / 2
        )
    gap = rate - confidence
    mass = count / len(score)
    return {
        "ece": np.nansum(mass * np.abs(gap)),
        "mce": np.nanmax(np.abs(gap)),
        "label_rate": rate,
        "gap": gap,
        "confidence": confidence,
        "bin_mass": mass,
        "count": count,
        "positives": positives,
        "l2": np.sqrt(np.nansum(mass * gap**2)),
        "l2_debiased": np.sqrt(max(0.0, np.nansum(mass * gap**2) - 0.1 * n_bins / len(score))),
        "bin_edges": edges,
        "n": np.asarray(len(score)),
        "prevalence": np.asarray(event.mean()),
    }


def _bin_of(score: Array, edges: Array) -> Array:
    return np.clip(np.searchsorted(edges, score, side="left") - 1, 0, len(edges) - 2)


def _by_bin(
    rate: Array, score: Array, mass: Array, member: Array, n_bins: int
) -> tuple[Array, Array, Array]:
    onto = (member[:, None] == np.arange(n_bins)).astype(float)
    bin_mass = mass @ onto
    safe = np.where(bin_mass > 0, bin_mass, 1)
    bin_rate = (mass * rate) @ onto / safe
    return bin_rate, bin_rate - (mass * score) @ onto / safe, bin_mass


def _prior_draws(case: CaseArrays, draws: int, rng: np.random.Generator) -> dict[str, Array]:
    n = np.asarray(case.constant_data["cell_count"])
    score = np.asarray(case.constant_data["cell_score"])
    theta = rng.normal(0, _PRIOR_SD, (1, draws, 2))
    gap = np.abs(expit(logit(score) * (1 + theta[..., 1:]) + theta[..., :1]) - score)
    tce = (gap * n / n.sum()).sum(-1)
    return {"ece": 0.97 * tce, "tce": tce, "mce": gap.max(-1)}


def _error_correlation(
    classifiers: Sequence[str], classes: Sequence[str] | None, groups: Sequence[str] | None
) -> Mapping[str, xr.DataArray]:
    if len(classifiers) < 2:
        return {}
    k = len(classifiers)
    outer = {
        name: list(values)
        for name, values in (("class", classes or ()), ("group", groups or ()))
        if len(values) > 1
    }
    matrix = 0.6 + 0.4 * np.eye(k)
    return {
        "correlation": xr.DataArray(
            np.broadcast_to(matrix, (*map(len, outer.values()), k, k)).copy(),
            dims=(*outer, "classifier", "classifier_other"),
            coords={
                **outer,
                "classifier": list(classifiers),
                "classifier_other": list(classifiers),
            },
        )
    }


def _attrs(
    classifiers: Sequence[str],
    classes: Sequence[str] | None,
    groups: Sequence[str] | None,
    n_bins: int,
    chains: int,
    draws: int,
    strategy: str,
    seed: int,
    n: int,
) -> dict[str, Any]:
    return {
        "bayescal_version": "0.1.0",
        "quantity": "ece",
        "title": "Expected calibration error",
        "estimand": (
            "The mean absolute difference between the score of a row and the probability of a "
            "positive label given that score, over the population the rows were drawn from."
        ),
        "references": [
            {
                "key": "naeini2015",
                "citation": "Naeini, Cooper & Hauskrecht (2015). Obtaining well calibrated "
                "probabilities using Bayesian binning. AAAI.",
                "where": "section 'Calibration metrics'",
            }
        ],
        "data_hash": "sha256:0123456789abcdef",
        "n_obs": n,
        "n_labeled": n,
        "classifiers": list(classifiers),
        "classes": list(classes or ("0", "1")),
        "groups": list(groups or ()),
        "multiclass": "class-wise" if classes else "binary",
        "binning_strategy": strategy,
        "n_bins": n_bins,
        "closed": "right",
        "priors": {"intercept": "Normal(0, 0.6)", "slope": "Normal(0, 0.6)"},
        "prior_text": "Intercept and slope of the recalibration are normal, sd 0.6.",
        "method": "nuts",
        "sampler": "nutpie NUTS",
        "sampler_version": "0.16",
        "draws": draws,
        "chains": chains,
        "seed": seed,
        "prob": 0.9,
    }


def _status(converged: bool, first: Mapping[str, str]) -> dict[str, Any]:
    words = (
        f"{', '.join(first.values())}: R-hat 1.53 > 1.01, ESS 7 < 400, 31 divergences. "
        "Sample longer (tune=2000, draws=2000) or raise target_accept."
    )
    return {"status": "ok" if converged else words, "converged": converged}
