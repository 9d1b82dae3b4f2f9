"""What every model of label rates has, and bounds by pseudo-observations."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import beta, binomtest

from bayescal.quantities.credal.models import add_pseudo_observations
from bayescal.quantities.credal.models.averaged import MOST, Averaged
from bayescal.quantities.credal.models.bins import Imprecise, Isotonic
from bayescal.quantities.credal.models.rising import CELLS, Monotone
from bayescal.quantities.credal.posterior import cells_of, label_model
from bayescal.quantities.credal.priors import (
    AveragedCurve,
    ImpreciseDirichlet,
    IncrementIsotonic,
    MonotoneCurve,
)
from tests.quantities.credal.made import binary, multiclass, problem

KINDS = [
    (AveragedCurve(), Averaged, MOST + 2),
    (MonotoneCurve(), Monotone, CELLS),
    (IncrementIsotonic(bins=7), Isotonic, 7),
    (ImpreciseDirichlet(bins=3), Imprecise, 3),
]


@pytest.mark.parametrize(("prior", "kind", "cells"), KINDS)
@pytest.mark.parametrize("make", [binary, multiclass])
def test_every_prior_has_its_model(prior, kind, cells, make):
    given = problem(make(), prior)
    rates = label_model(given, prior)
    assert isinstance(rates, kind)
    assert given.n_cells == cells
    draws = rates.prior_draws(4, np.random.default_rng(1))
    assert set(rates.variables) <= set(draws)
    assert rates.cell_prob(draws).shape == (4, given.n_curves, cells)
    for part in rates.with_pseudo_observations(draws, given.target_rank):
        assert part.shape == (4, *given.target_rank.shape)
    if kind is not Averaged:  # which has a log prior of curves alone
        found = rates.log_prior(draws)
        assert {value.shape for value in found.values()} == {(4,)}
        assert np.isfinite(list(found.values())).all()


@pytest.mark.parametrize("prior", [prior for prior, *_ in KINDS[2:]])
def test_direct_draws_have_the_shapes_of_the_priors(prior):
    rates = label_model(problem(multiclass(), prior), prior)
    direct = rates.direct_draws(6, np.random.default_rng(1))
    before = rates.prior_draws(6, np.random.default_rng(1))
    assert {k: v.shape for k, v in direct.draws.items()} == {k: v.shape for k, v in before.items()}
    assert direct.ess == 6


@pytest.mark.parametrize(
    "prior", [IncrementIsotonic("optimal"), ImpreciseDirichlet(bins="optimal")]
)
@pytest.mark.parametrize(("rows", "cells"), [(1, 2), (1000, 10), (1001, 11), (10**7, 200)])
def test_the_optimal_number_of_bins_follows_the_rows_within_its_range(prior, rows, cells):
    assert cells_of(prior, rows).args == (cells,)
    assert "n^(1/3) bins" in prior.describe()


@pytest.mark.parametrize(("k", "n"), [(1, 10), (3, 10), (5, 10), (30, 40), (99, 100)])
def test_one_bin_and_s_1_is_clopper_pearson(k, n):
    # Under the improper prior 1 / (g (1 - g)) the posterior is Beta(k, n - k).
    level = (np.arange(200_000) + 0.5) / 200_000
    _, lower, upper = add_pseudo_observations(beta.ppf(level, k, n - k)[:, None], s=1)
    exact = binomtest(k, n).proportion_ci(0.9, method="exact")
    # Quantiles of evenly spaced levels: the grid's step over the density.
    np.testing.assert_allclose(np.quantile(lower, 0.05), exact.low, atol=2e-4)
    np.testing.assert_allclose(np.quantile(upper, 0.95), exact.high, atol=2e-4)


@pytest.mark.parametrize("s", [0.5, 1.0, 3.0])
def test_a_beta_posterior_moves_to_its_conjugate(s):
    draws = np.random.default_rng(1).beta(4, 9, size=(100_000, 1))
    _, lower, upper = add_pseudo_observations(draws, s)
    level = np.array([0.05, 0.3, 0.5, 0.95])
    # Standard errors of quantiles of 1e5 draws are at most .0008 here.
    np.testing.assert_allclose(np.quantile(lower, level), beta.ppf(level, 4, 9 + s), atol=0.004)
    np.testing.assert_allclose(np.quantile(upper, level), beta.ppf(level, 4 + s, 9), atol=0.004)


@given(st.lists(st.floats(0, 1), min_size=1, max_size=30), st.floats(0.1, 5))
def test_bounds_enclose_each_draw_and_stay_inside(values, s):
    draws = np.array(values)[:, None]
    prob, lower, upper = add_pseudo_observations(draws, s)
    np.testing.assert_array_equal(prob, draws)
    assert (lower >= 0).all()
    assert (lower <= prob).all()
    assert (prob <= upper).all()
    assert (upper <= 1).all()


@pytest.mark.parametrize("s", [0.5, 1.0])
def test_bounds_of_many_rows_are_those_of_whole_arrays(s):
    rng = np.random.default_rng(3)
    prob = np.concatenate([rng.beta(2, 5, (300, 4)), np.zeros((300, 1)), np.ones((300, 1))], axis=1)
    found = add_pseudo_observations(prob, s)
    ranked, rank = np.sort(prob, axis=0), prob.argsort(axis=0).argsort(axis=0)
    even = (np.arange(300) + 0.5) / 300
    for weight, part, nearer in (
        ((1 - ranked) ** s, found.prob_lower, np.minimum),
        (ranked**s, found.prob_upper, np.maximum),
    ):
        for row in range(prob.shape[1]):
            moved = ranked[:, row]
            if (total := weight[:, row].sum()) > 0:
                place = (weight[:, row].cumsum() - weight[:, row] / 2) / total
                moved = np.interp(even, place, moved)
            expected = nearer(moved, ranked[:, row])[rank[:, row]]
            np.testing.assert_allclose(part[:, row], expected, atol=1e-12)
