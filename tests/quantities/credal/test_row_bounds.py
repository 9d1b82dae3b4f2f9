"""Bounds of rows from a result, odd rows, and files of them."""

import csv

import numpy as np
import pyarrow.parquet as pq
import pytest
from scipy.stats import beta

import bayescal as bc
from bayescal.core.errors import InputError
from bayescal.quantities.credal import row_lookup
from tests.synthetic import make_result
from tests.synthetic_credal import make_credal_grid, make_credal_result, make_split

STEPS = bc.credal.IncrementIsotonic(bins=7)
CLASSES = ("cat", "dog", "eel")


@pytest.fixture(scope="module")
def binary():
    return make_credal_result(target=300)


@pytest.fixture(scope="module")
def three():
    return make_credal_result(classes=CLASSES, prior=STEPS, target=300)


@pytest.mark.parametrize("prob", [0.5, 0.9])
@pytest.mark.parametrize("which", ["binary", "three"])
def test_every_row_has_what_the_table_has_of_those_with_draws(which, prob, request):
    result = request.getfixturevalue(which)
    frame = bc.row_table(result, prob)
    found = bc.credal.bounds_for(result, prob=prob)
    assert len(found.decision) == 300 > result.attrs["n_held"]
    assert found.error == 0
    for name in ("prob", "lower", "upper", "p0", "p1", "merged"):
        values = getattr(found, name).reshape(300, -1)[frame["row"].unique()]
        np.testing.assert_allclose(values.ravel(), frame[name], atol=1e-12)
    # One line a row: all of its classes have the same decision.
    first = frame.drop_duplicates("row")
    names = np.array(["no", "yes"] if which == "binary" else CLASSES)
    assert list(names[found.decision[first["row"]]]) == list(first["decision"])
    assert list(found.admissible[first["row"]].sum(axis=1)) == list(first["n_open"])


def test_weighted_rows_are_kept_with_a_result():
    split = make_split()
    (score,), label = split.calibration.y_prob, split.calibration.y_true
    weight = np.random.default_rng(4).exponential(size=len(label))
    scores = bc.Scores(y_true=label, y_prob=score, sample_weight=weight)
    data = bc.CalibrationSplit(calibration=scores, target=[0.2, 0.5, 0.9])
    prior = bc.credal.Priors(STEPS)
    result = bc.fit(bc.credal, data, priors=prior, seed=20, method="direct", draws=200)
    found, sets = bc.credal.bounds_for(result), bc.credal.credible_sets(result)
    np.testing.assert_allclose(found.lower, sets.lower[:, 1], atol=1e-12)
    np.testing.assert_array_equal(found.p0, bc.credal.estimate(data).p0)
    plain = bc.credal.estimate(
        bc.CalibrationSplit(calibration=scores.without_weight(), target=[0.5])
    )
    assert found.p0[1] != plain.p0[0]


@pytest.mark.parametrize("name", ["group", "sample_weight"])
def test_rows_to_bound_have_no_groups_or_weights(binary, name):
    rows = {"y_true": ["no", "yes"], "y_prob": [0.2, 0.4], "pos_label": "yes", "classifier": "a"}
    scores = bc.Scores(**rows, **{name: [1, 2]})
    with pytest.raises(InputError, match=r"target (has no groups|cannot use sample weights)"):
        bc.credal.bounds_for(binary, scores)


def test_estimates_are_those_of_the_estimator():
    for classes in (("no", "yes"), CLASSES):
        split = make_split(classes=classes)
        result = make_credal_result(classes=classes)
        found, expected = bc.credal.bounds_for(result), bc.credal.estimate(split)
        np.testing.assert_array_equal(found.p0, expected.p0)
        np.testing.assert_array_equal(found.p1, expected.p1)
        np.testing.assert_array_equal(found.merged, expected.prob)


def test_a_single_bin_has_the_bounds_of_clopper_and_pearson():
    one = bc.credal.ImpreciseDirichlet(bins=1)
    result = make_credal_result(prior=one, draws=2000)
    k = int((make_split().calibration.y_true == 1).sum())
    found = bc.credal.bounds_for(result, [0.2, 0.8])
    # Quantiles of 8,000 draws are within some thousandths of the posterior's.
    np.testing.assert_allclose(found.lower, beta.ppf(0.05, k, 151 - k), atol=0.005)
    np.testing.assert_allclose(found.upper, beta.ppf(0.95, k + 1, 150 - k), atol=0.005)


def test_bins_without_rows_have_no_bounds():
    # Two distinct scores leave most of ten bins without rows; they have those of no labels.
    calibration = bc.Scores(y_true=[0, 1] * 20, y_prob=[0.2, 0.8] * 20)
    data = bc.CalibrationSplit(calibration=calibration, target=[0.2, 0.5, 0.8])
    priors = bc.credal.Priors(bc.credal.ImpreciseDirichlet())
    result = bc.fit(bc.credal, data, priors=priors, seed=1, method="direct", draws=100)
    frame, found = bc.row_table(result), bc.credal.bounds_for(result)
    assert (found.lower[1], found.upper[1]) == (0, 1)
    np.testing.assert_allclose(found.lower, frame["lower"], atol=1e-12)
    np.testing.assert_allclose(found.upper, frame["upper"], atol=1e-12)


@pytest.mark.parametrize("rate", [bc.credal.AveragedCurve(), bc.credal.MonotoneCurve()])
def test_a_curve_is_interpolated_with_its_error(rate):
    data = bc.datasets.credal.truth("logistic").split(300, 400, seed=1)
    priors = bc.credal.Priors(rate)
    result = bc.fit(bc.credal, data, priors=priors, seed=20, method="direct")
    scores = np.concatenate([[0, 1], data.target.y_prob[0][:198]])
    found = bc.credal.bounds_for(result, scores)
    assert found.error == 0
    grid = bc.credal.bounds_for(result, np.concatenate([scores, np.linspace(0, 1, 500)]))
    assert 0 < grid.error < 0.02
    for name in ("prob", "lower", "upper"):
        error = np.abs(getattr(grid, name)[:200] - getattr(found, name))
        assert error.max() <= grid.error
    assert (grid.lower <= grid.prob).all()
    assert (grid.prob <= grid.upper).all()


def test_what_does_not_fit_the_result_is_refused(binary, three):
    with pytest.raises(InputError, match="target must not be missing; got NaN at row 1"):
        bc.credal.bounds_for(binary, [0.5, np.nan])
    with pytest.raises(InputError, match="the same classes; got 'cat', 'dog', 'eel'"):
        bc.credal.bounds_for(three, make_split(classes=("ant", "bee", "cow")).target)
    with pytest.raises(InputError, match="the same classifiers; got 'a' and 'b'"):
        bc.credal.bounds_for(binary, make_split(("b",)).target)
    with pytest.raises(InputError, match="prob must be a number in"):
        bc.credal.bounds_for(binary, prob=1.0)
    with pytest.raises(InputError, match="got refits under several"):
        bc.credal.bounds_for(make_credal_grid())
    with pytest.raises(InputError, match=r"must hold a calibration curve.*this one, of ece, holds"):
        bc.credal.bounds_for(make_result().drop_nodes("curve"), [0.5])
    old = binary.copy(deep=True)
    old["constant_data"] = old["constant_data"].dataset.drop_vars("calibration_score")
    with pytest.raises(InputError, match="must hold its calibration rows"):
        bc.credal.bounds_for(old)


BINS = bc.credal.Priors(bc.credal.ImpreciseDirichlet(bins=1))


def fit(label, score, target, priors=BINS, classes=None):
    calibration = bc.Scores(y_true=label, y_prob=score, classes=classes)
    data = bc.CalibrationSplit(calibration=calibration, target=target)
    return bc.fit(bc.credal, data, priors=priors, seed=1, method="direct")


def test_calibration_rows_of_one_class_leave_bounds_wide_and_on_its_side():
    score = np.linspace(0.05, 0.95, 10)
    result = fit([1] * 10, score, [0.1, 0.9], classes=[0, 1])
    found = bc.credal.bounds_for(result)
    assert (found.upper == 1).all()
    # Clopper and Pearson's lower end with every one of 10 rows of the label.
    np.testing.assert_allclose(found.lower, beta.ppf(0.05, 10, 1), atol=0.02)
    assert (found.p1 == 1).all()
    assert "every calibration row is of class 1" in result.attrs["status"]


def test_a_class_of_the_target_rows_without_calibration_rows_stays_possible():
    rng = np.random.default_rng(1)
    score = rng.dirichlet(np.ones(3), 40)
    result = fit(rng.integers(0, 2, 40), score, score[:5], classes=[0, 1, 2])
    found = bc.credal.bounds_for(result)
    assert (found.lower[:, 2] == 0).all()
    np.testing.assert_allclose(found.upper[:, 2], beta.ppf(0.95, 1, 40), atol=0.02)
    assert (found.p0[:, 2] == 0).all()
    assert "no calibration row is of class 2" in result.attrs["status"]


@pytest.mark.parametrize("ending", ["csv", "parquet"])
def test_a_line_a_row_and_class_in_batches(ending, tmp_path, monkeypatch):
    monkeypatch.setattr(row_lookup, "BATCH_ROWS", 12)
    result = make_credal_result(("a", "b"), ("cat", "dog", "eel"))
    steps = []
    path = bc.credal.write_rows(
        result, tmp_path / f"rows.{ending}", progress=lambda *step: steps.append(step)
    )
    if ending == "csv":
        with path.open(newline="") as file:
            lines = list(csv.DictReader(file))
    else:
        lines = pq.read_table(path).to_pylist()
    found, frame = bc.credal.bounds_for(result), bc.row_table(result)
    assert len(lines) == 2 * 30 * 3
    lower = np.array([float(line["lower"]) for line in lines])
    np.testing.assert_allclose(lower, found.lower.ravel(), rtol=1e-12)
    for name in ("classifier", "class", "decision", "open"):
        assert [line[name] for line in lines] == list(frame[name])
    assert [int(line["row"]) for line in lines] == list(frame["row"])
    assert steps[2:4] == [("a", 30, 60), ("b", 42, 60)]
    assert steps[-1] == ("b", 60, 60)


def test_another_ending_is_refused(tmp_path):
    with pytest.raises(InputError, match=r"must end in \.csv or \.parquet; got 'rows\.txt'"):
        bc.credal.write_rows(make_credal_result(), tmp_path / "rows.txt")
