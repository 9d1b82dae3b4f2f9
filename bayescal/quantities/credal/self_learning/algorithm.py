"""Self-learning: a classifier labels rows for itself, batch after batch (Algorithms 2 to 4)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from bayescal.core.checks import MOST_DRAWN, check_choice, check_seed, check_whole
from bayescal.core.quantity import Floats
from bayescal.quantities.credal.self_learning.data import SelfLearningRows
from bayescal.quantities.credal.self_learning.label_sets import LabelSets, from_labels
from bayescal.quantities.credal.self_learning.learners import Learner, check_learner, fit_label_sets
from bayescal.quantities.credal.self_learning.pseudo_labels import (
    credal_labels,
    hard_labels,
    soft_labels,
)

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

    Raises
    ------
    InputError
        If one of them is out of range.
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


def n_iterations(rows: SelfLearningRows, settings: SelfLearningSettings) -> int:
    """Count the trainings: one before the first batch, and one after each."""
    return 1 - len(rows.x_unlabeled) // -settings.batch_size


def begin(rows: SelfLearningRows, settings: SelfLearningSettings) -> SelfLearningState:
    """Draw the order of the unlabeled rows, none of them labeled yet."""
    n_classes = len(rows.classes)
    order = np.random.default_rng(settings.seed).permutation(len(rows.x_unlabeled))
    nothing = np.zeros((0, n_classes))
    no_target = np.zeros((0, len(rows.x_target), n_classes))
    return SelfLearningState(order, LabelSets(nothing, nothing), no_target)


def train(
    classifier: Learner,
    rows: SelfLearningRows,
    settings: SelfLearningSettings,
    state: SelfLearningState,
) -> Learner:
    """Train a copy of a classifier on all labels there are, known and given."""
    check_learner(classifier)
    known = from_labels(rows.y_labeled, rows.classes)
    given = state.order[: len(state.sets.lower)]
    x = np.concatenate([rows.x_labeled, rows.x_unlabeled[given]])
    return fit_label_sets(
        classifier,
        x,
        known.followed_by(state.sets),
        rows.classes,
        settings.seed,
        settings.rounds,
    )


def advance(
    classifier: Learner,
    rows: SelfLearningRows,
    settings: SelfLearningSettings,
    state: SelfLearningState,
) -> tuple[Learner, SelfLearningState]:
    """Train on all labels so far, predict the target rows, and label the next batch.

    Notes
    -----
    Batches add up, as the text of section 3.1 has it ("added to the labeled set"): a row keeps the
    label it got, and no row is labeled twice. Read literally, the listings of Algorithms 2 to 4
    train on D_L and the last batch alone. The loop ends when no row is left; "until D_U is not
    empty" in Algorithm 2 would end it at once. Each training starts anew, so that it depends on the
    labels alone.

    One network learns all classes by (3) and (4) from random batches of a fixed size. The listings
    have a network a class, label every row whose projected probability of some class reaches a
    threshold, and train on the projection (7).

    References
    ----------
    .. [1] V. M. Bordini, S. Destercke and B. Quost, "Self-Learning from Pairwise Credal Labels",
       ECAI 2024, sections 2.2 and 3.1, Algorithms 2-4. https://hal.science/hal-04886134
    """
    learner = train(classifier, rows, settings, state)
    predicted = np.asarray(learner.predict_proba(rows.x_target), np.float64)
    done = len(state.sets.lower)
    batch = rows.x_unlabeled[state.order[done : done + settings.batch_size]]
    sets = state.sets
    if len(batch):
        sets = sets.followed_by(_labels(learner, rows, settings.method, batch))
    return learner, state._replace(
        sets=sets, target_prob=np.concatenate([state.target_prob, predicted[None]])
    )


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
