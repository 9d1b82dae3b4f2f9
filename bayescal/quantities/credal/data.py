"""Calibration and target scores, checked once, and what the model sees: labels counted in cells."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from bayescal.core import many_rows
from bayescal.core.bin_counts import BinCounts, TiedRows
from bayescal.core.bin_edges import effective_number, evenly
from bayescal.core.binning import fine_counts, part_counts
from bayescal.core.checks import check_is, listing
from bayescal.core.columns import MISSING, Whole
from bayescal.core.errors import InputError
from bayescal.core.intake import Parts, round_scores
from bayescal.core.plausibility import label_signs
from bayescal.core.quantity import Floats
from bayescal.core.scores import (
    Scores,
    Task,
    alike_scores,
    check_ungrouped,
    check_unweighted,
    from_parts,
    unlabeled_like,
)
from bayescal.core.shown import Showing, Shown

_BY_GROUP: Final = (
    "bayescal.fit_many(bayescal.credal, {name: CalibrationSplit(calibration=part, "
    "target=targets[name]) for name, part in calibration.by_group().items()})"
)


class RowCounts(NamedTuple):
    """How many rows the calibration scores stand for."""

    rows: Whole  # (score,): labelled rows
    n_obs: int  # with those without a label


@dataclass(frozen=True, slots=True, init=False, eq=False, repr=False)
class CalibrationSplit(Showing):
    """Labelled scores to calibrate on, and the scores to be calibrated.

    Parameters
    ----------
    calibration : Scores
        Rows that the classifier was not trained on, with their labels. Rows whose label is missing
        are left out. Weighted rows count as so many as their effective number.
    target : Scores or array-like of shape (obs,) or (obs, class), in [0, 1]
        Target rows: scores of the same classifiers and classes, with labels or without.
        Plain probabilities are those of calibration's only classifier, without labels: columns in
        the order of its classes, also by their names if they have these; of two the second counts.

    Attributes
    ----------
    calibration, target : Scores
        Both parts.
    counts : RowCounts or None
        How many rows each calibration score stands for; None where these are rows.

    Raises
    ------
    InputError
        If classifiers or classes differ, no label is known, or there are groups or target weights.

    Notes
    -----
    Both parts are taken to be drawn from one population, and calibration rows to be no rows of the
    training set. Neither can be seen from the scores. With weights calibration rows need not be:
    they stand for the population by their weights.

    Rows count by weight: those of the tenth, or the 50, nearest in score as ``sum(w)**2 /
    sum(w**2)`` together; where weights differ by label as many as give the logit of the label rate
    its variance, as in `bayescal.ece`. A target row, added by Venn-Abers predictors, counts as one.

    Examples
    --------
    >>> import bayescal as bc
    >>> calibration = bc.Scores(y_true=[0, 1, 1], y_prob=[0.2, 0.4, 0.9], classifier="vit")
    >>> bc.CalibrationSplit(calibration=calibration, target=[0.3, 0.5])
    <CalibrationSplit: classifiers 'vit'; n_calibration 3, n_target 2; classes 0, 1>
    """

    calibration: Scores
    target: Scores
    counts: RowCounts | None

    def __init__(self, *, calibration: Scores, target: Any) -> None:
        if not isinstance(calibration, Scores):
            raise InputError(
                f"calibration must be Scores; got {type(calibration).__name__}. "
                "Pass Scores(y_true=..., y_prob=...)."
            )
        if not calibration.n_labeled:
            raise InputError(
                "calibration must hold labelled rows; got none. Pass y_true for these rows."
            )
        check_ungrouped(calibration, "credal", _BY_GROUP)
        calibration, target = alike_scores(calibration, target_like(calibration, target))
        object.__setattr__(self, "calibration", calibration)
        object.__setattr__(self, "target", target)
        object.__setattr__(self, "counts", None)

    @property
    def rows(self) -> Whole | None:
        """How many rows each labelled calibration score stands for; None for one each."""
        return None if self.counts is None else self.counts.rows

    @property
    def n_obs(self) -> int:
        """Number of calibration rows, with those without a label."""
        return self.calibration.n_obs if self.counts is None else self.counts.n_obs

    @property
    def n_calibration(self) -> int:
        """Number of labelled calibration rows."""
        return self.calibration.n_labeled if self.rows is None else int(self.rows.sum())

    @property
    def weight(self) -> Floats | None:
        """Weights of the labelled calibration rows; None where they have none."""
        return labeled_rows(self.calibration)[2]

    @property
    def effective_n(self) -> float:
        """Number of labelled calibration rows; of weighted ones the effective number."""
        return effective_number(self.n_calibration, self.weight)

    @property
    def n_target(self) -> int:
        """Number of target rows."""
        return self.target.n_obs

    @property
    def n_classes(self) -> int:
        """Number of classes, 2 for a binary task."""
        return self.calibration.n_classes

    def select(self, classifier: str) -> CalibrationSplit:
        """Take one classifier.

        Parameters
        ----------
        classifier : str
            Its name.

        Returns
        -------
        CalibrationSplit
            Of this classifier alone.

        Raises
        ------
        InputError
            If there is no such classifier.
        """
        found = CalibrationSplit(
            calibration=self.calibration.select(classifier), target=self.target.select(classifier)
        )
        return counting(found, self.counts)

    def _show_(self) -> Shown:
        names, classes = (
            listing(found) for found in (self.calibration.classifiers, self.calibration.classes)
        )
        return Shown(
            lead=[f"Scores of {names}; classes {classes}."],
            columns=("Rows", "Number"),
            rows=[
                ("to calibrate on", f"{self.n_calibration:,}"),
                ("to be calibrated", f"{self.n_target:,}"),
            ],
        )

    def __repr__(self) -> str:
        """Name classifiers and classes, and count the rows."""
        return (
            f"<CalibrationSplit: classifiers {listing(self.calibration.classifiers)}; "
            f"n_calibration {self.n_calibration}, n_target {self.n_target}; "
            f"classes {listing(self.calibration.classes)}>"
        )


def labeled_rows(scores: Scores) -> tuple[NDArray[np.floating], NDArray[np.int32], Floats | None]:
    """Scores (classifier, ...), labels and weights of the rows that have a label."""
    known, weight = scores.y_true != MISSING, scores.sample_weight
    kept = None if weight is None else weight[known]
    return scores.y_prob[:, known], scores.y_true[known], kept


def counting(split: CalibrationSplit, counts: RowCounts | None) -> CalibrationSplit:
    """Let each calibration score, all of which are labelled, stand for so many rows."""
    found = CalibrationSplit(calibration=split.calibration, target=split.target)
    object.__setattr__(found, "counts", counts)
    return found


def target_like(calibration: Scores, target: Any) -> Scores:
    """Check target rows, of the classifiers and classes of others."""
    found: Scores = target
    if not isinstance(target, Scores):
        found = unlabeled_like(target, calibration, "target", "calibration")
    for what in ("classifiers", "classes"):
        theirs, ours = getattr(calibration, what), getattr(found, what)
        if theirs != ours:
            raise InputError(
                f"calibration and target must have the same {what}; got {listing(theirs)} and "
                f"{listing(ours)}. Pass the same ones, in the same order."
            )
    if calibration.y_prob.shape[2:] != found.y_prob.shape[2:]:
        raise InputError(
            "calibration and target must both hold one score a row, or both a score for each "
            f"class; got shapes {calibration.y_prob.shape[1:]} and {found.y_prob.shape[1:]}. "
            "Pass scores of the same kind."
        )
    check_ungrouped(found, "target", _BY_GROUP)
    check_unweighted(found, "target")
    return found


type Counts = NDArray[Any]
"""Whole numbers, or effective ones of weighted rows."""

# Curves times rows that a result holds draws of: it does not grow with the target rows.
MOST: Final = 200
FEWEST: Final = 20


@dataclass(frozen=True, slots=True, eq=False)
class EmpiricalCDF:
    """Rank in [0, 1] of any score among the calibration scores; made by `EmpiricalCDF.of`."""

    # Distinct scores with both ends of their range, and the share of the rows below each, those
    # of that very score counted half: both (knot,).
    score: Floats
    rank: Floats

    @classmethod
    def of(cls, score: NDArray[np.floating], rows: Counts | None = None) -> EmpiricalCDF:
        """Rank scores, each of which stands for one row or for so many."""
        distinct, place = np.unique(round_scores(score).astype(np.float64), return_inverse=True)
        count = np.bincount(place, rows)
        rank = (np.cumsum(count) - count / 2) / count.sum()
        low, high = np.zeros(int(distinct[0] > 0)), np.ones(int(distinct[-1] < 1))
        return cls(np.concatenate([low, distinct, high]), np.concatenate([low, rank, high]))

    def __call__(self, score: NDArray[np.floating]) -> Floats:
        """Look up ranks, linear between the knots."""
        return np.asarray(np.interp(round_scores(score), self.score, self.rank))

    def score_at(self, rank: Floats) -> Floats:
        """Look up the score of each rank."""
        return np.asarray(np.interp(rank, self.rank, self.score))


def cell_of(rank: Floats, n_cells: int) -> Whole:
    """Cell of each rank, of cells of equal width; rounded, as a rank may lie on an edge."""
    return np.minimum(round_scores(rank * n_cells).astype(np.int64), n_cells - 1)


@dataclass(frozen=True, slots=True, eq=False)
class CurveRows:
    """Rows that one curve is fitted to; made by `curve_rows`."""

    score: NDArray[np.floating]  # (obs,)
    happened: NDArray[np.bool_]  # (obs,): whether the row has the curve's label
    number: Counts | None = None  # (obs,): rows that each stands for; None for one each
    weight: Floats | None = None  # (obs,); None for 1 each

    def total(self, place: Whole, size: int, values: NDArray[Any] | None = None) -> NDArray[Any]:
        """Sum values up by place; without any, count rows."""
        if self.number is None:
            return np.bincount(place, values, size)
        return np.bincount(place, self.number * (1 if values is None else values), size)

    def fine_counts(self, most: int) -> tuple[BinCounts, BinCounts]:
        """Count rows into cells of the score, and into parts of these."""
        score = round_scores(self.score).astype(np.float64)
        if self.number is None or self.weight is not None:
            task = Task({}, score, self.happened.astype(np.uint8), weight=self.weight)
            cells = fine_counts(task, [0.0, 1.0], most)
            return cells.evened(), part_counts(task, cells).evened()
        order = np.argsort(score)
        number, happened = self.number[order], self.happened[order]
        rows = TiedRows(score[order], number, number * happened)
        cells = rows.count(rows.cell_edges(np.array([0.0, 1.0]), most, "right"))
        return cells, rows.parts(cells)


type Cells = Callable[[EmpiricalCDF, CurveRows], Sequence[Any]]
"""How the rows of a curve are put into cells: to the fields of `Problem`, without ranks."""


def rank_cells(number: int, ranks: EmpiricalCDF, rows: CurveRows) -> Sequence[Any]:
    """Count rows in cells of equal width in the rank; one without any has its middle for a rank."""
    rank = ranks(rows.score)
    cell = cell_of(rank, number)
    count, positives = rows.total(cell, number), rows.total(cell, number, rows.happened)
    middle = (np.arange(number) + 0.5) / number
    total = rows.total(cell, number, rank)
    place = np.where(count > 0, total / np.where(count > 0, count, 1), middle)
    mass = count if rows.weight is None else np.bincount(cell, rows.weight, number)
    unit = np.divide(mass, count, out=np.ones(number), where=count > 0)
    if rows.weight is None:
        count, positives = count.astype(np.int64), positives.astype(np.int64)
    return count, positives, place, mass, count, np.stack([unit, unit]), None


def score_cells(most: int, ranks: EmpiricalCDF, rows: CurveRows) -> Sequence[Any]:
    """Count rows in a cell a score, or at quantiles; 0 and 1 apart, cells without rows last."""
    cells, parts = rows.fine_counts(most)
    held = np.flatnonzero(cells.count)
    # Scores of 0 and 1 have a cell each.
    end = (0, most + 2 - len(held))
    return (
        np.pad(cells.count[held], end),
        np.pad(cells.positives[held], end),
        np.pad(ranks(cells.mean_score[held]), end, "edge"),
        np.pad(cells.weight[held], end),
        np.pad(cells.mass_count[held], end),
        np.pad(cells.unit[:, held], [(0, 0), end]),
        (cells, parts),
    )


def curve_rows(calibration: Scores, number: Whole | None) -> list[CurveRows]:
    """Labelled rows of each curve of one classifier: one of a binary task, else one a class."""
    (score,), label, weight = labeled_rows(calibration)
    columns, found = columns_of(score), []
    for k in range(columns.shape[1]):
        own, happened = columns[:, k], label == (k if score.ndim > 1 else 1)
        rows = number if weight is None else effective_rows(own, happened, weight)
        found.append(CurveRows(own, happened, rows, weight))
    return found


def columns_of(score: NDArray[np.floating]) -> NDArray[np.floating]:
    """Scores side by side, one where there is one curve, (obs, curve)."""
    return score[:, None] if score.ndim == 1 else score


def effective_rows(
    score: NDArray[np.floating], happened: NDArray[np.generic], weight: Floats
) -> Floats:
    """How many rows each weighted row counts as, (obs,): see `CalibrationSplit`."""
    own = round_scores(score).astype(np.float64)
    task = Task({}, own, happened.astype(np.uint8), weight=weight)
    even = fine_counts(task, [0.0, 1.0], len(own)).evened()
    return np.asarray(
        weight * (even.count / np.where(even.count > 0, even.weight, 1))[even.find(own)]
    )


@dataclass(frozen=True, slots=True, eq=False)
class Problem:
    """One classifier's calibration rows in cells of their score's rank; made by `Problem.of`.

    A curve is the probability of one label: one of a binary task, else one for each class.
    """

    ranks: tuple[EmpiricalCDF, ...]
    # Ranks of the target rows that the result holds, (obs, curve).
    target_rank: Floats
    # Rows in each cell, and those of the curve's label, (curve, cell).
    count: Counts
    positives: Counts
    # Mean rank of the rows of each cell, (curve, cell); any rank where there are none.
    place: Floats
    # Weights of the rows of each cell, (curve, cell): their number where they have none.
    mass: Floats
    # Effective rows by which masses vary, (curve, cell), and what one weighs, (label, curve, cell).
    rows: Counts
    unit: Floats
    # Of each curve its cells of the score and their parts, where it has these.
    parts: tuple[tuple[BinCounts, BinCounts] | None, ...] = ()

    @classmethod
    def of(cls, data: CalibrationSplit, rows: NDArray[np.intp], cells: Cells) -> Problem:
        """Count the rows of a classifier."""
        curves = curve_rows(data.calibration, data.rows)
        target = columns_of(data.target.y_prob[0])[rows]
        ranks = tuple(EmpiricalCDF.of(curve.score, curve.number) for curve in curves)
        *of_curves, parts = zip(*map(cells, ranks, curves), strict=True)
        fields: list[Any] = [*(np.stack(each, axis=-2) for each in of_curves), parts]
        at = np.stack([rank(t) for rank, t in zip(ranks, target.T, strict=True)], axis=1)
        return cls(ranks, at, *fields)

    @property
    def n_curves(self) -> int:
        """Number of curves."""
        return len(self.ranks)

    @property
    def n_cells(self) -> int:
        """Number of cells."""
        return int(self.count.shape[1])

    def cell_score(self) -> Floats:
        """Score at the mean rank of each cell, (curve, cell)."""
        rows = zip(self.ranks, self.place, strict=True)
        return np.stack([ranks.score_at(place) for ranks, place in rows])


# Standard errors by which the mean rank of labelled rows may lie below the middle.
_FALLS = 3.0


def data_warnings(problem: Problem, names: tuple[str, ...], falls: str) -> list[str]:
    """Warn of labels that do not occur, and by `falls` of those that fall as scores rise."""
    found: list[str] = []
    total = problem.count.sum(axis=1)
    for name, rows, labels in zip(names, total, problem.positives.sum(axis=1), strict=True):
        if labels in (0, rows):
            found.append(
                f"{'no' if labels == 0 else 'every'} calibration row is of class {name}; one end "
                "of its bounds rests on the prior. Add rows of both kinds."
            )
    if len(problem.count) == 1:
        (score,), (count,), (positives,) = problem.cell_score(), problem.count, problem.positives
        found += label_signs(score, count - positives, positives)
    rows = zip(names, problem.count, problem.positives, problem.place, strict=True)
    return found + [
        f"class {name} grows rarer as its score rises{falls}"
        for name, *cells in rows
        if falls and _falls(*cells)
    ]


def _falls(count: Counts, positives: Counts, place: Floats) -> bool:
    """Whether rows of the label have lower ranks than the others (Mann-Whitney)."""
    n, k = count.sum(), positives.sum()
    if k in (0, n):
        return False
    middle = np.average(place, weights=count)
    variance = np.average((place - middle) ** 2, weights=count)
    error = np.sqrt(variance * (n - k) / (k * max(n - 1, 1)))
    return bool(np.average(place, weights=positives) - middle < -_FALLS * error)


def held_rows(data: CalibrationSplit) -> NDArray[np.intp]:
    """Choose the target rows that a result holds draws of, (obs,)."""
    score = columns_of(data.target.y_prob[0])
    return np.sort(evenly(score[:, -1], max(FEWEST, MOST // score.shape[1])))


def count_rows(
    data: Any, *, label: str, score: str, target: Any, pos_label: Any = 1, from_logits: bool = False
) -> CalibrationSplit:
    r"""Sum the calibration rows of one binary classifier up by score, partition by partition.

    Parameters
    ----------
    data, label
        As for `bayescal.count_rows`, of calibration rows.
    score : str
        Column of the scores, which names the classifier.
    target : Scores or array-like of shape (obs,), in [0, 1]
        Target rows, as of `CalibrationSplit`.
    pos_label, from_logits
        As for `bayescal.count_rows`.

    Returns
    -------
    CalibrationSplit
        What `bayescal.fit` of `bayescal.credal` takes.

    Raises
    ------
    InputError
        If data cannot be read, a column does not exist, labels or scores cannot be used, or the
        target rows are of another kind.

    Notes
    -----
    Rows of a narrow cell of the score count as rows of its mean score; see `bayescal.Counts`. A
    cell is at most 3.1e-5 wide, and where each has one score nothing is approximated.
    """
    check_is(score, str, "score", "Pass the name of a column.")
    how: Any = {"pos_label": pos_label, "from_logits": from_logits}
    counts = many_rows.count_rows(data, label=label, score=score, **how)[score]
    rows = np.stack([counts.rows - counts.positives, counts.positives])
    event, cell = np.nonzero(rows)
    value = counts.score[cell]
    parts = Parts(value[np.newaxis], event.astype(np.int32), (score,), counts.classes)
    split = CalibrationSplit(calibration=from_parts(parts), target=target)
    return counting(split, RowCounts(rows[event, cell], counts.n_obs))
