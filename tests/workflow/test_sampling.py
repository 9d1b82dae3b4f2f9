"""One case's fit: settings, NUTS or not, whether it converged, models compiled once, threads."""

import dataclasses
import json
from concurrent.futures import ThreadPoolExecutor
from threading import Event

import arviz as az
import numpy as np
import pytest
import xarray as xr
from scipy.special import expit
from threadpoolctl import threadpool_info, threadpool_limits

import bayescal as bc
from bayescal.core.binning import Binning
from bayescal.core.errors import InputError
from bayescal.core.quantity import members
from bayescal.curves.priors import COMPONENTS
from bayescal.curves.rough import Rough
from bayescal.curves.smooth import Smooth
from bayescal.inference.sampler import NutsDraws, compile_model
from bayescal.workflow import fit as fitting
from bayescal.workflow import sampling
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
    number = result.model_average.get("nuts_draws", np.zeros(1))
    # Of draws that are repeated, the first of each.
    own = [np.where(number > 0, number, 2000) // 4] * len(result.descriptions)
    every = [np.full(1, 500)] * len(monitored) + own
    for values, numbers in zip((*monitored, *result.descriptions.values()), every, strict=True):
        flat = values.reshape(4, 500, -1)
        for place in range(flat.shape[2]):
            draws = flat[:, :: 500 // (numbers[place] if len(numbers) > 1 else 500), place]
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
        fitted("hierarchical", target_accept=at, draws=20)[1]
        .sample_stats["step_size"][:, -1]
        .mean()
        for at in (0.6, 0.95)
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


class Stub:
    """NUTS that returns direct draws of a member, each number different, and keeps its settings."""

    def __init__(self, model, asked, spoil=0.0, until=np.inf):
        self.model, self.asked, self.spoil, self.until = model, asked, spoil, until

    def sample(self, inputs, *, draws, chains, seed, **how):
        found = self.model.direct_draws(chains * draws, np.random.default_rng(seed)).draws
        shaped = {k: v.reshape(chains, draws, *v.shape[1:]) for k, v in found.items()}
        for values in shaped.values():
            # Importance sampling may have drawn a number twice.
            values += 1e-6 * np.random.default_rng(seed).normal(size=values.shape)
            values[0] += self.spoil if draws < self.until else 0
        self.asked[type(self.model).__name__] = {**how, "draws": draws}
        energy = self.energy(np.random.default_rng(seed).normal(size=(chains, draws)))
        stats = {"diverging": np.zeros((chains, draws), dtype=bool), "energy": energy}
        return NutsDraws(shaped, stats)

    def energy(self, noise):
        return noise


def stub(monkeypatch, spoil=None, until=np.inf):
    """Let `Stub` draw, shifted up to so many draws; what is asked of it, by class of the member."""
    asked, spoil = {}, spoil or {}

    def compiled_stub(name, case, member, model):
        return Stub(model, asked, spoil.get(member, 0.0), until)

    monkeypatch.setattr(sampling, "_compiled", compiled_stub)
    return asked


def stubbed(monkeypatch, scores, spoil=None, until=np.inf, **changes):
    """A fit with draws of `Stub`, and what was asked of it."""
    asked = stub(monkeypatch, spoil, until)
    one = bc.ece.plan(scores, bc.ece.Priors()).cases[0]
    return fit_case("ece", one, settings(**{"draws": 500, "tune": None, **changes})), asked


def over_confident(n=2000):
    rng = np.random.default_rng(0)
    z = rng.normal(size=n)
    return bc.Scores(y_true=rng.random(n) < expit(2 * z), y_prob=expit(3.2 * z), pos_label=True)


def calibrated(n=100_000):
    rng = np.random.default_rng(0)
    p = expit(2 * rng.normal(size=n))
    return bc.Scores(y_true=rng.random(n) < p, y_prob=p, pos_label=True)


def test_members_that_matter_are_sampled_in_full(monkeypatch):
    found, asked = stubbed(monkeypatch, over_confident())
    weight = dict(zip(COMPONENTS, found.model_average["weight"], strict=True))
    assert min(weight["smooth"], weight["rough"]) > 0.01
    assert {name: one["draws"] for name, one in asked.items()} == {"Smooth": 500, "Rough": 500}
    assert found.model_average["nuts_draws"].tolist() == [0, 2000, 2000, 0, 0]
    assert found.diagnostics["converged"]


def test_what_hardly_weighs_is_not_sampled(monkeypatch):
    found, asked = stubbed(monkeypatch, calibrated())
    weight = dict(zip(COMPONENTS, found.model_average["weight"], strict=True))
    assert max(weight["smooth"], weight["rough"]) < 0.01
    assert asked == {}
    assert found.sample_stats == {}
    assert found.sampler == "importance sampling"
    assert not found.model_average["nuts_draws"].any()
    assert found.diagnostics["converged"]
    assert np.isfinite(found.descriptions["tce"]).all()


@pytest.mark.parametrize("member", ["smooth", "rough"])
def test_a_member_that_did_not_converge_shows(monkeypatch, member):
    found, asked = stubbed(monkeypatch, over_confident(), {member: 3.0})
    assert found.diagnostics["rhat_max"] > 1.05
    assert not found.diagnostics["converged"]
    assert {one["draws"] for one in asked.values()} == {4 * 500}


def test_chains_that_did_not_converge_are_sampled_longer(monkeypatch):
    found, asked = stubbed(monkeypatch, over_confident(), {"smooth": 3.0}, until=2000)
    assert found.diagnostics["converged"]
    assert {one["draws"] for one in asked.values()} == {4 * 500}
    assert {one["target_accept"] for one in asked.values()} == {0.99}
    # As many draws are kept as asked for.
    drawn = {**found.posterior, **found.sample_stats}
    assert {values.shape[:2] for values in drawn.values()} == {(4, 500)}
    assert found.model_average["nuts_draws"].max() == 4 * 500


def test_a_low_e_bfmi_alone_is_said_but_not_sampled_longer(monkeypatch):
    """Longer chains leave it as it is: fits of 50 classes by `ssme` took five times as long."""
    monkeypatch.setattr(Stub, "energy", lambda self, noise: noise.cumsum(axis=1))
    found, asked = stubbed(monkeypatch, over_confident())
    assert found.diagnostics["ebfmi_min"] < 0.1
    assert not found.diagnostics["converged"]
    assert {one["draws"] for one in asked.values()} == {500}


def test_few_draws_are_not_worth_longer_chains(monkeypatch):
    found, asked = stubbed(monkeypatch, over_confident(), {"smooth": 3.0}, until=101, draws=100)
    assert not found.diagnostics["converged"]
    assert {one["draws"] for one in asked.values()} == {100}


@pytest.mark.parametrize("given", [None, 77])
def test_each_model_says_how_long_to_tune_unless_the_user_does(monkeypatch, given):
    _, asked = stubbed(monkeypatch, over_confident(), tune=given)
    expected = {"Smooth": Smooth.tune, "Rough": Rough.tune} if given is None else {}
    assert {name: one["tune"] for name, one in asked.items()} == (
        expected or dict.fromkeys(asked, given)
    )


def test_cases_that_sample_other_members_stand_in_one_result(monkeypatch):
    """Statistics of a member are blank where NUTS did not sample it."""
    stub(monkeypatch)
    rng = np.random.default_rng(0)
    logit = 2 * rng.normal(size=20_000)
    scores = bc.Scores.stack(
        {"right": expit(logit), "bold": expit(1.6 * logit)},
        y_true=rng.random(20_000) < expit(logit),
        pos_label=True,
    )
    found = fitting.fit(bc.ece, scores, seed=3)
    number = found["model_average"]["nuts_draws"]
    assert not number.sel(classifier="right").any()
    assert number.sel(classifier="bold").any()
    energy = found["sample_stats"]["energy"]
    assert energy.sel(classifier="right").isnull().all()
    assert energy.sel(classifier="bold").notnull().all()
    assert found.attrs["status"] == "ok"


def test_classes_of_credal_and_groups_say_what_nuts_drew(monkeypatch):
    asked = stub(monkeypatch)
    rng = np.random.default_rng(0)
    prob = rng.dirichlet([1, 1, 1], 320)
    label = np.array([rng.choice(3, p=row) for row in prob])
    split = bc.CalibrationSplit(
        calibration=bc.Scores(y_true=label[:300], y_prob=prob[:300]), target=prob[300:]
    )
    classes = fitting.fit(bc.credal, split, seed=1, draws=500)["model_average"]
    assert classes["nuts_draws"].dims == classes["weight"].dims
    sampled = classes["nuts_draws"].sel(description=["smooth", "rough"]).values
    assert (sampled >= 2000).all()
    assert not classes["nuts_draws"].sel(description="rising").any()
    rng = np.random.default_rng(1)
    z = rng.normal(size=400)
    groups = bc.Scores(
        y_true=rng.random(400) < expit(2 * z),
        y_prob=expit(3.2 * z),
        group=np.where(np.arange(400) % 2, "a", "b"),
        pos_label=True,
    )
    found = fitting.fit(bc.ece, groups, seed=1, draws=500)["model_average"]["nuts_draws"]
    assert found.transpose("group", "description").values.tolist() == [[0, 2000, 0, 0, 0]] * 2
    assert "PooledCurves" in asked


@pytest.mark.mcmc
def test_the_average_is_that_of_direct_draws():
    """Mean and ends of the interval, in their Monte Carlo standard errors."""
    one = bc.ece.plan(over_confident(), bc.ece.Priors()).cases[0]
    nuts, direct = (
        [fit_case("ece", one, settings(draws=500, tune=None, method=how), k) for k in range(4)]
        for how in ("nuts", "direct")
    )
    figures = [
        np.array([[d.mean(), *np.quantile(d, (0.05, 0.95))] for d in draws])
        for draws in ([f.posterior["tce"] for f in found] for found in (nuts, direct))
    ]
    spread = np.concatenate([f - f.mean(axis=0) for f in figures]).std(axis=0) * np.sqrt(8 / 6)
    z = (figures[0].mean(axis=0) - figures[1].mean(axis=0)) / (spread * np.sqrt(2 / 4))
    assert np.abs(z).max() < 4.5
    assert all(found.diagnostics["converged"] for found in nuts)


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
        ("tune", 0, "tune must be a whole number >= 1; got 0"),
        ("tune", 2.5, "tune must be a whole number >= 1; got 2.5"),
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
