"""Evidence for a calibration curve that jumps, averaged over all ways to cut the scores."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit, logsumexp

from bayescal.core.bins.bin_counts import BinCounts
from bayescal.quantities.ece.alternatives.calibration_test import cell_logit

type Floats = NDArray[np.float64]

BLOCKS = 50
START = 0.03
"""Prior probability that a new segment starts at a block."""
SCALE = 0.6
"""Standard deviation of a segment's offset, in logits."""
_NODES, _WEIGHTS = np.polynomial.hermite_e.hermegauss(9)
_LOG_WEIGHTS = np.log(_WEIGHTS) - np.log(2 * np.pi) / 2 + _NODES**2 / 2
_STEPS = 12
# The nodes need the mode to no more than this, in logits.
_CLOSE = 1e-4


def log_bayes_factor_jump(cells: BinCounts, log_evidence: float) -> float:
    """Weigh segments with jumps between them against another model.

    Notes
    -----
    The scores are cut into at most 50 blocks of equal mass, and blocks are joined into segments; a
    segment starts at each block with probability 0.03. A segment is calibrated with probability
    1/2, else the logit of all its label rates is off by one Normal(0, 0.6) amount. All
    segmentations are summed by dynamic programming over their last segment; each offset is
    integrated out by Gauss-Hermite quadrature about its mode.
    """
    segments = _log_segments(cells)
    size = len(segments)
    log_total = np.zeros(size + 1)
    for end in range(1, size + 1):
        begins = np.arange(end)
        log_prior = np.log(START) * (begins > 0) + np.log1p(-START) * (end - begins - 1)
        log_total[end] = logsumexp(log_total[:end] + log_prior + segments[:end, end - 1])
    return float(log_total[-1] - log_evidence)


def _log_segments(cells: BinCounts) -> Floats:
    """Log marginal likelihood of each segment, (first block, last block)."""
    held = cells.count > 0
    logit, count, events = (
        values[held].astype(float) for values in (cell_logit(cells), cells.count, cells.positives)
    )
    before = np.cumsum(count) - count
    _, block = np.unique(np.floor(before * BLOCKS / count.sum()), return_inverse=True)
    size = int(block[-1]) + 1
    first, last = np.triu_indices(size)
    start = np.searchsorted(block, first)
    length = np.searchsorted(block, last, side="right") - start
    ends = np.cumsum(length)
    inside = _Inside(
        # One entry a cell of a segment, segment by segment.
        cell=np.arange(ends[-1]) + np.repeat(start - ends + length, length),
        segment=np.repeat(np.arange(len(start)), length),
        begins=ends - length,
    )
    calibrated = inside.total(events * logit - count * _softplus(logit))
    off = _integrated(inside, logit, count, events)
    table = np.full((size, size), -np.inf)
    table[first, last] = np.logaddexp(calibrated, off) - np.log(2)
    return table


class _Inside(NamedTuple):
    """Which cells lie in which segment, as pairs."""

    cell: NDArray[np.int64]
    segment: NDArray[np.int64]
    begins: NDArray[np.int64]

    def total(self, values: Floats) -> Floats:
        """Sum a value of each cell over each segment."""
        return self.add(values[self.cell])

    def add(self, values: Floats) -> Floats:
        """Sum a value of each pair over each segment."""
        return np.asarray(np.add.reduceat(values, self.begins))


def _integrated(inside: _Inside, logit: Floats, count: Floats, events: Floats) -> Floats:
    """Log marginal likelihood of each segment with a normal offset of its logits."""
    base, rows = logit[inside.cell], count[inside.cell]
    happened, linear = inside.total(events), inside.total(events * logit)
    offset = np.zeros(len(inside.begins))
    for _ in range(_STEPS):
        rate = expit(base + offset[inside.segment])
        slope = inside.add(rows * rate)
        precision = inside.add(rows * rate * (1 - rate)) + SCALE**-2
        step = (happened - slope - offset / SCALE**2) / precision
        # A logit moves by at most 1 a step: farther out the curvature says nothing.
        offset = offset + np.clip(step, -1, 1)
        if np.abs(step).max() < _CLOSE:
            break
    spread = precision**-0.5
    terms = []
    for node, log_weight in zip(_NODES, _LOG_WEIGHTS, strict=True):
        at = offset + spread * node
        likelihood = linear + happened * at
        likelihood -= inside.add(rows * _softplus(base + at[inside.segment]))
        terms.append(likelihood - (at / SCALE) ** 2 / 2 + log_weight)
    return np.asarray(logsumexp(terms, axis=0) + np.log(spread / SCALE))


def _softplus(logit: Floats) -> Floats:
    """``log(1 + exp(logit))``, in a third of the time of ``logaddexp``."""
    return np.maximum(logit, 0) + np.log1p(np.exp(-np.abs(logit)))
