import numpy as np
import pytest
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression

from bayescal.core.errors import InputError
from bayescal.quantities.credal.self_learning import run
from bayescal.quantities.credal.self_learning.algorithm import SelfLearningSettings
from bayescal.quantities.credal.self_learning.data import SelfLearningRows
from bayescal.quantities.credal.self_learning.network import NetworkClassifier
from bayescal.quantities.credal.self_learning.run import self_learn

SETTINGS = SelfLearningSettings("credal", batch_size=8, seed=3)


def made(seed=1):
    rng = np.random.default_rng(seed)
    y = np.concatenate([[0, 1], rng.integers(2, size=78)])
    x = rng.normal(2.0 * y[:, None], 1.0, (80, 2))
    return SelfLearningRows(x[:10], y[:10], x[10:40], x[60:], x[40:60], y[40:60])


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


@pytest.mark.slow
@pytest.mark.parametrize(
    "classifier", [LogisticRegression(), NetworkClassifier(2), RandomForestClassifier(5)]
)
@pytest.mark.parametrize("trainings", [1, 3, 5])
def test_a_stopped_run_goes_on_to_the_same_numbers(tmp_path, classifier, trainings):
    file = tmp_path / "run.npz"
    whole = self_learn(classifier, made(), SETTINGS)
    with pytest.raises(KeyboardInterrupt):
        self_learn(classifier, made(), SETTINGS, path=file, progress=StopAfter(trainings))
    calls = []
    resumed = self_learn(
        classifier, made(), SETTINGS, path=file, progress=lambda *at: calls.append(at)
    )
    assert calls == [(done, 5) for done in range(trainings + 1, 6)]
    assert_same(resumed.state, whole.state)
    x = made().x_target
    np.testing.assert_array_equal(
        resumed.classifier.predict_proba(x), whole.classifier.predict_proba(x)
    )


def test_a_file_is_written_whole_or_not_at_all(tmp_path, monkeypatch):
    file = tmp_path / "run.npz"
    with pytest.raises(KeyboardInterrupt):
        self_learn(LogisticRegression(), made(), SETTINGS, path=file, progress=StopAfter(2))
    before = file.read_bytes()

    def interrupted(stream, **arrays):
        stream.write(b"half")
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(run.np, "savez", interrupted)
        with pytest.raises(KeyboardInterrupt):
            self_learn(LogisticRegression(), made(), SETTINGS, path=file)
    assert file.read_bytes() == before
    resumed = self_learn(LogisticRegression(), made(), SETTINGS, path=file)
    assert_same(resumed.state, self_learn(LogisticRegression(), made(), SETTINGS).state)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("classifier", "rows", "settings"),
    [
        (LogisticRegression(C=2.0), made(), SETTINGS),
        (NetworkClassifier(), made(), SETTINGS),
        (LogisticRegression(), made(2), SETTINGS),
        (LogisticRegression(), made(), SelfLearningSettings("credal", batch_size=8, seed=4)),
        (LogisticRegression(), made(), SelfLearningSettings("soft", batch_size=8, seed=3)),
    ],
)
def test_another_run_s_file_is_refused(tmp_path, classifier, rows, settings):
    file = tmp_path / "run.npz"
    self_learn(LogisticRegression(), made(), SETTINGS, path=file)
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
            self_learn(LogisticRegression(), made(), SETTINGS, path=file)


def test_credal_self_learning_asks_for_calibration_rows_at_once():
    rows = SelfLearningRows([[0.0], [1.0]], [0, 1], [[0.5]], [[0.5]])
    calls = []
    with pytest.raises(InputError, match="held back to calibrate"):
        self_learn(LogisticRegression(), rows, progress=lambda *at: calls.append(at))
    assert not calls


def test_the_classifier_given_stays_as_it_was():
    given = LogisticRegression()
    self_learn(given, made(), SelfLearningSettings("hard"))
    assert not hasattr(given, "coef_")
