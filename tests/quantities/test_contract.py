"""Every quantity keeps the contract: its names, its plan, its cases and its models.

The rules are those of `bayescal.core.quantity`; nothing is fitted here.
"""

import dataclasses
import functools
import inspect
import json
import re
import subprocess
import sys
import typing
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

import numpy as np
import pytest
from click.testing import CliRunner

import bayescal as bc
from bayescal.cli.main import cli
from bayescal.core.quantity import (
    CURVE,
    DATA,
    ERROR,
    LESS,
    METRIC,
    MORE,
    PARAMETER,
    ROW,
    Bound,
    Case,
    LabelModel,
    Plan,
    Quantity,
    Reference,
    dims_of,
)
from bayescal.core.quantity import members as sampled_models
from bayescal.quantities import OWN, quantities


class Made(NamedTuple):
    """Simulated data of a quantity, with priors under which it can be simulated again."""

    data: Any
    priors: Any
    known: Mapping[str, Any] = {}


# Each quantity is tested on data of its own kind; one without an entry fails below.
MAKE: dict[str, Callable[[], Made]] = {
    "agnostic": lambda: Made(
        bc.datasets.agnostic.truth("over").scores(200, seed=20), bc.agnostic.Priors()
    ),
    "ece": lambda: Made(bc.datasets.ece.truth("over").scores(200, seed=20), bc.ece.Priors()),
    "pu_ece": lambda: Made(
        bc.datasets.pu_ece.truth("over").scores((200, 200), seed=20),
        bc.pu_ece.Priors(class_prior=bc.Beta(4, 6)),
        {"class_prior": 0.4},
    ),
    "ssme": lambda: Made(
        bc.datasets.ssme.truth("mixed").scores(20, 100, seed=20),
        bc.ssme.Priors(power=1, discount=0),
    ),
    "credal": lambda: Made(
        bc.datasets.credal.truth("logistic").split(100, 20, seed=20), bc.credal.Priors()
    ),
    "temperature": lambda: Made(
        bc.datasets.temperature.truth("heterogeneous").scores(200, seed=20),
        bc.temperature.Priors(),
    ),
}


def members(protocol: type) -> set[str]:
    """Names that a Protocol has."""
    found = [vars(base) for base in protocol.__mro__ if getattr(base, "_is_protocol", False)]
    return {name for names in found for name in names if not name.startswith("_")}


@pytest.fixture(params=OWN)
def quantity(request: pytest.FixtureRequest) -> Any:
    return quantities()[request.param]


@pytest.fixture
def made(quantity: Any) -> Made:
    return MAKE[quantity.NAME]()


@pytest.fixture
def plan(quantity: Any, made: Made) -> Plan:
    return quantity.plan(made.data, made.priors)


def test_every_folder_is_registered_under_its_name_and_is_public(quantity: Any) -> None:
    assert quantity.__name__ == f"bayescal.quantities.{quantity.NAME}"
    assert getattr(bc, quantity.NAME) is quantity
    assert quantity.NAME in bc.__all__


def test_every_quantity_is_tested_here() -> None:
    assert set(OWN) == set(MAKE)


def test_it_has_what_the_protocol_names(quantity: Any) -> None:
    assert members(Quantity) <= set(quantity.__all__)
    assert all(getattr(quantity, name) is not None for name in quantity.__all__)
    for name in ("TITLE", "ESTIMAND"):
        assert re.fullmatch(r"\S(.*\S)?", getattr(quantity, name)), name


def test_its_variables_say_what_they_are(quantity: Any) -> None:
    names = [one.name for one in quantity.VARIABLES]
    assert len(set(names)) == len(names)
    assert quantity.VARIABLES[0].role in (ERROR, METRIC, ROW)
    for one in quantity.VARIABLES:
        assert one.role in (ERROR, METRIC, CURVE, ROW, PARAMETER, DATA), one.name
        assert one.better in (None, LESS, MORE), one.name
        assert one.title, one.name
        single = one.role in (ERROR, METRIC) and set(one.dims) <= {"classifier", "group"}
        assert bool(one.meaning) or not single or "_uncalibrated" in one.name, one.name


def test_an_unknown_name_is_refused_and_known_ones_are_listed(quantity: Any) -> None:
    assert set(quantity.__all__) <= set(dir(quantity))
    with pytest.raises(AttributeError, match="estimat"):
        quantity.estimat  # noqa: B018  # looking it up raises


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


def test_priors_hold_numbers_of_numpy_as_those_of_python(quantity: Any, made: Made) -> None:
    held = {one.name: getattr(made.priors, one.name) for one in dataclasses.fields(made.priors)}
    own = {name: np.float32(value) for name, value in held.items() if isinstance(value, float)}
    told = json.loads(dataclasses.replace(made.priors, **own).to_json())
    assert {name: told[name] for name in own} == {name: float(own[name]) for name in own}


def test_alternative_priors_begin_with_the_given_ones_and_differ(quantity: Any, made: Made) -> None:
    found = made.priors.alternatives()
    assert next(iter(found)) == "default"
    assert found["default"] is made.priors
    assert len({priors.to_json() for priors in found.values()}) == len(found) >= 3
    assert all(isinstance(priors, quantity.Priors) for priors in found.values())


def test_plan_and_build_model_take_data_and_priors(quantity: Any) -> None:
    for function in (quantity.plan, quantity.build_model):
        parameters = list(inspect.signature(function).parameters.values())
        assert [p.name for p in parameters[:2]] == ["data", "priors"]
        assert all(p.kind in (p.KEYWORD_ONLY, p.VAR_KEYWORD) for p in parameters[2:])
    assert typing.get_type_hints(quantity.plan)["return"] is Plan


def test_other_data_are_refused_with_the_right_class(quantity: Any, made: Made) -> None:
    with pytest.raises(bc.InputError, match=f"{quantity.NAME} takes .*got list. Pass bayescal"):
        quantity.plan([0.5], made.priors)


def test_priors_of_another_quantity_are_named_with_it(quantity: Any, made: Made) -> None:
    other = "agnostic" if quantity.NAME == "credal" else "credal"
    rule = f"priors must be {quantity.NAME}.Priors; got {other}.Priors. Pass bayescal"
    for call in (quantity.plan, quantity.build_model, functools.partial(bc.fit, quantity)):
        with pytest.raises(bc.InputError, match=re.escape(rule)):
            call(made.data, priors=quantities()[other].Priors())


def test_every_bound_has_a_value_a_kind_and_an_assumption(quantity: Any) -> None:
    bounds = typing.get_type_hints(quantity.bounds)["return"]
    assert set(typing.get_type_hints(bounds).values()) == {Bound}


def test_the_estimate_has_the_dims_of_the_posterior(quantity: Any, made: Made, plan: Plan) -> None:
    case = plan.cases[0]
    estimate = quantity.estimate(made.data, **made.known)
    shared = set(estimate._fields) & set(case.monitored)
    assert shared
    dims = dims_of(plan.variables or quantity.VARIABLES, case.axes)
    for name in shared:
        assert np.ndim(getattr(estimate, name)) == len(dims[name]), name


def test_the_estimand_names_what_must_converge(quantity: Any, plan: Plan) -> None:
    assert set(re.findall(r"\w+", quantity.ESTIMAND)) & set(plan.cases[0].monitored)


def test_cases_keep_the_contract(quantity: Any, made: Made, plan: Plan) -> None:
    again = quantity.plan(made.data, made.priors).cases
    for case, same in zip(plan.cases, again, strict=True):
        assert members(Case) <= set(dir(case))
        assert members(LabelModel) <= set(dir(case.model))
        for model in sampled_models(case.model).values():
            assert members(LabelModel) <= set(dir(model))
            assert hash(model.compile_key) is not None
        assert hash(case.model.compile_key) is not None
        assert set(case.coords) <= {"classifier", "class", "group"}
        assert not set(case.coords) & set(case.axes)
        assert case.fingerprint() == same.fingerprint()
        assert all(isinstance(sentence, str) for sentence in case.warnings)
        assert 0 < case.model.target_accept < 1
        assert case.model.max_depth > 0


def test_draws_of_a_model_have_a_log_prior_each(plan: Plan) -> None:
    model = plan.cases[0].model
    direct = model.direct_draws(20, np.random.default_rng(20))
    if direct is None:
        pytest.skip("draws come from NUTS alone")
    for values in model.log_prior(direct.draws).values():
        assert np.shape(values)[0] == 20
        assert not np.isnan(values).any()


def test_attributes_are_plain_values(plan: Plan) -> None:
    assert {"n_obs", "n_labeled", "classes", "multiclass"} <= set(plan.attrs)
    assert all(isinstance(value, str | int | float | list) for value in plan.attrs.values())


@pytest.mark.slow
def test_a_model_is_unsampled_with_its_data_exchangeable(
    quantity: Any, made: Made, plan: Plan
) -> None:
    import pymc as pm

    case = plan.cases[0]
    # Of an average, each description that NUTS samples; build_model gives the last of them.
    sampled = sampled_models(case.model)
    built = [(name, case.build_model(name) if name else case.build_model()) for name in sampled]
    built.append((list(sampled)[-1], quantity.build_model(made.data, made.priors)))
    for name, model in built:
        assert type(model) is pm.Model
        assert model.coords
        assert model.observed_RVs
        assert set(sampled[name].inputs()) <= {data.name for data in model.data_vars}
        assert set(sampled[name].variables) <= set(model.named_vars)


def test_simulated_data_share_the_compiled_model(plan: Plan) -> None:
    case = plan.cases[0]
    again, values = case.simulate(np.random.default_rng(20))
    assert type(again) is type(case)
    assert again.model.compile_key == case.model.compile_key
    assert again.coords == case.coords
    assert again.fingerprint() != case.fingerprint()
    assert set(values) & set(case.monitored)


def test_a_simulator_knows_the_truth(quantity: Any) -> None:
    simulator = getattr(bc.datasets, quantity.NAME)
    assert all(simulator.truth(name) is found for name, found in simulator.TRUTHS.items())
    with pytest.raises(bc.InputError, match=next(iter(simulator.TRUTHS))):
        simulator.truth("of no such name")


def test_it_has_a_command_and_is_cited(quantity: Any) -> None:
    run = CliRunner().invoke(cli, [quantity.NAME.replace("_", "-"), "--help"])
    assert run.exit_code == 0
    assert "--score" in run.stdout
    cited = CliRunner().invoke(cli, ["cite", quantity.NAME])
    assert cited.exit_code == 0
    assert all(reference.citation in cited.stdout for reference in quantity.REFERENCES)


@pytest.mark.mcmc
def test_a_posterior_without_nuts_loads_no_sampler() -> None:
    # `--quick` promises so; in a process of its own, as other tests have loaded PyMC.
    code = """
import sys
import bayescal as bc
split = bc.datasets.credal.truth("logistic").split(60, 5, seed=1)
bins = bc.credal.Priors(label_rate=bc.credal.ImpreciseDirichlet())
bc.fit(bc.credal, split, priors=bins, method="direct", draws=100, seed=1)
pu = bc.datasets.pu_ece.truth("over").scores((50, 50), seed=1)
prior = bc.pu_ece.Priors(bc.Beta(4, 6), bc.pu_ece.SmoothCurve())
bc.fit(bc.pu_ece, pu, priors=prior, method="direct", draws=100, seed=1)
bc.fit(bc.ece, bc.datasets.ece.truth("over").scores(50, seed=1), method="direct", draws=100, seed=1)
assert {"pymc", "pytensor", "nutpie", "matplotlib"}.isdisjoint(sys.modules)
"""
    run = subprocess.run([sys.executable, "-c", code], check=False, capture_output=True, text=True)
    assert run.returncode == 0, run.stderr
