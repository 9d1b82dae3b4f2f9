"""``bayescal sensitivity``: the same data under several priors."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from bayescal.cli.options import (
    PANEL_PRIOR_HELP,
    PATH,
    PRIOR_HELP,
    ROW_PRIOR_HELP,
    Bins,
    Data,
    Fit,
    Panel,
    Split,
    bin_options,
    data_options,
    nuts_options,
    panel_options,
    sampling_options,
    split_options,
    take,
)

if TYPE_CHECKING:
    from bayescal.core.quantity import Quantity

_THRESHOLD = click.option(
    "--threshold",
    type=float,
    help="Error that is still tolerable: do all priors agree on which side of it the answer lies? "
    "Perfect calibration if left out.",
)
_OUTPUT = click.option(
    "-o", "--output", type=PATH, help="Write a report (.html), or keep the result (.nc), here."
)


@click.group("sensitivity")
def command() -> None:
    """Fit the same data under several priors, and tell whether the conclusion survives.

    Bins are chosen and draws are made alike under every prior. The first prior given is what the
    others are compared with.
    """


@command.command("ece")
@data_options
@click.option(
    "--prior",
    "priors",
    required=True,
    multiple=True,
    metavar="PRIOR",
    help=f"Twice or more: {PRIOR_HELP}",
)
@bin_options
@sampling_options
@_THRESHOLD
@_OUTPUT
def ece(priors: tuple[str, ...], threshold: float | None, output: Path | None, **given: Any) -> int:
    """Expected calibration error of the scores in FILE, prior by prior."""
    from bayescal.cli.fitting import scores_of
    from bayescal.cli.priors import priors_from_text
    from bayescal.quantities import ece as quantity

    data, bins, how = take(Data, given), take(Bins, given), take(Fit, given | {"prior": priors[0]})
    named = _named(priors, "--prior", priors_from_text)
    options = _binned(bins) | {"multiclass": data.multiclass or "top-label"}
    options["quick"] = how.quick
    return _compare(
        quantity, lambda: scores_of(data, bins), lambda _: named, how, threshold, output, options
    )


@command.command("pu-ece")
@click.argument("file", type=PATH, metavar="FILE")
@click.option(
    "--positive-column",
    required=True,
    metavar="COLUMN",
    help="Column that is 1 for a positive and 0 for an unlabelled row.",
)
@click.option("--score", "scores", multiple=True, metavar="COLUMN", help="As in bayescal pu-ece.")
@click.option(
    "--class-prior",
    "priors",
    required=True,
    multiple=True,
    metavar="PRIOR",
    help="Twice or more: beta:A,B, a number in (0, 1), or estimate.",
)
@click.option(
    "--label-rate",
    "prior",
    type=click.Choice(["curve", "mixture", "independent"]),
    default="curve",
    show_default=True,
    help="A smooth calibration curve, or the paper's bins as a model.",
)
@bin_options
@sampling_options
@_THRESHOLD
@_OUTPUT
def pu_ece(
    file: Path,
    positive_column: str,
    scores: tuple[str, ...],
    priors: tuple[str, ...],
    threshold: float | None,
    output: Path | None,
    **given: Any,
) -> int:
    """Expected calibration error from positives and unlabelled rows, class prior by class prior."""
    from bayescal.cli.pu_priors import pu_priors_from_text
    from bayescal.quantities import pu_ece as quantity
    from bayescal.quantities.pu_ece.tables import read_pu_scores

    bins, how = take(Bins, given), take(Fit, given)

    def read() -> Any:
        return read_pu_scores(file, positive_column=positive_column, score=list(scores) or None)

    def named(data: Any) -> dict[str, Any]:
        return _named(
            priors, "--class-prior", lambda text: pu_priors_from_text(text, how.prior, data)
        )

    options = _binned(bins) | {"quick": how.quick}
    return _compare(quantity, read, named, how, threshold, output, options)


@command.command("ssme")
@panel_options
@click.option(
    "--prior",
    "priors",
    required=True,
    multiple=True,
    metavar="PRIOR",
    help=f"Twice or more: {PANEL_PRIOR_HELP}",
)
@click.option(
    "--metric",
    type=click.Choice(["accuracy", "ece", "auc", "auprc", "mce", "log_loss", "brier"]),
    default="accuracy",
    show_default=True,
    help="What the conclusion is on.",
)
@nuts_options
@click.option(
    "--threshold",
    type=float,
    help="Value of the metric that matters: do all priors agree on which side of it the answer "
    "lies?",
)
@_OUTPUT
def ssme(
    priors: tuple[str, ...],
    metric: str,
    threshold: float | None,
    output: Path | None,
    **given: Any,
) -> int:
    """Metrics of several classifiers from few labels in FILE, prior by prior."""
    from bayescal.cli.data import read_panel
    from bayescal.cli.ssme_priors import ssme_priors_from_text
    from bayescal.quantities import ssme as quantity

    data, how = take(Panel, given), take(Fit, given | {"prior": priors[0], "quick": False})
    named = _named(priors, "--prior", ssme_priors_from_text)
    options = {"labeling": data.labeling, "ece": data.ece, "var": metric}
    return _compare(
        quantity, lambda: read_panel(data), lambda _: named, how, threshold, output, options
    )


@command.command("credal")
@split_options
@click.option(
    "--prior",
    "priors",
    required=True,
    multiple=True,
    metavar="PRIOR",
    help=f"Twice or more: {ROW_PRIOR_HELP}",
)
@sampling_options
@_OUTPUT
def credal(priors: tuple[str, ...], output: Path | None, **given: Any) -> int:
    """Bounds and decisions of the rows in TARGET, calibrated on CALIBRATION, prior by prior."""
    from bayescal.cli.credal_data import read_split
    from bayescal.cli.credal_priors import credal_priors_from_text
    from bayescal.quantities import credal as quantity

    data, how = take(Split, given), take(Fit, given | {"prior": priors[0]})
    named = _named(priors, "--prior", lambda text: credal_priors_from_text(text, data.s))
    options = {"quick": how.quick}
    return _compare(quantity, lambda: read_split(data), lambda _: named, how, None, output, options)


def _binned(bins: Bins) -> dict[str, Any]:
    return {"n_bins": bins.n_bins, "strategy": bins.strategy, "closed": bins.closed}


def _named(texts: Sequence[str], option: str, read: Callable[[str], Any]) -> dict[str, Any]:
    """Priors under the words that they were given in."""
    names = [" ".join(text.split()) for text in texts]
    if len(set(names)) < 2:
        raise click.UsageError(
            f"{option} must be given for two priors or more; got {', '.join(dict.fromkeys(names))}."
        )
    return {name: read(name) for name in dict.fromkeys(names)}


def _compare(
    quantity: Quantity,
    read: Callable[[], Any],
    named: Callable[[Any], Mapping[str, Any]],
    how: Fit,
    threshold: float | None,
    output: Path | None,
    options: Mapping[str, Any],
) -> int:
    """Fit under every prior, write what was asked for, and say whether the conclusion survives."""
    from bayescal.cli.checkpoint import checkpoint
    from bayescal.cli.errors import one_line
    from bayescal.cli.finish import finish, watched
    from bayescal.cli.progress import progress
    from bayescal.cli.writing import check_output, write

    check_output(output)
    data = read()
    priors = named(data)
    from bayescal.results.conclusion import conclusions
    from bayescal.workflow.sensitivity import prior_sensitivity

    with checkpoint(how.checkpoint, output) as directory:
        with progress("Fitting") as update, watched():
            tree = prior_sensitivity(
                quantity,
                data,
                priors,
                draws=how.draws,
                tune=how.tune,
                target_accept=how.target_accept,
                seed=how.seed,
                prob=how.prob,
                threshold=threshold,
                progress=update,
                checkpoint=directory,
                **options,
            )
        write(tree, output, how.prob)
    code = finish(tree, prob=how.prob, output=output)
    for one in conclusions(tree, options.get("var"), how.prob, threshold):
        click.echo(one_line(one.text))
    return code
