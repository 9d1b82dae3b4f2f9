"""The PyMC model computes what the quantity computes, and has the density written down for it."""

import warnings

import numpy as np
import pymc as pm
import pytensor
import pytest
from scipy.special import expit
from scipy.stats import beta, betabinom, binom, gamma, lognorm, norm

import bayescal as bc
from bayescal.core.bin_counts import BinCounts
from bayescal.core.errors import InputError
from bayescal.curves.cells import Problem, draw_masses, error_draws, pad
from bayescal.curves.smooth import CELLS
from bayescal.quantities.ece.model import build_model, label_model, model_of
from bayescal.quantities.ece.priors import HierarchicalBins, IndependentBins, Priors, SmoothCurve
from tests.interpreted import PLAIN
from tests.quantities.ece.made import problem

FAMILIES = {
    "curve": SmoothCurve(),
    "independent": IndependentBins(bc.Beta(0.5, 2)),
    "hierarchical": HierarchicalBins(bc.LogNormal(2, 1)),
}


def with_empty_bins():
    """A bin without rows, and one between equal edges as ties make them."""
    cells = BinCounts(
        [0, 0.1, 0.2, 0.3, 0.4, 0.7, 1],
        [4, 3, 0, 0, 0, 9],
        [1, 2, 0, 0, 0, 9],
        [0.05, 0.15, 0, 0, 0, 0.9],
    )
    return Problem({"classifier": "made"}, cells, cells.merge([0, 0.2, 0.2, 0.4, 1]))


PROBLEMS = {
    "fine": problem(n=60, n_bins=4),
    "bins": problem(n=60, n_bins=4, fine=False),
    "empty bins": with_empty_bins(),
}


@pytest.mark.slow
@pytest.mark.parametrize("made", PROBLEMS.values(), ids=PROBLEMS)
@pytest.mark.parametrize("prior", FAMILIES.values(), ids=FAMILIES)
def test_deterministics_are_the_quantities_of_the_same_draws(prior, made):
    labels = label_model(made, Priors(prior))
    direct = labels.direct_draws(3, np.random.default_rng(1))
    draws = {name: values[None] for name, values in direct.draws.items()}
    cell_rates = labels.cell_rates(draws, np.random.default_rng(2))
    drawn = draw_masses(made.cells.count, cell_rates.shape[:-1], np.random.default_rng(3))
    expected = error_draws(made, cell_rates, drawn)
    # The same gammas that `error_draws` makes its masses of; empty cells may have any.
    masses = np.random.default_rng(3).standard_gamma(
        made.cells.count.astype(float), size=(1, 3, made.cells.n_bins)
    )

    model = model_of(made, labels)
    function = pytensor.function(
        model.free_RVs, model.deterministics, mode=PLAIN, on_unused_input="ignore"
    )
    cells = labels.compile_key[-1]
    for draw in range(3):
        values = {name: array[0, draw] for name, array in draws.items()}
        values["gamma"] = np.pad(masses[0, draw], (0, cells - made.cells.n_bins), constant_values=7)
        if "rate" not in values:
            values["rate"] = pad(cell_rates[0, draw], cells)
        found = function(*(values[variable.name] for variable in model.free_RVs))
        for variable, value in zip(model.deterministics, found, strict=True):
            np.testing.assert_allclose(value, expected[variable.name][0, draw], atol=1e-12)


def log_density(model, values):
    """Log density of the whole model where its variables have these values."""
    start = model.initial_point()
    point = {}
    for variable in model.free_RVs:
        value, transform = model.rvs_to_values[variable], model.rvs_to_transforms[variable]
        there = values[variable.name]
        if transform is not None:
            there = transform.forward(
                pytensor.tensor.as_tensor(there), *variable.owner.inputs
            ).eval(mode=PLAIN)
        point[value.name] = np.asarray(there, dtype=start[value.name].dtype)
    return float(model.compile_logp(jacobian=False, mode=PLAIN)(point))


@pytest.fixture(scope="module")
def gammas():
    return np.random.default_rng(0).gamma(3, size=CELLS)


def of_masses(made, gammas, cells):
    count = pad(made.cells.count, cells)
    return gamma.logpdf(gammas[:cells], np.maximum(count, 1)).sum()


def test_density_of_the_curve(gammas):
    made = PROBLEMS["fine"]
    labels = label_model(made, Priors(SmoothCurve()))
    coef = np.random.default_rng(1).normal(size=32)
    expected = of_masses(made, gammas, CELLS) + norm.logpdf(coef).sum()
    probability = expit(labels.regression.logit(coef[: labels.basis.size]))
    expected += binom.logpmf(made.cells.positives, made.cells.count, probability).sum()
    found = log_density(model_of(made, labels), {"coef": coef, "gamma": gammas})
    assert found == pytest.approx(expected, rel=1e-9)


def test_density_of_independent_bins(gammas):
    made = PROBLEMS["bins"]
    labels = label_model(made, Priors(FAMILIES["independent"]))
    rate = np.random.default_rng(1).random(16)
    expected = of_masses(made, gammas, 16) + beta.logpdf(rate, 0.5, 2).sum()
    expected += binom.logpmf(made.cells.positives, made.cells.count, rate[:4]).sum()
    found = log_density(model_of(made, labels), {"rate": rate, "gamma": gammas[:16]})
    assert found == pytest.approx(expected, rel=1e-9)


def test_density_of_hierarchical_bins(gammas):
    made = PROBLEMS["bins"]
    labels = label_model(made, Priors(FAMILIES["hierarchical"]))
    rate, kappa = np.random.default_rng(1).random(16), 5.5
    score = np.append(made.cells.mean_score, np.full(12, 1e-6))
    count, k = pad(made.cells.count, 16), pad(made.cells.positives, 16)
    expected = of_masses(made, gammas, 16) + lognorm(1, scale=np.exp(2)).logpdf(kappa)
    expected += betabinom.logpmf(k, count, kappa * score, kappa * (1 - score)).sum()
    expected += beta.logpdf(rate, kappa * score + k, kappa * (1 - score) + count - k).sum()
    values = {"rate": rate, "concentration": kappa, "gamma": gammas[:16]}
    found = log_density(model_of(made, labels), values)
    # In the padding PyMC sums logarithms of beta functions that cancel.
    assert found == pytest.approx(expected, rel=1e-7)


@pytest.mark.parametrize("prior", FAMILIES.values(), ids=FAMILIES)
def test_prior_draws_keep_the_law(prior):
    made = PROBLEMS["bins"]
    model = model_of(made, label_model(made, Priors(prior)))
    with warnings.catch_warnings(), model:
        # PyMC draws variables of one's own law in Python, and says so.
        warnings.filterwarnings("ignore", message="Numba will use object mode")
        drawn = pm.sample_prior_predictive(200, random_seed=1, compile_kwargs={"mode": PLAIN})
    events = drawn["prior_predictive"]["events"].values[0]
    assert events.shape[0] == 200
    assert ((events >= 0) & (events <= pad(made.cells.count, events.shape[1]))).all()
    assert events[:, :4].std(axis=0).min() > 0
    tce = drawn["prior"]["tce"].values
    assert ((tce >= 0) & (tce <= 1)).all()


def test_a_model_is_unsampled_and_named():
    scores = bc.datasets.ece.truth("over").scores(100, seed=1)
    model = build_model(scores, Priors(SmoothCurve()), n_bins=7)
    assert type(model) is pm.Model
    assert {"cell", "bin"} <= set(model.coords)
    assert len(model.coords["bin"]) == 7
    assert [variable.name for variable in model.observed_RVs] == ["events"]
    names = {variable.name for variable in model.deterministics}
    assert names == {"ece", "tce", "mce", "label_rate", "gap"}
    assert {"count", "positives", "mean_score", "membership"} <= set(model.named_vars)
    assert model.named_vars_to_dims["label_rate"] == ("bin",)


def test_options_reach_the_bins():
    scores = bc.datasets.ece.truth("over").scores(100, seed=1)
    model = build_model(scores, Priors(IndependentBins()), n_bins=4, strategy="uniform")
    expected = bc.bin_scores(scores, n_bins=4, strategy="uniform")
    np.testing.assert_array_equal(model["count"].get_value()[:4], expected.count)
    model = build_model(expected, Priors(HierarchicalBins()))
    np.testing.assert_array_equal(model["positives"].get_value()[:4], expected.positives)


def test_a_model_is_that_of_one_problem():
    score = np.random.default_rng(0).random((2, 30))
    stacked = bc.Scores.stack({"a": score[0], "b": score[1]}, y_true=[0, 1] * 15)
    with pytest.raises(InputError, match=r"one binary problem; got 2. Take one classifier with"):
        build_model(stacked)
    classes = np.random.default_rng(0).dirichlet([1, 1, 1], 30)
    scores = bc.Scores(y_true=[0, 1, 2] * 10, y_prob=classes)
    assert build_model(scores, Priors(SmoothCurve()))["tce"] is not None
    with pytest.raises(InputError, match=r"got 3. .* \.one_vs_rest\(label\)"):
        build_model(scores, multiclass="class-wise")
