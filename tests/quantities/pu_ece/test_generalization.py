"""The bounds on generalization are the paper's, and hold on the simulator."""

import math

import numpy as np
import pytest

import bayescal as bc
from bayescal.quantities.pu_ece.bounds import optimal_n_bins
from bayescal.quantities.pu_ece.generalization import (
    fcmi_of_vc,
    generalization_bias,
    generalization_gap,
)
from bayescal.quantities.pu_ece.simulator import truth


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
    with pytest.raises(bc.InputError, match=r"fcmi must be a number in \[0, inf\)"):
        generalization_gap(10, 10, 0.5, fcmi=-1.0)
    for strategy in ("uniform", "quantile"):
        with pytest.raises(bc.InputError, match=r"fcmi must be a number in \[0, inf\)"):
            generalization_bias(10, 10, 0.5, math.nan, 2, strategy)
        with pytest.raises(
            bc.InputError, match=r"fcmi_unlabeled must not exceed fcmi, 1, .* got 2"
        ):
            generalization_bias(10, 10, 0.5, 1.0, 2, strategy, fcmi_unlabeled=2.0)
    with pytest.raises(bc.InputError, match="vc_dimension must be "):
        fcmi_of_vc(10, 21)
