"""What a fit of SSME-KDE starts from: class priors that are checked, bandwidths by class."""

import numpy as np
import pytest

from bayescal.core.errors import InputError
from bayescal.quantities.ssme.data import panel_of
from bayescal.quantities.ssme.estimator import KDESettings, check_prior, fit_panel
from bayescal.quantities.ssme.kde import bandwidth
from tests.quantities.ssme.made import binary


def test_a_shared_bandwidth_is_the_least_over_classifiers():
    panel = panel_of(binary()[0])
    settings = KDESettings(bandwidth_scale=0.5, max_epochs=1)
    fit, widths = fit_panel(panel, settings, None, np.random.default_rng(1))
    logit = np.log(panel.probs[..., 1] / panel.probs[..., 0])
    least = 0.5 * min(bandwidth(one[:, np.newaxis], "isj") for one in logit)
    # The sign of the log ratios moves the grid of the bandwidth rule by rounding.
    np.testing.assert_allclose(widths, [least, least], rtol=1e-6)
    assert fit.n_iter == 1


def test_a_given_bandwidth_is_scaled():
    panel = panel_of(binary()[0])
    settings = KDESettings(bandwidth=0.4, bandwidth_scale=2.0, max_epochs=1)
    np.testing.assert_array_equal(
        fit_panel(panel, settings, None, np.random.default_rng(1))[1], [0.8, 0.8]
    )


@pytest.mark.parametrize("prior", [[0.5, 0.6], [1.0, 0.0], [0.2, 0.3, 0.5]])
def test_a_prior_that_is_none_is_refused(prior):
    with pytest.raises(InputError, match="class_prior must hold 2 probabilities"):
        check_prior(prior, 2)
