"""Self-learning: a classifier labels rows for itself, batch after batch (Algorithms 2 to 4)."""

from __future__ import annotations

import hashlib
import zipfile
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass
from os import PathLike
from pathlib import Path
from typing import Any, Final, NamedTuple, Protocol, Self, cast

import numpy as np
from numpy.typing import NDArray

from bayescal.core.checks import (
    MOST_DRAWN,
    check_call,
    check_choice,
    check_is,
    check_seed,
    check_whole,
)
from bayescal.core.errors import InputError
from bayescal.core.quantity import Floats
from bayescal.core.writing import checked_path, replacing
from bayescal.quantities.credal.self_learning import (
    LabelSets,
    SelfLearningRows,
    credal_labels,
    from_labels,
    hard_labels,
    soft_labels,
)


class Learner(Protocol):
    """What a classifier must have: scikit-learn's methods, with sample weights."""

    classes_: NDArray[Any]

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Train on weighted labels."""
        ...

    def predict_proba(self, X: Any) -> Any:
        """Compute probabilities of shape (obs, class)."""
        ...

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """Give the parameters."""
        ...

    def set_params(self, **params: Any) -> Any:
        """Change parameters."""
        ...


def check_learner(classifier: Any) -> None:
    """Check that a classifier predicts probabilities and can be trained on label sets."""
    from sklearn.utils.validation import has_fit_parameter

    name = type(classifier).__name__
    if not callable(getattr(classifier, "predict_proba", None)):
        raise InputError(
            f"the classifier must have predict_proba; {name} has none. "
            "Wrap it so that it predicts probabilities, or pass another one."
        )
    if not has_fit_parameter(classifier, "sample_weight"):
        raise InputError(
            f"the classifier must take sample_weight in fit; {name} does not. "
            "Pass another one; a pipeline does not either: transform the features before."
        )


def fit_label_sets(
    classifier: Learner,
    x: Floats,
    sets: LabelSets,
    classes: NDArray[Any],
    seed: int = 0,
    rounds: int = 5,
) -> Learner:
    """Train a copy of a classifier on label sets, towards the least optimistic loss.

    A classifier that takes labels only learns q from rows given once for each class, weighted by q.
    By turns q is the point of the set nearest to the predictions, at first the most even one, and
    the classifier is trained on it: neither turn can raise the loss.
    """
    from sklearn.base import clone

    learner: Any = clone(classifier).set_params(**_seeds(classifier, seed))
    if hasattr(learner, "fit_credal"):
        learner.fit_credal(x, sets.lower, sets.upper, classes=classes)
        return cast("Learner", learner)
    q = sets.nearest(np.full(sets.lower.shape, 1 / len(classes)))
    for _ in range(rounds if (sets.lower < sets.upper).any() else 1):
        row, column = np.nonzero(q)
        learner.fit(x[row], classes[column], sample_weight=q[row, column])
        if not np.array_equal(learner.classes_, classes):
            raise InputError(
                f"the classifier must know the classes {classes.tolist()}; "
                f"{type(learner).__name__} learned {np.asarray(learner.classes_).tolist()}."
            )
        q = sets.nearest(np.asarray(learner.predict_proba(x), np.float64))
    return cast("Learner", learner)


def _seeds(classifier: Learner, seed: int) -> dict[str, int]:
    """Give a seed for each source of chance that has none."""
    return {
        name: seed
        for name, value in classifier.get_params().items()
        if value is None and (name == "random_state" or name.endswith("__random_state"))
    }


METHODS: Final = ("credal", "hard", "soft")


@dataclass(frozen=True)
class SelfLearningSettings:
    """How a classifier labels rows for itself.

    Parameters
    ----------
    method : {"credal", "hard", "soft"}, default "credal"
        What a row gets for a label: the set of a Venn-Abers predictor (as in Algorithm 2 of the
        paper), the most probable class (Algorithm 3), or the predicted probabilities (Algorithm 4).
    batch_size : int, at least 1, default 100
        Rows labeled between two trainings.
    seed : int, at least 0, default 0
        Source of the batches, and of every ``random_state`` of the classifier left at None.
    rounds : int, at least 1, default 5
        Trainings from one set of labels, where the classifier cannot learn from sets itself.
    """

    method: str = "credal"
    batch_size: int = 100
    seed: int = 0
    rounds: int = 5

    def __post_init__(self) -> None:
        check_choice(self.method, METHODS, "method")
        check_whole(self.batch_size, "batch_size")
        check_whole(self.rounds, "rounds", most=MOST_DRAWN)
        check_seed(self.seed)


class SelfLearningState(NamedTuple):
    """How far self-learning has come."""

    order: NDArray[np.int64]  # (unlabeled,)
    sets: LabelSets
    target_prob: Floats  # (iteration, target, class)


class SelfLearned(NamedTuple):
    """What self-learning has made.

    Parameters
    ----------
    classifier : Learner
        Classifier trained on all labels, known and given.
    state : SelfLearningState
        The labels given, and the probabilities of the target rows after each training.
    """

    classifier: Learner
    state: SelfLearningState


def trainings(
    classifier: Learner,
    rows: SelfLearningRows,
    settings: SelfLearningSettings,
    state: SelfLearningState | None = None,
) -> Iterator[SelfLearned]:
    """Train on all labels so far, predict the target rows, label the next batch; from a state on.

    The last training is that after the last batch. A run that is done is trained once more. Batches
    add up, as in the text of section 3.1; the listings of Algorithms 2 to 4 train on D_L and the
    last batch alone, for which `self_learn_by_threshold` has an option.
    """
    known = from_labels(rows.y_labeled, rows.classes)
    if state is None:
        order = np.random.default_rng(settings.seed).permutation(len(rows.x_unlabeled))
        no_target = np.zeros((0, len(rows.x_target), len(rows.classes)))
        state = SelfLearningState(order, LabelSets(known.lower[:0], known.lower[:0]), no_target)
    total = n_trainings(rows, settings)
    for number in range(min(len(state.target_prob), total - 1), total):
        given, sets = state.order[: len(state.sets.lower)], state.sets
        x = np.concatenate([rows.x_labeled, rows.x_unlabeled[given]])
        every = known.followed_by(sets), rows.classes, settings.seed, settings.rounds
        learner = fit_label_sets(classifier, x, *every)
        if number == len(state.target_prob):
            predicted = np.asarray(learner.predict_proba(rows.x_target), np.float64)
            batch = state.order[len(given) : len(given) + settings.batch_size]
            if len(batch):
                new = _labels(learner, rows, settings.method, rows.x_unlabeled[batch])
                sets = sets.followed_by(new)
            found = np.concatenate([state.target_prob, predicted[None]])
            state = state._replace(sets=sets, target_prob=found)
        yield SelfLearned(learner, state)


def n_trainings(rows: SelfLearningRows, settings: SelfLearningSettings) -> int:
    """Count the trainings: one before the first batch, and one after each."""
    return 1 - len(rows.x_unlabeled) // -settings.batch_size


def _labels(learner: Learner, rows: SelfLearningRows, method: str, batch: Floats) -> LabelSets:
    """Label rows by the method's algorithm."""
    prob = np.asarray(learner.predict_proba(batch), np.float64)
    if method == "hard":
        return hard_labels(prob)
    if method == "soft":
        return soft_labels(prob)
    x, y = rows.calibration()
    calibration_prob = np.asarray(learner.predict_proba(x), np.float64)
    return credal_labels(prob, calibration_prob, calibration_label=np.searchsorted(rows.classes, y))


def self_learn(
    classifier: Learner,
    rows: SelfLearningRows,
    settings: SelfLearningSettings | None = None,
    *,
    path: str | PathLike[str] | None = None,
    progress: Callable[[int, int], object] | None = None,
) -> SelfLearned:
    """Let a classifier label rows for itself until none is left.

    Parameters
    ----------
    classifier : Learner
        Any classifier of scikit-learn's kind that takes sample weights, or `NetworkClassifier`. It
        is copied, never changed.
    rows : SelfLearningRows
        Labeled, unlabeled, calibration and target rows.
    settings : SelfLearningSettings, optional
        Method, batches and seed; the defaults when left out.
    path : str or path, optional
        File (``.npz``) written after every training. If it is there already, the run goes on from
        it, and ends with the numbers that it would have reached unstopped.
    progress : callable, optional
        Called after every training with the number of trainings done and to be done in all.

    Returns
    -------
    SelfLearned
        The classifier after the last training, and the state.

    Raises
    ------
    InputError
        If the classifier cannot be used, if credal self-learning has no calibration rows, or if the
        file holds another run or none.

    Examples
    --------
    >>> from sklearn.linear_model import LogisticRegression
    >>> from bayescal.quantities.credal.self_learning.learning import SelfLearningSettings
    >>> from bayescal.quantities.credal.self_learning import SelfLearningRows
    >>> from bayescal.quantities.credal.self_learning.learning import self_learn
    >>> rows = SelfLearningRows([[0.0], [1.0]], [0, 1], [[0.2], [0.9], [0.8]], [[0.5], [2.0]])
    >>> learned = self_learn(LogisticRegression(), rows, SelfLearningSettings("hard"))
    >>> learned.state.target_prob.shape
    (2, 2, 2)
    """
    settings = SelfLearningSettings() if settings is None else settings
    check_is(settings, SelfLearningSettings, "settings", "Pass SelfLearningSettings().")
    check_is(rows, SelfLearningRows, "rows", "Pass SelfLearningRows(...).")
    check_call(progress, "progress")
    check_learner(classifier)
    if settings.method == "credal":
        rows.calibration()
    mark = _fingerprint(classifier, rows, settings)
    file = None if path is None else checked_path(path)
    stored = None if file is None or not file.exists() else _load(file, mark)
    done, total = 0 if stored is None else len(stored.target_prob), n_trainings(rows, settings)
    for learned in trainings(classifier, rows, settings, stored):
        reached = len(learned.state.target_prob)
        if reached == done:
            break
        if file is not None:
            _save(file, mark, learned.state)
        if progress is not None:
            progress(reached, total)
    return learned


def _fingerprint(
    classifier: Learner, rows: SelfLearningRows, settings: SelfLearningSettings
) -> str:
    """Digest all that the numbers depend on, to know the run again."""
    digest = hashlib.sha256()
    words = (
        f"{type(classifier).__module__}.{type(classifier).__qualname__}",
        *(f"{name}={value!r}" for name, value in sorted(classifier.get_params().items())),
        repr(sorted(asdict(settings).items())),
    )
    digest.update("\n".join(words).encode())
    arrays = [rows.x_labeled, rows.y_labeled, rows.x_unlabeled, rows.x_target]
    if settings.method == "credal":
        arrays.extend(rows.calibration())
    for array in arrays:
        digest.update(f"{array.shape} {array.dtype}".encode())
        digest.update(np.ascontiguousarray(array).tobytes())
    return digest.hexdigest()


def _save(file: Path, mark: str, state: SelfLearningState) -> None:
    """Write the state, whole or not at all."""
    with replacing(file) as draft, draft.open("wb") as stream:
        np.savez(
            stream,
            fingerprint=np.array(mark),
            order=state.order,
            lower=state.sets.lower,
            upper=state.sets.upper,
            target_prob=state.target_prob,
        )


def _load(file: Path, mark: str) -> SelfLearningState:
    """Read the state of the same run."""
    try:
        if not zipfile.is_zipfile(file):
            raise ValueError("no npz file")
        with np.load(file, allow_pickle=False) as stored:
            found = str(stored["fingerprint"])
            sets = LabelSets(stored["lower"], stored["upper"])
            state = SelfLearningState(stored["order"], sets, stored["target_prob"])
    except (ValueError, KeyError, EOFError, zipfile.BadZipFile):
        raise InputError(
            f"{file} must be a file written by self_learn; got something else. "
            "Give another path, or remove the file to start anew."
        ) from None
    if found != mark:
        raise InputError(
            f"{file} must hold a run of the same classifier, rows and settings; it holds another. "
            "Give another path, or remove the file to start anew."
        )
    return state
