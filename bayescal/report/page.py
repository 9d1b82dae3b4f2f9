"""The page: every section that has something to say, in order, inside one template."""

from __future__ import annotations

from collections.abc import Sequence

import xarray as xr
from markupsafe import Markup

from bayescal._version import __version__
from bayescal.core.errors import InputError
from bayescal.report.numbers import count
from bayescal.report.render import render, source
from bayescal.report.section import Section
from bayescal.report.sections import SECTIONS
from bayescal.report.view import View
from bayescal.results import schema


def page(
    results: xr.DataTree | Sequence[xr.DataTree],
    *,
    title: str = "Calibration report",
    prob: float = 0.9,
) -> Markup:
    """Render the report."""
    views = _views(results, prob)
    parts = [
        {"id": section.id, "title": section.title, "short": section.short, "body": body}
        for section in SECTIONS
        if (body := section.render(_read_by(section, views))) is not None
    ]
    return render(
        "report.html.j2",
        title=title,
        style=source("style.css"),
        byline=_byline(views),
        parts=parts,
        version=__version__,
    )


def _views(results: xr.DataTree | Sequence[xr.DataTree], prob: float) -> list[View]:
    if not 0.0 < prob < 1.0:
        raise InputError(f"prob must lie in (0, 1); got {prob}. Pass 0.9 for 90% intervals.")
    trees = [results] if isinstance(results, xr.DataTree) else list(results)
    if not trees:
        raise InputError("a report must have at least one result; got none. Fit first.")
    for tree in trees:
        schema.check_result(tree)
    return [View(tree, prob, number) for number, tree in enumerate(trees, start=1)]


def _read_by(section: Section, views: Sequence[View]) -> list[View]:
    """Results that a section reads: refits under several priors are no answer of their own."""
    return [view for view in views if section.grids or not view.is_grid]


def _byline(views: Sequence[View]) -> list[str]:
    """Say what was judged on how many rows, and when."""
    names = list(dict.fromkeys(name for view in views for name in view.names("classifiers")))
    rows = {_rows(view) for view in views}
    created = max(view.text("created") for view in views)
    facts = [names[0] if len(names) == 1 else f"{len(names)} classifiers" if names else ""]
    facts += rows if len(rows) == 1 else []
    facts.append(created[:10])
    return [fact for fact in facts if fact]


def _rows(view: View) -> str:
    """Say on how many rows of which kind a result rests."""
    attrs = view.tree.attrs
    if "n_unlabeled" in attrs:
        return (
            f"{count(attrs['n_positive'])} positives, {count(attrs['n_unlabeled'])} unlabelled rows"
        )
    if view.is_joint:
        labeled = int(attrs["n_labeled"])
        return f"{count(labeled)} labelled rows, {count(int(attrs['n_obs']) - labeled)} without"
    if view.is_credal:
        return f"{count(attrs['n_labeled'])} calibration rows, {count(attrs['n_target'])} to answer"
    return f"{count(attrs['n_labeled'])} labelled rows" if "n_labeled" in attrs else ""
