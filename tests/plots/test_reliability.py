"""Reliability diagrams of a case and of each predicted class."""

from typing import cast

import numpy as np
import pytest
import xarray as xr
from matplotlib.collections import LineCollection, PathCollection, PolyCollection
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from scipy.stats import beta

import bayescal as bc
from bayescal import plots
from bayescal.core.errors import InputError
from bayescal.plots import plot_reliability
from tests.plots.looks import assert_readable, words
from tests.synthetic import make_result

CELL_GROUPS = ("constant_data", "observed_data")


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


def test_estimates_above_1_lie_at_the_edge_and_not_over_the_title() -> None:
    """Of positive and unlabelled rows they may: pi times the density ratio has no bound."""
    tree = make_result(("a",), draws=20)
    rate = tree["point_estimate"]["label_rate"]
    rate[..., -1] = 1.4
    figure = plot_reliability(tree)
    inside, above = (one for one in figure.axes[0].collections if isinstance(one, PathCollection))
    assert above.get_offsets()[:, 1].tolist() == [1]
    np.testing.assert_allclose(inside.get_offsets()[:, 1], rate.values.ravel()[:-1])
    assert "bins above 1" in words(figure)


def test_the_bands_are_those_of_the_curve_and_of_each_point() -> None:
    tree = make_result(("vit",))
    top = plot_reliability(tree, prob=0.8).axes[0]
    bands = (item for item in top.collections if isinstance(item, PolyCollection))
    at = tree["constant_data"]["curve_score"].values[40]
    for band, simultaneous in zip(bands, (True, False), strict=True):
        ends = sorted(y for x, y in band.get_paths()[0].vertices if x == at)
        expected = bc.calibration_band(tree, 0.8, simultaneous=simultaneous).isel(point=40)
        np.testing.assert_allclose(ends, [expected.lower, expected.upper])


@pytest.mark.parametrize("prob", [2, np.nan, "high"])
def test_what_is_no_probability_is_refused(prob) -> None:
    with pytest.raises(InputError, match=r"prob must be a number in \(0, 1\); got"):
        plot_reliability(make_result(("vit",)), prob=prob)


def test_bars_are_the_histogram_of_the_scores_by_label() -> None:
    rng = np.random.default_rng(4)
    score = rng.beta(0.6, 0.9, 4000)
    label = rng.random(4000) < score
    tree = bc.fit(bc.ece, bc.Scores(label, score), method="direct", seed=1, draws=100)
    figure = plot_reliability(tree)
    heights = np.array([bar.get_height() for bar in figure.axes[1].patches]).reshape(2, -1)
    # A cell may lie across both ends of a bar.
    rows = 2 * tree["constant_data"]["cell_count"].values.max()
    for drawn, known in zip(heights, (score[label], score[~label]), strict=True):
        assert drawn.sum() == pytest.approx(known.size)
        counted, _ = np.histogram(known, heights.shape[1], (0, 1))
        np.testing.assert_allclose(drawn, counted, atol=rows)
    assert {"positive rows", "other rows"} <= set(lines(figure))


def test_without_cells_bars_are_the_bins_spread_over_their_width() -> None:
    tree = make_result(("vit",), strategy="uniform", n_bins=5)
    tree["constant_data"] = tree["constant_data"].to_dataset().drop_vars("cell_count")
    heights = [bar.get_height() for bar in plot_reliability(tree).axes[1].patches]
    rows = np.repeat(tree["point_estimate"]["count"].values / 5, 5)
    np.testing.assert_allclose(np.reshape(heights, (-1, 25)).sum(axis=0), rows)


def test_the_answer_is_written_in() -> None:
    tree = make_result(("vit",), p_calibrated=0.25)
    (answer,) = (text for text in words(plot_reliability(tree)) if text.startswith("TCE"))
    mean = float(tree["posterior"]["tce"].mean())
    assert answer.startswith(f"TCE {mean:.3f}, 90% interval 0 to 0.")
    assert f"plug-in ECE {float(tree['point_estimate']['ece']):.3f} (15 equal-mass bins)" in answer
    assert answer.endswith("P(calibrated) = 0.25")


def test_bins_that_ties_leave_empty_are_told_from_those_with_rows() -> None:
    score = np.repeat([0.1, 0.3, 0.5, 0.7, 0.9], 40)
    data = bc.Scores(y_true=np.arange(200) % 2, y_prob=score)
    tree = bc.fit(bc.ece, data, method="direct", draws=250, seed=20)
    (answer,) = (text for text in words(plot_reliability(tree)) if text.startswith("TCE"))
    assert "(15 equal-mass bins, 5 with rows)" in answer


def test_without_model_average_nothing_is_said_of_calibration() -> None:
    tree = make_result(("vit",))
    del tree["model_average"]
    assert not any("P(calibrated)" in text for text in words(plot_reliability(tree)))


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


def test_dollar_signs_in_the_name_of_a_class_make_no_formula() -> None:
    assert_readable(plot_reliability(make_result(("vit",), ("$\\frac$", "dog"), draws=50)))


def test_a_narrow_range_of_scores_fills_the_picture() -> None:
    figure = plot_reliability(make_result(("vit",), score="constant"))
    low, high = figure.axes[0].get_xlim()
    assert low < 0.3 < high < 0.6
    assert figure.axes[0].get_ylim() == (low, high)


@pytest.mark.parametrize("n_bins", [1, 2])
def test_few_bins_do_not_cut_off_the_rows(n_bins: int) -> None:
    rng = np.random.default_rng(1)
    score = rng.uniform(0.2, 0.95, 200)
    scores = bc.Scores(rng.random(200) < score, score)
    result = bc.fit(bc.ece, scores, n_bins=n_bins, method="direct", seed=1)
    top = plot_reliability(result).axes[0]
    low, high = top.get_xlim()
    # Nine in ten, within a cell of the histogram.
    assert low <= np.quantile(score, 0.06)
    assert high >= np.quantile(score, 0.94)


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


def lines(figure: Figure) -> dict[str, Line2D]:
    """Lines in the legend by their names."""
    (legend,) = figure.legends
    names = [text.get_text() for text in legend.get_texts()]
    # Some are patches; tests ask for lines by name.
    return dict(zip(names, cast("list[Line2D]", legend.legend_handles), strict=True))


def test_descriptions_that_matter_are_drawn_with_their_probabilities() -> None:
    tree = make_result(("vit",), p_calibrated=0.1, shape=(6, 2.9, 0.1))
    figure = plot_reliability(tree)
    named = [name for name in lines(figure) if "P = " in name]
    assert named == [
        "smooth (P = 0.60)",
        "rough (P = 0.29)",
        "perfect calibration\n(P = 0.10)",
    ]
    curves = tree["model_average"]["description_curve"]
    drawn = [line.get_ydata() for line in figure.axes[0].lines]
    for name, seen in (("smooth", True), ("rough", True), ("segments", False)):
        same = [np.array_equal(curves.sel(description=name), data) for data in drawn]
        assert any(same) is seen, name


def test_the_probability_of_the_diagonal_says_that_scores_of_1_stand_apart() -> None:
    """Scores of 1 are all wrong, the others right: the classifier is not calibrated, they are."""
    score = np.repeat([0.2, 0.4, 0.6, 0.8, 1.0], 25)
    label = (np.tile(np.arange(25), 5) < 25 * score - 1e-9) & (score < 1)
    result = bc.fit(bc.ece, bc.Scores(y_true=label, y_prob=score), method="direct", seed=1)
    weight = result["model_average/weight"].sel(description="calibrated").item()
    assert bc.summary(result)["p_calibrated"].item() < 0.01 < 0.2 < weight
    assert_readable(figure := plot_reliability(result))
    assert f"perfect calibration\n(P = {weight:.2f} between 0 and 1)" in lines(figure)


def test_the_only_description_that_matters_is_the_curve_itself() -> None:
    figure = plot_reliability(make_result(("vit",), p_calibrated=0.0, shape=(1, 0, 0)))
    assert not any("probability" in name for name in lines(figure))


def test_few_distinct_scores_are_marked_in_place_of_bins() -> None:
    """Thirty scores in fifteen bins: each has its own label rate."""
    tree = make_result(("vit",))
    cells = {name: tree[name].to_dataset().isel(cell=slice(30)) for name in CELL_GROUPS}
    for name, held in cells.items():
        tree[name] = held
    figure = plot_reliability(tree)
    (points,) = (item for item in figure.axes[0].collections if isinstance(item, PathCollection))
    constant, events = cells["constant_data"], cells["observed_data"]["events"]
    expected = np.column_stack([constant["cell_score"], events / constant["cell_count"]])
    np.testing.assert_allclose(np.asarray(points.get_offsets()), expected)
    assert "scores, area by rows" in lines(figure)
    heights = np.reshape([bar.get_height() for bar in figure.axes[1].patches], (-1, 30))
    np.testing.assert_allclose(heights.sum(axis=0), constant["cell_count"])


@pytest.mark.parametrize("scores", [(0.0, 1.0), (0.4,)])
def test_without_a_curve_rates_have_their_intervals(scores: tuple[float, ...]) -> None:
    tree = make_result(("vit",), shape=(1, 1, 1))
    size = len(scores)
    for name in CELL_GROUPS:
        tree[name] = tree[name].to_dataset().isel(cell=slice(size))
    tree["constant_data"]["cell_score"][:] = np.array(scores)
    count = np.zeros(15)
    count[:size] = 40
    tree["point_estimate"]["count"][:] = count
    tree["point_estimate"]["confidence"][:size] = np.array(scores)
    figure = plot_reliability(tree, prob=0.8)
    (bars,) = (item for item in figure.axes[0].collections if isinstance(item, LineCollection))
    rates = tree["posterior"]["label_rate"].values.reshape(-1, 15)[:, :size]
    for segment, score, low, high in zip(
        bars.get_segments(), scores, *np.quantile(rates, [0.1, 0.9], axis=0), strict=True
    ):
        np.testing.assert_allclose(segment, [[score, low], [score, high]])
    assert "rate of one score, 80% interval" in lines(figure)
    assert not any("curve" in name for name in lines(figure))


@pytest.fixture(scope="module")
def by_class():
    scores = bc.datasets.temperature.truth("heterogeneous").scores(400, seed=1)
    return bc.fit(bc.temperature, scores, method="direct", seed=20, draws=200)


def many_classes():
    rng = np.random.default_rng(0)
    logits = rng.normal(0, 2, (900, 30))
    label = (logits + rng.gumbel(size=logits.shape)).argmax(axis=1)
    names = [f"a class with quite a long name {k}" for k in range(30)]
    data = bc.Scores(
        y_true=[names[k] for k in label], y_prob=logits, from_logits=True, classes=names
    )
    return bc.fit(bc.temperature, data, method="direct", seed=20, draws=100)


def test_it_can_be_read_and_leaves_the_result_alone(by_class):
    before = by_class.copy(deep=True)
    assert_readable(plots.plot_class_reliability(by_class))
    xr.testing.assert_identical(by_class, before)


@pytest.mark.slow
def test_of_many_classes_those_with_most_rows_are_drawn():
    tree = many_classes()
    figure = plots.plot_class_reliability(tree)
    assert_readable(figure)
    assert len(figure.axes) == 20


def test_marks_are_accuracies_of_bins_and_lines_their_intervals(by_class):
    figure = plots.plot_class_reliability(by_class, classes=["3"], prob=0.8)
    assert any(text.startswith("3\nECE") for text in words(figure))
    points = figure.axes[0].collections
    held = by_class["point_estimate"].sel(label_class="3")
    for stage, (lines, marks) in zip(("before", "after"), (points[0:2], points[2:4]), strict=True):
        bins = held.sel(stage=stage)
        full = bins["bin_rows"].values > 0
        expected = np.column_stack([bins[f"bin_{x}"].values for x in ("confidence", "accuracy")])
        np.testing.assert_allclose(np.asarray(marks.get_offsets()), expected[full])
        rows, rate = bins["bin_rows"].values[full], expected[full, 1]
        low = beta(rows * rate + 0.5, rows * (1 - rate) + 0.5).ppf(0.1)
        np.testing.assert_allclose([each[:, 1].min() for each in lines.get_segments()], low)


def test_unknown_classes_and_results_without_classes_are_refused(by_class):
    with pytest.raises(bc.InputError, match="no class 'x'"):
        plots.plot_class_reliability(by_class, classes=["x"])
    with pytest.raises(bc.InputError, match=r"a list of words; got \[\]"):
        plots.plot_class_reliability(by_class, classes=[])
    other = by_class.copy()
    other["point_estimate"] = other["point_estimate"].dataset.drop_vars("bin_accuracy")
    with pytest.raises(bc.InputError, match="needs bins of each class"):
        plots.plot_class_reliability(other)
