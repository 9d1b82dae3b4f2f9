"""Labels that the model simulates, and its own posterior of them."""

import numpy as np
import pytest
from scipy.special import softmax

import bayescal as bc
from bayescal.quantities.ssme.metrics import Metrics
from bayescal.quantities.ssme.posterior import SSMECase
from bayescal.quantities.ssme.priors import TILT_SCALES, GaussianMixture, Priors, Tilt
from tests.quantities.ssme.problems import grouped, many_classes, problem


def case(made, **given):
    return SSMECase.of(made, Priors(**({"power": 1.0, "discount": 0.0} | given)))


@pytest.mark.parametrize("make", [problem, many_classes, grouped])
def test_scores_and_labeled_rows_stay(make):
    old = case(make(n=60))
    new, values = old.simulate(np.random.default_rng(1))
    np.testing.assert_array_equal(new.problem.panel.probs, old.problem.panel.probs)
    np.testing.assert_array_equal(new.problem.panel.labeled, old.problem.panel.labeled)
    assert new.model.compile_key == old.model.compile_key
    assert {*Metrics._fields, "slope", "weight", "intercept", "bend"} <= set(values)
    assert np.isfinite(values["accuracy"]).all()


def test_the_same_random_numbers_give_the_same_labels():
    one, two = (case(problem(n=60)).simulate(np.random.default_rng(3)) for _ in range(2))
    np.testing.assert_array_equal(one[0].problem.labels, two[0].problem.labels)
    np.testing.assert_array_equal(one[1]["auc"], two[1]["auc"])


@pytest.mark.slow
def test_labels_have_the_probabilities_of_the_coefficients():
    """Scales so small that the coefficients are known: labels then have the pool's law."""
    tiny = dict.fromkeys(TILT_SCALES, 1e-9)
    old = case(problem(n=60), label=Tilt(**tiny, wide_weight=0.0))
    expected = softmax(old.model.features.log_pool[old.problem.rows], axis=1)[:, 1]
    drawn = np.mean(
        [old.simulate(np.random.default_rng(seed))[0].problem.labels for seed in range(600)],
        axis=0,
    )
    # Each share of 600 has a standard error below .0205; 20 of them.
    np.testing.assert_allclose(drawn, expected, atol=0.085)


@pytest.mark.parametrize(
    ("made", "given", "words"),
    [
        (lambda: problem(n=60), {"power": 0.6}, "and labeling='random'; got power=0.6"),
        (lambda: problem(n=60), {"discount": 20.0}, "discount=20"),
        (lambda: problem("one-per-class", n=60), {}, "labeling='one-per-class'"),
        (lambda: problem(n=60), {"label": GaussianMixture()}, "got GaussianMixture. Pass Tilt"),
    ],
)
def test_what_is_not_the_models_own_posterior_is_refused(made, given, words):
    with pytest.raises(bc.InputError, match=words):
        case(made(), **given).simulate(np.random.default_rng(1))
