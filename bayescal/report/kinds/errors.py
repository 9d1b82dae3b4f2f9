"""Calibration errors in the report: how large, which classifier has the least, group by group."""

from __future__ import annotations

from bayescal.report.alerts import Alert
from bayescal.report.errors.answers import answer, target
from bayescal.report.errors.shapes import shapes, uneven
from bayescal.report.errors.tables import differences, groups, summary_columns
from bayescal.report.kind import Check, Scaling, Section, for_each
from bayescal.report.refits import refits
from bayescal.report.view import View
from bayescal.results import schema
from bayescal.results.intervals import HEDGED, interval
from bayescal.results.text import count

__all__ = ["answer", "refits", "table"]

SECTIONS = (
    Section("curve", "What the curve looks like", "Curve", for_each(shapes)),
    Section("differences", "Differences between classifiers", "Differences", for_each(differences)),
    Section("groups", "Groups", "Groups", for_each(groups)),
)
CHECKS = (Check("importance_ess", "Importance sampling", "effective draws", count),)
BOUNDS_OF = "the plug-in estimate"
PRIOR_NAMES = {
    "coef": "calibration curve",
    "common": "common curve",
    "curve": "calibration curve",
    "intercept": "middle of the curve",
    "rate": "label rates",
}

table = summary_columns
_NAMES = {"class_prior": "Class prior", "ece": "ECE", "tce": "Calibration error"}


def alerts(view: View) -> list[Alert]:
    """Cases whose calibration curve is most probably rough, or jumps."""
    sentences = uneven(view)
    if not sentences:
        return []
    text = " ".join([*sentences, "A smooth recalibration would not remove such an error."])
    return [Alert("note", "The calibration curve is not smooth", "", text)]


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
            view.has(schema.MODEL_AVERAGE, "weight"),
            "Description of the curve",
            "The calibration curve may be the diagonal (calibrated), smooth, rough (smooth with "
            "deviations that differ from score to score) or made of segments, some calibrated and "
            "others shifted. The posterior is an average over them, each weighted by its posterior "
            "probability.",
        ),
        (True, "{prob} credible interval", _interval_words(view)),
        (
            view.has(schema.MODEL_AVERAGE, schema.P_CALIBRATED),
            "P(calibrated)",
            "The posterior probability that the calibration error is exactly 0. Before the "
            "data it is one half, unless the priors say otherwise.",
        ),
    ]
    return [(word, text) for applies, word, text in found if applies]


def _interval_words(view: View) -> str:
    """What an interval of the main error means."""
    starts = "Where perfect calibration is not excluded, the interval starts at 0."
    var = target(view)
    if var and interval(view.tree, var, view.prob).attrs["ci_kind"] == HEDGED:
        return (
            "From the lower to the upper quantile of the posterior of the error. In it unlikely "
            "descriptions of the curve count for more than their probability, so that they widen "
            f"the interval. {starts}"
        )
    return (
        "Given the data and the priors, the error lies in it with a probability of at least "
        f"{{prob}}. {starts}"
    )
