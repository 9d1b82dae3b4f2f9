"""Rows that classifiers share in a result, and how measures correlate over them."""

from pathlib import Path

import numpy as np
import pytest
import xarray as xr

import bayescal as bc
from bayescal.core.errors import InputError
from bayescal.measures.registry import resolve
from bayescal.quantities.ece.simulator import sample_panel
from bayescal.results import access
from bayescal.results.measure import measure_correlation, slopes, weighted_influence

PANEL = sample_panel(600, seed=5, names=["less", "better", "over"])
SCORES = bc.Scores.stack(PANEL.score, y_true=PANEL.label)


def classes() -> bc.Scores:
    rng = np.random.default_rng(2)
    first, second = rng.dirichlet([2.0, 3.0, 4.0], (2, 120))
    return bc.Scores.stack({"a": first, "b": second}, y_true=np.arange(120) % 3)


def fit(data: bc.Scores, quantity: object = bc.ece, **options: object) -> xr.DataTree:
    return bc.fit(quantity, data, method="direct", draws=500, chains=2, seed=20, **options)


@pytest.fixture(scope="module")
def tree() -> xr.DataTree:
    return fit(SCORES)


@pytest.mark.parametrize(
    ("quantity", "data", "options", "dims"),
    [
        (bc.ece, SCORES, {}, ("classifier", "shared_row")),
        (bc.agnostic, SCORES, {}, ("classifier", "shared_row")),
        (bc.ece, classes(), {}, ("classifier", "shared_row")),
        (bc.ece, classes(), {"multiclass": "class-wise"}, ("classifier", "class", "shared_row")),
    ],
)
def test_a_result_holds_the_cells_and_labels_of_shared_rows(quantity, data, options, dims) -> None:
    tree = fit(data, quantity, **options)
    rows, constant = tree["shared_rows"].dataset, tree["constant_data"].dataset
    assert rows["cell"].dims == rows["label"].dims == dims
    count = constant["cell_count"].values.reshape(-1, constant.sizes["cell"])
    cell, label = (rows[name].values.reshape(len(count), -1) for name in ("cell", "label"))
    for own, expected, events in zip(cell, count, label, strict=True):
        np.testing.assert_array_equal(np.bincount(own, minlength=len(expected)), expected)
        assert set(events) == {0, 1}


def test_what_shares_no_rows_holds_none() -> None:
    grouped = bc.Scores.stack(PANEL.score, y_true=PANEL.label, group=np.arange(600) % 2)
    counts = {
        name: bc.Counts.from_arrays(PANEL.label, score) for name, score in PANEL.score.items()
    }
    for data in (SCORES.select("less"), grouped, counts):
        assert "shared_rows" not in fit(data).children


def test_rows_are_kept_by_files_and_selections(tree: xr.DataTree, tmp_path: Path) -> None:
    loaded = bc.load(bc.save(tree, tmp_path / "result.nc"))
    xr.testing.assert_identical(loaded["shared_rows"].dataset, tree["shared_rows"].dataset)
    few = loaded.sel(classifier=["over", "less"])
    one = loaded.sel(classifier="over")
    assert few["shared_rows"]["cell"].dims == ("classifier", "shared_row")
    np.testing.assert_array_equal(one["shared_rows"]["cell"], few["shared_rows"]["cell"][0])


def test_slopes_are_the_derivatives() -> None:
    rng = np.random.default_rng(1)
    rate, mass = rng.uniform(0.2, 0.8, (200, 5)), rng.dirichlet(np.full(5, 30.0), 200)
    score, w, eta = np.linspace(0.1, 0.9, 5), mass.mean(axis=0), rate.mean(axis=0)
    # Quadratic in the rate and linear in the masses: central differences are exact.
    by_rate, by_mass = slopes(lambda r, s, m: (m * (r - s) ** 2).sum(axis=-1), rate, score, mass)
    np.testing.assert_allclose(by_rate, 2 * w * (eta - score))
    np.testing.assert_allclose(by_mass, (eta - score) ** 2 - w @ (eta - score) ** 2)


def correlation(tree: xr.DataTree, name: str) -> np.ndarray:
    return measure_correlation(tree, resolve(name).function, access.cases(tree))


@pytest.mark.parametrize("name", ["brier", "accuracy:.5", "auc", "net_benefit:.25", "mean_gap"])
def test_correlations_are_those_of_the_bayesian_bootstrap(tree: xr.DataTree, name: str) -> None:
    rows, score = tree["shared_rows"].dataset, tree["constant_data"]["cell_score"].values
    weight = np.random.default_rng(7).dirichlet(np.ones(rows.sizes["shared_row"]), 2000)
    values = []
    for cell, label, at in zip(rows["cell"].values, rows["label"].values, score, strict=True):
        held = np.eye(cell.max() + 1)[cell]
        mass, positive = weight @ held, weight @ (held * label[:, None])
        values.append(resolve(name).function(positive / mass, at[: mass.shape[1]], mass))
    # Four standard errors of 2,000 resamples, .02 each, and as much for the smoothed curve.
    np.testing.assert_allclose(correlation(tree, name), np.corrcoef(values), atol=0.1)


def test_that_of_the_calibration_error_is_near_the_stored_one(tree: xr.DataTree) -> None:
    stored = tree["error_correlation"]["correlation"].values
    # Another account of cells whose gap may be of either sign.
    np.testing.assert_allclose(correlation(tree, "tce"), stored, atol=0.15)


def test_what_does_not_vary_has_no_correlation(tree: xr.DataTree) -> None:
    found = measure_correlation(tree, lambda rate, s, w: 0 * rate[..., 0], access.cases(tree))
    np.testing.assert_array_equal(found, np.eye(3))


def test_a_weight_of_two_is_a_row_twice() -> None:
    rng = np.random.default_rng(4)
    influence, weight = rng.normal(size=(2, 50)), np.ones(50)
    weight[:20] = 2
    twice = np.concatenate([influence, influence[:, :20]], axis=1)
    found = [weighted_influence(one, weight) for one in influence]
    centred = twice - twice.mean(axis=1, keepdims=True)
    np.testing.assert_allclose(found[0].sum(), 0, atol=1e-9)
    per_row = centred[:, :50] * weight / weight.mean()
    np.testing.assert_allclose(found, per_row)


@pytest.mark.parametrize("quantity", [bc.ece, bc.agnostic])
def test_classifiers_are_compared_by_any_measure(quantity: object) -> None:
    result = fit(SCORES, quantity)
    for name in ("log_loss", "e90"):
        found = bc.difference(result, "less", "over", name)
        other = bc.difference(result, "over", "less", name)
        assert found.lower <= found.mean <= found.upper
        assert (found.lower, found.upper) == pytest.approx((-other.upper, -other.lower))
        pair = measure_correlation(
            result, resolve(name).function, [access.find_case(result, n) for n in ("less", "over")]
        )
        assert found.correlation == pytest.approx(pair[0, 1])
    apart = bc.difference(result, "less", "over", "log_loss")
    # Given miscalibration there is no draw at 0: the interval is that of the coupled draws.
    assert apart.lower == pytest.approx(np.quantile(apart.draws, 0.05))
    assert float(bc.best(result, "log_loss").prob_best.sum()) == pytest.approx(1)


def test_classifiers_are_compared_by_a_function(tree: xr.DataTree) -> None:
    def largest_gap(rate: np.ndarray, score: np.ndarray, mass: np.ndarray) -> np.ndarray:
        return np.abs(rate - score).max(axis=-1)

    by_function = bc.difference(tree, "less", "over", largest_gap)
    by_name = bc.difference(tree, "less", "over", "emax")
    assert by_function.correlation == pytest.approx(by_name.correlation)
    assert by_function.mean == pytest.approx(by_name.mean)


def test_stored_correlations_are_kept(tree: xr.DataTree) -> None:
    stored = float(tree["error_correlation"]["correlation"][0, 2])
    assert bc.difference(tree, "less", "over", "tce").correlation == pytest.approx(stored)


def test_classes_are_compared_by_errors_and_measures() -> None:
    result = fit(classes(), multiclass="class-wise")
    for name in ("tce", "brier"):
        assert np.isfinite(bc.difference(result, "a", "b", name, class_="1").correlation)
        assert bc.best(result, name).prob_best.sizes == {"class": 3, "classifier": 2}


def test_without_shared_rows_the_remedy_is_named(tree: xr.DataTree) -> None:
    old = tree.copy()
    del old["shared_rows"]
    for compare in (
        lambda: bc.difference(old, "less", "over", "brier"),
        lambda: bc.best(old, "auc"),
    ):
        with pytest.raises(InputError, match=r"rows that they share.*Scores\.stack"):
            compare()


@pytest.mark.parametrize("name", ["slope", "intercept", "oe"])
def test_an_interval_of_signed_measures_has_its_ends_in_order(tree: xr.DataTree, name: str) -> None:
    for first, second in (("less", "better"), ("better", "over"), ("over", "less")):
        found = bc.difference(tree, first, second, name)
        inside = (found.draws >= found.lower) & (found.draws <= found.upper)
        assert inside.mean() >= 0.9
