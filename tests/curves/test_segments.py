"""Sums over segmentations against listing them all, each shift integrated on a fine grid."""

from dataclasses import dataclass, replace
from itertools import pairwise, product

import numpy as np
import pytest
from scipy.integrate import trapezoid
from scipy.special import expit, logit, logsumexp
from scipy.stats import norm

from bayescal.curves.segments import BLOCKS, Segments, Steps
from bayescal.inference.direct import BinomialCells

START, SCALE = 0.2, 0.8
KINDS = CALIBRATED, NEVER, ALWAYS, SHIFTED = range(4)


@dataclass(frozen=True)
class Measured:
    """Logits measured with normal errors: another likelihood than that of counts."""

    value: np.ndarray
    error: np.ndarray

    def log_likelihood(self, logit):
        return -(((logit - self.value) / self.error) ** 2) / 2

    def slopes(self, logit):
        return (self.value - logit) / self.error**2, 0 * logit + self.error**-2

    def at(self, cells):
        return Measured(self.value[cells], self.error[cells])


def counted(score, count, positives):
    offset, count = logit(np.array(score)), np.array(count)
    return Segments(
        np.array(score), offset, count, BinomialCells(count, np.array(positives)), START, SCALE, 0.0
    )


def measured(score, value, error):
    offset = logit(np.array(score))
    cells = Measured(np.array(value), np.array(error))
    return Segments(np.array(score), offset, np.ones(len(offset)), cells, START, SCALE, 0.0)


SOME = {
    "two": counted([0.3, 0.8], [10, 10], [1, 9]),
    "four": counted([0.1, 0.3, 0.6, 0.9], [30, 30, 30, 30], [3, 18, 10, 25]),
    "six": counted([0.1, 0.2, 0.4, 0.6, 0.7, 0.9], [9] * 6, [0, 9, 0, 9, 0, 9]),
    "effective": counted([0.2, 0.5, 0.7], [7.5, 7.5, 7.5], [3.25, 2.0, 7.0]),
    "measured": measured([0.2, 0.4, 0.5, 0.8], [0.0, 0.1, 0.1, 2.4], [0.3, 0.5, 0.2, 0.4]),
}
SOME |= {
    "mostly calibrated": replace(SOME["four"], calibrated=0.8),
    "never calibrated": replace(SOME["four"], calibrated=0.0),
    "certain": replace(SOME["six"], certain=0.4),
    "certain ends": replace(
        counted([0.1, 0.3, 0.6, 0.7, 0.9], [9, 20, 9, 1, 20], [0, 0, 4, 1, 20]), certain=0.2
    ),
    "certain of effective rows": replace(
        counted([0.2, 0.5, 0.7], [7.5, 7.5, 7.5], [0.0, 1e-6, 7.5]), certain=0.6, calibrated=0.2
    ),
    "steps": Steps.between(
        np.array([0.2, 0.4, 0.8]),
        BinomialCells(np.array([5, 6, 9]), np.array([0, 3, 9])),
        START,
        SCALE,
        0.5,
    ),
}


SHIFTS = np.linspace(-12, 12, 4801)


def moments(made, inside):
    """Log evidence of a segment with a shift, and the mean rates of its cells."""
    cells, logits = made.cells.at(inside), made.offset[inside] + SHIFTS[:, None]
    log_density = cells.log_likelihood(logits).sum(axis=1) + norm.logpdf(SHIFTS, 0, made.scale)
    density = np.exp(log_density - log_density.max())
    total = trapezoid(density, SHIFTS)
    rate = trapezoid(density[:, None] * expit(logits), SHIFTS, axis=0) / total
    return log_density.max() + np.log(total), rate


def certain(made, inside, rate):
    """Log-likelihood of a segment whose rate is 0 or 1."""
    impossible = (
        made.cells.positives[inside]
        if not rate
        else (made.cells.count - made.cells.positives)[inside]
    )
    return -np.inf if impossible.any() else 0.0


@dataclass
class Listed:
    """Everything that can be said of a problem whose every configuration is listed."""

    log_evidence: float
    unshifted: np.ndarray
    jump: np.ndarray
    mean: np.ndarray


def of_kind(made, inside, kind):
    """Log-likelihood of a segment of a kind, and the mean rates of its cells."""
    if kind == SHIFTED:
        return moments(made, inside)
    if kind == CALIBRATED:
        rate = expit(made.offset[inside])
        return made.cells.at(inside).log_likelihood(made.offset[inside]).sum(), rate
    rate = float(kind == ALWAYS)
    return certain(made, inside, rate), np.full(len(inside), rate)


def listed(made):
    """List all cuts, and of each segment what it is, but not all calibrated."""
    size, other = len(made.offset), 1 - made.calibrated
    share = {CALIBRATED: made.calibrated, SHIFTED: other * (1 - made.certain)}
    share |= dict.fromkeys((NEVER, ALWAYS), other * made.certain / 2)
    kinds = [kind for kind in KINDS if share[kind]]
    table = {
        (first, last, kind): of_kind(made, np.arange(first, last), kind)
        for first in range(size)
        for last in range(first + 1, size + 1)
        for kind in kinds
    }
    found, log_priors = [], []
    for cuts in product([False, True], repeat=size - 1):
        ends = [0, *(np.flatnonzero(cuts) + 1), size]
        segments = list(pairwise(ends))
        log_cuts = np.log(np.where(cuts, made.start, 1 - made.start)).sum()
        for chosen in product(kinds, repeat=len(segments)):
            if all(kind == CALIBRATED for kind in chosen):
                continue
            log_priors.append(log_cuts + np.log([share[kind] for kind in chosen]).sum())
            value, mean, label = log_priors[-1], np.zeros(size), np.zeros(size, dtype=int)
            for number, ((first, last), kind) in enumerate(zip(segments, chosen, strict=True)):
                value += table[first, last, kind][0]
                mean[first:last] = table[first, last, kind][1]
                # Shifts differ from segment to segment; what else they may be is the same.
                label[first:last] = SHIFTED + number if kind == SHIFTED else kind
            found.append((value, label == CALIBRATED, label[1:] != label[:-1], mean))
    values = np.array([value for value, *_ in found])
    weight = np.exp(values - logsumexp(values))
    unshifted, jump, mean = (
        weight @ np.array(column, dtype=float) for column in list(zip(*found, strict=True))[1:]
    )
    return Listed(logsumexp(values) - logsumexp(log_priors), unshifted, jump, mean)


@pytest.fixture(scope="module", params=SOME)
def both(request):
    return SOME[request.param], listed(SOME[request.param])


def test_evidence_is_that_of_every_segmentation_with_a_shift(both):
    made, expected = both
    # Nine nodes about the mode leave this where a segment contradicts its scores outright.
    assert made.log_evidence == pytest.approx(expected.log_evidence, abs=2e-3)


def test_draws_have_the_posterior_of_every_segmentation(both):
    made, expected = both
    draws = 20_000
    shift = made.draws(draws, np.random.default_rng(1)).shift
    assert shift.shape == (draws, len(made.offset))
    assert shift.any(axis=1).all()
    # Four standard errors of a frequency, and of a mean.
    error = 2 / np.sqrt(draws) + 1e-3
    np.testing.assert_allclose((shift == 0).mean(axis=0), expected.unshifted, atol=error)
    jumps = (shift[:, 1:] != shift[:, :-1]).mean(axis=0)
    np.testing.assert_allclose(jumps, expected.jump, atol=error)
    rate = expit(made.offset + shift)
    spread = 4 * rate.std(axis=0).max() / np.sqrt(draws) + 1e-3
    np.testing.assert_allclose(rate.mean(axis=0), expected.mean, atol=spread)


@pytest.mark.parametrize("name", ["certain ends", "steps"])
def test_a_rate_that_is_certain_is_exactly_0_or_1(name):
    made = SOME[name]
    rate = expit(made.offset + made.draws(2000, np.random.default_rng(5)).shift)
    assert (rate[:, 0] == 0).mean() > 0.1
    assert (rate[:, -1] == 1).mean() > 0.1


def test_log_prior_is_that_of_the_shifts_drawn():
    made = SOME["four"]
    shift, log_prior = made.draws(500, np.random.default_rng(2))
    for row, value in zip(shift, log_prior, strict=True):
        # Neighbouring segments with a shift differ, and those without do not count.
        own = row[np.append(True, row[1:] != row[:-1]) & (row != 0)]
        assert value == pytest.approx(((1 - (own / SCALE) ** 2) / 2).sum())


def test_one_cell_has_the_evidence_of_its_shift():
    """One block: calibrated or shifted, and calibrated is left out."""
    made = counted([0.3], [20], [13])
    assert made.log_evidence == pytest.approx(moments(made, np.array([0]))[0], abs=1e-3)


def test_all_calibrated_for_certain_has_no_draws():
    """Counts that are their expectation, to far more rows than any shift could follow."""
    rows = 10**16
    score = np.array([0.25, 0.5, 0.75])
    made = counted(score, np.full(3, rows), (rows * score).astype(np.int64))
    assert made.log_evidence == -np.inf
    with pytest.raises(ValueError, match="calibrated for certain"):
        made.draws(10, np.random.default_rng(1))


@pytest.mark.parametrize("score", [0.5, 0.05, 1e-6])
def test_a_million_rows_a_cell_leave_no_doubt(score):
    """Far from the scores, too: the likelihood is flat there and the mode many steps away."""
    rows = np.full(4, 10**6)
    rate = np.array([score, score, 0.4, 0.4])
    made = counted(np.full(4, score), rows, (rows * rate).astype(int))
    shift = made.draws(2000, np.random.default_rng(1)).shift
    found = expit(made.offset + shift)
    # The binomial standard error of each pair of cells, which share a shift.
    error = np.sqrt(rate * (1 - rate) / (2 * rows))
    np.testing.assert_allclose(found[:, 2:].mean(axis=0), rate[2:], atol=4 * error[2])
    np.testing.assert_allclose(found[:, 2:].std(axis=0), error[2:], rtol=0.5)
    if score > 0.01:  # One event in a million rows leaves the shift open.
        assert (shift[:, :2] == 0).mean() > 0.9
    assert (shift[:, 2] == shift[:, 3]).mean() > 0.9


def test_cells_beyond_fifty_are_joined_by_rows():
    """Two neighbours of a hundred cells make a block: only their sums matter to one shift."""
    score, count = np.full(100, 0.5), np.full(100, 10)
    one, other = (counted(score, count, np.tile(pair, 50)) for pair in ([9, 1], [5, 5]))
    assert BLOCKS == 50
    assert one.log_evidence == pytest.approx(other.log_evidence, rel=1e-12)
    # Cut across blocks, the same rows are fifty jumps.
    jagged = counted(score, count, np.tile([9, 9, 1, 1], 25))
    assert jagged.log_evidence > one.log_evidence + 50
    shift = jagged.draws(20, np.random.default_rng(1)).shift
    np.testing.assert_array_equal(shift[:, ::2], shift[:, 1::2])


def test_draws_before_the_data_have_the_frequencies_of_the_prior():
    made, draws = SOME["six"], 40_000
    shift = made.prior_draws(draws, np.random.default_rng(3))["shift"]
    none = 0.5 * (1 - START / 2) ** 5
    error = 2 / np.sqrt(draws)
    assert shift.shape == (draws, 6)
    assert shift.any(axis=1).all()
    # Each cell is shifted with probability 1/2, and some cell in all but `none` of the cases.
    np.testing.assert_allclose((shift != 0).mean(axis=0), 0.5 / (1 - none), atol=error)
    # A new segment, of which a calibrated one beside a calibrated one cannot be seen.
    jumps = (shift[:, 1:] != shift[:, :-1]).mean(axis=0)
    np.testing.assert_allclose(jumps, START * 0.75 / (1 - none), atol=error)
    assert shift[shift != 0].std() == pytest.approx(SCALE, rel=0.02)


def test_evidence_is_the_mean_likelihood_of_draws_before_the_data():
    made, draws = replace(SOME["two"], certain=0.3), 100_000
    shift = made.prior_draws(draws, np.random.default_rng(4))["shift"]
    likelihood = np.exp(made.cells.log_likelihood(made.offset + shift).sum(axis=1))
    error = likelihood.std() / likelihood.mean() / np.sqrt(draws)
    assert made.log_evidence == pytest.approx(np.log(likelihood.mean()), abs=4 * error + 2e-3)


def test_rows_that_are_whole_but_for_rounding_have_the_same_blocks():
    """Weights of 7.3 each add up to 60 rows to 15 digits."""
    score, events = (np.arange(60) + 0.5) / 60, (np.arange(60) >= 30).astype(float)
    whole = counted(score, np.ones(60), events)
    rounded = counted(score, np.full(60, 1 - 2**-52), events * (1 - 2**-52))
    # Of the sums of 60 logs of rates only rounding is left.
    assert rounded.log_evidence == pytest.approx(whole.log_evidence, rel=1e-9)
