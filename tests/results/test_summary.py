"""Tables of errors, metrics and rows, and what else each form of result answers."""

import json
import posixpath
import re

import numpy as np
import pytest
import toy_quantity
import xarray as xr
from hostile.objects import results

import bayescal as bc
from bayescal.core import text
from bayescal.core.errors import InputError
from bayescal.core.quantity import METRIC, CaseArrays, Variable, to_json
from bayescal.measures import Measure
from bayescal.results import access
from bayescal.results.assemble import assemble
from bayescal.results.change import series_of
from bayescal.results.compare import best_records
from bayescal.results.intervals import interval
from bayescal.results.summary import Table, finest, records, summary
from bayescal.results.summary import table as table_of
from tests.synthetic import make_result
from tests.synthetic_credal import make_credal_grid, make_credal_result
from tests.synthetic_ssme import METRICS, make_panel_result

COLUMNS = [
    "classifier", "n", "ece_point", "ece_mean", "ece_median", "ece_lower", "ece_upper",
    "p_calibrated", "ece_if_calibrated", "ece_if_calibrated_lower", "ece_if_calibrated_upper",
    "p_value_calibrated", "tce_mean", "tce_lower", "tce_upper", "rhat_max", "ess_min",
    "divergences", "curve", "status",
]  # fmt: skip


def test_one_row_a_classifier_with_the_documented_columns() -> None:
    table = summary(make_result(("vit", "gbm"), shape=(1, 1, 1)))
    assert list(table.index) == ["vit", "gbm"]
    assert list(table.columns) == COLUMNS


@pytest.mark.parametrize("make", [make_result, make_credal_result])
def test_numbers_of_rows_are_whole(make) -> None:
    found = summary(make())
    whole = found.columns.intersection(["n", "n_target", "n_rows", "divergences"])
    assert {"n", "divergences"} <= set(whole)
    assert (found[whole].dtypes == "int64").all()
    assert all(isinstance(row["n"], int) for row in records(make(), 0.9))


def test_classes_and_groups_get_columns() -> None:
    table = summary(make_result(("vit", "gbm"), classes=("cat", "dog")))
    assert list(table["class"]) == ["cat", "dog", "cat", "dog"]
    assert list(summary(make_result(("vit",), groups=("f", "m")))["group"]) == ["f", "m"]


def test_the_mean_counts_calibration_as_0() -> None:
    tree = make_result(("vit",), p_calibrated=0.25)
    given = tree["given_miscalibration"]["ece"].values
    # 1500 of 2000 draws: within four standard errors of a mean of them.
    error = 4 * given.std() / np.sqrt(1500)
    found = summary(tree).loc["vit", "ece_mean"]
    np.testing.assert_allclose(found, 0.75 * given.mean(), atol=error)


@pytest.mark.parametrize(("p_calibrated", "level"), [(0.0, 0.5), (0.2, 0.375), (0.6, None)])
def test_the_median_counts_calibration_as_0(p_calibrated: float, level: float | None) -> None:
    tree = make_result(("vit",), p_calibrated=p_calibrated)
    given = tree["given_miscalibration"]["ece"].values
    near = (0.0, 0.0) if level is None else np.quantile(given, (level - 0.04, level + 0.04))
    assert near[0] <= summary(tree).loc["vit", "ece_median"] <= near[1]


def test_the_bounds_are_those_of_interval() -> None:
    tree = make_result(("vit", "gbm"), classes=("cat", "dog"))
    table = summary(tree, prob=0.8)
    bounds = interval(tree, "tce", 0.8).sel({"classifier": "gbm", "class": "cat"})
    np.testing.assert_array_equal(table.loc["gbm / cat", ["tce_lower", "tce_upper"]], bounds)


def test_without_model_average_the_mean_is_that_of_the_draws() -> None:
    tree = make_result(("vit",))
    del tree["model_average"]
    row = summary(tree).loc["vit"]
    np.testing.assert_allclose(row["ece_mean"], tree["posterior"]["ece"].values.mean())
    np.testing.assert_allclose(row["ece_median"], np.median(tree["posterior"]["ece"].values))
    assert row["p_calibrated"] is None


def test_only_the_case_that_did_not_converge_is_marked() -> None:
    table = summary(make_result(("vit", "gbm"), converged=False))
    assert list(table["status"]) == ["NOT CONVERGED", "ok"]


def test_a_case_that_the_status_warns_of_is_not_ok() -> None:
    y, score = np.array([1] * 30), np.linspace(0.01, 0.99, 30)
    both = [bc.Scores(y, score), bc.Scores(np.arange(30) % 2, score)]
    sound, odd = (bc.fit(bc.ece, one, method="direct", draws=300, seed=1) for one in both[::-1])
    assert "all 30 labels are positive" in odd.attrs["status"]
    assert [summary(one)["status"].item() for one in (sound, odd)] == ["ok", "WARNED"]
    assert table_of(odd, 0.9).rows[0][-1] == "WARNED"
    # What did not converge stays marked so, and of classes the worst counts.
    tree = make_result(("vit", "gbm"), classes=("cat", "dog"), converged=False)
    tree.attrs |= {"warnings": json.dumps([["odd", [{}]]]), "multiclass": "marginal"}
    words = ["NOT CONVERGED", *["WARNED"] * 3, "NOT CONVERGED", "WARNED"]
    assert [row["status"] for row in records(tree, 0.9)] == words


def test_a_result_that_does_not_tell_cases_apart_marks_them_all() -> None:
    tree = make_result(("vit", "gbm"), converged=False)
    diagnostics = tree["diagnostics"].to_dataset().drop_vars("converged")
    tree["diagnostics"] = diagnostics
    assert set(summary(tree)["status"]) == {"NOT CONVERGED"}


MAKE = {
    "errors": lambda: make_result(("a", "b"), draws=100),
    "metrics": lambda: make_panel_result(("a", "b"), draws=100),
    "rows": lambda: make_credal_result(("a", "b")),
}


def toy(names=("a", "b"), n_labeled=50):
    """Only an accuracy, of Beta posteriors: no reference estimates, no rows without labels."""
    rng = np.random.default_rng(0)
    fits = [
        CaseArrays(
            coords={"classifier": name},
            posterior={"accuracy": rng.beta(40 - 5 * k, 10 + 5 * k, (4, 500))},
            point_estimate={"accuracy": 0.8 - 0.1 * k},
            diagnostics={"converged": True},
        )
        for k, name in enumerate(names)
    ]
    words = ("bayescal_version", "quantity", "title", "estimand")
    attrs = {**dict.fromkeys(words, "toy"), "seed": 20, "converged": True, "status": "ok"}
    attrs |= {"n_obs": 50, "n_labeled": n_labeled}
    return assemble(fits, variables=toy_quantity.VARIABLES, attrs=attrs)


@pytest.mark.parametrize("kind", MAKE)
def test_what_terminals_json_and_files_show(kind: str) -> None:
    tree = MAKE[kind]()
    table = table_of(tree, 0.9)
    assert isinstance(table, Table)
    assert {len(row) for row in table.rows} == {len(table.columns)}
    assert "90%" in " ".join([*table.columns, *table.notes])
    found = records(tree, 0.9)
    assert json.loads(json.dumps(found, allow_nan=False)) == found
    assert len(finest(tree, 0.9)) >= len(access.cases(tree))
    words = text.labelled_rows(tree.attrs)
    assert words.split()[1:3] == ["labelled", "rows"] or "," in words
    json.dumps(best_records(tree), allow_nan=False)
    with pytest.raises(bc.InputError, match="prob must be a number in"):
        bc.summary(tree, 1.0)


@pytest.mark.parametrize("ask", [bc.best, lambda tree: bc.difference(tree, "a", "b")])
def test_rows_are_neither_ranked_nor_compared(ask) -> None:
    with pytest.raises(bc.InputError, match=r"bayescal\.summary"):
        ask(MAKE["rows"]())


def test_every_kind_is_concluded_on() -> None:
    errors = {name: make_result(("a",), draws=50, seed=k) for k, name in enumerate("xy")}
    metrics = {name: make_panel_result(("a",), draws=50, seed=k) for k, name in enumerate("xy")}
    from bayescal.results.assemble import combine

    for tree in (combine(errors), combine(metrics), make_credal_grid()):
        found = bc.conclusions(tree)
        assert found[0].var == access.main(tree).name
        assert isinstance(found[0].robust, bool)
        assert "robust" in found[0].text


def test_errors_of_classes_are_ranked_class_by_class() -> None:
    tree = make_result(("a", "b"), classes=("x", "y"), draws=100)
    found = bc.best(tree)
    assert found.prob_best.dims == ("class", "classifier")
    only = bc.best(tree, class_="y")
    assert only.prob_best.values == pytest.approx(found.prob_best.sel({"class": "y"}).values)
    assert best_records(tree)["tce"]["y"]["a"] == pytest.approx(float(only.prob_best[0]))


@pytest.mark.parametrize("names", [("a",), ("a", "b")])
def test_a_result_of_one_metric_and_nothing_else(names) -> None:
    tree = toy(names)
    assert [one.name for one in access.answers(tree)] == ["accuracy"]
    assert text.labelled_rows(tree.attrs) == "50 labelled rows"
    frame = bc.summary(tree)
    assert {"point", "mean", "status"} <= set(frame.columns)
    assert list(frame["point"]) == pytest.approx([0.8, 0.7][: len(names)])
    table = table_of(tree, 0.9)
    assert len(table.rows) == len(names)
    assert ("P(best)" in table.columns) is (len(names) > 1)
    low, high = bc.interval(tree, "accuracy").values.reshape(-1, 2)[0]
    assert low < 0.8 < high
    if len(names) > 1:
        draws = tree["posterior"]["accuracy"]
        share = float((draws.sel(classifier="a") > draws.sel(classifier="b")).mean())
        assert float(bc.best(tree).prob_best[0]) == pytest.approx(share)
        assert bc.best(tree).name == "a"
        assert bc.difference(tree, "a", "b").prob_first_larger == pytest.approx(share)


def test_a_metric_of_unknown_direction_is_not_ranked() -> None:
    tree = toy()
    for group in ("posterior", "point_estimate"):
        tree[group]["kappa"] = tree[group]["accuracy"]
    known = (*toy_quantity.VARIABLES, Variable("kappa", "kappa", ("classifier",), METRIC))
    tree.attrs["variables"] = to_json(known)
    assert [one.name for one in access.answers(tree)] == ["accuracy", "kappa"]
    with pytest.raises(bc.InputError, match=r"more of 'kappa' is better.*bayescal\.difference"):
        bc.best(tree, "kappa")
    assert list(best_records(tree)) == ["accuracy"]


def test_errors_without_descriptions_or_a_binned_error() -> None:
    tree = make_result(("a",), draws=50)
    tree["posterior"] = tree["posterior"].to_dataset().drop_vars("ece")
    assert "curve" not in bc.summary(tree)
    assert "curve" not in table_of(tree, 0.9).columns
    assert [one.name for one in access.answers(tree)] == ["tce", "mce"]
    assert "calibration error (TCE)" in table_of(tree, 0.9).columns


def test_the_table_has_the_error_that_is_concluded_on() -> None:
    tree = make_result(("a",), draws=50, shape=(1, 2, 1))
    tree.attrs["conclusion_var"] = "mce"
    found = table_of(tree, 0.9)
    assert "largest calibration gap (MCE)" in found.columns
    mean = float(tree["posterior"]["mce"].mean())
    assert float(found.rows[0][2]) == pytest.approx(mean, abs=6e-4)


def test_the_table_names_the_description_of_the_curve() -> None:
    tree = make_result(("a", "b"), draws=50, p_calibrated=0.2, shape=(1, 2, 1))
    tree["model_average"]["weight"].loc[{"classifier": "b"}] = [0.6, 0.4, 0, 0]
    found = table_of(tree, 0.9)
    place = found.columns.index("curve")
    assert place == len(found.columns) - 2
    assert [row[place] for row in found.rows] == ["rough", "calibrated"]


def test_means_over_classes_are_rows_of_the_table() -> None:
    tree = make_result(("a",), classes=("x", "y"), draws=100, shape=(1, 2, 1))
    tree.attrs["multiclass"] = "marginal"
    *_, last = records(tree, 0.9)
    mean = bc.marginal(tree, "ece")
    assert last["case"] == "mean over classes"
    assert (last["ece_mean"], last["ece_lower"]) == (mean.mean, mean.lower)
    table = table_of(tree, 0.9)
    assert table.rows[-1][0] == "mean over classes"
    assert table.rows[-1][table.columns.index("curve")] == "–"


def test_a_table_of_rows_of_a_result_without_any_is_refused() -> None:
    with pytest.raises(bc.InputError, match=r"row by row; this one is of ece\. Use bayescal\.summ"):
        bc.row_table(make_result(("a",), draws=20))


@pytest.fixture(scope="module")
def tree() -> xr.DataTree:
    return make_panel_result()


def test_the_summary_has_a_row_a_classifier_and_metric(tree: xr.DataTree) -> None:
    frame = bc.summary(tree, prob=0.8)
    assert len(frame) == 3 * len(METRICS)
    row = frame[(frame["classifier"] == "b") & (frame["metric"] == "auc")].iloc[0]
    draws = tree["posterior"]["auc"].sel(classifier="b").values.ravel()
    assert row["mean"] == pytest.approx(draws.mean())
    assert row["median"] == pytest.approx(np.median(draws))
    assert (row["lower"], row["upper"]) == pytest.approx(tuple(np.quantile(draws, (0.1, 0.9))))
    place = {"classifier": "b"}
    assert row["point"] == tree["point_estimate"]["auc"].sel(place).item()
    for method in ("ensemble", "labeled"):
        held = tree["reference_estimates"]["auc"].sel(place | {"method": method})
        assert row[method] == held.item()
    assert set(frame["status"]) == {"ok"}


@pytest.mark.slow
def test_groups_one_classifier_no_labels_and_a_failed_fit() -> None:
    grouped = bc.summary(make_panel_result(groups=("x", "y")))
    assert list(grouped.index[:1]) == ["a / x"]
    assert set(grouped["group"]) == {"x", "y"}
    alone = bc.summary(make_panel_result(("only",), labeled=False, converged=False))
    assert set(alone["classifier"]) == {"only"}
    assert alone["labeled"].isna().all()
    assert set(alone["status"]) == {"NOT CONVERGED"}
    assert set(bc.summary(make_panel_result(labeled=False))["status"]) == {"NO LABELS"}


def test_the_difference_is_of_paired_draws(tree: xr.DataTree) -> None:
    found = bc.difference(tree, "a", "c", "accuracy", 0.5)
    one, two = (tree["posterior"]["accuracy"].sel(classifier=k).values.ravel() for k in "ac")
    assert found.draws == pytest.approx(one - two)
    assert (found.lower, found.upper) == pytest.approx(tuple(np.quantile(one - two, (0.25, 0.75))))
    assert found.prob_first_larger == np.mean(one > two)
    assert found.correlation == pytest.approx(np.corrcoef(one, two)[0, 1])
    turned = bc.difference(tree, "c", "a", "accuracy", 0.5)
    assert turned.mean == pytest.approx(-found.mean)
    assert found.text.startswith("accuracy of a minus c: +0.0")


def test_of_equal_classifiers_neither_is_larger() -> None:
    tree = make_panel_result(("a", "b"))
    held = tree["posterior"]["brier"]
    tree["posterior"]["brier"] = held.copy(data=np.full(held.shape, 0.2))
    found = bc.difference(tree, "a", "b", "brier")
    assert (found.prob_first_larger, found.prob_equal) == (0, 1)
    assert np.isnan(found.correlation)


def test_what_has_no_difference(tree: xr.DataTree) -> None:
    with pytest.raises(InputError, match="Choose from accuracy, ece"):
        bc.difference(tree, "a", "b", "tce")
    with pytest.raises(InputError, match="classifier must be one in the result"):
        bc.difference(tree, "a", "z", "auc")
    with pytest.raises(InputError, match="group must be one"):
        bc.difference(make_panel_result(groups=("x", "y")), "a", "b", "auc")
    for group, other in ((None, "metric"), ("x", "metric or group")):
        empty = make_panel_result(("a", "b"), ("x", "y") if group else ())
        empty["posterior"]["auc"] = empty["posterior"]["auc"] * np.nan
        with pytest.raises(InputError, match=rf"in every draw\. Choose another {other}\."):
            bc.difference(empty, "a", "b", "auc", group=group)


def test_power_scaling_names_what_is_undefined() -> None:
    tree = make_panel_result(("a", "b"))
    tree["posterior"]["auc"][0, 0] = np.nan
    frame = bc.power_scale(tree, ["auc", "ece"])
    found = dict(zip(frame["quantity"] + frame["classifier"], frame["diagnosis"], strict=True))
    assert found["auca"] == found["aucb"] == "undefined in some draws"
    assert found["ecea"] != "undefined in some draws"


def row(classifier: str, mean: float, status: str = "ok") -> dict:
    return {
        "classifier": classifier,
        "n": 10.0,
        "tce_mean": mean,
        "tce_lower": 0.0,
        "tce_upper": 2 * mean,
        "p_calibrated": 0.5,
        "status": status,
    }


def test_series_are_classifiers_in_groups_and_windows_in_order() -> None:
    rows = [
        ("north", "10", row("a", 0.1)),
        ("north", "9", row("a", 0.2, "NOT CONVERGED")),
        ("south", "9", row("b", 0.3)),
    ]
    found = series_of(rows, ["9", "10"], {})
    assert [one.name for one in found] == ["north / a", "south / b"]
    assert [window.name for window in found[0].windows] == ["9", "10"]
    assert [window.converged for window in found[0].windows] == [False, True]
    assert found[0].windows[1][1:5] == (10.0, 0.1, 0.0, 0.2)


def test_names_have_only_what_differs() -> None:
    assert [one.name for one in series_of([("", "9", row("a", 0.1))], ["9"], {})] == ["a"]
    assert [one.name for one in series_of([("north", "9", row("a", 0.1))], ["9"], {})] == ["north"]


ONE = make_result(("vit",))
SEVERAL = make_result(("vit", "a/b: c"), classes=("cat", "dog"))
# As MLflow checks names: these characters, and no path but a plain one.
VALID = re.compile(r"^[/\w.\- ]*$")


def test_one_case_has_the_numbers_of_the_summary() -> None:
    found, row = bc.metrics(ONE, ["e90"]), bc.summary(ONE, measures=["e90"]).iloc[0]
    for name in ("tce", "ece", "e90"):
        assert found[name] == row[f"{name}_mean"]
        assert (found[f"{name}_lower"], found[f"{name}_upper"]) == tuple(
            row[[f"{name}_lower", f"{name}_upper"]]
        )
    assert found["p_calibrated"] == row["p_calibrated"]
    assert found["converged"] == 1


def test_several_cases_have_prefixes() -> None:
    found = bc.metrics(SEVERAL)
    draws = SEVERAL["posterior"]["tce"].sel({"classifier": "a/b: c", "class": "dog"})
    assert found["a_b_ c/dog/tce"] == pytest.approx(float(draws.mean()))
    assert found["vit/cat/tce_lower"] < found["vit/cat/tce_upper"]


def test_the_probability_is_of_the_intervals() -> None:
    wide, narrow = bc.metrics(ONE, prob=0.99), bc.metrics(ONE, prob=0.5)
    assert wide["tce_upper"] > narrow["tce_upper"]
    assert wide["tce"] == narrow["tce"]


@pytest.mark.mcmc
@pytest.mark.parametrize("name", ["ece", "pu_ece", "agnostic", "ssme", "credal", "temperature"])
def test_every_quantity_has_finite_numbers_under_names_that_mlflow_takes(name: str) -> None:
    found = bc.metrics(results()[name])
    assert len(found) >= 5
    for key, value in found.items():
        assert VALID.match(key)
        assert posixpath.normpath(key) == key
        assert not key.startswith(("/", "../"))
        assert type(value) is float
        assert np.isfinite(value)


@pytest.mark.parametrize("name", [".", "..", "", "/", "a\n", "é"])
def test_names_of_classifiers_become_plain(name: str) -> None:
    for key in bc.metrics(make_result((name or " ", "vit"))):
        assert VALID.match(key)
        assert posixpath.normpath(key) == key


def test_no_number_takes_the_name_of_another() -> None:
    rate = Measure("mean+", "mean rate", lambda rate, _, mass: (rate * mass).sum(axis=-1))
    score = Measure("mean*", "mean score", lambda _, score, mass: mass @ score)
    assert {"mean_", "mean__lower"} <= bc.metrics(ONE, [rate]).keys()
    others = (score._replace(name=name) for name in ("tce_lower", "n"))
    for measures in ([rate, score], *([one] for one in others)):
        with pytest.raises(bc.InputError, match=r"names of measures must differ.* two numbers"):
            bc.metrics(ONE, measures)


@pytest.mark.filterwarnings("ignore")  # of MLflow's own dependencies
def test_mlflow_takes_them(tmp_path) -> None:
    mlflow = pytest.importorskip("mlflow")
    mlflow.set_tracking_uri(f"sqlite:///{tmp_path}/runs.db")
    with mlflow.start_run() as run:
        mlflow.log_metrics(bc.metrics(SEVERAL, ["net_benefit:0.25"]))
    assert mlflow.get_run(run.info.run_id).data.metrics["vit/cat/tce"] > 0


def test_weights_and_biases_takes_them(tmp_path) -> None:
    wandb = pytest.importorskip("wandb")
    with wandb.init(project="calibration", mode="offline", dir=tmp_path) as run:
        run.log(bc.metrics(SEVERAL, ["net_benefit:0.25"]))
        assert run.summary["vit/cat/tce"] > 0


def test_a_measure_without_a_value_leaves_the_others():
    def nothing(rate, score, mass):
        return np.full(rate.shape[:-1], np.nan)

    with pytest.warns(bc.DataWarning, match="Left out: nothing must be a finite number"):
        found = bc.summary(ONE, measures=["e90", nothing])
    assert found.equals(bc.summary(ONE, measures=["e90"]))
    with pytest.raises(bc.InputError, match="nothing must be a finite number"):
        bc.summary(ONE, measures=[nothing])


@pytest.mark.parametrize(
    ("tree", "given", "message"),
    [
        (ONE, {"prob": 2}, r"prob must be a number in \(0, 1\); got 2"),
        (ONE, {"measures": ["e99"]}, "did you mean 'e90'"),
        (ONE, {"measures": 5}, "measures must be"),
        ({"tce": 1}, {}, "result"),
        (make_result(("a:b", "a;b")), {}, "'a:b' and 'a;b' do not. Rename one"),
    ],
)
def test_wrong_input_is_refused(tree, given, message: str) -> None:
    with pytest.raises(bc.InputError, match=message):
        bc.metrics(tree, **given)
