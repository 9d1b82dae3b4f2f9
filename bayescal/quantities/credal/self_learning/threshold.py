"""Self-learning as the paper prints it: a network a class, and rows above a threshold."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from bayescal.core.checks import MOST_DRAWN, check_choice, check_number, check_seed, check_whole
from bayescal.core.quantity import Floats
from bayescal.quantities.credal.self_learning.algorithm import METHODS
from bayescal.quantities.credal.self_learning.data import SelfLearningRows
from bayescal.quantities.credal.self_learning.label_sets import from_labels
from bayescal.quantities.credal.self_learning.one_vs_all import OneVsAllNetworks, SgdSettings
from bayescal.quantities.credal.self_learning.pseudo_labels import credal_labels, hard_labels

ADDED: Final = ("all batches", "last batch")


@dataclass(frozen=True, slots=True)
class ThresholdSettings:
    """How networks label rows for themselves.

    Parameters
    ----------
    method : {"credal", "hard", "soft"}, default "credal"
        Algorithm 2, 3 or 4 of the paper.
    threshold : float, in (0, 1], default 0.9
        A row gets its label where that of some class reaches it: the paper's delta.
    iterations : int, at least 1, default 50
        Trainings after the first, at most.
    added : {"all batches", "last batch"}, default "all batches"
        What networks learn from besides the labelled rows: all rows that got a label, as the text
        of section 3.1 says, or those of the last iteration alone, as in the listings.
    seed : int, at least 0, default 0
        Source of first weights and of the order of rows.

    Raises
    ------
    InputError
        If one of them is out of range.
    """

    method: str = "credal"
    threshold: float = 0.9
    iterations: int = 50
    added: str = "all batches"
    seed: int = 0

    def __post_init__(self) -> None:
        check_choice(self.method, METHODS, "method")
        check_choice(self.added, ADDED, "added")
        check_number(self.threshold, "threshold", "(0, 1]", "Pass 0.9.")
        check_whole(self.iterations, "iterations", most=MOST_DRAWN)
        check_seed(self.seed)


class LabeledParts(NamedTuple):
    """Rows with known labels: to learn from, and to calibrate on.

    Parameters
    ----------
    x : ndarray of shape (labeled, feature)
        Features of D_L.
    label : ndarray of shape (labeled, class), in [0, 1]
        Its labels.
    x_calibration : ndarray of shape (calibration, feature)
        Features of D_C.
    calibration_label : ndarray of shape (calibration,), int
        Columns of its labels.
    """

    x: Floats
    label: Floats
    x_calibration: Floats
    calibration_label: NDArray[np.int64]


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
    n_given: NDArray[np.int64]


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
        Changes the labelled and the calibration rows after each iteration, as the paper's outlook
        suggests; they stay as they are when left out.
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
    ``h^i / sum_j h^j``. Rows of which a class reaches the threshold (before it is made hard) leave
    the unlabelled ones, and the networks are trained further on D_L and on them.

    Algorithm 2 ends "until D_U is not empty", which would be after one iteration; the text ends it
    when no row reaches the threshold, as it ends here. Algorithms 3 and 4 end when D_U is empty.
    All end after `iterations` trainings. The text's "batch of data for which the prediction
    probabilities are the highest" of hard labels is read as the rows above the threshold, as in the
    listing.

    References
    ----------
    .. [1] V. M. Bordini, S. Destercke and B. Quost, "Self-Learning from Pairwise Credal Labels",
       ECAI 2024, section 3.1, Algorithms 2-4. https://hal.science/hal-04886134

    Examples
    --------
    >>> from bayescal.quantities.credal.self_learning.data import SelfLearningRows
    >>> from bayescal.quantities.credal.self_learning.threshold import (
    ...     ThresholdSettings,
    ...     self_learn_by_threshold,
    ... )
    >>> rows = SelfLearningRows([[-1.0], [1.0]], [0, 1], [[-2.0], [2.0], [0.0]], [[3.0]])
    >>> learned = self_learn_by_threshold(rows, ThresholdSettings("hard", iterations=3))
    >>> learned.target_prob.shape
    (4, 1, 2)
    """
    settings = settings or ThresholdSettings()
    parts, label_rows = _parts(rows, settings), give_labels or _RULES[settings.method]
    networks = OneVsAllNetworks(
        rows.x_labeled.shape[1],
        len(rows.classes),
        network or SgdSettings(),
        np.random.default_rng(settings.seed),
    ).fit(parts.x, parts.label)
    left = rows.x_unlabeled
    given_x, given = left[:0], np.zeros((0, len(rows.classes)))
    found, number = [networks.predict_proba(rows.x_target)], [0]
    for _ in range(settings.iterations):
        label = label_rows(networks, parts, left)
        chosen = label.max(axis=1) >= settings.threshold
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


def _by_networks(networks: OneVsAllNetworks, parts: LabeledParts, x: Floats) -> Floats:
    """Probabilities that the networks give, normalised."""
    return networks.predict_proba(x)


def _by_projection(networks: OneVsAllNetworks, parts: LabeledParts, x: Floats) -> Floats:
    """Projections (7) on the sets of Venn-Abers intervals."""
    if not len(x):
        return np.zeros((0, parts.label.shape[1]))
    score = networks.scores(x)
    calibration = networks.scores(parts.x_calibration)
    return credal_labels(score, calibration, calibration_label=parts.calibration_label).nearest(
        score
    )


_RULES: Final[dict[str, GiveLabels]] = {
    "credal": _by_projection,
    "hard": _by_networks,
    "soft": _by_networks,
}
