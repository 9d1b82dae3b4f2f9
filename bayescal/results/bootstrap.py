"""Draws of a population from its labelled rows alone: the Bayesian bootstrap, with two rows added.

Rates of rows and costs need no curve: they are means over rows, to which each row adds its own
score and label. Their posterior is that of Dirichlet weights of the rows, D. B. Rubin, Annals of
Statistics 9, 1981. It knows nothing that the rows do not show: of 100 rows without a false positive
it would say that there are none. Two rows are therefore added, each with a weight as any other and
a label by a coin: one has the score of a row at random, the other that nearest to any in [0, 1].
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from itertools import repeat
from typing import Any, Final, NamedTuple

import numpy as np
import xarray as xr
from numpy.typing import ArrayLike, NDArray
from scipy.sparse import csr_array
from scipy.special import logit

from bayescal.core.columns import Floats, Whole
from bayescal.core.functionals import sigmoid
from bayescal.measures.scores import is_called
from bayescal.results import access, schema
from bayescal.results.access import ResultSlice

RATE: Final = "rate"
MASS: Final = "mass"
_PARTS: Final = tuple(
    f"{schema.PART}_{name}" for name in ("cell", "score", "count", "events", "low", "high")
)
_PART_WEIGHTS: Final = (f"{schema.PART}_weight", f"{schema.PART}_event_weight")
_WEIGHTS_AT_ONCE: Final = 1 << 22
# Scores that differ by less, in standard errors of the rate of events, are copies.
_ALIKE: Final = 0.02
# Calls of whole rows differ by one at least.
_LEAST_ROWS: Final = 0.5
# Scores that are rounded move the ends of a part by so much of it.
_CUT: Final = 0.01
# Scores of float32, edges and means are off by less.
_NEAR: Final = 1e-6
# Of rows that are nearer to their cell's upper end on average, by its width, nine of ten are there.
_TIED: Final = 0.05
# Rates of exactly 0 and 1 have no logit.
_LOGITS: Final = (-700.0, 37.0)
# Half of the deviations of a curve in steps are those of their neighbours, but for rounding.
_FLAT: Final = 1e-5
_NOTHING: Final = 1e-300
_NONE_ADDED: Final = np.zeros((2, 1))


class Cells(NamedTuple):
    """The curve of one case at its cells with rows, scores increasing."""

    rate: Floats  # (..., cell)
    score: Floats  # (cell,)
    mass: Floats  # (..., cell)
    ends: Floats | None = None  # (2, cell), where rows are known by their cells
    added: Floats = _NONE_ADDED  # mass of a row without or with the event, were it added, (2, ...)

    def parted(self, thresholds: ArrayLike) -> Cells:
        """Part cells where thresholds cut them; scores are spread evenly about their mean."""
        if self.ends is None:
            return self
        mean, at, parts = self.score, np.atleast_1d(thresholds), []
        for k, (low, high) in enumerate(self.ends.T):
            # Beyond the first and the last cell's mean there may be no scores.
            inner = 0 < low * (1 + _NEAR) < mean[k] < high * (1 - _NEAR) and high < 1
            cuts = at[(low < at) & (at <= high)] if inner else []
            if len(cuts) == 0:
                parts.append((k, mean[k], 1.0))
                continue
            # Half as many are below the mean as above where that is twice as far from its end; what
            # the mean of even scores does not reach is tied at the upper end, which cells hold.
            tied = max(0.0, 2 * (mean[k] - low) / (high - low) - 1)
            known = [low, high] if tied else [low, mean[k], high]
            below = [0, 1 - tied] if tied else [0, (high - mean[k]) / (high - low), 1]
            sums = [0, *np.interp(cuts, known, below), 1]
            parts += zip(repeat(k), [low, *cuts], np.diff(sums), strict=False)
        cell, score, share = map(np.array, zip(*parts, strict=True))
        rate, mass = (np.take(values, cell, axis=-1) for values in (self.rate, self.mass))
        return Cells(rate, score, mass * share, None, self.added)

    def within(self) -> Floats:
        """Share of its cell that a row is called with, (cell,): all if tied at an end, or half."""
        if self.ends is None:
            return np.ones(len(self.score))
        low, high = self.ends
        tied = high - self.score <= _TIED * (high - low)
        return np.where(tied | (self.score <= low * (1 + _NEAR)), 1.0, 0.5)


class Rows(NamedTuple):
    """Labelled rows by part of a cell, of weighted ones their effective numbers and weights."""

    score: Floats  # (part,)
    number: Floats  # (part,)
    events: Floats  # (part,)
    cell: Whole  # (part,), rising
    ends: Floats | None = None  # (2, part)
    unit: Floats = np.ones((2, 1))  # weight of an effective row by label, (2, part or 1)

    @property
    def by_label(self) -> Floats:
        """Rows without and with the event, (2, part)."""
        return np.stack([self.number - self.events, self.events])

    @property
    def cells(self) -> Cells:
        """The rows as they are, as one draw."""
        negative, positive = (self.by_label * self.unit)[:, None]
        return _cells(positive, negative, self)

    def called(self, thresholds: Floats) -> Floats:
        """Share of each part that is called positive, (threshold, part)."""
        n = len(self.score)
        parts = Cells(np.eye(n), self.score, np.ones(n), self.ends).parted(thresholds)
        called = is_called(parts.score, thresholds[:, None])
        return np.asarray(called @ (parts.rate * parts.mass).T)


class Draws(NamedTuple):
    """How many draws a fit had, and which of them a selection has left."""

    number: int
    kept: Whole

    @classmethod
    def of(cls, tree: xr.DataTree) -> Draws:
        """Of a result, whose coordinates say where its draws are among those of the fit."""
        rate = access.variable(tree, schema.CURVE, RATE)
        at = [np.atleast_1d(rate[dim].to_numpy()) for dim in schema.DRAW_DIMS]
        shape = [int(tree.attrs.get(f"{dim}s", 0)) for dim in schema.DRAW_DIMS]
        if any(own.min() < 0 or own.max() >= size for own, size in zip(at, shape, strict=True)):
            at = [np.arange(len(own)) for own in at]
            shape = list(map(len, at))
        return cls(math.prod(shape), np.ravel(at[0][:, None] * shape[1] + at[1]))


class _Added(NamedTuple):
    """The added rows of all draws: where scores are taken from, labels and weights, (draw,)."""

    row: Floats  # a row at random, as a share of all
    anywhere: Floats  # a score at random
    positive: NDArray[np.bool_]  # (2, draw)
    weight: Floats  # (2, draw)

    @classmethod
    def draw(cls, number: int, rng: np.random.Generator) -> _Added:
        row, anywhere = rng.random((2, number))
        positive = rng.random((2, number)) < 0.5
        return cls(row, anywhere, positive, rng.standard_exponential((2, number)))

    def at(self, kept: Whole) -> _Added:
        """Of some draws."""
        rest = self.positive[:, kept], self.weight[:, kept]
        return _Added(self.row[kept], self.anywhere[kept], *rest)


def rows_of(tree: xr.DataTree, case: ResultSlice) -> Rows | None:
    """The labelled rows of a case by cell; None where only positives are labelled."""
    return None if "n_positive" in tree.attrs else rows_in_cells(tree, case)


def rows_in_cells(tree: xr.DataTree, case: ResultSlice) -> Rows | None:
    """The rows by which parts share their cell's mass: labelled ones, or all but the positives."""
    if "n_labeled" not in tree.attrs:
        return None
    score, count, held = cells_with_rows(tree, case)
    if access.has_variable(tree, schema.CONSTANT_DATA, _PARTS[0]):
        weighted = access.has_variable(tree, schema.CONSTANT_DATA, *_PART_WEIGHTS)
        names = _PARTS + _PART_WEIGHTS * weighted
        found = np.stack(access.values(tree, schema.CONSTANT_DATA, case, *names))
        place, score, count, events, *_ = values = found[:, _parts(tree, case)]
        cell = np.argsort(held)[place.astype(np.intp)]
        own = Rows(score, count, np.clip(events, 0, count), cell, values[4:6])
        return own._replace(unit=values[6:]) if weighted else own
    if "n_positive" in tree.attrs:
        return None
    events = np.asarray(access.cell_events(tree, case).values, np.float64)
    number, known = count[held], access.has_variable(tree, schema.CONSTANT_DATA, *schema.CELL_ENDS)
    ends = access.values(tree, schema.CONSTANT_DATA, case, *schema.CELL_ENDS) if known else None
    return Rows(
        score[held],
        number,
        np.clip(events[held], 0, number),
        np.arange(len(held)),
        None if ends is None else np.stack(ends)[:, held],
    )


def _parts(tree: xr.DataTree, case: ResultSlice) -> Whole:
    """Places of the parts with rows, by their scores."""
    score, count = access.values(tree, schema.CONSTANT_DATA, case, *_PARTS[1:3])
    held = np.flatnonzero(count > 0)
    return held[np.argsort(score[held], kind="stable")]


def cells_with_rows(tree: xr.DataTree, case: ResultSlice) -> tuple[Floats, Floats, Whole]:
    """Scores and rows of all cells (cell,), and which have rows, by their scores."""
    names = (schema.CELL_SCORE, schema.CELL_COUNT)
    score, rows = np.array(access.values(tree, schema.CONSTANT_DATA, case, *names), np.float64)
    held = np.flatnonzero(rows > 0)
    return score, rows, held[np.argsort(score[held], kind="stable")]


def draw_cells(rows: Rows, draws: Draws, rng: np.random.Generator) -> Cells:
    """Draws whose masses are Dirichlet by the rows: nothing is of the curve, or of its prior.

    Weights of w have the sum of w g over rows with g ~ Exponential(1), by its mean and variance.
    """
    number, kept = draws
    positive, negative = (
        rng.standard_gamma(np.broadcast_to(shape, (number, len(shape))))[kept] * unit
        for shape, unit in zip(rows.by_label[::-1], rows.unit[::-1], strict=True)
    )
    added = _Added.draw(number, rng).at(kept)
    row = np.searchsorted(np.cumsum(rows.number) / rows.number.sum(), added.row)
    count, total = (own.sum(axis=1) for own in (rows.by_label, rows.by_label * rows.unit))
    return _with_added(positive, negative, rows, row, added, _ratio(total, count))


def part_weights(rows: Rows, draws: Draws, rng: np.random.Generator) -> Floats:
    """Weights by which parts share the mass of their cell, by their rows, (draw, part)."""
    number, kept = draws
    drawn = rng.standard_gamma(np.broadcast_to(rows.number, (number, len(rows.score))))[kept]
    # Draws of far less than one effective row underflow.
    return np.maximum(drawn, 1e-200) * (rows.cells.mass / rows.number)


def curve_by_part(cells: Cells, rows: Rows, weight: Floats) -> Cells:
    """A curve at the parts of its cells, whose mass they share by weights (draw, part).

    Of a rare event the last hundredth of the rows is a cell, and has most of the events.
    """
    first = np.searchsorted(rows.cell, np.arange(len(cells.score)))
    own = weight.reshape(*cells.mass.shape[:-1], len(rows.score))
    each = cells.mass / np.add.reduceat(own, first, axis=-1)
    rate, each = (np.take(values, rows.cell, axis=-1) for values in (cells.rate, each))
    apart = np.flatnonzero(rows.score != cells.score[rows.cell])
    if len(apart):
        rate[..., apart] = _between(cells, rows, apart)
    return Cells(rate, rows.score, own * each, rows.ends)


def _between(cells: Cells, rows: Rows, part: Whole) -> Floats:
    """Rates of some parts, whose scores are not those of their cells, (..., part).

    Deviations of the logits are straight lines between the cells' scores. Beyond, they follow the
    line through all of them. Where they or the rates are steps, parts have those of their cell.
    """
    inner = np.flatnonzero((cells.score > 0) & (cells.score < 1))
    score, mean = rows.score[part], np.take(cells.rate, inner, axis=-1)
    found, off = np.tile(score, (*mean.shape[:-1], 1)), (mean != cells.score[inner]).any(axis=-1)
    mean, line, at = mean[off], logit(cells.score[inner]), logit(score)
    deviation = np.where(mean == cells.score[inner], 0.0, np.clip(logit(mean), *_LOGITS) - line)
    weight = np.bincount(rows.cell, rows.cells.mass[0])[inner]
    centred = weight * (line - np.average(line, weights=weight))
    slope = centred / max(centred @ line, _NOTHING)
    known = np.stack([np.interp(at, line, one) for one in np.eye(len(line))])
    known += np.outer(slope, at - np.clip(at, line[0], line[-1]))
    moved, own = deviation @ known, np.searchsorted(inner, rows.cell[part])
    jumps, rises = (np.abs(np.diff(one, prepend=one[:, :1])) for one in (deviation, mean))
    steps, level = np.median(jumps, axis=-1) < _FLAT, np.median(rises, axis=-1) == 0
    moved[steps] = deviation[steps][:, own]
    moved = sigmoid(at + moved)
    moved[level & ~steps] = mean[level & ~steps][:, own]
    found[off] = _with_means(moved, mean, own, rows.cells.mass[0, part])
    return found


def _with_means(rate: Floats, mean: Floats, cell: Whole, weight: Floats) -> Floats:
    """Rates of parts (draw, part) moved in logits towards means that are those of their cells.

    A cell of many scores has its rows' mean rate, not that at their mean score. One step of
    Newton's method leaves a hundredth of the difference.
    """
    first = np.flatnonzero(np.diff(cell, prepend=-1))
    own = np.repeat(np.arange(len(first)), np.diff(first, append=len(cell)))
    weighed = weight / np.add.reduceat(weight, first)[own] * rate
    missing = mean[:, cell[first]] - np.add.reduceat(weighed, first, axis=1)
    slope = np.add.reduceat(weighed * (1 - rate), first, axis=1)
    step = np.divide(missing, slope, out=np.zeros_like(slope), where=slope > 0)
    factor = np.take(np.expm1(np.clip(step, -1, 1)), own, axis=1)
    return np.asarray(rate * (1 + factor) / (1 + rate * factor))


def _ratio(total: Floats, number: Floats) -> Floats:
    """Weight of an effective row by label, (2,); 1 of a label without rows."""
    return np.divide(total, number, out=np.ones(2), where=number > 0)


def _with_added(
    positive: Floats, negative: Floats, rows: Rows, row: Whole, added: _Added, each: Floats
) -> Cells:
    """Add two rows to each draw (draw, cell): one in the cell `row`, one nearest to its score.

    `each` is what one weighs without and with the event: as an effective row.
    """
    draw, score = np.arange(len(row)), rows.score
    without, with_event = each
    nearest = np.searchsorted((score[1:] + score[:-1]) / 2, added.anywhere)
    cells = (np.minimum(row, len(score) - 1), nearest)
    for cell, is_positive, weight in zip(cells, added.positive, added.weight, strict=True):
        positive[draw, cell] += with_event * weight * is_positive
        negative[draw, cell] += without * weight * ~is_positive
    is_positive, weight = added.positive[0], added.weight[0]
    more = np.stack([without * weight * ~is_positive, with_event * weight * is_positive])
    return _cells(positive, negative, rows, more)


def _cells(positive: Floats, negative: Floats, rows: Rows, added: Floats = _NONE_ADDED) -> Cells:
    """Cells of weights of rows with and without the event, (draw, cell)."""
    mass = positive + negative
    rate = np.divide(positive, mass, out=np.zeros_like(mass), where=mass > 0)
    total = mass.sum(axis=1, keepdims=True)
    return Cells(rate, rows.score, mass / total, rows.ends, added / total[:, 0])


def joint_values(
    tree: xr.DataTree, function: Callable[[Cells], Any], cases: Sequence[ResultSlice]
) -> Floats:
    """Draws of a function of cells for classifiers of the same rows, (case, ..., draw).

    All classifiers have the same weights of the rows. A result keeps some of many rows, each of
    which has the weight of those that it stands for: draws then vary about the value of all rows.
    """
    every = [rows_of(tree, case) for case in cases]
    known = [rows for rows in every if rows is not None]
    draws = Draws.of(tree)
    values = np.stack([function(one) for one in _joint_cells(tree, known, cases, draws.number)])
    if access.has_variable(tree, schema.SHARED_ROWS, schema.STANDS_FOR):
        center = np.stack([function(rows.cells) for rows in known])
        values = center + values - np.nanmean(values, axis=-1, keepdims=True)
    return values[..., draws.kept]


def _joint_cells(
    tree: xr.DataTree, known: Sequence[Rows], cases: Sequence[ResultSlice], number: int
) -> Iterator[Cells]:
    """Cells of each classifier, (draw, cell), under common weights of the rows."""
    rng = access.stream_of(tree, schema.SHARED_ROWS)
    rows_each = stands_for(tree)
    stored = [_stored(tree, case, rows_each) for case in cases]
    size = len(rows_each)
    added = _Added.draw(number, rng)
    row = np.minimum(np.searchsorted(np.cumsum(rows_each) / rows_each.sum(), added.row), size - 1)
    found = [np.empty((number, 2, len(rows.score))) for rows in known]
    # From weights of rows to sums of positive rows by cell, then of negative ones.
    sums = [
        csr_array((weight, (cell + n * (1 - label), np.arange(size))), shape=(2 * n, size))
        for (cell, label, weight), n in zip(stored, (one.shape[2] for one in found), strict=True)
    ]
    step = max(1, _WEIGHTS_AT_ONCE // size)
    for start in range(0, number, step):
        part = slice(start, min(start + step, number))
        weight = rng.standard_gamma(rows_each[:, None], (size, part.stop - start))
        for total, one in zip(found, sums, strict=True):
            total[part] = (one @ weight).T.reshape(-1, *total.shape[1:])
    for rows, (cell, label, weight) in zip(known, stored, strict=True):
        total = found.pop(0)
        # Of the rows, not of their parts, which differ by classifier: treating all is one number.
        each = _ratio(*(np.bincount(label, rows_each * weight**k, 2) for k in (2, 1)))
        yield _with_added(total[:, 0], total[:, 1], rows, cell[row], added, each)


def alike(tree: xr.DataTree, cases: Sequence[ResultSlice], by_rank: bool = False) -> list[int]:
    """Of each case the first whose shared rows have its labels and nearly its scores, or itself.

    Their errors differ by less than Monte Carlo error, a fiftieth of a standard error at most: by
    what the scores differ on average in the cells of the first, to which what they differ by
    within cells adds its square at most. With `by_rank` ranks correlate so that those of an AUC do.
    """
    found = list(range(len(cases)))
    if schema.SHARED_ROWS not in tree.children:
        return found
    number, known = stands_for(tree), [rows_of(tree, case) for case in cases]
    stored = [_stored(tree, case, number) for case in cases]
    near = _near(stored[0][1], number)
    for k, (place, label, _) in enumerate(stored):
        for one, (other, other_label, _) in enumerate(stored[:k]):
            mine, theirs = known[k], known[one]
            if mine is None or theirs is None or not np.array_equal(label, other_label):
                continue
            apart = mine.score[place] - theirs.score[other]
            shift = _mean_shift(apart, theirs.cell[other], number)
            ranks_apart = by_rank and _ranks_apart(place, other, label, number)
            near_each = max(shift, np.average(apart**2, weights=number)) <= near
            if near_each and not ranks_apart:
                found[k] = found[one]
                break
    return found


def ranked_alike(
    tree: xr.DataTree, cases: Sequence[ResultSlice], first: Sequence[int]
) -> list[int]:
    """Of each case the first that is `alike`, or whose ranks move an AUC by next to nothing.

    A classifier that is calibrated anew ranks rows as before, by scores that are not near. Edges
    of parts are halfway between scores, so that a few rows may be in the next part.
    """
    number, found = stands_for(tree), list(first)
    stored = [_stored(tree, case, number)[:2] for case in cases]
    for k, (place, label) in enumerate(stored):
        of_label = np.bincount(label, number, 2)
        each, near = (number / of_label[label], _ALIKE / math.sqrt(12 * max(of_label.min(), 1)))
        for one, (other, other_label) in enumerate(stored[:k]):
            moved = np.average(np.abs(_moved(place, other, number)), weights=each)
            if np.array_equal(label, other_label) and moved <= near:
                found[k] = found[one]
                break
    return found


def _near(label: Whole, number: Floats) -> float:
    """A fiftieth of a standard error of the share of events."""
    rate = (label @ number + 1) / (number.sum() + 2)
    return _ALIKE * math.sqrt(rate * (1 - rate) / number.sum())


def called_alike(
    tree: xr.DataTree, cases: Sequence[ResultSlice], thresholds: ArrayLike
) -> NDArray[np.intp]:
    """Of each case the first that calls the rows that it calls, (threshold, case).

    Of a part that a threshold cuts it is known to a hundredth how many rows are called. Those who
    differ by less than that, half a row or a fiftieth of a standard error of the share of events,
    of the shared rows and in the numbers of all of either label, call the same ones.
    """
    number, at = stands_for(tree), np.atleast_1d(thresholds)
    found = np.tile(np.arange(len(cases)), (len(at), 1))
    known: list[tuple[Floats, Floats, Whole]] = []
    for k, case in enumerate(cases):
        place, label, _ = _stored(tree, case, number)
        rows = rows_of(tree, case)
        if rows is None:
            return found
        called = rows.called(at)
        sums, called = called @ rows.by_label.T, called[:, place]
        cut = _CUT * ((called > 0) & (called < 1)) @ number
        few = np.maximum(cut, max(_LEAST_ROWS, _near(label, number) * number.sum()))
        for one, (other, other_sums, other_label) in enumerate(known):
            near = (np.abs(sums - other_sums) < few[:, None]).all(axis=1) & (found[:, k] == k)
            # Rows are compared where their numbers agree, which is rare and quick to see.
            if near.any() and np.array_equal(label, other_label):
                near[near] = np.abs(called[near] - other[near]) @ number < few[near]
                found[near, k] = found[near, one]
        known.append((called, sums, label))
    return found


def _mean_shift(apart: Floats, cell: Whole, number: Floats) -> float:
    """Mean of what scores differ by on average in a cell, less what the choice of rows adds."""
    total = np.abs(np.bincount(cell, number * apart))
    noise = np.sqrt(np.bincount(cell, number * np.maximum(number - 1, 0) * apart**2))
    return float((total - noise).sum() / number.sum())


def _moved(one: Whole, other: Whole, number: Floats) -> Floats:
    """Differences of the ranks of rows, by their parts."""
    sums = [np.bincount(place, number) for place in (one, other)]
    ranks = [(own.cumsum() - own / 2) / own.sum() for own in sums]
    return np.asarray(ranks[0][one] - ranks[1][other])


def _ranks_apart(one: Whole, other: Whole, label: Whole, number: Floats) -> bool:
    """Whether ranks of rows, by their parts, differ by more than a fiftieth of their deviation."""
    moved = _moved(one, other, number)
    # Rows of a rare event count as much as all others.
    each = number / np.bincount(label, number)[label]
    return bool(np.average(moved**2, weights=each) > _ALIKE**2 / 12)


def stands_for(tree: xr.DataTree) -> Floats:
    """For how many rows each of those stands that a result keeps, (shared_row,)."""
    kept = tree[schema.SHARED_ROWS].sizes["shared_row"]
    if not access.has_variable(tree, schema.SHARED_ROWS, schema.STANDS_FOR):
        return np.ones(kept)
    first = access.cases(tree)[0]
    found = access.variable(tree, schema.SHARED_ROWS, schema.STANDS_FOR, first).to_numpy()
    return np.asarray(found * int(tree.attrs["n_labeled"]) / found.sum(dtype=np.float64))


def _stored(tree: xr.DataTree, case: ResultSlice, number: Floats) -> tuple[Whole, Whole, Floats]:
    """Cell, label and weight of the rows that a result keeps, (shared_row,) each."""
    has_parts = access.has_variable(tree, schema.SHARED_ROWS, schema.PART)
    name = schema.PART if has_parts else schema.CELL
    held = access.values(tree, schema.SHARED_ROWS, case, schema.LABEL, name)
    label, place = (values.astype(np.intp) for values in held)
    cell = np.argsort(_parts(tree, case) if has_parts else cells_with_rows(tree, case)[2])[place]
    weight = np.ones(len(label))
    if access.has_variable(tree, schema.SHARED_ROWS, schema.WEIGHT):
        given = access.variable(tree, schema.SHARED_ROWS, schema.WEIGHT, case).to_numpy()
        weight = given * (number * given).sum() / (number * given.astype(np.float64) ** 2).sum()
    return cell, label, weight
