"""The paper's estimates, and calibration errors of the predicted class: of rows, and of draws.

The accuracy of the rows of a predicted class in a bin of confidence has a Beta prior around the
accuracy that a draw of the temperatures implies, worth a number of rows that is the same in every
cell and has a posterior of its own. With infinitely many the temperatures are relied on alone.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, Final, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import betaln, logsumexp, xlog1py, xlogy

from bayescal.core.bin_counts import BLOCKS, blocks_of
from bayescal.core.bin_edges import place_in
from bayescal.core.binning import Binning
from bayescal.core.checks import check_choice, check_data, check_is, check_rows
from bayescal.core.columns import MISSING
from bayescal.core.errors import InputError
from bayescal.core.functionals import expected_calibration_error
from bayescal.core.quantity import Floats
from bayescal.core.scores import Scores, check_one_classifier, predicted_class, top_label
from bayescal.core.sums import Several
from bayescal.curves.cells import draw_masses
from bayescal.quantities.temperature.data import Problem, Rows, only_problem
from bayescal.quantities.temperature.logits import (
    ClassWise,
    Integers,
    class_wise,
    scores_of_0,
)

BY: Final = ("predicted", "true", "group")
BINNING: Final = Binning(15, "uniform")


class CalibrationErrors(NamedTuple):
    """Expected calibration errors of a classifier's predicted class, and its accuracy.

    Parameters
    ----------
    ece : float, in [0, 1]
        Of all rows: bins hold rows of every class.
    max_ece : float, in [0, 1]
        The largest of the classes that have rows.
    avg_ece : float, in [0, 1]
        Mean over the classes that have rows, unweighted.
    accuracy : float, in [0, 1]
        Share of rows, or of weight, whose predicted class (of ties the first, of two the second)
        is the true one.
    class_ece, class_accuracy, class_confidence : ndarray of shape (slice,), in [0, 1]
        Of the rows of each class or group; NaN where there are none.
    rows : ndarray of shape (slice,), int
        Number of rows of each.
    """

    ece: float
    max_ece: float
    avg_ece: float
    accuracy: float
    class_ece: Floats
    class_accuracy: Floats
    class_confidence: Floats
    rows: NDArray[np.int64]


def calibration_errors(
    data: Scores, *, by: str = "predicted", binning: Binning = BINNING
) -> CalibrationErrors:
    """Measure calibration errors class by class.

    Definition 2.1, equation (4.1), section 5.4 of the paper.

    Parameters
    ----------
    data : Scores
        Scores of one classifier. Rows without a label are left out. Of weighted rows, shares and
        means are those of the weights; whole ones count as repeated rows.
    by : {"predicted", "true", "group"}, default "predicted"
        Whether a row's class is the predicted or the true one, or its group, unused otherwise.
    binning : Binning, default 15 bins of equal width
        Bins, the same in every class.

    Returns
    -------
    CalibrationErrors
        Of all rows and of each class.

    Raises
    ------
    InputError
        If there are several classifiers, no labelled row, or no groups with ``by="group"``.

    Notes
    -----
    ``ECE = sum_b |P(correct | bin b) - mean confidence of bin b| P(bin b)``, in place of which the
    paper prints p for the mean confidence. The class of a row is the predicted one in the paper's
    max-ECE and Avg-ECE (equation 4.1 and section 5.4), the true one in its figures 3 and 4. Errors
    of opposite sign cancel where classes share a bin, so `ece` may be 0 while every class is off.

    Examples
    --------
    >>> import bayescal as bc
    >>> scores = bc.Scores(y_true=[0, 1, 1], y_prob=[[0.9, 0.1], [0.4, 0.6], [0.6, 0.4]])
    >>> found = bc.temperature.calibration_errors(scores)
    >>> round(found.ece, 3), found.class_ece.round(3).tolist()
    (0.1, [0.35, 0.4])
    """
    check_data(data, (Scores,), "calibration_errors", "Scores(y_true=..., y_prob=...)")
    check_choice(by, BY, "by")
    check_is(binning, Binning, "binning", "Pass bayescal.Binning(15, 'uniform').")
    check_one_classifier(data, "calibration_errors")
    known = data.y_true != MISSING
    check_rows(int(known.sum()), "the labelled rows")
    score, event = top_label(data.y_prob[0], data.y_true)
    if by == "group" and data.group is None:
        raise InputError("by='group' needs groups; the scores have none. Pass group=... to Scores.")
    slices = {"predicted": predicted_class(data.y_prob[0]), "true": data.y_true}
    of: Any = slices.get(by, data.group)
    n_slices = len(data.groups) if by == "group" else data.n_classes
    weight = None if data.sample_weight is None else data.sample_weight[known]
    return errors_of(score[known], event[known] == 1, of[known], n_slices, binning, weight)


def errors_of(
    score: NDArray[np.floating],
    correct: NDArray[np.bool_],
    of: Integers,
    n_slices: int,
    binning: Binning,
    weight: Floats | None = None,
) -> CalibrationErrors:
    """Errors of all rows and of each slice, in the same bins."""
    # A label that no slice has, where it is not correct.
    label = np.where(correct, of, n_slices)
    sums = CellSums.of(score, of, label, n_slices, binning, weight=weight)
    ece, max_ece, avg_ece, class_ece = _errors(sums)
    rows = sums.of_class(sums.rows)
    with np.errstate(invalid="ignore"):
        accuracy, confidence = (sums.of_class(each) / rows for each in (sums.correct, sums.score))
    return CalibrationErrors(
        ece,
        max_ece,
        avg_ece,
        float(np.average(correct, weights=weight)),
        class_ece,
        accuracy,
        confidence,
        np.bincount(of, minlength=n_slices),
    )


def binned_error(
    score: NDArray[np.floating],
    correct: NDArray[np.bool_],
    binning: Binning,
    weight: Floats | None = None,
) -> float:
    """Expected calibration error of all rows."""
    bins = binning.count(score, event=correct, weight=weight)
    rate = bins.positives / np.where(bins.count > 0, bins.count, 1)
    return float(expected_calibration_error(bins.share, rate, bins.mean_score))


# Scores of 12 decimals sum to 1 but for so much.
_OFF: Final = 1e-11


def top_class(logits: Floats) -> tuple[Floats, Integers]:
    """Probability of the largest logit's class, and which that is, (obs,)."""
    total = logsumexp(logits, axis=1)
    total[np.abs(total) < _OFF] = 0
    return np.exp(logits.max(axis=1) - total), predicted_class(logits)


# Accuracies nearer to 0 or 1 are taken as this.
_LEAST: Final = 1e-12


class ErrorDraws(NamedTuple):
    """Draws of calibration errors."""

    ece: Floats
    max_ece: Floats
    avg_ece: Floats
    class_ece: Floats


class CellSums(NamedTuple):
    """Sums over rows by predicted class and, class by class, bin of confidence; parts add up."""

    n_bins: int
    # Weight of a right prediction, in that of a wrong one, which labelled rows count in, (class,).
    ratio: Floats
    rows: Floats  # (cell,): the weights of rows with and without labels, 1 each if they have none
    unlabeled: Floats  # (cell,): the weights of rows without a label
    unlabeled_squares: Floats  # (cell,): those squared
    labeled_rows: NDArray[np.int64]  # (cell,): the number of labelled rows
    labeled: Floats  # (cell,): their weights, over the ratio where they are right
    labeled_squares: Floats  # (cell,)
    correct: Floats  # (cell,)
    score: Floats  # (cell,): of the confidences
    labeled_score: Floats  # (cell,): of those of labelled rows
    values: tuple[Floats, ...]  # (draw, cell): of what draws give each row

    @classmethod
    def of(
        cls,
        score: NDArray[np.floating],
        predicted: Integers,
        label: Integers,
        n_classes: int,
        binning: Binning,
        values: Sequence[Floats] = (),
        weight: Floats | None = None,
        ratio: Floats | None = None,
    ) -> CellSums:
        """Sum rows up, and values of theirs of shape (draw, obs)."""
        # A part of the rows may have none, and so no effective number of them.
        edges = binning.edges(score, weight if len(score) else None)
        n_bins = len(edges) - 1
        place = predicted * n_bins + place_in(edges, score, binning.closed)

        def total(values: NDArray[Any]) -> Floats:
            return np.bincount(place, values if weight is None else weight * values, size)

        size = n_classes * n_bins
        one = np.ones(len(score)) if weight is None else weight
        known, of_right = label >= 0, np.ones(n_classes) if ratio is None else ratio
        each = np.where(label == predicted, 1 / of_right[predicted], 1.0)
        return cls(
            n_bins,
            of_right,
            total(np.ones(len(score))),
            total(~known),
            total(~known * one),
            np.bincount(place[known], minlength=size),
            total(known * each),
            total(known * one * each**2),
            total((label == predicted) * each),
            total(score),
            total(np.where(known, score, 0.0)),
            tuple(np.stack([total(each) for each in draws]) for draws in values),
        )

    def plus(self, other: CellSums) -> CellSums:
        """Join with the sums of other rows."""
        (n_bins, ratio, *sums, values), (_, _, *others, more) = self, other
        drawn = tuple(map(np.add, values, more))
        return CellSums._make([n_bins, ratio, *map(np.add, sums, others), drawn])

    def cells(self) -> Cells:
        """Cells with rows."""
        nonempty = np.flatnonzero(self.rows)
        of, mass = nonempty // self.n_bins, self.rows[nonempty]
        known, labeled = self.per_weight[nonempty], self.labeled[nonempty]
        each = (self.labeled_weight / np.where(self.labeled > 0, self.labeled, 1))[nonempty]
        squares = self.unlabeled_squares[nonempty] + each**2 * self.labeled_squares[nonempty]
        return Cells(
            of,
            nonempty % self.n_bins,
            self.ratio[of],
            self.unlabeled[nonempty],
            labeled,
            mass * (mass / squares),
            labeled * known,
            self.correct[nonempty] * known,
            self.score[nonempty] / mass,
        )

    @property
    def correct_weight(self) -> Floats:
        """Weights of labelled rows whose label is the predicted class, (cell,)."""
        return self.correct * np.repeat(self.ratio, self.n_bins)

    @property
    def labeled_weight(self) -> Floats:
        """Weights of labelled rows, (cell,)."""
        return self.labeled - self.correct + self.correct_weight

    @property
    def per_weight(self) -> Floats:
        """Effective labelled rows per unit of `labeled`, (cell,); 1 without weights.

        Neighbouring bins share it: a row of its own bin would be one, whatever it weighs.
        """
        rows = self.labeled_rows.reshape(-1, self.n_bins)
        block = np.concatenate([blocks_of(each) + k * BLOCKS for k, each in enumerate(rows)])
        labeled, squares = (np.bincount(block, x) for x in (self.labeled, self.labeled_squares))
        found = np.divide(labeled, squares, out=np.zeros_like(squares), where=squares > 0)
        return np.asarray(found[block])

    def of_class(self, values: Floats) -> Floats:
        """Sum values of cells up by class, (class,)."""
        return np.asarray(values.reshape(-1, self.n_bins).sum(axis=1))

    def means(self) -> list[Floats]:
        """Means of the values in cells with rows, (draw, cell) each."""
        nonempty = np.flatnonzero(self.rows)
        return [total[:, nonempty] / self.rows[nonempty] for total in self.values]


@dataclass(frozen=True, slots=True, eq=False)
class Cells:
    """Rows of each predicted class in each bin of its confidence, without empty ones."""

    of: Integers  # (cell,): the class
    bin: Integers  # (cell,)
    ratio: Floats  # (cell,): weight of a right prediction, in that of a wrong one
    unlabeled: Floats  # (cell,): weight of rows without a label
    drawn: Floats  # (cell,): weight of rows with a label, if right ones weighed as wrong ones
    rows: Floats  # (cell,): effective number of all rows
    labeled: Floats  # (cell,): of rows with a label
    correct: Floats  # (cell,): that times the share of correct predictions among rows as drawn
    score: Floats  # (cell,): mean confidence

    def mass(self, rate: Floats) -> Floats:
        """Weight of all rows at accuracies, (draw, cell): as in `curves.cells.weighted_masses`."""
        return np.asarray(self.unlabeled + self.drawn / (1 - rate + rate / self.ratio))

    def as_drawn(self, accuracy: Floats) -> tuple[Floats, Floats]:
        """Accuracies among rows as drawn, and how many times as many rows then tell as much."""
        odds = accuracy + self.ratio * (1 - accuracy)
        return accuracy / odds, odds**2 / self.ratio


class Implied(NamedTuple):
    """What draws imply of the cells."""

    accuracy: Floats
    fit: Floats


def implied_by_temperatures(
    cells: Cells, at: Floats, places: Floats, log_alpha: Floats, concentration: Sequence[float]
) -> Implied:
    """What draws of log alphas, (draw, class), imply, by means `at` some `places`."""
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
    """Draw the errors, one a draw of the temperatures; `belief` weighs the concentrations."""
    with np.errstate(divide="ignore"):
        fit = implied.fit + np.log(list(belief.values()))
    # The largest of Gumbel noise added to logarithms is drawn in proportion to their exponents.
    chosen = (fit + rng.gumbel(size=fit.shape)).argmax(axis=1)
    rate = _rates(cells, implied.accuracy, np.array(list(belief))[chosen], rng)
    gap = rate - cells.score
    mass = draw_masses(cells.rows, (len(rate),), rng) * (cells.mass(rate) / cells.rows)
    mass /= mass.sum(axis=1, keepdims=True)
    held, first = np.unique(cells.of, return_index=True)  # Cells come class by class.
    apart, whole = (np.add.reduceat(each, first, axis=1) for each in (mass * np.abs(gap), mass))
    class_ece = np.full((len(rate), n_classes), np.nan)
    class_ece[:, held] = nonempty = apart / whole
    merged = np.abs((mass * gap) @ np.eye(int(cells.bin.max()) + 1)[cells.bin]).sum(axis=1)
    return ErrorDraws(merged, nonempty.max(axis=1), nonempty.mean(axis=1), class_ece)


def relative_fits(cells: Cells, accuracy: Floats, concentration: Sequence[float]) -> Floats:
    """Log probability of the labels over that without spread, (draw, cell, concentration)."""
    right, wrong = cells.correct, cells.labeled - cells.correct
    mean, worth = cells.as_drawn(np.clip(accuracy, _LEAST, 1 - _LEAST))
    exact = xlogy(right, mean) + xlog1py(wrong, -mean)
    found = np.zeros((*mean.shape, len(concentration)))
    for place, rows in enumerate(concentration):
        if np.isfinite(rows):
            a, b = rows * worth * mean, rows * worth * (1 - mean)
            found[..., place] = betaln(a + right, b + wrong) - betaln(a, b) - exact
    return found


def _rates(cells: Cells, accuracy: Floats, rows: Floats, rng: np.random.Generator) -> Floats:
    """Draw accuracies around the implied ones given the labels, (draw, cell)."""
    finite = np.isfinite(rows)
    mean, worth = cells.as_drawn(accuracy[finite])
    worth = worth * rows[finite, None]
    a = np.maximum(worth * mean + cells.correct, 1e-9)
    b = np.maximum(worth * (1 - mean) + cells.labeled - cells.correct, 1e-9)
    found = accuracy.copy()
    drawn = rng.beta(a, b)
    found[finite] = drawn / (drawn + (1 - drawn) / cells.ratio)
    return found


STAGES = ("before", "after")
"""Dimension ``stage`` of a result: confidences before calibration, and after."""


def reliability(sums: CellSums) -> dict[str, Floats]:
    """Effective labelled rows, mean confidence and accuracy, (class, bin); NaN without rows."""
    with np.errstate(invalid="ignore"):
        found = {
            "bin_rows": sums.labeled * sums.per_weight,
            "bin_confidence": sums.labeled_score / sums.labeled_weight,
            "bin_accuracy": sums.correct_weight / sums.labeled_weight,
        }
    return {name: values.reshape(-1, sums.n_bins) for name, values in found.items()}


ROWS_PER_CLASS: Final = 200
"""Rows of each class, on average, that show how confidences are distributed."""
_MOST: Final = 20_000


def rows_to_add(n: int, n_classes: int) -> int:
    """How many rows `n` rows lack."""
    return max(0, min(ROWS_PER_CLASS * n_classes, _MOST) - n)


def smoothed_rows(
    logits: Floats, draws: int, rng: np.random.Generator, weight: Floats | None = None
) -> Floats:
    """Draw rows from a kernel density estimate of rows of logits, (draw, class).

    The kernel has the covariance of rows around the mean of their predicted class, to which rows
    are drawn so that it stays as it is (Silverman 1986, Eq. 4.14 and section 6.4). Scores of 0 and
    scores clipped from below stay as far below the largest as they are: no noise is added.
    """
    n, n_classes = logits.shape
    predicted = predicted_class(logits)
    gap, clipped = _clipped(logits)
    one = np.ones(n) if weight is None else weight
    shown = one[:, None] * ~clipped
    mean, count = np.zeros((2, n_classes, n_classes))
    np.add.at(count, predicted, shown)
    np.add.at(mean, predicted, shown * logits)
    mean /= np.where(count > 0, count, 1)
    apart = np.where(clipped, 0, logits - mean[predicted])
    effective_n = one.sum() ** 2 / (one**2).sum()
    width = (4 / (n_classes + 2) / effective_n) ** (1 / (n_classes + 4))
    # A row as often as its weight says: chance here would move the errors of all draws alike.
    order = rng.permutation(n)
    reached = np.cumsum(one[order] / one.sum())[:-1]
    place = order[np.searchsorted(reached, (np.arange(draws) + rng.random()) / draws)]
    # Of logits that sum to 0, or of few rows, the covariance has no Cholesky factor.
    spread, axes = np.linalg.eigh((one[:, None] * apart).T @ apart / one.sum())
    noise = rng.standard_normal((draws, n_classes)) * np.sqrt(np.maximum(spread, 0)) @ axes.T
    moved = (apart[place] + width * noise) / np.sqrt(1 + width**2) + mean[predicted[place]]
    largest = moved.max(axis=1, where=~clipped[place], initial=-np.inf, keepdims=True)
    return np.asarray(np.where(clipped[place], largest + gap[place], moved))


# Least scores of rows are taken as clipped where others equal them, below a 400th of the largest.
_FAR: Final = -6.0


def _clipped(logits: Floats) -> tuple[Floats, NDArray[np.bool_]]:
    """Logits less the largest of the row, and which are of scores of 0 or clipped, (obs, class)."""
    gap = logits - logits.max(axis=1, keepdims=True)
    clipped = (gap == gap.min(axis=1, keepdims=True)) & (gap < _FAR)
    _, inverse, count = np.unique(logits[clipped], return_inverse=True, return_counts=True)
    clipped[clipped] = count[inverse] > 1
    return gap, clipped | scores_of_0(logits, gap)


class Estimate(NamedTuple):
    """Estimates on the rows that the numbers were fitted to.

    Parameters
    ----------
    ece, max_ece, avg_ece : float, in [0, 1]
        Errors after class-wise temperature scaling: of all rows, the worst class's, their mean.
    ece_uncalibrated, max_ece_uncalibrated, avg_ece_uncalibrated : float, in [0, 1]
        The same before.
    accuracy : float, in [0, 1]
        Share of rows whose predicted class is the true one.
    class_alpha : ndarray of shape (class,)
        The number of each predicted class, in [0.01, 100].
    shared_alpha : float
        The shared one; under ``gamma=inf`` that of temperature scaling.
    """

    ece: float
    max_ece: float
    avg_ece: float
    ece_uncalibrated: float
    max_ece_uncalibrated: float
    avg_ece_uncalibrated: float
    accuracy: float
    class_alpha: Floats
    shared_alpha: float


def estimate(data: Scores, *, gamma: float = np.inf, binning: Binning = BINNING) -> Estimate:
    """Fit class-wise temperature scaling, and measure calibration before and after.

    Parameters
    ----------
    data : Scores
        Scores of one classifier, by logits or probabilities. Rows without a label are left out.
        Losses, errors and shares of weighted rows are weighted; whole weights count as repeats.
    gamma : float, at least 0, default infinity
        Largest difference of a class's number from the shared one.
    binning : Binning, default 15 bins of equal width
        Bins of the errors.

    Returns
    -------
    Estimate
        Errors after and before, and the numbers: a named tuple.

    Raises
    ------
    InputError
        If there are several classifiers, groups, no label, one of score 0, or a negative `gamma`.

    Notes
    -----
    Errors after calibration are those of the rows that the numbers were fitted to, and too small
    for new rows; with few rows a class by much. The paper measures them on other rows.

    References
    ----------
    .. [1] Y. Zhao et al., 2020, sections 4.1 and 5.1. https://arxiv.org/abs/2002.09831

    Examples
    --------
    >>> import bayescal as bc
    >>> scores = bc.datasets.temperature.truth("heterogeneous").scores(2000, seed=1)
    >>> found = bc.temperature.estimate(scores)
    >>> found.avg_ece < found.avg_ece_uncalibrated
    True
    """
    check_is(binning, Binning, "binning", "Pass bayescal.Binning(15, 'uniform').")
    problem = only_problem(data, "estimate")
    check_rows(len(problem.known), "the labelled rows")
    return estimate_of(problem, class_wise(problem.labeled(), gamma), binning)


def estimate_of(problem: Rows, numbers: ClassWise, binning: Binning = BINNING) -> Estimate:
    """Estimates of one classifier, with the numbers of class-wise temperature scaling."""
    alphas = [np.ones(problem.n_classes), numbers.alpha]
    before, after = problem.summed(partial(_sums, alphas=alphas, binning=binning)).each.values()
    return Estimate(
        *_errors(after)[:3],
        *_errors(before)[:3],
        float(before.correct.sum() / before.rows.sum()),
        numbers.alpha,
        numbers.shared,
    )


def _sums(problem: Problem, alphas: Sequence[Floats], binning: Binning) -> Several[CellSums]:
    """Sums of the labelled rows when each predicted class is multiplied by its number."""
    rows = problem.take(problem.known)
    moved = (alpha[rows.predicted][:, None] * rows.logits for alpha in alphas)
    scores = (rows.near(top_class(each)[0]) for each in moved)
    of = partial(CellSums.of, n_classes=rows.n_classes, binning=binning, weight=rows.weight)
    return Several(dict(enumerate(of(score, rows.predicted, rows.label) for score in scores)))


def _errors(sums: CellSums) -> tuple[float, float, float, Floats]:
    """Errors of labelled rows: of all, the largest of the classes, their mean, and each, or NaN."""
    gap, rows = sums.correct - sums.labeled_score, sums.of_class(sums.rows)
    with np.errstate(invalid="ignore"):
        each = sums.of_class(np.abs(gap)) / rows
    every = np.abs(gap.reshape(-1, sums.n_bins).sum(axis=0)).sum() / rows.sum()
    held = each[rows > 0]
    return float(every), float(held.max()), float(held.mean()), each
