"""Calibration errors in the report: how large, which classifier has the least, group by group."""

from __future__ import annotations

from bayescal.report.alerts import Alert
from bayescal.report.errors.answers import answer, target
from bayescal.report.errors.tables import differences, groups, summary_columns
from bayescal.report.kind import Check, Scaling, Section, for_each
from bayescal.report.refits import refits
from bayescal.report.view import View
from bayescal.results import schema
from bayescal.results.text import count, fixed, several

__all__ = ["answer", "refits", "table"]

SECTIONS = (
    Section("differences", "Differences between classifiers", "Differences", for_each(differences)),
    Section("groups", "Groups", "Groups", for_each(groups)),
)
CHECKS = (
    Check("importance_ess", "Importance sampling", "effective draws", count),
    Check("log_bayes_factor_jump", "Jump", "log Bayes factor", lambda x: fixed(x, 1)),
)
BOUNDS_OF = "the plug-in estimate"
PRIOR_NAMES = {
    "coef": "calibration curve",
    "common": "common curve",
    "intercept": "middle of the curve",
    "rate": "label rates",
}

table = summary_columns
_NAMES = {"class_prior": "Class prior", "ece": "ECE", "tce": "Calibration error"}


def alerts(view: View, status: str) -> list[Alert]:
    """Cases whose calibration curve may jump."""
    jumping = view.cases_where("jump_flag", True)
    if not jumping:
        return []
    text = status or (
        "The data favour a jump that the smooth curve cannot follow. Read the bins rather than the "
        "curve; the interval may be too narrow."
    )
    names = "" if status else several([case.label for case in jumping])
    return [Alert("warn", "The calibration curve may jump", names, text)]


def scaling(view: View) -> Scaling:
    """The main error, and the class prior where it is unknown."""
    wanted = (target(view), "class_prior")
    names = [name for name in wanted if name and view.has(schema.POSTERIOR, name)]
    note = ""
    if view.has(schema.MODEL_AVERAGE, schema.P_CALIBRATED):
        note = (
            " The prior probability of perfect calibration is not scaled: it enters P(calibrated) "
            "alone, as odds."
        )
    return Scaling(names, "posterior given miscalibration" if note else "posterior", note)


def variable_name(view: View, name: str) -> str:
    """Name of an error, or of the class prior."""
    return _NAMES.get(name, name.replace("_", " "))


def terms(view: View) -> list[tuple[str, str]]:
    """What a calibration error is, and what its interval and its probability of 0 mean."""
    held = {str(name) for name in view.tree[schema.POSTERIOR].data_vars}
    found = [
        (
            True,
            "Calibrated",
            "Among the rows with score 0.7, 70% have a positive label, and so for every other "
            "score: the score can be read as a probability.",
        ),
        (
            "tce" in held,
            "Calibration error (TCE)",
            "Mean absolute difference over rows of the score and the probability of a positive "
            "label. 0.03 means that scores are off by three percentage points. It is a "
            "property of the population, so a sample leaves it uncertain.",
        ),
        (
            "ece" in held,
            "ECE",
            "The same mean after rows are put into bins by score. Errors of opposite sign "
            "within a bin cancel, so the ECE is never larger than the calibration error.",
        ),
        ("mce" in held, "MCE", "The largest gap of any bin."),
        (
            view.has(schema.POINT_ESTIMATE, "ece"),
            "Plug-in ECE",
            "The usual estimate: label rates of the sample are taken as if they were known. "
            "Noise counts as error, so it is biased upwards, most with many bins and few rows.",
        ),
        (
            True,
            "{prob} credible interval",
            "Given the data and the priors, the error lies in it with a probability of at least "
            "{prob}. Where perfect calibration is not excluded, the interval starts at 0.",
        ),
        (
            view.has(schema.MODEL_AVERAGE, schema.P_CALIBRATED),
            "P(calibrated)",
            "The posterior probability that the calibration error is exactly 0. Before the "
            "data it is one half, unless the priors say otherwise.",
        ),
    ]
    return [(word, text) for applies, word, text in found if applies]
