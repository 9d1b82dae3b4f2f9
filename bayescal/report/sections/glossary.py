"""How to read the report, for someone who meets these words for the first time."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from markupsafe import Markup

from bayescal.report.render import render
from bayescal.report.section import Section
from bayescal.report.view import View
from bayescal.results import schema
from bayescal.results.text import percent

_TERMS: tuple[tuple[str, str, Callable[[View], bool]], ...] = (
    (
        "Calibrated",
        "Among the rows with score 0.7, seven in ten have a positive label, and so for every "
        "other score: the score can be read as a probability.",
        lambda view: not view.is_credal,
    ),
    (
        "P(class | score)",
        "Among all rows of the population with this score, the share that is of the class.",
        lambda view: view.is_credal,
    ),
    (
        "Credal set",
        "All class probabilities between the bounds: what the calibration rows leave possible.",
        lambda view: view.is_credal,
    ),
    (
        "Venn-Abers, merged",
        "The single probability p1 / (1 − p0 + p1), which loses least in log loss whatever the "
        "label is.",
        lambda view: view.is_credal,
    ),
    (
        "Calibration error (TCE)",
        "How far the score is from the probability of a positive label, on average over rows. "
        "0.03 means that scores are off by three percentage points. It belongs to the population, "
        "not to this sample, so it is known with uncertainty only.",
        lambda view: view.has(schema.POSTERIOR, "tce"),
    ),
    (
        "ECE",
        "The same average after rows are put into bins by score. Errors of opposite sign "
        "within a bin cancel, so the ECE is never larger than the calibration error.",
        lambda view: view.has(schema.POSTERIOR, "ece"),
    ),
    (
        "Accuracy, AUC, AUPRC",
        "Share of rows whose most probable class is the right one; probability that a positive row "
        "scores above a negative one; mean precision over the positives. Higher is better.",
        lambda view: view.is_joint,
    ),
    (
        "Log loss, Brier score",
        "Mean penalty of the scores as probabilities: minus the logarithm of that of the true "
        "label, or its squared error. Lower is better.",
        lambda view: view.is_joint,
    ),
    (
        "SSME-KDE, ensemble, labelled rows",
        "Three other estimates: the paper's, with kernel densities of the scores; the mean score "
        "of all classifiers taken for the truth; and the rows with labels alone.",
        lambda view: view.is_joint,
    ),
    (
        "P(best)",
        "Posterior probability that no other classifier has a better value of the metric, all on "
        "the same rows.",
        lambda view: view.is_joint,
    ),
    (
        "Plug-in ECE",
        "The ECE as papers print it: label rates of the sample taken as if they were exact. Noise "
        "counts as error, so it is too large on average, most of all with many bins and few rows.",
        lambda view: view.has(schema.POINT_ESTIMATE, "ece") and not view.is_joint,
    ),
    (
        "MCE",
        "The largest gap of any bin.",
        lambda view: view.has(schema.POSTERIOR, "mce"),
    ),
    (
        "{prob} credible interval",
        "Given the data and the priors, the value lies in it with a probability of at least "
        "{prob}. Where calibration itself is not ruled out, the interval starts at 0.",
        lambda view: not (view.is_joint or view.is_credal),
    ),
    (
        "{prob} credible interval of a metric",
        "Given the data and the priors, the value lies in it with a probability of {prob}, and on "
        "either side of it with the same.",
        lambda view: view.is_joint,
    ),
    (
        "Probability that it is calibrated",
        "The posterior probability of no calibration error at all. Before the data it is one half, "
        "unless the priors say otherwise.",
        lambda view: view.has(schema.MODEL_AVERAGE, schema.P_CALIBRATED),
    ),
    (
        "Paired difference",
        "Classifiers were judged on the same rows, so part of their noise is shared and cancels in "
        "the difference. Two intervals that overlap may still belong to classifiers that differ.",
        lambda view: schema.ERROR_CORRELATION in view.tree.children,
    ),
    (
        "R-hat, effective draws, divergences",
        "Checks of the sampler, not of the classifier. If they fail, the numbers may be wrong.",
        lambda view: not view.quick,
    ),
)


def glossary(views: Sequence[View]) -> Markup | None:
    """Explain the words that the report uses."""
    prob = percent(views[0].prob)
    terms = [
        (word.format(prob=prob), text.format(prob=prob))
        for word, text, used in _TERMS
        if any(used(view) for view in views)
    ]
    return render("sections/glossary.html.j2", terms=terms)


SECTION = Section("glossary", "How to read this", "How to read this", glossary, grids=True)
