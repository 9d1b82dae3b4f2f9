"""Class probabilities of rows: how many are decided, how wide bounds are, and what they mean."""

from __future__ import annotations

import json
from dataclasses import dataclass
from functools import partial

import numpy as np
from markupsafe import Markup

from bayescal.plots import plot_credal_sets, plot_decisions, plot_probability
from bayescal.plots.style import shorten
from bayescal.report.alerts import alerts
from bayescal.report.figures import Image, image
from bayescal.report.names import named, plain
from bayescal.report.numbers import count, fixed, percent, several
from bayescal.report.render import render
from bayescal.report.view import View
from bayescal.results import schema
from bayescal.results.credal_rows import CredalRows, credal_rows
from bayescal.results.row_table import open_names
from bayescal.results.summary import NOT_CONVERGED, OK, summary

MOST_PICTURES = 8
MOST_CURVES = 4
LISTED = 12
MOST_LISTED_CLASSES = 4

_DECIDED = "its decision"

_TITLES = {
    "n": "Calibration rows",
    "n_target": "Target rows",
    "n_rows": "Rows told",
    "width": "Mean width of bounds",
    "ivap_width": "Mean p1 − p0",
    "open_share": "Rows open",
    "improper_share": "Rows improper",
    "status": "Fit",
}
_COUNTS = ("n", "n_target", "n_rows")
_SHARES = ("open_share", "improper_share")


@dataclass(frozen=True, slots=True)
class Line:
    """One row of the list: where it is, its numbers, and what is decided."""

    row: str
    score: str
    bounds: list[str]
    pair: list[str]
    decision: str
    chance: float
    stays: str


@dataclass(frozen=True, slots=True)
class Block:
    """The rows of one classifier, in words and in part as a list."""

    name: str
    sentences: list[Markup]
    lines: list[Line]
    curves: tuple[str, ...]
    left_out: int


def credal_answer(view: View) -> Markup:
    """Say how many rows are decided, for what, and how many stay open."""
    rows = {case: credal_rows(view.tree, case, view.prob) for case in view.cases}
    several_cases = len(rows) > 1
    return render(
        "sections/credal_answer.html.j2",
        alerts=alerts(view),
        converged=view.converged,
        lead=[_basis(view), *(_decided(view, case, one) for case, one in rows.items())]
        if not several_cases
        else [_basis(view)],
        items=[_decided(view, case, one) for case, one in rows.items()] if several_cases else [],
        prob=view.prob,
        many=len(view.names("classes")) > 2,
    )


def _basis(view: View) -> Markup:
    held, target = (int(view.tree.attrs[name]) for name in ("n_held", "n_target"))
    told = (
        f"all {count(target)} rows asked for"
        if held == target
        else f"{count(held)} of the {count(target)} rows asked for, evenly spaced by score"
    )
    calibration = count(int(view.tree.attrs["n_labeled"]))
    return Markup("From {} labelled calibration rows, for {}.").format(calibration, told)


def _decided(view: View, case: schema.Case, rows: CredalRows) -> Markup:
    """How many rows are decided for each class, and how many are open."""
    alone = rows.n_open == 1
    by_class = [int((alone & rows.is_open[:, k]).sum()) for k in range(len(rows.classes))]
    most = sorted(range(len(by_class)), key=lambda k: -by_class[k])[:3]
    named_classes = [
        Markup("{} for {}").format(count(by_class[k]), named(rows.classes[k]))
        for k in most
        if by_class[k]
    ]
    total, n_open = len(alone), int((~alone).sum())
    how = Markup(" ({})").format(Markup(", ").join(named_classes)) if named_classes else Markup("")
    head = Markup("Of {}'s {} rows, ").format(named(case.label), count(total))
    if len(view.cases) == 1:
        head = Markup("Of these {} rows, ").format(count(total))
    return head + Markup(
        "<b>{} {} decided</b>{}, and <b>{} {} open</b>: the calibration rows do not say which "
        "class is {}. The {} bounds are {} wide on average."
    ).format(
        count(total - n_open),
        "is" if total - n_open == 1 else "are",
        how,
        count(n_open),
        "stays" if n_open == 1 else "stay",
        "the most probable" if len(rows.classes) > 2 else "the more probable one",
        percent(view.prob),
        fixed(float(rows.width.mean()), 3),
    )


def credal_table(view: View) -> Markup:
    """Show the summary of every classifier."""
    frame = summary(view.tree, view.prob)
    failed = NOT_CONVERGED in set(frame["status"])
    names = [name for name in _TITLES if name != "status" or failed]
    if view.text("multiclass") == "binary":
        names.remove("improper_share")
    return render(
        "sections/table.html.j2",
        case_word=view.case_word,
        titles=[_TITLES[name] for name in names],
        rows=[
            (label, [_cell(name, row[name]) for name in names])
            for label, row in zip(frame.index, frame.to_dict("records"), strict=True)
        ],
        estimand=view.text("estimand"),
        bad=NOT_CONVERGED,
    )


def _cell(name: str, value: str | float) -> str:
    if isinstance(value, str):
        return "—" if value == OK else value
    if name in _COUNTS:
        return count(value)
    return f"{100 * value:.1f}%" if name in _SHARES else fixed(value, 4)


def credal_plots(view: View) -> Markup:
    """Draw probabilities against scores, decisions, and credal sets of a few rows."""
    per_case = 2 if len(view.names("classes")) == 2 else MOST_CURVES
    shown = view.cases[: max(MOST_PICTURES // per_case, 1)]
    return render(
        "sections/credal_plots.html.j2",
        curves=[picture for case in shown for picture in _curves(view, case)],
        images=[_of_rows(view, case) for case in shown],
        left_out=len(view.cases) - len(shown),
    )


def _curves(view: View, case: schema.Case) -> list[Image]:
    classes = view.names("classes")
    curves = classes[1:] if len(classes) == 2 else classes[: MOST_CURVES - 1]
    return [_curve(view, case, class_, shorten(case.title)) for class_ in curves]


def _of_rows(view: View, case: schema.Case) -> Image:
    draw = _decisions if len(view.names("classes")) == 2 else _sets
    return draw(view, case, shorten(case.title))


def _curve(view: View, case: schema.Case, class_: str, name: str) -> Image:
    caption = (
        "The band holds the probability of the label given the score, score by score, with the "
        "level's posterior probability. The steps are p0 and p1, which are no such band."
    )
    return image(
        partial(plot_probability, view.tree, case.classifier, class_, view.prob),
        alt=f"Probability of {shorten(class_)} against the score of {name}. {caption}",
        name=f"Probability of {shorten(class_)}, {name}",
        caption=caption,
    )


def _decisions(view: View, case: schema.Case, name: str) -> Image:
    caption = "Rows whose bounds hold one half are open: either class may be the more probable one."
    return image(
        partial(plot_decisions, view.tree, case.classifier, None, view.prob),
        alt=f"Bounds of the rows of {name} in the order of their score. {caption}",
        name=f"Decisions, {name}",
        caption=caption,
    )


def _sets(view: View, case: schema.Case, name: str) -> Image:
    caption = "Rows from the surest to the most open one."
    return image(
        partial(plot_credal_sets, view.tree, None, case.classifier, view.prob),
        alt=f"Credal sets of a few rows of {name}. {caption}",
        name=f"Credal sets, {name}",
        caption=caption,
    )


def credal_section(view: View) -> Markup:
    """Explain the intervals, and list rows with what is decided on them."""
    return render(
        "sections/credal.html.j2",
        blocks=[_block(view, case) for case in view.cases],
        several=len(view.cases) > 1,
        prob=view.prob,
        many=len(view.names("classes")) > 2,
        imagined=_imagined(view),
    )


def _imagined(view: View) -> str:
    """How many rows of either label the bounds imagine."""
    try:
        (prior,) = json.loads(view.text("priors"))["label_rate"].values()
        return f"{float(prior['s']):g}"
    except (KeyError, TypeError, ValueError):
        return ""


def _block(view: View, case: schema.Case) -> Block:
    rows = credal_rows(view.tree, case, view.prob)
    order = np.argsort(rows.score[:, -1], kind="stable")
    places = np.linspace(0, len(order) - 1, min(len(order), LISTED)).round().astype(np.intp)
    shown = np.unique(order[places])
    shown = shown[np.argsort(rows.score[shown, -1], kind="stable")]
    few = len(rows.curves) <= MOST_LISTED_CLASSES
    return Block(
        name=case.label,
        sentences=_sentences(view, case, rows),
        lines=[_line(rows, int(place), few=few) for place in shown],
        curves=rows.curves if few else (_DECIDED,),
        left_out=len(rows.row) - len(shown),
    )


def _sentences(view: View, case: schema.Case, rows: CredalRows) -> list[Markup]:
    bounds, pair = float(rows.width.mean()), float((rows.p1 - rows.p0).mean())
    n_open = int((rows.n_open > 1).sum())
    said = [
        Markup("{} of {} rows are decided, {} stay open.").format(
            count(len(rows.row) - n_open), count(len(rows.row)), count(n_open)
        ),
        Markup(
            "The {} bounds are {} wide on average; the Venn-Abers intervals p0 to p1 are {} wide, "
            "but no such bounds."
        ).format(percent(view.prob), fixed(bounds, 3), fixed(pair, 3)),
    ]
    improper = view.number_of(schema.POINT_ESTIMATE, "improper_share", case)
    if improper:
        said.append(
            Markup(
                "In {} of all rows asked for the classes' p0 and p1 are improper: no class "
                "probabilities lie between all of them."
            ).format(percent(round(improper, 3)))
        )
    often = [place for place in np.argsort(-rows.n_open)[:1] if rows.n_open[place] > 2]
    for place in often:
        kept = [str(plain(name)) for name in open_names(rows, int(place)).split(" / ")[:6]]
        said.append(
            Markup("The most open row is row {}: {} classes stay, {}.").format(
                count(int(rows.row[place])), int(rows.n_open[place]), Markup(several(kept))
            )
        )
    return said


def _line(rows: CredalRows, place: int, *, few: bool) -> Line:
    """One row with all its curves; of many, with that of the class decided on."""
    decision = int(rows.decision[place])
    curves = range(len(rows.curves)) if few else [decision]
    return Line(
        row=count(int(rows.row[place])),
        score=", ".join(fixed(rows.score[place, k], 3) for k in curves),
        bounds=[
            f"{fixed(rows.lower[place, k], 3)} to {fixed(rows.upper[place, k], 3)}" for k in curves
        ],
        pair=[f"{fixed(rows.p0[place, k], 3)}, {fixed(rows.p1[place, k], 3)}" for k in curves],
        decision=rows.classes[decision],
        chance=float(rows.p_decision[place, decision]),
        stays=open_names(rows, place),
    )
