import numpy as np
import pytest

import bayescal as bc


@pytest.fixture(scope="module")
def result():
    scores = bc.datasets.temperature.truth("binary").scores(200, seed=1)
    return bc.fit(bc.temperature, scores, method="direct", seed=20, draws=300)


def test_a_saved_result_gives_the_same_probabilities(result, tmp_path):
    logits = np.array([[0.5, 2.0], [3.0, 0.0]])
    bc.save(result, tmp_path / "r.nc")
    again = bc.temperature.calibrate(bc.load(tmp_path / "r.nc"), logits)
    assert np.array_equal(bc.temperature.calibrate(result, logits), again)


def test_probabilities_are_taken_as_their_logarithms(result):
    prob = np.array([0.3, 0.9])
    logit = np.log(prob / (1 - prob))
    np.testing.assert_allclose(
        bc.temperature.calibrate(result, prob, scale="probabilities"),
        bc.temperature.calibrate(result, logit),
        atol=1e-10,
    )


def test_one_of_several_classifiers_is_named():
    logits = np.random.default_rng(0).normal(size=(60, 3))
    data = bc.Scores.stack(
        {"a": logits, "b": 5 * logits}, y_true=logits.argmax(axis=1), from_logits=True
    )
    fitted = bc.fit(bc.temperature, data, method="direct", seed=1, draws=200)
    with pytest.raises(bc.InputError, match="classifier must be one of the result's"):
        bc.temperature.calibrate(fitted, logits)
    a, b = (bc.temperature.calibrate(fitted, logits, classifier=name) for name in "ab")
    assert not np.allclose(a, b)
    with pytest.raises(bc.InputError, match="no classifier 'c'"):
        bc.temperature.calibrate(fitted, logits, classifier="c")


def test_other_columns_and_results_are_refused(result):
    with pytest.raises(bc.InputError, match="logits must have 2 columns"):
        bc.temperature.calibrate(result, [[1.0, 2.0, 3.0]])
    other = bc.fit(
        bc.ece, bc.datasets.ece.truth("over").scores(500, seed=1), method="direct", seed=1
    )
    with pytest.raises(bc.InputError, match="takes a result of temperature; this one is of ece"):
        bc.temperature.calibrate(other, [1.0])
