"""Methods that impute the labels that are missing, and measure under all."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit, softmax

from bayescal.core.checks import (
    MOST_DRAWN,
    check_choice,
    check_is,
    check_number,
    check_seed,
    check_whole,
    generator,
)
from bayescal.core.errors import InputError
from bayescal.core.quantity import Floats
from bayescal.core.scores import Scores, predicted_class
from bayescal.core.text import counted
from bayescal.quantities.ssme.data import (
    ScoreMatrix,
    score_matrix,
    weighted_matrix,
    with_known_labels,
)
from bayescal.quantities.ssme.metrics import (
    Metrics,
    expected_metrics,
    join,
    mean_over_draws,
    measured,
    metrics,
)

if TYPE_CHECKING:
    import pymc as pm

    from bayescal.inference.sampler import CompiledModel


def ensemble(scores: Scores | ScoreMatrix, *, ece: str | None = None) -> Metrics:
    """Take the mean score for the truth: metrics in expectation, without any fit.

    Parameters
    ----------
    scores : Scores or ScoreMatrix
        Scores of one or several classifiers; labels may be missing.
    ece : {"equal-mass", "equal-width", "top-label"}, each also with "-optimal", optional
        Convention of the calibration errors.

    Returns
    -------
    Metrics
        Arrays of shape (classifier,).

    Raises
    ------
    InputError
        If the convention is unknown or needs two classes.

    Notes
    -----
    The probability of a label is its mean over classifiers; of a labelled row it is its label.
    Whatever is fitted has to do better than this.

    Examples
    --------
    >>> import bayescal as bc
    >>> scores = bc.Scores.stack({"a": [0.1, 0.8], "b": [0.3, 0.6]}, y_true=[0, None])
    >>> bc.ssme.ensemble(scores).accuracy.round(3).tolist()
    [0.85, 0.85]
    """
    matrix = weighted_matrix(scores)
    return measured(matrix, mean_score(matrix), ece=ece, by_group=False)


def mean_score(matrix: ScoreMatrix) -> Floats:
    """Mean over classifiers, with known labels in place, (obs, class)."""
    return with_known_labels(matrix, matrix.probs.mean(axis=0))


# A score of 1 / K in float32, of which rows are made to sum to 1.
_ROUNDING: Final = 1e-5


def majority_vote(
    scores: Scores,
    *,
    reading: str = "hard",
    votes: str = "most-probable",
    n_draws: int = 500,
    seed: int = 0,
) -> Metrics:
    """Measure under the label that most classifiers predict, each as heavy as it is accurate.

    Appendix B.2 of the paper.

    Parameters
    ----------
    scores : Scores
        Scores of one or several classifiers; one labelled row or more.
    reading : {"hard", "soft", "drawn"}, default "hard"
        The label with most votes (the first of equals), the shares of votes as weights, or labels
        drawn from these shares.
    votes : {"most-probable", "threshold"}, default "most-probable"
        A classifier votes for its most probable class, or for every class to which it gives more
        than 1 / K of K classes. Of two classes both are the same.
    n_draws : int, default 500
        Number of draws, for "drawn" only.
    seed : int, default 0
        Same seed, same draws.

    Returns
    -------
    Metrics
        Arrays of shape (classifier,); as for `imputed_metrics`.

    Raises
    ------
    InputError
        If no row is labelled, no classifier is right on any, or an option is unknown.

    Notes
    -----
    The paper's classifiers vote by threshold, weighted "in proportion to" their accuracy; it does
    not say how the average is read. Of its published predictions, hard labels give its errors on
    toxic comments, and the most probable class with drawn labels those on MultiNLI.

    Examples
    --------
    >>> import bayescal as bc
    >>> y_prob = {"a": [0.2, 0.9, 0.6, 0.4], "b": [0.1, 0.4, 0.3, 0.2]}
    >>> scores = bc.Scores.stack(y_prob, y_true=[0, 1, None, None])
    >>> bc.ssme.baselines.majority_vote(scores).accuracy
    array([1. , 0.5])
    """
    matrix = score_matrix(scores)
    check_labels(matrix, "Majority-Vote")
    check_choice(votes, ("most-probable", "threshold"), "votes")
    return imputed_metrics(matrix, vote_shares(matrix, votes), reading, n_draws=n_draws, seed=seed)


def vote_shares(matrix: ScoreMatrix, votes: str = "most-probable") -> Floats:
    """Share of the accuracy-weighted votes for each class, (obs, class)."""
    vote = predicted_class(matrix.probs)
    # In whole numbers: rounded shares, .2 and .4 against .6, would break a tie.
    weight = (vote[:, matrix.labeled] == matrix.y[matrix.labeled]).sum(axis=1)
    if not weight.any():
        raise InputError(
            "Majority-Vote weights classifiers by their accuracy on labelled rows; got 0 for all "
            f"{matrix.n_classifiers} on {matrix.n_labeled} rows. Label more rows."
        )
    given = np.eye(matrix.n_classes)[vote]
    if votes == "threshold":
        above = (matrix.probs * matrix.n_classes > 1 + _ROUNDING).astype(np.float64)
        # Only equal probabilities leave none above.
        given = np.where(above.any(axis=2, keepdims=True), above, given)
    total = np.tensordot(weight, given, axes=1)
    return np.asarray(total / total.sum(axis=1, keepdims=True))


def pseudo_labeled(
    scores: Scores, *, reading: str = "drawn", n_draws: int = 500, seed: int = 0
) -> Metrics:
    """Measure under labels that a logistic regression of the labelled rows predicts.

    Appendix B.2 of the paper.

    Parameters
    ----------
    scores : Scores
        Scores of one or several classifiers; labelled rows of two classes or more.
    reading : {"drawn", "soft", "hard"}, default "drawn"
        Labels drawn from the predicted probabilities, these as weights, or the most probable label.
    n_draws, seed
        As for `majority_vote`.

    Returns
    -------
    Metrics
        Arrays of shape (classifier,); as for `imputed_metrics`.

    Raises
    ------
    InputError
        If fewer than two classes have a label, or an option is none of those allowed.

    Notes
    -----
    Features are the probabilities themselves (of a binary task those of the positive class); the
    regression is scikit-learn's with its defaults, so with an L2 penalty of 1. A class without a
    label gets probability 0. The paper does not say how predictions are read; drawn labels give its
    errors within two standard errors on both of its published sets of predictions.

    Examples
    --------
    >>> import bayescal as bc
    >>> scores = bc.Scores(y_true=[0, 1, 1, 0, None], y_prob=[0.2, 0.9, 0.8, 0.3, 0.6])
    >>> bc.ssme.baselines.pseudo_labeled(scores, reading="hard").accuracy
    array([1.])
    """
    matrix = score_matrix(scores)
    check_labels(matrix, "Pseudo-Labeled", classes=2)
    prob = predicted_labels(matrix)
    return imputed_metrics(matrix, prob, reading, n_draws=n_draws, seed=seed)


def predicted_labels(matrix: ScoreMatrix) -> Floats:
    """Probability of each label by a logistic regression of the labelled rows, (obs, class)."""
    from sklearn.linear_model import LogisticRegression

    columns = matrix.probs[..., 1:] if matrix.is_binary else matrix.probs
    features = columns.transpose(1, 0, 2).reshape(matrix.n_obs, -1)
    model = LogisticRegression(max_iter=1000)
    model.fit(features[matrix.labeled], matrix.y[matrix.labeled])
    prob = np.zeros((matrix.n_obs, matrix.n_classes))
    prob[:, model.classes_] = model.predict_proba(features)
    return prob


class Annotators(NamedTuple):
    """What EM finds of the labels and of the classifiers."""

    prob_label: Floats  # (obs, class); labelled rows are one-hot
    class_prior: Floats
    confusion: Floats  # (classifier, class, class): each prediction (last) given the label, or 0
    n_iter: int
    converged: bool  # whether class prior and confusion stopped changing


def dawid_skene(
    scores: Scores,
    *,
    reading: str = "soft",
    max_iter: int = 100,
    tol: float = 1e-5,
    n_draws: int = 500,
    seed: int = 0,
) -> Metrics:
    """Measure under the labels that the model of Dawid and Skene gives, known labels held.

    Parameters
    ----------
    scores : Scores
        Scores of one or several classifiers; labels may be missing altogether.
    reading : {"soft", "drawn", "hard"}, default "soft"
        The probabilities as weights, labels drawn from them, or the most probable label.
    max_iter : int, default 100
        Most iterations of EM.
    tol : float, default 1e-5
        EM stops when class prior and confusion change by less, summed over their entries.
    n_draws, seed
        As for `majority_vote`.

    Returns
    -------
    Metrics
        Arrays of shape (classifier,); as for `imputed_metrics`.

    Notes
    -----
    A classifier annotates a row with its most probable class. Classifiers trained on the same data
    err together, which the model takes for being right together: accuracies come out too high.
    Without labels it needs three classifiers or more. The paper does not say how probabilities are
    read; nearly all are close to 0 or 1.

    References
    ----------
    .. [1] A. P. Dawid and A. M. Skene, Applied Statistics 28(1), 1979, equations 2.3 to 2.5, 3.1.
    .. [2] D. Shanmugam et al., 2025, appendix B.2. https://arxiv.org/abs/2501.11866

    Examples
    --------
    >>> import bayescal as bc
    >>> y_prob = {"a": [0.2, 0.9, 0.6], "b": [0.1, 0.8, 0.7], "c": [0.3, 0.7, 0.4]}
    >>> scores = bc.Scores.stack(y_prob, y_true=[0, 1, None])
    >>> bc.ssme.baselines.dawid_skene(scores).accuracy.round(2)
    array([1.  , 1.  , 0.67])
    """
    matrix = score_matrix(scores)
    found = annotators(matrix, max_iter=max_iter, tol=tol)
    return imputed_metrics(matrix, found.prob_label, reading, n_draws=n_draws, seed=seed)


def annotators(matrix: ScoreMatrix, *, max_iter: int = 100, tol: float = 1e-5) -> Annotators:
    """Fit the model of Dawid and Skene by EM, known labels held."""
    check_whole(max_iter, "max_iter", most=MOST_DRAWN)
    check_number(tol, "tol", "[0, inf)", "Pass 1e-5, say.")
    voted = predicted_class(matrix.probs)
    votes = np.eye(matrix.n_classes)[voted]
    prob = with_known_labels(matrix, votes.mean(axis=0))
    prior, confusion = _maximize(votes, prob)
    for iteration in range(1, max_iter + 1):
        prob = with_known_labels(matrix, _expect(voted, prior, confusion))
        before = prior, confusion
        prior, confusion = _maximize(votes, prob)
        change = max(np.abs(prior - before[0]).sum(), np.abs(confusion - before[1]).sum())
        if change < tol:
            return Annotators(prob, prior, confusion, iteration, True)
    return Annotators(prob, prior, confusion, max_iter, False)


def _maximize(votes: Floats, prob: Floats) -> tuple[Floats, Floats]:
    """Class prior and confusion given probabilities of the labels, equations 2.3 and 2.4."""
    counts = np.einsum("ik,mij->mkj", prob, votes)
    total = counts.sum(axis=2, keepdims=True)
    return prob.mean(axis=0), np.divide(counts, total, out=np.zeros_like(counts), where=total > 0)


def _expect(voted: NDArray[np.intp], prior: Floats, confusion: Floats) -> Floats:
    """Probabilities of the labels given class prior and confusion, equation 2.5."""
    # A class with a zero somewhere is impossible for the row; some class is always possible, as
    # every row had its share in the confusion.
    with np.errstate(divide="ignore"):
        log_prior, log_confusion = np.log(prior), np.log(confusion)
    given = sum(rates[:, vote] for rates, vote in zip(log_confusion, voted, strict=True))
    return np.asarray(softmax(log_prior + np.transpose(given), axis=1))


# The priors of the authors' program have these standard deviations: of a mean over groups and of a
# group around it, added in squares as there is one group.
_SD_SLOPE = float(np.hypot(0.4, 0.15))
_SD_SHIFT = float(np.hypot(2.0, 0.75))
_CHAINS = 4
CUT = 1e-4


class Calibrated(NamedTuple):
    """Posterior of the metrics under beta calibration.

    Parameters
    ----------
    draws : Metrics
        Arrays (draw, classifier): metrics under labels drawn from a posterior draw's probabilities.
    point : Metrics
        Arrays of shape (classifier,): means over draws.
    """

    draws: Metrics
    point: Metrics


def bayesian_calibration(
    scores: Scores,
    *,
    cut: float = CUT,
    n_draws: int = 500,
    seed: int = 0,
    compiled: CompiledModel | None = None,
) -> Calibrated:
    """Measure under labels drawn from the posterior of a calibration map of each classifier.

    Parameters
    ----------
    scores : Scores
        Scores of one or several classifiers of a binary task; one labelled row or more.
    cut : float, in (0, 0.5), default 1e-4
        Scores are kept this far from 0 and 1, whose logarithms do not exist.
    n_draws : int, default 500
        Posterior draws, rounded up to a multiple of 4, the number of chains.
    seed : int, default 0
        Same seed, same draws.
    compiled : CompiledModel, optional
        ``compile_model(build_model(scores))`` of scores of the same shape, to compile once only.

    Returns
    -------
    Calibrated
        Draws and point of every metric.

    Raises
    ------
    InputError
        If the task has more than two classes, no row is labelled, `cut` or `n_draws` lies outside
        its range, or `compiled` has other shapes.

    Notes
    -----
    ``logit P(y = 1 | s) = c + exp(a) log s - exp(b) log(1 - s)`` for scores s cut as said,
    with a, b ~ Normal(0, .43) and c ~ Normal(0, 2.14), each classifier by itself. These are the
    hierarchical priors of the authors' program for a single group: Normal(0, .4) around a mean and
    HalfNormal(.15) around it, here as one Normal of the same variance (c: 2 and .75). The map
    rises, so that a classifier's ranking is believed, right or wrong.

    The cut matters where classifiers are overconfident; the page of the paper compares three. A cut
    at .01 gives smaller errors, and intervals that cover the true value more often.

    References
    ----------
    .. [1] D. Ji et al., NeurIPS 2020, sections 3 and 4. https://arxiv.org/abs/2010.09851
    .. [2] M. Kull, T. M. Silva Filho and P. Flach, "Beta Calibration", AISTATS 2017, section 3.
    """
    matrix = _checked(scores, cut)
    prob = label_probs(scores, cut=cut, n_draws=n_draws, seed=seed, compiled=compiled)
    rng = generator(seed)
    each = [
        metrics(matrix.select(m).probs, draw_events(matrix, prob[:, m], rng))
        for m in range(matrix.n_classifiers)
    ]
    draws = join(each, np.hstack)
    return Calibrated(draws, mean_over_draws(draws))


def label_probs(
    scores: Scores,
    *,
    cut: float = CUT,
    n_draws: int = 500,
    seed: int = 0,
    compiled: CompiledModel | None = None,
) -> Floats:
    """Posterior draws of each classifier's calibrated probability, (draw, classifier, obs)."""
    from bayescal.inference.sampler import CompiledModel, compile_model

    check_whole(n_draws, "n_draws", most=MOST_DRAWN)
    check_seed(seed)
    if compiled is not None:
        check_is(compiled, CompiledModel, "compiled", "Pass compile_model(build_model(scores)).")
    matrix = _checked(scores, cut)
    model = compile_model(build_model(scores, cut=cut)) if compiled is None else compiled
    per_chain = -(-n_draws // _CHAINS)
    sampled = model.sample(_data(matrix, cut), draws=per_chain, chains=_CHAINS, seed=seed)
    # (chain, draw, classifier) to (draw, classifier).
    maps = {name: sampled.posterior[name].reshape(-1, matrix.n_classifiers) for name in "abc"}
    return calibrated(matrix, maps["a"], maps["b"], maps["c"], cut=cut)


def build_model(scores: Scores, *, cut: float = CUT) -> pm.Model:
    """Build the calibration model of all classifiers, unsampled."""
    import pymc as pm

    data = _data(_checked(scores, cut), cut)
    with pm.Model(coords={"classifier": list(scores.classifiers)}) as model:
        log_score, log_rest, event = (pm.Data(name, value) for name, value in data.items())
        a = pm.Normal("a", 0, _SD_SLOPE, dims="classifier")[:, None]
        b = pm.Normal("b", 0, _SD_SLOPE, dims="classifier")[:, None]
        c = pm.Normal("c", 0, _SD_SHIFT, dims="classifier")[:, None]
        logit = c + pm.math.exp(a) * log_score - pm.math.exp(b) * log_rest
        pm.Bernoulli("y", logit_p=logit, observed=event)
    return model


def calibrated(matrix: ScoreMatrix, a: Floats, b: Floats, c: Floats, *, cut: float = CUT) -> Floats:
    """Probability of the positive class under calibration maps, (draw, classifier, obs)."""
    log_score, log_rest = _logs(matrix, cut)
    a, b, c = np.exp(a)[..., np.newaxis], np.exp(b)[..., np.newaxis], c[..., np.newaxis]
    return np.asarray(expit(c + a * log_score - b * log_rest))


def draw_events(matrix: ScoreMatrix, prob: Floats, rng: np.random.Generator) -> Floats:
    """One draw of the labels for each draw of the map, as (draw, obs, class)."""
    event = (rng.random(prob.shape) < prob).astype(np.float64)
    return with_known_labels(matrix, np.stack([1 - event, event], axis=-1))


def _checked(scores: Scores, cut: float) -> ScoreMatrix:
    check_number(cut, "cut", "(0, 0.5)", f"Pass {CUT}.")
    matrix = score_matrix(scores)
    if not matrix.is_binary:
        raise InputError(
            f"Bayesian-Calibration needs two classes; got {matrix.n_classes}. "
            "Take one class against the rest with scores.one_vs_rest(class)."
        )
    check_labels(matrix, "Bayesian-Calibration")
    return matrix


def _logs(matrix: ScoreMatrix, cut: float) -> tuple[Floats, Floats]:
    """Logarithms of the cut scores and of their rest."""
    score = np.clip(matrix.probs[..., 1], cut, 1 - cut)
    return np.log(score), np.log1p(-score)


def _data(matrix: ScoreMatrix, cut: float) -> dict[str, Floats | NDArray[np.int32]]:
    """What the model sees: the labelled rows of every classifier."""
    known = matrix.take(np.flatnonzero(matrix.labeled))
    log_score, log_rest = _logs(known, cut)
    event = np.broadcast_to(known.y, log_score.shape)
    return {"log_score": log_score, "log_rest": log_rest, "event": np.ascontiguousarray(event)}


READINGS = ("hard", "soft", "drawn")


def imputed_metrics(
    matrix: ScoreMatrix, prob_label: Floats, reading: str, *, n_draws: int = 500, seed: int = 0
) -> Metrics:
    """Measure every classifier where labels that are not known are replaced by imputed ones."""
    check_choice(reading, READINGS, "reading")
    prob = with_known_labels(matrix, prob_label)
    if reading == "drawn":
        return expected_metrics(matrix, prob, n_draws, generator(seed))
    if reading == "hard":
        prob = np.eye(matrix.n_classes)[prob.argmax(axis=1)]
    return metrics(matrix.probs, prob)


def check_labels(matrix: ScoreMatrix, method: str, *, classes: int = 1) -> None:
    """Check that enough classes have a label for a method to be defined."""
    found = np.unique(matrix.y[matrix.labeled])
    if len(found) < classes:
        what = "a labelled row" if classes == 1 else f"labelled rows of {classes} classes or more"
        got = (
            f"{matrix.classes[found[0]]!r} is the only label, of {counted(matrix.n_labeled, 'row')}"
            if len(found)
            else f"none of {matrix.n_obs} rows is labelled"
        )
        raise InputError(
            f"{method} needs {what}; {got}. Label more rows, or use a method that works without."
        )
