"""Forests of errors, metrics and differences, and ranks: what is drawn, in which order."""

import numpy as np
import pytest
from matplotlib.axes import Axes
from matplotlib.collections import PathCollection

import bayescal as bc
from bayescal import plots
from bayescal.core.errors import InputError
from bayescal.core.quantity import to_json
from bayescal.plots import plot_comparison, plot_differences
from bayescal.results import access
from bayescal.results.compare import difference
from bayescal.results.intervals import interval
from tests.plots.looks import assert_readable, words
from tests.plots.test_any_plot import OF_ERRORS, Plot
from tests.several import result_of
from tests.synthetic import make_result
from tests.synthetic_ssme import HIGHER, METRICS, make_panel_result

NAMES = ("vit", "resnet", "gbm", "forest")


def _rows(ax: Axes) -> list[str]:
    return [label.get_text() for label in ax.get_yticklabels()]


def _line(ax: Axes, place: int, width: float) -> list[float]:
    """Ends of the line of that width in a row."""
    line = [item for item in ax.lines if item.get_linewidth() == width][place]
    assert list(line.get_ydata()) == [place, place]
    return list(line.get_xdata())


def _mark(ax: Axes, place: int, number: int) -> float:
    """Where the mark of a row is: 0 for the mean, 1 for the estimate."""
    marks = [item for item in ax.collections if isinstance(item, PathCollection)][number]
    x, y = np.asarray(marks.get_offsets())[place]
    assert y == place
    return float(x)


def test_the_smallest_error_is_at_the_top() -> None:
    tree = make_result(NAMES)
    ax = plot_comparison(tree).axes[0]
    means = tree["posterior"]["tce"].mean(("chain", "draw"))
    assert _rows(ax) == [str(name) for name in means.sortby(means)["classifier"].values]
    assert ax.get_ylim()[0] > ax.get_ylim()[1]


def test_each_row_has_its_intervals_mean_and_estimate() -> None:
    tree = make_result(NAMES)
    ax = plot_comparison(tree, prob=0.8).axes[0]
    place = _rows(ax).index("gbm")
    for prob, width in ((0.8, 1.2), (0.5, 4)):
        bounds = interval(tree, "tce", prob).sel(classifier="gbm")
        np.testing.assert_allclose(_line(ax, place, width), bounds)
    expected = tree.sel(classifier="gbm")
    assert _mark(ax, place, 0) == float(expected["posterior"]["tce"].mean())
    assert _mark(ax, place, 1) == float(expected["point_estimate"]["ece"])


def test_numbers_of_a_failed_fit_are_not_printed() -> None:
    said = words(plot_comparison(make_result(("vit", "gbm"), converged=False)))
    assert "NOT CONVERGED" in said
    assert sum("0.0" in text and "to" in text for text in said) == 1


@pytest.mark.slow
def test_fifty_cases_can_be_read() -> None:
    tree = make_result([f"m{k}" for k in range(5)], classes=[f"c{k}" for k in range(10)], draws=20)
    assert_readable(plot_comparison(tree))


@pytest.mark.slow
def test_differences_are_from_the_best_and_agree_with_difference() -> None:
    tree = make_result(NAMES)
    means = tree["posterior"]["tce"].mean(("chain", "draw"))
    best = str(means["classifier"].values[np.argmin(means.values)])
    figure = plot_differences(tree)
    assert_readable(figure)
    ax = figure.axes[0]
    assert set(_rows(ax)) == set(NAMES) - {best}
    assert ax.get_xlabel() == f"TCE minus that of {best}"
    expected = difference(tree, "vit", best)
    drawn = _line(ax, _rows(ax).index("vit"), 1.2)
    assert drawn == [expected.lower, expected.upper]


def test_the_reference_and_the_class_can_be_chosen() -> None:
    tree = make_result(("vit", "gbm"), classes=("cat", "dog"))
    ax = plot_differences(tree, reference="gbm", class_="dog").axes[0]
    assert _rows(ax) == ["vit"]
    assert ax.get_xlabel() == "TCE minus that of gbm (dog)"


def test_the_label_says_that_metrics_of_curves_are_compared_on_the_labelled_rows() -> None:
    tree = result_of("agnostic")
    ax = plot_differences(tree, "auc", reference="plain").axes[0]
    assert ax.get_xlabel() == "AUC (labelled rows) minus that of plain"
    drawn = np.mean(_line(ax, _rows(ax).index("sharp"), 1.2))
    rows = difference(tree, "sharp", "plain", "auc")
    assert drawn == np.mean([rows.lower, rows.upper])


def test_tick_labels_of_small_differences_do_not_overlap() -> None:
    assert_readable(plot_differences(result_of("agnostic"), "brier", 0.5, reference="plain"))


def test_a_failed_fit_shows_in_the_differences() -> None:
    tree = make_result(("vit", "gbm"), converged=False)
    for reference in ("vit", "gbm"):
        said = words(plot_differences(tree, reference=reference))
        assert "NOT CONVERGED" in said, reference


def test_one_classifier_has_no_difference() -> None:
    with pytest.raises(InputError, match="differences need two classifiers"):
        plot_differences(make_result(("vit",)))


@pytest.mark.slow
@pytest.mark.parametrize("var", METRICS)
def test_the_best_is_at_the_top_of_every_metric(var: str) -> None:
    figure = plots.plot_metrics(make_panel_result(), var)
    labels = [label.get_text() for label in figure.axes[0].get_yticklabels()]
    assert labels == ["a", "b", "c"]
    better = "higher" if var in HIGHER else "lower"
    assert any(f"({better} is better)" in text for text in words(figure))


def test_marks_stand_where_the_result_has_them() -> None:
    tree = make_panel_result()
    figure = plots.plot_metrics(tree, "auc", prob=0.8)
    drawn = {
        round(float(x), 9)
        for points in figure.axes[0].collections
        for x in np.asarray(points.get_offsets())[:, 0]
    }
    for held in (tree["posterior"]["auc"].mean(("chain", "draw")), tree["point_estimate"]["auc"]):
        assert {round(float(x), 9) for x in held.values} <= drawn
    assert {round(float(x), 9) for x in tree["reference_estimates"]["auc"].values.ravel()} <= drawn
    assert "80% interval" in words(figure)


def test_the_point_estimate_is_the_one_that_the_variable_names() -> None:
    tree = make_panel_result(draws=20)
    held = tree["point_estimate"].to_dataset()
    tree["point_estimate"] = held.rename(auc="held_out")
    every = [
        one._replace(point="held_out") if one.name == "auc" else one
        for one in access.variables(tree)
    ]
    tree.attrs["variables"] = to_json(every)
    points = plots.plot_metrics(tree, "auc").axes[0].collections[1].get_offsets()
    assert sorted(np.asarray(points)[:, 0]) == sorted(held["auc"].values)


def test_classes_have_panels_of_their_own() -> None:
    tree = make_result(("vit", "gbm"), ("cat", "dog"), draws=50)
    means = bc.measure(tree, "auc").mean(("chain", "draw"))
    cat, dog = (ax for ax in plots.plot_metrics(tree, "auc").axes if ax.collections)
    for ax, name in ((cat, "cat"), (dog, "dog")):
        assert ax.get_title(loc="left") == name
        drawn = dict(zip(_rows(ax), ax.collections[0].get_offsets()[:, 0], strict=True))
        own = means.sel({"class": name})
        assert drawn == pytest.approx(dict(zip(("vit", "gbm"), own.values, strict=True)))


def test_without_labels_no_mark_stands_for_them() -> None:
    said = words(plots.plot_metrics(make_panel_result(labeled=False)))
    assert "labelled rows alone" not in said
    assert "ensemble, no fit" in said


def test_one_classifier_has_a_forest_but_no_ranks() -> None:
    tree = make_panel_result(("only",))
    assert "only" in words(plots.plot_metrics(tree))
    with pytest.raises(InputError, match="needs two classifiers"):
        plots.plot_ranks(tree)


def test_cells_are_the_probabilities_of_best() -> None:
    tree = make_panel_result()
    figure = plots.plot_ranks(tree, "brier")
    shown = np.asarray(figure.axes[0].images[0].get_array())
    assert shown == pytest.approx(bc.best(tree, "brier").prob_rank.values)


def test_differences_of_a_metric_are_from_the_best() -> None:
    tree = make_panel_result()
    figure = plots.plot_differences(tree, "accuracy")
    said = " ".join(words(figure))
    assert "accuracy minus that of a" in said
    pair = bc.difference(tree, "c", "a", "accuracy")
    assert pair.mean < 0
    assert "P(worse) > 0.9" in said or "P(worse) = 0.9" in said
    assert_readable(figure)


def test_no_difference_is_worse_where_neither_direction_is_better() -> None:
    tree = make_result(("a", "b"), draws=50)
    tree.attrs["variables"] = tree.attrs["variables"].replace('"less"', "null")
    said = " ".join(words(plot_differences(tree, "ece")))
    assert "P(larger)" in said
    assert "P(worse)" not in said


@pytest.mark.parametrize("draw", OF_ERRORS)
def test_plots_of_calibration_fits_say_what_to_use_instead(draw: Plot) -> None:
    with pytest.raises(InputError, match="plot_metrics, plot_ranks"):
        draw(make_panel_result())


def test_what_cannot_be_drawn() -> None:
    for draw in (plots.plot_metrics, plots.plot_ranks):
        with pytest.raises(InputError, match="Choose from accuracy, ece"):
            draw(make_panel_result(), "tce")
    with pytest.raises(InputError, match="needs a result on metrics"):
        plots.plot_metrics(make_result(draws=20))
