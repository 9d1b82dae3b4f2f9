"""Priors, what it takes to make the same numbers again, the papers used, and the glossary."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from typing import Any

from markupsafe import Markup, escape

from bayescal.report.kind import Section, for_each
from bayescal.report.render import facts, render
from bayescal.report.view import View
from bayescal.results import access, schema
from bayescal.results.kind import kind_of
from bayescal.results.text import count, percent

_ADDRESS = re.compile(r"https?://[^\s<>\"']+[^\s<>\"'.,;)]")
_STRATEGIES = {"quantile": "equal-mass", "uniform": "equal-width"}


def priors(view: View) -> Markup | None:
    """Show the priors, in words and as JSON."""
    words, written = (access.of_prior(view.tree, name) for name in ("prior_text", "priors"))
    shown = Markup("<p>{}</p>\n").format(words) if words else Markup("")
    if written:
        values = json.dumps(json.loads(written), indent=2, ensure_ascii=False)
        shown += Markup('<pre tabindex="0" aria-label="Priors as JSON">{}</pre>').format(values)
    return shown or None


def provenance(view: View) -> Markup | None:
    """Show data, binning, sampler, seed and versions."""
    found = {
        "Quantity": view.text("quantity"),
        "Estimand": view.text("estimand"),
        "Data": kind_of(view.tree).description(view.tree),
        "Classifiers": ", ".join(access.classifier_names(view.tree)),
        "Classes": ", ".join(view.names("classes")),
        "Multi-class": view.text("multiclass"),
        "Groups": ", ".join(access.group_names(view.tree)),
        "Labelled rows": view.text("labeling").replace("-", " "),
        "Calibration errors": view.text("ece_convention"),
        "Binning": _binning(view),
        "Sampler": _sampler(view),
        "Seed": view.text("seed"),
        "Data hash": view.text("data_hash"),
        "Made with": f"bayescal {view.text('bayescal_version')}",
        "Created": view.text("created").replace("T", " ").replace("+00:00", " UTC"),
    }
    bdi = Markup("<bdi>{}</bdi>")
    return facts({name: bdi.format(value) for name, value in found.items() if value})


def _binning(view: View) -> str:
    if not view.text("n_bins"):
        return ""
    strategy = _STRATEGIES.get(view.text("binning_strategy"), "given")
    return f"{view.text('n_bins')} {strategy} bins, {view.text('closed')}-closed"


def _sampler(view: View) -> str:
    name = f"{access.sampler(view.tree)} {view.text('sampler_version')}".strip()
    draws, chains = view.text("draws"), view.text("chains")
    if not draws:
        return name
    return f"{name}, {chains} × {count(float(draws))} draws" if chains else f"{name}, {draws} draws"


def references(views: Sequence[View]) -> Markup | None:
    """List the papers of all results, each once, with what was taken from it."""
    papers: dict[str, tuple[Markup, list[str]]] = {}
    for view in views:
        for entry in view.structure("references") or []:
            key, citation, where = _read(entry)
            _, places = papers.setdefault(key, (linked(citation), []))
            if where and where not in places:
                places.append(where)
    return render("references.html.j2", papers=list(papers.values())) if papers else None


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


def glossary(views: Sequence[View]) -> Markup:
    """Explain the words that the report uses, those of each kind first."""
    terms = dict(term for view in views for term in view.kind.terms(view))
    if any(schema.ERROR_CORRELATION in view.tree.children for view in views):
        terms["Paired difference"] = (
            "Classifiers are compared on the same rows, so the noise that they share cancels in "
            "the difference. Classifiers may differ although their two intervals overlap."
        )
    if not all(view.direct for view in views):
        terms["R-hat, effective draws, divergences"] = (
            "Checks of the sampler, not of the classifier. If they fail, the numbers may be wrong."
        )
    prob = percent(views[0].prob)
    return facts(
        {word.format(prob=prob): text.format(prob=prob) for word, text in terms.items()}, "terms"
    )


PRIORS = Section("priors", "Priors", "Priors", for_each(priors))
SECTIONS = (
    Section("provenance", "Provenance", "Provenance", for_each(provenance), grids=True),
    Section("references", "References", "References", references, grids=True),
    Section("glossary", "Glossary", "Glossary", glossary, grids=True),
)
