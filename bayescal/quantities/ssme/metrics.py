"""Metrics of classifiers under labels that are known, drawn, or known in probability only."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from bayescal.core.bin_edges import OPTIMAL, bin_edges, effective_number, place_in, resolved_number
from bayescal.core.checks import MOST_DRAWN, check_choice, check_whole, shown
from bayescal.core.columns import to_doubles, to_numpy
from bayescal.core.errors import InputError
from bayescal.core.functionals import expected_calibration_error, maximum_calibration_error
from bayescal.core.intake import check_same_order, round_scores
from bayescal.core.quantity import Floats
from bayescal.core.scores import predicted_class
from bayescal.core.sums import processors
from bayescal.quantities.ssme.data import ScoreMatrix, check_draws, draw_labels


class Convention(NamedTuple):
    """How an expected calibration error is defined."""

    strategy: str  # bins of equal mass ("quantile") or of equal width ("uniform")
    n_bins: int | str  # "optimal" follows the number of rows
    mass_weighted: bool  # else all bins that hold rows count alike
    top_label: bool  # the largest probability and being right, else the positive score and class


CONVENTIONS: Final = {
    "equal-mass": Convention("quantile", 10, mass_weighted=False, top_label=False),
    "equal-width": Convention("uniform", 15, mass_weighted=True, top_label=False),
    "top-label": Convention("uniform", 15, mass_weighted=True, top_label=True),
    "equal-mass-optimal": Convention("quantile", OPTIMAL, mass_weighted=True, top_label=False),
    "equal-width-optimal": Convention("uniform", OPTIMAL, mass_weighted=True, top_label=False),
    "top-label-optimal": Convention("uniform", OPTIMAL, mass_weighted=True, top_label=True),
}


def convention_name(name: str | None, n_classes: int) -> str:
    """Name the convention of the calibration errors."""
    if name is None:
        return "equal-mass" if n_classes == 2 else "top-label"
    check_choice(name, tuple(CONVENTIONS), "ece")
    if n_classes > 2 and not CONVENTIONS[name].top_label:
        raise InputError(
            f"ece={name!r} bins the score of the positive class and needs 2 classes; "
            f"got {n_classes}. Use ece='top-label'."
        )
    return name


def membership(score: Floats, convention: Convention, weight: Floats | None = None) -> Floats:
    """Say which right-closed bin each row is in, (obs, bin)."""
    n_bins = resolved_number(convention.n_bins, effective_number(len(score), weight))
    # As edges are: rounded, or in float32, so that scores of 1 / 3 and .6 meet theirs.
    narrow = score.astype(np.float32)
    near = narrow if (narrow == score).all() else round_scores(score)
    place = place_in(bin_edges(near, n_bins, convention.strategy, weight), near)
    nonempty, column = np.unique(place, return_inverse=True)
    found = np.zeros((len(score), len(nonempty)))
    found[np.arange(len(score)), column] = 1.0
    return found


def moments(score: Floats, bins: Floats) -> Floats:
    """Of each row its bin, and its score in the column of its bin, (obs, 2 * bin)."""
    return np.concatenate([bins, bins * score[:, np.newaxis]], axis=1)


def binned_errors(
    of_rows: Floats, event: Floats, weight: Floats, *, mass_weighted: bool
) -> tuple[Floats, Floats]:
    """Expected and maximum calibration error; `of_rows` is of `moments`, the rest (draw, obs)."""
    bins, _ = np.split(of_rows, 2, axis=1)
    mass, scored = np.split(weight @ of_rows, 2, axis=1)
    # A bin without weight has sums of 0, and so a rate and a confidence of 0.
    divisor = np.maximum(mass, np.finfo(np.float64).tiny)
    rate, confidence = event @ bins / divisor, scored / divisor
    share = mass if mass_weighted else (mass > 0).astype(np.float64)
    share = _ratio(share, share.sum(axis=1, keepdims=True))
    error = expected_calibration_error(share, rate, confidence)
    largest = maximum_calibration_error(mass, rate, confidence)
    return np.asarray(error), np.where(np.isnan(error), np.nan, largest)


# Blocks of draws of all classes have about this many numbers, which a core's cache holds, but so
# many draws at least: what depends on the scores alone is not fetched for each draw.
_BLOCK, _LEAST_DRAWS = 1 << 17, 32
_SUM_TOLERANCE = 1e-6
ROW_MEANS = ("accuracy", "log_loss", "brier")
# Numbers held at once: 256 MB, as sorting the scores anew for each block costs more than drawing.
_NUMBERS_AT_ONCE = 1 << 25


class Metrics(NamedTuple):
    """Metrics of each classifier, with dims (..., classifier).

    Parameters
    ----------
    accuracy : ndarray of shape (..., classifier)
        Share of rows whose most probable class (of equals the first, of two the second) is right.
    ece : ndarray of shape (..., classifier)
        Expected calibration error under the convention that is chosen.
    auc : ndarray of shape (..., classifier)
        Area under the ROC curve; more than two classes: mean of one class against the rest.
    auprc : ndarray of shape (..., classifier)
        Average precision; more than two classes: mean of one class against the rest.
    mce : ndarray of shape (..., classifier)
        Largest calibration gap of the bins of `ece`.
    log_loss : ndarray of shape (..., classifier)
        Mean of -log of the label's probability, which is kept above 2.2e-16.
    brier : ndarray of shape (..., classifier)
        Mean squared error of the positive score; more than two classes: summed over classes.
    """

    accuracy: Floats
    ece: Floats
    auc: Floats
    auprc: Floats
    mce: Floats
    log_loss: Floats
    brier: Floats


def metrics(
    probs: Floats,
    q: ArrayLike,
    weights: ArrayLike | None = None,
    *,
    ece: str | None = None,
    errors_q: ArrayLike | None = None,
) -> Metrics:
    """Measure every classifier under one set of label probabilities, or under many draws.

    Section 5.3 and appendix E.2 of the paper.

    Parameters
    ----------
    probs : ndarray of shape (classifier, obs, class), in [0, 1]
        Class probabilities.
    q : array-like of shape (obs, class) or (draw, obs, class), in [0, 1]
        Probability of each label of each row; known or drawn labels are one-hot. Two classes: also
        (draw, obs), the probability of the second class. Shape (2, 2) is read as (obs, class).
    weights : array-like of shape (obs,) or (draw, obs), optional
        Weights of the rows, such as those of a Bayesian bootstrap; by default all alike.
    ece : {"equal-mass", "equal-width", "top-label"}, each also with "-optimal", optional
        ``"equal-mass"``: unweighted mean gap of 10 quantile bins of the positive score, the
        default of two classes. ``"equal-width"``: mean gap by mass of 15 bins of equal width of
        the positive score. ``"top-label"``: the same of the largest probability, against whether
        that class is the label; the default of more classes, and the only one they have. With
        ``"-optimal"``: by mass, the number of bins the cube root of that of the rows, rounded up.
    errors_q : array-like of the shape of `q`, optional
        Label probabilities under which `ece` and `mce` are taken; by default `q`.

    Returns
    -------
    Metrics
        Arrays of shape (classifier,); (draw, classifier) if `q` or `weights` has draws.

    Raises
    ------
    InputError
        If shapes do not fit, `q` holds no probabilities, weights are negative or all 0, or the
        convention is unknown or needs two classes.

    Notes
    -----
    With row weights w, a row counts as a positive of weight w q and a negative of weight w (1 - q).
    Accuracy, log loss and Brier score under `q` are thus expectations over labels drawn from `q`;
    AUC, AUPRC and ECE are those of the expected weights. AUC is NaN in a draw in which no class has
    both positive and negative weight, AUPRC in one without positive weight; means over classes skip
    classes without. Bins are right-closed, quantile bins those of unweighted rows.

    Examples
    --------
    >>> import numpy as np
    >>> import bayescal as bc
    >>> score = np.array([[0.1, 0.4, 0.8]])
    >>> probs = np.stack([1 - score, score], axis=-1)
    >>> found = bc.ssme.metrics(probs, np.eye(2)[[0, 1, 1]])
    >>> found.accuracy.round(3).tolist(), found.auc.tolist()
    ([0.667], [1.0])
    """
    probs = _probabilities(probs)
    measure = Measurement.of(probs, convention_name(ece, probs.shape[2])).of_draws
    return _measured(measure, probs.shape, q, weights, errors_q)


def _measured(
    measure: Measure,
    shape: tuple[int, ...],
    q: ArrayLike,
    weights: ArrayLike | None,
    errors_q: ArrayLike | None,
) -> Metrics:
    """Check labels and weights of scores of this shape, and measure under them."""
    check_same_order(q=q, weights=weights, errors_q=errors_q)
    labels, has_draws = _label_draws(q, "q", *shape[1:])
    errors = labels if errors_q is None else _label_draws(errors_q, "errors_q", *shape[1:])[0]
    if errors.shape != labels.shape:
        raise InputError(
            f"errors_q must have the shape of q; got {errors.shape[1]} and {labels.shape[1]} "
            "draws. Pass as many of the one as of the other."
        )
    weight, weights_have_draws = _row_weights(weights, shape[1])
    found = measure(labels, errors, weight)
    return found if has_draws or weights_have_draws else Metrics._make(v[0] for v in found)


def join(parts: Sequence[Metrics], how: Callable[[Sequence[Floats]], Floats]) -> Metrics:
    """Join the metrics of several parts (draws, classifiers, groups), metric by metric."""
    return Metrics._make(how(values) for values in zip(*parts, strict=True))


def subgroup_metrics(
    probs: Floats,
    q: ArrayLike,
    group: NDArray[np.integer],
    n_groups: int,
    weights: ArrayLike | None = None,
    *,
    ece: str | None = None,
    errors_q: ArrayLike | None = None,
) -> Metrics:
    """Measure every classifier in every group.

    Parameters
    ----------
    probs, q
        As for `metrics`.
    group : ndarray of shape (obs,), int
        Group of each row, from 0 on.
    n_groups : int
        Number of groups.
    weights, ece, errors_q
        As for `metrics`.

    Returns
    -------
    Metrics
        Arrays of shape (..., classifier, group); NaN of a group without rows, or weight in a draw.
    """
    probs = _probabilities(probs)
    convention = convention_name(ece, probs.shape[2])
    check_whole(n_groups, "n_groups", most=MOST_DRAWN)
    groups = to_numpy(group, "group")
    if groups.shape != probs.shape[1:2] or not np.isin(groups, np.arange(n_groups)).all():
        raise InputError(
            f"group must number each row's group from 0 to {n_groups - 1}; got {shown(groups)}. "
            "Pass one a row."
        )
    measure = in_groups(probs, convention, groups.astype(np.intp), n_groups)
    return _measured(measure, probs.shape, q, weights, errors_q)


class Measurement(NamedTuple):
    """What depends on the scores only: sorted once, used for every draw."""

    linear: Floats  # (class, obs, 3 * classifier): right, log loss, Brier score
    predicted: NDArray[np.int64]  # (classifier, obs)
    moments: list[Floats]  # of the score that is binned, by classifier
    rankings: list[list[tuple[int, Ranking]]]  # by classifier, with the class it is of
    convention: Convention

    @classmethod
    def of(cls, probs: Floats, name: str, weight: Floats | None = None) -> Measurement:
        """Prepare scores, (classifier, obs, class); quantile bins hold equal shares of `weight`."""
        convention = CONVENTIONS[name]
        n_classes = probs.shape[2]
        score = probs.max(axis=2) if convention.top_label else probs[:, :, 1]
        ranked = range(1 if n_classes == 2 else 0, n_classes)
        return cls(
            np.ascontiguousarray(
                np.concatenate([row_values(probs, name) for name in ROW_MEANS]).transpose(2, 1, 0)
            ),
            predicted_class(probs),
            [moments(one, membership(one, convention, weight)) for one in score],
            [[(k, rank(one[:, k])) for k in ranked] for one in probs],
            convention,
        )

    def of_draws(self, labels: Floats, errors: Floats, weight: Floats) -> Metrics:
        """Metrics, (draw, classifier); labels (class, draw or 1, obs), weights (draw or 1, obs)."""
        n_draws = _common_draws(labels.shape[1], len(weight))
        size = max(_LEAST_DRAWS, _BLOCK // weight.shape[1]) // len(labels) + 1

        def of_block(start: int) -> Metrics:
            # What has no draws of its own is the same for all.
            some = (
                given if given.shape[-2] == 1 else given[..., start : start + size, :]
                for given in (labels, errors, weight)
            )
            return self._of_block(*some)

        if n_draws <= size:
            return of_block(0)
        with ThreadPoolExecutor(processors()) as pool:
            return join([*pool.map(of_block, range(0, n_draws, size))], np.concatenate)

    def _of_block(self, q: Floats, errors_q: Floats, weight: Floats) -> Metrics:
        event = _weighted(q, weight)
        binned = event if errors_q is q else _weighted(errors_q, weight)
        total = weight.sum(axis=1)[:, np.newaxis]
        sums = sum(of_class @ linear for of_class, linear in zip(event, self.linear, strict=True))
        accuracy, log_loss, brier = np.split(_ratio(sums, total), 3, axis=1)
        rows = {k: counted(event[k], weight) for k, _ in self.rankings[0]}
        room = np.empty((2, *accuracy.shape[:1], weight.shape[1]), dtype=complex)
        ece, mce, auc, auprc = (np.empty(accuracy.shape) for _ in range(4))
        *_, mass_weighted, top_label = self.convention
        places = np.arange(weight.shape[1])
        for m, rankings in enumerate(self.rankings):
            happened = binned[1]
            if top_label:
                happened = binned.transpose(1, 0, 2)[:, self.predicted[m], places]
            ece[:, m], mce[:, m] = binned_errors(
                self.moments[m], happened, weight, mass_weighted=mass_weighted
            )
            found = [ranking_metrics(ranking, rows[k], room) for k, ranking in rankings]
            auc[:, m], auprc[:, m] = mean_of_defined(np.array(found))
        return Metrics(accuracy, ece, auc, auprc, mce, log_loss, brier)


def in_groups(
    probs: Floats,
    name: str,
    group: NDArray[np.integer],
    n_groups: int,
    weight: Floats | None = None,
) -> Measure:
    """Prepare the same for the rows of each group that has some, (draw, classifier, group)."""
    parts = []
    for code in np.unique(group):
        rows = np.flatnonzero(group == code)
        of_rows = None if weight is None else weight[rows]
        parts.append((code, rows, Measurement.of(probs[:, rows], name, of_rows).of_draws))

    def measure(labels: Floats, errors: Floats, weight: Floats) -> Metrics:
        shape = _common_draws(labels.shape[1], len(weight)), len(probs), n_groups
        found = np.full((len(Metrics._fields), *shape), np.nan)
        for code, rows, own in parts:
            found[..., code] = own(labels[..., rows], errors[..., rows], weight[:, rows])
        return Metrics._make(found)

    return measure


def row_values(probs: Floats, metric: str) -> Floats:
    """Accuracy, log loss or Brier score if the label is each class, (classifier, obs, class)."""
    n_classes = probs.shape[2]
    if metric == "accuracy":
        return np.asarray(np.eye(n_classes)[predicted_class(probs)])
    if metric == "log_loss":
        # A probability of 0 given to what happened: as far as float64 can be from it.
        eps = np.finfo(np.float64).eps
        return np.asarray(-np.log(np.clip(probs, eps, 1 - eps)))
    squares = (probs**2).sum(axis=2, keepdims=True) - 2 * probs + 1
    return np.asarray(squares / 2 if n_classes == 2 else squares)


def _weighted(q: Floats, weight: Floats) -> Floats:
    event = np.ascontiguousarray(q)
    # Weights of several draws make as many of the event, even where all of them are 1.
    several = len(weight) > event.shape[1]
    return event * weight if several or (weight != 1).any() else event


def mean_of_defined(values: Floats) -> Floats:
    """Mean over the first dim without what is NaN; NaN where all are."""
    defined = ~np.isnan(values)
    count = defined.sum(axis=0)
    total = np.where(defined, values, 0.0).sum(axis=0)
    mean: Floats = np.full(total.shape, np.nan)
    np.divide(total, count, out=mean, where=count > 0)
    return mean


def _probabilities(probs: Floats) -> Floats:
    """Check class probabilities, (classifier, obs, class)."""
    found = to_doubles(probs, "probs")
    if found.ndim != 3 or found.shape[2] < 2 or not found.size:
        raise InputError(
            "probs must have shape (classifier, obs, class), with rows and two classes or more; "
            f"got {found.shape}. Pass Scores through bayescal.ssme.ensemble."
        )
    if not ((found >= 0) & (found <= 1)).all():
        raise InputError("probs must lie in [0, 1]; some do not. Pass probabilities, not logits.")
    return found


def _label_draws(q: ArrayLike, name: str, n_obs: int, n_classes: int) -> tuple[Floats, bool]:
    """Bring label probabilities to (class, draw, obs), and say whether they have draws."""
    values = to_doubles(q, name)
    if values.shape == (n_obs, n_classes):
        labels, has_draws = values.T[:, np.newaxis], False
    elif values.ndim == 3 and values.shape[1:] == (n_obs, n_classes) and len(values):
        labels, has_draws = values.transpose(2, 0, 1), True
    elif n_classes == 2 and values.ndim == 2 and values.shape[1] == n_obs and len(values):
        labels, has_draws = np.stack([1 - values, values]), True
    else:
        raise InputError(
            f"{name} must have shape (obs, class) = ({n_obs}, {n_classes}), with the draws, if "
            f"any, in front; got {values.shape}. Pass one probability for each row and class."
        )
    # Written so that a NaN, for which every comparison is false, is refused.
    if not (labels.min() >= 0 and np.abs(labels.sum(axis=0) - 1).max() <= _SUM_TOLERANCE):
        raise InputError(
            f"{name} must hold probabilities that sum to 1 over the classes; got others. "
            "Pass one-hot rows for known labels."
        )
    return labels, has_draws


def _row_weights(weights: ArrayLike | None, n_obs: int) -> tuple[Floats, bool]:
    """Bring weights to (draw, obs), and say whether they have draws."""
    values = np.ones(n_obs) if weights is None else to_doubles(weights, "weights")
    if values.ndim not in (1, 2) or values.shape[-1] != n_obs or not values.size:
        raise InputError(
            f"weights must have shape (obs,) = ({n_obs},) or (draw, obs); got {values.shape}. "
            "Pass one weight for each row."
        )
    rows = np.atleast_2d(values)
    if not (rows.min() >= 0 and rows.max(axis=1).min() > 0 and np.isfinite(rows).all()):
        raise InputError(
            "weights must be finite, at least 0 and not all 0; got others. "
            "Pass one positive weight for each row."
        )
    # By a power of two, so that products of sums neither overflow nor vanish.
    largest = np.frexp(rows.max(axis=1, keepdims=True))[1]
    return np.ldexp(rows, 1 - largest), values.ndim == 2


def _common_draws(n_labels: int, n_weights: int) -> int:
    """Number of draws of labels and weights together."""
    if n_labels != n_weights and 1 not in (n_labels, n_weights):
        raise InputError(
            f"q and weights must have the same number of draws; got {n_labels} and {n_weights}. "
            "Draw as many of the one as of the other."
        )
    return max(n_labels, n_weights)


type Complex = NDArray[np.complex128]


class Ranking(NamedTuple):
    """Rows from the highest score to the lowest, tied ones together."""

    order: NDArray[np.int64]  # (obs,): row numbers by falling score
    starts: NDArray[np.int64]  # (distinct,): where each distinct score begins in `order`


def rank(score: Floats) -> Ranking:
    """Sort rows by falling score."""
    order = np.argsort(-score, kind="stable")
    falling = score[order]
    starts = np.flatnonzero(np.concatenate(([True], falling[1:] != falling[:-1])))
    return Ranking(order, starts)


def counted(positive: Floats, weight: Floats) -> Complex:
    """Positive weight and weight of each row, as real and imaginary part, (draw, obs)."""
    # A processor adds both in the time of one, and sorting them takes one look-up.
    both: Complex = np.empty(np.broadcast_shapes(positive.shape, weight.shape), dtype=complex)
    both.real, both.imag = positive, weight
    return both


def ranking_metrics(
    ranking: Ranking, rows: Complex, room: Complex | None = None
) -> tuple[Floats, Floats]:
    """Area under the ROC curve, and average precision, of rows as of `counted`."""
    # `room` is written over: memory that is new takes several times as long as the sums. With tp
    # and fp the positive and negative weight at or above a distinct score and d their steps,
    # AUC = sum d(fp) (tp - d(tp) / 2) / (P N), AP = sum d(tp) tp / (tp + fp) / P: scikit-learn's.
    room = np.empty((2, *rows.shape), dtype=complex) if room is None else room
    step = _by_score(ranking, rows, room[0])
    total = np.cumsum(step, axis=1, out=room[1, :, : step.shape[1]])
    (step_tp, step_fp), (tp, weight) = ((of.real, of.imag) for of in (step, total))
    step_fp -= step_tp
    n_positive, n_negative = tp[:, -1], step_fp.sum(axis=1)
    area = np.vecdot(step_fp, tp) - 0.5 * np.vecdot(step_fp, step_tp)
    # Rows of no weight above the first that has some: 0 / 0, of which nothing is counted.
    np.maximum(weight, np.finfo(np.float64).tiny, out=weight)
    hits = np.vecdot(step_tp, np.divide(tp, weight, out=weight))
    return _ratio(area, n_positive * n_negative), _ratio(hits, n_positive)


def _by_score(ranking: Ranking, values: Complex, out: Complex) -> Complex:
    """Sums of (draw, obs) over rows of the same score, highest first."""
    # The order is in range; without a check of that NumPy writes straight into the result.
    ordered = np.take(values, ranking.order, axis=1, mode="clip", out=out)
    if len(ranking.starts) == len(ranking.order):
        return ordered
    sums: Complex = np.add.reduceat(ordered, ranking.starts, axis=1)
    return sums


def _ratio(part: Floats, whole: Floats) -> Floats:
    """Divide; NaN where there is nothing to divide by."""
    found: Floats = np.full(part.shape, np.nan)
    np.divide(part, whole, out=found, where=whole > 0)
    return found


def expected_metrics(
    matrix: ScoreMatrix,
    prob_label: Floats,
    n_draws: int | None,
    rng: np.random.Generator,
    *,
    ece: str | None = None,
    by_group: bool = False,
) -> Metrics:
    """Average metrics over label draws, or take them under the probabilities themselves."""
    check_draws(n_draws)
    if n_draws is None:
        return measured(matrix, prob_label, ece=ece, by_group=by_group)
    parts = [
        measured(matrix, draw_labels(prob_label, count, rng), ece=ece, by_group=by_group)
        for count in block_sizes(n_draws, prob_label.size)
    ]
    return mean_over_draws(join(parts, np.concatenate))


def block_sizes(n_draws: int, numbers: int) -> list[int]:
    """Cut draws of so many numbers each into blocks that are held at once."""
    size = max(1, _NUMBERS_AT_ONCE // numbers)
    return [min(size, n_draws - start) for start in range(0, n_draws, size)]


type Measure = Callable[[Floats, Floats, Floats], Metrics]


def prepared(matrix: ScoreMatrix, ece: str | None) -> Measure:
    """Prepare to measure draws as `Measurement` does; in every group, where there are groups."""
    name = convention_name(ece, matrix.n_classes)
    if matrix.group is None:
        return Measurement.of(matrix.probs, name, matrix.weight).of_draws
    return in_groups(matrix.probs, name, matrix.group, len(matrix.groups), matrix.weight)


def measured(
    matrix: ScoreMatrix, q: Floats, *, ece: str | None = None, by_group: bool = True
) -> Metrics:
    """Metrics of a score matrix, by its weights, and by group if it has any."""
    measure = prepared(matrix if by_group else replace(matrix, group=None), ece)
    return _measured(measure, matrix.probs.shape, q, matrix.weight, None)


def mean_over_draws(found: Metrics) -> Metrics:
    """Average over draws, leaving out draws in which a metric does not exist."""
    return Metrics._make(map(mean_of_defined, found))
