"""Algorithms 2 to 4, and the network: gradients and optima."""

import itertools

import numpy as np
import pytest
from scipy.optimize import approx_fprime
from scipy.special import rel_entr
from sklearn.ensemble import RandomForestClassifier
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LogisticRegression, Perceptron
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.semi_supervised import SelfTrainingClassifier
from sklearn.utils.estimator_checks import parametrize_with_checks

from bayescal.core.errors import InputError
from bayescal.quantities.credal.self_learning import (
    LabelSets,
    SelfLearningRows,
    from_labels,
    learning,
)
from bayescal.quantities.credal.self_learning.learning import (
    METHODS,
    NetworkClassifier,
    SelfLearningSettings,
    check_learner,
    fit_label_sets,
    n_trainings,
    optimistic_loss,
    self_learn,
    trainings,
)

CLASSES = np.arange(3)


def problem(seed=1, known=20, wide=40):
    """Labelled rows, then rows with sets around the truth."""
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


def made(seed=1, labeled=15, unlabeled=23, calibration=30, target=10):
    rng = np.random.default_rng(seed)
    sizes = np.cumsum([labeled, unlabeled, calibration, target])
    y = np.concatenate([[0, 1, 2], rng.integers(3, size=sizes[-1] - 3)])
    x = rng.normal(2.0 * y[:, None], 1.0, (len(y), 2))
    known, own, held, new = np.split(np.arange(len(y)), sizes[:-1])
    names = np.array(["a", "b", "c"])[y]
    return SelfLearningRows(x[known], names[known], x[own], x[new], x[held], names[held])


def all_states(classifier, rows, settings):
    return [state for _, state in trainings(classifier, rows, settings)]


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
    fitted, state = next(trainings(LogisticRegression(), rows, settings))
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


@pytest.mark.parametrize(("batch_size", "expected"), [(1, 24), (22, 3), (23, 2), (100, 2)])
def test_there_is_a_training_before_the_first_batch_and_after_each(batch_size, expected):
    assert n_trainings(made(), SelfLearningSettings("hard", batch_size)) == expected


SETTINGS = SelfLearningSettings("credal", batch_size=8, seed=3)


def started(seed=1):
    return made(seed, unlabeled=30)


def assert_same(one, other):
    for first, second in zip(
        (one.order, *one.sets, one.target_prob),
        (other.order, *other.sets, other.target_prob),
        strict=True,
    ):
        np.testing.assert_array_equal(first, second)


class StopAfter:
    """What Ctrl-C does after some trainings."""

    def __init__(self, trainings):
        self.trainings = trainings

    def __call__(self, done, total):
        if done == self.trainings:
            raise KeyboardInterrupt


@pytest.mark.parametrize(
    ("classifier", "number"),
    [
        (LogisticRegression(), 1),
        (LogisticRegression(), 5),
        (NetworkClassifier(2), 3),
        (RandomForestClassifier(5), 3),
    ],
)
def test_a_stopped_run_goes_on_to_the_same_numbers(tmp_path, classifier, number):
    file = tmp_path / "learning.npz"
    whole = self_learn(classifier, started(), SETTINGS)
    with pytest.raises(KeyboardInterrupt):
        self_learn(classifier, started(), SETTINGS, path=file, progress=StopAfter(number))
    calls = []
    resumed = self_learn(
        classifier, started(), SETTINGS, path=file, progress=lambda *at: calls.append(at)
    )
    assert calls == [(done, 5) for done in range(number + 1, 6)]
    assert_same(resumed.state, whole.state)
    x = started().x_target
    np.testing.assert_array_equal(
        resumed.classifier.predict_proba(x), whole.classifier.predict_proba(x)
    )


def test_a_file_is_written_whole_or_not_at_all(tmp_path, monkeypatch):
    file = tmp_path / "learning.npz"
    with pytest.raises(KeyboardInterrupt):
        self_learn(LogisticRegression(), started(), SETTINGS, path=file, progress=StopAfter(2))
    before = file.read_bytes()

    def interrupted(stream, **arrays):
        stream.write(b"half")
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(learning.np, "savez", interrupted)
        with pytest.raises(KeyboardInterrupt):
            self_learn(LogisticRegression(), started(), SETTINGS, path=file)
    assert file.read_bytes() == before
    resumed = self_learn(LogisticRegression(), started(), SETTINGS, path=file)
    assert_same(resumed.state, self_learn(LogisticRegression(), started(), SETTINGS).state)


@pytest.mark.parametrize(
    ("classifier", "rows", "settings"),
    [
        (LogisticRegression(C=2.0), started(), SETTINGS),
        (NetworkClassifier(), started(), SETTINGS),
        (LogisticRegression(), started(2), SETTINGS),
        (LogisticRegression(), started(), SelfLearningSettings("credal", batch_size=8, seed=4)),
        (LogisticRegression(), started(), SelfLearningSettings("soft", batch_size=8, seed=3)),
    ],
)
def test_another_run_s_file_is_refused(tmp_path, classifier, rows, settings):
    file = tmp_path / "learning.npz"
    self_learn(LogisticRegression(), started(), SETTINGS, path=file)
    before = file.read_bytes()
    with pytest.raises(InputError, match="it holds another"):
        self_learn(classifier, rows, settings, path=file)
    assert file.read_bytes() == before


def test_files_of_other_kinds_are_refused(tmp_path):
    text = tmp_path / "text.npz"
    text.write_text("not a run")
    empty = tmp_path / "empty.npz"
    empty.touch()
    arrays = tmp_path / "arrays.npz"
    np.savez(arrays, order=np.arange(3))
    single = tmp_path / "single.npz"
    with single.open("wb") as stream:
        np.save(stream, np.arange(3))
    for file in (text, empty, arrays, single):
        with pytest.raises(InputError, match="must be a file written by self_learn"):
            self_learn(LogisticRegression(), started(), SETTINGS, path=file)


def test_credal_self_learning_asks_for_calibration_rows_at_once():
    rows = SelfLearningRows([[0.0], [1.0]], [0, 1], [[0.5]], [[0.5]])
    calls = []
    with pytest.raises(InputError, match="held back to calibrate"):
        self_learn(LogisticRegression(), rows, progress=lambda *at: calls.append(at))
    assert not calls


@parametrize_with_checks([NetworkClassifier(hidden=4, alpha=0.01, random_state=0)])
def test_scikit_learn_finds_nothing_to_say(estimator, check):
    check(estimator)


def rows(n, seed, n_classes=3):
    rng = np.random.default_rng(seed)
    y = rng.integers(n_classes, size=n)
    return rng.normal(y[:, None], 1.0, (n, 2)), y


def random_sets(n, seed, n_classes=3):
    """Bounds around random probabilities, so that none is empty."""
    rng = np.random.default_rng(seed)
    inside = rng.dirichlet(np.ones(n_classes), n)
    lower = inside * rng.random((n, n_classes))
    return lower, inside + (1 - inside) * rng.random((n, n_classes))


def test_the_slopes_are_those_of_the_optimistic_loss():
    sets = LabelSets(*random_sets(20, 2))
    at = np.random.default_rng(3).normal(size=(20, 3))
    share = np.random.default_rng(4).dirichlet(np.ones(20))

    def loss(flat):
        return optimistic_loss(sets, share, flat.reshape(20, 3))[0]

    (found,) = optimistic_loss(sets, share, at)[1]
    # Forward differences are off by about the square root of the rounding error.
    np.testing.assert_allclose(found.ravel(), approx_fprime(at.ravel(), loss, 1e-7), atol=1e-5)


def test_the_loss_of_two_classes_is_that_of_the_clipped_probability():
    x, y = rows(60, 5, 2)
    low = np.where(y == 1, 0.6, 0.1)
    high = np.where(y == 1, 0.9, 0.3)
    lower = np.column_stack([1 - high, low])
    upper = np.column_stack([1 - low, high])
    fitted = NetworkClassifier(hidden=2, random_state=0).fit_credal(x, lower, upper)
    p = fitted.predict_proba(x)
    q = np.clip(p[:, 1], low, high)
    expected = (rel_entr(1 - q, p[:, 0]) + rel_entr(q, p[:, 1])).mean()
    # The projection sums to 1 up to rounding.
    assert fitted.loss_ == pytest.approx(expected, abs=1e-12)


def test_sets_that_say_nothing_teach_nothing():
    x, _ = rows(30, 6)
    zeros, ones = np.zeros((30, 3)), np.ones((30, 3))
    fitted = NetworkClassifier(hidden=2, alpha=0.0, random_state=1).fit_credal(x, zeros, ones)
    assert fitted.loss_ == pytest.approx(0, abs=1e-12)
    assert fitted.n_iter_ == 0


def test_probabilities_teach_what_weighted_labels_teach():
    x, _ = rows(40, 7)
    soft = np.random.default_rng(8).dirichlet(np.ones(3), 40)
    network = NetworkClassifier(hidden=2, alpha=0.05, random_state=2)
    by_sets = network.fit_credal(x, soft, soft).predict_proba(x)
    row, column = np.nonzero(soft)
    by_labels = network.fit(x[row], column, sample_weight=soft[row, column]).predict_proba(x)
    # The losses differ by a constant; L-BFGS stops within about 1e-5 of the least.
    np.testing.assert_allclose(by_sets, by_labels, atol=2e-3)


def test_probabilities_of_two_normals_are_found():
    rng = np.random.default_rng(9)
    y = rng.integers(2, size=5_000)
    x = rng.normal(2.0 * y - 1, 1)[:, None]
    fitted = NetworkClassifier(hidden=4, alpha=1e-4, random_state=0).fit(x, y)
    grid = np.linspace(-1.5, 1.5, 7)[:, None]
    truth = 1 / (1 + np.exp(-2 * grid[:, 0]))
    # Noise at 5,000 rows is about .015.
    np.testing.assert_allclose(fitted.predict_proba(grid)[:, 1], truth, atol=0.05)


def test_it_says_when_it_was_stopped():
    x, y = rows(50, 12)
    with pytest.warns(ConvergenceWarning, match="raise max_iter"):
        NetworkClassifier(max_iter=2, random_state=0).fit(x, y)


POINT = [[0.5, 0.5]]


@pytest.mark.parametrize(
    ("lower", "upper", "message"),
    [
        ([[0.6, 0.5]], [[1.0, 1.0]], "got sums 1.1 and 2 at row 0"),
        ([0.5, 0.5], [0.5, 0.5], r"shape \(obs, class\)"),
        (POINT * 2, POINT * 2, "each row of X, 1; got 2"),
    ],
)
def test_bounds_that_hold_nothing_are_refused(lower, upper, message):
    with pytest.raises(InputError, match=message):
        NetworkClassifier().fit_credal([[1.0]], lower, upper)


def test_parameters_out_of_range_are_refused():
    x, y = rows(10, 13)
    for parameters, message in (
        ({"hidden": 0}, "hidden must be a whole number >= 1"),
        ({"max_iter": 1.5}, "max_iter must be a whole number"),
        ({"alpha": -1}, "alpha must be a number in"),
    ):
        with pytest.raises(InputError, match=message):
            NetworkClassifier(**parameters).fit(x, y)
    for names in (["a"], ["a", "a"]):
        with pytest.raises(InputError, match="classes must name each of the 2 columns"):
            NetworkClassifier().fit_credal([[1.0]], POINT, POINT, classes=names)
    with pytest.raises(InputError, match="two classes"):
        NetworkClassifier().fit(x, np.zeros(10, int))
    with pytest.raises(InputError, match="got 0 in every row"):
        NetworkClassifier().fit(x, y, sample_weight=np.zeros(10))
