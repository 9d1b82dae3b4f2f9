"""The likelihood of two samples of fixed sizes, and masses that agree with the class prior."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.special import logit

from bayescal.quantities.pu_ece.models.case_control import CaseControlCells
from bayescal.quantities.pu_ece.models.sample_sizes import (
    SampleSizes,
    draw_joint_masses,
    log_sizes_density,
)

TOTAL, POSITIVE = np.array([3000, 2000]), np.array([400, 600])


def test_with_the_binomial_it_is_the_likelihood_of_both_samples() -> None:
    # With two cells the class prior and the rates leave one vector of masses. The likelihood of the
    # unlabelled counts and of the positives is then explicit, under the prior 1 / mass of each.
    pi = 0.4
    rates = np.array([[0.246, 0.686], [0.25, 0.67], [0.24, 0.7], [0.255, 0.68]])
    first = (pi - rates[:, 1]) / (rates[:, 0] - rates[:, 1])
    mass = np.stack([first, 1 - first], axis=-1)
    exact = ((TOTAL - 1) * np.log(mass) + POSITIVE * np.log(rates / pi)).sum(axis=-1)
    exact -= np.log(np.abs(rates[:, 0] - rates[:, 1]))
    odds = np.log(POSITIVE.sum() / (TOTAL - POSITIVE).sum() / pi)
    ours = CaseControlCells(TOTAL, POSITIVE, odds).log_likelihood(logit(rates)).sum(axis=-1)
    ours += log_sizes_density(rates, np.full(4, pi), TOTAL, int(POSITIVE.sum()))
    # Near its mean a sum of some thousand gammas is normal to a few per cent.
    np.testing.assert_allclose(ours - ours[0], exact - exact[0], atol=0.15)


@given(st.integers(0, 10**6))
def test_the_mean_label_rate_is_the_class_prior(seed) -> None:
    rng = np.random.default_rng(seed)
    rates = rng.uniform(0, 1, (5, 20))
    pi = rng.uniform(rates.min(axis=1) + 0.05, rates.max(axis=1) - 0.05)
    mass = draw_joint_masses(rates, pi, rng.integers(1, 500, 20), 100, rng)
    assert (mass > 0).all()
    np.testing.assert_allclose(mass.sum(axis=-1), 1)
    np.testing.assert_allclose((mass * rates).sum(axis=-1), pi, atol=1e-4)


def test_masses_are_those_of_both_samples() -> None:
    # Two cells: the rates leave one vector of masses.
    rates, rng = np.array([[0.25, 0.6]]), np.random.default_rng(1)
    mass = draw_joint_masses(rates, np.array([0.4]), TOTAL, int(POSITIVE.sum()), rng)
    assert mass[0, 0] == pytest.approx((0.4 - 0.6) / (0.25 - 0.6), abs=1e-6)


def test_cells_without_rows_have_no_mass() -> None:
    rng = np.random.default_rng(2)
    mass = draw_joint_masses(
        np.array([[0.1, 0.5, 0.9]]), np.array([0.5]), np.array([50, 0, 40]), 20, rng
    )
    assert mass[0, 1] == 0


def test_a_class_prior_beyond_all_rates_leaves_the_masses_as_they_are() -> None:
    rng = np.random.default_rng(3)
    mass = draw_joint_masses(np.array([[0.1, 0.2]]), np.array([0.9]), TOTAL, 1000, rng)
    assert mass.sum() == pytest.approx(1)


def test_cells_that_are_left_out_stand_at_their_counts() -> None:
    total, positive = np.array([0, 300, 500, 200]), np.array([0, 10, 90, 60])
    whole = SampleSizes(total, 160, 0.16)
    inner = whole.at(np.array([1, 2]), positive)
    np.testing.assert_array_equal(inner.total, [300, 500])
    assert inner.n_positive == 100
    # The spread of the cell's share, and a Poisson count of 60 known to one.
    assert inner.variance == pytest.approx(1 + 200 * (0.3 - 0.16) ** 2 + 61)
    same = whole.at(np.array([1, 2, 3]), positive)
    share = np.array([0.05, 0.2, 0.25])
    ours = whole.log_density(np.append(0, share), np.asarray(0.4))
    assert same.log_density(share, np.asarray(0.4)) == pytest.approx(ours)
