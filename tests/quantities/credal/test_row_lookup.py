"""A curve stored by cells, against the exact curve between and beyond them, and its bounds."""

import numpy as np
import pytest
import xarray as xr
from scipy.integrate import quad
from scipy.optimize import brentq
from scipy.special import betaincinv, expit, logit
from scipy.stats import norm

import bayescal as bc
from bayescal.core.bin_counts import BinCounts
from bayescal.curves.average import Average, in_chains
from bayescal.curves.cells import Problem, logit_rate
from bayescal.curves.posterior import CurvePosterior
from bayescal.curves.priors import COMPONENTS, ROUGH, SEGMENTS, SMOOTH, CurveAverage
from bayescal.quantities.credal.row_lookup import StoredCurve
from tests.synthetic import make_result

N_DRAWS = 2000


def average(n, distinct=None, seed=4):
    """Labelled cells of over-confident scores, at their quantiles or at few distinct scores."""
    rng = np.random.default_rng(seed)
    latent = 1.5 * rng.normal(size=n)
    label = rng.random(n) < expit(latent)
    score = expit(1.5 * latent)
    if distinct:
        score = (np.round(score * distinct).clip(0.5, distinct - 0.5)) / distinct
    place = np.unique(score) if distinct else np.quantile(score, np.linspace(0, 1, 101)[1:-1])
    cell = np.searchsorted((place[1:] + place[:-1]) / 2, score)
    cell = np.unique(cell, return_inverse=True)[1]
    count = np.bincount(cell)
    mean = np.bincount(cell, score) / count
    cells = BinCounts(
        np.concatenate([[0.0], (mean[1:] + mean[:-1]) / 2, [1.0]]),
        count,
        np.bincount(cell, label).astype(int),
        mean,
    )
    return Average.of(Problem({}, cells, cells), CurveAverage(), 0.5)


def stored(found, name, draws):
    """What a result keeps of one component."""
    no_error = np.zeros((N_DRAWS, 0), bool)
    rate = found.rates(name, draws, no_error).astype(np.float32)
    component = np.full(N_DRAWS, COMPONENTS.index(name))
    mass = found.rows / found.rows.sum()
    is_segments = component == COMPONENTS.index(SEGMENTS)
    return StoredCurve(found.score, rate, mass, is_segments, int(found.rows.sum()))


def levels(rate):
    return np.quantile(rate, [0.05, 0.5, 0.95], axis=0)


# Largest differences of 5%, 50% and 95% quantiles of rates: of about a hundred cells, and of
# eight. A rough curve has a part of its own at every cell, which no other score shares; the exact
# curve leaves it out between cells, and the stored one keeps some of it.
@pytest.mark.parametrize(
    ("name", "n", "distinct", "largest"),
    [
        (SMOOTH, 1500, None, 0.01),
        (SMOOTH, 20_000, None, 0.01),
        (SEGMENTS, 1500, None, 1e-4),
        (ROUGH, 20_000, None, 0.02),
        (SMOOTH, 1000, 8, 0.06),
        (SEGMENTS, 1000, 8, 1e-4),
    ],
)
def test_between_cells_the_curve_is_near_the_exact_one(name, n, distinct, largest):
    found = average(n, distinct)
    draws = found.direct_draws(N_DRAWS, np.random.default_rng(1)).draws
    low, high = logit(found.score[[0, -1]])
    place = np.linspace(low, high, 61)
    rates = expit(place + stored(found, name, draws).deviation_at(place))
    exact = found.curve(name, draws, expit(place))
    assert np.abs(levels(rates) - levels(exact)).max() < largest
    at_cells = stored(found, name, draws).deviation_at(logit(found.score))
    rates = found.rates(name, draws, np.zeros((N_DRAWS, 0), bool))
    between = (rates > 0) & (rates < 1)
    cells = logit(rates) - logit(found.score)
    np.testing.assert_allclose(at_cells[between], cells[between], atol=1e-3)
    certain = logit_rate(at_cells + logit(found.score))[~between]
    assert (certain == rates[~between]).all()


@pytest.mark.parametrize("name", [SMOOTH, ROUGH, SEGMENTS])
@pytest.mark.parametrize("distance", [0.5, 2.0])
def test_beyond_the_cells_the_curve_goes_on_as_the_exact_one(name, distance):
    found = average(1500)
    draws = found.direct_draws(N_DRAWS, np.random.default_rng(1)).draws
    place = logit(found.score[[0, -1]]) + np.array([-distance, distance])
    rates = expit(place + stored(found, name, draws).deviation_at(place))
    exact = found.curve(name, draws, expit(place))
    assert np.abs(levels(rates) - levels(exact)).max() < 0.02


def curve_of(rate, score, segments=None, n_rows=1000):
    cells = len(score)
    in_segments = np.zeros(len(rate), bool) if segments is None else segments
    mass = np.full(cells, 1 / cells)
    return StoredCurve(np.asarray(score), rate.astype(np.float32), mass, in_segments, n_rows)


def test_draws_of_calibrated_curves_do_not_narrow_the_bounds():
    rng = np.random.default_rng(2)
    score = np.array([0.2, 0.5, 0.7])
    open_rates = expit(logit(score) + rng.normal(0, 0.5, (400, 1)))
    alone = curve_of(open_rates, score)
    calibrated = np.broadcast_to(score, (3600, 3))
    both = curve_of(np.concatenate([open_rates, calibrated]), score)
    place = logit(np.array([0.1, 0.3, 0.5]))
    np.testing.assert_array_equal(both.bounds(place, 0.05), alone.bounds(place, 0.05))
    with pytest.raises(bc.InputError, match=r"at score 0\.1 it holds 0\. Fit with more"):
        curve_of(calibrated, score).bounds(place, 0.05)


def test_bounds_of_one_cell_are_those_of_clopper_and_pearson():
    # Under the improper prior 1 / (g (1 - g)), as the model of one bin has them.
    rate = np.random.default_rng(3).beta(7, 13, (200_000, 1))
    found = curve_of(rate, [0.4]).bounds(logit(np.array([0.4])), 0.05)[:, 0]
    expected = [7 / 20, betaincinv(7, 14, 0.05), betaincinv(8, 13, 0.95)]
    np.testing.assert_allclose(found, expected, atol=0.002)


def tilted_quantile(level):
    """Quantile of the error rate's prior after one more error."""

    def mass(upto):
        return quad(lambda x: expit(x) * norm.pdf(x, -4, 2.5), -30, upto)[0]

    return expit(brentq(lambda x: mass(x) / mass(30) - level, -20, 10))


def test_a_score_of_0_or_1_without_rows_has_its_prior():
    curve = curve_of(np.full((30, 1), 0.5), [0.4])
    high, mean = tilted_quantile(0.95), quad(lambda x: expit(x) * norm.pdf(x, -4, 2.5), -30, 30)[0]
    low, upper = (curve.boundary_bounds(end, 0.05) for end in (0, 1))
    np.testing.assert_allclose(low, [mean / 2, 0, high], atol=0.002)
    np.testing.assert_allclose(upper, [1 - mean / 2, 1 - high, 1], atol=0.002)


def test_a_score_of_0_with_rows_errs_as_often_as_its_draws():
    rng = np.random.default_rng(5)
    rate = np.where(rng.random(100_000) < 0.02, 0.0, rng.beta(3, 97, 100_000))[:, None]
    found = curve_of(rate, [0.0]).boundary_bounds(0, 0.05)
    lower = betaincinv(3, 98, (0.05 - 0.02) / 0.98)
    upper = betaincinv(4, 97, 0.95)
    np.testing.assert_allclose(found[1:], [lower, upper], atol=0.001)


def test_a_score_of_1_that_never_errs_is_bounded_by_its_rows():
    few, many = (
        curve_of(np.ones((100, 1)), [1.0], n_rows=n).boundary_bounds(1, 0.05) for n in (10, 10_000)
    )
    assert few[0] == few[2] == many[0] == 1
    assert few[1] < many[1] < 1


def kept_by_result(found, seed=1):
    """What the average of a curve is in a result, by variable."""
    rng = np.random.default_rng(seed)
    direct = found.direct_draws(N_DRAWS, rng)
    curve = CurvePosterior.of(
        found, in_chains(direct.draws, (2, N_DRAWS // 2)), direct.evidence, rng
    )
    cell = ("chain", "draw", "cell")
    mass = np.broadcast_to(found.rows / found.rows.sum(), curve.rate.shape)
    return xr.Dataset(
        {
            "rate": (cell, curve.rate.astype(np.float32)),
            "mass": (cell, mass.astype(np.float32)),
            "component": (cell[:2], curve.component),
        }
    )


def result_with(found, **attrs):
    result = make_result(["model"], chains=2, draws=N_DRAWS // 2)
    result["curve"] = xr.DataTree(kept_by_result(found))
    cells = {"cell_score": ("cell", found.score), "cell_count": ("cell", found.rows)}
    result["constant_data"] = xr.DataTree(xr.Dataset(cells))
    result.attrs.update(classes='["no", "yes"]', n_labeled=int(found.rows.sum()), **attrs)
    return result


NEW = np.array([0.05, 0.2, 0.5, 0.8, 0.95])


@pytest.mark.slow
def test_bounds_of_new_rows_cover_their_rates():
    # Over-confident scores: the rate at a score s is expit(logit(s) / 1.5).
    truth, covered = expit(logit(NEW) / 1.5), []
    for seed in range(16):
        found = bc.credal.bounds_for(result_with(average(500, seed=seed)), NEW)
        covered.append((found.lower <= truth) & (truth <= found.upper))
        assert (found.upper - found.lower > 0.01).all()
    # 80 intervals of 90%, some of them dependent: .034 to .07 is a standard error.
    assert 0.8 <= np.mean(covered) <= 1


def test_rows_are_decided_and_hold_no_venn_abers_probabilities():
    found = bc.credal.bounds_for(result_with(average(1500)), [0.0, 0.1, 0.5, 0.9, 1.0])
    assert found.decision.tolist() == [0, 0, int(found.lower[2] > 1 - found.upper[2]), 1, 1]
    assert (found.lower <= found.prob).all()
    assert (found.prob <= found.upper).all()
    assert np.isnan([found.p0, found.p1, found.merged]).all()
    assert found.lower[0] == 0
    assert found.upper[-1] == 1
    many = bc.credal.bounds_for(result_with(average(1500)), np.linspace(0.01, 0.99, 1000))
    assert 0 < many.error < 0.02


def test_scores_are_needed_and_of_the_fit():
    result = result_with(average(300))
    with pytest.raises(bc.InputError, match=r"scores must be given with a result of ece"):
        bc.credal.bounds_for(result)
    with pytest.raises(bc.InputError, match=r"got shape \(1, 3\) for classes 'no', 'yes'"):
        bc.credal.bounds_for(result, [[0.2, 0.3, 0.5]])
    result.attrs["classes"] = '["a", "b", "c"]'
    with pytest.raises(bc.InputError, match=r"a curve for each class.*multiclass='class-wise'"):
        bc.credal.bounds_for(result, [[0.2, 0.3, 0.5]])
