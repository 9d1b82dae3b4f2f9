"""What it takes to make the same numbers again."""

from __future__ import annotations

from markupsafe import Markup

from bayescal.report.numbers import count
from bayescal.report.render import render
from bayescal.report.section import Section, for_each
from bayescal.report.view import View


def provenance(view: View) -> Markup | None:
    """Show data, binning, sampler, seed and versions."""
    labeling = view.text("labeling")
    facts = [
        ("Quantity", view.text("quantity")),
        ("Estimand", view.text("estimand")),
        ("Rows", _rows(view)),
        ("Classifiers", ", ".join(view.names("classifiers"))),
        ("Classes", ", ".join(view.names("classes"))),
        ("Multi-class", view.text("multiclass")),
        ("Groups", ", ".join(view.names("groups"))),
        ("Labelled rows", {"random": "at random"}.get(labeling, labeling.replace("-", " "))),
        ("Calibration errors", view.text("ece_convention")),
        ("Binning", _binning(view)),
        ("Sampler", _sampler(view)),
        ("Seed", view.text("seed")),
        ("Data hash", view.text("data_hash")),
        ("Made with", f"bayescal {view.text('bayescal_version')}"),
        ("Created", view.text("created").replace("T", " ").replace("+00:00", " UTC")),
    ]
    return render("sections/provenance.html.j2", facts=[fact for fact in facts if fact[1]])


def _rows(view: View) -> str:
    if "n_unlabeled" in view.tree.attrs:
        positive, unlabeled = (
            count(view.tree.attrs[name]) for name in ("n_positive", "n_unlabeled")
        )
        return f"{positive} positives, {unlabeled} unlabelled"
    if view.is_credal:
        calibration, target, held = (
            count(view.tree.attrs[name]) for name in ("n_labeled", "n_target", "n_held")
        )
        return f"{calibration} to calibrate on, {target} to answer for, of which {held} are told"
    rows, labeled = (view.tree.attrs.get(name) for name in ("n_obs", "n_labeled"))
    if rows is None:
        return ""
    if labeled is None or labeled == rows:
        return f"{count(rows)}, all labelled"
    return f"{count(rows)}, of which {count(labeled)} labelled"


def _binning(view: View) -> str:
    if not view.text("n_bins"):
        return ""
    strategy = {"quantile": "equal-mass", "uniform": "equal-width"}.get(
        view.text("binning_strategy"), "given"
    )
    return f"{view.text('n_bins')} {strategy} bins, {view.text('closed')}-closed"


def _sampler(view: View) -> str:
    name = f"{view.text('sampler')} {view.text('sampler_version')}".strip()
    draws, chains = view.text("draws"), view.text("chains")
    if not draws:
        return name
    return f"{name}, {chains} × {count(float(draws))} draws" if chains else f"{name}, {draws} draws"


SECTION = Section(
    "provenance", "How to make it again", "Provenance", for_each(provenance), grids=True
)
