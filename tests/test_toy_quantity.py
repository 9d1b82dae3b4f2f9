"""A quantity from outside gets everything that the package's own have, without an edit."""

import inspect
import json
from collections.abc import Iterator

import numpy as np
import pytest
import toy_quantity as toy
import toy_quantity_0_2 as toy_0_2
from click.testing import CliRunner
from scipy.stats import beta

import bayescal as bc
from bayescal.cli.main import cli
from bayescal.core.command import Command, Estimates, Option
from bayescal.core.quantity import (
    Bound,
    DirectDraws,
    LabelModel,
    Plan,
    Quantity,
    Reference,
    Variable,
)
from bayescal.quantities import _REGISTERED, base, quantities, register
from bayescal.quantities.base import BaseCase, BaseModel, BasePriors
from bayescal.workflow.simulation import sbc

# 20 rows; the first classifier is right on 18 of them, the second on 13.
LABELS = np.repeat([0, 1], 10)
SCORES = bc.Scores.stack(
    {
        "a": np.where(np.isin(np.arange(20), [0, 19]), 1 - LABELS, LABELS) * 0.8 + 0.1,
        "b": np.where(np.isin(np.arange(20), np.arange(3, 10)), 1 - LABELS, LABELS) * 0.8 + 0.1,
    },
    y_true=LABELS,
)
CORRECT = np.array([18, 13])


@pytest.fixture(autouse=True)
def registered() -> Iterator[None]:
    register(toy)
    yield
    _REGISTERED.clear()


@pytest.fixture(scope="module")
def result():
    return bc.fit(toy, SCORES, method="direct", seed=20)


def test_it_is_in_the_registry() -> None:
    assert quantities()["accuracy"] is toy


def test_the_fit_agrees_with_the_conjugate_posterior(result) -> None:
    draws = result["posterior"]["accuracy"].values.reshape(-1, 2)
    exact = beta(1 + CORRECT, 1 + 20 - CORRECT)
    # 4,000 independent draws: four standard errors of a mean are 4 sd / sqrt(4000).
    np.testing.assert_allclose(draws.mean(axis=0), exact.mean(), atol=4 * exact.std().max() / 63)
    table = bc.summary(result)
    np.testing.assert_allclose(table["lower"], exact.ppf(0.05), atol=0.015)


@pytest.mark.mcmc
def test_nuts_agrees_with_it_too() -> None:
    found = bc.fit("accuracy", SCORES, seed=20)
    exact = beta(1 + CORRECT, 1 + 20 - CORRECT)
    assert found.attrs["converged"] == "true"
    # At least 1,000 effective draws: four standard errors are 4 sd / sqrt(1000).
    means = found["posterior"]["accuracy"].mean(("chain", "draw")).values
    np.testing.assert_allclose(means, exact.mean(), atol=4 * exact.std().max() / 31)


@pytest.mark.slow
def test_simulated_ranks_are_uniform() -> None:
    found = sbc(toy, SCORES, 200, seed=20, variables=["accuracy"])
    # Two chi-square tests: a right program fails both bounds once in 10,000 seeds.
    assert min(found.p_values(10).values()) > 0.5e-4


def test_verbs_work(result) -> None:
    assert bc.best(result, "accuracy").name == "a"
    lower, upper = bc.interval(result, "accuracy").sel(classifier="a").values
    assert 0.6 < lower < 0.9 < upper < 1
    # 18 of 20 against 13 of 20.
    assert bc.difference(result, "a", "b", "accuracy").mean == pytest.approx(5 / 22, abs=0.02)
    assert not bc.power_scale(result).empty


def test_another_version_of_its_package_fits_again(tmp_path, monkeypatch) -> None:
    given = {"method": "direct", "draws": 100, "seed": 20, "store": tmp_path / "store"}
    monkeypatch.setattr(toy, "__version__", "1.0", raising=False)
    assert bc.fit_many(toy, {"all": SCORES}, **given).computed
    assert not bc.fit_many(toy, {"all": SCORES}, **given).computed
    monkeypatch.setattr(toy, "__version__", "1.1")
    with pytest.warns(bc.ManyFitsWarning, match="quantity_version '1.0' instead of '1.1'"):
        assert bc.fit_many(toy, {"all": SCORES}, **given).computed


def test_an_option_that_it_has_not_is_refused() -> None:
    with pytest.raises(bc.InputError, match="no option 'n_bins'; it has none"):
        bc.fit(toy, SCORES, n_bins=3)


def test_sensitivity_has_a_default_grid() -> None:
    grid = bc.prior_sensitivity("accuracy", SCORES, seed=20, method="direct")
    assert len(bc.conclusions(grid)) >= 1
    assert grid["posterior"].sizes["prior"] == 3


def test_it_is_drawn_and_reported(result, tmp_path) -> None:
    assert bc.plots.plot_metrics(result).axes
    assert bc.plots.plot_ranks(result).axes
    page = bc.report(result, tmp_path / "toy.html")
    assert "Accuracy" in page.read_text()


@pytest.mark.slow
def test_a_saved_result_comes_back(result, tmp_path) -> None:
    path = bc.save(result, tmp_path / "toy.nc")
    assert bc.summary(bc.load(path)).equals(bc.summary(result))


def write_scores(path) -> str:
    lines = [f"{y},{a},{b}" for y, a, b in zip(LABELS, *SCORES.y_prob, strict=True)]
    path.write_text("\n".join(["y,a,b", *lines]) + "\n")
    return str(path)


def test_it_has_commands(tmp_path) -> None:
    file = write_scores(tmp_path / "scores.csv")
    given = [file, "--label", "y", "--score", "a", "--score", "b"]
    run = CliRunner().invoke(cli, ["accuracy", *given, "--quick", "--json"])
    assert run.exit_code == 0, run.output
    assert json.loads(run.stdout)["quantity"] == "accuracy"
    run = CliRunner().invoke(cli, ["accuracy", *given, "--estimate-only"])
    assert run.exit_code == 0, run.output
    assert "0.9" in run.stdout
    run = CliRunner().invoke(cli, ["sensitivity", "accuracy", *given, "--quick"])
    assert run.exit_code == 0, run.output
    assert "Jeffreys" in run.stdout
    run = CliRunner().invoke(cli, ["cite", "accuracy"])
    assert "Hoeffding" in run.stdout


def test_a_quantity_of_version_0_2_works_with_a_warning() -> None:
    _REGISTERED.clear()
    base.adapted.cache_clear()
    with pytest.warns(DeprecationWarning, match="replace its KIND.*by VARIABLES"):
        register(toy_0_2)
    found = bc.fit("accuracy", SCORES, method="direct", seed=20)
    exact = beta(1 + CORRECT, 1 + 20 - CORRECT)
    np.testing.assert_allclose(bc.summary(found)["lower"], exact.ppf(0.05), atol=0.015)
    assert bc.best(found).title == "accuracy"
    assert found["posterior"]["accuracy"].dims == ("chain", "draw", "classifier")
    assert bc.fit(toy_0_2, SCORES.select("b"), method="direct", seed=20).attrs["result_kind"]


def test_what_an_author_must_know_is_little() -> None:
    """Members without a default of all that `toy_quantity.py` has to fill in."""
    records = (Reference, Bound, Variable, Plan, DirectDraws, Option, Estimates, Command)
    counted = {record.__name__: required(record) for record in records}
    counted |= {"Quantity": members(Quantity), "Priors": members(BasePriors)}
    counted["LabelModel"] = {"variables", "add_to_model", "direct_draws", "log_prior"}
    counted["Case"] = {"coords", "model"} | set(BaseCase.__abstractmethods__)
    assert counted["LabelModel"] | members(BaseModel) == members(LabelModel)
    assert sum(map(len, counted.values())) <= 45, counted


def required(record: type) -> set[str]:
    """Fields without a default."""
    given = inspect.signature(record).parameters.values()
    return {one.name for one in given if one.default is one.empty}


def members(shape: type) -> set[str]:
    return {name for name in vars(shape) if not name.startswith("_")}
