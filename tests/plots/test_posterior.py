from __future__ import annotations

import numpy as np
import pytest

from bayescal.core.errors import InputError
from bayescal.plots import plot_posterior
from bayescal.results.intervals import interval
from tests.plots.looks import words
from tests.synthetic import make_result


@pytest.mark.slow
def test_one_panel_a_case_and_no_empty_axes() -> None:
    figure = plot_posterior(make_result([f"m{k}" for k in range(7)]))
    assert [ax.get_title(loc="left") for ax in figure.axes] == [f"m{k}" for k in range(7)]


def test_the_bar_at_0_is_as_high_as_calibration_is_probable() -> None:
    (ax,) = plot_posterior(make_result(("vit",), p_calibrated=0.37)).axes
    bars = [line for line in ax.lines if list(line.get_xdata()) == [0, 0]]
    assert [list(bar.get_ydata()) for bar in bars] == [[0, 0.37]]
    assert "P(0) = 0.37" in [text.get_text() for text in ax.texts]


@pytest.mark.slow
def test_the_interval_and_the_estimate_are_where_the_result_has_them() -> None:
    tree = make_result(("vit",))
    (ax,) = plot_posterior(tree, prob=0.8).axes
    drawn = [tuple(line.get_xdata()) for line in ax.lines]
    assert tuple(interval(tree, "ece", 0.8).values) in drawn
    assert (float(tree["point_estimate"]["ece"]),) * 2 in drawn


def test_draws_that_are_all_the_same_are_a_line() -> None:
    tree = make_result(("vit",))
    tree["posterior"]["ece"][...] = 0.25
    (ax,) = plot_posterior(tree).axes
    assert (0.25, 0.25) in [tuple(line.get_xdata()) for line in ax.lines]


def test_panels_share_their_scale_unless_one_would_be_a_mere_line() -> None:
    tree = make_result(("vit", "gbm"))
    one, other = (ax.get_xlim() for ax in plot_posterior(tree).axes)
    assert one == other
    tree["posterior"]["ece"].loc[{"classifier": "gbm"}] /= 100
    tree["point_estimate"]["ece"].loc[{"classifier": "gbm"}] /= 100
    one, other = (ax.get_xlim() for ax in plot_posterior(tree).axes)
    assert one[1] > 5 * other[1]


def test_an_error_without_an_estimate_has_no_line_for_it() -> None:
    tree = make_result(("vit",))
    with_line = len(plot_posterior(tree, "ece").axes[0].lines)
    assert len(plot_posterior(tree, "tce").axes[0].lines) == with_line - 1


def test_the_failed_case_is_marked_in_its_panel() -> None:
    said = words(plot_posterior(make_result(("vit", "gbm"), converged=False)))
    assert "vit NOT CONVERGED" in said
    assert "gbm" in said


def test_an_unknown_variable() -> None:
    with pytest.raises(InputError, match="must hold 'brier'"):
        plot_posterior(make_result(), "brier")


def test_a_probability_of_calibration_that_is_not_known_is_not_drawn() -> None:
    tree = make_result(("vit",))
    tree["model_average"]["p_calibrated"][...] = np.nan
    assert not plot_posterior(tree).axes[0].texts
