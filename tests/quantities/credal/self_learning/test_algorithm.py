import itertools

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression
from sklearn.semi_supervised import SelfTrainingClassifier

from bayescal.core.errors import InputError
from bayescal.quantities.credal.self_learning.algorithm import (
    METHODS,
    SelfLearningSettings,
    advance,
    begin,
    n_iterations,
    train,
)
from bayescal.quantities.credal.self_learning.data import SelfLearningRows
from bayescal.quantities.credal.self_learning.network import NetworkClassifier


def made(seed=1, labeled=15, unlabeled=23, calibration=30, target=10):
    rng = np.random.default_rng(seed)
    sizes = np.cumsum([labeled, unlabeled, calibration, target])
    y = np.concatenate([[0, 1, 2], rng.integers(3, size=sizes[-1] - 3)])
    x = rng.normal(2.0 * y[:, None], 1.0, (len(y), 2))
    known, own, held, new = np.split(np.arange(len(y)), sizes[:-1])
    names = np.array(["a", "b", "c"])[y]
    return SelfLearningRows(x[known], names[known], x[own], x[new], x[held], names[held])


def all_states(classifier, rows, settings):
    state, states = begin(rows, settings), []
    for _ in range(n_iterations(rows, settings)):
        _, state = advance(classifier, rows, settings, state)
        states.append(state)
    return states


@pytest.mark.slow
@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("classifier", [LogisticRegression(), NetworkClassifier(2, 0.01)])
def test_batches_add_up_until_no_row_is_left(method, classifier):
    rows = made()
    settings = SelfLearningSettings(method, batch_size=5)
    states = all_states(classifier, rows, settings)
    assert [len(state.sets.lower) for state in states] == [5, 10, 15, 20, 23, 23]
    assert sorted(states[-1].order) == list(range(23))
    for before, after in itertools.pairwise(states):
        given = len(before.sets.lower)
        np.testing.assert_array_equal(before.sets.lower, after.sets.lower[:given])
        np.testing.assert_array_equal(before.target_prob, after.target_prob[:-1])
    last = states[-1]
    assert last.target_prob.shape == (6, 10, 3)
    # Rounding of a softmax.
    np.testing.assert_allclose(last.target_prob.sum(axis=2), 1, atol=1e-12)
    wide = (last.sets.lower < last.sets.upper).any(axis=1)
    assert wide.all() if method == "credal" else not wide.any()


def test_hard_labels_in_one_batch_are_those_of_scikit_learn():
    rows = made()
    settings = SelfLearningSettings("hard", batch_size=23)
    last = all_states(LogisticRegression(), rows, settings)[-1]
    codes = np.searchsorted(rows.classes, rows.y_labeled)
    oracle = SelfTrainingClassifier(LogisticRegression(), threshold=0.0, max_iter=1)
    oracle.fit(
        np.concatenate([rows.x_labeled, rows.x_unlabeled]), np.concatenate([codes, [-1] * 23])
    )
    given = np.empty(23, int)
    given[last.order] = last.sets.lower.argmax(axis=1)
    np.testing.assert_array_equal(given, oracle.transduction_[15:])
    # The rows stand in another order, so that the solver stops elsewhere.
    np.testing.assert_allclose(last.target_prob[-1], oracle.predict_proba(rows.x_target), atol=1e-3)


def test_soft_labels_are_the_predictions_of_the_classifier_before_them():
    rows = made()
    settings = SelfLearningSettings("soft", batch_size=9)
    state = begin(rows, settings)
    fitted, state = advance(LogisticRegression(), rows, settings, state)
    own = LogisticRegression().fit(rows.x_labeled, rows.y_labeled)
    expected = own.predict_proba(rows.x_unlabeled[state.order[:9]])
    # Labels are made to sum to 1.
    np.testing.assert_allclose(state.sets.lower, expected, atol=1e-15)
    assert fitted.classes_.tolist() == ["a", "b", "c"]


def test_nothing_is_learned_from_calibration_and_target_rows():
    seen = []

    class Watched(LogisticRegression):
        def fit(self, X, y, sample_weight=None):
            seen.append(X)
            return super().fit(X, y, sample_weight)

    rows = made()
    all_states(Watched(), rows, SelfLearningSettings("credal", batch_size=10))
    learned = {tuple(row) for x in seen for row in x}
    taught = {tuple(row) for row in [*rows.x_labeled, *rows.x_unlabeled]}
    assert learned == taught


def test_training_depends_on_the_labels_alone():
    rows, settings = made(), SelfLearningSettings("credal", batch_size=10)
    states = all_states(LogisticRegression(), rows, settings)
    again = train(LogisticRegression(), rows, settings, states[0]).predict_proba(rows.x_target)
    np.testing.assert_array_equal(again, states[1].target_prob[1])


def test_the_seed_draws_the_batches():
    rows = made()
    first, again, other = (
        begin(rows, SelfLearningSettings("hard", seed=seed)).order for seed in (1, 1, 2)
    )
    np.testing.assert_array_equal(first, again)
    assert not np.array_equal(first, other)


@pytest.mark.parametrize(("batch_size", "expected"), [(1, 24), (22, 3), (23, 2), (100, 2)])
def test_there_is_a_training_before_the_first_batch_and_after_each(batch_size, expected):
    assert n_iterations(made(), SelfLearningSettings("hard", batch_size)) == expected


def test_settings_out_of_range_are_refused():
    for given, message in (
        ({"method": "sets"}, "method must be one of 'credal', 'hard', 'soft'"),
        ({"batch_size": 0}, "batch_size must be a whole number >= 1"),
        ({"seed": -1}, "seed must be a whole number >= 0"),
        ({"rounds": True}, "rounds must be a whole number >= 1"),
    ):
        with pytest.raises(InputError, match=message):
            SelfLearningSettings(**given)
