"""What the command line reads to evaluate several classifiers from few labels."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

from bayescal.core import command as shared
from bayescal.core.command import Command, Estimates, Given, Option, in_words, prior_by, row_of

if TYPE_CHECKING:
    from bayescal.core.scores import Scores
    from bayescal.quantities.ssme.priors import Priors

_LABELING = Option(
    flags=("--labeling",),
    default="random",
    choices=("random", "one-per-class"),
    help="How rows were chosen to be labelled: at random, or so that each class has a label.",
    phrases={"Use Tilt()": "Use --prior agreement"},
)
_ECE = Option(
    flags=("--ece",),
    choices=tuple(
        name + end
        for end in ("", "-optimal")
        for name in ("equal-mass", "equal-width", "top-label")
    ),
    help="Convention of the calibration errors; by default equal-mass for two classes, top-label "
    "for more. With -optimal the number of bins follows that of the rows.",
)


def priors_from_text(text: str) -> Priors:
    """Read the prior of the labels given several classifiers' scores from a word."""
    from bayescal.quantities.ssme.priors import (
        OPINION_POOLS,
        GaussianMixture,
        Priors,
        StudentTMixture,
        Tilt,
    )

    named = {
        "trusting": Priors.trusting(),
        "gaussian": Priors(GaussianMixture()),
        "student-t": Priors(StudentTMixture()),
    }
    named |= {pool: Priors(Tilt(opinion_pool=pool)) for pool in OPINION_POOLS}

    def powered(priors: Priors, power: str | None = None) -> Priors:
        return priors if power is None else replace(priors, power=float(power), discount=0.0)

    words = {word: partial(powered, priors) for word, priors in named.items()}
    return in_words(
        text, words, "agreement, mean, trusting, gaussian or student-t, each with or without :POWER"
    )


def _estimates(scores: Scores, given: Given) -> Estimates:
    from bayescal.quantities.ssme.data import Problem, data_warnings, weighted_matrix
    from bayescal.quantities.ssme.opinion_pool import pool_warnings
    from bayescal.quantities.ssme.posterior import METHODS, kde_estimate, reference_estimates

    problem = Problem.of(weighted_matrix(scores), given["labeling"])
    others = reference_estimates(problem, given["ece"])
    kde = kde_estimate(problem, given["ece"])
    by_method = {"ssme-kde": kde._asdict()}
    for place, method in enumerate(METHODS):
        by_method[method] = {name: values[place] for name, values in others.items()}
    rows = [
        row_of(
            {"classifier": name, **group},
            method=method,
            **{var: float(found[var][(k, *place)]) for var in others},
        )
        for k, name in enumerate(scores.classifiers)
        for group, place in _groups(scores)
        for method, found in by_method.items()
    ]
    columns = {"case": "", "method": "method", "accuracy": "accuracy"}
    columns |= {"ece": "ECE, plug-in", "auc": "AUC", "auprc": "AUPRC"}
    matrix = problem.matrix
    stopped = f"SSME-KDE stopped after {kde.n_iter} epochs, the paper's most, short of convergence."
    notes = [] if kde.converged else [stopped]
    warnings = [*data_warnings(matrix), *pool_warnings(matrix, problem.labeling)]
    return Estimates(rows, columns, notes, warnings, spare=["AUPRC"])


def _groups(scores: Scores) -> list[tuple[dict[str, str], tuple[int, ...]]]:
    """Coordinates and places of the groups; one without either where there are none."""
    found = [({"group": name}, (place,)) for place, name in enumerate(scores.groups)]
    return [*found] or [({}, ())]


COMMAND = Command(
    help="Compare the classifiers in FILE by accuracy, calibration, AUC and more, from few "
    "labels. FILE is CSV or Parquet; a row whose label is empty counts as unlabelled. Labelled "
    "rows must be drawn from the same population as the others.",
    example="ssme scores.parquet --label y --score 'p_*' -o ssme.html",
    options=(*shared.GROUPED_ROWS, shared.ONE_CLASSIFIER, _LABELING, _ECE),
    prior=prior_by(
        priors_from_text,
        "agreement",
        "agreement (the classifiers combined by agreement), mean (their plain mean), trusting "
        "(they are known to be calibrated), gaussian or student-t (mixtures); with :POWER for a "
        "fixed power of the labels' likelihood, 1 being the plain posterior.",
    ),
    read=shared.read_labeled,
    estimates=_estimates,
    quick=False,
)
