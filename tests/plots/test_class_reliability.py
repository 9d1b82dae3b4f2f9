import numpy as np
import pytest
import xarray as xr
from scipy.stats import beta

import bayescal as bc
from bayescal import plots
from tests.plots.looks import assert_readable, words


@pytest.fixture(scope="module")
def result():
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


def test_it_can_be_read_and_leaves_the_result_alone(result):
    before = result.copy(deep=True)
    assert_readable(plots.plot_class_reliability(result))
    xr.testing.assert_identical(result, before)


@pytest.mark.slow
def test_of_many_classes_those_with_most_rows_are_drawn():
    tree = many_classes()
    figure = plots.plot_class_reliability(tree)
    assert_readable(figure)
    assert len(figure.axes) == 20


def test_marks_are_accuracies_of_bins_and_lines_their_intervals(result):
    figure = plots.plot_class_reliability(result, classes=["3"], prob=0.8)
    assert any(text.startswith("3\nECE") for text in words(figure))
    points = figure.axes[0].collections
    held = result["point_estimate"].sel(label_class="3")
    for stage, (lines, marks) in zip(("before", "after"), (points[0:2], points[2:4]), strict=True):
        bins = held.sel(stage=stage)
        full = bins["bin_rows"].values > 0
        expected = np.column_stack([bins[f"bin_{x}"].values for x in ("confidence", "accuracy")])
        np.testing.assert_allclose(np.asarray(marks.get_offsets()), expected[full])
        rows, rate = bins["bin_rows"].values[full], expected[full, 1]
        low = beta(rows * rate + 0.5, rows * (1 - rate) + 0.5).ppf(0.1)
        np.testing.assert_allclose([each[:, 1].min() for each in lines.get_segments()], low)


def test_unknown_classes_and_results_without_classes_are_refused(result):
    with pytest.raises(bc.InputError, match="no class 'x'"):
        plots.plot_class_reliability(result, classes=["x"])
    with pytest.raises(bc.InputError, match=r"a list of words; got \[\]"):
        plots.plot_class_reliability(result, classes=[])
    other = result.copy()
    other["point_estimate"] = other["point_estimate"].dataset.drop_vars("bin_accuracy")
    with pytest.raises(bc.InputError, match="needs bins of each class"):
        plots.plot_class_reliability(other)
