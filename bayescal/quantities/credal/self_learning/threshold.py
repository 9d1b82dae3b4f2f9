"""Self-learning as the paper prints it: a network a class, and rows above a threshold."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit, log_expit, softmax

from bayescal.core.checks import (
    MOST_DRAWN,
    check_call,
    check_choice,
    check_is,
    check_number,
    check_seed,
    check_whole,
)
from bayescal.core.columns import Whole
from bayescal.core.quantity import Floats
from bayescal.quantities.credal.credal_sets import SLACK
from bayescal.quantities.credal.self_learning import (
    SelfLearningRows,
    credal_labels,
    from_labels,
    hard_labels,
)
from bayescal.quantities.credal.self_learning.learning import METHODS


@dataclass(frozen=True, slots=True)
class SgdSettings:
    """Networks of one hidden layer and their training.

    Parameters
    ----------
    hidden : int, at least 1, default 16
        Units of the hidden layer (tanh): the paper's m.
    learning_rate : float, above 0, default 0.1
        Step size, without momentum or weight decay: the paper's tau.
    epochs : int, at least 1, default 20
        Passes over the rows of each training.
    batch_size : int, at least 1, default 10
        Rows of each step.
    """

    hidden: int = 16
    learning_rate: float = 0.1
    epochs: int = 20
    batch_size: int = 10

    def __post_init__(self) -> None:
        for name in ("hidden", "epochs", "batch_size"):
            check_whole(getattr(self, name), name)
        check_number(self.learning_rate, "learning_rate", "(0, inf)")


class OneVsAllNetworks:
    """Binary networks h^1, ..., h^K, which share nothing but the rows that they see.

    The loss of a row with the label p^k in [0, 1] is KL(p^k || h^k(x)), (2) and (5) of the paper.
    """

    def __init__(
        self, features: int, classes: int, settings: SgdSettings, rng: np.random.Generator
    ) -> None:
        self._settings, self._rng = settings, rng
        hidden = settings.hidden
        # Uniform within the root of the number of inputs, as usual for such layers.
        self._weights = [
            rng.uniform(-1, 1, (classes, features, hidden)) / np.sqrt(features),
            rng.uniform(-1, 1, (classes, 1, hidden)) / np.sqrt(features),
            rng.uniform(-1, 1, (classes, hidden, 1)) / np.sqrt(hidden),
            rng.uniform(-1, 1, (classes, 1, 1)) / np.sqrt(hidden),
        ]

    def fit(self, x: Floats, label: Floats) -> OneVsAllNetworks:
        """Train all networks further."""
        size = self._settings.batch_size
        for _ in range(self._settings.epochs):
            order = self._rng.permutation(len(x))
            for first in range(0, len(x), size):
                rows = order[first : first + size]
                self._step(x[rows], label[rows])
        return self

    def _step(self, x: Floats, label: Floats) -> None:
        """One step of gradient descent on the mean loss of a batch."""
        inner, logit = self._forward(x)
        slope = ((expit(logit) - label) / len(x)).T[:, :, None]
        by_inner = slope * np.swapaxes(self._weights[2], 1, 2) * (1 - inner**2)
        gradients = (
            x.T @ by_inner,
            by_inner.sum(axis=1, keepdims=True),
            np.swapaxes(inner, 1, 2) @ slope,
            slope.sum(axis=1, keepdims=True),
        )
        for weights, gradient in zip(self._weights, gradients, strict=True):
            weights -= self._settings.learning_rate * gradient

    def scores(self, x: Floats) -> Floats:
        """Probabilities of each class against the rest, above 0; they need not sum to 1."""
        return np.asarray(np.maximum(expit(self._forward(x)[1]), np.finfo(float).tiny))

    def predict_proba(self, x: Floats) -> Floats:
        """Probabilities of the classes: the scores over their sum, also where all round to 0."""
        return np.asarray(softmax(log_expit(self._forward(x)[1]), axis=1))

    def _forward(self, x: Floats) -> tuple[Floats, Floats]:
        """Hidden units (class, obs, hidden) and logits of the scores (obs, class)."""
        first, first_intercept, last, last_intercept = self._weights
        inner = np.tanh(x @ first + first_intercept)
        return inner, (inner @ last + last_intercept)[..., 0].T


@dataclass(frozen=True, slots=True)
class ThresholdSettings:
    """How networks label rows for themselves.

    The paper's text and its listings differ. Each reading has a name, and its source in brackets.

    Parameters
    ----------
    method : {"credal", "hard", "soft"}, default "credal"
        Algorithm 2, 3 or 4 of the paper.
    threshold : float, in (0, 1], default 0.9
        What the probability of some class is compared with: the paper's delta.
    iterations : int, at least 1, default 50
        Trainings after the first, at most.
    added : {"all batches", "last batch"}, default "all batches"
        What networks learn from besides the labelled rows: all rows that got a label (text of
        section 3.1), or those of the last iteration alone (listings).
    seed : int, at least 0, default 0
        Source of first weights and of the order of rows.
    networks : {"fresh", "warm"}, default "fresh"
        From which weights a further training starts. ``"fresh"``: newly drawn ones, so that the
        estimator is the fit to its rows alone, trained as long after every iteration (text: "fit
        our model ... to obtain a new model", "retrain"). ``"warm"``: those of the training before,
        so that its training grows with the iterations (listings: "initialize" before the loop).
    selection : {"at least", "above", "highest"}, default "at least"
        Rows that get a label: those of which a class's probability is at least the threshold
        (listings), those where it is above it (text of credal and of soft labels), or the batch
        whose highest probabilities are the highest (text of hard labels), without a threshold.
    batch_size : int, at least 1, optional
        Rows of such a batch, which the paper does not state. By default the unlabelled rows divided
        by the iterations, rounded up, so that the last iteration leaves none.
    relation : {">", ">="}, default ">"
        Which credal sets are discounted: improper ones (definition), or those too whose bounds sum
        to 1 (Algorithm 2, lines 13 and 16). See `discount`.
    """

    method: str = "credal"
    threshold: float = 0.9
    iterations: int = 50
    added: str = "all batches"
    seed: int = 0
    networks: str = "fresh"
    selection: str = "at least"
    batch_size: int | None = None
    relation: str = ">"

    def __post_init__(self) -> None:
        check_choice(self.method, METHODS, "method")
        check_choice(self.added, ("all batches", "last batch"), "added")
        check_choice(self.networks, ("fresh", "warm"), "networks")
        check_choice(self.selection, ("at least", "above", "highest"), "selection")
        check_choice(self.relation, list(SLACK), "relation")
        check_number(self.threshold, "threshold", "(0, 1]", "Pass 0.9.")
        check_whole(self.iterations, "iterations", most=MOST_DRAWN)
        check_seed(self.seed)
        if self.batch_size is not None:
            check_whole(self.batch_size, "batch_size", most=MOST_DRAWN)


class LabeledParts(NamedTuple):
    """Rows with known labels: to learn from, and to calibrate on."""

    x: Floats
    label: Floats
    x_calibration: Floats
    calibration_label: Whole


type Renew = Callable[[LabeledParts, Floats, Floats], LabeledParts]
"""From labelled rows, and the features and labels just given, to those of the next iteration."""
type GiveLabels = Callable[[OneVsAllNetworks, LabeledParts, Floats], Floats]
"""From networks, labelled rows and features to labels (obs, class)."""


class ThresholdLearned(NamedTuple):
    """What self-learning has made.

    Parameters
    ----------
    networks : OneVsAllNetworks
        After the last training.
    target_prob : ndarray of shape (training, target, class), in [0, 1]
        Probabilities of the target rows after each training, of the first too.
    n_given : ndarray of shape (training,), int
        Rows that had got a label before each training.
    """

    networks: OneVsAllNetworks
    target_prob: Floats
    n_given: Whole


def self_learn_by_threshold(
    rows: SelfLearningRows,
    settings: ThresholdSettings | None = None,
    network: SgdSettings | None = None,
    *,
    renew: Renew | None = None,
    give_labels: GiveLabels | None = None,
) -> ThresholdLearned:
    """Let networks label rows for themselves, by Algorithm 2, 3 or 4 of the paper.

    Parameters
    ----------
    rows : SelfLearningRows
        Labelled, unlabelled, calibration and target rows.
    settings : ThresholdSettings, optional
        Method, threshold and iterations; the defaults when left out.
    network : SgdSettings, optional
        Networks and their training; the defaults when left out.
    renew : callable, optional
        Changes labelled and calibration rows after each iteration, as the paper's outlook suggests.
    give_labels : callable, optional
        Another rule than the method's for the labels of unlabelled rows.

    Returns
    -------
    ThresholdLearned
        Networks, and probabilities of the target rows.

    Raises
    ------
    InputError
        If credal self-learning has no calibration rows.

    Notes
    -----
    Before each training every row that is left gets labels: for ``"credal"`` the projection (7) of
    the networks' probabilities on the set of Venn-Abers intervals, discounted where it is improper;
    for ``"hard"`` the most probable class, and for ``"soft"`` the probabilities, which are
    ``h^i / sum_j h^j``. Rows that are selected (before labels are made hard) leave the unlabelled
    ones, and the networks are trained on D_L and on them.

    Algorithm 2 ends "until D_U is not empty", which would be after one iteration; the text ends it
    when no row reaches the threshold, as it ends here. Algorithms 3 and 4 end when D_U is empty,
    and all after `iterations` trainings.

    Examples
    --------
    >>> from bayescal import credal
    >>> rows = credal.SelfLearningRows([[-1.0], [1.0]], [0, 1], [[-2.0], [2.0], [0.0]], [[3.0]])
    >>> settings = credal.ThresholdSettings("hard", iterations=3)
    >>> learned = credal.self_learn_by_threshold(rows, settings)
    >>> learned.target_prob.shape
    (4, 1, 2)
    """
    settings = ThresholdSettings() if settings is None else settings
    network = SgdSettings() if network is None else network
    check_is(rows, SelfLearningRows, "rows", "Pass SelfLearningRows(...).")
    check_is(settings, ThresholdSettings, "settings", "Pass ThresholdSettings().")
    check_is(network, SgdSettings, "network", "Pass SgdSettings().")
    check_call(renew, "renew")
    check_call(give_labels, "give_labels")
    parts = _parts(rows, settings)
    label_rows = give_labels or (lambda networks, _, x: networks.predict_proba(x))
    if give_labels is None and settings.method == "credal":
        label_rows = partial(_by_projection, settings.relation)
    start = partial(
        OneVsAllNetworks,
        rows.x_labeled.shape[1],
        len(rows.classes),
        network,
        np.random.default_rng(settings.seed),
    )
    networks = start().fit(parts.x, parts.label)
    left = rows.x_unlabeled
    batch = settings.batch_size or -(-len(left) // settings.iterations)
    given_x, given = left[:0], np.zeros((0, len(rows.classes)))
    found, number = [networks.predict_proba(rows.x_target)], [0]
    for _ in range(settings.iterations):
        label = label_rows(networks, parts, left)
        chosen = _selected(label.max(axis=1), settings, batch)
        if settings.method == "credal" and not chosen.any():
            break
        new_x, new = left[chosen], label[chosen]
        if settings.method == "hard":
            new = hard_labels(new).lower
        left = left[~chosen]
        if settings.added == "last batch":
            given_x, given = given_x[:0], given[:0]
        given_x, given = np.concatenate([given_x, new_x]), np.concatenate([given, new])
        if renew is not None:
            parts = renew(parts, new_x, new)
        if settings.networks == "fresh":
            networks = start()
        networks.fit(np.concatenate([parts.x, given_x]), np.concatenate([parts.label, given]))
        found.append(networks.predict_proba(rows.x_target))
        number.append(len(rows.x_unlabeled) - len(left))
        if not len(left):
            break
    return ThresholdLearned(networks, np.stack(found), np.array(number))


def _parts(rows: SelfLearningRows, settings: ThresholdSettings) -> LabeledParts:
    """Labelled rows, and those to calibrate on where the method needs them."""
    label = from_labels(rows.y_labeled, rows.classes).lower
    if settings.method != "credal":
        return LabeledParts(rows.x_labeled, label, rows.x_labeled[:0], np.zeros(0, np.int64))
    x, y = rows.calibration()
    return LabeledParts(rows.x_labeled, label, x, np.searchsorted(rows.classes, y))


def _selected(highest: Floats, settings: ThresholdSettings, batch: int) -> NDArray[np.bool_]:
    """Rows that get a label, from the probability of their most probable class."""
    if settings.selection == "highest":
        # Of rows with equal probabilities the first.
        first = np.argsort(-highest, kind="stable")[:batch]
        return np.isin(np.arange(len(highest)), first)
    if settings.selection == "above":
        return highest > settings.threshold
    return highest >= settings.threshold


def _by_projection(
    relation: str, networks: OneVsAllNetworks, parts: LabeledParts, x: Floats
) -> Floats:
    """Projections (7) on the sets of Venn-Abers intervals."""
    score = networks.scores(x)
    calibration = networks.scores(parts.x_calibration)
    sets = credal_labels(
        score, calibration, calibration_label=parts.calibration_label, relation=relation
    )
    return sets.nearest(networks.predict_proba(x))
