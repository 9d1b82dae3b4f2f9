"""``bayescal demo``: four classifiers on real data, from training to report."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import click

from bayescal.cli.options import PATH
from bayescal.cli.output import check_report
from bayescal.cli.run import carry_out
from bayescal.core.writing import check_writable

if TYPE_CHECKING:
    from bayescal.core.scores import Scores

_SEED = 0
_PROB = 0.9


@click.command()
@click.option(
    "-o",
    "--output",
    type=PATH,
    default="calibration.html",
    show_default=True,
    help="The report.",
)
def command(output: Path) -> int:
    """Train four classifiers on handwritten digits and report how calibrated they are.

    The question is whether a digit is five or more. Half of the 1,797 images train, the other half
    judge. The most accurate classifier is not the best calibrated one.
    """
    from bayescal.quantities import quantities

    check_report(output, "--output")
    check_writable(output)
    click.echo("Training four classifiers on half of scikit-learn's handwritten digits ...")
    scores = held_out_scores()
    click.echo(f"Measuring their calibration on the other half, {scores.n_labeled} rows ...")
    from bayescal.workflow.fit import fit

    quantity = next(found for found in quantities().values() if found.COMMAND.reports)
    compute = partial(fit, quantity, scores, seed=_SEED, prob=_PROB)
    title = "Is it five or more? Four classifiers"
    return carry_out(quantity, compute, [output], {"prob": _PROB}, title)


def held_out_scores() -> Scores:
    """Train the demo's classifiers and score the rows that they have not seen."""
    from sklearn.datasets import load_digits
    from sklearn.ensemble import HistGradientBoostingClassifier, RandomForestClassifier
    from sklearn.linear_model import LogisticRegression
    from sklearn.model_selection import train_test_split
    from sklearn.naive_bayes import GaussianNB
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler

    from bayescal.core.scores import Scores

    images, digit = load_digits(return_X_y=True)
    x_train, x_test, y_train, y_test = train_test_split(
        images, digit >= 5, test_size=0.5, stratify=digit, random_state=_SEED
    )
    classifiers = {
        "logistic regression": make_pipeline(StandardScaler(), LogisticRegression(max_iter=1000)),
        "naive Bayes": GaussianNB(),
        "random forest": RandomForestClassifier(200, random_state=_SEED),
        "boosted trees": HistGradientBoostingClassifier(random_state=_SEED),
    }
    scored = {
        name: classifier.fit(x_train, y_train).predict_proba(x_test)[:, 1]
        for name, classifier in classifiers.items()
    }
    return Scores.stack(scored, y_true=y_test, pos_label=True)
