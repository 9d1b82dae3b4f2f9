"""The figure of a plan of labels."""

import numpy as np
import pytest

import bayescal as bc
from bayescal.results.label_plan import LabelPlan

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


def test_one_number_of_labels() -> None:
    figure = bc.plots.plot_label_plan(LabelPlan("tce", 0.9, (100,), ENDS[:1], 0.05))
    figure.canvas.draw()


def test_anything_else_is_refused() -> None:
    with pytest.raises(bc.InputError, match=r"plan must be LabelPlan.*bayescal\.plan_labels"):
        bc.plots.plot_label_plan("plan")
