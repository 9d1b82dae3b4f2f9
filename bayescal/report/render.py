"""Templates, into which every value is put escaped, and names, which are cut when endless."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cache
from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

from bayescal._version import __version__
from bayescal.core.text import undirected
from bayescal.plots.style import shorten
from bayescal.results import text as numbers
from bayescal.results.best import MOST_NAMED

LONGEST = 64
"""Characters of a name that the page shows; the whole name is in its tooltip."""


def plain(name: str) -> Markup:
    """Set a name so that its writing direction does not touch the text around it."""
    short = shorten(name, LONGEST)
    if short == name:
        return Markup("<bdi>{}</bdi>").format(name)
    return Markup('<bdi title="{}">{}</bdi>').format(name, short)


def named(name: str) -> Markup:
    """Set a name in bold, for running text."""
    return Markup("<strong>{}</strong>").format(plain(name))


def several_named(names: Sequence[str]) -> Markup:
    """Set names in bold, with commas and "and", or their number where they are many."""
    if len(names) > MOST_NAMED:
        return Markup("{} classifiers").format(len(names))
    return Markup(numbers.several([named(name) for name in names]))


@cache
def environment() -> Environment:
    """Return the environment of the report's templates."""
    env = Environment(
        loader=PackageLoader("bayescal.report"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    env.filters.update(
        count=numbers.count,
        error=numbers.error,
        name=plain,
        percent=numbers.percent,
        probability=numbers.probability,
    )
    return env


def render(template: str, **context: Any) -> Markup:
    """Fill a template."""
    return Markup(environment().get_template(template).render(**context))


def document(title: str, byline: Sequence[str], parts: Sequence[Mapping[str, Any]]) -> str:
    """Fill the whole page, in which no name turns the writing direction of what follows."""
    page = render(
        "report.html.j2",
        title=title,
        style=source("style.css"),
        byline=byline,
        parts=parts,
        version=__version__,
    )
    return undirected(page)


def facts(found: Mapping[str, str], kind: str = "facts") -> Markup:
    """Names and their values, as a list."""
    return render("facts.html.j2", facts=list(found.items()), kind=kind)


def source(template: str) -> Markup:
    """Return the text of one of the project's own files, unfilled and unescaped."""
    env = environment()
    assert env.loader is not None
    return Markup(env.loader.get_source(env, template)[0])
