"""Class probabilities row by row in the report: what is decided, what stays open, and bounds."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
from markupsafe import Markup

from bayescal.core.bin_edges import evenly
from bayescal.core.text import count, counted, ends, fixed, percent, probability, several
from bayescal.report.render import HIDDEN, Answer, Column, View, facts, named, names, plain, table
from bayescal.results import access, schema
from bayescal.results.robustness import UnderPrior
from bayescal.results.rows import (
    RowConclusion,
    Rows,
    RowsUnderPrior,
    open_names,
    read_rows,
    share_of_targets,
)

if TYPE_CHECKING:
    from bayescal.results.access import ResultSlice


BOUNDS_OF = "the Venn-Abers probabilities p0 and p1"
ROWS_WARN = False
LISTED = 12
MOST_LISTED_CLASSES = 4
MOST_NAMED = 6

_TITLES = {
    "n": "Calibration rows",
    "n_target": "Target rows",
    "n_rows": "Rows reported",
    "width": "Mean width of bounds",
    "ivap_width": "Mean p1 − p0",
    "open_share": "Rows open",
    "improper_share": "Rows improper",
}


def answer(view: View) -> Answer:
    """How many rows are decided, for which class, and how many stay open."""
    found = [read_rows(view.tree, case, view.prob) for case in view.cases]
    items = [_decided(view, *both) for both in zip(view.cases, found, strict=True)]
    best, each = "the more probable one", ""
    if _many(view):
        best, each = "the most probable", " Each class is judged by its own score against the rest."
    note = (
        f"A row is decided where only one class can be {best}, given its {percent(view.prob)} "
        f"bounds.{each} Calibration rows and target rows are assumed to be from one population."
    )
    shown = share_of_targets(view.tree, len(found[0].row))
    if len(found[0].row) < int(view.tree.attrs["n_target"]):
        shown += (
            "; all others are in no table or figure here, but in a file of rows (-o rows.csv, or "
            "write_rows)"
        )
    labelled = counted(int(view.tree.attrs["n_labeled"]), "labelled calibration row")
    basis = f"Data: {labelled}, and {shown}."
    if len(items) == 1:
        return Answer([basis, *items], "", [note])
    listed = Markup("").join(Markup("<li>{}</li>\n").format(item) for item in items)
    return Answer([basis], Markup('<ul class="plain">\n{}</ul>').format(listed), [note])


def _many(view: View) -> bool:
    return len(view.names("classes")) > 2


def _decided(view: View, case: ResultSlice, rows: Rows) -> Markup:
    """How many rows are decided for each class, and how many are open."""
    alone = rows.n_open == 1
    by_class = [int((alone & rows.is_open[:, k]).sum()) for k in range(len(rows.classes))]
    most = sorted(range(len(by_class)), key=lambda k: -by_class[k])[:3]
    each = Markup(", ").join(
        Markup("{} for {}").format(count(by_class[k]), named(rows.classes[k]))
        for k in most
        if by_class[k]
    )
    if rest := sum(by_class) - sum(by_class[k] for k in most):
        each += Markup(", {} for others").format(count(rest))
    n_open = int((~alone).sum())
    n_decided = len(alone) - n_open
    which = named(case.label) + "'s" if len(view.cases) > 1 else "these"
    likely = "the most probable" if len(rows.classes) > 2 else "the more probable one"
    unknown = f": the calibration rows do not determine which class is {likely}"
    return Markup(
        "Of {} {}, <b>{} {} decided</b>{}, and <b>{} {} open</b>{}. The {} bounds are {} wide on "
        "average."
    ).format(
        which,
        counted(len(alone), "row"),
        count(n_decided),
        "is" if n_decided == 1 else "are",
        Markup(" ({})").format(each) if each else "",
        count(n_open),
        "is" if n_open == 1 else "are",
        unknown if n_open else "",
        percent(view.prob),
        fixed(float(rows.width.mean()), 3),
    )


def titles(view: View) -> dict[str, str]:
    """Headings of the summary's columns."""
    return _TITLES if _many(view) else _TITLES | {"improper_share": HIDDEN}


def details(view: View) -> Markup:
    """What bounds and decisions mean, and a list of rows."""
    blocks = [_block(view, case) for case in view.cases]
    return facts(_meanings(view), "terms") + Markup("").join(blocks)


def _meanings(view: View) -> dict[str, Markup]:
    many, prob = _many(view), percent(view.prob)
    bounds = Markup(
        "The probability of the class given the score lies between them with a posterior "
        "probability of at least {}, given the priors.{} They hold for each row {} by itself, "
        "not for all at once."
    ).format(prob, _pseudo_observations(view), "and each class" if many else "")
    venn = Markup(
        "<strong>Not an interval for that probability.</strong> They are the values of isotonic "
        "regression with the row added without the label, and with it. The one that belongs to the "
        "true label is calibrated on average over rows; the probability of a single row need not "
        "lie between them, and with many calibration rows it seldom does."
    )
    ruled_out = (
        "A class is ruled out if no class probabilities within the bounds make it the most "
        "probable one. A row with one class left is decided."
        if many
        else "A row is decided if its bounds lie on one side of one half, for the class on that "
        "side."
    )
    open_rows = (
        "An open row is not an error: it needs more calibration rows, or a person to decide."
    )
    decided = Markup("{} {}").format(ruled_out, open_rows)
    found = {"Bounds": bounds, "p0 and p1": venn, "Decided and open": decided}
    if many:
        found["Improper"] = Markup(
            "Each class is judged against the rest separately, so the results need not be "
            "consistent: lower ends may add up to more than 1, or upper ends to less. Such sets "
            "are widened as little as possible (discounted) before a decision."
        )
    return found


def _pseudo_observations(view: View) -> str:
    """How many pseudo-observations the bounds rest on, where the priors say so."""
    try:
        (prior,) = json.loads(view.text("priors"))["label_rate"].values()
        number = float(prior["s"])
    except (KeyError, TypeError, ValueError, AttributeError):
        return ""
    noun = "pseudo-observation" if number == 1 else "pseudo-observations"
    return (
        f" The lower one is with {number:g} {noun} of the same score without the label, the upper "
        "one with the label, so that few rows make wide bounds."
    )


def _block(view: View, case: ResultSlice) -> Markup:
    """The rows of one classifier, in words and in part as a table."""
    rows = read_rows(view.tree, case, view.prob)
    shown = [int(place) for place in evenly(rows.score[:, -1], LISTED)]
    heading = Markup("<h3>{}</h3>\n").format(plain(case.label)) if len(view.cases) > 1 else ""
    left = len(rows.row) - len(shown)
    note = f"Evenly spaced by score; {left} more are in row_table, or -o rows.csv." if left else ""
    said, listed = Markup(" ").join(_sentences(view, case, rows)), _list(view, case, rows, shown)
    block = Markup('{}<p>{}</p>\n{}<p class="note">{}</p>\n')
    return block.format(heading, said, listed, note)


def _sentences(view: View, case: ResultSlice, rows: Rows) -> list[Markup]:
    bounds, pair = float(rows.width.mean()), float((rows.p1 - rows.p0).mean())
    said = [
        Markup(
            "The {} bounds are {} wide on average; the Venn-Abers pairs p0 to p1, which are no "
            "such bounds, are {} wide."
        ).format(percent(view.prob), fixed(bounds, 3), fixed(pair, 3))
    ]
    improper = view.number_of(schema.POINT_ESTIMATE, "improper_share", case)
    if improper:
        said.append(
            Markup(
                "In {} of all target rows the classes' p0 and p1 are improper: no class "
                "probabilities lie between all of them."
            ).format(percent(round(improper, 3)))
        )
    most = int(np.argmax(rows.n_open))
    if rows.n_open[most] > 2:
        still = [one for one, stays in zip(rows.classes, rows.is_open[most], strict=True) if stays]
        kept = [str(plain(name)) for name in still[:MOST_NAMED]]
        said.append(
            Markup("The most open row is row {}: {} classes stay open, {}.").format(
                count(int(rows.row[most])), int(rows.n_open[most]), Markup(several(kept))
            )
        )
    return said


def _list(view: View, case: ResultSlice, rows: Rows, shown: list[int]) -> Markup:
    """Rows with all their curves; of many classes, with that of the class decided on."""
    few = len(rows.curves) <= MOST_LISTED_CLASSES
    decision = rows.decision[shown]
    curves = [np.full(len(shown), k) for k in range(len(rows.curves))] if few else [decision]
    columns = [Column("Row", [count(int(rows.row[place])) for place in shown], words=True)]
    for title, at in zip(rows.curves if few else ("the decision",), curves, strict=True):
        both = list(zip(shown, map(int, at), strict=True))
        of = Markup("{} {}").format("Score of", plain(title)) if len(curves) > 1 else "Score"
        columns += [
            Column(of, [fixed(rows.score[one], 3) for one in both]),
            Column(
                plain(title) + f": {percent(view.prob)} bounds",
                [ends(rows.lower[one], rows.upper[one]) for one in both],
            ),
            Column("p0, p1", [f"{fixed(rows.p0[one])}, {fixed(rows.p1[one])}" for one in both]),
        ]
    chances = rows.p_decision[shown, decision]
    columns += [
        Column("Decision", names([rows.classes[k] for k in decision]), words=True),
        Column("P(decision)", [probability(float(chance)) for chance in chances]),
        Column("Open", names([open_names(rows, place) for place in shown]), words=True),
    ]
    of_case = f" of {case.label}" if len(view.cases) > 1 else ""
    return table(f"Rows{of_case}", columns)


def terms(view: View) -> list[tuple[str, str]]:
    """Credal sets, and the merged point estimate."""
    return [
        (
            "Credal set",
            "All class probabilities between the bounds: what the calibration rows leave possible.",
        ),
        (
            "Venn-Abers, merged",
            "The single probability p1 / (1 − p0 + p1), which minimises the largest regret in log "
            "loss over both labels.",
        ),
    ]


def variable_name(view: View, name: str) -> str:
    """Name of a probability with the place of its row among all target rows, and its class."""
    place, comma, class_ = name.partition("[")[2].removesuffix("]").partition(", ")
    held = (schema.OBS, schema.CONSTANT_DATA, schema.TARGET_ROW)
    row = access.variable_along(view.tree, *held, view.cases[0])
    return f"Probability of row {int(row.sel(obs=int(place)))}{comma}{class_}"


REFITS_NOTE = (
    "Decisions are robust if no row is decided for one class under one prior and for another class "
    "under another. A row that is open under one of them contradicts neither."
)


def priors_of(rows: Sequence[UnderPrior | RowsUnderPrior]) -> Column:
    """Names of the priors of a table of refits."""
    failed = [not row.converged for row in rows]
    return Column("Prior", names([row.prior for row in rows], failed), words=True)


def refit_columns(view: View, one: RowConclusion) -> list[Column]:
    """How far rows and their decisions agree under several priors."""
    rows = one.rows
    return [
        priors_of(rows),
        Column(f"Mean width of {percent(view.prob)} bounds", [fixed(r.width) for r in rows]),
        Column("Rows open", [count(r.n_open) for r in rows]),
        Column("Same classes open as under the first", [count(r.n_alike) for r in rows]),
        Column("Decided differently", [count(r.n_against) for r in rows]),
        Column("Mean move of probabilities", [fixed(r.shift) for r in rows]),
    ]
