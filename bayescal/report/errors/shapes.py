"""What the calibration curve of each case looks like, in words and in a table."""

from __future__ import annotations

from markupsafe import Markup

from bayescal.report.tables import Column, bold, names, table
from bayescal.report.view import View
from bayescal.results.access import ResultSlice
from bayescal.results.curve_shape import (
    CurveShape,
    boundary_scores,
    curve_shape,
    description_weights,
)
from bayescal.results.text import capital, count, probability

MOST_SENTENCES = 4
MOST_ROWS = 66
_UNEVEN = ("rough", "segments")


def shapes(view: View) -> Markup | None:
    """The most probable description of each curve, and the probabilities of all."""
    found = _found(view)
    if not found:
        return None
    shown = found[:MOST_ROWS]
    weights = [description_weights(view.tree, case) for case, _ in shown]
    columns = [
        Column(view.case_word, names([case.label for case, _ in shown]), words=True),
        *(
            Column(capital(name), [_cell(own, name) for own in weights], small="probability")
            for name in weights[0]
        ),
        Column("In words", [f"{shape.words}." for _, shape in shown], words=True),
    ]
    left = len(found) - len(shown)
    note = (
        "Posterior probabilities of the descriptions of the calibration curve; scores of exactly 0 "
        "or 1 stand apart." + (f" {left} further cases are left out." if left else "")
    )
    return Markup('{}<p class="note">{}</p>{}').format(
        table("Descriptions of the calibration curve", columns),
        note,
        _boundary([case for case, _ in shown], view),
    )


def _boundary(cases: list[ResultSlice], view: View) -> Markup:
    """Rows whose score is exactly 0 or 1, and whether such scores are calibrated."""
    rows = [(case, one) for case in cases for one in boundary_scores(view.tree, case)]
    if not rows:
        return Markup()
    return table(
        "Scores of exactly 0 and 1",
        [
            Column(view.case_word, names([case.label for case, _ in rows]), words=True),
            Column("Score", [one.score for _, one in rows]),
            Column("Rows", [count(one.rows) for _, one in rows]),
            Column("Positive", [count(one.positives) for _, one in rows]),
            Column("P(calibrated)", [probability(one.p_calibrated) for _, one in rows]),
        ],
    )


def uneven(view: View) -> list[str]:
    """Sentences on the cases whose curve is most probably rough or made of segments."""
    found = [(case, shape) for case, shape in _found(view) if shape.name in _UNEVEN]
    named = len(view.cases) > 1
    sentences = [
        f"{case.label}: {shape.sentence}" if named else shape.sentence
        for case, shape in found[:MOST_SENTENCES]
    ]
    left = len(found) - len(sentences)
    more = "one more case" if left == 1 else f"{left} more cases"
    return [*sentences, f"The same holds for {more}; see the table."] if left else sentences


def _found(view: View) -> list[tuple[ResultSlice, CurveShape]]:
    """Cases with descriptions."""
    both = ((case, curve_shape(view.tree, case)) for case in view.cases)
    return [(case, shape) for case, shape in both if shape is not None]


def _cell(weights: dict[str, float], name: str) -> str:
    """A probability, the largest in bold."""
    text = probability(weights[name])
    return bold(text) if weights[name] == max(weights.values()) else text
