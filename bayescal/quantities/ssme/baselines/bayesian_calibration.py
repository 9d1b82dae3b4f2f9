"""Bayesian-Calibration: beta calibration of each classifier, with the posterior of its map."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit

from bayescal.core.checks import (
    MOST_DRAWN,
    check_is,
    check_number,
    check_seed,
    check_whole,
    generator,
)
from bayescal.core.errors import InputError
from bayescal.core.quantity import Floats
from bayescal.core.scores import Scores
from bayescal.quantities.ssme.baselines.imputed import check_labels
from bayescal.quantities.ssme.data import Panel, panel_of
from bayescal.quantities.ssme.metrics.label_draws import (
    mean_over_draws,
    with_known_labels,
)
from bayescal.quantities.ssme.metrics.metrics import Metrics, join, metrics

if TYPE_CHECKING:
    import pymc as pm

    from bayescal.inference.sampler import CompiledModel

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
        Arrays of shape (draw, classifier): metrics under labels drawn from the calibrated
        probabilities of one posterior draw.
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
        ``compile_model(build_model(scores))`` of other scores with as many classifiers and labelled
        rows, to compile only once for many fits.

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

    The cut matters where classifiers are overconfident: the program cuts at .01, its comments say
    .001, and the SSME paper nothing. On toxic comments with 20 labels the errors of accuracy are
    3.7, 4.1 and 4.2 points with cuts at .01, .001 and .0001, and 5.3 in the SSME paper, of AUPRC
    11, 16 and 18 against 20: the default is the one that comes nearest. A cut at .01 gives smaller
    errors, and intervals that cover the true value more often.

    References
    ----------
    .. [1] D. Ji, P. Smyth and M. Steyvers, "Can I Trust My Fairness Metric? Assessing Fairness with
       Unlabeled Data and Bayesian Inference", NeurIPS 2020, sections 3 and 4.
       https://arxiv.org/abs/2010.09851
    .. [2] M. Kull, T. M. Silva Filho and P. Flach, "Beta Calibration", AISTATS 2017, section 3.
    """
    panel = _checked(scores, cut)
    prob = label_probs(scores, cut=cut, n_draws=n_draws, seed=seed, compiled=compiled)
    rng = generator(seed)
    each = [
        metrics(panel.select(m).probs, draw_events(panel, prob[:, m], rng))
        for m in range(panel.n_classifiers)
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
    panel = _checked(scores, cut)
    model = compile_model(build_model(scores, cut=cut)) if compiled is None else compiled
    per_chain = -(-n_draws // _CHAINS)
    sampled = model.sample(_data(panel, cut), draws=per_chain, chains=_CHAINS, seed=seed)
    # (chain, draw, classifier) to (draw, classifier).
    maps = {name: sampled.posterior[name].reshape(-1, panel.n_classifiers) for name in "abc"}
    return calibrated(panel, maps["a"], maps["b"], maps["c"], cut=cut)


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


def calibrated(panel: Panel, a: Floats, b: Floats, c: Floats, *, cut: float = CUT) -> Floats:
    """Probability of the positive class under calibration maps, (draw, classifier, obs)."""
    log_score, log_rest = _logs(panel, cut)
    a, b, c = np.exp(a)[..., np.newaxis], np.exp(b)[..., np.newaxis], c[..., np.newaxis]
    return np.asarray(expit(c + a * log_score - b * log_rest))


def draw_events(panel: Panel, prob: Floats, rng: np.random.Generator) -> Floats:
    """One draw of the labels for each draw of the map, as (draw, obs, class)."""
    event = (rng.random(prob.shape) < prob).astype(np.float64)
    return with_known_labels(panel, np.stack([1 - event, event], axis=-1))


def _checked(scores: Scores, cut: float) -> Panel:
    check_number(cut, "cut", "(0, 0.5)", f"Pass {CUT}.")
    panel = panel_of(scores)
    if not panel.is_binary:
        raise InputError(
            f"Bayesian-Calibration needs two classes; got {panel.n_classes}. "
            "Take one class against the rest with scores.one_vs_rest(class)."
        )
    check_labels(panel, "Bayesian-Calibration")
    return panel


def _logs(panel: Panel, cut: float) -> tuple[Floats, Floats]:
    """Logarithms of the cut scores and of their rest."""
    score = np.clip(panel.probs[..., 1], cut, 1 - cut)
    return np.log(score), np.log1p(-score)


def _data(panel: Panel, cut: float) -> dict[str, Floats | NDArray[np.int32]]:
    """What the model sees: the labelled rows of every classifier."""
    known = panel.take(np.flatnonzero(panel.labeled))
    log_score, log_rest = _logs(known, cut)
    event = np.broadcast_to(known.y, log_score.shape)
    return {"log_score": log_score, "log_rest": log_rest, "event": np.ascontiguousarray(event)}
