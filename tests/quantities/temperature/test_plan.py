"""Cases of data, and bad input."""

import numpy as np
import pytest

import bayescal as bc
from bayescal.quantities.temperature.posterior import plan
from bayescal.quantities.temperature.priors import MODELS, Priors


def test_one_case_a_classifier():
    logits = np.random.default_rng(0).normal(size=(30, 3))
    data = bc.Scores.stack(
        {"a": logits, "b": 2 * logits}, y_true=logits.argmax(axis=1), from_logits=True
    )
    found = plan(data, Priors())
    assert [case.coords for case in found.cases] == [{"classifier": "a"}, {"classifier": "b"}]
    assert found.attrs["n_labeled"] == 30


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (
            lambda: bc.Scores(y_true=[1, 0], y_prob=[0.0, 0.2]),
            r"score above 0; it is 0 for classifier at row 0 \(1 such rows\)",
        ),
        (
            lambda: bc.Scores(y_true=[None, None], y_prob=[0.1, 0.2]),
            "all 2 rows are missing",
        ),
        (
            lambda: bc.Scores(y_true=[1, 0], y_prob=[0.1, 0.2], group=["a", "b"]),
            "temperature has no groups; got 2",
        ),
        (
            lambda: bc.Scores(
                y_true=[1, 0], y_prob=[[np.inf, 0.0, 1.0], [0.0, 1.0, 2.0]], from_logits=True
            ),
            "largest logit of each row of y_prob must be finite; got inf at row 0",
        ),
        (
            lambda: bc.Scores(y_true=[3, 0], y_prob=np.eye(3)[:2], from_logits=True),
            "y_true must number the 3 columns of y_prob, 0 to 2; got 3|got 3 at row 0",
        ),
        (lambda: [0.5], "temperature takes Scores; got list"),
    ],
)
def test_data_that_cannot_be_used_are_refused(make, message):
    with pytest.raises(bc.InputError, match=message):
        plan(make(), Priors())


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"mu": bc.HalfNormal(1)}, "mu must be Normal"),
        ({"tau": 0.5}, "tau must be HalfNormal; got float"),
        ({"concentration": ()}, "concentration must hold a number above 0"),
        ({"concentration": (0, 1)}, r"concentration\[0\] must be a number in"),
        ({"exact": 0}, "exact must be a number in"),
        ({"shift": 1.0}, "shift must be HalfNormal"),
        ({"shared": -0.1}, "shared must be a number in"),
        ({"shared": 0.5, "vector": 0.5}, "got 0.5 and 0.5"),
        ({"vector": np.nan}, "vector must be a number in"),
    ],
)
def test_priors_outside_their_range_are_refused(given, message):
    with pytest.raises(bc.InputError, match=message):
        Priors(**given)


def test_weights_of_models_sum_to_1():
    assert Priors().weights == pytest.approx(dict.fromkeys(MODELS, 1 / 3))
    assert Priors(shared=0, vector=0).weights == {"class temperatures": 1}
    assert "prior probability 0.333" in Priors().describe()
