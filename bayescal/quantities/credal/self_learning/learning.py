"""Self-learning from credal labels, and a network whose loss they give."""

from __future__ import annotations

import zipfile
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass
from functools import partial
from os import PathLike
from pathlib import Path
from typing import Any, Final, NamedTuple, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import log_softmax, xlogy
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import _check_sample_weight, check_random_state, validate_data

from bayescal.core.checks import (
    MOST_DRAWN,
    check_call,
    check_choice,
    check_is,
    check_seed,
    check_whole,
)
from bayescal.core.classifiers import (
    MostProbable,
    check_settings,
    first_weights,
    forward,
    penalty,
    train,
    warn_unfinished,
)
from bayescal.core.columns import Whole
from bayescal.core.errors import InputError
from bayescal.core.intake import check_same_order
from bayescal.core.quantity import Floats, digest_of
from bayescal.core.writing import checked_path, replacing
from bayescal.quantities.credal.self_learning import (
    LabelSets,
    SelfLearningRows,
    check_label_sets,
    credal_labels,
    from_labels,
    hard_labels,
    soft_labels,
)

type Learner = Any
"""A classifier of scikit-learn's kind, with `predict_proba`, whose `fit` takes sample weights."""


def check_learner(classifier: Learner) -> None:
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

    learner = clone(classifier).set_params(**_seeds(classifier, seed))
    if hasattr(learner, "fit_credal"):
        learner.fit_credal(x, sets.lower, sets.upper, classes=classes)
        return learner
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
    return learner


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
        Rows labelled between two trainings.
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

    order: Whole  # (unlabeled,)
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
        A scikit-learn classifier that takes sample weights, or `NetworkClassifier`; never changed.
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
    >>> from bayescal import credal
    >>> unlabeled, target = [[0.2], [0.9], [0.8]], [[0.5], [2.0]]
    >>> rows = credal.SelfLearningRows([[0.0], [1.0]], [0, 1], unlabeled, target)
    >>> settings = credal.SelfLearningSettings("hard")
    >>> learned = credal.self_learn(LogisticRegression(), rows, settings)
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
    words = (
        f"{type(classifier).__module__}.{type(classifier).__qualname__}",
        *(f"{name}={value!r}" for name, value in sorted(classifier.get_params().items())),
        repr(sorted(asdict(settings).items())),
    )
    arrays = [rows.x_labeled, rows.y_labeled, rows.x_unlabeled, rows.x_target]
    if settings.method == "credal":
        arrays.extend(rows.calibration())
    described = (part for one in arrays for part in (f"{one.shape} {one.dtype}", one))
    return digest_of("\n".join(words), *described)


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


class NetworkClassifier(MostProbable):
    """Softmax classifier with one hidden layer, trained on label sets.

    Parameters
    ----------
    hidden : int, at least 1, default 16
        Units of the hidden layer (tanh).
    alpha : float, at least 0, default 0.001
        Weight of half the sum of the squared weights, intercepts left out.
    max_iter : int, default 1000
        Iterations of L-BFGS at most.
    random_state : int or RandomState, optional
        Source of the first weights.

    Attributes
    ----------
    classes_ : ndarray of shape (class,)
        Labels, sorted, or those that `fit_credal` was given.
    weights_ : list of ndarray
        Weights and intercepts, layer by layer.
    loss_ : float
        Mean loss reached on the training rows, without the penalty.
    n_iter_ : int
        Iterations of L-BFGS.
    n_features_in_ : int
        Number of features.

    Notes
    -----
    The loss of a row with the set Q and the predicted probabilities p, (3) and (4) of the paper, is
    the optimistic ``min over q in Q of KL(q || p)`` [1]_. Its gradient is the one of KL(q || p)
    with q held at the projection of p on Q (Danskin's theorem), so L-BFGS minimises it. Nothing is
    convex: other first weights may end elsewhere. Put a ``StandardScaler`` before it.

    References
    ----------
    .. [1] J. Lienen and E. Hüllermeier, NeurIPS 2021, Eq. (2). https://arxiv.org/abs/2106.11853

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from bayescal.quantities.credal.self_learning.learning import NetworkClassifier
    >>> x, y = load_iris(return_X_y=True)
    >>> fitted = NetworkClassifier(hidden=4, alpha=0.01, random_state=0).fit(x, y)
    >>> bool(fitted.score(x, y) > 0.95)
    True
    """

    def __init__(
        self, hidden: int = 16, alpha: float = 0.001, max_iter: int = 1000, random_state: Any = None
    ) -> None:
        self.hidden = hidden
        self.alpha = alpha
        self.max_iter = max_iter
        self.random_state = random_state

    def fit(self, X: ArrayLike, y: ArrayLike, sample_weight: ArrayLike | None = None) -> Self:
        """Train on labels.

        Parameters
        ----------
        X : array-like of shape (obs, feature)
            Features.
        y : array-like of shape (obs,)
            Labels, of at least two classes.
        sample_weight : array-like of shape (obs,), optional
            What each row counts; 1 when left out.

        Returns
        -------
        NetworkClassifier
            Itself.

        Raises
        ------
        InputError
            If `y` holds one class only, or a parameter is out of range.
        """
        check_same_order(X=X, y=y, sample_weight=sample_weight)
        x, labels = validate_data(self, X, y, dtype=np.float64)
        check_classification_targets(labels)
        classes = np.unique(labels)
        if len(classes) < 2:
            raise InputError(
                "y must hold at least two classes, as there is nothing to learn from one; "
                f"got 1 class, {classes.tolist()}."
            )
        return self._fit(x, from_labels(labels, classes), classes, sample_weight)

    def fit_credal(
        self,
        X: ArrayLike,
        lower: ArrayLike,
        upper: ArrayLike,
        classes: ArrayLike | None = None,
        sample_weight: ArrayLike | None = None,
    ) -> Self:
        """Train on sets of probabilities.

        Parameters
        ----------
        X : array-like of shape (obs, feature)
            Features.
        lower, upper : array-like of shape (obs, class), in [0, 1]
            Bounds of each row's probabilities. Equal bounds are probabilities, of 0 and 1 a label.
        classes : array-like of shape (class,), optional
            What the columns stand for; 0, 1, ... when left out.
        sample_weight : array-like of shape (obs,), optional
            What each row counts; 1 when left out.

        Returns
        -------
        NetworkClassifier
            Itself.

        Raises
        ------
        InputError
            If bounds cross, leave [0, 1] or hold no probabilities, or a parameter is out of range.
        """
        check_same_order(X=X, lower=lower, upper=upper, sample_weight=sample_weight)
        x = validate_data(self, X, dtype=np.float64)
        sets = check_label_sets(lower, upper, len(x))
        names = np.arange(sets.lower.shape[1]) if classes is None else np.asarray(classes)
        if names.shape != (sets.lower.shape[1],) or len(set(names.tolist())) < len(names):
            raise InputError(
                f"classes must name each of the {sets.lower.shape[1]} columns of lower apart; "
                f"got {names.tolist()}. Pass one name a column, or leave classes out."
            )
        return self._fit(x, sets, names, sample_weight)

    def _probabilities(self, x: ArrayLike) -> Floats:
        """Of each class, (obs, class)."""
        rows = validate_data(self, x, reset=False, dtype=np.float64)
        return np.asarray(np.exp(log_softmax(forward(self.weights_, rows), axis=1)))

    def _fit(
        self, x: Floats, sets: LabelSets, classes: NDArray[Any], sample_weight: ArrayLike | None
    ) -> Self:
        check_settings(self.hidden, 1, self.alpha, self.max_iter)
        if sample_weight is not None and not np.any(np.asarray(sample_weight)):
            # The first words are those that scikit-learn's own checks look for.
            raise InputError(
                "Sample weights must contain at least one non-zero number; got 0 in every row. "
                "Leave sample_weight out to count all rows alike."
            )
        weight = _check_sample_weight(sample_weight, x, dtype=np.float64, ensure_non_negative=True)
        share = weight / weight.sum()
        rng = check_random_state(self.random_state)
        start = first_weights(x.shape[1], self.hidden, (len(classes),), rng)
        found = train(partial(optimistic_loss, sets, share), [x], start, self.alpha, self.max_iter)
        if found.unfinished:
            warn_unfinished("the loss", self.max_iter)
        self.weights_ = found.weights
        self.loss_ = found.objective - penalty(found.weights, self.alpha)
        self.n_iter_ = found.n_iter
        self.classes_ = classes
        return self


def optimistic_loss(
    sets: LabelSets, share: Floats, output: Floats
) -> tuple[float, tuple[Floats, ...]]:
    """Mean of ``min over q in Q of KL(q || p)``, and its slopes in the logits (Danskin)."""
    log_p = log_softmax(output, axis=1)
    p = np.exp(log_p)
    q = sets.nearest(p)
    loss = share @ (xlogy(q, q) - q * log_p).sum(axis=1)
    return float(loss), (share[:, None] * (p - q),)
