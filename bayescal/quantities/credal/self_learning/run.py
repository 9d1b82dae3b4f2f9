"""Self-learning from start to end, kept in a file so that it can go on where it was stopped."""

from __future__ import annotations

import hashlib
import zipfile
from collections.abc import Callable
from dataclasses import asdict
from os import PathLike
from pathlib import Path
from typing import NamedTuple

import numpy as np

from bayescal.core.checks import check_call, check_is
from bayescal.core.errors import InputError
from bayescal.core.writing import checked_path, replacing
from bayescal.quantities.credal.self_learning.algorithm import (
    SelfLearningSettings,
    SelfLearningState,
    advance,
    begin,
    n_iterations,
    train,
)
from bayescal.quantities.credal.self_learning.data import SelfLearningRows
from bayescal.quantities.credal.self_learning.label_sets import LabelSets
from bayescal.quantities.credal.self_learning.learners import Learner, check_learner


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
    >>> from bayescal.quantities.credal.self_learning.algorithm import SelfLearningSettings
    >>> from bayescal.quantities.credal.self_learning.data import SelfLearningRows
    >>> from bayescal.quantities.credal.self_learning.run import self_learn
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
    state = begin(rows, settings) if file is None or not file.exists() else _load(file, mark)
    total = n_iterations(rows, settings)
    learner = train(classifier, rows, settings, state) if len(state.target_prob) == total else None
    while learner is None or len(state.target_prob) < total:
        learner, state = advance(classifier, rows, settings, state)
        if file is not None:
            _save(file, mark, state)
        if progress is not None:
            progress(len(state.target_prob), total)
    return SelfLearned(learner, state)


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
