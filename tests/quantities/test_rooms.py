"""Every entry of QUANTITIES is a quantity: its names, its data, its model, and where a reader finds it.

The rules are those of `bayescal.core.quantity` and of docs/architecture.md; nothing is fitted here.
"""

from __future__ import annotations

import dataclasses
import inspect
import re
import subprocess
import sys
import typing
from collections.abc import Callable, Mapping
from fnmatch import fnmatch
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pytest
from click.testing import CliRunner

import bayescal as bc
from bayescal.cli.main import cli
from bayescal.core.quantity import Bound, Case, Quantity, Reference
from bayescal.quantities import QUANTITIES

ROOT = Path(__file__).parents[2]


class Made(NamedTuple):
    """Simulated data of a quantity, with priors under which it can be simulated again."""

    data: Any
    priors: Any
    told: Mapping[str, Any] = {}


# What each quantity answers is asked of data of its own kind; a quantity without an entry fails below.
MAKE: dict[str, Callable[[], Made]] = {
    "ece": lambda: Made(bc.datasets.ece.truth("over").scores(200, seed=20), bc.ece.Priors()),
    "pu_ece": lambda: Made(
        bc.datasets.pu_ece.truth("over").scores((200, 200), seed=20),
        bc.pu_ece.Priors(class_prior=bc.Beta(4, 6)),
        {"class_prior": 0.4},
    ),
    "ssme": lambda: Made(
        bc.datasets.ssme.truth("mixed").scores(20, 100, seed=20), bc.ssme.Priors(power=1)
    ),
    "credal": lambda: Made(
        bc.datasets.credal.truth("logistic").split(100, 20, seed=20), bc.credal.Priors()
    ),
}


def members(protocol: type) -> set[str]:
    """Names that a Protocol asks for."""
    asked = [vars(base) for base in protocol.__mro__ if getattr(base, "_is_protocol", False)]
    return {name for names in asked for name in names if not name.startswith("_")}


def text(*parts: str) -> str:
    return ROOT.joinpath(*parts).read_text(encoding="utf-8")


def section(page: str, title: str) -> str:
    found = re.search(rf"^## {title}\n(.*?)(?=^## |\Z)", page, flags=re.DOTALL | re.MULTILINE)
    assert found is not None, f"no section {title!r}"
    return found[1]


@pytest.fixture(params=QUANTITIES)
def quantity(request: pytest.FixtureRequest) -> Any:
    return QUANTITIES[request.param]


@pytest.fixture
def made(quantity: Any) -> Made:
    return MAKE[quantity.NAME]()


def test_every_room_is_registered_under_its_name_and_is_public(quantity: Any) -> None:
    assert QUANTITIES[quantity.NAME] is quantity
    assert getattr(bc, quantity.NAME) is quantity
    assert quantity.NAME in bc.__all__


def test_no_room_stands_outside_the_registry() -> None:
    there = {path.parent.name for path in (ROOT / "bayescal/quantities").glob("*/__init__.py")}
    assert there == set(QUANTITIES) == set(MAKE)


def test_a_room_has_what_the_protocol_asks_for(quantity: Any) -> None:
    assert members(Quantity) <= set(quantity.__all__)
    assert all(getattr(quantity, name) is not None for name in quantity.__all__)
    for name in ("TITLE", "ESTIMAND"):
        assert re.fullmatch(r"\S(.*\S)?", getattr(quantity, name)), name


def test_an_unknown_name_of_a_room_is_refused_and_known_ones_are_listed(quantity: Any) -> None:
    assert set(quantity.__all__) <= set(dir(quantity))
    with pytest.raises(AttributeError, match=f"{quantity.NAME}' has no attribute 'estimat'"):
        quantity.estimat  # noqa: B018


def test_estimand_names_what_must_converge(quantity: Any) -> None:
    said = set(re.findall(r"\w+", quantity.ESTIMAND))
    assert quantity.MONITORED
    assert said & set(quantity.MONITORED)


def test_references_name_a_work_its_address_and_what_is_taken(quantity: Any) -> None:
    assert quantity.REFERENCES
    assert all(isinstance(reference, Reference) for reference in quantity.REFERENCES)
    keys = [reference.key for reference in quantity.REFERENCES]
    assert len(set(keys)) == len(keys)
    for reference in quantity.REFERENCES:
        assert re.search(r" https://\S+$", reference.citation), reference.key
        assert re.search(r"\b(19|20)\d\d\b", reference.citation), reference.key
        assert reference.where.endswith("."), reference.key


def test_priors_are_frozen_and_say_what_they_are(quantity: Any, made: Made) -> None:
    priors = made.priors
    assert isinstance(priors, quantity.Priors)
    with pytest.raises(dataclasses.FrozenInstanceError):
        setattr(priors, dataclasses.fields(priors)[0].name, None)
    assert priors.describe()
    assert priors.to_json().startswith("{")
    assert "Parameters" in (inspect.getdoc(quantity.Priors) or "")


def test_functions_take_what_fitting_hands_them(quantity: Any) -> None:
    first = {
        "build_model": ["data", "priors"],
        "cases": ["data", "priors"],
        "describe": ["data"],
        "pairing": ["data", "cases", "draws"],
        "replicate": ["case", "rng"],
    }
    for name, wanted in first.items():
        parameters = list(inspect.signature(getattr(quantity, name)).parameters.values())
        assert [p.name for p in parameters[: len(wanted)]] == wanted, name
        assert all(p.kind in (p.KEYWORD_ONLY, p.VAR_KEYWORD) for p in parameters[len(wanted) :])
    options = set(inspect.signature(quantity.cases).parameters) - {"data", "priors"}
    assert options == set(inspect.signature(quantity.describe).parameters) - {"data"}


def test_every_bound_has_a_value_a_kind_and_an_assumption(quantity: Any) -> None:
    bounds = typing.get_type_hints(quantity.bounds)["return"]
    assert set(typing.get_type_hints(bounds).values()) == {Bound}


def test_the_estimate_has_the_dims_of_the_posterior(quantity: Any, made: Made) -> None:
    data, priors, told = made
    case = quantity.cases(data, priors)[0]
    estimate = quantity.estimate(data, **told)
    shared = set(estimate._fields) & set(quantity.MONITORED)
    assert shared
    for name in shared:
        assert np.ndim(getattr(estimate, name)) == len(case.dims.get(name, ())), name


def test_cases_are_what_the_protocol_asks_for(quantity: Any, made: Made) -> None:
    data, priors, _ = made
    for case in quantity.cases(data, priors):
        assert members(Case) <= set(dir(case))
        assert hash(case.compile_key) is not None
        assert set(case.coords) <= {"classifier", "class", "group"}
        assert not set(case.coords) & set(case.axes)
        assert case.fingerprint() == quantity.cases(data, priors)[0].fingerprint()
        assert all(isinstance(note, str) for note in case.warnings)
        assert 0 < case.target_accept < 1
        assert case.max_depth > 0


def test_a_model_is_unsampled_with_its_data_exchangeable(quantity: Any, made: Made) -> None:
    import pymc as pm

    data, priors, _ = made
    case = quantity.cases(data, priors)[0]
    for model in (quantity.build_model(data, priors), case.build_model()):
        assert type(model) is pm.Model
        assert model.coords
        assert model.observed_RVs
        assert set(case.inputs()) <= {data_var.name for data_var in model.data_vars}
        assert set(case.variables) <= set(model.named_vars)


def test_simulated_labels_share_the_compiled_model(quantity: Any, made: Made) -> None:
    data, priors, _ = made
    case = quantity.cases(data, priors)[0]
    again, values = quantity.replicate(case, np.random.default_rng(20))
    assert again.compile_key == case.compile_key
    assert again.coords == case.coords
    assert again.fingerprint() != case.fingerprint()
    assert set(values) & set(quantity.MONITORED)


def test_the_description_is_of_plain_values(quantity: Any, made: Made) -> None:
    told = quantity.describe(made.data)
    assert {"n_obs", "n_labeled", "classes", "multiclass"} <= set(told)
    assert all(isinstance(value, str | int | float | list) for value in told.values())


def test_a_simulator_knows_the_truth(quantity: Any) -> None:
    simulator = getattr(bc.datasets, quantity.NAME)
    assert all(simulator.truth(name) is found for name, found in simulator.TRUTHS.items())
    with pytest.raises(bc.InputError, match=next(iter(simulator.TRUTHS))):
        simulator.truth("of no such name")


def test_every_dim_is_in_the_schema(quantity: Any) -> None:
    described = section(text("docs", "schema.md"), "Dimensions")
    for dim in {dim for dims in quantity.DIMS.values() for dim in dims}:
        assert f"`{dim}`" in described, dim


def test_every_variable_that_must_converge_is_in_the_schema(quantity: Any) -> None:
    described = section(text("docs", "schema.md"), f"Variables of `{quantity.NAME}`")
    for name in quantity.MONITORED:
        assert f"`{name}`" in described, name


def test_a_room_has_a_command_and_is_cited(quantity: Any) -> None:
    run = CliRunner().invoke(cli, [quantity.NAME.replace("_", "-"), "--help"])
    assert run.exit_code == 0
    assert "--score" in run.stdout
    cited = CliRunner().invoke(cli, ["cite", quantity.NAME])
    assert cited.exit_code == 0
    assert all(reference.citation in cited.stdout for reference in quantity.REFERENCES)


@pytest.mark.parametrize(
    ("page", "mark"),
    [
        ("README.md", "(docs/{name}.md)"),
        ("README.md", "| **{word}** `{name}` |"),
        ("docs/index.md", "[]({name}.md)"),
        ("docs/index.md", "{{doc}}`notebooks/{name}`"),
        ("docs/index.md", "<notebooks/{name}>"),
        ("docs/api.md", "bayescal.quantities.{name}.estimate"),
        ("docs/api.md", "bayescal.datasets.{name}.truth"),
        ("docs/architecture.md", "| `bayescal/quantities/{name}/` |"),
        ("docs/glossary.md", "`{name}`"),
        ("docs/glossary.md", "({name}.md)"),
        ("docs/cli.md", "bayescal {command} "),
        ("CHANGELOG.md", "The quantity `{name}`"),
    ],
)
def test_readers_find_the_room(quantity: Any, page: str, mark: str) -> None:
    word = quantity.NAME if quantity.NAME == "credal" else quantity.NAME.upper().replace("_", "-")
    wanted = mark.format(name=quantity.NAME, command=quantity.NAME.replace("_", "-"), word=word)
    assert wanted in text(*page.split("/")), f"{page} must hold {wanted!r}"


def test_a_room_has_a_page_and_a_notebook_and_tests(quantity: Any) -> None:
    assert f"notebooks/{quantity.NAME}" in text("docs", f"{quantity.NAME}.md")
    assert (ROOT / "notebooks" / f"{quantity.NAME}.ipynb").is_file()
    assert list((ROOT / "tests" / "quantities" / quantity.NAME).glob("test_*.py"))


def test_the_architecture_page_says_what_every_file_of_a_room_is_for(quantity: Any) -> None:
    patterns = re.findall(r"`(?:\w+/)*([\w*]+\.py)`", text("docs", "architecture.md"))
    for path in (ROOT / "bayescal" / "quantities" / quantity.NAME).glob("*.py"):
        known = any(fnmatch(path.name, pattern) for pattern in patterns)
        assert known or path.name == "__init__.py", path.name


def test_a_posterior_without_nuts_loads_no_sampler() -> None:
    # `--quick` promises so; in a process of its own, as other tests have loaded PyMC.
    code = """
import sys
import bayescal as bc
split = bc.datasets.credal.truth("logistic").split(60, 5, seed=1)
bins = bc.credal.Priors(label_rate=bc.credal.ImpreciseDirichlet())
bc.fit(bc.credal, split, priors=bins, method="direct", draws=100, seed=1)
pu = bc.datasets.pu_ece.truth("over").scores((50, 50), seed=1)
prior = bc.pu_ece.Priors(class_prior=bc.Beta(4, 6))
bc.fit(bc.pu_ece, pu, priors=prior, method="direct", draws=100, seed=1)
bc.fit(bc.ece, bc.datasets.ece.truth("over").scores(50, seed=1), method="direct", draws=100, seed=1)
assert {"pymc", "pytensor", "nutpie", "matplotlib"}.isdisjoint(sys.modules)
"""
    run = subprocess.run([sys.executable, "-c", code], check=False, capture_output=True, text=True)
    assert run.returncode == 0, run.stderr


def test_every_notebook_is_in_the_docs() -> None:
    pages = text("docs", "index.md")
    for path in (ROOT / "notebooks").glob("*.ipynb"):
        assert f"{{doc}}`notebooks/{path.stem}`" in pages, path.name
        assert f"<notebooks/{path.stem}>" in pages, path.name
