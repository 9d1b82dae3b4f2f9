"""Classifiers against each other, on the same rows."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import combinations, product

from markupsafe import Markup

from bayescal.plots import plot_differences
from bayescal.report.figures import Image, image
from bayescal.report.numbers import decimals, fixed, probability
from bayescal.report.render import render
from bayescal.report.section import Section, for_each
from bayescal.report.view import View
from bayescal.results import schema
from bayescal.results.difference import Difference, difference
from bayescal.results.summary import averaged_mean

MOST_ROWS = 66
"""All pairs of twelve classifiers."""


@dataclass(frozen=True, slots=True)
class Row:
    """One pair, within one class and group where there are several."""

    where: str
    pair: Difference
    digits: int

    @property
    def range_text(self) -> str:
        """The interval of the difference."""
        return f"{fixed(self.pair.lower, self.digits)} to {fixed(self.pair.upper, self.digits)}"

    @property
    def prob_first_smaller(self) -> str:
        """Posterior probability that the first error is the smaller one."""
        return probability(1.0 - self.pair.prob_first_larger - self.pair.prob_equal)

    @property
    def settled(self) -> bool:
        """Whether the interval leaves 0 out."""
        return self.pair.lower > 0.0 or self.pair.upper < 0.0


def differences(view: View) -> Markup | None:
    """Show the difference of the errors of every pair of classifiers."""
    if view.target is None or not view.has(schema.ERROR_CORRELATION, "correlation"):
        return None
    rows = sorted(_rows(view), key=lambda row: (not row.settled, -abs(row.pair.mean)))
    if not rows:
        return None
    return render(
        "sections/differences.html.j2",
        rows=rows[:MOST_ROWS],
        left_out=max(0, len(rows) - MOST_ROWS),
        prob=view.prob,
        where=any(row.where for row in rows),
        images=_images(view),
    )


def _images(view: View) -> list[Image]:
    """Every classifier against the best: worth a picture from three on."""
    if view.dims_of_cases != (schema.CLASSIFIER,) or len(view.cases) < 3:
        return []
    caption = "Right of zero, the classifier is worse calibrated than the one with the least error."
    title = "Difference from the best"
    return [
        image(
            lambda: plot_differences(view.tree, view.target or "tce", view.prob),
            alt=f"{title}. {caption}",
            name=title,
            caption=caption,
        )
    ]


def _rows(view: View) -> Iterator[Row]:
    assert view.target is not None
    dims = view.tree[schema.POSTERIOR].dataset
    values = [
        [str(value) for value in dims[dim].values] if dim in dims.dims else [None]
        for dim in (schema.CLASS, schema.GROUP)
    ]
    means = {
        (case.class_, case.group, case.classifier): averaged_mean(view.tree, view.target, case)
        for case in view.cases
    }
    names = schema.classifier_names(view.tree)
    for class_, group in product(*values):
        best_first = sorted(names, key=lambda name: means[class_, group, name])
        for first, second in combinations(best_first, 2):
            pair = difference(
                view.tree, first, second, view.target, view.prob, class_=class_, group=group
            )
            where = ", ".join(name for name in (class_, group) if name is not None)
            yield Row(where, pair, decimals(pair.lower, pair.upper))


SECTION = Section(
    "differences", "Classifier against classifier", "Differences", for_each(differences)
)
