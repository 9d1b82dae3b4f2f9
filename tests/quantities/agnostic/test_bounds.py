"""Bounds against brute force and simulation, and the test of c = 0."""

import itertools
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import binom

from bayescal.core.errors import InputError
from bayescal.quantities.agnostic.bounds import (
    bounds,
    calibration_test,
    class_deviation,
    isotonic_deviation,
    isotonic_uniform_deviation,
    rademacher_bound,
    sample_size,
    simulated_measures,
    single_score_rademacher,
    uniform_deviation,
)
from bayescal.quantities.agnostic.calibration import isotonic_calibration
from bayescal.quantities.agnostic.estimator import interval_measure


def failure_probability(n, slack, eta=0.01, share=0.375):
    """P(c > c_emp + slack), where f is 1/2 with rate 1/2 - eta, or (`share`) 1 with rate 0.

    Of n rows h have f = 1 and a of the others are positive. Then n c_emp is h + max(0, D) with
    D = (n - h) / 2 - a, and c is share + (1 - share) eta: a sum over h of binomial tails.
    """
    c = share + (1 - share) * eta
    high = np.arange(n + 1)
    room = n * (c - slack) - high
    tail = binom.sf(np.floor((n - high) / 2 - room), n - high, 0.5 - eta)
    return float(binom.pmf(high, n, share) @ np.where(room > 0, tail, 0))


def test_claim_4_as_printed_fails_and_the_safe_bound_does_not():
    n, delta = 100_000, 1e-4
    found = bounds(n, delta)
    assert failure_probability(n, found.upper_printed.value) > 1.5 * delta
    assert failure_probability(n, found.upper.value) < 0.01 * delta


@pytest.mark.slow
def test_the_counter_example_is_that_of_interval_measures():
    rng = np.random.default_rng(20)
    n, slack = 400, 0.05
    high = rng.random((4000, n)) < 0.375
    label = ~high & (rng.random((4000, n)) < 0.49)
    score = np.where(high, 1.0, 0.5)
    c = 0.375 + 0.625 * 0.01
    found = [interval_measure(f, label=y).c for f, y in zip(score, label, strict=True)]
    share = (c > np.array(found) + slack).mean()
    expected = failure_probability(n, slack)
    assert share == pytest.approx(expected, abs=4 * math.sqrt(expected / 4000))


def test_values_as_printed():
    found = bounds(1, 0.05)
    assert found.upper_printed.value == pytest.approx(math.sqrt(math.log(40) / 2))
    assert found.lower_printed.value == pytest.approx(46.48, abs=0.01)
    # Claim 4 says nothing where the slack is 1 or more.
    assert bounds(2160, 0.05).lower_printed.value > 1 > bounds(2161, 0.05).lower_printed.value


def test_the_two_sided_deviation_holds_where_all_intervals_count():
    rng = np.random.default_rng(21)
    for n in (20, 200):
        for delta in (0.3, 0.05):
            limit = uniform_deviation(n, delta)
            # Calibrated: c = 0, and all of c_emp is deviation.
            failures = 0
            for _ in range(500):
                score = rng.choice([0.3, 0.5, 0.9], n)
                failures += interval_measure(score, label=rng.random(n) < score).c > limit
            assert failures / 500 <= delta
    assert uniform_deviation(200, 0.05) < bounds(200, 0.05).lower_printed.value / 8


@pytest.mark.parametrize("two_sided", [False, True])
@pytest.mark.parametrize("precision", [0.3, 0.05, 0.011])
def test_sample_size_is_the_least_that_suffices(precision, two_sided):
    n = sample_size(precision, 0.05, two_sided=two_sided)
    slack = [
        uniform_deviation(rows, 0.05) if two_sided else bounds(rows, 0.05).upper.value
        for rows in (n, n - 1)
    ]
    assert slack[0] <= precision < slack[1]


@pytest.mark.parametrize("two_sided", [False, True])
def test_a_bound_takes_its_own_number_of_rows(two_sided):
    for n in range(1, 400):
        bound = uniform_deviation(n, 0.05) if two_sided else bounds(n, 0.05).upper.value
        assert sample_size(bound, 0.05, two_sided=two_sided) == n
    assert sample_size(1e300, two_sided=two_sided) == 1


def test_theorem_2_and_claim_2_by_their_formulas():
    complexity = rademacher_bound(500, 3, 10)
    assert complexity**2 * 500 == pytest.approx(6 * (math.log(500 / 3) + 1) + 4 * math.log(11))
    eps = class_deviation(500, complexity, 0.1).value
    assert 2 * complexity + math.sqrt(2 * math.log(80) / 500) == pytest.approx(eps / 2)


def walk_complexity(n, rng, draws=400):
    """Rademacher complexity of all intervals of n distinct scores."""
    walks = np.cumsum(rng.choice([-1, 1], (draws, n)), axis=1)
    walks = np.hstack([np.zeros((draws, 1)), walks])
    return (walks - np.minimum.accumulate(walks, axis=1)).max(axis=1).mean() / n


@pytest.mark.parametrize("n", [10, 100, 1000])
def test_the_complexity_of_a_single_score_is_below_its_bound(n):
    assert walk_complexity(n, np.random.default_rng(22)) < single_score_rademacher(n)


@pytest.mark.parametrize("seed", range(5))
def test_lemma_2_by_all_signs(seed):
    # One classifier, so that H are the intervals of its scores: all of them by all 2^7 signs.
    rng = np.random.default_rng(seed)
    n = 7
    score, label = np.sort(rng.random(n)), rng.random(n) < 0.5
    ends = [(a, b) for a in range(n) for b in range(a, n + 1)]
    inside = np.array([[a <= i < b for i in range(n)] for a, b in ends]).astype(float)
    signs = np.array(list(itertools.product((-1, 1), repeat=n)))

    def complexity(members):
        return (signs @ members.T).max(axis=1).mean() / n

    assert complexity(inside * label) <= complexity(inside) + 1e-12
    assert complexity(inside * score) <= complexity(inside) + 1e-12


def greatest_minorant(x, y, at):
    """Greatest convex minorant of points, at a place; by all pairs of points around it."""
    low = np.inf
    for left in np.flatnonzero(x <= at):
        for right in np.flatnonzero(x >= at):
            width = x[right] - x[left]
            share = (at - x[left]) / width if width else 0.0
            low = min(low, y[left] + share * (y[right] - y[left]))
    return low


def test_claim_7_on_a_rate_that_is_not_monotone():
    # Five equally probable scores; their rates fall once, so that the hull pools two of them.
    score, rate = np.array([0.1, 0.3, 0.5, 0.7, 0.9]), np.array([0.1, 0.5, 0.2, 0.6, 0.9])
    n, delta = 4000, 0.01
    rng = np.random.default_rng(23)
    f, g = np.append(0, np.arange(1, 6) / 5), np.append(0, np.cumsum(rate) / 5)
    hull = np.array([greatest_minorant(f, g, at) for at in f])
    # The complexity of five scores is at most that of n distinct ones.
    limit = isotonic_deviation(n, delta, 1.3 / math.sqrt(n)).value
    assert limit < 0.4
    away = []
    for _ in range(100):
        place = rng.integers(5, size=n)
        link = isotonic_calibration(score[place], label=rng.random(n) < rate[place])
        fitted = np.append(0, np.cumsum(link(score)) / 5)
        away.append(np.abs(fitted - hull).max())
    assert max(away) < limit
    # A mean of n labels has a standard deviation of 1 / (2 sqrt n); ten of them are far out.
    assert max(away) < 5 / math.sqrt(n)


def distance_to_hull(link, score, mass, rate):
    """Claim 7's sup |G_e - cv(F)| in a population of these scores, rising, by all pairs."""
    f, g = (np.append(0, np.cumsum(each)) for each in (mass, mass * rate))
    hull = np.array([greatest_minorant(f, g, at) for at in f])
    return np.abs(np.append(0, np.cumsum(mass * link(score))) - hull).max()


COUNTS = st.lists(st.tuples(st.integers(0, 6), st.integers(0, 6)), min_size=2, max_size=6)


@given(COUNTS, COUNTS)
def test_the_distance_to_the_hull_is_within_two_deviations_of_distribution_functions(rows, drawn):
    # The step of the proof that no probability enters: any population, any rows, ties and gaps.
    population, sample = (np.array((each + [(0, 0)] * 6)[:6]) for each in (rows, drawn))
    sample[0, 0] += 1
    population[:, 0] += 1
    score = np.arange(1, 7) / 7
    mass = population.sum(axis=1) / population.sum()
    times = sample.ravel()
    label = np.repeat(np.tile([0, 1], 6), times)
    link = isotonic_calibration(np.repeat(np.repeat(score, 2), times), label=label)
    away = [
        np.abs(np.cumsum(sample[:, of].sum(axis=1)) / len(label) - np.cumsum(true)).max()
        for of, true in (([0, 1], mass), ([0], population[:, 0] / population.sum()))
    ]
    found = distance_to_hull(link, score, mass, population[:, 1] / population.sum(axis=1))
    assert found <= sum(away) + 1e-12


def test_the_sharp_form_of_claim_7():
    # Two inequalities of Dvoretzky, Kiefer and Wolfowitz, each to fail with probability delta / 2.
    n, delta = 1000, 0.05
    found = isotonic_uniform_deviation(n, delta).value
    assert 2 * (2 * math.exp(-2 * n * (found / 2) ** 2)) == pytest.approx(delta)
    assert found == pytest.approx(2.96 / math.sqrt(n), rel=1e-3)
    assert isotonic_deviation(n, delta / 5).value > 30 * found


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (
            lambda: isotonic_deviation(10, 0.3),
            r"delta must be a number in \(0, 0.2\); got 0.3. Claim 7",
        ),
        (lambda: rademacher_bound(3, 2, 5), "n must be above"),
    ],
)
def test_bad_input(call, message):
    with pytest.raises(InputError, match=message):
        call()


def test_its_size_is_exact():
    rng = np.random.default_rng(20)
    score = rng.random(60)
    p_values = [
        calibration_test(score, label=rng.random(60) < score, draws=19, seed=seed).p_value
        for seed in range(2000)
    ]
    for level in (0.05, 0.1, 0.5):
        error = 4 * math.sqrt(level * (1 - level) / 2000)
        assert np.mean(np.array(p_values) <= level + 1e-9) == pytest.approx(level, abs=error)


def test_it_sees_a_miscalibrated_classifier():
    rng = np.random.default_rng(21)
    score = rng.random(500)
    assert calibration_test(score, label=rng.random(500) < score**2, seed=1).p_value == 0.001


def test_few_tied_scores_are_exact_to_count():
    # One row of score 1/2: the measure is 1/2 whatever the label.
    assert calibration_test([0.5], label=[1], draws=99, seed=1).p_value == 1


def test_simulated_measures_have_the_mean_of_labels_drawn_one_by_one():
    rng = np.random.default_rng(22)
    score = rng.random(50).round(1)
    found = simulated_measures(score, 4000, rng)
    expected = [interval_measure(score, label=rng.random(50) < score).c for _ in range(4000)]
    error = 4 * math.sqrt(2 * np.var(expected) / 4000)
    assert found.mean() == pytest.approx(np.mean(expected), abs=error)


def test_a_calibrated_classifiers_bias_is_that_of_the_documentation():
    rng = np.random.default_rng(23)
    score = rng.random(20_000)
    found = simulated_measures(score, 300, rng).mean()
    # Range of a Brownian motion: 2 sqrt(2 / pi) in mean.
    expected = 2 * math.sqrt(2 / math.pi) * math.sqrt((score * (1 - score)).mean() / 20_000)
    assert found == pytest.approx(expected, rel=0.06)
