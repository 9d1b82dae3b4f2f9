"""Calibration rows summed up by score give the fit of rows in memory."""

import numpy as np
import pytest

import bayescal as bc
from bayescal.core.errors import InputError
from bayescal.quantities.credal.data import Problem, count_rows
from bayescal.quantities.credal.posterior import cells_of
from tests.row_sources import ODD_CUTS, SOURCES, data_set

DATA = bc.datasets.credal.truth("logistic").split(1500, 50, seed=1)
TARGET = DATA.target.y_prob[0]
PRIORS = (
    bc.credal.Priors(),
    bc.credal.Priors(bc.credal.MonotoneCurve()),
    bc.credal.Priors(bc.credal.ImpreciseDirichlet()),
)


def made(decimals=3):
    """Rows in memory, and as columns; the positive ones last."""
    calibration = DATA.calibration
    order = np.argsort(calibration.y_true, kind="stable")
    score, label = calibration.y_prob[0][order], calibration.y_true[order].astype(float)
    label[::9] = np.nan
    score = score if decimals is None else score.round(decimals)
    scores = bc.Scores(y_true=label, y_prob=score, classifier="p")
    return bc.CalibrationSplit(calibration=scores, target=TARGET), {"y": label, "p": score}


def counted(data, **more):
    return count_rows(data, label="y", score="p", target=TARGET, **more)


def assert_same(found, expected):
    assert (found.n_calibration, found.n_obs) == (expected.n_calibration, expected.n_obs)
    for priors in PRIORS:
        cells = cells_of(priors.label_rate, found.n_calibration)
        one, two = (Problem.of(data, np.arange(50), cells) for data in (found, expected))
        np.testing.assert_array_equal(one.count, two.count)
        np.testing.assert_array_equal(one.positives, two.positives)
        # Mean scores are rounded to 12 decimals before their ranks are looked up.
        np.testing.assert_allclose(one.place, two.place, atol=1e-9)
        np.testing.assert_allclose(one.target_rank, two.target_rank, rtol=1e-12)
    for a, b in zip(bc.credal.estimate(found), bc.credal.estimate(expected), strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-12)


@pytest.mark.parametrize("source", SOURCES)
@pytest.mark.parametrize("decimals", [2, 3])
def test_cells_ranks_and_venn_abers_are_those_of_rows_in_memory(source, decimals, tmp_path):
    expected, columns = made(decimals)
    assert_same(counted(source(tmp_path, columns, ODD_CUTS)), expected)


def test_cells_and_ranks_of_any_scores_are_near_those_of_rows_in_memory(tmp_path):
    expected, columns = made(decimals=None)
    found = counted(data_set(tmp_path, columns, ODD_CUTS))
    cells = cells_of(PRIORS[0].label_rate, found.n_calibration)
    one, two = (Problem.of(data, np.arange(50), cells) for data in (found, expected))
    assert abs(one.count - two.count).max() <= 1
    # Rows of one narrow cell share a rank; here these are two at most, of 1,333.
    np.testing.assert_allclose(one.target_rank, two.target_rank, atol=1.5 / 1333)
    np.testing.assert_allclose(one.place, two.place, atol=1.5 / 1333)


@pytest.mark.filterwarnings("ignore::bayescal.ConvergenceWarning")  # few draws
def test_a_fit_is_that_of_rows_in_memory_and_so_are_the_bounds_of_other_rows(tmp_path):
    expected, columns = made()
    split = counted(data_set(tmp_path, columns, ODD_CUTS))
    found, whole = (
        bc.fit(bc.credal, data, method="direct", draws=100, seed=1) for data in (split, expected)
    )
    for name, values in whole["posterior"].items():
        np.testing.assert_allclose(found["posterior"][name], values, rtol=1e-9, err_msg=name)
    same = set(whole.attrs) - {"data_hash", "created"}
    assert {name: found.attrs[name] for name in same} == {name: whole.attrs[name] for name in same}
    bc.save(found, tmp_path / "counted.nc")
    again = bc.load(tmp_path / "counted.nc")
    one, two = (bc.credal.bounds_for(result, [0.05, 0.3, 0.9]) for result in (again, whole))
    for a, b in zip(one, two, strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-9)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"y": {1000: 2.0}}, "column 'y' of .* must hold two labels"),
        (
            {"p": {1000: 7.0}},
            r"column 'p' of 6\.parquet must lie in \[0, 1\].*at row 50",
        ),
        ({"y": {slice(None): np.nan}}, "column 'y' of .* must hold at least one label"),
    ],
)
def test_bad_rows_are_named(changes, message, tmp_path):
    _, columns = made()
    for name, rows in changes.items():
        for row, value in rows.items():
            columns[name] = columns[name].copy()
            columns[name][row] = value
    with pytest.raises(InputError, match=message):
        counted(data_set(tmp_path, columns, ODD_CUTS))
