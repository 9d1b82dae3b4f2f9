import numpy as np
import pytest
from scipy.special import rel_entr
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression, Perceptron
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from bayescal.core.errors import InputError
from bayescal.quantities.credal.self_learning.label_sets import LabelSets, from_labels
from bayescal.quantities.credal.self_learning.learners import check_learner, fit_label_sets
from bayescal.quantities.credal.self_learning.network import NetworkClassifier

CLASSES = np.arange(3)


def problem(seed=1, known=20, wide=40):
    """Labeled rows, then rows with sets around the truth."""
    rng = np.random.default_rng(seed)
    y = np.concatenate([CLASSES, rng.integers(3, size=known + wide - 3)])
    x = rng.normal(y[:, None], 1.2, (known + wide, 2))
    corners = from_labels(y, CLASSES)
    lower, upper = corners.lower.copy(), corners.upper.copy()
    lower[known:] *= 0.3
    upper[known:] = np.maximum(upper[known:], rng.uniform(0.2, 0.7, (wide, 3)))
    return x, LabelSets(lower, upper)


def penalised(fitted, x, sets, c):
    """Optimistic loss as scikit-learn's logistic regression penalises it."""
    p = fitted.predict_proba(x)
    return rel_entr(sets.nearest(p), p).sum() + (fitted.coef_**2).sum() / (2 * c)


def test_a_label_is_learned_as_ever():
    x, sets = problem(wide=0, known=60)
    y = sets.lower.argmax(axis=1)
    found = fit_label_sets(LogisticRegression(), x, sets, CLASSES)
    np.testing.assert_array_equal(found.coef_, LogisticRegression().fit(x, y).coef_)


def test_no_turn_raises_the_loss():
    x, sets = problem()
    classifier = LogisticRegression(C=0.5, tol=1e-10, max_iter=1000)
    losses = [
        penalised(fit_label_sets(classifier, x, sets, CLASSES, rounds=rounds), x, sets, 0.5)
        for rounds in range(1, 7)
    ]
    # The solver stops at a gradient of 1e-10.
    assert (np.diff(losses) <= 1e-8).all()
    assert losses[-1] < losses[0] - 1e-3


@pytest.mark.slow
def test_turns_end_where_the_gradient_of_the_loss_is_zero():
    x, sets = problem()
    classifier = LogisticRegression(C=0.5, tol=1e-10, max_iter=1000)
    fitted = fit_label_sets(classifier, x, sets, CLASSES, rounds=100)
    p = fitted.predict_proba(x)
    gradient = (p - sets.nearest(p)).T @ x + fitted.coef_ / 0.5
    # Turns converge linearly; the gradient starts above 1.
    assert np.abs(gradient).max() < 1e-4


def test_the_network_learns_from_sets_at_once():
    x, sets = problem()
    network = NetworkClassifier(hidden=3, random_state=4)
    found = fit_label_sets(network, x, sets, CLASSES)
    expected = network.fit_credal(x, sets.lower, sets.upper)
    np.testing.assert_array_equal(found.predict_proba(x), expected.predict_proba(x))


@pytest.mark.slow
def test_what_is_given_is_not_changed_and_the_seed_decides():
    x, sets = problem()
    forest = RandomForestClassifier(n_estimators=5)
    first, again, other = (fit_label_sets(forest, x, sets, CLASSES, seed) for seed in (1, 1, 2))
    np.testing.assert_array_equal(first.predict_proba(x), again.predict_proba(x))
    assert not np.array_equal(first.predict_proba(x), other.predict_proba(x))
    assert forest.random_state is None
    assert not hasattr(forest, "estimators_")


def test_classifiers_without_weights_or_probabilities_are_refused():
    pipeline = make_pipeline(StandardScaler(), LogisticRegression())
    with pytest.raises(InputError, match="sample_weight in fit; Pipeline does not"):
        check_learner(pipeline)
    with pytest.raises(InputError, match="must have predict_proba; Perceptron has none"):
        check_learner(Perceptron())


def test_a_classifier_with_other_classes_is_refused():
    class Other(LogisticRegression):
        def fit(self, X, y, sample_weight=None):
            super().fit(X, y, sample_weight)
            self.classes_ = self.classes_[::-1]
            return self

    x, sets = problem()
    with pytest.raises(InputError, match=r"must know the classes \[0, 1, 2\]; Other learned"):
        fit_label_sets(Other(), x, sets, CLASSES)
