import numpy as np
import pytest

import bayescal as bc
from bayescal.quantities.temperature.errors import calibration_errors
from bayescal.quantities.temperature.estimator import estimate
from tests.quantities.temperature.made import rows


def test_numbers_and_errors_are_those_of_the_calibrators():
    logits, label = rows(300, 3)
    scores = bc.Scores(y_true=label, y_prob=logits, from_logits=True)
    found = estimate(scores)
    fitted = bc.temperature.ClassWiseTemperatureScaling().fit(logits, label)
    np.testing.assert_allclose(found.class_alpha, fitted.alpha_, rtol=1e-8)
    assert found.shared_alpha == pytest.approx(fitted.shared_alpha_, rel=1e-8)
    after = calibration_errors(bc.Scores(y_true=label, y_prob=fitted.predict_proba(logits)))
    before = calibration_errors(scores)
    for name in ("ece", "max_ece", "avg_ece"):
        assert getattr(found, name) == pytest.approx(getattr(after, name), abs=1e-9)
        assert getattr(found, f"{name}_uncalibrated") == pytest.approx(getattr(before, name))
    assert found.accuracy == before.accuracy


def test_one_classifier_at_a_time():
    data = bc.Scores.stack({"a": [0.2, 0.7], "b": [0.3, 0.6]}, y_true=[0, 1])
    with pytest.raises(bc.InputError, match="estimate takes one classifier; got 2"):
        estimate(data)


@pytest.mark.parametrize("take", [estimate, bc.temperature.build_model])
def test_groups_are_taken_one_by_one(take):
    data = bc.Scores(y_true=[0, 1, 0, 1], y_prob=[0.2, 0.7, 0.4, 0.6], group=list("abba"))
    with pytest.raises(bc.InputError, match=r"no groups; got 'a', 'b'. Take them .*by_group\(\)"):
        take(data)
    found = [take(part) for part in data.by_group().values()]
    assert len(found) == 2


def test_whole_weights_are_repeated_rows():
    logits, label = rows(300, 3)
    label = label.astype(float)
    label[::5] = np.nan
    weight = np.random.default_rng(0).integers(0, 4, 300)
    data = bc.Scores(y_true=label, y_prob=logits, from_logits=True, sample_weight=weight)
    again = bc.Scores(
        y_true=label.repeat(weight), y_prob=logits.repeat(weight, axis=0), from_logits=True
    )
    for gamma in (0.05, np.inf):
        one, two = estimate(data, gamma=gamma), estimate(again, gamma=gamma)
        for name in one._fields:
            np.testing.assert_allclose(getattr(one, name), getattr(two, name), rtol=1e-7)
    plain = estimate(data.without_weight())
    assert abs(plain.shared_alpha - one.shared_alpha) > 1e-3


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_logits_far_apart_are_taken_as_they_are(dtype):
    # exp(-120) is 0 in float32, and a label of probability 0 is refused.
    logits, label = rows(300, 3)
    logits[0], label[0] = [120, 0, 0], 1
    given = logits.astype(dtype)
    found = estimate(bc.Scores(y_true=label, y_prob=given, from_logits=True))
    fitted = bc.temperature.ClassWiseTemperatureScaling().fit(given, label)
    np.testing.assert_allclose(found.class_alpha, fitted.alpha_, rtol=1e-7)
    prob = np.exp(given - given.max(axis=1, keepdims=True))
    prob /= prob.sum(axis=1, keepdims=True)
    if dtype == np.float32:
        with pytest.raises(bc.InputError, match="label of a row must have a score above 0"):
            estimate(bc.Scores(y_true=label, y_prob=prob))


@pytest.mark.parametrize("logits", [[0.5, np.inf, -np.inf], [[0, 0.5], [-np.inf, 0], [0, -np.inf]]])
def test_infinite_logits_are_refused_where_they_are_the_labels(logits):
    assert estimate(bc.Scores(y_true=[1, 1, 0], y_prob=logits, from_logits=True)).accuracy == 1
    with pytest.raises(bc.InputError, match="score above 0; it is 0 for classifier at row 1"):
        estimate(bc.Scores(y_true=[1, 0, 0], y_prob=logits, from_logits=True))
