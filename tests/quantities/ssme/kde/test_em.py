"""EM against the same written out in loops, and against clamped label propagation."""

from dataclasses import replace

import numpy as np
import pytest
from scipy.stats import norm

from bayescal.quantities.ssme.estimator import RELEASE, KDESettings, fit_mixture
from bayescal.quantities.ssme.kde import DenseKernel, squared_distances


def made(n=50, d=2, k=3, n_labeled=8, seed=0):
    rng = np.random.default_rng(seed)
    label = rng.integers(k, size=n)
    coords = rng.normal(size=(n, d)) + label[:, np.newaxis]
    start = rng.dirichlet(np.ones(k), n)
    labeled = np.zeros(n, dtype=bool)
    labeled[rng.choice(n, n_labeled, replace=False)] = True
    return coords, start, np.eye(k)[label[labeled]], labeled


def fit(coords, start, known, labeled, settings, widths, class_prior=None, seed=0):
    kernel = DenseKernel(coords, widths, settings.leave_one_out)
    rng = np.random.default_rng(seed)
    return fit_mixture(kernel, start, known, labeled, settings, class_prior, rng)


def by_hand(coords, start, known, labeled, settings, widths, class_prior=None):
    """One row, one class, one sum after the other."""
    n, n_classes = start.shape
    q = start.copy()
    q[labeled] = known
    for _ in range(settings.max_epochs):
        weight = np.where(labeled, settings.labeled_weight, 1.0)[:, np.newaxis] * q
        prior = weight.sum(axis=0) / weight.sum() if class_prior is None else class_prior
        joint = np.zeros((n, n_classes))
        for i in range(n):
            others = np.arange(n) != i if settings.leave_one_out else np.full(n, True)
            for k in range(n_classes):
                density = norm.pdf(coords[others], coords[i], widths[k]).prod(axis=1)
                joint[i, k] = prior[k] * np.average(density, weights=weight[others, k])
        q = joint / joint.sum(axis=1, keepdims=True)
        q[labeled] = known
    return q


@pytest.mark.slow
@pytest.mark.parametrize("leave_one_out", [False, True])
@pytest.mark.parametrize("labeled_weight", [1.0, 4.0])
@pytest.mark.parametrize("widths", [[0.6, 0.6, 0.6], [0.4, 0.7, 1.0]])
@pytest.mark.parametrize("class_prior", [None, [0.2, 0.3, 0.5]])
def test_em_in_loops(leave_one_out, labeled_weight, widths, class_prior):
    settings = KDESettings(
        leave_one_out=leave_one_out, labeled_weight=labeled_weight, max_epochs=4, tolerance=0.0
    )
    prior = None if class_prior is None else np.array(class_prior)
    found = fit(*made(), settings, np.array(widths), prior)
    expected = by_hand(*made(), settings, np.array(widths), prior)
    # Rounding, in sums of 50 terms, four times over.
    np.testing.assert_allclose(found.prob_label, expected, rtol=0, atol=1e-11)


@pytest.mark.parametrize("weight", [1.0, 0.25, 8.0])
def test_the_class_prior_maximises_the_weighted_objective(weight):
    """Section 4 of the paper: sum over labeled of log pi_y + lambda sum over others of q log pi."""
    coords, start, known, labeled = made()
    settings = KDESettings(labeled_weight=weight, max_epochs=1, tolerance=0.0)
    widths = np.array([0.4, 0.7, 1.0])
    q = fit(coords, start, known, labeled, settings, widths).prob_label[~labeled]
    found = fit(coords, start, known, labeled, replace(settings, max_epochs=2), widths)
    lam, n_labeled = 1 / weight, len(known)
    expected = (known.sum(axis=0) + lam * q.sum(axis=0)) / (n_labeled + lam * len(q))
    np.testing.assert_allclose(found.class_prior, expected, rtol=1e-12)


def test_the_release_draws_its_prior_without_weights():
    coords, start, known, labeled = made()
    found = fit(coords, start, known, labeled, replace(RELEASE, max_epochs=1), np.full(3, 0.5))
    q = start.copy()
    q[labeled] = known
    np.testing.assert_allclose(found.class_prior, q.mean(axis=0), rtol=1e-12)


def test_the_release_starts_without_weights():
    """Its first epoch: Bayes' rule with densities and prior of the labels started from."""
    coords, start, known, labeled = made()
    widths = np.array([0.4, 0.7, 1.0])
    found = fit(coords, start, known, labeled, replace(RELEASE, max_epochs=1), widths)
    once = KDESettings(max_epochs=1, tolerance=0.0)
    expected = by_hand(coords, start, known, labeled, once, widths)
    np.testing.assert_allclose(found.prob_label, expected, rtol=0, atol=1e-11)


@pytest.mark.parametrize("weight", [1.0, 4.0])
def test_one_bandwidth_is_clamped_label_propagation(weight):
    """Prior and class mass cancel: q <- rows of K w q divided by their sums, known labels kept."""
    coords, start, known, labeled = made()
    settings = KDESettings(max_epochs=30, tolerance=0.0, labeled_weight=weight)
    found = fit(coords, start, known, labeled, settings, np.full(3, 0.5))
    kernel = np.exp(-squared_distances(coords) / (2 * 0.5**2))
    q = start.copy()
    q[labeled] = known
    for _ in range(30):
        q = kernel @ (np.where(labeled, weight, 1.0)[:, np.newaxis] * q)
        q /= q.sum(axis=1, keepdims=True)
        q[labeled] = known
    np.testing.assert_allclose(found.prob_label, q, rtol=0, atol=1e-11)


def test_long_run_is_the_harmonic_solution():
    """Propagation ends where each unlabeled row is the kernel mean of all (Zhu et al. 2003)."""
    coords, start, known, labeled = made(n=30)
    settings = KDESettings(max_epochs=3000, tolerance=1e-14)
    found = fit(coords, start, known, labeled, settings, np.full(3, 1.0))
    kernel = np.exp(-squared_distances(coords) / 2)
    step = kernel / kernel.sum(axis=1, keepdims=True)
    free = ~labeled
    harmonic = np.linalg.solve(
        np.eye(free.sum()) - step[np.ix_(free, free)], step[np.ix_(free, labeled)] @ known
    )
    assert found.converged
    np.testing.assert_allclose(found.prob_label[free], harmonic, atol=1e-10)


def test_without_labels_all_rows_end_alike():
    """A random walk forgets its start: all rows get its mean, weighted by the kernel's row sums."""
    coords, start, _, _ = made(n=30)
    none = np.zeros(30, dtype=bool)
    settings = KDESettings(max_epochs=3000, tolerance=1e-14)
    found = fit(coords, start, np.empty((0, 3)), none, settings, np.full(3, 1.0))
    degree = np.exp(-squared_distances(coords) / 2).sum(axis=1)
    expected = np.tile(np.average(start, axis=0, weights=degree), (30, 1))
    assert found.converged
    np.testing.assert_allclose(found.prob_label, expected, atol=1e-10)


def test_narrow_kernels_stay_where_they_start():
    """A row that sees only itself keeps its label: the fit is one draw from the mean score."""
    coords, start, known, labeled = made(d=7)
    drawn = np.eye(3)[start.argmax(axis=1)]
    found = fit(coords, drawn, known, labeled, KDESettings(), np.full(3, 0.01))
    drawn[labeled] = known
    np.testing.assert_array_equal(found.prob_label, drawn)
    assert found.converged
    assert found.n_iter == 1


def test_known_labels_stay():
    coords, start, known, labeled = made()
    for settings in (KDESettings(), RELEASE):
        found = fit(coords, start, known, labeled, settings, np.full(3, 0.5))
        np.testing.assert_array_equal(found.prob_label[labeled], known)
        np.testing.assert_allclose(found.prob_label.sum(axis=1), 1, atol=1e-12)


def test_given_prior_is_kept():
    prior = np.array([0.1, 0.2, 0.7])
    found = fit(*made(), KDESettings(), np.full(3, 0.5), prior)
    np.testing.assert_array_equal(found.class_prior, prior)


def test_drawn_prior_follows_the_seed():
    first, again, other = (fit(*made(), RELEASE, np.full(3, 0.5), seed=s) for s in (1, 1, 2))
    np.testing.assert_array_equal(first.prob_label, again.prob_label)
    assert not np.array_equal(first.class_prior, other.class_prior)
    # Shares of 50 drawn labels.
    np.testing.assert_allclose(first.class_prior * 50 % 1, 0, atol=1e-9)


def test_a_row_that_nothing_reaches_keeps_its_probabilities():
    coords = np.array([[0.0], [1.0], [500.0]])
    start = np.array([[1.0, 0.0], [0.0, 1.0], [0.3, 0.7]])

    class Deaf(DenseKernel):
        def log_sums(self, weight):
            found = super().log_sums(weight)
            found[2] = -np.inf
            return found

    found = fit_mixture(
        Deaf(coords, np.ones(2)),
        start,
        np.empty((0, 2)),
        np.zeros(3, dtype=bool),
        KDESettings(max_epochs=3),
        None,
        np.random.default_rng(0),
    )
    np.testing.assert_array_equal(found.prob_label[2], [0.3, 0.7])
