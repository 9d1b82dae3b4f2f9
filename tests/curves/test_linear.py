"""Sums over shares of wrong labels against quadrature, and against data drawn before the data."""

import numpy as np
import pytest
from scipy.stats import chisquare, kstest, truncnorm

from bayescal.curves.linear import Linear
from bayescal.inference.direct import BinomialCells

DRAWS = 20_000
EVEN = (np.arange(20) + 0.5) / 20


def made(score, count, positives, scale=0.15):
    score, count = np.array(score, dtype=float), np.broadcast_to(count, len(score))
    return Linear(score, BinomialCells(count, np.array(positives, dtype=float)), scale)


def counted(count, rate, seed=1, scale=0.15):
    positives = np.random.default_rng(seed).binomial(count, rate)
    return made(EVEN, count, positives, scale)


POINTS, WEIGHTS = np.polynomial.legendre.leggauss(400)


def quadrature(model):
    """Log evidence, and the means of a, of b and of their product."""
    cells, top = model.cells, min(9.0, 1 / model.scale)
    share = (POINTS + 1) * top / 2
    a, b = np.meshgrid(share, share, indexing="ij")
    rate = model.scale * a[..., None] * (1 - model.score)
    rate = rate + (1 - model.scale * b[..., None]) * model.score
    other = cells.count - cells.positives
    log = (cells.positives * np.log(rate) + other * np.log1p(-rate)).sum(axis=-1)
    before = truncnorm(0, 1 / model.scale).pdf(share) * WEIGHTS * top / 2
    mass = np.exp(log - log.max()) * np.outer(before, before)
    means = [(mass * value).sum() / mass.sum() for value in (a, b, a * b)]
    return log.max() + np.log(mass.sum()), means


@pytest.mark.parametrize(
    "model",
    [
        made([0.3], [9], [4]),
        made([0.2, 0.7], [3, 5], [1, 2]),
        made([0.1, 0.5, 0.6, 0.95], [20, 4, 9, 30], [2, 1, 7, 28]),
        made([0.1, 0.5, 0.6, 0.95], [20, 4, 9, 30], [10, 2, 4, 15], scale=0.4),
        made([0.02, 0.9], [7.5, 2.25], [0.0, 1.75], scale=2.0),
        made([0.49, 0.51], [300, 300], [140, 160]),
        made([0.1, 0.5, 0.6, 0.95], 300, [2, 8, 9, 14]),
    ],
    ids=["one cell", "few rows", "calibrated", "wide", "cut off", "scores alike", "most wrong"],
)
def test_evidence_and_moments_against_quadrature(model):
    evidence, means = quadrature(model)
    found = model.sample(DRAWS, np.random.default_rng(2))
    assert found.log_evidence == pytest.approx(evidence, abs=0.02)
    a, b = shares = found.draws["label_noise"].T
    for drawn, mean in zip((a, b, a * b), means, strict=True):
        # Four Monte Carlo errors, and what the points leave out.
        error = 4 * drawn.std() / np.sqrt(DRAWS) + 0.01 * mean
        assert drawn.mean() == pytest.approx(mean, abs=error)
    assert (shares >= 0).all()
    assert (shares * model.scale <= 1).all()


@pytest.mark.parametrize("rows", [300, 10**5])
def test_many_rows_find_the_shares_of_wrong_labels(rows):
    model = counted(rows, 0.1 * (1 - EVEN) + 0.8 * EVEN)
    shares = model.scale * model.sample(DRAWS, np.random.default_rng(3)).draws["label_noise"]
    assert (np.abs(shares.mean(axis=0) - [0.1, 0.2]) < 4 * shares.std(axis=0)).all()
    # At either end a line through 20 rates is known to twice the error of their mean.
    expected = 2 * np.sqrt(0.12 / (rows * len(EVEN)))
    assert shares.std(axis=0) == pytest.approx(expected, rel=0.4)


def test_scores_that_are_alike_tell_of_the_difference_alone():
    """A million rows of one score: what adds to the labels takes from them."""
    model = made([0.3], [10**6], [3 * 10**5])
    shares = model.sample(DRAWS, np.random.default_rng(4)).draws["label_noise"]
    rate = 0.7 * model.scale * shares[:, 0] + 0.3 * (1 - model.scale * shares[:, 1])
    assert rate.mean() == pytest.approx(0.3, abs=1e-4)
    assert rate.std() == pytest.approx(np.sqrt(0.3 * 0.7 / 10**6), rel=0.1)
    # Along the line (a, 7/3 a) the prior is half-normal.
    expected = 1 / np.sqrt(1 + (7 / 3) ** 2)
    assert shares[:, 0].mean() == pytest.approx(expected * np.sqrt(2 / np.pi), rel=0.03)


@pytest.mark.parametrize("scale", [0.15, 0.7, 3.0])
def test_before_the_data_shares_are_half_normal_and_at_most_1(scale):
    model = made([0.3], [1], [0], scale)
    draws = model.prior_draws(DRAWS, np.random.default_rng(5))
    for share in draws["label_noise"].T:
        assert kstest(share * scale, truncnorm(0, 1 / scale, scale=scale).cdf).pvalue > 1e-3
    excess = model.log_prior_excess(draws)
    assert excess.mean() == pytest.approx(0, abs=4 * excess.std() / np.sqrt(DRAWS))


def test_under_a_very_wide_prior_shares_are_uniform():
    draws = made([0.3], [1], [0], 1e20).prior_draws(DRAWS, np.random.default_rng(5))
    assert kstest(1e20 * draws["label_noise"][:, 0], "uniform").pvalue > 1e-3


def test_deviations_are_those_of_the_line():
    model = made([0.2, 0.7], [3, 5], [1, 2])
    draws = {"label_noise": np.array([[1.0, 2.0], [0.0, 0.0]])}
    rate = 1 / (1 + np.exp(-(model.deviation(draws) + np.log(model.score / (1 - model.score)))))
    np.testing.assert_allclose(rate[0], 0.15 * (1 - model.score) + 0.7 * model.score)
    np.testing.assert_allclose(rate[1], model.score)
    np.testing.assert_array_equal(model.deviation_at(draws, model.score), model.deviation(draws))


def test_ranks_of_rates_drawn_before_the_data_are_uniform():
    rng, ranks = np.random.default_rng(6), []
    for _ in range(400):
        model = made(EVEN, 30, np.zeros(20))
        truth = model._rate(model.prior_draws(1, rng)["label_noise"], EVEN)[0]
        fitted = made(EVEN, 30, rng.binomial(30, truth))
        rates = fitted._rate(fitted.sample(99, rng).draws["label_noise"], EVEN)
        ranks.append((rates < truth).sum(axis=0))
    for cell in (0, 10, 19):
        seen = np.bincount(np.array(ranks)[:, cell] // 10, minlength=10)
        assert chisquare(seen).pvalue > 1e-3
