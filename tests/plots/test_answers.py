"""Calibration over time and decision curves: what is drawn is what the tables say."""

from typing import Any

import numpy as np
import pytest
import xarray as xr
from matplotlib.collections import PolyCollection
from matplotlib.text import Text

import bayescal as bc
from bayescal.plots import plot_change, plot_decision_curve
from bayescal.plots.answers import MOST_PANELS, draw_windows
from bayescal.results.answers import LabelPlan
from bayescal.results.change import Series, Window
from tests.plots.looks import assert_readable, words
from tests.results.test_change import windows
from tests.synthetic import make_result

ORDER = ["2025-01", "2025-02", "2025-03", "2025-04"]


def window(name: str, mean: float, *, converged: bool = True) -> Window:
    return Window(name, 100, mean, mean / 2, 2 * mean, 0.5, converged)


SERIES = Series("north", [window(ORDER[0], 0.1), window(ORDER[1], 0.2), window(ORDER[3], 0.3)])


def test_a_band_ends_at_a_gap() -> None:
    ax = draw_windows([SERIES], ORDER, 0.9).axes[0]
    bands = [one for one in ax.collections if isinstance(one, PolyCollection)]
    assert len(bands) == 2
    x, y = bands[0].get_paths()[0].vertices.T
    assert (x.min(), x.max()) == (0, 1)
    assert (y.min(), y.max()) == (0.05, 0.4)
    lines = [line.get_xydata() for line in ax.lines if line.get_linestyle() == "-"]
    np.testing.assert_allclose(np.concatenate(lines), [[0, 0.1], [1, 0.2], [3, 0.3]])


@pytest.mark.parametrize("mean", [-0.2, 0.2])
def test_all_intervals_are_seen_on_either_side_of_zero(mean: float) -> None:
    one = Window(ORDER[0], 100, mean, mean - 0.1, mean + 0.1, None, True)
    bottom, top = draw_windows([Series("benefit", [one])], ORDER, 0.9).axes[0].get_ylim()
    assert bottom <= min(0.0, one.lower) < max(0.0, one.upper) <= top


def test_windows_that_are_all_0_have_a_scale() -> None:
    one = Window(ORDER[0], 100, 0.0, 0.0, 0.0, None, True)
    bottom, top = draw_windows([Series("benefit", [one])], ORDER, 0.9).axes[0].get_ylim()
    assert bottom == 0 < top


def test_what_did_not_converge_is_crossed_out() -> None:
    bad = Series("north", [window(ORDER[0], 0.1), window(ORDER[1], 0.2, converged=False)])
    crosses = [
        line for line in draw_windows([bad], ORDER, 0.9).axes[0].lines if line.get_marker() == "x"
    ]
    assert [line.get_xydata().tolist() for line in crosses] == [[[1.0, 0.2]]]


def test_panels_have_one_scale_and_are_not_endless() -> None:
    many = [SERIES._replace(name=f"{number}$") for number in range(MOST_PANELS + 3)]
    figure = draw_windows(many, ORDER, 0.9)
    assert len(figure.axes) == MOST_PANELS
    assert len({ax.get_ylim() for ax in figure.axes}) == 1
    assert figure.axes[0].get_title(loc="left") == "0$"
    assert [text.get_text() for text in figure.axes[-1].get_xticklabels()] == ORDER


def test_the_lowest_panel_of_each_column_names_the_windows() -> None:
    axes = draw_windows([SERIES._replace(name=name) for name in "abc"], ORDER, 0.9).axes
    named = [ax.xaxis.get_tick_params()["labelbottom"] for ax in axes]
    assert named == [False, True, True]


def test_windows_have_their_probabilities_and_alarms_are_marked() -> None:
    change = bc.change(windows(0.10, 0.11, 0.15))
    figure = plot_change(change)
    assert_readable(figure)
    chance = change.table["baseline_prob_worse"]
    said = words(figure)
    assert [f"{chance.iloc[1]:.2f}" in said, "> 0.999" in said] == [True, True]
    (ax,) = figure.axes
    (alarm,) = (line for line in ax.lines if line.get_markersize() == 6 and len(line.get_xdata()))
    assert alarm.get_xydata().tolist() == [[2, pytest.approx(0.15)]]
    (base,) = (patch for patch in ax.patches if patch.get_width() == 1)
    ends = base.get_y(), base.get_y() + base.get_height()
    assert ends == pytest.approx(tuple(change.table.loc["2025-01", ["lower", "upper"]]))


def test_what_is_no_change_is_refused() -> None:
    with pytest.raises(bc.InputError, match="change must be Change; got DataTree"):
        plot_change(windows(0.1)["2025-01"])


ENDS = np.array([[[0.0, 0.1], [0.02, 0.08]], [[0.03, 0.04], [0.06, 0.07]]])


@pytest.mark.parametrize(("limit", "panels"), [(None, 1), (0.05, 2)])
def test_widths_and_probabilities_are_those_of_the_table(limit: float | None, panels: int) -> None:
    plan = LabelPlan("tce", 0.9, (100, 1000), ENDS, limit)
    axes = bc.plots.plot_label_plan(plan).axes
    assert len(axes) == panels
    shown = [plan.table.width, *([plan.table.prob_excludes] if limit else [])]
    for ax, values in zip(axes, shown, strict=True):
        np.testing.assert_array_equal(ax.lines[0].get_xydata(), np.column_stack([plan.n, values]))
        assert [label.get_text() for label in ax.get_xticklabels()] == ["100", "1,000"]


def test_a_plan_says_that_its_fit_did_not_converge() -> None:
    fine, failed = (
        bc.plots.plot_label_plan(
            LabelPlan("tce", 0.9, (100, 1000), ENDS, None, converged=converged)
        )
        for converged in (True, False)
    )
    said = [{text.get_text() for text in one.findobj(Text)} for one in (fine, failed)]
    assert {one for one in said[1] - said[0] if one} == {
        "NOT CONVERGED: the fit that is planned from."
    }


def test_one_number_of_labels() -> None:
    plan = LabelPlan("tce", 0.9, (100,), ENDS[:1], 0.05)
    (width, _) = bc.plots.plot_label_plan(plan).axes
    # A band of one number has no area: a line has its range.
    ranges = [path.vertices[:, 1] for lines in width.collections for path in lines.get_paths()]
    ends = plan.table[["width_lower", "width_upper"]].iloc[0].tolist()
    assert any(one.tolist() == ends for one in ranges)


def test_close_numbers_of_labels_are_not_all_written() -> None:
    plan = LabelPlan("tce", 0.9, (500, 550, 600, 2000), np.repeat(ENDS, 2, axis=0), 0.05)
    assert_readable(bc.plots.plot_label_plan(plan))


def test_anything_else_is_refused() -> None:
    with pytest.raises(bc.InputError, match=r"plan must be LabelPlan.*bayescal\.plan_labels"):
        bc.plots.plot_label_plan("plan")


QUICK: dict[str, Any] = {"method": "direct", "seed": 20, "draws": 200}


@pytest.fixture(scope="module")
def result() -> xr.DataTree:
    rng = np.random.default_rng(4)
    p = rng.random(300)
    scores = {"a $x$": p, "b": np.clip(p + rng.normal(0, 0.2, 300), 0.01, 0.99)}
    label = (rng.random(300) < p).astype(int)
    return bc.fit(bc.ece, bc.Scores.stack(scores, y_true=label), **QUICK)


def test_lines_are_those_of_the_table(result: xr.DataTree) -> None:
    figure = plot_decision_curve(result, [0.1, 0.3, 0.5])
    benefit, useful, best, evpi = figure.axes
    table = bc.decision_curve(result, [0.1, 0.3, 0.5]).table
    for column, ax in {"mean": benefit, "p_useful": useful, "p_best": best, "evpi": evpi}.items():
        drawn = [np.asarray(line.get_ydata(), float) for line in ax.lines]
        for _, own in table.groupby("classifier"):
            assert any(np.array_equal(line, own[column]) for line in drawn)
    assert benefit.get_ylim()[0] > -0.2
    assert_readable(figure)


def test_of_many_classifiers_those_that_lead_at_most_thresholds_are_named() -> None:
    tree = make_result([f"m{k}" for k in range(14)], draws=100)
    figure = plot_decision_curve(tree, [0.1, 0.2, 0.5, 0.7, 0.8])
    table = bc.decision_curve(tree, [0.1, 0.2, 0.5, 0.7, 0.8]).table
    mean = table.pivot(index="threshold", columns="classifier", values="mean")
    leads = (mean.to_numpy() == mean.max(axis=1).to_numpy()[:, None]).sum(axis=0)
    said = words(figure)
    named = np.isin(mean.columns, said)
    assert f"{14 - named.sum()} others" in said
    assert 1 <= named.sum() <= 10
    assert leads[named].min() >= max(1, leads[~named].max())
    drawn = [np.asarray(line.get_ydata(), float) for line in figure.axes[0].lines]
    assert all(any(np.array_equal(line, mean[name]) for line in drawn) for name in mean)
    assert_readable(figure)


@pytest.mark.parametrize("name", ["treat all", "treat none"])
def test_a_classifier_may_be_called_as_a_strategy_is(name: str) -> None:
    tree = make_result((name, "b"), draws=50)
    said = words(plot_decision_curve(tree, [0.3, 0.5]))
    assert (said.count(name), said.count(f"classifier {name}")) == (1, 1)
    assert f"classifier {name}" in bc.show(bc.decision_curve(tree, [0.3, 0.5])).text()


def test_panels_are_left_out_where_nothing_is_known(result: xr.DataTree) -> None:
    one = plot_decision_curve(result.sel(classifier="b"))
    assert [ax.get_ylabel() for ax in one.axes] == ["Net benefit", "P(useful)", "EVPI"]
    apart = plot_decision_curve(result.filter(lambda node: node.name != "shared_rows"))
    assert [ax.get_ylabel() for ax in apart.axes] == ["Net benefit", "P(useful)"]


def test_what_did_not_converge_is_marked(result: xr.DataTree) -> None:
    failed = result.copy(deep=True)
    failed["diagnostics"]["converged"][:] = False
    failed.attrs["converged"] = "false"
    assert any("NOT CONVERGED" in text for text in words(plot_decision_curve(failed)))


def test_a_single_threshold_and_bad_ones(result: xr.DataTree) -> None:
    plot_decision_curve(result, [0.3])
    with pytest.raises(bc.InputError, match="thresholds must increase"):
        plot_decision_curve(result, [0.3, 0.2])
