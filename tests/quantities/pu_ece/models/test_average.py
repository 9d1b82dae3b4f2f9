from dataclasses import replace

import numpy as np
import pytest
from scipy.special import expit, logsumexp
from scipy.stats import binom, halfnorm, norm

import bayescal as bc
from bayescal.core.binning import Binning
from bayescal.curves.average import member_model
from bayescal.curves.priors import CurveAverage, SmoothCurve
from bayescal.inference.direct import Weighted
from bayescal.quantities.pu_ece.data import problems
from bayescal.quantities.pu_ece.models import average as averages
from bayescal.quantities.pu_ece.models.average import CaseControlAverage, Population
from bayescal.quantities.pu_ece.models.case_control import log_sizes_density
from bayescal.quantities.pu_ece.models.curve_and_class_prior import Tabulated
from bayescal.quantities.pu_ece.posterior import plan
from bayescal.quantities.pu_ece.simulator import truth
from tests.interpreted import PLAIN
from tests.quantities.pu_ece.made import of_counts, problem

pytestmark = pytest.mark.usefixtures("one_class_prior")

BELIEF = bc.Beta(50, 50)


def quick(data, class_prior, draws=400, **options):
    priors = bc.pu_ece.Priors(class_prior)
    return bc.fit(bc.pu_ece, data, priors=priors, seed=4, method="direct", draws=draws, **options)


@pytest.fixture(scope="module")
def curve_fit():
    data = truth("less").scores((300, 2000), seed=1)
    return bc.fit(bc.pu_ece, data, priors=bc.pu_ece.Priors(BELIEF), n_bins=6, seed=20)


@pytest.mark.mcmc
def test_nuts_finds_what_importance_sampling_does(curve_fit) -> None:
    direct = quick(truth("less").scores((300, 2000), seed=1), BELIEF, n_bins=6)
    assert curve_fit["diagnostics"]["divergences"].item() == 0
    assert curve_fit["diagnostics"]["rhat_max"].item() <= 1.01
    for name in ("tce", "ece", "mce"):
        mine, theirs = (
            fit["descriptions"][name].to_numpy().reshape(-1, 4) for fit in (curve_fit, direct)
        )
        # Each description has 400 effective draws or more in both fits.
        error = 4 * theirs.std(axis=0) * np.sqrt(2 / 400)
        assert (np.abs(mine.mean(axis=0) - theirs.mean(axis=0)) <= error + 1e-9).all()
        np.testing.assert_allclose(mine.std(axis=0), theirs.std(axis=0), rtol=0.25, atol=1e-9)


@pytest.mark.mcmc
@pytest.mark.parametrize("class_prior", [0.5, bc.Beta(5000, 5000)])
def test_chains_that_know_the_sizes_find_what_importance_sampling_does(class_prior) -> None:
    data, priors = truth("less").scores((300, 2000), seed=1), bc.pu_ece.Priors(class_prior)
    nuts = bc.fit(bc.pu_ece, data, priors=priors, n_bins=6, seed=20)
    direct = quick(data, class_prior, n_bins=6)
    assert nuts["diagnostics"]["converged"].item()
    assert nuts["diagnostics"]["divergences"].item() == 0
    for name in ("tce", "mce"):
        mine, theirs = (
            fit["descriptions"][name].to_numpy().reshape(-1, 4) for fit in (nuts, direct)
        )
        # Of each description in both fits 400 effective draws or more.
        error = 4 * theirs.std(axis=0) * np.sqrt(2 / 400)
        assert (np.abs(mine.mean(axis=0) - theirs.mean(axis=0)) <= error + 1e-9).all()


@pytest.mark.mcmc
@pytest.mark.filterwarnings("ignore::bayescal.ConvergenceWarning")  # of so few draws
def test_one_compiled_model_serves_other_data_and_priors(curve_fit) -> None:
    from bayescal.workflow.sampling import _COMPILED

    before = len(_COMPILED)
    data = truth("over").scores((150, 900), seed=2)
    study = bc.pu_ece.PriorDraws(np.random.default_rng(1).beta(40, 60, 1000))
    fit = bc.fit(bc.pu_ece, data, priors=bc.pu_ece.Priors(study), n_bins=6, seed=1, draws=100)
    assert fit["diagnostics"]["divergences"].item() == 0
    assert len(_COMPILED) == before


@pytest.mark.mcmc
def test_nuts_converges_under_a_wide_class_prior() -> None:
    # Its chains mix slowly, and are lengthened until they have. Those of the smooth curve do as
    # the rough ones, which take three times as long.
    data = truth("over").scores((500, 5000), 0)
    priors = bc.pu_ece.Priors(bc.Beta(4, 16), CurveAverage(rough=0, linear=0))
    nuts, direct = (
        bc.fit(bc.pu_ece, data, priors=priors, seed=0, draws=400, method=method)
        for method in ("nuts", "direct")
    )
    assert nuts["diagnostics"]["converged"].item()
    assert nuts["sample_stats"]["diverging"].sizes["draw"] == nuts["posterior"].sizes["draw"]
    for name in ("tce", "class_prior"):
        mine, theirs = (fit["posterior"][name].to_numpy() for fit in (nuts, direct))
        # Four standard errors of the difference of two means of 400 effective draws or more.
        assert abs(mine.mean() - theirs.mean()) < 4 * theirs.std() * np.sqrt(2 / 400)


def test_long_chains_are_shortened_by_what_the_sizes_say(average) -> None:
    rng = np.random.default_rng(2)
    size = average.basis.size
    long = {"coef": 0.3 * rng.standard_normal((2, 40_000, 12))}
    long["smooth_normal"] = 0.3 * rng.standard_normal((2, 40_000, 1))
    short = average.shortened("smooth", long, 2000, rng)
    assert short["coef"].shape == (2, 2000, size)
    # By the density itself, at the interior cells, which here are all cells with rows.
    normal = long["smooth_normal"][..., 0]
    class_prior = average.class_prior(normal)
    rate = expit(average.smooth.regression.logit(long["coef"][..., :size]))
    assert len(average.interior) == len(MADE.total)
    log_weight = log_sizes_density(rate, class_prior, MADE.total, MADE.n_positive)
    n_positive = average.members["smooth"].joint.sizes.n_positive
    log_weight -= wide_sizes_density(rate, class_prior, n_positive)
    weight = np.exp(log_weight - log_weight.max())
    weight /= weight.sum(axis=1, keepdims=True)
    expected = (weight * normal).sum(axis=1)
    spread = np.sqrt((weight * normal**2).sum(axis=1) - expected**2)
    found = short["smooth_normal"].mean(axis=1)
    # Systematic resampling is at least as good as 2000 independent draws.
    assert (np.abs(found - expected) < 4 * spread / np.sqrt(2000)).all()


def test_chains_that_know_the_sizes_are_not_weighed_by_them(known) -> None:
    rng = np.random.default_rng(3)
    drawn = {"z": rng.standard_normal((2, 50, known.members["rough"].size))}
    drawn["rough_normal"] = rng.standard_normal((2, 50, 1))
    drawn["roughness"] = np.full((2, 50), 0.3)
    own = known.completed(drawn, rng)
    # All cells with rows are interior, so that nothing is left to weigh by.
    np.testing.assert_allclose(np.ptp(known.weighted("rough", own, rng)[1]), 0, atol=1e-9)
    short = known.shortened("rough", drawn, 50, rng)
    np.testing.assert_array_equal(short["z"], drawn["z"][..., :3])


def test_scores_of_0_and_1_are_taken_into_account() -> None:
    # Half the scores of this naive Bayes are exactly 0 or 1, and say much of the class prior.
    rng = np.random.default_rng(1)
    event = rng.random(4000) < 0.24
    logit = 4 * (np.where(event, 1.0, -1.0) + 1.6 * rng.standard_normal(4000)) + 1
    score = np.round(expit(logit), 2)
    data = bc.PUScores(positive=score[event][:300], unlabeled=score[1000:3000])
    made = problems(data, bc.pu_ece.Priors(bc.Beta(17.5, 55)), Binning(10))[0]
    parts = made, CurveAverage(linear=0), bc.Beta(17.5, 55), 0.5
    # The posterior itself: tempered, they say less.
    model, plain = (
        replace(CaseControlAverage.joined(*parts), class_prior_power=1.0) for _ in range(2)
    )
    # Another way to the same posterior: draws that do not know of them, and weights that do.
    nothing = Tabulated(np.array([-1.0, 1.0]), np.zeros(2))
    plain.along.__dict__["beside"] = {True: nothing, False: nothing}
    assert model.direct_draws(1000, rng).ess > 400
    assert plain.direct_draws(1000, rng).ess < 200
    mine, theirs = (
        one.population(one.direct_posterior(number, rng)).class_prior
        for one, number in ((model, 1000), (plain, 5000))
    )
    # Four standard errors of the difference of two means of 400 effective draws.
    assert abs(mine.mean() - theirs.mean()) < 4 * mine.std() * np.sqrt(2 / 400)
    assert mine.std() == pytest.approx(theirs.std(), rel=0.15)


@pytest.mark.filterwarnings("ignore:SCAR or the class prior:bayescal.ScarWarning")
def test_few_effective_draws_of_the_direct_method_are_not_passed_off() -> None:
    # Nearly all draws are smooth curves, of which few satisfy the sizes at this class prior.
    data = truth("calibrated").scores((100, 1000), seed=1)
    priors = bc.pu_ece.Priors(0.95)
    with pytest.warns(bc.ConvergenceWarning, match="effective sample size .* method='nuts'"):
        found = bc.fit(bc.pu_ece, data, priors=priors, seed=1, method="direct", draws=400)
    assert not found["diagnostics"]["converged"].item()


@pytest.mark.filterwarnings("ignore:SCAR or the class prior:bayescal.ScarWarning")
def test_few_effective_draws_of_the_curves_are_not_hidden_by_calibration() -> None:
    """Two draws in three are calibrated; most of the others rest on tens of 100,000 proposals."""
    rng = np.random.default_rng(1)
    positive, high, low = (
        np.clip(np.round(expit(mean + 1.5 * rng.standard_normal(n)), 2), 0.01, 0.99)
        for n, mean in ((30, 4), (20, 4), (180, -4))
    )
    data = bc.PUScores(positive=positive, unlabeled=np.concatenate([high, low]))
    with pytest.warns(bc.ConvergenceWarning, match="effective sample size"):
        found = quick(data, bc.Beta(30, 70), draws=1000)
    assert found["model_average"]["p_calibrated"].item() > 0.6


def test_a_known_class_prior_far_from_the_mean_score_rules_calibration_out() -> None:
    data = truth("calibrated").scores((500, 5000), seed=3)
    near, far = (quick(data, pi) for pi in (0.5, 0.6))
    assert near["model_average"]["p_calibrated"] > 0.6
    assert far["model_average"]["p_calibrated"] < 1e-6
    # The mean gap is the class prior less the mean score in every draw.
    assert far["posterior"]["tce"].to_numpy().min() > 0.05


@pytest.mark.slow
def test_the_truth_is_found_as_rows_grow() -> None:
    made, widths = truth("over"), []
    for size in ((200, 1000), (20_000, 200_000)):
        low, high = bc.interval(quick(made.scores(size, 7), 0.5), "tce").to_numpy()
        widths.append(high - low)
    assert low <= made.tce <= high
    assert widths[1] < widths[0] / 5


def test_the_mean_label_rate_is_the_class_prior_in_every_draw() -> None:
    model = CaseControlAverage.joined(problem(), CurveAverage(linear=0), bc.Beta(20, 30), 0.5)
    rng = np.random.default_rng(6)
    after = model.population(model.direct_posterior(500, rng))
    for found in (model.prior_population(500, rng), after):
        mass = model.masses(found, model.draw_gammas((1, 500), rng))
        np.testing.assert_allclose((mass * found.rates).sum(axis=-1), found.class_prior, atol=1e-3)


def test_few_valued_scores_with_wrong_ends_are_not_bent() -> None:
    # 15 nearest neighbours: scores in fifteenths, calibrated but for an error of 3% at score 0,
    # where 40% of the rows are. One curve through a logit of -20 would put the error above .03.
    rng = np.random.default_rng(8)
    score = np.arange(16) / 15
    mass = np.append(0.4, np.full(15, 0.04))
    rate = np.append(0.03, score[1:])
    pi = float(mass @ rate)
    unlabeled = rng.choice(score, 4000, p=mass)
    positive = rng.choice(score, 1000, p=mass * rate / pi)
    fit = quick(bc.PUScores(positive=positive, unlabeled=unlabeled), pi)
    low, high = bc.interval(fit, "tce").to_numpy()
    assert low <= 0.4 * 0.03 <= high
    assert high < 0.05


def test_several_rates_of_the_scores_0_and_1_are_tried_by_the_sizes(monkeypatch) -> None:
    rng = np.random.default_rng(23)
    score = truth("less").scores((900, 7000), 3)
    positive, unlabeled = (
        np.where(rng.random(len(one)) < 0.3, np.round(one), one)
        for one in (np.ravel(score.positive), np.ravel(score.unlabeled))
    )
    data = bc.PUScores(positive=positive, unlabeled=unlabeled)
    model = plan(data, bc.pu_ece.Priors(bc.Beta(60, 60))).cases[0].model
    drawn = model.direct_draws(2000, rng).draws
    several = Weighted(rng, logsumexp(model.weighted("smooth", drawn, rng)[1], axis=-1))
    monkeypatch.setattr(averages, "_TRIES", 1)
    one = Weighted(rng, logsumexp(model.weighted("smooth", drawn, rng)[1], axis=-1))
    assert several.ess > 1.25 * one.ess
    # Four standard errors of the difference of two logs of means.
    error = 4 * np.sqrt(1 / several.ess + 1 / one.ess)
    assert abs(several.log_evidence - one.log_evidence) < error


def test_rows_at_0_and_1_alone_are_weighed_without_a_curve() -> None:
    rng = np.random.default_rng(9)
    unlabeled = (rng.random(2000) < 0.3).astype(float)
    positive = (rng.random(500) < 0.9).astype(float)
    fit = quick(bc.PUScores(positive=positive, unlabeled=unlabeled), 0.32)
    # The positives at score 0 are .1 of the class prior: they are errors for certain.
    assert fit["model_average"]["p_calibrated"].item() < 1e-50
    error = 0.32 * 0.1 + (0.3 - 0.32 * 0.9)
    low, high = bc.interval(fit, "tce").to_numpy()
    assert low <= error <= high


def test_a_smooth_curve_alone_is_the_average_of_one() -> None:
    data = truth("less").scores((300, 2000), seed=1)
    curve = SmoothCurve(lengthscales=(1.0,))
    one, other = (
        bc.fit(bc.pu_ece, data, priors=bc.pu_ece.Priors(0.5, rate), seed=1, method="direct")
        for rate in (curve, CurveAverage(curve=curve, rough=0, segments=0, linear=0))
    )
    for group in ("prior", "posterior"):
        np.testing.assert_array_equal(one[group]["tce"], other[group]["tce"])
    assert one["model_average"]["weight"].to_numpy()[2:].tolist() == [0, 0, 0]


def test_cost_does_not_grow_with_rows() -> None:
    # Cells, not rows, reach the model: the arrays of a hundred times the rows have one shape.
    shapes = []
    for size in ((100, 1000), (10_000, 100_000)):
        members = CaseControlAverage.joined(
            problem("over", size), CurveAverage(linear=0), BELIEF, 0.5
        ).members
        shapes.append(
            {
                (name, key): value.shape
                for name, member in members.items()
                for key, value in member.inputs().items()
            }
        )
    assert shapes[0] == shapes[1]


def test_replicated_positives_are_binomial_given_a_draw() -> None:
    made = problem()
    model = CaseControlAverage.joined(made, CurveAverage(linear=0), 0.5, 0.5)
    one = model.prior_population(1, np.random.default_rng(1))
    many = Population(*(np.repeat(values, 20_000, axis=1)[0] for values in one))
    drawn = model.draw_positives(many, np.random.default_rng(2))
    odds = made.n_positive / made.n_unlabeled * one.rates[0, 0] / 0.5
    share = expit(np.log(odds))
    spread = np.sqrt(made.total * share * (1 - share))
    assert (np.abs(drawn.mean(axis=0) - made.total * share) <= 4.5 * spread / 141).all()
    np.testing.assert_allclose(drawn.std(axis=0), spread, rtol=0.1, atol=0.02)


MADE = of_counts([3, 9, 6], [30, 30, 12], [0.25, 0.5, 0.75])


@pytest.fixture(scope="module")
def average() -> CaseControlAverage:
    return CaseControlAverage.joined(MADE, CurveAverage(linear=0), bc.Beta(8, 12), 0.5)


@pytest.fixture(scope="module")
def known() -> CaseControlAverage:
    return CaseControlAverage.joined(MADE, CurveAverage(linear=0), 0.4, 0.5)


def point_of(model, seed):
    rng = np.random.default_rng(seed)
    return {k: 0.8 * rng.standard_normal(np.shape(v)) for k, v in model.initial_point().items()}


def values_at(model, point, names):
    found = model.replace_rvs_by_values([model[name] for name in names])
    return model.compile_fn(found, mode=PLAIN)(point)


def log_likelihood(average, name, rate, normal) -> float:
    pi = average.class_prior(np.asarray(normal))
    odds = MADE.n_positive / MADE.n_unlabeled * rate / pi
    cells = binom.logpmf(MADE.positive, MADE.total, odds / (1 + odds)).sum()
    if not average.class_prior.known:
        joint = average.members[name].joint
        sizes = wide_sizes_density(rate, pi, joint.sizes.n_positive)
        return float(cells + sizes + joint.along.at(normal))
    return float(cells + log_sizes_density(rate, pi, MADE.total, MADE.n_positive))


def wide_sizes_density(rate, class_prior, n_positive):
    """Log density of the sizes with four times their variance, as chains know them."""
    odds = MADE.n_positive / MADE.n_unlabeled * rate / np.asarray(class_prior)[..., None]
    share, usual = odds / (1 + odds), MADE.n_positive / MADE.total.sum()
    variance = 4 * (1 + np.square(share - usual) @ MADE.total)
    spread = np.sqrt(variance)
    # The normal density's constant is left out.
    density = norm.logpdf(share @ MADE.total, n_positive, spread) + np.log(2 * np.pi) / 2
    return density - np.log(class_prior)


@pytest.mark.parametrize("made", ["average", "known"])
def test_the_smooth_density_is_that_of_binomial_cells_and_known_sizes(made, request) -> None:
    average = request.getfixturevalue(made)
    model = member_model(average.members, "smooth")
    density = model.compile_logp(jacobian=False, mode=PLAIN)
    for seed in (1, 2):
        point = point_of(model, seed)
        coef, normal = values_at(model, point, ["coef", "smooth_normal"])
        rate = expit(average.smooth.regression.logit(coef[: average.basis.size]))
        expected = norm.logpdf(coef).sum() + norm.logpdf(normal.item())
        expected += log_likelihood(average, "smooth", rate, normal.item())
        assert float(density(point)) == pytest.approx(expected, rel=1e-8)


@pytest.mark.parametrize("made", ["average", "known"])
def test_the_rough_density_is_that_of_binomial_cells_and_known_sizes(made, request) -> None:
    average = request.getfixturevalue(made)
    model = member_model(average.members, "rough")
    point = point_of(model, 3)
    z, roughness, normal = values_at(model, point, ["z", "roughness", "rough_normal"])
    regression = average.rough.at(float(roughness))
    rate = expit(regression.logit(z[:3]))
    expected = norm.logpdf(z).sum() + halfnorm.logpdf(roughness, scale=1.5)
    expected += norm.logpdf(normal.item())
    density = model.compile_logp(jacobian=False, mode=PLAIN)(point)
    assert float(density) == pytest.approx(
        expected + log_likelihood(average, "rough", rate, normal.item()), rel=1e-8
    )


def test_the_evidence_of_errors_at_0_and_1_is_that_of_quadrature() -> None:
    # Rows at 0 and 1 alone: each error rate has a logit N(-4, 2.5), or is 0.
    made, pi = of_counts([2, 88], [900, 300], [0.0, 1.0]), 0.25
    model = CaseControlAverage.joined(made, CurveAverage(linear=0), pi, 0.5)
    rng = np.random.default_rng(5)
    found = model.direct_draws(20_000, rng).evidence["calibrated"]
    place = np.linspace(-16, 8, 801)
    law = norm.pdf(place, -4, 2.5) * (place[1] - place[0])
    rate = np.stack(np.meshgrid(expit(place), 1 - expit(place), indexing="ij"), axis=-1)
    odds = made.n_positive / made.n_unlabeled / pi * rate
    likelihood = binom.pmf(made.positive, made.total, odds / (1 + odds)).prod(axis=-1)
    likelihood *= np.exp(log_sizes_density(rate, np.asarray(pi), made.total, made.n_positive))
    both = np.log(law @ likelihood @ law)
    # The error at 1 alone: the rate at 0 is next to 0, where two positives cannot be.
    assert found[3] - found[2] > 10
    ways = binom.logpmf(made.positive, made.total, 0.5) + made.total * np.log(2)
    assert found[3] + ways.sum() == pytest.approx(both, abs=0.02)
