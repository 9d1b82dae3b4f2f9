"""Names that users gave: escaped, kept apart from the text around them, cut when endless."""

from __future__ import annotations

from markupsafe import Markup

from bayescal.plots.style import shorten

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
