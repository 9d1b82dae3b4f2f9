"""Decision curves as figures: what is drawn is what the table says."""

from typing import Any

import numpy as np
import pytest
import xarray as xr

import bayescal as bc
from bayescal.plots import plot_decision_curve
from tests.plots.looks import assert_readable, words

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
