"""Flat names and numbers of a result, against its summary."""

import posixpath
import re

import numpy as np
import pytest
from hostile.objects import results

import bayescal as bc
from tests.synthetic import make_result

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
