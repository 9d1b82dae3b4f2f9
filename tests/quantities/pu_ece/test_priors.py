import tracemalloc

import numpy as np
import pytest
from scipy.special import logit
from scipy.stats import beta, norm

import bayescal as bc
from bayescal.quantities.pu_ece.models.curve_and_class_prior import cubic_in_graph
from bayescal.quantities.pu_ece.priors import KNOTS, MixtureBins, PriorDraws, PriorMap, Priors

STUDY = PriorDraws(np.random.default_rng(1).beta(40, 160, size=2000))
NAMES = ["default", "lower class prior", "higher class prior", "wider class prior", "wider curve"]


@pytest.mark.parametrize("prior", [0.2, 0.8, bc.Beta(4, 16), STUDY])
def test_class_priors_are_shifted_by_a_tenth_of_the_smaller_share(prior) -> None:
    priors = Priors(prior)
    found = priors.alternatives()
    assert list(found) == NAMES
    assert found["default"] is priors
    mean = priors.class_prior_mean
    step = 0.1 * min(mean, 1 - mean)
    for name, sign in (("lower class prior", -1), ("higher class prior", 1)):
        assert type(found[name].class_prior) is type(priors.class_prior)
        # Draws are shifted in odds, which moves their mean by nearly as much.
        assert found[name].class_prior_mean == pytest.approx(mean + sign * step, abs=0.05 * step)
    assert found["wider curve"].label_rate.curve.scale == 2 * priors.label_rate.curve.scale


def test_class_priors_are_widened() -> None:
    known = Priors(0.2).alternatives()["wider class prior"].class_prior
    spread = np.sqrt(known.mean * (1 - known.mean) / (known.alpha + known.beta + 1))
    assert (known.mean, spread) == (pytest.approx(0.2), pytest.approx(0.02))
    assert Priors(bc.Beta(4, 16)).alternatives()["wider class prior"].class_prior == bc.Beta(1, 4)
    drawn = Priors(STUDY).alternatives()["wider class prior"].class_prior
    assert np.std(logit(drawn.values)) == pytest.approx(2 * np.std(logit(STUDY.values)))


def test_lines_are_never_steep_and_no_curve_is_linear() -> None:
    """An average made for labelled rows is taken without."""
    priors = Priors(0.3, bc.ece.CurveAverage(roughness=1.0))
    assert priors.label_rate == bc.ece.CurveAverage(roughness=1.0, linear=0.0, steep=0.0)
    linear = bc.ece.CurveAverage(smooth=0, rough=0, segments=0)
    with pytest.raises(bc.InputError, match="smooth, rough or segments must be above 0 for groups"):
        Priors(0.3, linear)


def test_bins_are_compared_with_the_curve() -> None:
    found = Priors(0.5, MixtureBins()).alternatives()
    assert found["curve average"].label_rate == Priors(0.5).label_rate


BETAS = [(4, 16), (0.5, 0.5), (1, 1), (500, 500), (2, 2000), (30, 1.5)]
# Between knots, a quarter apart, as well as on them.
AT = np.linspace(-4, 4, 97)


@pytest.mark.parametrize(("a", "b"), BETAS)
def test_quantiles_and_density_of_a_beta(a, b) -> None:
    found = PriorMap.of(bc.Beta(a, b))
    value, slope = found(AT), found.derivative(AT)
    exact = np.where(AT < 0, beta.ppf(norm.cdf(AT), a, b), beta.isf(norm.sf(AT), a, b))
    # A cubic through knots h = 1/4 apart errs by h^4 / 384 of a fourth derivative of order 1.
    np.testing.assert_allclose(value, exact, rtol=3e-5)
    np.testing.assert_allclose(slope, norm.pdf(AT) / beta.pdf(exact, a, b), rtol=2e-3)
    np.testing.assert_allclose(found.log_density(AT), beta.logpdf(exact, a, b), atol=4e-3)


@pytest.mark.parametrize(("a", "b"), BETAS)
def test_the_slope_is_that_of_the_value(a, b) -> None:
    found, h = PriorMap.of(bc.Beta(a, b)), 1e-5
    inside = AT + 0.013  # off the knots, where the third derivative jumps
    numeric = (found(inside + h) - found(inside - h)) / (2 * h)
    np.testing.assert_allclose(found.derivative(inside), numeric, rtol=1e-5, atol=1e-11)


@pytest.mark.parametrize("mass", [1e-3, 1e-5, 1e-300])
def test_a_beta_of_nearly_no_mass_between_0_and_1_rises(mass: float) -> None:
    found = PriorMap.of(bc.Beta(mass, mass))
    logits = found.at(np.linspace(-6, 6, 2401))
    # The cubic went to -40, -3,000 and beyond, and turned back.
    assert (np.diff(logits) >= -1e-9).all()
    assert np.abs(logits).max() <= 30


def test_draws_next_to_0_are_refused_and_humps_at_both_ends_stay_inside() -> None:
    ends = np.repeat([1e-13, 1 - 1e-13], 50)
    assert np.abs(PriorMap.of(PriorDraws(ends)).at(AT)).max() <= 30
    with pytest.raises(bc.InputError, match=r"\[1e-13, 1 - 1e-13\]; got 1e-300 at draw 100"):
        PriorDraws([*ends, 1e-300])


def test_a_known_class_prior_does_not_move() -> None:
    found = PriorMap.of(0.3)
    assert found.known
    value, slope = found(AT), found.derivative(AT)
    np.testing.assert_allclose(value, 0.3, rtol=1e-14)
    assert not slope.any()
    assert not found.log_density(AT).any()


@pytest.mark.slow
def test_draws_keep_their_quantiles() -> None:
    draws = np.random.default_rng(1).beta(8, 12, 4000)
    found = PriorMap.of(PriorDraws(draws))
    level = np.linspace(0.05, 0.95, 19)
    # The kernel's width is 0.9 n^-1/5 = 0.17 of the spread, which widens the spread of .11 by 1.5%.
    np.testing.assert_allclose(found(norm.ppf(level)), np.quantile(draws, level), atol=0.006)
    numeric = np.gradient(found(AT), AT)
    np.testing.assert_allclose(found.derivative(AT)[1:-1], numeric[1:-1], rtol=0.05)


def test_many_draws_take_little_memory_and_are_worked_out_once() -> None:
    many = PriorDraws(np.random.default_rng(3).beta(8, 12, 2000))
    tracemalloc.start()
    found = PriorMap.of(many)
    _, most = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    # A table of all draws at all points of the grid had 64 MB, twice.
    assert most < 3e7
    assert PriorMap.of(PriorDraws(many.values)) is found


def test_two_humps_of_draws_stay_two() -> None:
    rng = np.random.default_rng(2)
    draws = np.concatenate([rng.beta(200, 800, 2000), rng.beta(600, 400, 2000)])
    found = PriorMap.of(PriorDraws(draws))
    value = found(np.linspace(-3, 3, 601))
    density = np.exp(found.log_density(np.linspace(-3, 3, 601)))
    valley = density[(value > 0.35) & (value < 0.45)].min()
    assert valley < density[np.abs(value - 0.2).argmin()] / 10
    assert valley < density[np.abs(value - 0.6).argmin()] / 10


def test_the_graph_computes_the_same() -> None:
    import pytensor
    import pytensor.tensor as pt

    from tests.interpreted import PLAIN

    found = PriorMap.of(bc.Beta(4, 16))
    normal = pt.dscalar()
    logit = cubic_in_graph(normal, pt.constant(found.value), pt.constant(found.slope))
    compute = pytensor.function([normal], [logit, pytensor.grad(logit, normal)], mode=PLAIN)
    for at in (-9.0, KNOTS[0], -2.2, 0.0, 1.7, KNOTS[-1], 9.0):
        value, slope = found(np.asarray(at)), found.derivative(np.asarray(at))
        logit_value, logit_slope = compute(at)
        assert logit_value == pytest.approx(np.log(value / (1 - value)), abs=1e-12)
        if abs(at) < KNOTS[-1]:
            assert logit_slope * value * (1 - value) == pytest.approx(slope, rel=1e-9)
