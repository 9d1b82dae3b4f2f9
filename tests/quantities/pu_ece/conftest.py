"""Fits that several tests look at: compiling the model takes longer than all of them."""

import pytest

import bayescal as bc
from bayescal.quantities.pu_ece.simulator import truth

BELIEF = bc.Beta(50, 50)


@pytest.fixture(scope="session")
def curve_fit():
    data = truth("less").scores((300, 2000), seed=1)
    return bc.fit(bc.pu_ece, data, priors=bc.pu_ece.Priors(BELIEF), n_bins=6, seed=20)


@pytest.fixture(scope="session")
def mixture_fit():
    data = truth("less").scores((300, 2000), seed=1)
    priors = bc.pu_ece.Priors(BELIEF, bc.pu_ece.MixtureBins())
    return bc.fit(bc.pu_ece, data, priors=priors, n_bins=4, seed=20)
