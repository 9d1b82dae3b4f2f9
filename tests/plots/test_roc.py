"""ROC curves with their bands: what is drawn, and what is refused."""

import numpy as np
import pytest
import xarray as xr

import bayescal as bc
from bayescal import plots
from bayescal.core.errors import InputError
from tests.plots.looks import assert_readable, words
from tests.synthetic_ssme import make_panel_result


@pytest.fixture(scope="module")
def tree():
    made = bc.datasets.agnostic.truth("over").scores(200, seed=20, n_unlabeled=50)
    label = [None if value < 0 else int(value) for value in made.y_true]
    score = made.y_prob[0]
    panel = bc.Scores.stack({"$\\frac{": score, "rounded": score.round(1)}, y_true=label)
    return bc.fit(bc.agnostic, panel, method="direct", draws=200, seed=20)


@pytest.mark.parametrize("unlabeled", [None, True, False])
def test_it_can_be_read(tree, unlabeled):
    figure = plots.plot_roc(tree, unlabeled=unlabeled)
    assert_readable(figure)
    of = "the population" if unlabeled is False else "the unlabelled rows"
    assert f"ROC curve of {of}" in words(figure)


def test_the_lines_are_those_of_the_result(tree):
    ax = plots.plot_roc(tree, 0.8, unlabeled=False).axes[1]
    band = bc.agnostic.roc_band(tree, 0.8, classifier="rounded")
    mean = ax.lines[-1].get_xydata()
    np.testing.assert_allclose(mean, np.column_stack([band.fpr, band["mean"]]))
    heights = ax.collections[0].get_paths()[0].vertices[:, 1]
    assert heights.min() == pytest.approx(float(band.lower.min()))
    assert heights.max() == pytest.approx(float(band.upper.max()))


def test_the_labelled_rows_are_their_empirical_curve(tree):
    ax = plots.plot_roc(tree).axes[1]
    made = bc.datasets.agnostic.truth("over").scores(200, seed=20, n_unlabeled=50)
    labeled = made.y_true >= 0
    expected = bc.agnostic.roc(made.y_prob[0][labeled].round(1), probability=made.y_true[labeled])
    x, y = ax.lines[-2].get_xydata().T
    np.testing.assert_allclose(np.interp(expected.fpr[1:-1], x, y), expected.tpr[1:-1], atol=1e-9)


def test_only_what_draws_all_metrics_is_named_for_a_result_of_metrics():
    with pytest.raises(InputError, match=r"bayescal.plots: plot_metrics, plot_ranks\.$"):
        plots.plot_reliability(make_panel_result(draws=20))


def test_a_result_without_curves_is_refused():
    with pytest.raises(InputError, match="holds no ROC curves"):
        plots.plot_roc(make_panel_result(draws=20))
    alone = bc.Scores(y_true=[0, 1] * 20, y_prob=[0.2, 0.4, 0.6, 0.8] * 10)
    found = bc.fit(bc.agnostic, alone, method="direct", draws=200, seed=1)
    with pytest.raises(InputError, match="no unlabelled rows"):
        plots.plot_roc(found, unlabeled=True)


def test_few_unlabelled_rows_may_be_of_one_label_in_some_draws_or_in_all(tmp_path):
    labeled = bc.Scores(y_true=[0, 1] * 20, y_prob=[0.2, 0.4, 0.6, 0.8] * 10)
    for rows, of in (([0.5], "the population"), ([0.2, 0.5, 0.6], "the unlabelled rows")):
        found = bc.fit(bc.agnostic, labeled, unlabeled=rows, method="direct", draws=200, seed=1)
        draws = found["posterior"].dataset
        rates = draws["unlabeled_fpr"].values + draws["unlabeled_tpr"].values
        # One row has one label; three have both in most draws, not in all.
        assert np.isnan(rates).any()
        assert np.isnan(rates[..., 1]).all() == (len(rows) == 1)
        xr.testing.assert_identical(bc.load(bc.save(found, tmp_path / "found.nc")), found)
        assert f"ROC curve of {of}" in words(plots.plot_roc(found))
    alone = bc.fit(bc.agnostic, labeled, unlabeled=[0.5], method="direct", draws=200, seed=1)
    with pytest.raises(InputError, match="the unlabelled rows are of one in every draw"):
        bc.agnostic.roc_boxes(alone, unlabeled=True)
