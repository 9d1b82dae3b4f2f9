import numpy as np
import pytest

from bayescal.core.errors import InputError
from bayescal.quantities.temperature.bounds import HALF_BRIER_LIPSCHITZ, bounds
from bayescal.quantities.temperature.calibrators import ClassWiseTemperatureScaling
from tests.quantities.temperature.made import labels

SETTING = {"logit_norm": 2.0, "lipschitz": 1.5, "alpha_min": 0.5, "alpha_max": 2.5, "delta": 0.05}


def test_both_regimes_are_those_of_theorem_4_1():
    n, classes, delta = 10_000, 5, 0.05
    unit = np.sqrt(n) * 2.0 * 1.5
    head = 8 * np.sqrt(np.log(2 / delta) / n)
    small = bounds(n, classes, gamma=1 / (8 * unit), **SETTING).excess.value
    assert small == pytest.approx(head + 4 / np.sqrt(n) * np.sqrt(np.log(1 + 4 * 2.0 * unit)))
    large = bounds(n, classes, gamma=0.25, **SETTING).excess.value
    inner = np.log(2.0 / 0.5) + (classes + 1) * np.log(8 * 0.25 * unit)
    assert large == pytest.approx(head + 4 / np.sqrt(n) * np.sqrt(inner))


def test_no_constraint_counts_as_half_the_range():
    given = {name: bounds(5000, 3, gamma=name, **SETTING).excess.value for name in (1.0, np.inf)}
    assert given[1.0] == given[np.inf]


@pytest.mark.parametrize("gamma", [1e-6, 0.05, np.inf])
def test_below_the_rows_that_the_proof_takes_the_bound_is_trivial(gamma):
    # The proof takes n >= 3 log |A'| + 3 log(2 / delta) for a cover A'; a loss in [0, 1] differs by
    # at most 1, so that the bound of the theorem and half of it, of the proof, need no condition.
    for n in range(1, 400):
        found = bounds(n, 5, gamma=gamma, **SETTING)
        unit = np.sqrt(n) * 3
        cover = 5 * np.log(max(1, 8 * min(gamma, 1) * unit)) + np.log(max(1, 4 * 2.0 * unit))
        if n < 3 * cover + 3 * np.log(2 / 0.05):
            assert 2 < found.excess.value < np.inf
            assert found.deviation.value == found.excess.value / 2


def test_the_corollary_divides_the_failure_among_classes():
    n, classes, p_min = 1_000_000, 4, 0.1
    each = 0.05 / classes - np.exp(-p_min * n / 8)
    size = np.log(1 + 4 * 2.0 * np.sqrt(n) * 3.0)
    value = 6 * np.sqrt(size / (p_min * n)) + 12 * np.sqrt(np.log(2 / each) / (p_min * n))
    assert bounds(n, classes, p_min=p_min, **SETTING).class_excess.value == pytest.approx(value)
    assert bounds(n, classes, **SETTING).class_excess.value == np.inf
    assert bounds(10, classes, p_min=p_min, **SETTING).class_excess.value == np.inf


def test_half_the_brier_score_has_its_lipschitz_constant():
    rng = np.random.default_rng(0)
    prob, other = rng.dirichlet(np.ones(4), (2, 2000))
    true = np.eye(4)[rng.integers(0, 4, 2000)]

    def loss(p):
        return ((p - true) ** 2).sum(axis=1) / 2

    apart = np.linalg.norm(prob - other, axis=1)
    assert (np.abs(loss(prob) - loss(other)) <= HALF_BRIER_LIPSCHITZ * apart + 1e-12).all()
    assert loss(prob).max() <= 1


def test_the_bounds_hold_for_the_half_brier_score_on_simulated_rows():
    # The population is 200,000 rows; numbers are those of log loss, for which `deviation` is.
    rng = np.random.default_rng(1)
    logits = rng.uniform(-1, 1, (200_000, 3))
    label = labels(1.5 * logits, rng)

    def loss(alpha, at):
        moved = np.exp(alpha[logits[at].argmax(axis=1)][:, None] * logits[at])
        prob = moved / moved.sum(axis=1, keepdims=True)
        return ((prob - np.eye(3)[label[at]]) ** 2).sum(axis=1).mean() / 2

    norm = np.linalg.norm(logits, axis=1).max()
    fitted = ClassWiseTemperatureScaling(alpha_min=0.5, alpha_max=3)
    fitted.fit(logits[:2000], label[:2000])
    excess = loss(fitted.alpha_, slice(2000, None)) - loss(np.full(3, 1.5), slice(2000, None))
    found = bounds(2000, 3, logit_norm=norm, alpha_min=0.5, alpha_max=3)
    assert excess < found.excess.value < 1
    apart = loss(fitted.alpha_, slice(2000)) - loss(fitted.alpha_, slice(2000, None))
    assert abs(apart) < found.deviation.value


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"n": 0}, "n must be a whole number >= 1"),
        ({"gamma": -1.0}, r"gamma must be a number in \[0, inf\]"),
        ({"p_min": 0.0}, r"p_min must be a number in \(0, 1\]"),
        ({"delta": 1.0}, r"delta must be a number in \(0, 1\)"),
        ({"logit_norm": np.inf}, r"logit_norm must be a number in \(0, inf\)"),
    ],
)
def test_numbers_outside_their_range_are_refused(change, message):
    with pytest.raises(InputError, match=message):
        bounds(**{"n": 100, "n_classes": 3, **SETTING, **change})
