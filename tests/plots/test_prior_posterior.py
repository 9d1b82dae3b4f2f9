from __future__ import annotations

import pytest

from bayescal.core.errors import InputError
from bayescal.plots import plot_prior_posterior
from tests.synthetic import make_result


def test_both_densities_are_there_and_the_prior_is_the_wider() -> None:
    (ax,) = plot_prior_posterior(make_result(("vit",), prior=True)).axes
    prior, posterior = ((line.get_ydata() > 0.5).sum() for line in ax.lines)
    assert prior > 3 * posterior


def test_without_prior_draws_the_remedy_is_named() -> None:
    with pytest.raises(InputError, match=r"needs the group 'prior'.*sample_prior_predictive"):
        plot_prior_posterior(make_result())


def test_a_variable_that_the_prior_lacks() -> None:
    with pytest.raises(InputError, match="'gap' in its group 'prior'; it holds ece, tce, mce"):
        plot_prior_posterior(make_result(prior=True), "gap")
