"""The methods that `ssme.py` compares, each as a function of one split."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from _ssme_tasks import Task
from numpy.typing import NDArray

import bayescal as bc
from bayescal.inference.sampler import CompiledModel, compile_model
from bayescal.quantities.ssme.baselines import (
    active_testing,
    autoeval,
    labeled,
    labeled_by_group,
    labeled_interval,
)
from bayescal.quantities.ssme.data import ScoreMatrix, score_matrix
from bayescal.quantities.ssme.estimator import (
    KDESettings,
    estimate,
    estimate_by_group,
    estimate_each,
)
from bayescal.quantities.ssme.imputed_labels import (
    READINGS,
    bayesian_calibration,
    build_model,
    dawid_skene,
    ensemble,
    majority_vote,
    mean_score,
    pseudo_labeled,
)
from bayescal.quantities.ssme.metrics import Metrics, measured, subgroup_metrics

type Floats = NDArray[np.float64]
type Values = Mapping[str, Floats]

METRICS = ("accuracy", "ece", "auc", "auprc")
MASS = 0.9


class Split(NamedTuple):
    """One draw of rows: what an evaluator sees, the same with every label, and the truth.

    The truth is that of the rows kept apart: arrays of shape (classifier,), by group (classifier,
    group).
    """

    scores: bc.Scores
    oracle: bc.Scores
    truth: Metrics


class Found(NamedTuple):
    """Estimates by metric, shaped as the truth; ends of 90% intervals, health of NUTS, if any."""

    point: Values
    lower: Values | None = None
    upper: Values | None = None
    health: Mapping[str, float] | None = None


type Method = Callable[[Split, int], Found]


def split_of(task: Task, n_labeled: int, seed: int) -> Split:
    """Draw the rows of one split, not divided into groups."""
    scores, truth = task.split(n_labeled, seed)
    labeled_rows, rest = task.rows(n_labeled, seed)
    oracle = task.scores(np.concatenate([labeled_rows, rest]), rest[:0])
    return Split(scores.without_group(), oracle.without_group(), truth)


def grouped_split_of(task: Task, n_labeled: int, seed: int) -> Split:
    """The same rows with their groups, and the truth of every group."""
    labeled_rows, rest = task.rows(n_labeled, seed)
    seen = np.concatenate([labeled_rows, rest])
    held = np.setdiff1d(np.arange(len(task.labels)), seen)
    names, code = np.unique(task.group, return_inverse=True)
    one_hot = np.eye(task.probs.shape[2])[task.labels[held]]
    truth = subgroup_metrics(task.probs[:, held], one_hot, code[held], len(names))
    return Split(task.scores(labeled_rows, rest), task.scores(seen, rest[:0]), truth)


def values(found: Any) -> Values:
    """The metrics that are compared, of anything that has them."""
    return {name: np.asarray(getattr(found, name)) for name in METRICS}


def of_metrics(estimate: Callable[..., Any]) -> Method:
    """A method of scores and a seed that gives metrics."""
    return lambda split, seed: Found(values(estimate(split.scores, seed=seed)))


def of_draws(draws: Values) -> tuple[Values, Values]:
    """Central 90% interval of draws, (draw, ...); of the draws in which a metric exists."""
    ends = [
        {name: np.nanquantile(value, level, axis=0) for name, value in draws.items()}
        for level in ((1 - MASS) / 2, (1 + MASS) / 2)
    ]
    return ends[0], ends[1]


def by_labels(split: Split, seed: int) -> Found:
    ends = labeled_interval(split.scores, prob=MASS, seed=seed)
    return Found(values(labeled(split.scores)), values(ends.lower), values(ends.upper))


def by_autoeval(guess: str) -> Method:
    def method(split: Split, seed: int) -> Found:
        found = autoeval(split.scores, guess=guess, prob=MASS)
        ends = ({"accuracy": end} for end in (found.lower, found.upper))
        return Found({"accuracy": found.estimate}, *ends)

    return method


def by_active_testing(split: Split, seed: int) -> Found:
    budget = split.scores.n_labeled
    return Found({"accuracy": active_testing(split.oracle, budget=budget, seed=seed).estimate})


_COMPILED: dict[tuple[int, int], CompiledModel] = {}


def by_calibration(cut: float) -> Method:
    def method(split: Split, seed: int) -> Found:
        key = (split.scores.n_classifiers, split.scores.n_labeled)
        if key not in _COMPILED:
            _COMPILED[key] = compile_model(build_model(split.scores))
        found = bayesian_calibration(split.scores, cut=cut, seed=seed, compiled=_COMPILED[key])
        return Found(values(found.point), *of_draws(values(found.draws)))

    return method


def by_posterior(split: Split, seed: int, priors: bc.ssme.Priors | None = None) -> Found:
    # Fewer draws than a fit's default, as 1,500 fits are made: 500 are enough for a 90% interval.
    how = {"labeling": "one-per-class", "seed": seed, "draws": 250, "tune": 300, "chains": 2}
    tree = bc.fit(bc.ssme, split.scores, priors=priors, **how)
    posterior, diagnostics = tree["posterior"], tree["diagnostics"]
    draws = {name: np.concatenate(posterior[name].to_numpy()) for name in METRICS}
    point = {name: np.nanmedian(value, axis=0) for name, value in draws.items()}
    health = {name: diagnostics[name].item() for name in ("rhat_max", "divergences")}
    return Found(point, *of_draws(draws), health)


# By the paper's text and by the published code; then two choices that are neither.
VARIANTS: dict[str, str | KDESettings] = {
    "paper": "paper",
    "release": "release",
    "class bandwidths": KDESettings(sharing="class"),
    "leave-one-out": KDESettings(leave_one_out=True),
}
IMPUTED = {
    "Pseudo-Labeled": pseudo_labeled,
    "Majority-Vote": majority_vote,
    "Dawid-Skene": dawid_skene,
}

METHODS: dict[str, Method] = {
    "Labeled": by_labels,
    **{
        f"{name} ({reading})": of_metrics(partial(method, reading=reading))
        for name, method in IMPUTED.items()
        for reading in READINGS
    },
    "Bayesian-Calibration (cut .01)": by_calibration(0.01),
    "Bayesian-Calibration (cut .001)": by_calibration(0.001),
    "AutoEval": by_autoeval("self"),
    "AutoEval (ensemble)": by_autoeval("ensemble"),
    "Active-Testing": by_active_testing,
    "Ensemble": lambda split, _: Found(values(ensemble(split.scores))),
    **{
        f"SSME-KDE ({name})": of_metrics(partial(estimate, settings=variant))
        for name, variant in VARIANTS.items()
    },
    **{
        f"SSME-KDE-M ({name})": of_metrics(partial(estimate_each, settings=name))
        for name in ("paper", "release")
    },
    "Posterior": by_posterior,
    "Posterior (trusting)": partial(by_posterior, priors=bc.ssme.Priors.trusting()),
    "Posterior (Gaussian mixture)": partial(
        by_posterior, priors=bc.ssme.Priors(bc.ssme.GaussianMixture())
    ),
    "Posterior (Student-t mixture)": partial(
        by_posterior, priors=bc.ssme.Priors(bc.ssme.StudentTMixture())
    ),
}


def ensemble_by_group(matrix: ScoreMatrix) -> Metrics:
    """Take the mean score for the truth in every group."""
    return measured(matrix, mean_score(matrix))


# Of every group: metrics of shape (classifier, group).
GROUPED: dict[str, Method] = {
    "Labeled": lambda split, _: Found(values(labeled_by_group(split.scores))),
    "Ensemble": lambda split, _: Found(values(ensemble_by_group(score_matrix(split.scores)))),
    **{
        f"SSME-KDE ({name})": of_metrics(partial(estimate_by_group, settings=name))
        for name in ("paper", "release")
    },
    "Posterior": by_posterior,
}
