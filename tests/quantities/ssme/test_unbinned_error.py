"""The unbinned calibration error against kernel averages written out, and its limits."""

import numpy as np
import pytest
from scipy.stats import norm

import bayescal as bc
from bayescal.quantities.ssme.data import panel_of
from bayescal.quantities.ssme.estimator import KDESettings, estimate, estimate_unbinned_ece
from tests.quantities.ssme.made import binary, multiclass


@pytest.mark.parametrize("make", [binary, multiclass])
def test_it_is_a_kernel_average_of_the_joint_fit(make):
    scores, _ = make(n=60)
    # Until next to nothing changes: then the class prior cancels against the classes' mass.
    settings = KDESettings(bandwidth=0.5, max_epochs=5000, tolerance=1e-13)
    q = estimate(scores, settings=settings, n_draws=1).prob_label
    for m, own in enumerate(panel_of(scores).probs):
        gaps = []
        for p in own:
            away = np.log(p[:-1] / p[-1]) - np.log(own[:, :-1] / own[:, -1:])
            kernel = norm.pdf(away / 0.5).prod(axis=1)
            gaps.append(abs(kernel @ q / kernel.sum() - p)[p.argmax()])
        found = estimate_unbinned_ece(scores, settings=settings)[m]
        assert found == pytest.approx(np.mean(gaps), rel=1e-6)


def test_kernels_that_reach_everywhere_leave_the_class_shares():
    scores, truth = binary(n_labeled=200)
    found = estimate_unbinned_ece(scores, settings=KDESettings(bandwidth=1e6))
    np.testing.assert_allclose(found, np.abs(truth.mean() - scores.y_prob).mean(axis=1), rtol=1e-6)


def test_with_all_labels_it_comes_near_the_error_of_the_population():
    rng = np.random.default_rng(5)
    p = rng.uniform(0.05, 0.95, 4000)
    right = p**2
    scores = bc.Scores(y_true=(rng.random(4000) < right).astype(int), y_prob=p)
    found = estimate_unbinned_ece(scores)
    # Noise of the kernel's labels adds some .01 to a gap whose mean is .16.
    np.testing.assert_allclose(found, np.abs(right - p).mean(), atol=0.02)
