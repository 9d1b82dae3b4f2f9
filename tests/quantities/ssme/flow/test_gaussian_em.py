"""EM for normals against scikit-learn's, and with known labels against closed forms."""

import numpy as np
import pytest
from scipy.stats import multivariate_normal
from sklearn.mixture import GaussianMixture

from bayescal.quantities.ssme.flow import fit_normals, label_probs, normals_of


def made(n=300, d=2, k=3, seed=0):
    rng = np.random.default_rng(seed)
    label = rng.integers(k, size=n)
    points = rng.normal(size=(n, d)) + 2.5 * label[:, np.newaxis]
    return points, label, rng.dirichlet(np.ones(k), n) + 0.5 * np.eye(k)[label]


@pytest.mark.filterwarnings("ignore:Best performing initialization did not converge")
@pytest.mark.parametrize("kind", ["diag", "full"])
def test_without_labels_it_is_scikit_learn_s(kind):
    points, _, start = made()
    start /= start.sum(axis=1, keepdims=True)
    nothing = np.zeros(300, dtype=bool)
    found = fit_normals(
        points,
        start,
        np.empty((0, 3)),
        nothing,
        diagonal=kind == "diag",
        max_epochs=9,
        tolerance=0.0,
    )
    # scikit-learn starts from parameters: those of the first M-step.
    mass = start.sum(axis=0)
    means = start.T @ points / mass[:, np.newaxis]
    away = points[:, np.newaxis] - means
    covariances = np.einsum("ik,ikd,ike->kde", start, away, away) / mass[:, np.newaxis, np.newaxis]
    if kind == "diag":
        precisions = 1 / np.diagonal(covariances, axis1=1, axis2=2)
    else:
        precisions = np.linalg.inv(covariances)
    oracle = GaussianMixture(
        3,
        covariance_type=kind,
        weights_init=mass / 300,
        means_init=means,
        precisions_init=precisions,
        max_iter=8,
        tol=0.0,
        reg_covar=0.0,
    ).fit(points)
    np.testing.assert_allclose(found.prob_label, oracle.predict_proba(points), atol=1e-8)
    assert found.n_iter == 9
    assert not found.converged


def test_label_probabilities_are_scipy_s():
    points, label, _ = made()
    prior, one_hot = np.array([0.2, 0.3, 0.5]), np.eye(3)[label]
    density = [
        multivariate_normal(of.mean(axis=0), np.cov(of.T, bias=True)).pdf(points)
        for of in (points[label == k] for k in range(3))
    ]
    joint = prior * np.transpose(density)
    found = label_probs(points, normals_of(points, one_hot, diagonal=False), prior)
    np.testing.assert_allclose(found, joint / joint.sum(axis=1, keepdims=True), rtol=1e-9)


def test_all_labels_stay():
    points, label, start = made()
    found = fit_normals(points, start, np.eye(3)[label], np.ones(300, dtype=bool))
    np.testing.assert_array_equal(found.prob_label, np.eye(3)[label])
    np.testing.assert_allclose(found.class_prior, np.bincount(label) / 300)
    assert found.converged


def test_one_epoch_is_bayes_rule():
    """Two labeled rows a class at -1, 1 and 9, 11 give means 0 and 10 and variances 1."""
    points = np.array([[-1.0], [1.0], [9.0], [11.0], [4.0]])
    labeled = np.array([True, True, True, True, False])
    known = np.eye(2)[[0, 0, 1, 1]]
    start = np.full((5, 2), 0.5)
    start[4] = 0.0  # no weight, so that the means are those of the labels
    prior = np.array([0.3, 0.7])
    found = fit_normals(points, start, known, labeled, prior, max_epochs=1)
    odds = 0.7 / 0.3 * np.exp(-0.5 * (4 - 10) ** 2 + 0.5 * 4**2)
    assert found.prob_label[4, 1] == pytest.approx(odds / (1 + odds), rel=1e-10)


def test_a_class_of_one_point_keeps_some_width():
    points = np.array([[0.0], [1.0], [2.0], [3.0]])
    start = np.eye(2)[[0, 0, 0, 1]]
    found = fit_normals(points, start, np.empty((0, 2)), np.zeros(4, dtype=bool))
    assert np.isfinite(found.prob_label).all()


def test_a_class_without_weight_stays_without():
    points, label, _ = made(k=2)
    start = np.concatenate([np.eye(2)[label], np.zeros((300, 1))], axis=1)
    found = fit_normals(points, start, np.empty((0, 3)), np.zeros(300, dtype=bool))
    assert found.prob_label[:, 2].max() < 1e-200
