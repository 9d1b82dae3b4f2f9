"""Whether NUTS has converged: R-hat and effective sample sizes of many quantities at once."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.fft import irfft, next_fast_len, rfft
from scipy.special import ndtri

from bayescal.core.columns import Floats
from bayescal.results.schema import problems


class Health(NamedTuple):
    """Figures of one fit, worst case over its quantities."""

    rhat_max: float
    ess_min: float
    divergences: int
    ebfmi_min: float

    @property
    def converged(self) -> bool:
        """Whether the fit passes all checks."""
        return not problems(self._asdict())


def check(
    posterior: Sequence[NDArray[Any]], sample_stats: Sequence[Mapping[str, NDArray[Any]]]
) -> Health:
    """Judge draws (chain, draw, ...), of unequal numbers, with the statistics of each sampler."""
    by_size: dict[tuple[int, ...], list[NDArray[Any]]] = {}
    for values in posterior:
        shape = values.shape[:2]
        by_size.setdefault(shape, []).append(values.reshape(*shape, -1))
    figures = [_worst(np.concatenate(flat, axis=-1)) for flat in by_size.values()]
    return Health(
        rhat_max=max(rhat for rhat, _ in figures),
        ess_min=min(ess for _, ess in figures),
        divergences=sum(int(stats["diverging"].sum()) for stats in sample_stats),
        ebfmi_min=min((_ebfmi(stats["energy"]) for stats in sample_stats), default=np.nan),
    )


def _worst(draws: NDArray[Any]) -> tuple[float, float]:
    """Largest R-hat and least effective number of what varies, (chain, draw, quantity)."""
    varying = np.moveaxis(draws[..., np.ptp(draws, axis=(0, 1)) > 0], -1, 0)
    if not len(varying):
        return 1.0, float(draws.shape[0] * draws.shape[1])
    effective = np.minimum(ess_bulk(varying), ess_tail(varying))
    return float(rhat(varying).max()), float(effective.min())


def _ebfmi(energy: NDArray[Any]) -> float:
    """Mean squared change of the energy over its variance, the least of the chains."""
    changes = (np.diff(energy, axis=1) ** 2).mean(axis=1)
    return float(np.min(changes / energy.var(axis=1)))


def rhat(draws: Floats) -> Floats:
    """Rank-normalised split R-hat, the larger of that of the draws and of the folded draws.

    As ``arviz.rhat``, whose import takes as long as a fit, by A. Vehtari et al., Bayesian Analysis
    16(2), 2021, Eqs. (4), (14) and section 4.
    """
    if draws.shape[1] < 2:
        return np.full(len(draws), np.nan)
    halves = _halves(draws)
    folded = np.abs(halves - np.median(halves, axis=(1, 2), keepdims=True))
    return np.maximum(_split_rhat(_normal_scores(halves)), _split_rhat(_normal_scores(folded)))


def ess_bulk(draws: Floats) -> Floats:
    """Effective sample size for the centre of the distributions, (quantity,)."""
    return _ess(_normal_scores(_halves(draws)))


def ess_tail(draws: Floats) -> Floats:
    """Effective sample size for the 5% and 95% quantiles, the smaller one, (quantity,)."""
    cuts = np.quantile(draws, (0.05, 0.95), axis=(1, 2), keepdims=True)
    return np.minimum(*(_ess(_halves((draws <= cut).astype(float))) for cut in cuts))


def _halves(draws: Floats) -> Floats:
    """Each chain cut in two; of an odd number of draws the middle one is left out."""
    half = draws.shape[2] // 2
    return np.concatenate([draws[..., :half], draws[..., -half:]], axis=1)


def _normal_scores(draws: Floats) -> Floats:
    """Normal quantiles of the draws' ranks among all chains; equal draws share their mean rank."""
    flat = draws.reshape(len(draws), -1)
    order = np.argsort(flat, axis=1)
    ordered = np.take_along_axis(flat, order, axis=1)
    place = np.broadcast_to(np.arange(1.0, flat.shape[1] + 1), flat.shape)
    same = ordered[:, 1:] == ordered[:, :-1]
    first = np.maximum.accumulate(np.where(np.insert(same, 0, False, axis=1), 0, place), axis=1)
    ends = np.where(np.insert(same, same.shape[1], False, axis=1), np.inf, place)
    last = np.minimum.accumulate(ends[:, ::-1], axis=1)[:, ::-1]
    ranks = np.empty_like(flat)
    np.put_along_axis(ranks, order, (first + last) / 2, axis=1)
    return np.asarray(ndtri((ranks - 3 / 8) / (flat.shape[1] + 1 / 4)).reshape(draws.shape))


def _split_rhat(draws: Floats) -> Floats:
    n = draws.shape[2]
    between = n * draws.mean(axis=2).var(axis=1, ddof=1)
    within = draws.var(axis=2, ddof=1).mean(axis=1)
    # Draws of two values, as many of each, are equally far from the median: folded, a constant.
    ratio = np.divide(between, within, out=np.where(between > 0, np.inf, 0.0), where=within > 0)
    return np.asarray(np.sqrt((ratio + n - 1) / n))


def _ess(draws: Floats) -> Floats:
    """Effective sample size for the mean, by Geyer's initial monotone sequence."""
    _, chains, n = draws.shape
    covariance = _autocovariance(draws)
    within = covariance[:, :1] * n / (n - 1)
    total = covariance[:, :1] + draws.mean(axis=2).var(axis=1, ddof=1)[:, None]
    with np.errstate(invalid="ignore", divide="ignore"):
        correlation = 1 - (within - covariance) / total
    correlation[:, 0] = 1
    # Sums of neighbours are positive and fall with the lag; noise begins where they do not.
    last = max((n - 1) // 2, 1)
    pairs = correlation[:, : 2 * last].reshape(len(draws), last, 2)
    sums = pairs.sum(axis=2)
    noise = sums <= 0
    noise[:, -1] = True
    stop = noise.argmax(axis=1)
    kept = np.where(np.arange(last) < stop[:, None], np.minimum.accumulate(sums, axis=1), 0)
    tail = np.maximum(pairs[np.arange(len(draws)), stop, 0], 0)
    size = chains * n
    time = np.maximum(2 * kept.sum(axis=1) - 1 + tail, 1 / np.log10(size))
    constant = np.ptp(draws, axis=(1, 2)) < np.finfo(float).resolution
    return np.where(constant, float(size), size / time)


def _autocovariance(draws: Floats) -> Floats:
    """Autocovariance by lag, (quantity, lag), mean over chains."""
    n = draws.shape[2]
    padded = next_fast_len(2 * n, real=True)
    spectrum = rfft(draws - draws.mean(axis=2, keepdims=True), padded)
    # The mean over chains may be taken first: the transform is linear.
    power = (np.abs(spectrum) ** 2).mean(axis=1)
    return np.asarray(irfft(power, padded)[:, :n] / n)
