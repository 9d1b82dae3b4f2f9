"""The papers whose quantities, theorems and models were used."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

from markupsafe import Markup, escape

from bayescal.report.render import render
from bayescal.report.section import Section
from bayescal.report.view import View

_ADDRESS = re.compile(r"https?://[^\s<>\"']+[^\s<>\"'.,;)]")


def references(views: Sequence[View]) -> Markup | None:
    """List the papers of all results, each once, with what was taken from it."""
    papers: dict[str, tuple[Markup, list[str]]] = {}
    for view in views:
        for entry in view.structure("references") or []:
            key, citation, where = _read(entry)
            _, places = papers.setdefault(key, (linked(citation), []))
            if where and where not in places:
                places.append(where)
    if not papers:
        return None
    return render("sections/references.html.j2", papers=list(papers.values()))


def _read(entry: Any) -> tuple[str, str, str]:
    if not isinstance(entry, dict):
        return str(entry), str(entry), ""
    citation = str(entry.get("citation", entry.get("key", "")))
    return str(entry.get("key", citation)), citation, str(entry.get("where", "")).rstrip(".")


def linked(text: str) -> Markup:
    """Escape a citation and make its web addresses into links."""
    parts, end = [], 0
    for match in _ADDRESS.finditer(text):
        parts.append(escape(text[end : match.start()]))
        parts.append(Markup('<a href="{0}">{0}</a>').format(match.group()))
        end = match.end()
    return Markup("").join([*parts, escape(text[end:])])


SECTION = Section("references", "Papers used", "Papers", references, grids=True)
