"""One case's fit: settings, NUTS or not, whether it converged, models compiled once, threads."""

import dataclasses
import json
from concurrent.futures import ThreadPoolExecutor
from threading import Event

import arviz as az
import numpy as np
import pytest
import xarray as xr
from threadpoolctl import threadpool_info, threadpool_limits

import bayescal as bc
from bayescal.core.bins.binning import Binning
from bayescal.core.errors import InputError
from bayescal.core.quantity import members
from bayescal.inference.sampler import compile_model
from bayescal.workflow import fit as fitting
from bayescal.workflow.sampling import Settings, _compiled, fit_case, one_blas_thread

PRIORS = {
    "average": bc.ece.Priors(),
    "curve": bc.ece.Priors(bc.ece.SmoothCurve()),
    "independent": bc.ece.Priors(bc.ece.IndependentBins()),
    "hierarchical": bc.ece.Priors(bc.ece.HierarchicalBins()),
}
SCORES = bc.datasets.ece.truth("over").scores(300, seed=1)


def settings(**changes):
    given = {"draws": 500, "tune": 300, "chains": 4, "target_accept": None, "seed": 4}
    return Settings(**{**given, "prob": 0.8, **changes})


def fitted(name="curve", repetition=0, **changes):
    case = bc.ece.plan(SCORES, PRIORS[name], binning=Binning(6)).cases[0]
    return case, fit_case("ece", case, settings(**changes), repetition)


@pytest.fixture(scope="module", params=PRIORS)
def nuts(request):
    return fitted(request.param)


@pytest.mark.mcmc
def test_nuts_comes_with_its_statistics(nuts):
    case, result = nuts
    assert result.coords == {"classifier": "over"}
    assert {"diverging", "energy", "lp", "tree_depth"} <= set(result.sample_stats)
    assert set(case.model.variables) <= set(result.posterior)
    for values in (*result.posterior.values(), *result.sample_stats.values()):
        assert values.shape[:2] == (4, 500)
    assert "gamma" not in result.posterior


@pytest.mark.mcmc
def test_diagnostics_are_the_worst_of_the_monitored_variables(nuts):
    case, result = nuts
    rhat, ess = [], []
    drawn = {**result.posterior, **result.given_miscalibration}
    monitored = [drawn[name] for name in case.monitored]
    for values in (*monitored, *result.descriptions.values()):
        flat = values.reshape(4, 500, -1)
        for place in range(flat.shape[2]):
            draws = flat[..., place]
            if draws.std() == 0:  # The error of the calibrated description.
                continue
            rhat.append(az.rhat(draws))
            ess += [az.ess(draws), az.ess(draws, method="tail", prob=(0.05, 0.95))]
    found = result.diagnostics
    assert found["rhat_max"] == pytest.approx(max(rhat), rel=1e-6)
    assert found["ess_min"] == pytest.approx(min(ess), rel=1e-6)
    diverging = [v for key, v in result.sample_stats.items() if key.endswith("diverging")]
    assert found["divergences"] == np.sum(diverging) == 0
    assert found["converged"]


@pytest.mark.parametrize("name", PRIORS)
def test_without_nuts_there_are_no_chains_to_compare(name):
    _, result = fitted(name, method="direct")
    assert result.sample_stats == {}
    assert np.isnan(result.diagnostics["rhat_max"])
    assert np.isnan(result.diagnostics["ebfmi_min"])
    assert result.diagnostics["divergences"] == 0
    assert result.diagnostics["ess_min"] <= 2000
    assert result.diagnostics["converged"]
    assert result.posterior["tce"].shape == (4, 500)


def test_few_draws_are_too_few_without_nuts_too():
    _, result = fitted(method="direct", draws=20)
    assert result.diagnostics["ess_min"] <= 80
    assert not result.diagnostics["converged"]


@pytest.mark.parametrize("method", ["direct", pytest.param("nuts", marks=pytest.mark.mcmc)])
def test_seed_and_repetition_decide_the_draws(method):
    small = {"method": method, "draws": 20, "tune": 50, "chains": 2}
    tce = [
        fitted(repetition=number, seed=seed, **small)[1].posterior["tce"]
        for number, seed in ((0, 4), (0, 4), (1, 4), (0, 5))
    ]
    np.testing.assert_array_equal(tce[0], tce[1])
    assert not np.isclose(tce[0], tce[2]).any()
    assert not np.isclose(tce[0], tce[3]).any()


@pytest.mark.mcmc
def test_the_target_acceptance_is_the_one_tuned_to():
    """A higher target makes smaller steps."""
    steps = [
        fitted("hierarchical", target_accept=target)[1].sample_stats["step_size"][:, -1].mean()
        for target in (0.6, 0.95)
    ]
    assert steps[1] < steps[0]


BINS = bc.ece.Priors(bc.ece.IndependentBins())


def case(name="over", n=200, priors=BINS, **options):
    scores = bc.datasets.ece.truth(name).scores(n, seed=1)
    return bc.ece.plan(scores, priors, binning=Binning.of(None, **options)).cases[0]


def compiled(one):
    return _compiled("ece", one, "", one.model)


@pytest.mark.mcmc
def test_other_classifiers_rows_bins_and_parameters_share_a_model():
    first = compiled(case())
    others = [
        case("less"),
        case(n=5000),
        case(n_bins=3, strategy="uniform"),
        case(priors=bc.ece.Priors(bc.ece.IndependentBins(bc.Beta(4, 16)))),
    ]
    assert all(compiled(other) is first for other in others)


@pytest.mark.mcmc
def test_other_models_and_larger_problems_have_their_own():
    first = compiled(case())
    hierarchical = bc.ece.Priors(bc.ece.HierarchicalBins())
    assert compiled(case(priors=hierarchical)) is not first
    assert case(n_bins=20).model.compile_key != case().model.compile_key


@pytest.mark.mcmc
def test_a_shared_model_gives_what_its_own_would():
    other = case("less", n=300, n_bins=4)
    shared = compiled(case("calibrated", n=5000)).sample(
        other.model.inputs(), seed=2, draws=50, tune=100, chains=2
    )
    own = compile_model(other.build_model()).sample(
        other.model.inputs(), seed=2, draws=50, tune=100, chains=2
    )
    np.testing.assert_array_equal(shared.posterior["rate"], own.posterior["rate"])


@pytest.mark.mcmc
def test_members_of_an_average_have_models_of_their_own():
    one = case(priors=bc.ece.Priors())
    found = {name: _compiled("ece", one, name, model) for name, model in members(one.model).items()}
    assert list(found) == ["smooth", "rough"]
    assert found["smooth"] is not found["rough"]
    alone = case(priors=bc.ece.Priors(bc.ece.SmoothCurve()))
    # The smooth member has no errors of its own: they are computed of all draws together.
    assert compiled(alone) is found["smooth"]


GOOD = {
    "draws": 1000,
    "tune": 300,
    "chains": 4,
    "target_accept": None,
    "seed": 1,
    "method": "nuts",
    "prob": 0.9,
}


@pytest.mark.parametrize(
    ("name", "value", "message"),
    [
        ("draws", 3, "draws must be a whole number >= 4; got 3"),
        ("method", "vi", "method must be one of 'nuts', 'direct'; got 'vi'"),
        ("target_accept", 1.0, r"target_accept must be a number in \(0, 1\); got 1.0. Pass 0.8"),
    ],
)
def test_what_cannot_be_sampled_is_refused(name, value, message):
    with pytest.raises(InputError, match=message):
        Settings(**{**GOOD, name: value})


def test_the_least_of_everything_serves():
    Settings(**{**GOOD, "draws": 4, "tune": 1, "chains": 1, "seed": 0, "target_accept": 0.5})


def test_numpys_whole_numbers_are_whole_numbers():
    made = Settings(**{**GOOD, "draws": np.int64(500), "seed": np.uint32(7)})
    assert made == Settings(**{**GOOD, "draws": 500, "seed": 7})
    assert json.loads(json.dumps(dataclasses.asdict(made)))["seed"] == 7


def test_a_seed_given_is_kept_and_one_not_given_is_drawn():
    assert Settings(seed=0).seed == 0
    drawn = {Settings().seed for _ in range(5)}
    assert len(drawn) == 5
    assert all(0 <= seed < 2**31 for seed in drawn)


def blas_threads() -> list[int]:
    return [info["num_threads"] for info in threadpool_info() if info["user_api"] == "blas"]


@pytest.fixture(autouse=True)
def two_threads():
    """Two threads to begin with, whatever the machine sets."""
    import scipy.linalg  # noqa: F401  # brings a BLAS of its own

    with threadpool_limits(2, "blas"):
        assert set(blas_threads()) == {2}
        yield


def test_one_thread_inside_and_the_former_number_after():
    with one_blas_thread():
        assert set(blas_threads()) == {1}
    assert set(blas_threads()) == {2}


def test_the_former_number_returns_after_an_error():
    with pytest.raises(RuntimeError, match="stop"), one_blas_thread():
        raise RuntimeError("stop")
    assert set(blas_threads()) == {2}


def test_the_former_number_returns_after_overlapping_blocks_of_two_threads():
    begun, ended = Event(), Event()

    def other():
        with one_blas_thread():
            begun.set()
            ended.wait(10)

    with ThreadPoolExecutor(1) as pool:
        with one_blas_thread():
            running = pool.submit(other)
            assert begun.wait(10)
            assert set(blas_threads()) == {1}
        ended.set()
        running.result()
    assert set(blas_threads()) == {2}


@pytest.mark.mcmc
def test_fits_in_threads_are_those_made_one_by_one():
    """Both threads need the same model, which neither has compiled."""

    def fitted_by(seed):
        return fitting.fit(bc.ece, FEW, seed=seed, draws=20, tune=50, chains=2, priors=BINS)

    with ThreadPoolExecutor(2) as pool, pytest.warns(bc.ConvergenceWarning):
        together = list(pool.map(fitted_by, range(4)))
    for seed, found in enumerate(together):
        with pytest.warns(bc.ConvergenceWarning):
            xr.testing.assert_identical(found["posterior"], fitted_by(seed)["posterior"])


def test_a_fit_is_inside(monkeypatch):
    seen = []
    case = type(bc.ece.plan(FEW, bc.ece.Priors()).cases[0])
    arrays = case.arrays

    def looked_at(self, *given):
        seen.extend(blas_threads())
        return arrays(self, *given)

    monkeypatch.setattr(case, "arrays", looked_at)
    fitting.fit(bc.ece, FEW, method="direct", draws=500, seed=1)
    assert set(seen) == {1}
    assert set(blas_threads()) == {2}


FEW = bc.datasets.ece.truth("over").scores(100, seed=1)
