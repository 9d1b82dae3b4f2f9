"""Vector scaling with learned scales: its evidence and its draws by nested Laplace approximation.

The calibrated logits are ``exp(log_coef) * z + shift``, a number and a shift for each logit z of
the row, less the mean of the row. ``log_coef ~ Normal(mu, t)`` and ``shift ~ Normal(0, s)``. Given
the scales t and s on a grid the posterior is close to normal around its mode.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import cho_factor, cho_solve, cholesky, solve_triangular
from scipy.special import log_softmax, logsumexp, softmax
from scipy.stats import halfnorm

from bayescal.core.quantity import Floats
from bayescal.quantities.temperature.logits import Integers
from bayescal.quantities.temperature.priors import Priors

if TYPE_CHECKING:
    from bayescal.quantities.temperature.data import Problem
    from bayescal.quantities.temperature.many_rows import CountedRows

SCALINGS: Final = 128
"""Draws of vector scaling that stand for all."""
# Scales of the grid, in standard deviations of their priors.
_GRID: Final = np.exp(np.linspace(np.log(0.06), np.log(3), 6))
# The parabola serves for a step whose length d, in standard deviations of the posterior, leaves an
# error of about d**3 / sqrt(rows) in the log posterior, if that is at most this.
_NEAR: Final = 0.05
_MOST_STEPS: Final = 50
_SMALLEST_STEP: Final = 1e-6
# A logit further below the largest does not move the mean of its row.
_DEEPEST: Final = -50.0
# Numbers of a block of rows, and rows that a first mode is sought with.
_BLOCK: Final = 1 << 17
_FIRST_ROWS: Final = 1 << 16


@dataclass(frozen=True, slots=True, eq=False)
class Total:
    """An array that adds up."""

    value: NDArray[np.float64]

    def plus(self, other: Total) -> Total:
        """Add that of other rows."""
        return Total(self.value + other.value)


type LabeledLogits = CentredRows | CountedRows
"""Labelled rows, which can be gone through again and again."""


@dataclass(frozen=True, slots=True, eq=False)
class CentredRows:
    """Labelled rows in memory."""

    logits: Floats  # (obs, class): less the mean of their row
    label: Integers  # (obs,)
    weight: Floats | None = None  # (obs,): as how many rows each counts

    @classmethod
    def of(cls, logits: Floats, label: Integers, weight: Floats | None = None) -> CentredRows:
        """Centre logits."""
        return cls(centred(logits), label, weight)

    @property
    def n(self) -> int:
        """Number of rows."""
        return len(self.label)

    @property
    def n_classes(self) -> int:
        """Number of classes."""
        return int(self.logits.shape[1])

    def sums(self, point: Floats) -> Total:
        """Sum blocks of rows up."""
        size = max(1, _BLOCK // self.n_classes)
        total = np.zeros(1 + 2 * self.n_classes + 4 * self.n_classes**2)
        for start in range(0, self.n, size):
            at = slice(start, start + size)
            weight = None if self.weight is None else self.weight[at]
            total += _part(self.logits[at], self.label[at], point, weight)
        return Total(total)

    def every(self, step: int) -> CentredRows:
        """Every so many rows, from the first on."""
        weight = None if self.weight is None else self.weight[::step]
        return CentredRows(self.logits[::step], self.label[::step], weight)


class Parabola(NamedTuple):
    """Log likelihood near a point: its value, gradient and information there."""

    point: Floats  # (2 class,): log coefs, then shifts
    value: float
    slope: Floats  # (2 class,)
    information: Floats  # (2 class, 2 class): positive semi-definite
    bend: Floats  # (2 class,): what the curvature has beyond it, on the diagonal

    def at(self, step: Floats) -> float:
        """Value at a step from the point."""
        return float(self.value + step @ self.slope - step @ self.curvature @ step / 2)

    @property
    def curvature(self) -> Floats:
        """Minus the second derivatives."""
        return np.asarray(self.information + np.diag(self.bend))


class Normal(NamedTuple):
    """Normal distribution with the upper Cholesky factor of its precision."""

    mean: Floats
    factor: Floats

    def draw(self, draws: int, rng: np.random.Generator) -> Floats:
        """Draw points, (draw, 2 class)."""
        noise = rng.standard_normal((len(self.mean), draws))
        return np.asarray(self.mean + solve_triangular(self.factor, noise, check_finite=False).T)


@dataclass(frozen=True, slots=True, eq=False)
class VectorPosterior:
    """Posterior of vector scaling; made by `vector_posterior`."""

    parts: tuple[Normal, ...]  # one for each pair of scales
    scales: Floats  # (part, 2): of log coefs and of shifts
    share: Floats  # (part,)
    log_evidence: float
    priors: Priors

    def draw(self, draws: int, rng: np.random.Generator) -> dict[str, Floats]:
        """Draw log coefs and shifts, (draw, class), their mean and their scales, (draw,)."""
        count = rng.multinomial(draws, self.share)
        drawn = [part.draw(size, rng) for part, size in zip(self.parts, count, strict=True) if size]
        order = rng.permutation(draws)
        coef, shift = np.split(np.concatenate(drawn)[order], 2, axis=1)
        of_coef, of_shift = np.repeat(self.scales, count, axis=0)[order].T
        precision = self.priors.mu.sigma**-2 + coef.shape[1] * of_coef**-2
        pull = self.priors.mu.mu * self.priors.mu.sigma**-2 + coef.sum(axis=1) * of_coef**-2
        mean = rng.normal(pull / precision, precision**-0.5)
        return {
            "log_coef": coef,
            "shift": shift,
            "coef_mu": mean,
            "coef_tau": of_coef,
            "shift_tau": of_shift,
        }


def centred(logits: Floats) -> Floats:
    """Logits less the mean of their row, which a softmax does not show, (obs, class)."""
    gap = np.maximum(logits - logits.max(axis=1, keepdims=True), _DEEPEST)
    return np.asarray(gap - gap.mean(axis=1, keepdims=True))


def scaled_probabilities(logits: Floats, log_coef: Floats, shift: Floats) -> Floats:
    """Class probabilities of centred logits by vector scaling, (obs, class)."""
    return np.asarray(softmax(np.exp(log_coef) * logits + shift, axis=1))


@dataclass(frozen=True, slots=True, eq=False)
class Scalings:
    """Draws of vector scaling, and its posterior probability."""

    log_coef: Floats  # (draw, class)
    shift: Floats  # (draw, class)
    weight: float

    def thinned(self, draws: int) -> Scalings:
        """At most so many draws, evenly spaced."""
        kept = len(self.shift)
        at = np.linspace(0, kept - 1, min(draws, kept)).astype(np.intp)
        return Scalings(self.log_coef[at], self.shift[at], self.weight)

    def mean_probabilities(self, logits: Floats) -> Floats:
        """Mean of the class probabilities of rows, (obs, class)."""
        rows, found = centred(logits), np.zeros_like(logits)
        for coef, shift in zip(self.log_coef, self.shift, strict=True):
            found += scaled_probabilities(rows, coef, shift)
        return found / len(self.shift)


def scaled_confidences(
    part: Problem, scalings: Scalings, per_weight: Floats
) -> tuple[Floats, Floats]:
    """Probabilities of the predicted class, and log likelihood by class, of each draw."""
    rows, predicted, label = centred(part.logits), part.predicted, part.label
    place, known, n_classes = np.arange(len(rows)), part.known, part.n_classes
    weight = part.effective(per_weight)
    at = np.empty((len(scalings.shift), len(rows)))
    fit = np.empty((len(scalings.shift), n_classes))
    for number, (coef, shift) in enumerate(zip(scalings.log_coef, scalings.shift, strict=True)):
        prob = scaled_probabilities(rows, coef, shift)
        at[number] = prob[place, predicted]
        given = np.log(np.maximum(prob[known, label[known]], np.finfo(float).tiny))
        given = given if weight is None else weight[known] * given
        fit[number] = np.bincount(predicted[known], given, n_classes)
    return at, fit


def prior_scaling(
    n_classes: int, priors: Priors, draws: int, rng: np.random.Generator
) -> dict[str, Floats]:
    """Draw numbers and shifts before any label counts, as `VectorPosterior.draw` does."""
    mean = rng.normal(priors.mu.mu, priors.mu.sigma, draws)
    of_coef = np.abs(rng.normal(0, priors.tau.sigma, draws))
    of_shift = np.abs(rng.normal(0, priors.shift.sigma, draws))
    return {
        "log_coef": rng.normal(mean[:, None], of_coef[:, None], (draws, n_classes)),
        "shift": rng.normal(0, of_shift[:, None], (draws, n_classes)),
        "coef_mu": mean,
        "coef_tau": of_coef,
        "shift_tau": of_shift,
    }


def vector_posterior(rows: LabeledLogits, priors: Priors) -> VectorPosterior:
    """Posterior of vector scaling of labelled rows."""
    scales = priors.tau.sigma * _GRID, priors.shift.sigma * _GRID
    near = _first_parabola(rows, priors, scales)
    fitted = []
    for place, of_coef in enumerate(scales[0]):
        # To and fro: neighbours of the grid have modes near each other.
        for of_shift in scales[1][:: -1 if place % 2 else 1]:
            prior = _precision(rows.n_classes, priors, of_coef, of_shift)
            part, fit, near = _laplace(rows, prior, near)
            fitted.append((part, (of_coef, of_shift), fit))
    parts, pairs, fits = zip(*fitted, strict=True)
    found = np.array(pairs)
    # The density of the logarithm of a scale is that of the scale times the scale.
    before = halfnorm.logpdf(found, scale=[priors.tau.sigma, priors.shift.sigma]) + np.log(found)
    logs = np.array(fits) + log_softmax(before.sum(axis=1))
    share = softmax(logs)
    return VectorPosterior(parts, found, share, float(logsumexp(logs)), priors)


class _Prior(NamedTuple):
    mean: Floats
    precision: Floats
    log_root: float  # half the logarithm of its determinant

    def exponent(self, point: Floats) -> float:
        apart = point - self.mean
        return float(-apart @ self.precision @ apart / 2)


def _precision(n_classes: int, priors: Priors, of_coef: float, of_shift: float) -> _Prior:
    """Normal prior given the scales, with the shared mean integrated out."""
    shared = priors.mu.sigma**2
    variance = np.zeros((2 * n_classes, 2 * n_classes))
    variance[:n_classes, :n_classes] = shared
    variance += np.diag(np.repeat([of_coef**2, of_shift**2], n_classes))
    root = cholesky(variance)
    mean = np.repeat([priors.mu.mu, 0.0], n_classes)
    return _Prior(mean, cho_solve((root, False), np.eye(len(mean))), -np.log(np.diag(root)).sum())


def _first_parabola(rows: LabeledLogits, priors: Priors, scales: tuple[Floats, Floats]) -> Parabola:
    """A parabola to start from; of many rows that of the mode of some."""
    n_classes = rows.n_classes
    start = np.repeat([priors.mu.mu, 0.0], n_classes)
    if rows.n > 2 * _FIRST_ROWS:
        prior = _precision(n_classes, priors, scales[0][0], scales[1][0])
        some = rows.every(rows.n // _FIRST_ROWS)
        start = _laplace(some, prior, parabola(some, start))[2].point
    return parabola(rows, start)


def _laplace(rows: LabeledLogits, prior: _Prior, near: Parabola) -> tuple[Normal, float, Parabola]:
    """Normal approximation of the posterior, its log integral, and the parabola it rests on."""
    near_enough = (_NEAR**2 * rows.n) ** (1 / 3)
    for _ in range(_MOST_STEPS):
        factor = cho_factor(near.information + prior.precision, check_finite=False)
        downhill = near.slope - prior.precision @ (near.point - prior.mean)
        step = cho_solve(factor, downhill, check_finite=False)
        if step @ downhill < near_enough:
            break
        near = _moved(rows, prior, near, step)
    root = _root(near.curvature + prior.precision, near.information + prior.precision)
    mean = near.point + step
    fit = near.at(step) + prior.exponent(mean) + prior.log_root - np.log(np.diag(root)).sum()
    return Normal(mean, root), float(fit), near


def _root(precision: Floats, safe: Floats) -> Floats:
    """Upper Cholesky factor; of the safe matrix where the first is not positive definite."""
    try:
        return np.asarray(cholesky(precision, check_finite=False))
    except np.linalg.LinAlgError:
        return np.asarray(cholesky(safe, check_finite=False))


def _moved(rows: LabeledLogits, prior: _Prior, near: Parabola, step: Floats) -> Parabola:
    """The parabola after a step, halved until the posterior does not fall."""
    least = near.value + prior.exponent(near.point)
    size = 1.0
    while True:
        found = parabola(rows, near.point + size * step)
        if found.value + prior.exponent(found.point) >= least or size < _SMALLEST_STEP:
            return found
        size /= 2


def parabola(rows: LabeledLogits, point: Floats) -> Parabola:
    """Log likelihood of vector scaling at a point, with its derivatives."""
    value, *found = rows.sums(point).value
    slope, information = np.split(np.array(found), [2 * rows.n_classes])
    bend = np.append(-slope[: rows.n_classes], np.zeros(rows.n_classes))
    square = information.reshape(len(slope), len(slope))
    return Parabola(point, float(value), slope, square, bend)


def _part(rows: Floats, label: Integers, point: Floats, weight: Floats | None) -> Floats:
    """Value, gradient and information of some rows, one after the other."""
    one = np.ones(len(label)) if weight is None else weight
    log_coef, shift = np.split(point, 2)
    place = np.arange(len(label))
    scaled = np.exp(log_coef) * rows
    prob = scaled + shift
    prob -= prob.max(axis=1, keepdims=True)
    value = one @ prob[place, label]
    np.exp(prob, out=prob)
    total = prob.sum(axis=1)
    value -= one @ np.log(total)
    prob /= total[:, None]
    # Derivatives of each row's log total by the log coefs, then by the shifts.
    moves = np.hstack([prob * scaled, prob])
    weighed = moves if weight is None else one[:, None] * moves
    sums = weighed.sum(axis=0)
    true = one * scaled[place, label]
    right = np.append(
        np.bincount(label, true, rows.shape[1]), np.bincount(label, one, rows.shape[1])
    )
    corner = np.einsum("ij,ij->j", weighed[:, : rows.shape[1]], scaled)
    side, last = np.split(sums, 2)
    information = np.block([[np.diag(corner), np.diag(side)], [np.diag(side), np.diag(last)]])
    information -= moves.T @ weighed
    return np.concatenate([[value], right - sums, information.ravel()])
