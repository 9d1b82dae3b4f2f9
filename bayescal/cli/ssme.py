"""``bayescal ssme``: several classifiers judged from few labels and many rows without."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from bayescal.cli.options import (
    PANEL_PRIOR_HELP,
    PATH,
    Fit,
    Panel,
    nuts_options,
    panel_options,
    take,
)

if TYPE_CHECKING:
    from bayescal.core.scores import Scores


@click.command("ssme")
@panel_options
@click.option(
    "--prior", default="agreement", show_default=True, metavar="PRIOR", help=PANEL_PRIOR_HELP
)
@nuts_options
@click.option("--estimate-only", is_flag=True, help="Point estimates, no posterior; fast.")
@click.option(
    "-o", "--output", type=PATH, help="Write a report (.html), or keep the result (.nc), here."
)
@click.option("--report", "page", type=PATH, help="Write a report (.html) here.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON instead of a table.")
def command(
    estimate_only: bool,
    output: Path | None,
    page: Path | None,
    as_json: bool,
    **given: Any,
) -> int:
    """Compare the classifiers in FILE by accuracy, calibration, AUC and more, from few labels.

    FILE is CSV or Parquet; a row whose label is empty counts as unlabelled. Labelled rows must be
    drawn from the same population as the others. The task has two classes.
    """
    data, how = take(Panel, given), take(Fit, given | {"quick": False})
    if estimate_only and (output is not None or page is not None):
        option = "--output" if page is None else "--report"
        raise click.UsageError(
            f"--estimate-only computes no posterior, and {option} is about one. Leave one out."
        )
    if page is not None and page.suffix.casefold() not in (".html", ".htm"):
        raise click.UsageError(f"--report must end in .html; got {page.name!r}.")
    if estimate_only:
        return _estimates(data, as_json)
    return _posterior(data, how, output, page, as_json)


def _head(data: Panel, scores: Scores) -> dict[str, Any]:
    return {
        "quantity": "ssme",
        "file": str(data.file),
        "label": data.label,
        "labeling": data.labeling,
        "ece_convention": data.ece,
        "n_obs": scores.n_obs,
        "n_labeled": scores.n_labeled,
    }


def _estimates(data: Panel, as_json: bool) -> int:
    from bayescal.cli.data import read_panel
    from bayescal.cli.errors import warn
    from bayescal.cli.metrics_table import print_metric_estimates
    from bayescal.cli.table import print_json
    from bayescal.quantities.ssme.data import Problem, doubts, panel_of
    from bayescal.quantities.ssme.reference_estimates import (
        METHODS,
        point_estimate,
        reference_estimates,
    )

    scores = read_panel(data)
    problem = Problem.of(panel_of(scores), data.labeling)
    beside = reference_estimates(problem, data.ece)
    by_method = {"ssme-kde": point_estimate(problem, data.ece)}
    for place, method in enumerate(METHODS):
        by_method[method] = {name: values[place] for name, values in beside.items()}
    rows = [
        _row(name, group, method, {var: found[var][(k, *g)] for var in beside})
        for k, name in enumerate(scores.classifiers)
        for group, g in _groups(scores)
        for method, found in by_method.items()
    ]
    if as_json:
        print_json(_head(data, scores), rows)
    else:
        print_metric_estimates(rows)
    for sentence in doubts(problem.panel):
        warn(sentence)
    return 0


def _groups(scores: Scores) -> list[tuple[str | None, tuple[int, ...]]]:
    """Groups with their places; one without a name where there are none."""
    if not scores.groups:
        return [(None, ())]
    return [(name, (place,)) for place, name in enumerate(scores.groups)]


def _row(name: str, group: str | None, method: str, found: dict[str, Any]) -> dict[str, Any]:
    named = {"classifier": name} | ({} if group is None else {"group": group})
    values = {var: float(value) for var, value in found.items()}
    return {"case": " / ".join(named.values()), **named, "method": method, **values}


def _posterior(data: Panel, how: Fit, output: Path | None, page: Path | None, as_json: bool) -> int:
    import bayescal as bc
    from bayescal.cli.checkpoint import checkpoint
    from bayescal.cli.data import read_panel
    from bayescal.cli.finish import finish
    from bayescal.cli.fitting import fit
    from bayescal.cli.metrics_table import best_by_metric
    from bayescal.cli.ssme_priors import ssme_priors_from_text
    from bayescal.cli.table import posterior_rows, print_json
    from bayescal.cli.writing import check_output, write

    check_output(output)
    check_output(page)
    priors = ssme_priors_from_text(how.prior)
    scores = read_panel(data)
    with checkpoint(how.checkpoint, output or page) as directory:
        tree = fit(bc.ssme, scores, priors, how, directory, labeling=data.labeling, ece=data.ece)
        write(tree, output, how.prob)
        write(tree, page, how.prob)
    if as_json:
        head = _head(data, scores) | {"prior": how.prior, "seed": how.seed, "prob": how.prob}
        head |= {"status": tree.attrs["status"], "converged": tree.attrs["converged"] == "true"}
        head |= {"sampler": tree.attrs["sampler"], "best": best_by_metric(tree)}
        print_json(head, posterior_rows(tree, how.prob))
    code = finish(tree, prob=how.prob, output=output, table=not as_json)
    if page is not None:
        click.echo(f"Written: {page.resolve()}", err=as_json)
    if not as_json:
        click.echo(priors.describe())
    return code
