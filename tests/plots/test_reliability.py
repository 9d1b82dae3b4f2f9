from __future__ import annotations

import numpy as np
import pytest
from matplotlib.collections import PathCollection, PolyCollection

from bayescal.core.errors import InputError
from bayescal.plots import plot_reliability
from tests.plots.looks import words
from tests.synthetic import make_result


def test_points_are_the_bins_with_rows_and_their_area_is_the_count() -> None:
    tree = make_result(("vit", "gbm"), score="rare", strategy="uniform", n=300)
    top = plot_reliability(tree, "gbm").axes[0]
    (points,) = (item for item in top.collections if isinstance(item, PathCollection))
    estimate = tree["point_estimate"].dataset.sel(classifier="gbm")
    full = estimate["count"].values > 0
    assert 0 < full.sum() < full.size
    expected = np.column_stack([estimate["confidence"], estimate["label_rate"]])[full]
    np.testing.assert_allclose(np.asarray(points.get_offsets()), expected)
    count, area = estimate["count"].values[full], np.asarray(points.get_sizes())
    large = area > 5  # the smallest stay visible
    np.testing.assert_allclose(area[large] / count[large], area.max() / count.max())


def test_the_band_is_the_interval_of_the_curve() -> None:
    tree = make_result(("vit",))
    top = plot_reliability(tree, prob=0.8).axes[0]
    (band,) = (item for item in top.collections if isinstance(item, PolyCollection))
    outline = band.get_paths()[0].vertices
    draws = tree["posterior"]["calibration_curve"].values.reshape(-1, 99)
    at = tree["constant_data"]["curve_score"].values[40]
    ends = sorted(y for x, y in outline if x == at)
    np.testing.assert_allclose(ends, np.quantile(draws[:, 40], [0.1, 0.9]))


def test_bars_are_the_rows_of_each_bin() -> None:
    tree = make_result(("vit",), strategy="uniform")
    bottom = plot_reliability(tree).axes[1]
    heights = [bar.get_height() for bar in bottom.patches]
    np.testing.assert_array_equal(heights, tree["point_estimate"]["count"])


def test_the_answer_is_written_in() -> None:
    tree = make_result(("vit",), p_calibrated=0.25)
    (answer,) = (text for text in words(plot_reliability(tree)) if text.startswith("ECE"))
    mean = float(tree["model_average"]["ece_mean"])
    assert answer.startswith(f"ECE {mean:.3f}, 90% interval 0 to 0.")
    assert f"plug-in {float(tree['point_estimate']['ece']):.3f} (15 equal-mass bins)" in answer
    assert answer.endswith("P(calibrated) = 0.25")


def test_without_model_average_nothing_is_said_of_calibration() -> None:
    tree = make_result(("vit",))
    del tree["model_average"]
    assert not any("P(calibrated)" in text for text in words(plot_reliability(tree)))


@pytest.mark.slow
@pytest.mark.parametrize(
    ("multiclass", "classes", "axis"),
    [
        ("binary", None, "share of positive labels"),
        ("top-label", None, "share of correct predictions"),
        ("class-wise", ("cat", "dog"), "share of rows of class dog"),
    ],
)
def test_the_axes_say_which_event(
    multiclass: str, classes: tuple[str, ...] | None, axis: str
) -> None:
    tree = make_result(("vit",), classes=classes)
    tree.attrs["multiclass"] = multiclass
    figure = plot_reliability(tree, class_=classes and classes[-1])
    assert figure.axes[0].get_ylabel() == axis


def test_a_narrow_range_of_scores_fills_the_picture() -> None:
    figure = plot_reliability(make_result(("vit",), score="constant"))
    low, high = figure.axes[0].get_xlim()
    assert low < 0.3 < high < 0.6
    assert figure.axes[0].get_ylim() == (low, high)


def test_only_the_case_shown_is_warned_of() -> None:
    tree = make_result(("vit", "gbm"), converged=False)
    assert "NOT CONVERGED" in " ".join(words(plot_reliability(tree, "vit")))
    assert "NOT CONVERGED" not in " ".join(words(plot_reliability(tree, "gbm")))


def test_an_unknown_classifier() -> None:
    with pytest.raises(InputError, match="Choose from 'a', 'b'"):
        plot_reliability(make_result(), "c")


def test_a_result_without_a_curve() -> None:
    tree = make_result(("vit",))
    tree["posterior"] = tree["posterior"].to_dataset().drop_vars("calibration_curve")
    with pytest.raises(InputError, match="must hold 'calibration_curve'"):
        plot_reliability(tree)
