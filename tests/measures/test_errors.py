"""Sizes, quantiles and directions of the gap, slope and intercepts: brute force and statsmodels."""

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.special import expit, logit

from tests.conftest import oracle
from tests.measures.curves import SEEDS, curve, value

ROUNDING = 1e-12


def by_hand(rate, score, mass):
    """Every measure of the gap from its definition, in loops."""
    gap = [r - s for r, s in zip(rate, score, strict=True)]
    parts = [w * g for w, g in zip(mass, gap, strict=True)]
    size = np.abs(gap)
    ends = range(len(parts) + 1)
    quantile = {q: np.quantile(size, q, weights=mass, method="inverted_cdf") for q in (0.5, 0.9)}
    return {
        "tce": sum(map(abs, parts)),
        "ici": sum(map(abs, parts)),
        "emax": max(size),
        "l2": sum(w * g * g for w, g in zip(mass, gap, strict=True)) ** 0.5,
        "eci": 100 * sum(w * g * g for w, g in zip(mass, gap, strict=True)),
        "e50": quantile[0.5],
        "e90": quantile[0.9],
        "over": -sum(part for part in parts if part < 0),
        "under": sum(part for part in parts if part > 0),
        "mean_gap": sum(parts),
        "oe": np.average(rate, weights=mass) / np.average(score, weights=mass),
        "c": max(abs(sum(parts[i:j])) for i, j in combinations(ends, 2)),
        "ks": max(abs(sum(parts[:j])) for j in ends),
    }


@pytest.mark.parametrize("seed", SEEDS)
def test_every_measure_of_the_gap_is_its_definition(seed):
    cells = curve(seed)
    for name, expected in by_hand(*cells).items():
        assert value(name, *cells) == pytest.approx(expected, abs=ROUNDING), name


@given(st.integers(0, 10_000))
def test_what_measures_of_one_curve_have_to_do_with_each_other(seed):
    cells = curve(seed)
    of = {name: value(name, *cells) for name in by_hand(*cells)}
    assert of["over"] + of["under"] == pytest.approx(of["tce"], abs=ROUNDING)
    assert of["under"] - of["over"] == pytest.approx(of["mean_gap"], abs=ROUNDING)
    order = ["mean_gap", "ks", "c", "tce", "l2", "emax"]
    assert np.diff([abs(of[name]) for name in order]).min() > -ROUNDING
    assert of["e50"] <= of["e90"] <= of["emax"]


@pytest.mark.parametrize("seed", SEEDS)
def test_a_calibrated_curve_has_no_error(seed):
    _, score, mass = curve(seed)
    for name in by_hand(score, score, mass):
        expected = 1 if name == "oe" else 0
        assert value(name, score, score, mass) == pytest.approx(expected, abs=1e-15), name


LINE = ("intercept", "slope")


# Of the first curve no line is best: its rates are 1, then 0.
@pytest.mark.parametrize("seed", SEEDS[1:])
def test_statsmodels_finds_the_same_line(seed):
    sm = oracle("statsmodels.api")
    rate, score, mass = curve(seed, ends=False)
    x = logit(score)
    given = {"family": sm.families.Binomial(), "var_weights": mass}
    line = sm.GLM(rate, sm.add_constant(x), **given).fit(tol=1e-14, maxiter=100)
    large = sm.GLM(rate, np.ones_like(x), offset=x, **given).fit(tol=1e-14, maxiter=100)
    found = [value(name, rate, score, mass) for name in (*LINE, "citl")]
    np.testing.assert_allclose(found, [*line.params, *large.params], rtol=1e-8, atol=1e-9)


@pytest.mark.parametrize("spread", [0.1, 1, 4])
@pytest.mark.parametrize("seed", SEEDS[1:])
def test_the_gradient_of_the_divergence_is_0(seed, spread):
    rate, score, mass = curve(seed, 3, 2, ends=False)
    score = expit(spread * logit(score))
    x = logit(score)
    a, b, large = (value(name, rate, score, mass)[..., None] for name in (*LINE, "citl"))
    off = mass * (rate - expit(a + b * x))
    for part in (off, off * x, mass * (rate - expit(large + x))):
        np.testing.assert_allclose(part.sum(axis=-1), 0, atol=1e-10 * max(spread, 1))


@pytest.mark.parametrize("line", [(0, 1), (-0.5, 0.4), (1, -2), (-50, 1), (-200, 0.8)])
def test_a_curve_that_is_a_line_has_its_intercept_and_slope(line):
    _, score, mass = curve(4, ends=False)
    rate = expit(line[0] + line[1] * logit(score))
    found = [value(name, rate, score, mass) for name in LINE]
    np.testing.assert_allclose(found, line, atol=1e-9)
    if line[1] == 1:
        assert value("citl", rate, score, mass) == pytest.approx(line[0])


@pytest.mark.parametrize("bits", [20, 28, 30])
def test_rates_near_1_have_the_intercept_of_rates_as_near_to_0(bits):
    # Both sets of rates and of scores are exact, so that labels and scores change places exactly.
    rate, score, mass = np.array([1, 2, 3]) * 0.5**bits, np.array([0.25, 0.5, 0.75]), np.ones(3) / 3
    # What rounding of 1 - rate, 1.1e-16, leaves of the intercept.
    rounding = {"abs": 1e-15 * 2**bits}
    expected = pytest.approx(-value("citl", rate, score, mass), **rounding)
    assert value("citl", 1 - rate[::-1], score, mass) == expected


def test_scores_of_0_and_1_are_left_out():
    rate, score, mass = curve(3, ends=False)
    wider = [np.concatenate(parts) for parts in (([0.3], rate, [0.2]), ([0], score, [1]))]
    more = np.concatenate([[0.3], mass, [0.1]])
    for name in (*LINE, "citl"):
        expected = value(name, rate, score, mass)
        assert value(name, *wider, more) == pytest.approx(expected, abs=1e-9), name


@pytest.mark.parametrize(
    ("rate", "score"),
    [
        ([0, 0, 1, 1], [0.1, 0.4, 0.6, 0.9]),
        ([0, 0, 0, 0], [0.1, 0.4, 0.6, 0.9]),
        ([0.2, 0.5, 0.5, 0.1], [0.3, 0.3, 0.3, 0.3]),
        ([0.2, 0.5], [0, 1]),
    ],
    ids=["parted", "one label", "one score", "only 0 and 1"],
)
def test_without_a_best_line_there_is_no_slope(rate, score):
    cells = np.array(rate, float), np.array(score, float), np.full(len(rate), 1 / len(rate))
    with np.errstate(all="ignore"):
        assert np.isnan([value(name, *cells) for name in LINE]).all()


def test_through_one_score_between_0_and_1_there_is_no_line():
    # Masses as of draws: products of sums of other masses cancel but for rounding.
    mass = np.random.default_rng(20).dirichlet(np.ones(3), 50)
    cells = np.full((50, 3), 0.5), np.array([0, 0.3, 1]), mass
    with np.errstate(all="ignore"):
        assert np.isnan([value(name, *cells) for name in LINE]).all()


@pytest.mark.parametrize("centre", [-20, 7])
def test_scores_close_to_each_other_and_far_from_a_half_have_their_line(centre):
    score = expit(centre + 1e-4 * np.arange(5))
    x = logit(score)
    rate = expit(x.mean() + 2 * (x - x.mean()))
    # Rounding of numbers near 1 moves their logits by 1e-13, a billionth of what they are apart.
    found = value("slope", rate, score, np.full(5, 0.2))
    assert found == pytest.approx(2, abs=2e-9)
