"""Plots of class probabilities row by row: what is drawn, said and refused."""

import numpy as np
import pytest
import xarray as xr
from matplotlib.figure import Figure

import bayescal as bc
from bayescal import plots
from bayescal.core.errors import InputError
from bayescal.plots import style
from bayescal.plots.rows import between
from bayescal.quantities.credal.credal_sets import is_proper
from tests.plots.looks import assert_readable, words
from tests.synthetic import make_result
from tests.synthetic_credal import make_credal_grid, make_credal_result

DRAWN = {
    "probability": plots.plot_probability,
    "decisions": plots.plot_decisions,
    "credal sets": plots.plot_credal_sets,
}


@pytest.fixture(scope="module")
def binary() -> xr.DataTree:
    return make_credal_result()


def test_the_band_is_that_of_the_table(binary: xr.DataTree) -> None:
    figure = plots.plot_probability(binary, prob=0.8)
    frame = bc.row_table(binary, prob=0.8).sort_values("score")
    band = figure.axes[0].collections[0].get_paths()[0].vertices
    assert band[:, 1].min() == pytest.approx(frame["lower"].min())
    assert band[:, 1].max() == pytest.approx(frame["upper"].max())
    lines = [line.get_ydata() for line in figure.axes[0].lines]
    for name in ("prob", "p0", "p1"):
        assert any(len(line) == len(frame) and np.allclose(line, frame[name]) for line in lines), (
            name
        )
    said = words(figure)
    assert "posterior mean and 80% bounds" in said
    assert "Venn-Abers p0, p1 (no interval)" in said


def test_rows_of_one_score_have_a_band_that_is_seen(binary: xr.DataTree) -> None:
    tree = binary.sel(obs=binary["posterior"].obs[:1])
    (row,) = bc.row_table(tree, prob=0.8).itertuples()
    band = plots.plot_probability(tree, prob=0.8).axes[0].collections[0].get_paths()[0].vertices
    assert np.ptp(band[:, 0]) == pytest.approx(0.02)
    assert band[:, 0].mean() == pytest.approx(row.score, abs=0.01)
    assert [band[:, 1].min(), band[:, 1].max()] == pytest.approx([row.lower, row.upper])


def test_marks_are_label_rates_of_the_calibration_rows(binary: xr.DataTree) -> None:
    figure = plots.plot_probability(binary)
    marks = figure.axes[0].collections[-1]
    rate = np.asarray(marks.get_offsets())[:, 1]
    events, count = binary["observed_data"]["events"], binary["constant_data"]["cell_count"]
    # Six bins, fewer than the marks there may be: each is one.
    assert rate == pytest.approx((events / count).values)


def test_decisions_are_counted_in_the_legend(binary: xr.DataTree) -> None:
    frame = bc.row_table(binary)
    said = words(plots.plot_decisions(binary))
    for text, chosen in (
        ("decided: yes", (frame["n_open"] == 1) & (frame["open"] == "yes")),
        ("decided: no", (frame["n_open"] == 1) & (frame["open"] == "no")),
        ("open: more than one class", frame["n_open"] > 1),
    ):
        assert f"{text} ({chosen.sum()} rows)" in said


def test_a_class_can_be_chosen() -> None:
    tree = make_credal_result(classes=("cat", "dog", "eel"))
    assert "P(eel | score)" in words(plots.plot_probability(tree, class_="eel"))
    assert any("eel ruled out" in text for text in words(plots.plot_decisions(tree, class_="eel")))
    with pytest.raises(InputError, match="must be one of 'cat', 'dog', 'eel'"):
        plots.plot_decisions(tree, class_="fox")


def test_rows_of_credal_sets_can_be_chosen() -> None:
    tree = make_credal_result(classes=("cat", "dog", "eel"))
    figure = plots.plot_credal_sets(tree, rows=[3, 4])
    assert len(figure.axes) == 2
    place = int(tree["constant_data"]["target_row"][3])
    assert any(text.startswith(f"row {place}:") for text in _titles(figure))
    with pytest.raises(InputError, match="rows must be "):
        plots.plot_credal_sets(tree, rows=[1000])


def _titles(figure: Figure) -> list[str]:
    return [ax.get_title(loc="left") for ax in figure.axes]


def test_corners_lie_between_the_bounds_and_sum_to_one() -> None:
    rng = np.random.default_rng(3)
    for _ in range(200):
        lower = rng.random(3) * 0.5
        upper = lower + rng.random(3) * 0.5
        corners = between(lower, upper)
        assert bool(len(corners)) == bool(is_proper(lower, upper))
        if len(corners):
            # Corners are sums of a few products of numbers below 1.
            assert corners.sum(axis=1) == pytest.approx(1, abs=1e-12)
            assert (corners >= lower - 1e-12).all()
            assert (corners <= upper + 1e-12).all()
            # The extremes of each class are reached at corners.
            for k in range(3):
                top = min(upper[k], 1 - np.delete(lower, k).sum())
                assert corners[:, k].max() == pytest.approx(top, abs=1e-12)


def test_all_probabilities_make_the_whole_triangle() -> None:
    assert len(between(np.zeros(3), np.ones(3))) == 3


@pytest.mark.slow
@pytest.mark.parametrize("classes", [("no", "yes"), ("cat", "dog", "eel")])
def test_priors_side_by_side(classes: tuple[str, ...]) -> None:
    names = ("a", "$b") if len(classes) == 2 else ("a",)
    grid = make_credal_grid(names, classes)
    figure = plots.plot_sensitivity(grid)
    assert_readable(figure)
    said = words(figure)
    assert {"bins", "few", "heavy"} <= set(said)
    assert len(figure.axes) == len(classes)
    if grid.attrs["robust"] == "false":
        assert any("Decisions are not robust" in text for text in said)


def test_on_axes_of_the_users_labels_keep_their_size() -> None:
    ax = Figure().subplots()
    size = ax.yaxis.label.get_fontsize()
    plots.plot_sensitivity(make_credal_grid(), ax=ax)
    assert ax.yaxis.label.get_fontsize() == size != style.TEXT_SIZE


@pytest.mark.slow
def test_one_of_several_priors_is_drawn_without_the_cells_that_it_does_not_hold() -> None:
    one = make_credal_grid().sel(prior="few")
    assert "cell_score" not in one["constant_data"]
    said = words(plots.plot_probability(one))
    assert any("Venn-Abers" in text for text in said)
    assert not any("label rates" in text for text in said)


def test_what_cannot_be_drawn(binary: xr.DataTree) -> None:
    for draw in DRAWN.values():
        with pytest.raises(InputError, match="needs a result on single rows"):
            draw(make_result(draws=20))
        with pytest.raises(InputError, match="classifier must be"):
            draw(binary, classifier="z")
    with pytest.raises(InputError, match="three classes or more"):
        plots.plot_credal_sets(binary)
