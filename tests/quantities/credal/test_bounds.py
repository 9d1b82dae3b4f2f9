import numpy as np
import pytest

from bayescal.core.errors import InputError
from bayescal.quantities.credal.estimator import bounds
from bayescal.quantities.credal.venn_abers import fit_ivap, merged


@pytest.mark.slow
def test_the_selected_probability_is_calibrated_on_average():
    # Theorem 1: E[(Y - P) h(P)] = 0 for any h, over calibration sets and rows together; the mean
    # of 3,000 sets is within 4 of its standard errors.
    rng = np.random.default_rng(0)
    selected, label = np.empty(3_000), np.empty(3_000)
    ends = np.empty((3_000, 2))
    for i in range(3_000):
        score = rng.integers(0, 10, 9) / 10
        y = rng.random(9) < score**2
        p0, p1 = fit_ivap(score[:8], label=y[:8]).predict(score[8])
        selected[i], label[i], ends[i] = (p1 if y[8] else p0), y[8], (p0, p1)
    for weight in (np.ones(3_000), selected, selected > 0.5):
        terms = (label - selected) * weight
        assert abs(terms.mean()) < 4 * terms.std() / np.sqrt(3_000)
    # The prevalence lies between the means, by far more than their noise.
    assert ends[:, 0].mean() < 0.285 < ends[:, 1].mean()


def test_merging_costs_what_the_bound_says():
    p0, p1 = np.array([0.1, 0.4]), np.array([0.3, 0.9])
    p = merged(p0, p1)
    found = bounds(p0, p1, n_calibration=10)
    for regret in (np.log((1 - p0) / (1 - p)), np.log(p1 / p)):
        assert regret.mean() == pytest.approx(found.merged_regret.value, rel=1e-14)
    assert found.prevalence_lower.value == 0.25
    assert found.prevalence_upper.value == 0.6


def test_no_interval_is_narrower_than_the_bound():
    rng = np.random.default_rng(1)
    score = rng.random(50)
    p0, p1 = fit_ivap(score, label=rng.random(50) < 0.5).predict(rng.random(500))
    assert (p1 - p0).min() >= bounds(p0, p1, 50).least_width.value - 1e-15


def test_words_say_what_is_bounded_and_what_is_taken_for_granted():
    for bound in bounds([0.1], [0.2], 5):
        assert bound.kind
        assert bound.assumption
    assert "no statement on P(Y = 1 | score)" in bounds([0.1], [0.2], 5).selected_gap.kind


@pytest.mark.parametrize(
    ("p0", "p1", "n", "message"),
    [
        ([0.3], [0.2], 5, "0 <= p0 <= p1 <= 1; got p0 0.3 and p1 0.2 at row 0"),
        ([0.1, np.nan], [0.2, 0.3], 5, "got p0 nan and p1 0.3 at row 1"),
        ([], [], 5, "at least one"),
        ([0.1], [0.2], 0, "n_calibration must be a whole number >= 1; got 0"),
    ],
)
def test_what_no_predictor_gives_is_refused(p0, p1, n, message):
    with pytest.raises(InputError, match=message):
        bounds(p0, p1, n)
