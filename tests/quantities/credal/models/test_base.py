"""What every model of label rates has."""

import numpy as np
import pytest

from bayescal.quantities.credal.models import cells_of, label_model
from bayescal.quantities.credal.models.averaged import Averaged
from bayescal.quantities.credal.models.base import in_columns
from bayescal.quantities.credal.models.imprecise_dirichlet import Imprecise
from bayescal.quantities.credal.models.isotonic import Isotonic
from bayescal.quantities.credal.models.monotone import CELLS, Monotone
from bayescal.quantities.credal.models.nodes import MOST
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
    assert cells_of(prior, 100).number == cells
    given = problem(make(), prior)
    rates = label_model(given, prior)
    assert isinstance(rates, kind)
    draws = rates.prior_draws(4, np.random.default_rng(1))
    assert set(rates.variables) <= set(draws)
    assert rates.cell_prob(draws).shape == (4, given.n_curves, cells)
    for part in rates.with_pseudo_observations(draws, given.target_rank):
        assert part.shape == (4, *given.target_rank.shape)
    # Of an average they are of the parameters under every description.
    sampled = rates.direct_draws(4, np.random.default_rng(1)).draws if kind is Averaged else draws
    found = rates.log_prior(sampled)
    assert {value.shape for value in found.values()} == {(4,)}
    assert np.isfinite(list(found.values())).all()


@pytest.mark.parametrize(("prior", "kind", "cells"), KINDS[2:])
def test_direct_draws_have_the_shapes_of_the_priors(prior, kind, cells):
    rates = label_model(problem(multiclass(), prior), prior)
    direct = rates.direct_draws(6, np.random.default_rng(1))
    before = rates.prior_draws(6, np.random.default_rng(1))
    assert {k: v.shape for k, v in direct.draws.items()} == {k: v.shape for k, v in before.items()}
    assert direct.ess == 6


def test_rows_take_the_value_of_their_cell():
    per_cell = np.arange(12).reshape(1, 2, 6).astype(float)
    cell = np.array([[0, 5], [3, 1]])
    assert in_columns(per_cell, cell)[0].tolist() == [[0, 11], [3, 7]]


@pytest.mark.parametrize(
    "prior", [IncrementIsotonic("optimal"), ImpreciseDirichlet(bins="optimal")]
)
@pytest.mark.parametrize(("rows", "cells"), [(1, 2), (1000, 10), (1001, 11), (10**7, 200)])
def test_the_optimal_number_of_bins_follows_the_rows_within_its_range(prior, rows, cells):
    assert cells_of(prior, rows).number == cells
    assert "n^(1/3) bins" in prior.describe()


@pytest.mark.parametrize("kind", [IncrementIsotonic, ImpreciseDirichlet])
def test_the_optimal_number_is_that_number(kind):
    data = binary()
    number = cells_of(kind(bins="optimal"), data.n_calibration).number
    assert (number - 1) ** 3 < data.n_calibration <= number**3
    asked, told = (
        label_model(problem(data, prior), prior)
        for prior in (kind(bins="optimal"), kind(bins=number))
    )
    assert asked.compile_key == told.compile_key
    draws = [m.direct_draws(50, np.random.default_rng(1)).draws for m in (asked, told)]
    for name, values in draws[0].items():
        np.testing.assert_array_equal(values, draws[1][name])
