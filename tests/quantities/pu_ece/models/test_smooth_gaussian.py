"""The variational Gaussian by averages: against the one by quadrature."""

import numpy as np
from scipy.special import expit

from bayescal.inference.direct import Regression, importance_sample, variational_gaussian
from bayescal.quantities.pu_ece.models.smooth_gaussian import smooth_gaussian
from tests.regressions import binomial_regression


class Binomials:
    """A binomial regression with its slopes written out."""

    def __init__(self, regression: Regression) -> None:
        self.regression = regression
        self.size = regression.design.shape[1]

    def log_likelihood(self, coef):
        return self.regression.log_likelihood(coef)

    def slopes(self, coef):
        r = self.regression
        p = expit(r.logit(coef))
        gradient = (r.cells.positives - r.cells.count * p) @ r.design
        return gradient, np.einsum("nm,mi,mj->nij", r.cells.count * p * (1 - p), r.design, r.design)


def regression(n: int) -> Regression:
    rng = np.random.default_rng(1)
    design = rng.normal(0, 0.7, (20, 4))
    count = np.full(20, n)
    return binomial_regression(np.zeros(20), design, count, rng.binomial(count, 0.3))


def test_it_is_close_to_the_gaussian_by_quadrature() -> None:
    made = regression(10)
    exact, found = variational_gaussian(made), smooth_gaussian(Binomials(made))
    spread = np.sqrt((exact.root**2).sum(axis=1))
    # Averages over 64 mirrored draws: an error of some hundredths of the spread.
    np.testing.assert_allclose(found.mean, exact.mean, atol=0.1 * spread.max())
    np.testing.assert_allclose(
        found.root @ found.root.T, exact.root @ exact.root.T, atol=0.15 * spread.max() ** 2
    )


def test_it_serves_as_a_proposal_at_every_size() -> None:
    for n in (1, 100, 10**7):
        made = Binomials(regression(n))
        weighted = importance_sample(made, smooth_gaussian(made), 4000, np.random.default_rng(2))
        assert weighted.ess > 3000


def test_the_same_again() -> None:
    made = Binomials(regression(10))
    assert (smooth_gaussian(made).mean == smooth_gaussian(made).mean).all()
