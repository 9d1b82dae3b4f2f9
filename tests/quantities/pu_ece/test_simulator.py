import math

import numpy as np
import pytest
from scipy import integrate, stats

from bayescal.core.errors import InputError
from bayescal.datasets import ece
from bayescal.quantities.pu_ece.simulator import TRUTHS, PUTruth, digits, truth

OTHERS = (
    PUTruth("rare", -1.0, 1.5, class_prior=0.1),
    PUTruth("shifted", 0.0, 2.0, class_prior=0.8),
    PUTruth("far", 3.0, 2.5, class_prior=0.3),
)
ALL = (*TRUTHS.values(), *OTHERS)


@pytest.mark.parametrize("name", TRUTHS)
def test_at_even_classes_the_error_is_that_of_the_labelled_simulator(name):
    assert truth(name).tce == pytest.approx(ece.truth(name).tce, abs=1e-10)


@pytest.mark.parametrize("simulated", ALL, ids=lambda found: found.name)
def test_quadrature_agrees_with_bayes_theorem_on_a_fine_grid(simulated):
    x = np.linspace(-12, 12, 400_001)
    prior = simulated.class_prior
    positive = prior * stats.norm.pdf(x, 1)
    negative = (1 - prior) * stats.norm.pdf(x, -1)
    gap = np.abs(positive - simulated.score(x) * (positive + negative))
    # The trapezoid rule at a step of 6e-5 is exact up to the kink, which costs about its square.
    assert simulated.tce == pytest.approx(integrate.trapezoid(gap, x), abs=1e-9)


@pytest.mark.parametrize("simulated", ALL, ids=lambda found: found.name)
def test_the_calibration_curve_is_the_event_probability_of_the_score(simulated):
    x = np.linspace(-3, 3, 1000)
    curve = simulated.probability(simulated.score(x))
    np.testing.assert_allclose(curve, simulated.event_probability(x), atol=1e-9)


@pytest.mark.parametrize("prior", [0.05, 0.5, 0.9])
def test_the_score_with_the_true_logit_is_calibrated(prior):
    calibrated = PUTruth("calibrated", math.log(prior / (1 - prior)), 2.0, prior)
    assert calibrated.tce == pytest.approx(0, abs=1e-15)


def test_a_shift_of_the_class_prior_alone_changes_the_mean_score_by_the_tce():
    # Both logits have one slope, so that one curve lies above the other everywhere.
    shifted = PUTruth("shifted", 0.0, 2.0, class_prior=0.8)
    unlabeled = shifted.scores((1, 400_000), seed=3).unlabeled[0]
    error = unlabeled.std() / math.sqrt(400_000)
    assert abs((0.8 - unlabeled.mean()) - shifted.tce) < 4 * error


def test_the_samples_are_normal_given_the_class():
    simulated = PUTruth("rare", -1.0, 1.5, class_prior=0.1)
    drawn = simulated.scores((5_000, 50_000), seed=11)
    positive, unlabeled = (
        (np.log(s / (1 - s)) + 1.0) / 1.5 for s in (drawn.positive[0], drawn.unlabeled[0])
    )
    assert stats.kstest(positive, stats.norm(1).cdf).pvalue > 0.01

    def mixture(x):
        return 0.1 * stats.norm.cdf(x, 1) + 0.9 * stats.norm.cdf(x, -1)

    assert stats.kstest(unlabeled, mixture).pvalue > 0.01


def test_a_seed_gives_the_same_rows_under_the_name_of_the_truth():
    first, again = (truth("over").scores((10, 20), seed=4) for _ in range(2))
    other = truth("over").scores((10, 20), seed=5)
    assert first.classifiers == ("over",)
    assert np.array_equal(first.positive[0], again.positive[0])
    assert np.array_equal(first.unlabeled[0], again.unlabeled[0])
    assert not np.array_equal(first.unlabeled[0], other.unlabeled[0])


def test_a_score_that_falls_with_the_feature_is_refused():
    with pytest.raises(InputError, match=r"b1 must be a number in \(0, inf\); got -2.0"):
        PUTruth("x", 0.0, -2.0)


def test_digits_are_those_of_scikit_learn_each_in_one_sample_only():
    from sklearn.datasets import load_digits

    pixels, digit = load_digits(return_X_y=True)
    labelled = {}
    for row, value in zip(pixels / 16, digit, strict=True):
        labelled.setdefault(row.tobytes(), []).append(int(value >= 5))
    found = digits(seed=2)
    drawn = [*found.train, *found.positive, *found.unlabeled]
    # No two of scikit-learn's digits are equal, so that a row tells which one it is.
    assert all(len(same) == 1 for same in labelled.values())
    assert len({row.tobytes() for row in drawn}) == len(drawn)
    assert all(labelled[row.tobytes()] == [1] for row in found.positive)
    assert all(labelled[row.tobytes()] == [1] for row in found.train[found.selected == 1])
    told = [labelled[row.tobytes()][0] for row in found.unlabeled]
    assert found.label.tolist() == told
    assert found.class_prior == pytest.approx((digit >= 5).mean())
