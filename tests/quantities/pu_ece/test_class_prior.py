"""What the rows say of the class prior, and which priors they contradict."""

import math

import numpy as np
import pytest

import bayescal as bc
from bayescal.core.binning import Binning
from bayescal.core.errors import InputError
from bayescal.quantities.pu_ece.class_prior import (
    check_possible,
    class_prior_curve,
    data_warnings,
    estimate_class_prior,
    excess,
    moved,
)
from bayescal.quantities.pu_ece.data import PUScores, problems
from bayescal.quantities.pu_ece.priors import Priors
from bayescal.quantities.pu_ece.simulator import PUTruth, truth
from tests.quantities.pu_ece.made import of_counts, problem


def brute_force(positive, unlabeled, delta, gamma):
    """Algorithm 1 and the bounds of the Notes, threshold by threshold."""
    e_p = math.sqrt(math.log(4 / delta) / (2 * len(positive)))
    e_u = math.sqrt(math.log(4 / delta) / (2 * len(unlabeled)))
    least, found, upper = math.inf, None, 1.0
    for c in sorted({*positive, *unlabeled}):
        p = sum(score >= c for score in positive) / len(positive)
        u = sum(score >= c for score in unlabeled) / len(unlabeled)
        if p == 0:
            continue
        if p > e_p:
            upper = min(upper, (u + e_u) / (p - e_p))
        bound = u / p + (1 + gamma) * (e_p + e_u) / p
        if bound < least:
            least = bound
            found = min(1.0, u / p), max(0.0, (u - e_u) / (p + e_p)), c
    estimate, lower, threshold = found
    return estimate, lower, upper, threshold


@pytest.mark.parametrize("decimals", [1, 2, 16])
@pytest.mark.parametrize("sizes", [(1, 1), (3, 8), (60, 200), (300, 150)])
def test_thresholds_are_those_of_a_search_by_hand(sizes, decimals):
    rng = np.random.default_rng(sizes[0])
    positive = np.round(rng.beta(4, 2, sizes[0]), decimals)
    unlabeled = np.round(rng.beta(2, 3, sizes[1]), decimals)
    data = PUScores(positive=positive, unlabeled=unlabeled)
    found = estimate_class_prior(data, delta=0.2, gamma=0.05)
    estimate, lower, upper, threshold = brute_force(positive, unlabeled, 0.2, 0.05)
    assert found.estimate == pytest.approx(estimate, abs=1e-12)
    assert found.lower == pytest.approx(lower, abs=1e-12)
    assert found.upper == pytest.approx(upper, abs=1e-12)
    assert found.threshold == pytest.approx(threshold, abs=1e-12)  # scores are rounded to 12 digits


def pure_top(rng, pi, n_positive, n_unlabeled):
    """Positives are uniform on [0, 1], negatives on [0, 0.5]: the upper half is pure."""
    is_positive = rng.random(n_unlabeled) < pi
    unlabeled = rng.random(n_unlabeled) * np.where(is_positive, 1.0, 0.5)
    return PUScores(positive=rng.random(n_positive), unlabeled=unlabeled)


@pytest.mark.parametrize("pi", [0.1, 0.5, 0.9])
@pytest.mark.parametrize("sizes", [(100, 1000), (1000, 300)])
def test_the_interval_holds_where_the_top_is_pure(pi, sizes):
    rng = np.random.default_rng(7)
    found = [estimate_class_prior(pure_top(rng, pi, *sizes)) for _ in range(100)]
    held = np.mean([one.lower <= pi <= one.upper for one in found])
    assert held >= 0.9  # the guarantee; the inequality's slack puts it near 1
    if pi >= 0.5:
        assert np.median([one.lower for one in found]) > 0.2


def test_the_estimate_finds_the_class_prior_as_rows_grow():
    rng = np.random.default_rng(8)
    found = estimate_class_prior(pure_top(rng, 0.3, 100_000, 200_000))
    assert found.estimate == pytest.approx(0.3, abs=0.01)
    assert found.lower < 0.3 < found.upper < 0.33


@pytest.mark.parametrize("pi", [0.2, 0.5])
def test_the_upper_end_holds_where_no_bin_is_pure(pi):
    # The normal classes overlap everywhere, and a flat classifier separates them badly besides.
    simulated = PUTruth("flat", 0.0, 0.5, class_prior=pi)
    found = [estimate_class_prior(simulated.scores((300, 2000), seed)) for seed in range(100)]
    assert np.mean([one.upper >= pi for one in found]) >= 0.9


def test_the_irreducible_part_is_what_the_bound_goes_to():
    # A tenth of the negatives look just like positives: the best ratio is .4 + .6 / 10.
    rng = np.random.default_rng(9)
    alike = rng.random(200_000) < 0.46
    unlabeled = rng.random(200_000) * np.where(alike, 1.0, 0.5)
    found = estimate_class_prior(PUScores(positive=rng.random(100_000), unlabeled=unlabeled))
    assert found.estimate == pytest.approx(0.46, abs=0.01)


def test_the_prior_has_the_interval():
    found = estimate_class_prior(pure_top(np.random.default_rng(1), 0.3, 500, 2000), delta=0.2)
    assert 0 < found.lower < found.upper < 1
    assert found.prior.quantile(0.1) == pytest.approx(found.lower, abs=1e-6)
    assert found.prior.quantile(0.9) == pytest.approx(found.upper, abs=1e-6)


def test_without_evidence_the_prior_is_flat():
    found = estimate_class_prior(PUScores(positive=[0.5], unlabeled=[0.5]))
    assert (found.estimate, found.lower, found.upper) == (1.0, 0.0, 1.0)
    assert found.prior.alpha == pytest.approx(1, abs=1e-5)
    assert found.prior.beta == pytest.approx(1, abs=1e-5)


def test_an_open_lower_end_is_put_where_a_flat_belief_has_it():
    rng = np.random.default_rng(2)
    # Hardly any positives among the unlabelled: the lower bound is 0.
    found = estimate_class_prior(PUScores(positive=rng.random(400), unlabeled=rng.random(50) / 2))
    assert found.lower == 0 < found.upper < 1
    assert found.prior.quantile(0.05) == pytest.approx(0.05 * found.upper, abs=1e-6)
    assert found.prior.quantile(0.95) == pytest.approx(found.upper, abs=1e-6)


def test_without_a_pure_bin_only_the_upper_end_is_left():
    simulated = PUTruth("rare", math.log(0.25), 2.0, class_prior=0.2)
    data = [simulated.scores((1000, 10_000), seed) for seed in range(50)]
    pure = [estimate_class_prior(one) for one in data]
    mixed = [estimate_class_prior(one, pure=False) for one in data]
    # What the docstring says: a top that is not pure lifts the lower end above the truth.
    assert np.mean([one.lower <= 0.2 for one in pure]) < 0.8
    assert all(one.lower == 0 < 0.2 <= one.upper for one in mixed)
    for with_bin, without in zip(pure, mixed, strict=True):
        assert without.prior.quantile(0.95) == pytest.approx(with_bin.upper, abs=1e-6)
        assert without.prior.quantile(0.05) == pytest.approx(0.05 * with_bin.upper, abs=1e-6)


def test_a_best_bin_that_other_bins_show_to_be_impure_is_refused():
    # n rows know a share to .01. From .6 on, where Algorithm 1 looks, a pure bin needs .29 / 1.01
    # at least; from .95 on (.014 + .01) / (.1 - .01) are allowed at most.
    n = 18_444
    parts = np.array([n - round(0.1 * n), round(0.1 * n)])
    rows = np.array([n - round(0.3 * n), round(0.286 * n), round(0.014 * n)])
    data = PUScores(
        positive=np.repeat([0.6, 0.95], parts), unlabeled=np.repeat([0.1, 0.6, 0.95], rows)
    )
    with pytest.raises(
        InputError, match=r"from 0\.6 on, .* from 0\.287 .* 0\.267\. Pass pure=False"
    ):
        estimate_class_prior(data)
    found = estimate_class_prior(data, pure=False)
    assert (found.lower, found.upper) == (0.0, pytest.approx(0.0240 / 0.0900, abs=1e-3))


def test_several_classifiers_are_refused():
    both = PUScores.stack({"a": ([0.7], [0.1]), "b": ([0.8], [0.2])})
    with pytest.raises(InputError, match=r"one classifier; got 2. Take one of them with select"):
        estimate_class_prior(both)


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
    priors = bc.pu_ece.Priors(bc.Beta(5, 5), bc.pu_ece.SmoothCurve())
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


@pytest.mark.parametrize(("off", "said"), [(0.9, False), (1.1, True), (-1.1, True)])
def test_a_class_prior_that_moved_is_named(off, said) -> None:
    normal = off + 0.1 * np.array([-1.0, 0.0, 1.0])
    found = moved(Priors(bc.Beta(50, 50)), 0.5 + 0.05 * normal, normal)
    assert bool(found) is said
    assert not said or f"from 0.5 to {0.5 + 0.05 * off:.3g} (1.1 standard" in found[0]


def test_the_error_at_a_class_prior_is_that_of_a_fit_at_it() -> None:
    data, curve = truth("over").scores((300, 2000), seed=1), bc.pu_ece.SmoothCurve(scale=1)
    made = problem("over", (300, 2000))
    found = class_prior_curve(made, Priors(bc.Beta(2, 2), curve), np.random.default_rng(1))
    # Five points left the mean .03, nearly the width of the interval, too low in between.
    for place in (15, 24):
        priors = Priors(float(found["class_prior"][place]), curve, calibrated=0)
        fitted = bc.fit(bc.pu_ece, data, priors=priors, method="direct", seed=1, draws=250)
        mean = fitted["posterior"]["tce"].mean().item()
        assert found["tce_mean"][place] == pytest.approx(mean, abs=0.012)


def test_the_error_between_class_priors_turns_where_it_should() -> None:
    # Many rows: by quadrature the error is that of the true curve times the ratio of class priors.
    classifier = PUTruth("steep", math.log(0.2 / 0.8), 3.0, 0.2)
    priors = Priors(bc.Beta(20, 80))
    (made,) = problems(classifier.scores((20_000, 100_000), seed=1), priors, Binning())
    found = class_prior_curve(made, priors, np.random.default_rng(1))
    x = np.linspace(-9, 9, 20_001)
    rate, weight = classifier.event_probability(x), classifier._density(x)
    for place in (15, 23, 25, 27):
        implied = np.minimum(rate * found["class_prior"][place] / 0.2, 1)
        error = np.average(abs(implied - classifier.score(x)), weights=weight)
        # The posterior's sd is .001; interpolated errors were .004 to .006 off.
        assert found["tce_mean"][place] == pytest.approx(error, abs=0.002)
