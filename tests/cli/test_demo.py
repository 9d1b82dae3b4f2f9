"""``bayescal demo``: four classifiers on real data, from training to report."""

from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner

import bayescal as bc
from bayescal.cli.extras import held_out_scores
from bayescal.cli.main import cli


@pytest.fixture(scope="module")
def scores() -> bc.Scores:
    return held_out_scores()


@pytest.mark.mcmc
def test_four_classifiers_judged_on_rows_they_have_not_seen(scores: bc.Scores) -> None:
    assert scores.n_classifiers == 4
    assert scores.n_labeled == 899
    again = held_out_scores()
    np.testing.assert_array_equal(again.y_prob, scores.y_prob)


@pytest.mark.slow
def test_the_most_accurate_is_not_the_best_calibrated(scores: bc.Scores) -> None:
    wrong = ((scores.y_prob > 0.5) != scores.y_true).mean(axis=1)
    error = bc.ece.estimate(scores).ece
    best, calibrated = scores.classifiers[wrong.argmin()], scores.classifiers[error.argmin()]
    assert best == "random forest"
    assert calibrated == "boosted trees"
    assert error[scores.classifiers.index("random forest")] > 5 * error.min()
    assert error.max() > 0.3


@pytest.mark.mcmc
def test_it_prints_a_table_and_where_the_report_is(tmp_path: Path, scores: bc.Scores) -> None:
    result = CliRunner().invoke(cli, ["demo", "-o", str(tmp_path / "demo.html")])
    assert result.exit_code == 0, result.output
    for name in scores.classifiers:
        assert name in result.stdout
        assert name in (tmp_path / "demo.html").read_text(encoding="utf-8")
    assert f"Written: {tmp_path / 'demo.html'}" in result.stdout
    assert list(tmp_path.iterdir()) == [tmp_path / "demo.html"]


def test_a_place_that_cannot_be_written_is_found_before_training(tmp_path: Path) -> None:
    result = CliRunner().invoke(cli, ["demo", "-o", str(tmp_path / "no" / "demo.html")])
    assert result.exit_code == 1
    assert result.stdout == ""
