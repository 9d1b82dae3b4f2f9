"""What was assumed before the data."""

from __future__ import annotations

import json

from markupsafe import Markup

from bayescal.report.render import render
from bayescal.report.section import Section, for_each
from bayescal.report.view import View


def priors(view: View) -> Markup | None:
    """Show the priors, in words and as JSON."""
    words = view.text("prior_text")
    values = view.structure("priors")
    if not words and values is None:
        return None
    written = "" if values is None else json.dumps(values, indent=2, ensure_ascii=False)
    return render("sections/priors.html.j2", words=words, written=written)


SECTION = Section("priors", "What was assumed", "Priors", for_each(priors))
