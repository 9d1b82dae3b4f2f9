"""Positives that cannot be a sample of the positives among the unlabelled rows."""

import numpy as np
import pytest

import bayescal as bc
from bayescal.quantities.pu_ece.class_prior.scar_check import check_possible, data_warnings, excess
from bayescal.quantities.pu_ece.priors import Priors
from bayescal.quantities.pu_ece.simulator import truth
from tests.quantities.pu_ece.made import of_counts, problem


def test_the_worst_bin_by_hand() -> None:
    made = of_counts([10, 90], [800, 200], [0.2, 0.8])
    found = excess(made, 0.5)
    assert (found.bin, found.expected, found.held) == (1, 0.45, 0.2)
    r, q = 90.5 / 101, 200.5 / 1001
    spread = np.sqrt(0.25 * r * (1 - r) / 100 + q * (1 - q) / 1000)
    from scipy.stats import norm

    assert found.p_value == pytest.approx(2 * norm.sf((0.45 - 0.2) / spread))


@pytest.mark.slow
def test_random_samples_warn_no_more_often_than_stated() -> None:
    # At 1%, Bonferroni's bound: of 400 random samples more than 12 give a warning with
    # probability below 1e-3 if 4 are expected.
    warned = sum(
        bool(data_warnings(problem("calibrated", (200, 800), seed, n_bins=10), Priors(0.5)))
        for seed in range(400)
    )
    assert warned <= 12


@pytest.mark.slow
# A model that the data contradict leaves few effective draws, of which the result warns too.
@pytest.mark.filterwarnings("ignore:classifier. the fit did not:bayescal.ConvergenceWarning")
def test_selected_positives_give_a_warning() -> None:
    data = truth("calibrated").scores((2000, 20_000), 1)
    chosen = bc.PUScores(
        positive=data.positive[0][data.positive[0] > 0.9], unlabeled=data.unlabeled[0]
    )
    priors = bc.pu_ece.Priors(bc.Beta(5, 5))
    with pytest.warns(bc.ScarWarning, match="SCAR or the class prior does not fit"):
        fit = bc.fit(bc.pu_ece, chosen, priors=priors, seed=1, method="direct")
    assert "SCAR or the class prior does not fit" in fit.attrs["status"]
    assert "classifier" in fit.attrs["status"]


def test_a_class_prior_without_mass_where_the_data_allow_it_is_refused() -> None:
    data = truth("calibrated").scores((2000, 20_000), 1)
    for belief in (0.9, bc.Beta(900, 100)):
        with pytest.raises(bc.InputError, match="the class prior must leave each bin"):
            bc.fit(bc.pu_ece, data, priors=bc.pu_ece.Priors(belief), seed=1, method="direct")
    # A prior with mass below gives a warning, no error.
    check_possible(problem("calibrated", (2000, 20_000)), Priors(bc.Beta(3, 3)))
