"""The bounds hold on the simulator, and have the order that the paper gives."""

import math

import numpy as np
import pytest

import bayescal as bc
from bayescal.quantities.pu_ece.bounds import bounds, fcmi_of_vc, generalization_gap, optimal_n_bins
from bayescal.quantities.pu_ece.simulator import PUTruth, truth


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


def binned_truth(made: PUTruth, edges) -> float:
    """TCE of the binned classifier by quadrature over the feature."""
    x = np.linspace(-11, 11, 200_001)
    density = made._density(x)
    score = made.score(x)
    gap = (made.event_probability(x) - score) * density
    place = np.clip(np.searchsorted(edges[1:-1], score), 0, len(edges) - 2)
    step = x[1] - x[0]
    return float(np.abs(np.bincount(place, gap, minlength=len(edges) - 1) * step).sum())


@pytest.mark.slow
@pytest.mark.parametrize("strategy", ["uniform", "quantile"])
@pytest.mark.parametrize("name", ["calibrated", "less"])
def test_biases_and_deviation_hold_on_the_simulator(name, strategy) -> None:
    made, n_bins, size = truth(name), 6, (60, 150)
    rng = np.random.default_rng(3)
    off_truth, off_binned, binning = [], [], []
    for _ in range(200):
        found = bc.pu_ece.estimate(
            made.scores(size, rng), class_prior=0.5, n_bins=n_bins, strategy=strategy
        )
        binned = binned_truth(made, found.bin_edges)
        off_truth.append(abs(found.ece - made.tce))
        off_binned.append(abs(found.ece - binned))
        binning.append(abs(binned - made.tce))
    x = np.linspace(-11, 11, 200_001)
    lipschitz = float((np.diff(made.event_probability(x)) / np.diff(made.score(x))).max())
    theory = bounds(*size, 0.5, n_bins=n_bins, strategy=strategy, lipschitz=lipschitz, delta=0.1)
    assert np.mean(off_truth) <= theory.total_bias.value
    assert np.mean(off_binned) <= theory.statistical_bias.value
    assert np.mean(binning) <= theory.binning_bias.value
    assert np.mean(np.array(off_binned) <= theory.deviation.value) >= 0.9
    # They are not vacuous by an order of magnitude: a bound of another quantity would be.
    assert theory.statistical_bias.value <= 12 * np.mean(off_binned)


def test_many_positives_leave_the_rate_of_the_unlabelled_rows() -> None:
    few, many = (
        bounds(n, 1000, 0.5, strategy="uniform").statistical_bias.value for n in (10, 10**9)
    )
    assert many == pytest.approx(math.sqrt(2 * 15 * math.log(2) / 1000), rel=1e-4)
    assert few > 4 * many


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


def test_sauer_counts_the_labellings_of_half_lines() -> None:
    # Half-lines label m points in m + 1 ways, and have the dimension 1: ln(m + 1) <= ln(e m).
    for n in (1, 5, 100):
        assert math.log(2 * n + 1) <= fcmi_of_vc(n, 1)


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ({"n_positive": 0}, "n_positive must be a whole number"),
        ({"n_unlabeled": 1.5}, "n_unlabeled must be a whole number"),
        ({"class_prior": 1.0}, "class_prior must lie"),
        ({"lipschitz": -1}, "lipschitz must be >= 0"),
        ({"delta": 0}, "delta must lie between"),
        ({"strategy": "mass"}, "strategy"),
        ({"n_bins": 0}, "n_bins"),
    ],
)
def test_bad_numbers_are_refused(arguments, words) -> None:
    with pytest.raises(bc.InputError, match=words):
        bounds(**({"n_positive": 10, "n_unlabeled": 10, "class_prior": 0.5} | arguments))


def test_bad_information_and_dimensions_are_refused() -> None:
    with pytest.raises(bc.InputError, match="fcmi must be >= 0"):
        generalization_gap(10, 10, 0.5, fcmi=-1.0)
    with pytest.raises(bc.InputError, match="vc_dimension must lie between"):
        fcmi_of_vc(10, 21)
