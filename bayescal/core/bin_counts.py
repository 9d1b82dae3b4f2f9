"""What a binning leaves of the rows: counts, positives and mean score of each bin."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from bayescal.core import bin_edges
from bayescal.core.bin_edges import CLOSED, OrderStatistics, Strategy
from bayescal.core.checks import check_choice, check_is
from bayescal.core.columns import Floats, Whole, to_doubles, to_numpy
from bayescal.core.errors import InputError

# What a row is.
NEGATIVE, POSITIVE, UNLABELED = range(3)
# Neighbours that share their effective rows: few enough blocks that each has many rows, and their
# sums of weights tell little of the labels; enough for weights that follow the score.
BLOCKS = 10
_BLOCK_ROWS = 50


# Mean scores that a user computed in float32 may leave their bin by this much.
_MEAN_SLACK = 1e-6
# Logarithms of ratios of equal weights are off by less.
_ROUNDING = 1e-9


def _check_shape(given: NDArray[Any], name: str, n_bins: int) -> None:
    if given.shape != (n_bins,):
        raise InputError(
            f"{name} must have one value a bin, {n_bins} in all; got shape {given.shape}. "
            "Pass one more edge than there are bins, and of an empty bin 0, or any mean score."
        )


def _whole(values: ArrayLike, name: str, n_bins: int) -> Whole:
    """Check one count a bin: whole numbers, none negative."""
    given = to_numpy(values, name)
    if given.dtype.kind not in "biuf":
        raise InputError(f"{name} must be whole numbers; got {given.dtype}. Pass counts of rows.")
    _check_shape(given, name, n_bins)
    with np.errstate(invalid="ignore"):  # NaN and infinity become other numbers
        whole = given.astype(np.int64)
    bad = (whole != given) | (whole < 0)
    if bad.any():
        place = int(bad.argmax())
        raise InputError(
            f"{name} must be whole numbers >= 0; got {given[place]!s} in bin {place}. "
            "Pass counts of rows, not shares."
        )
    return whole


def _effective(values: ArrayLike, name: str, n_bins: int) -> Floats:
    """Check one number a bin: finite, none negative."""
    numbers = to_doubles(values, name).copy()
    _check_shape(numbers, name, n_bins)
    bad = ~((numbers >= 0) & np.isfinite(numbers))
    if bad.any():
        place = int(bad.argmax())
        raise InputError(
            f"{name} must be finite and >= 0; got {numbers[place]:.6g} in bin {place}. "
            "Pass what the weights of the rows in the bin sum up to."
        )
    return numbers


def _check_at_most(part: NDArray[Any], whole: NDArray[Any], name: str, of: str) -> None:
    if (part > whole).any():
        place = int((part > whole).argmax())
        raise InputError(
            f"{name} must not exceed {of}; got {part[place]:.6g} of {whole[place]:.6g} in bin "
            f"{place}. Pass the rows where the event happened."
        )


@dataclass(frozen=True, slots=True, eq=False)
class BinCounts:
    """Rows summed up by bins of the score; two of the same bins add up.

    Parameters
    ----------
    edges : array-like of shape (bin + 1,)
        Bin edges from 0 to 1. Equal neighbours make a bin that only an end of [0, 1] can fill.
    count : array-like of shape (bin,)
        Numbers of rows; of weighted rows the effective numbers, ``(sum w)**2 / sum w**2``.
    positives : array-like of shape (bin,)
        Rows where the event happened; of weighted rows `count` times their share of the weight.
    mean_score : array-like of shape (bin,)
        Mean score of the rows of each bin. At an empty bin it is a score that stands for it; the
        midpoint of its edges takes the place of NaN and of what lies outside the bin.
    closed : {"right", "left"}, default "right"
        ``"right"``: bins are (low, high], and the first one holds 0 as well. ``"left"``: bins are
        [low, high), and the last one holds 1 as well.
    strategy : str, default "edges"
        How the edges were chosen: ``"uniform"``, ``"quantile"`` or ``"edges"`` (given).
    mass : array-like of shape (bin,), optional
        Sums of the weights of the rows. Given with `rows`; without both each row counts alike.
    rows : array-like of shape (bin,), optional
        Numbers of weighted rows.
    positive_rows : array-like of shape (bin,), optional
        Those of `rows` where the event happened; by default as if weights did not depend on it.

    Raises
    ------
    InputError
        If edges decrease or do not run from 0 to 1, counts are not whole numbers, positives
        outnumber rows, a mean score lies outside its bin, or `mass` or `rows` is given alone.

    Notes
    -----
    Of weighted rows, the sums of w, w**2, w times the event and w times the score follow from
    `mass`, `count`, `positives` and `mean_score`: weighted counts add up and merge as others.

    `mean_score` is what makes counts enough for the expected calibration error: the midpoint of a
    bin would put the spread of the scores inside it into the error.

    Examples
    --------
    >>> from bayescal.core.bin_counts import BinCounts
    >>> bins = BinCounts([0, 0.5, 1], count=[4, 6], positives=[1, 5], mean_score=[0.25, 0.75])
    >>> (bins + bins).count.tolist()
    [8, 12]
    """

    edges: Floats
    count: NDArray[Any]  # whole numbers, or effective ones
    positives: NDArray[Any]
    mean_score: Floats
    closed: str = "right"
    strategy: str = "edges"
    mass: Floats | None = None
    rows: Whole | None = None
    positive_rows: NDArray[Any] | None = None
    # Of evened bins, whose counts no longer tell the squares of the weights.
    _ratio_before: tuple[Floats, Floats] | None = field(default=None, init=False, repr=False)

    def __post_init__(self) -> None:
        check_choice(self.closed, CLOSED, "closed")
        check_is(self.strategy, str, "strategy", "Pass 'edges'.")
        edges = bin_edges.check_edges(self.edges)
        number = _whole if self.mass is None else _effective
        count = number(self.count, "count", len(edges) - 1)
        positives = number(self.positives, "positives", len(edges) - 1)
        _check_at_most(positives, count, "positives", "count")
        sums = self._check_weights(count, positives)
        fields = {
            "edges": edges,
            "count": count,
            "positives": positives,
            "mean_score": _mean_scores(self.mean_score, edges, count),
            **sums,
        }
        for name, values in fields.items():
            values.setflags(write=False)
            object.__setattr__(self, name, values)

    @property
    def n_bins(self) -> int:
        """Number of bins, empty ones among them."""
        return len(self.count)

    @property
    def n(self) -> int:
        """Number of rows in all bins."""
        return int((self.count if self.rows is None else self.rows).sum())

    @property
    def weighted(self) -> bool:
        """Whether rows have weights."""
        return self.mass is not None

    @property
    def weight(self) -> NDArray[Any]:
        """Sums of the rows' weights, (bin,): the numbers of rows where these have none."""
        return self.count if self.mass is None else self.mass

    @property
    def share(self) -> Floats:
        """Shares of all weight in each bin, (bin,)."""
        return np.asarray(self.weight / self.weight.sum())

    @property
    def effective_n(self) -> float:
        """Effective number of rows in all bins, ``(sum w)**2 / sum w**2``."""
        return float(self.weight.sum() ** 2 / self.sums[3].sum())

    @property
    def prevalence(self) -> float:
        """Share of the rows, or of their weight, where the event happened."""
        return float(self.sums[4].sum() / self.weight.sum())

    def _check_weights(
        self, count: NDArray[Any], positives: NDArray[Any]
    ) -> dict[str, NDArray[Any]]:
        """Check the fields that only weighted rows have."""
        if (self.mass is None) != (self.rows is None):
            raise InputError(
                "mass and rows must be given together; got one of them. "
                "Pass the sums of the weights and the numbers of rows, or neither."
            )
        if self.mass is None:
            return {}
        sums = {
            "mass": _effective(self.mass, "mass", len(count)),
            "rows": _whole(np.asarray(self.rows), "rows", len(count)),
        }
        for name, values in sums.items():
            wrong = (values > 0) != (count > 0)
            if wrong.any():
                place = int(wrong.argmax())
                raise InputError(
                    f"{name} must be above 0 where count is; got {values[place]:.6g} in bin "
                    f"{place}. Pass 0 for both in an empty bin."
                )
        own = self.positive_rows
        even = sums["rows"] * positives / np.where(count > 0, count, 1) if own is None else own
        of_event = _effective(even, "positive_rows", len(count))
        # Sums of fractions may be off in their last digits.
        _check_at_most(of_event, sums["rows"] * (1 + 1e-9), "positive_rows", "rows")
        return sums | {"positive_rows": of_event}

    @property
    def sums(self) -> NDArray[Any]:
        """Rows, positive ones, weights, their squares, and weights of positive rows, (5, bin)."""
        if self.mass is None:
            return np.stack([self.count, self.positives, self.count, self.count, self.positives])
        count = np.where(self.count > 0, self.count, 1)
        weights = (self.mass, self.mass**2 / count, self.mass * (self.positives / count))
        return np.stack([np.asarray(self.rows), np.asarray(self.positive_rows), *weights])

    def __add__(self, other: BinCounts) -> BinCounts:
        """Count the rows of both."""
        if self.closed != other.closed or not np.array_equal(self.edges, other.edges):
            raise InputError(
                "only counts of the same bins add up; these differ in edges or in closed. "
                "Bin both with the edges of one: n_bins is then not needed, strategy=edges."
            )
        strategy = self.strategy if self.strategy == other.strategy else "edges"
        place = np.tile(np.arange(self.n_bins), 2)
        return _sum_up([self, other], place, self.edges, strategy)

    def merge(self, edges: ArrayLike, strategy: str = "edges") -> BinCounts:
        """Merge into coarser bins.

        Parameters
        ----------
        edges : array-like of shape (coarse bin + 1,)
            Some of the edges of these bins, each as often as wanted: repeated edges make empty
            bins, as they do when the rows themselves are binned.
        strategy : str, default "edges"
            How `edges` were chosen.

        Returns
        -------
        BinCounts
            The same rows in the coarser bins.

        Raises
        ------
        InputError
            If an edge is not among those of these bins, so that a bin would have to be cut.

        Examples
        --------
        >>> from bayescal.core.bin_counts import BinCounts
        >>> bins = BinCounts([0, 0.2, 0.5, 1], [4, 2, 6], [1, 1, 5], [0.1, 0.4, 0.75])
        >>> bins.merge([0, 0.5, 1]).count.tolist()
        [6, 6]
        """
        coarse = bin_edges.check_edges(edges)
        self._check_contains(coarse)
        return _sum_up([self], self.place_in(coarse), coarse, strategy)

    def evened(self) -> BinCounts:
        """Share the effective rows of neighbouring bins out in proportion to their weight.

        Returns
        -------
        BinCounts
            The same bins and weights. Bins of rows without weights stay as they are.

        Notes
        -----
        The effective number of a bin of one row is 1, whatever its weight: a likelihood of such
        bins would not know the weights. Here each row counts in proportion to its weight, and
        neighbours share one factor: with S and W the sums of w**2 and w over the rows of a label,
        the variance of the logit of their rate, ``S1 / W1**2 + S0 / W0**2``, is that of so many
        rows: ``sum(w)**2 / sum(w**2)`` where weights do not depend on the label. How many times as
        much rows with the event weigh is the ratio of Mantel and Haenszel, drawn to 1 by its noise.
        Neighbours are a tenth of the rows, or 50: the factor knows ever less of the labels.

        Examples
        --------
        >>> from bayescal.core.bin_counts import BinCounts
        >>> bins = BinCounts([0, 0.5, 1], [1, 1], [0, 1], [0.2, 0.8], mass=[1, 3], rows=[1, 1])
        >>> bins.evened().count.round(6).tolist()
        [0.666667, 2.0]
        """
        if self.mass is None or self.rows is None:
            return self
        block = blocks_of(self.rows)
        total, squares = (np.bincount(block, one) for one in self.sums[2:4])
        per_weight = (total / np.where(squares > 0, squares, 1))[block]
        count = self.mass * per_weight * self._rate_factor
        share = self.positives / np.where(self.count > 0, self.count, 1)
        return self._replaced(count=count, positives=count * share)

    def _replaced(self, **fields: Any) -> BinCounts:
        changed = replace(self, **fields)
        object.__setattr__(changed, "_ratio_before", self.label_ratio)
        return changed

    @property
    def rate_count(self) -> NDArray[Any]:
        """Effective rows by which the rates of bins vary, (bin,); 1 of a single row."""
        return np.where(self.sums[0] > 1, self.count * self._rate_factor, self.count)

    @property
    def _rate_factor(self) -> NDArray[np.float64]:
        ratio, rate = self.label_ratio
        # 1 exactly where the ratio is.
        return np.asarray(1 + (ratio - 1) * (2 * rate - 1) / (ratio * (1 - rate) + rate))

    @property
    def weight_by_label(self) -> NDArray[Any]:
        """Sums of the weights of rows without and with the event, (2, bin)."""
        of_positives = self.sums[4]
        return np.stack([self.weight - of_positives, of_positives])

    @property
    def unit(self) -> Floats:
        """Weights of an effective row without and with the event, of evened bins, (2, bin)."""
        ratio, rate = self.label_ratio
        each = self.weight / np.where(self.count > 0, self.count, 1)
        without = each / (1 + (ratio - 1) * (1 - rate))
        return np.stack([without, ratio * without])

    @property
    def mass_count(self) -> NDArray[Any]:
        """Effective rows by which the masses of evened bins vary, (bin,)."""
        if not self.weighted:
            return self.count
        unit = self.unit
        return np.asarray((self.weight_by_label / np.where(unit > 0, unit, 1)).sum(axis=0))

    @property
    def label_ratio(self) -> tuple[Floats, Floats]:
        """How many times as much rows with the event weigh, and their rate, by block, (bin,)."""
        if self._ratio_before is not None:
            return self._ratio_before
        block = blocks_of(self.sums[0].astype(np.int64))
        sums = np.stack([np.bincount(block, one) for one in self.sums])
        ratio, (*_, weight, _, own) = weight_ratio(sums[..., None]), sums
        return ratio[block], (own / np.where(weight > 0, weight, 1))[block]

    def place_in(self, edges: Floats) -> Whole:
        """Find the coarser bin that each of these bins lies in.

        Parameters
        ----------
        edges : ndarray of shape (coarse bin + 1,)
            Edges of the coarser bins, all of them edges of these.

        Returns
        -------
        ndarray of shape (bin,), int64
            Numbers of the coarser bins.
        """
        ends = self.edges[1:] if self.closed == "right" else self.edges[:-1]
        return bin_edges.place_in(edges, ends, self.closed)

    def find(self, score: NDArray[np.floating]) -> Whole:
        """Find the bin that each score falls into.

        Parameters
        ----------
        score : ndarray of shape (obs,), in [0, 1]
            Scores.

        Returns
        -------
        ndarray of shape (obs,), int64
            Numbers of the bins.
        """
        return bin_edges.place_in(self.edges, score, self.closed)

    def _check_contains(self, coarse: Floats) -> None:
        """Check that no bin has to be cut to make the coarser ones."""
        foreign = ~np.isin(coarse, self.edges)
        if foreign.any():
            raise InputError(
                f"coarser bins must use edges of the finer ones; {coarse[foreign][0]:.6g} is none. "
                "Bin the rows again, with the edges of both."
            )
        # An edge doubled at the closed end cuts off the rows at exactly 0 (or 1).
        if self.closed == "right":
            cut = coarse[1] == 0.0 and self.edges[1] > 0.0 and self.count[0] > 0
        else:
            cut = coarse[-2] == 1.0 and self.edges[-2] < 1.0 and self.count[-1] > 0
        if cut:
            raise InputError(
                f"coarser bins must use edges of the finer ones; these do not separate the rows at "
                f"{0 if self.closed == 'right' else 1} from the rest of their bin. "
                "Bin the rows again, with the edges of both."
            )


def without(bins: BinCounts, left_out: NDArray[np.bool_]) -> BinCounts:
    """Leave out the rows of some bins, (bin,); what is known of the weights stays."""
    own = ("count", "positives", "mass", "rows", "positive_rows")
    held = {name: values for name in own if (values := getattr(bins, name)) is not None}
    return bins._replaced(**{name: np.where(left_out, 0, held[name]) for name in held})


def weight_ratio(sums: Floats) -> Floats:
    """How many times as much rows with the event weigh, (block,), by `BinCounts.sums` of strata.

    Blocks with few rows of a label follow the others, by the ratio of Mantel and Haenszel. It is 1
    if it is within two standard errors, and shrunk by the share of these in its square. Strata,
    (5, block, stratum), hold rows whose weights differ by the label alone.
    """
    rows, positives, weight, squares, own = sums
    share = positives / np.maximum(rows, 1)
    up, down = (own * (1 - share)).sum(axis=1), ((weight - own) * share).sum(axis=1)
    overall = np.log(up.sum() / down.sum()) if up.any() and down.any() else 0.0
    if abs(overall) <= _ROUNDING:
        return np.ones(len(up))
    number = np.array([positives.sum(), (rows - positives).sum()])
    total = np.array([own.sum(), (weight - own).sum()])
    spread = max(squares.sum() / (total**2 / number).sum() - 1, 0)
    noise = 4 * spread * (1 / number).sum() / overall**2
    return np.asarray(((up + up.mean()) / (down + down.mean())) ** max(1 - noise, 0))


def blocks_of(rows: Whole) -> Whole:
    """The block of neighbours that each bin is in, (bin,)."""
    n = int(rows.sum())
    blocks = max(min(n // _BLOCK_ROWS, BLOCKS), 1)
    # Empty bins behind the last row are in the last block.
    before = np.minimum(np.cumsum(rows) - rows, max(n - 1, 0))
    return np.asarray(before * blocks // max(n, 1))


def counts_of_sums(
    edges: Floats, sums: NDArray[Any], mean_score: Floats, closed: str, strategy: str
) -> BinCounts:
    """Counts from `BinCounts.sums`, or of rows without weights the first two of these."""
    if len(sums) == 2:
        return BinCounts(edges, sums[0], sums[1], mean_score, closed, strategy)
    rows, positive_rows, weight, squares, of_positives = sums
    held = rows > 0
    # At least 1 but for rounding, which must not make more positives than rows either.
    count = held * np.maximum(weight**2 / np.where(held, squares, 1), 1)
    positives = count * np.minimum(of_positives / np.where(held, weight, 1), 1)
    weights = (weight, rows, positive_rows)
    return BinCounts(edges, count, positives, mean_score, closed, strategy, *weights)


def totals[Number: np.generic](values: NDArray[Number], place: Whole, size: int) -> NDArray[Number]:
    """Sum values, (sum, ...), up by place, (sum, size)."""
    found = np.zeros((len(values), size), values.dtype)
    np.add.at(found.T, place, values.T)
    return found


def _sum_up(parts: Sequence[BinCounts], place: Whole, edges: Floats, strategy: str) -> BinCounts:
    """Put the bins of all parts into those that `place` names, one after the other."""
    size, score = len(edges) - 1, np.concatenate([part.mean_score for part in parts])
    sums = np.concatenate([part.sums for part in parts], axis=1)
    mean_score = joint_means(place, sums[2], score, size)
    sums = sums if any(part.weighted for part in parts) else sums[:2]
    return counts_of_sums(edges, totals(sums, place, size), mean_score, parts[0].closed, strategy)


def joint_means(
    place: Whole, weight: NDArray[Any], mean_score: NDArray[np.floating], size: int
) -> Floats:
    """Mean scores of bins made of parts, (bin,), NaN in an empty one; equal means stay exact."""
    held = weight > 0
    place, weight, mean_score = place[held], weight[held], mean_score[held]
    total = np.bincount(place, weight, size)
    lowest, highest = np.full(size, np.inf), np.full(size, -np.inf)
    np.minimum.at(lowest, place, mean_score)
    np.maximum.at(highest, place, mean_score)
    mean = np.bincount(place, weight * mean_score, size) / np.where(total > 0, total, np.nan)
    # The quotient of sums may leave the range of the parts by its rounding.
    return np.asarray(np.minimum(np.maximum(mean, lowest), highest))


def _mean_scores(mean_score: ArrayLike, edges: Floats, count: NDArray[Any]) -> Floats:
    """Check that each mean lies in its bin, and put the midpoint where a bin is empty."""
    given = to_doubles(mean_score, "mean_score")
    _check_shape(given, "mean_score", len(count))
    low, high = edges[:-1], edges[1:]
    inside = (given >= low - _MEAN_SLACK) & (given <= high + _MEAN_SLACK)
    means = np.where(inside | (count > 0), given, (low + high) / 2)
    inside |= count == 0
    if not inside.all():
        place = int(np.argmin(inside))
        raise InputError(
            f"mean_score must lie in its bin; got {means[place]:.6g} in bin {place}, from "
            f"{low[place]:.6g} to {high[place]:.6g}. Pass the mean of the scores in the bin."
        )
    return np.clip(means, low, high)


@dataclass(frozen=True, slots=True, eq=False)
class TiedRows:
    """Labelled rows by rising score; those of one narrow cell count as tied."""

    score: NDArray[np.floating]  # (score,)
    rows: Whole  # (score,)
    positives: Whole  # (score,)
    weights: Floats | None = None  # of negative and positive rows, and their squares, (3, score)

    @property
    def mass(self) -> tuple[NDArray[Any], NDArray[Any]]:
        """Numbers, or weights, of all rows and of the positive ones, (score,)."""
        if self.weights is None:
            return self.rows, self.positives
        return self.weights[:2].sum(axis=0), self.weights[POSITIVE]

    @property
    def size(self) -> Whole:
        """What ranks count: rows, or units of weight, (score,)."""
        if self.weights is None:
            return self.rows
        return bin_edges.weight_units(self.mass[0], self.weights[2], self.rows)

    @property
    def effective_n(self) -> float:
        """Number of rows; of weighted ones the effective number."""
        if self.weights is None:
            return int(self.rows.sum())
        return float(self.mass[0].sum() ** 2 / self.weights[2].sum())

    def edges(self, n_bins: int, strategy: Strategy) -> Floats:
        """Edges of bins, (bin + 1,)."""
        last = np.cumsum(self.size)

        def of_ranks(ranks: Whole) -> NDArray[np.floating]:
            return self.score[np.searchsorted(last, ranks)]

        return bin_edges.choose_edges(of_ranks, int(last[-1]), n_bins, strategy)

    def cell_edges(self, edges: Floats, n_cells: int, closed: str) -> Floats:
        """Edges of cells within bins that a curve is fitted to."""
        return bin_edges.cell_edges(
            self.score, n_cells, edges, lambda: self.edges(n_cells, "quantile"), closed
        )

    def parts(self, cells: BinCounts) -> BinCounts:
        """Count the rows of cells by parts that hold few rows of either label."""
        inside = (self.score > 0) & (self.score < 1)
        by_label = (self.rows - self.positives, self.positives)
        last = [np.cumsum(own * inside) for own in by_label]

        def of_ranks(own: Whole) -> OrderStatistics:
            return lambda ranks: self.score[np.searchsorted(own, ranks)]

        of_labels = [(of_ranks(own), int(own[-1])) for own in last]
        edges = bin_edges.part_edges(cells.edges, of_labels, self.score, cells.closed)
        return self.count(edges, cells.closed)

    def place(self, edges: Floats, closed: str = "right") -> Whole:
        """The bin of each score."""
        return bin_edges.place_in(edges, self.score, closed)

    def count(self, edges: Floats, closed: str = "right", strategy: str = "edges") -> BinCounts:
        """Count the rows into bins."""
        place, size = self.place(edges, closed), len(edges) - 1
        weight, of_positives = self.mass
        sums = np.stack([self.rows, self.positives])
        if self.weights is not None:
            sums = np.stack([*sums, weight, self.weights[2], of_positives])
        mean = joint_means(place, weight, self.score, size)
        return counts_of_sums(edges, totals(sums, place, size), mean, closed, strategy)
