"""Posterior of calibration errors by class: temperatures, and how far accuracies follow them.

The accuracy of the rows of a predicted class in a bin of confidence has a Beta prior around the
accuracy that a draw of the temperatures implies, worth a number of rows that is the same in every
cell and has a posterior of its own. With infinitely many the temperatures are relied on alone.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import betaln, xlog1py, xlogy

from bayescal.core.bins.binning import Binning
from bayescal.core.calibration_curve.problem import draw_masses
from bayescal.core.quantity import Floats
from bayescal.quantities.temperature.errors import bin_of
from bayescal.quantities.temperature.loss import Integers

# Accuracies nearer to 0 or 1 are taken as this.
_LEAST: Final = 1e-12


class ErrorDraws(NamedTuple):
    """Draws of calibration errors."""

    ece: Floats
    max_ece: Floats
    avg_ece: Floats
    class_ece: Floats


@dataclass(frozen=True, slots=True, eq=False)
class CellSums:
    """Sums over rows by predicted class and bin of confidence; those of two parts add up.

    Cells are numbered class by class.
    """

    n_bins: int
    rows: Floats  # (cell,): the weights of rows with and without labels, 1 each if they have none
    squares: Floats  # (cell,): those weights squared
    labeled: Floats  # (cell,): the weights of labelled rows
    labeled_squares: Floats  # (cell,)
    correct: Floats  # (cell,)
    score: Floats  # (cell,): of the confidences
    labeled_score: Floats  # (cell,): of those of labelled rows
    values: tuple[Floats, ...]  # (draw, cell): of what draws give each row

    @classmethod
    def of(
        cls,
        score: Floats,
        predicted: Integers,
        label: Integers,
        n_classes: int,
        binning: Binning,
        values: Sequence[Floats] = (),
        weight: Floats | None = None,
    ) -> CellSums:
        """Sum rows up, and values of theirs of shape (draw, obs)."""
        # A part of the rows may have none, and so no effective number of them.
        given = weight if len(score) else None
        n_bins = len(binning.edges(score, given)) - 1
        place = predicted * n_bins + bin_of(score, binning, given)

        def total(values: NDArray[Any]) -> Floats:
            return np.bincount(place, values if weight is None else weight * values, size)

        size = n_classes * n_bins
        one = np.ones(len(score)) if weight is None else weight
        known = label >= 0
        return cls(
            n_bins,
            np.bincount(place, one, size),
            total(one),
            total(known),
            total(known * one),
            total(label == predicted),
            total(score),
            total(np.where(known, score, 0.0)),
            tuple(np.stack([total(each) for each in draws]) for draws in values),
        )

    def plus(self, other: CellSums) -> CellSums:
        """Join with the sums of other rows."""
        return CellSums(
            self.n_bins,
            self.rows + other.rows,
            self.squares + other.squares,
            self.labeled + other.labeled,
            self.labeled_squares + other.labeled_squares,
            self.correct + other.correct,
            self.score + other.score,
            self.labeled_score + other.labeled_score,
            tuple(one + two for one, two in zip(self.values, other.values, strict=True)),
        )

    def cells(self) -> Cells:
        """Cells with rows."""
        held = np.flatnonzero(self.rows)
        mass, known = self.rows[held], self.per_weight[held]
        return Cells(
            held // self.n_bins,
            held % self.n_bins,
            mass,
            mass * (mass / self.squares[held]),
            self.labeled[held] * known,
            self.correct[held] * known,
            self.score[held] / mass,
        )

    @property
    def per_weight(self) -> Floats:
        """Effective labelled rows per unit of their weight, (cell,); 1 without weights."""
        squares = self.labeled_squares
        return np.divide(self.labeled, squares, out=np.zeros_like(squares), where=squares > 0)

    def means(self) -> list[Floats]:
        """Means of the values in cells with rows, (draw, cell) each."""
        held = np.flatnonzero(self.rows)
        return [total[:, held] / self.rows[held] for total in self.values]


@dataclass(frozen=True, slots=True, eq=False)
class Cells:
    """Rows of each predicted class in each bin of its confidence, without empty ones."""

    of: Integers  # (cell,): the class
    bin: Integers  # (cell,)
    mass: Floats  # (cell,): weight of rows with and without labels
    rows: Floats  # (cell,): their effective number, (sum w)**2 / sum w**2
    labeled: Floats  # (cell,): effective number of labelled rows
    correct: Floats  # (cell,): that times the share of correct predictions
    score: Floats  # (cell,): mean confidence


class Implied(NamedTuple):
    """What draws imply of the cells."""

    accuracy: Floats
    fit: Floats


def implied_by_temperatures(
    cells: Cells, at: Floats, places: Floats, log_alpha: Floats, concentration: Sequence[float]
) -> Implied:
    """From mean accuracies at some log alphas of the class to what draws of them imply.

    `at` is of shape (point, cell), `places` (point, class) and `log_alpha` (draw, class).
    """
    fits = relative_fits(cells, at, concentration)
    accuracy = np.empty((len(log_alpha), len(cells.of)))
    fit = np.zeros((len(log_alpha), len(concentration)))
    for k in np.unique(cells.of):
        mine = np.flatnonzero(cells.of == k)
        of_class = np.hstack([at[:, mine], fits[:, mine].sum(axis=1)])
        found = _between(log_alpha[:, k], places[:, k], of_class)
        accuracy[:, mine] = found[:, : len(mine)]
        fit += found[:, len(mine) :]
    return Implied(accuracy, fit)


def implied_by_draws(cells: Cells, accuracy: Floats, concentration: Sequence[float]) -> Implied:
    """What draws imply that give each cell its mean accuracy, (draw, cell)."""
    return Implied(accuracy, relative_fits(cells, accuracy, concentration).sum(axis=1))


def _between(x: Floats, places: Floats, values: Floats) -> Floats:
    """Interpolate columns linearly, (draw, column), between rising places, (point,)."""
    right = np.clip(np.searchsorted(places, x), 1, len(places) - 1)
    width = places[right] - places[right - 1]
    share = np.divide(x - places[right - 1], width, out=np.zeros_like(x), where=width > 0)
    return values[right - 1] + share[:, None] * (values[right] - values[right - 1])


def error_draws(
    cells: Cells,
    implied: Implied,
    belief: Mapping[float, float],
    n_classes: int,
    rng: np.random.Generator,
) -> ErrorDraws:
    """Draw the errors, given what draws of the temperatures imply.

    `belief` has the prior probability of each concentration. Draw i of the errors belongs to draw i
    of the temperatures, whose posterior does not depend on the concentration.
    """
    with np.errstate(divide="ignore"):
        fit = implied.fit + np.log(list(belief.values()))
    # The largest of Gumbel noise added to logarithms is drawn in proportion to their exponents.
    chosen = (fit + rng.gumbel(size=fit.shape)).argmax(axis=1)
    rate = _rates(cells, implied.accuracy, np.array(list(belief))[chosen], rng)
    gap = rate - cells.score
    mass = draw_masses(cells.rows, (len(rate),), rng, cells.mass)
    of_class = _membership(cells.of, n_classes)
    of_bin = _membership(cells.bin, int(cells.bin.max()) + 1)
    with np.errstate(invalid="ignore"):
        class_ece = ((mass * np.abs(gap)) @ of_class) / (mass @ of_class)
    held = class_ece[:, of_class.any(axis=0)]
    merged = np.abs((mass * gap) @ of_bin).sum(axis=1)
    return ErrorDraws(merged, held.max(axis=1), held.mean(axis=1), class_ece)


def relative_fits(cells: Cells, accuracy: Floats, concentration: Sequence[float]) -> Floats:
    """Log probability of the labels given accuracies, over that without any spread around them.

    From accuracies of shape (draw, cell) to (draw, cell, concentration).
    """
    right, wrong = cells.correct, cells.labeled - cells.correct
    mean = np.clip(accuracy, _LEAST, 1 - _LEAST)
    exact = xlogy(right, mean) + xlog1py(wrong, -mean)
    found = np.zeros((*mean.shape, len(concentration)))
    for place, rows in enumerate(concentration):
        if np.isfinite(rows):
            a, b = rows * mean, rows * (1 - mean)
            found[..., place] = betaln(a + right, b + wrong) - betaln(a, b) - exact
    return found


def _rates(cells: Cells, accuracy: Floats, rows: Floats, rng: np.random.Generator) -> Floats:
    """Draw accuracies around the implied ones given the labels, (draw, cell)."""
    finite = np.isfinite(rows)
    mean, worth = accuracy[finite], rows[finite, None]
    a = np.maximum(worth * mean + cells.correct, 1e-9)
    b = np.maximum(worth * (1 - mean) + cells.labeled - cells.correct, 1e-9)
    found = accuracy.copy()
    found[finite] = rng.beta(a, b)
    return found


def _membership(of: Integers, size: int) -> Floats:
    return np.asarray(of[:, None] == np.arange(size), np.float64)
