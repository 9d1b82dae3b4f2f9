"""``bayescal demo``: four classifiers on real data, from training to report."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from bayescal.cli.finish import finish, watched
from bayescal.cli.options import PATH

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
    from bayescal.cli.checkpoint import checkpoint
    from bayescal.cli.progress import progress
    from bayescal.results.io import check_writable

    check_writable(output)
    click.echo("Training four classifiers on half of scikit-learn's handwritten digits ...")
    scores = held_out_scores()
    click.echo(f"Measuring their calibration on the other half, {scores.n_labeled} rows ...")

    import bayescal as bc

    with checkpoint(None, output) as directory, progress("Fitting") as update, watched():
        tree = bc.fit(bc.ece, scores, seed=_SEED, prob=_PROB, progress=update, checkpoint=directory)
    written = bc.report(tree, output, title="Is it five or more? Four classifiers")
    return finish(tree, prob=_PROB, output=written)


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
