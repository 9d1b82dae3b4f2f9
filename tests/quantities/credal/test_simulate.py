"""Simulated cases: labels from the model, and small simulation-based calibration."""

import numpy as np
import pytest

import bayescal as bc
from bayescal.workflow.simulation import sbc
from tests.quantities.credal.made import binary, multiclass

RATES = [bc.credal.IncrementIsotonic(bins=6), bc.credal.ImpreciseDirichlet(bins=4)]


@pytest.mark.parametrize("rate", [bc.credal.MonotoneCurve(), *RATES])
@pytest.mark.parametrize("make", [binary, multiclass])
def test_labels_give_way_and_scores_stay(rate, make):
    case = bc.credal.plan(make(), bc.credal.Priors(rate)).cases[0]
    again, values = case.simulate(np.random.default_rng(1))
    assert again.problem.count is case.problem.count
    assert (again.problem.positives <= case.problem.count).all()
    assert values["prob"].shape == case.problem.target_rank.shape
    assert set(values) == {"prob", *case.model.variables}


@pytest.mark.slow
@pytest.mark.parametrize("rate", RATES)
def test_ranks_are_uniform(rate):
    found = sbc(
        bc.credal,
        binary(40, np.array([0.2, 0.7])),
        60,
        seed=20,
        priors=bc.credal.Priors(rate),
        variables=["prob"],
        draws=200,
    )
    # Two variables of either prior, each tested at .001.
    assert min(found.p_values(bins=10).values()) > 0.001
