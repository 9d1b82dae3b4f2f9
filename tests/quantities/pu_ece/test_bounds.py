"""The bounds are the paper's, and hold on the simulator."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import bayescal as bc
from bayescal.quantities.pu_ece.bounds import (
    bounds,
    bounds_or_infinite,
    fcmi_of_vc,
    generalization_bias,
    generalization_gap,
    least_bound_n_bins,
    optimal_n_bins,
)
from bayescal.quantities.pu_ece.simulator import truth


@pytest.mark.parametrize(
    ("n_positive", "n_unlabeled", "class_prior", "expected"),
    # (.25 / 100 + 1 / 1000)^(-1/3) = 6.586..., (.25/1e9 + 1e-9)^(-1/3) = 928.3, and an exact cube:
    # pi^2 / nP + 1 / nU = 1 / 1000 at pi = .5, nP = 500, nU = 2000.
    [(100, 1000, 0.5, 7), (10**9, 10**9, 0.5, 929), (500, 2000, 0.5, 10), (1, 1, 0.9, 1)],
)
def test_number_of_bins_by_hand(n_positive, n_unlabeled, class_prior, expected) -> None:
    assert optimal_n_bins(n_positive, n_unlabeled, class_prior) == expected


def test_fixed_bins_by_hand() -> None:
    found = bounds(400, 1000, 0.4, n_bins=8, strategy="uniform", lipschitz=2, delta=0.05)
    variance = 0.16 / 400 + 1 / 1000
    assert found.statistical_bias.value == pytest.approx(math.sqrt(2 * variance * 8 * math.log(2)))
    assert found.binning_bias.value == pytest.approx(3 / 8)
    assert found.total_bias.value == pytest.approx(
        found.binning_bias.value + found.statistical_bias.value
    )
    # 2^8 exp(-e^2 / (2 V)) = .05 at the deviation e.
    e = found.deviation.value
    assert 2**8 * math.exp(-(e**2) / (2 * variance)) == pytest.approx(0.05)


def theorem_1(n_p, n_u, pi, b, lip, spent, uniform):
    """Theorem 1 term by term as it is printed; `spent` is B log 2, or that and log(1 / delta)."""
    if uniform:
        return (1 + lip) / b + math.sqrt(2 * (pi**2 / n_p + 1 / n_u) * spent)
    return (
        (1 + lip) / b
        + (3 + 2 * lip) * b / (n_u - b)
        + math.sqrt(2 * spent)
        * ((1 + lip) / math.sqrt(n_u - b) + math.sqrt(pi**2 / n_p + 1 / (n_u - b)))
    )


@pytest.mark.parametrize("strategy", ["uniform", "quantile"])
@pytest.mark.parametrize(
    ("n_p", "n_u", "pi", "b", "lip", "delta"),
    [(1000, 10_000, 0.5, 15, 1.0, 0.1), (1, 30, 0.9, 15, 0.0, 0.01), (50, 7, 0.14, 3, 4.0, 0.5)],
)
def test_theorem_1_as_printed(strategy, n_p, n_u, pi, b, lip, delta) -> None:
    found = bounds(n_p, n_u, pi, b, strategy, lip, delta)
    uniform, nats = strategy == "uniform", b * math.log(2)
    assert found.total_bias.value == pytest.approx(theorem_1(n_p, n_u, pi, b, lip, nats, uniform))
    assert found.total_deviation.value == pytest.approx(
        theorem_1(n_p, n_u, pi, b, lip, nats + math.log(1 / delta), uniform)
    )
    if uniform:
        assert found.derived_total_bias.value == pytest.approx(found.total_bias.value)
        assert found.derived_total_deviation.value == pytest.approx(found.total_deviation.value)


def test_theorem_1_in_numbers() -> None:
    # By hand, nP 1000, nU 10,000, pi .5, B 15, L 1: 2/15 + 75/9985 + sqrt(30 ln 2) (2/sqrt(9985) +
    # sqrt(.00025 + 1/9985)) = .133333 + .007511 + 4.560090 (.020015 + .018712).
    assert bounds(1000, 10_000, 0.5).total_bias.value == pytest.approx(0.317445, abs=2e-6)
    # .13333 + sqrt(2 (.00025 + .0001) 15 ln 2)
    assert bounds(1000, 10_000, 0.5, strategy="uniform").total_bias.value == pytest.approx(
        0.218645, abs=2e-6
    )


@pytest.mark.parametrize("strategy", ["uniform", "quantile"])
@pytest.mark.parametrize("lip", [0.0, 1.0, 5.0])
@pytest.mark.parametrize(("n_p", "n_u", "pi"), [(1, 2, 0.5), (40, 900, 0.2), (3000, 10**5, 0.7)])
def test_the_least_bound_is_that_of_all_numbers_of_bins(strategy, lip, n_p, n_u, pi) -> None:
    uniform = strategy == "uniform"
    most = 400 if uniform else n_u // 2
    by_number = [
        theorem_1(n_p, n_u, pi, b, lip, b * math.log(2), uniform) for b in range(1, most + 1)
    ]
    found = least_bound_n_bins(n_p, n_u, pi, strategy, lip)
    assert by_number[found - 1] == pytest.approx(min(by_number), rel=1e-12)
    if uniform:  # B^3 = 2 (1 + L)^2 / (V ln 2), and one of its neighbours
        exact = (2 * (1 + lip) ** 2 / ((pi**2 / n_p + 1 / n_u) * math.log(2))) ** (1 / 3)
        assert abs(found - exact) < 1
    field = bounds(n_p, n_u, pi, 1, strategy, lip).least_bound_n_bins
    assert field.value == found


def test_the_least_bound_of_any_rows_and_slope_takes_no_time() -> None:
    # With nU far above B and L large, (1 + L) (1 / B + sqrt(2 B ln 2 / nU)) is least there.
    found = least_bound_n_bins(10**15, 10**15, 0.5, "quantile", 1e9)
    assert found == pytest.approx((2 * 10**15 / math.log(2)) ** (1 / 3), rel=1e-3)


@given(st.integers(1, 10**9), st.integers(1, 10**9), st.floats(0.01, 0.99))
def test_the_optimal_number_is_the_cube_root_rounded_up(n_p, n_u, pi) -> None:
    number = optimal_n_bins(n_p, n_u, pi)
    rows = 1 / (pi**2 / n_p + 1 / n_u)
    assert (number - 1) ** 3 < rows * (1 + 1e-12)
    assert number**3 >= rows * (1 - 1e-12)


def test_bins_of_equal_mass_need_two_rows_each() -> None:
    with pytest.raises(bc.InputError, match=r"got n_unlabeled 29 for 15 bins. Take fewer bins"):
        bounds(100, 29, 0.5)
    assert bounds(100, 30, 0.5).total_bias.value < math.inf
    assert bounds(1, 1, 0.5, strategy="uniform").total_bias.value < math.inf
    # A fit to so few rows is not refused for it.
    few = bounds_or_infinite(100, 29, 0.5, 15, "quantile")
    assert few.total_bias.value == few.total_deviation.value == math.inf
    assert few.derived_total_bias.value < math.inf
    with pytest.raises(bc.InputError, match="got n_unlabeled 1 for 1 bin"):
        least_bound_n_bins(5, 1, 0.5)


X = np.linspace(-11, 11, 200_001)
"""The feature of the simulator, for quadrature."""


def binned_truth(score, gap, edges) -> float:
    """TCE of the binned classifier, of scores and the mass of their gaps."""
    place = np.clip(np.searchsorted(edges[1:-1], score), 0, len(edges) - 2)
    return float(np.abs(np.bincount(place, gap, minlength=len(edges) - 1)).sum())


@pytest.mark.slow
@pytest.mark.parametrize("strategy", ["uniform", "quantile"])
@pytest.mark.parametrize("name", ["calibrated", "less"])
def test_biases_and_deviation_hold_on_the_simulator(name, strategy) -> None:
    made, n_bins, size = truth(name), 6, (60, 150)
    rng = np.random.default_rng(3)
    score, event = made.score(X), made.event_probability(X)
    gap = (event - score) * made._density(X) * (X[1] - X[0])
    off_truth, off_binned, binning = [], [], []
    for _ in range(200):
        found = bc.pu_ece.estimate(
            made.scores(size, rng), class_prior=0.5, n_bins=n_bins, strategy=strategy
        )
        binned = binned_truth(score, gap, found.bin_edges)
        off_truth.append(abs(found.ece - made.tce))
        off_binned.append(abs(found.ece - binned))
        binning.append(abs(binned - made.tce))
    lipschitz = float((np.diff(event) / np.diff(score)).max())
    theory = bounds(*size, 0.5, n_bins=n_bins, strategy=strategy, lipschitz=lipschitz, delta=0.1)
    assert np.mean(off_truth) <= theory.total_bias.value
    assert np.mean(off_truth) <= theory.derived_total_bias.value
    for bound in (theory.total_deviation, theory.derived_total_deviation):
        assert np.mean(np.array(off_truth) <= bound.value) >= 0.9
    assert np.mean(off_binned) <= theory.statistical_bias.value
    assert np.mean(binning) <= theory.binning_bias.value
    assert np.mean(np.array(off_binned) <= theory.deviation.value) >= 0.9
    # They are not vacuous by an order of magnitude: a bound of another quantity would be.
    assert theory.statistical_bias.value <= 12 * np.mean(off_binned)


def test_a_bound_for_edges_of_ones_own_is_not_called_the_paper_s() -> None:
    edges = [0, 0.1, 0.6, 1]
    own, even = (bounds(500, 4000, 0.4, 3, strategy) for strategy in (edges, "uniform"))
    for bound in (own.total_bias, own.total_deviation):
        assert "derived: Theorem 1 for bins of equal width, with the widest bin" in bound.kind
    assert even.total_bias.kind.endswith("(Theorem 1)")
    # L = 1: twice the widest bin, .5, in place of twice a third.
    assert own.total_bias.value - even.total_bias.value == pytest.approx(2 * (0.5 - 1 / 3))
    trained = generalization_bias(500, 4000, 0.4, 1.0, strategy=edges)
    assert "derived: Theorem 3" in trained.kind
    assert "number of bins of equal width" in own.least_bound_n_bins.kind


def test_generalization_with_every_label_known_is_the_supervised_bound() -> None:
    # With pi^2 / nP negligible it is sqrt(8 (fCMI + B ln 2) / n).
    found = generalization_gap(10**12, 500, 0.5, fcmi=3.0, n_bins=4)
    assert found.value == pytest.approx(math.sqrt(8 * (3 + 4 * math.log(2)) / 500), rel=1e-6)


def test_generalization_holds_for_a_classifier_that_memorizes_nothing() -> None:
    made, rng = truth("less"), np.random.default_rng(5)
    edges = np.linspace(0, 1, 6)
    gaps = [
        abs(
            float(
                bc.pu_ece.estimate(made.scores((50, 100), rng), class_prior=0.5, strategy=edges).ece
                - bc.pu_ece.estimate(
                    made.scores((50, 100), rng), class_prior=0.5, strategy=edges
                ).ece
            )
        )
        for _ in range(100)
    ]
    assert np.mean(gaps) <= generalization_gap(50, 100, 0.5, fcmi=0.0, n_bins=5).value


def theorem_3(n_p, n_u, pi, fcmi, of_unlabeled, b, lip, uniform):
    """Theorem 3 term by term as it is printed."""
    nats = b * math.log(2)
    root = math.sqrt(8 * (pi**2 / n_p + 1 / n_u) * (fcmi + nats))
    more = 0 if uniform else (1 + lip) * math.sqrt(8 / n_u * (of_unlabeled + nats))
    return (1 + lip) / b + root + more


@pytest.mark.parametrize("strategy", ["uniform", "quantile"])
def test_theorem_3_as_printed(strategy) -> None:
    uniform, given_ = strategy == "uniform", (2000, 60_000, 0.49, 7.5, 30)
    n_p, n_u, pi, fcmi, b = given_
    both = generalization_bias(*given_, strategy, 1.5, fcmi_unlabeled=5.0)
    assert both.value == pytest.approx(theorem_3(n_p, n_u, pi, fcmi, 5.0, b, 1.5, uniform))
    alone = generalization_bias(*given_, strategy, 1.5)
    assert alone.value == pytest.approx(theorem_3(n_p, n_u, pi, fcmi, fcmi, b, 1.5, uniform))
    assert alone.value >= both.value


def test_corollary_2_its_rate_holds_for_a_vc_class() -> None:
    # With B = V^(-1/3) and fCMI = d ln(2 e n / d), which grows more slowly than B, the bound is
    # (2 + sqrt(8 (fCMI / B + ln 2))) V^(1/3): it falls to its limit, with fCMI < B from 10^6 on.
    sizes = [10**k for k in range(6, 13)]
    scaled = []
    for n in sizes:
        bins, variance = optimal_n_bins(n, n, 0.5), 1.25 / n
        bound = generalization_bias(n, n, 0.5, fcmi_of_vc(2 * n, 3), bins, "uniform")
        scaled.append(bound.value / variance ** (1 / 3))
    assert max(scaled) < 2 + math.sqrt(8 * (math.log(2) + 1))
    assert np.all(np.diff(scaled) < 0)


def test_sauer_counts_the_labellings_of_half_lines() -> None:
    # Half-lines label m points in m + 1 ways, and have the dimension 1: ln(m + 1) <= ln(e m).
    for n in (1, 5, 100):
        assert math.log(2 * n + 1) <= fcmi_of_vc(n, 1)


def test_bad_information_and_dimensions_are_refused() -> None:
    with pytest.raises(bc.InputError, match=r"fcmi_unlabeled must not exceed fcmi, 1, .* got 2"):
        generalization_bias(10, 10, 0.5, 1.0, 2, "uniform", fcmi_unlabeled=2.0)
    with pytest.raises(bc.InputError, match="vc_dimension must be "):
        fcmi_of_vc(10, 21)
