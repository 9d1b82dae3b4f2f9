"""What is compiled of a model: few functions, none of BLAS, shared by models of one structure."""

import numpy as np
import pymc as pm
import pytest
from scipy.stats import norm

import bayescal as bc
from bayescal.core.quantity import members
from bayescal.inference.density import compile_density, compile_outputs, density_core, graph_of
from bayescal.inference.sampler import compile_model
from bayescal.quantities import agnostic, credal, ece, pu_ece, ssme, temperature

RNG = np.random.default_rng(2)
ROWS = 300
LOGIT = 1.5 * RNG.normal(size=ROWS)
SCORE = 1 / (1 + np.exp(-1.6 * LOGIT))
LABEL = (RNG.random(ROWS) < 1 / (1 + np.exp(-LOGIT))).astype(int)
GROUP = np.where(np.arange(ROWS) % 2, "b", "a")
PROB = RNG.dirichlet(np.ones(3), ROWS)
SCORES = bc.Scores(y_true=LABEL, y_prob=SCORE)
FEW = np.where(np.arange(ROWS) < 60, LABEL, np.nan)
DATA = {
    "ece": (ece, SCORES),
    "ece by group": (ece, bc.Scores(y_true=LABEL, y_prob=SCORE, group=GROUP)),
    "pu_ece": (pu_ece, bc.PUScores(positive=SCORE[:90], unlabeled=SCORE[90:])),
    "credal": (credal, bc.CalibrationSplit(calibration=SCORES, target=SCORE)),
    "agnostic": (agnostic, SCORES),
    "temperature": (temperature, bc.Scores(y_true=np.arange(ROWS) % 3, y_prob=PROB)),
    "ssme": (ssme, bc.Scores.stack({"a": SCORE, "b": np.sqrt(SCORE)}, y_true=FEW)),
}


def built(name):
    """PyMC models of every member of a quantity's default."""
    quantity, data = DATA[name]
    priors = pu_ece.Priors(class_prior=bc.Beta(20, 22)) if name == "pu_ece" else quantity.Priors()
    case = quantity.plan(data, priors).cases[0]
    return [
        case.build_model(member) if member else case.build_model() for member in members(case.model)
    ]


@pytest.mark.parametrize("name", DATA)
def test_no_density_goes_through_blas(name, monkeypatch):
    compiled, pm_compile = [], pm.compile

    def keep(*given, **options):
        compiled.append(pm_compile(*given, **options))
        return compiled[-1]

    monkeypatch.setattr(pm, "compile", keep)
    for model in built(name):
        compile_density(graph_of(density_core(model)))
    nodes = [node for function in compiled for node in function.maker.fgraph.apply_nodes]
    names = {type(node.op).__name__ for node in nodes}
    assert names
    assert not {name for name in names if "dot" in name.lower() or "gem" in name.lower()}
    # Each length that is checked while sampling costs a quarter of a second to compile.
    assert "SpecifyShape" not in names


def build(size=3, scale=2.0):
    with pm.Model(coords={"unit": np.arange(size)}) as model:
        spread = pm.Data("spread", np.full(size, scale), dims="unit")
        location = pm.Normal("location", 0.0, 3.0, dims="unit")
        pm.Normal("observed", location, spread, observed=np.ones(size), dims="unit")
        pm.Deterministic("doubled", 2 * location + spread)
        pm.Potential("all", -pm.model.modelcontext(None)["doubled"].sum())
    return model


def test_what_needs_data_alone_is_computed_once_a_fit():
    graph = graph_of(density_core(build()))
    prepared = compile_density(graph).prepare(np.array([0.5, 1.0, 4.0]))
    inner = {np.asarray(one).shape for one in prepared}
    assert inner <= {(3,), (1,), ()}


@pytest.mark.mcmc
def test_density_and_gradient_are_those_of_the_model():
    graph = graph_of(density_core(build()))
    density = compile_density(graph)
    spread, location = np.array([0.5, 1.0, 4.0]), np.array([0.3, -1.0, 2.0])
    prepared = [np.asarray(one, order="C") for one in density.prepare(spread)]
    found, gradient = density.function(location, *prepared)
    doubled = 2 * location + spread
    expected = norm(0, 3).logpdf(location) + norm(location, spread).logpdf(1) - doubled
    # PyMC takes the logarithm of its own 3.0 in single precision.
    assert float(found) == pytest.approx(expected.sum(), rel=1e-8)
    slope = -location / 9 + (1 - location) / spread**2 - 2
    np.testing.assert_allclose(gradient, slope, rtol=1e-12)


def test_variables_of_many_points_at_once():
    core = density_core(build())
    spread, points = np.array([0.5, 1.0, 4.0]), np.random.default_rng(1).normal(size=(5, 3))
    location, doubled = compile_outputs(graph_of(core))(points, spread)
    assert [variable.name for variable in core.free_RVs] == ["location"]
    np.testing.assert_array_equal(location, points)
    np.testing.assert_allclose(doubled, 2 * points + spread, rtol=1e-14)


@pytest.mark.mcmc
def test_models_of_one_structure_share_compiled_code():
    compile_model(build())
    again = compile_model(build(scale=0.5))
    assert again.density.function.stats.cache_hits
    assert not again.density.function.stats.cache_misses
