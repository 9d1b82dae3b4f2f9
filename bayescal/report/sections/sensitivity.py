"""What hangs on the priors: their weight in this fit, refits under others, the class prior."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

from markupsafe import Markup

from bayescal.plots import plot_sensitivity, plot_sensitivity_curve
from bayescal.report.alerts import alerts
from bayescal.report.figures import Image, image
from bayescal.report.numbers import MISSING, decimals, error, fixed, several
from bayescal.report.render import render
from bayescal.report.section import Section, for_each
from bayescal.report.view import View
from bayescal.results import schema
from bayescal.results.conclusion import Conclusion, conclusions
from bayescal.results.metrics import metric_title
from bayescal.results.power_scaling import (
    ALL,
    BOTH,
    CONSTANT,
    FLAT,
    IMPOSSIBLE,
    NONE,
    PRIOR,
    UNDEFINED,
    power_scale,
    scalable,
)
from bayescal.results.row_conclusion import VAR as ROWS
from bayescal.results.row_conclusion import row_conclusions

if TYPE_CHECKING:
    import pandas as pd

MOST_ROWS = 40
MOST_PANELS = 24
# What the page says itself need not be told in each line.
_WORDS = {FLAT: "flat prior", NONE: "no prior"}
METRICS = ("accuracy", "ece", "auc")
_NAMES = {
    "accuracy": "Accuracy",
    "auc": "AUC",
    "class_prior": "Class prior",
    "ece": "ECE",
    "tce": "Calibration error",
}
_PRIORS = {
    ALL: "all together",
    "coef": "calibration curve",
    "common": "common curve",
    "increment": "steps",
    "intercept": "middle of the curve",
    "rate": "label rates",
    "weight": "weights of the classifiers",
}
_ROW = "prob["
_RISE = "rise of the curve"
_MATTERS = (BOTH, PRIOR)


@dataclass(frozen=True, slots=True)
class Row:
    """One line of the table of power scaling."""

    case: str
    quantity: str
    prior: str
    by_prior: str
    by_data: str
    move: str
    words: str
    matters: bool


@dataclass(frozen=True, slots=True)
class Refit:
    """One line of the table of refits."""

    prior: str
    mean: str
    ends: str
    p_calibrated: float | None
    shift: str
    failed: bool


@dataclass(frozen=True, slots=True)
class Block:
    """The refits of one case."""

    conclusion: Conclusion
    rows: list[Refit]


def sensitivity(view: View) -> Markup | None:
    """Show how much hangs on the priors."""
    return _of_refits(view) if view.is_grid else _of_fit(view)


def _of_fit(view: View) -> Markup | None:
    if view.is_credal:
        return _of_rows(view)
    names = [
        name
        for name in dict.fromkeys(METRICS if view.is_joint else (view.target, "class_prior"))
        if name is not None and view.has(schema.POSTERIOR, name)
    ]
    frame = power_scale(view.tree, names) if names and scalable(view.tree) else None
    curves = [_curve(view)] if view.has(schema.SENSITIVITY, "class_prior") else []
    if frame is None and not curves:
        return None
    told = [] if frame is None else _rows(view, frame)
    return render(
        "sections/sensitivity.html.j2",
        case_word=view.case_word,
        several=len(view.cases) > 1,
        sentence="" if frame is None else _sentence(frame),
        given="" if view.is_joint else " given miscalibration",
        calibrated=not view.is_joint,
        rows=told[:MOST_ROWS],
        left_out=max(len(told) - MOST_ROWS, 0),
        curves=curves,
    )


def _of_rows(view: View) -> Markup | None:
    """The weight of the priors in the probabilities of a few rows."""
    if not scalable(view.tree):
        return None
    frame = power_scale(view.tree)
    frame["quantity"] = [_by_target_row(view, name) for name in frame["quantity"]]
    told = _rows(view, frame)
    return render(
        "sections/sensitivity.html.j2",
        case_word=view.case_word,
        several=len(view.cases) > 1,
        sentence=f"{_sentence(frame)} Of nine rows evenly spaced by score the most sensitive one "
        "is shown.",
        given="",
        calibrated=False,
        rows=told[:MOST_ROWS],
        left_out=max(len(told) - MOST_ROWS, 0),
        curves=[],
    )


def _rows(view: View, frame: pd.DataFrame) -> list[Row]:
    """Lines of the table, those where the prior matters most first if they are many."""
    records: list[tuple[str, dict[str, Any]]] = [
        (str(case), {str(name): value for name, value in record.items()})
        for case, record in zip(frame.index, frame.to_dict("records"), strict=True)
    ]
    if len(view.cases) > 1:
        # Of several priors their sum is enough, where there are many lines already.
        whole = {ALL} if ALL in set(frame["prior"]) else set(frame["prior"])
        records = [(case, record) for case, record in records if record["prior"] in whole]
    if len(records) > MOST_ROWS:
        records.sort(key=lambda found: -_or_zero(found[1]["prior_sensitivity"]))
    return [_row(case, record) for case, record in records]


def _row(case: str, record: dict[str, Any]) -> Row:
    name, prior = str(record["quantity"]), str(record["prior"])
    words = str(record["diagnosis"])
    return Row(
        case=case,
        quantity=_spoken(name),
        prior=_prior(prior, name),
        by_prior=fixed(record["prior_sensitivity"], 2),
        by_data=fixed(record["likelihood_sensitivity"], 2),
        move=_signed(float(record["prior_shift"])),
        words=_WORDS.get(words, words),
        matters=words in _MATTERS,
    )


def _by_target_row(view: View, name: str) -> str:
    """Name of a probability with the place of its row among all rows asked for."""
    place, comma, class_ = name.removeprefix(_ROW).rstrip("]").partition(", ")
    row = schema.variable(view.tree, schema.CONSTANT_DATA, "target_row", view.cases[0])
    return f"{_ROW}{int(row[int(place)])}{comma}{class_}]"


def _prior(prior: str, quantity: str) -> str:
    """What a prior is of; `weight` is of another thing in each quantity."""
    if prior == "weight" and quantity.startswith(_ROW):
        return _RISE
    return _PRIORS.get(prior, prior.replace("_", " "))


def _spoken(name: str) -> str:
    """Name of a quantity; of a probability, with its row and class."""
    if name.startswith(_ROW):
        return f"Probability, row {name.removeprefix(_ROW).rstrip(']')}"
    return _NAMES.get(name, name.replace("_", " "))


def _sentence(frame: pd.DataFrame) -> str:
    """What the table says, in words."""
    words = set(frame["diagnosis"])
    if words <= {FLAT, NONE}:
        return (
            "The prior is flat: raised to any power it stays what it is, so that scaling tells "
            "nothing of it. It is an assumption nevertheless. To see what hangs on it, fit under "
            "other priors with bayescal.prior_sensitivity."
        )
    if words <= {FLAT, NONE, IMPOSSIBLE, CONSTANT, UNDEFINED}:
        return "The weight of the prior cannot be told from these draws."
    matter = frame[frame["diagnosis"].isin(_MATTERS)]
    if matter.empty:
        return "The data decide: a little more or less weight of the prior changes little."
    cases = list(dict.fromkeys(map(str, matter.index)))
    where = "" if frame.index.nunique() == 1 else f" for {_some(cases)}"
    strongest = matter.iloc[int(matter["prior_sensitivity"].argmax())]
    way = "raise" if strongest["prior_shift"] > 0 else "lower"
    spoken = _spoken(strongest["quantity"])
    # The name of a class stays as its user wrote it.
    what = f"{spoken[0].lower()}{spoken[1:]}" if spoken[1:2].islower() else spoken.lower()
    return (
        f"The prior matters{where}. Where it does most, more weight of it would {way} the {what}, "
        f"by {abs(strongest['prior_shift']):.2f} posterior standard deviations for twice the "
        "weight. Fit under other priors with bayescal.prior_sensitivity before relying on it."
    )


def _some(names: list[str]) -> str:
    return several(names) if len(names) <= 4 else f"{len(names)} cases"


def _curve(view: View) -> Image:
    return image(
        partial(plot_sensitivity_curve, view.tree),
        alt="Calibration error against the class prior, with what Theorem 2 allows.",
        name="Calibration error against the class prior",
        caption="Everything hangs on the share of positives among the unlabelled rows. The shaded "
        "wedge is Theorem 2: the plug-in moves by no more than the class prior does. A class prior "
        "declared known and off by a tenth can put the truth outside every interval.",
    )


def _of_refits(view: View) -> Markup:
    if view.is_credal and view.text("conclusion_var") == ROWS:
        return _of_row_refits(view)
    var = view.text("conclusion_var") or None
    threshold = view.tree.attrs.get("threshold")
    at = None if threshold is None else float(threshold)
    told = conclusions(view.tree, var, view.prob, at)
    found = [one for one in told if isinstance(one, Conclusion)]
    texts = view.structure("prior_texts")
    pictures = []
    if len(found) <= MOST_PANELS:
        pictures = [_refits(view, found)]
    return render(
        "sections/refits.html.j2",
        alerts=alerts(view),
        blocks=[_block(one) for one in found],
        several=len(found) > 1,
        names={one.var: _NAMES.get(one.var, metric_title(one.var)) for one in found},
        rule=""
        if view.is_joint and at is None
        else " and all lie on the same side, of perfect calibration or of the threshold asked for",
        calibrated=any(row.p_calibrated is not None for one in found for row in one.rows)
        or not view.is_joint,
        lost=[one.case for one in found if not one.survives],
        number=len(found[0].rows),
        prob=view.prob,
        texts=texts if isinstance(texts, dict) else {},
        pictures=pictures,
    )


def _of_row_refits(view: View) -> Markup:
    found = row_conclusions(view.tree, view.prob)
    texts = view.structure("prior_texts")
    picture = image(
        partial(plot_sensitivity, view.tree, ROWS, view.prob),
        alt="Bounds of rows under each prior. " + " ".join(one.text for one in found[:4]),
        name="Bounds, prior by prior",
        caption="The same rows under each prior, with the same random numbers.",
    )
    return render(
        "sections/row_refits.html.j2",
        alerts=alerts(view),
        found=found,
        prob=view.prob,
        texts=texts if isinstance(texts, dict) else {},
        pictures=[picture],
    )


def _block(one: Conclusion) -> Block:
    digits = max(decimals(row.lower, row.upper) for row in one.rows)
    rows = [
        Refit(
            prior=row.prior,
            mean=error(row.mean, digits),
            ends=f"{error(row.lower, digits)} to {error(row.upper, digits)}",
            p_calibrated=row.p_calibrated,
            shift=_signed(row.shift) if place else MISSING,
            failed=not row.converged,
        )
        for place, row in enumerate(one.rows)
    ]
    return Block(one, rows)


def _refits(view: View, found: list[Conclusion]) -> Image:
    return image(
        partial(plot_sensitivity, view.tree, found[0].var, view.prob, found[0].threshold),
        alt="Posterior under each prior. " + " ".join(one.text for one in found[:4]),
        name="Posterior, prior by prior",
        caption="The same data under each prior, with the same random numbers.",
    )


def _signed(value: float) -> str:
    """Write a shift with its sign."""
    text = fixed(value, 2)
    return f"+{text}" if value > 0 and text not in (MISSING, "0.00") else text


def _or_zero(value: float) -> float:
    return 0.0 if value != value else value


SECTION = Section(
    "sensitivity",
    "What hangs on the priors",
    "Sensitivity",
    for_each(sensitivity),
    grids=True,
)
