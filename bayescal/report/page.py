"""The page: every section that has something to say, in order, inside one template."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import xarray as xr

from bayescal.core.checks import check_is, check_number
from bayescal.core.errors import InputError
from bayescal.report.render import document
from bayescal.report.sections import BOUNDS, DIAGNOSTICS, FIRST, LAST, PRIORS
from bayescal.report.sensitivity import SENSITIVITY
from bayescal.report.view import Section, View
from bayescal.results import access, schema
from bayescal.results.kind import kind_of


def page(
    results: xr.DataTree | Sequence[xr.DataTree],
    *,
    title: str = "Calibration report",
    prob: float = 0.9,
) -> str:
    """Render the report."""
    views = _views(results, prob)
    parts = [
        {"id": section.id, "title": section.title, "short": section.short, "body": body}
        for section in sections_of(views)
        if (body := section.render(_read_by(section, views))) is not None
    ]
    return document(title, _byline(views), parts)


def _views(results: xr.DataTree | Sequence[xr.DataTree], prob: float) -> list[View]:
    check_number(prob, "prob", "(0, 1)", "Pass 0.9 for 90% intervals.")
    check_is(results, (xr.DataTree, Sequence), "results", "Pass what bayescal.fit returned.")
    trees = [results] if isinstance(results, xr.DataTree) else list(results)
    if not trees:
        raise InputError("a report must have at least one result; got none. Fit first.")
    for tree in trees:
        schema.check_result(tree)
    return [View(tree, prob, number) for number, tree in enumerate(trees, start=1)]


def _read_by(section: Section, views: Sequence[View]) -> list[View]:
    """Results that a section reads: refits under several priors have no main result."""
    return [
        view
        for view in views
        if (section.grids or not view.is_grid)
        and (section in COMMON or section in view.kind.SECTIONS)
    ]


def _byline(views: Sequence[View]) -> list[str]:
    """Say what was estimated on which data, and when."""
    names = list(
        dict.fromkeys(name for view in views for name in access.classifier_names(view.tree))
    )
    data = {kind_of(view.tree).description(view.tree) for view in views}
    facts = [names[0] if len(names) == 1 else f"{len(names)} classifiers" if names else ""]
    facts += data if len(data) == 1 else []
    facts.append(max(view.text("created") for view in views)[:10])
    return [fact for fact in facts if fact]


_LAST: Final = (DIAGNOSTICS, PRIORS, SENSITIVITY, BOUNDS, *LAST)
COMMON: Final[tuple[Section, ...]] = (*FIRST, *_LAST)


def sections_of(views: Sequence[View]) -> list[Section]:
    """Sections of a report on these results."""
    own = dict.fromkeys(section for view in views for section in view.kind.SECTIONS)
    return [*FIRST, *own, *_LAST]
