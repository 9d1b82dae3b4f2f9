"""``bayescal pu-ece``: calibration error from positives and unlabelled rows."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from bayescal.cli.options import PATH, Bins, Fit, bin_options, sampling_options, take

if TYPE_CHECKING:
    from bayescal.quantities.pu_ece.data import PUScores


@click.command("pu-ece")
@click.argument("file", type=PATH, metavar="FILE")
@click.option(
    "--positive-column",
    required=True,
    metavar="COLUMN",
    help="Column that is 1 for a positive and 0 for an unlabelled row.",
)
@click.option(
    "--score",
    "scores",
    multiple=True,
    metavar="COLUMN",
    help="Column of a classifier's scores; repeat it for several. The only other column if left "
    "out.",
)
@click.option(
    "--class-prior",
    required=True,
    metavar="PRIOR",
    help="Share of positives among the unlabelled rows: beta:A,B where it is believed, a number "
    "where it is known, or estimate (by the best bin of the first score).",
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
@click.option("--estimate-only", is_flag=True, help="Point estimates, no posterior; fast.")
@click.option(
    "-o", "--output", type=PATH, help="Write a report (.html), or keep the result (.nc), here."
)
@click.option("--json", "as_json", is_flag=True, help="Print JSON instead of a table.")
def command(
    file: Path,
    positive_column: str,
    scores: tuple[str, ...],
    class_prior: str,
    estimate_only: bool,
    output: Path | None,
    as_json: bool,
    **given: Any,
) -> int:
    """Measure the expected calibration error from positives and unlabelled rows in FILE.

    FILE is CSV or Parquet. The positives must be a random sample of all positives, and the
    unlabelled rows a random sample of the population.
    """
    from bayescal.quantities.pu_ece.tables import read_pu_scores

    bins, how = take(Bins, given), take(Fit, given)
    if estimate_only and (output is not None or how.quick):
        option = "--quick" if how.quick else "--output"
        raise click.UsageError(
            f"--estimate-only computes no posterior, and {option} is about one. Leave one out."
        )
    data = read_pu_scores(file, positive_column=positive_column, score=list(scores) or None)
    head: dict[str, Any] = {
        "quantity": "pu_ece",
        "file": str(file),
        "positive_column": positive_column,
    }
    head |= {"class_prior": class_prior, "n_positive": data.n_positive}
    head |= {"n_unlabeled": data.n_unlabeled}
    if estimate_only:
        return _estimates(data, class_prior, bins, head, as_json)
    return _posterior(data, class_prior, bins, how, output, head, as_json)


def _estimates(
    data: PUScores, class_prior: str, bins: Bins, head: dict[str, Any], as_json: bool
) -> int:
    from bayescal.cli.pu_priors import pu_priors_from_text
    from bayescal.cli.table import print_json
    from bayescal.quantities.pu_ece.estimator import estimate

    pi = pu_priors_from_text(class_prior, "curve", data).class_prior_mean
    rows = []
    for name in data.classifiers:
        found = estimate(
            data.select(name),
            class_prior=pi,
            n_bins=bins.n_bins,
            strategy=bins.strategy,
            closed=bins.closed,
        )
        rows.append({"classifier": name, "ece_point": found.ece, "mce_point": found.mce})
    if as_json:
        print_json(head | {"class_prior_mean": pi}, rows)
    else:
        _print_estimates(rows, pi)
    return 0


def _print_estimates(rows: Sequence[dict[str, Any]], class_prior: float) -> None:
    click.echo(f"At a class prior of {class_prior:.3g}:")
    width = max(len(row["classifier"]) for row in rows)
    for row in rows:
        click.echo(
            f"  {row['classifier']:{width}}  PU-ECE {row['ece_point']:.4f}  "
            f"PU-MCE {row['mce_point']:.4f}"
        )


def _posterior(
    data: PUScores,
    class_prior: str,
    bins: Bins,
    how: Fit,
    output: Path | None,
    head: dict[str, Any],
    as_json: bool,
) -> int:
    import bayescal as bc
    from bayescal.cli.checkpoint import checkpoint
    from bayescal.cli.finish import finish
    from bayescal.cli.fitting import fit
    from bayescal.cli.pu_priors import pu_priors_from_text
    from bayescal.cli.table import posterior_rows, print_json
    from bayescal.cli.writing import check_output, write

    check_output(output)
    priors = pu_priors_from_text(class_prior, how.prior, data)
    with checkpoint(how.checkpoint, output) as directory:
        tree = fit(
            bc.pu_ece,
            data,
            priors,
            how,
            directory,
            n_bins=bins.n_bins,
            strategy=bins.strategy,
            closed=bins.closed,
        )
        write(tree, output, how.prob)
    if as_json:
        head |= {"status": tree.attrs["status"], "converged": tree.attrs["converged"] == "true"}
        head |= {"seed": how.seed, "prob": how.prob, "sampler": tree.attrs["sampler"]}
        print_json(head, posterior_rows(tree, how.prob))
    code = finish(tree, prob=how.prob, output=output, table=not as_json)
    if not as_json:
        click.echo(priors.describe())
        click.echo(
            "All of it hangs on the class prior: compare others with bayescal sensitivity pu-ece."
        )
    return code
