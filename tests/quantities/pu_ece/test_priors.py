"""Alternatives of priors: one assumption changed at a time, by as much as documented."""

import numpy as np
import pytest
from scipy.special import logit

import bayescal as bc
from bayescal.quantities.pu_ece.priors import MixtureBins, PriorDraws, Priors

STUDY = PriorDraws(np.random.default_rng(1).beta(40, 160, size=2000))
NAMES = ["default", "lower class prior", "higher class prior", "wider class prior", "wider curve"]


@pytest.mark.parametrize("prior", [0.2, 0.8, bc.Beta(4, 16), STUDY])
def test_class_priors_are_shifted_by_a_tenth_of_the_smaller_share(prior) -> None:
    priors = Priors(prior)
    found = priors.alternatives()
    assert list(found) == NAMES
    assert found["default"] is priors
    mean = priors.class_prior_mean
    step = 0.1 * min(mean, 1 - mean)
    for name, sign in (("lower class prior", -1), ("higher class prior", 1)):
        assert type(found[name].class_prior) is type(priors.class_prior)
        # Draws are shifted in odds, which moves their mean by nearly as much.
        assert found[name].class_prior_mean == pytest.approx(mean + sign * step, abs=0.05 * step)
    assert found["wider curve"].label_rate.curve.scale == 2 * priors.label_rate.curve.scale


def test_class_priors_are_widened() -> None:
    known = Priors(0.2).alternatives()["wider class prior"].class_prior
    spread = np.sqrt(known.mean * (1 - known.mean) / (known.alpha + known.beta + 1))
    assert (known.mean, spread) == (pytest.approx(0.2), pytest.approx(0.02))
    assert Priors(bc.Beta(4, 16)).alternatives()["wider class prior"].class_prior == bc.Beta(1, 4)
    drawn = Priors(STUDY).alternatives()["wider class prior"].class_prior
    assert np.std(logit(drawn.values)) == pytest.approx(2 * np.std(logit(STUDY.values)))


def test_bins_are_compared_with_the_curve() -> None:
    found = Priors(0.5, MixtureBins()).alternatives()
    assert found["curve average"].label_rate == Priors(0.5).label_rate
