"""SSME-NF: settings, bases, the flow, EM of normals, and the estimate."""

from dataclasses import replace

import numpy as np
import pytest
from scipy.stats import multivariate_normal, norm
from sklearn.mixture import GaussianMixture

import bayescal as bc
from bayescal.core.errors import InputError
from bayescal.quantities.ssme import flow
from bayescal.quantities.ssme.data import score_matrix
from bayescal.quantities.ssme.flow import (
    NAMED,
    PAPER,
    FixedBase,
    FlowSettings,
    JointBase,
    Normals,
    estimate_flow,
    fit_normals,
    label_probs,
    latent_points,
    normals_of,
)
from bayescal.quantities.ssme.metrics import metrics
from tests.conftest import oracle
from tests.quantities.ssme.made import binary, multiclass


def test_the_paper_s_text():
    """Appendix C: ten couplings, three layers, 128 units; 300 epochs of flow, then 700 of EM."""
    assert NAMED["paper"] == PAPER == FlowSettings()
    assert (PAPER.n_couplings, PAPER.n_layers, PAPER.width) == (10, 3, 128)
    assert (PAPER.n_epochs, PAPER.em_epochs, PAPER.em_tolerance) == (300, 700, 0)
    assert (PAPER.base, PAPER.covariance) == ("fixed", "full")


RNG = np.random.default_rng(4)
POINTS = RNG.normal(size=(40, 3)) @ RNG.normal(size=(3, 3))
PROB = RNG.dirichlet(np.ones(2), 40)
ROWS = np.arange(5)


@pytest.fixture(autouse=True, scope="module")
def jax():
    oracle("jax")


def up_to_a_constant(found, expected):
    away = np.asarray(found) - expected
    # Single precision; the constants of normals are left out.
    np.testing.assert_allclose(away, away[0], atol=1e-4)


@pytest.mark.mcmc
def test_a_fixed_base_is_the_mixture_or_the_class_that_is_known():
    prior, possible = np.array([0.3, 0.7]), np.ones((40, 2))
    possible[:2] = np.eye(2)
    base = FixedBase(normals_of(POINTS, PROB, diagonal=False), prior, possible)
    density = [
        multivariate_normal(
            np.average(POINTS, axis=0, weights=q), np.cov(POINTS.T, aweights=q, bias=True)
        ).pdf(POINTS[ROWS])
        for q in PROB.T
    ]
    mixture = (possible[ROWS] * prior * np.transpose(density)).sum(axis=1)
    up_to_a_constant(base.log_density({}, POINTS[ROWS], ROWS), np.log(mixture))


@pytest.mark.mcmc
def test_a_joint_base_weighs_log_densities():
    base = JointBase(RNG.normal(size=(2, 3)), PROB)
    trained = {"mean": base.mean, "log_scale": RNG.normal(size=(2, 3))}
    logs = norm(base.mean, np.exp(trained["log_scale"])).logpdf(POINTS[ROWS, np.newaxis]).sum(2)
    up_to_a_constant(base.log_density(trained, POINTS[ROWS], ROWS), (PROB[ROWS] * logs).sum(1))
    assert base.start()["log_scale"].shape == (2, 3)


SMALL = {"n_couplings": 2, "n_layers": 2, "width": 16, "n_epochs": 40, "learning_rate": 3e-3}


def test_one_coordinate_is_too_few():
    with pytest.raises(InputError, match="needs at least two coordinates"):
        estimate_flow(bc.Scores(y_true=[0, None], y_prob=[0.2, 0.9]))


@pytest.fixture
def unbent(monkeypatch):
    """A flow that does nothing: points stay log ratios, and no extra is needed."""
    monkeypatch.setattr(flow, "latent_points", lambda coords, *_: coords)


@pytest.mark.usefixtures("unbent")
@pytest.mark.parametrize("name", ["paper", "joint"])
def test_where_the_flow_does_nothing_it_is_a_mixture_of_normals_on_log_ratios(name):
    scores, truth = binary()
    found = estimate_flow(scores, settings=name, n_draws=None)
    matrix = score_matrix(scores)
    logit = np.log(matrix.probs[..., 1] / matrix.probs[..., 0]).T
    known, start = np.eye(2)[truth[:20]], matrix.probs.mean(axis=0)
    start[:20] = known
    settings = NAMED[name]
    diagonal = settings.covariance == "diagonal"
    if name == "paper":
        # EM starts from the normals that the flow was trained to.
        normals = normals_of(logit, start, diagonal=diagonal)
        start = label_probs(logit, normals, start.mean(axis=0))
    expected = fit_normals(
        logit,
        start,
        known,
        matrix.labeled,
        diagonal=diagonal,
        max_epochs=settings.em_epochs,
        tolerance=settings.em_tolerance,
    )
    # Probabilities are clipped at 1e-6 first, further out than any of these.
    np.testing.assert_allclose(found.prob_label, expected.prob_label, atol=1e-9)
    for ours, theirs in zip(found[:7], metrics(matrix.probs, found.prob_label), strict=True):
        np.testing.assert_array_equal(ours, theirs)
    assert found.n_iter == expected.n_iter == (700 if name == "paper" else found.n_iter)


@pytest.mark.usefixtures("unbent")
def test_given_class_prior_and_seed():
    scores, _ = multiclass()
    given = {"class_prior": [0.1, 0.2, 0.3, 0.4], "n_draws": 5}
    first, again, other = (estimate_flow(scores, seed=seed, **given) for seed in (1, 1, 2))
    np.testing.assert_array_equal(first.class_prior, given["class_prior"])
    for one, two in zip(first, again, strict=True):
        np.testing.assert_array_equal(one, two)
    assert not np.array_equal(first.accuracy, other.accuracy)
    with pytest.raises(InputError, match="class_prior must hold 4 probabilities"):
        estimate_flow(scores, class_prior=[0.5, 0.5])


@pytest.mark.mcmc
def test_labels_that_clusters_tell():
    oracle("flowjax")
    scores, truth = multiclass(n=300)
    found = estimate_flow(scores, settings=FlowSettings(base="joint", **SMALL), n_draws=None)
    k = scores.n_classes
    np.testing.assert_array_equal(found.prob_label[:20], np.eye(k)[truth[:20]])
    np.testing.assert_allclose(found.prob_label.sum(axis=1), 1, atol=1e-12)
    exact = metrics(score_matrix(scores).probs, np.eye(k)[truth])
    # A small flow on 300 rows; the standard error of an accuracy of 300 rows is .02.
    np.testing.assert_allclose(found.accuracy, exact.accuracy, atol=0.1)
    assert found.accuracy.shape == (3,)


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


def test_one_epoch_is_bayes_rule():
    """Two labelled rows a class at -1, 1 and 9, 11 give means 0 and 10 and variances 1."""
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


FEW_EPOCHS = FlowSettings(n_couplings=4, n_layers=2, width=32, n_epochs=300, learning_rate=3e-3)
# Compiled in a second; where it ends does not matter.
TINY = FlowSettings(n_couplings=1, n_layers=2, width=4, n_epochs=3, learning_rate=3e-3)


@pytest.fixture
def installed():
    oracle("flowjax")


def fixed(prob, points):
    """Standard normals at the classes' means: the flow has to take out what correlates."""
    mean = normals_of(points, prob, diagonal=True).mean
    whitening = np.broadcast_to(np.eye(points.shape[1]), (*mean.shape, points.shape[1]))
    normals = Normals(mean, whitening, np.zeros(len(mean)))
    return FixedBase(normals, prob.mean(axis=0), (prob > 0).astype(float))


def test_the_extra_is_named_where_it_is_missing(monkeypatch):
    def missing(name):
        raise ModuleNotFoundError(name=name)

    monkeypatch.setattr(flow, "import_module", missing)
    with pytest.raises(InputError, match=r"pip install 'bayescal\[flow\]'"):
        latent_points(np.zeros((4, 2)), JointBase(np.zeros((2, 2)), np.full((4, 2), 0.5)), TINY, 0)


@pytest.mark.mcmc
@pytest.mark.usefixtures("installed")
def test_the_paper_s_networks():
    """Appendix C: 3 fully connected layers, with 128 units between them; ten couplings."""
    import equinox as eqx
    import flowjax.bijections as bijections
    import jax
    import jax.numpy as jnp

    given = eqx, jax, jnp, bijections, jax.random.key(0), 5, FlowSettings()
    built = eqx.filter_eval_shape(flow._real_nvp, *given)
    weights = [leaf.shape for leaf in jax.tree.leaves(built) if getattr(leaf, "ndim", 0) == 3]
    # (coupling, units out, units in): of 5 coordinates 2 go in, and 3 get a scale and a shift.
    assert weights == [(10, 128, 2), (10, 128, 128), (10, 6, 128)]


@pytest.mark.mcmc
@pytest.mark.usefixtures("installed")
def test_untrained_it_leaves_points_where_they_are():
    points = np.random.default_rng(0).normal(size=(30, 3))
    settings = replace(TINY, n_couplings=2, learning_rate=1e-12)
    found = latent_points(points, fixed(np.full((30, 2), 0.5), points), settings, 0)
    np.testing.assert_allclose(found, points, atol=1e-5)  # single precision


@pytest.mark.mcmc
@pytest.mark.usefixtures("installed")
def test_training_that_diverges_is_no_answer():
    points = 3 * np.random.default_rng(0).normal(size=(30, 3))
    settings = replace(TINY, n_couplings=4, n_epochs=30, learning_rate=1.0)
    with pytest.raises(InputError, match=r"got learning_rate=1\. Pass a smaller one"):
        latent_points(points, fixed(np.full((30, 2), 0.5), points), settings, 0)


@pytest.mark.mcmc
@pytest.mark.usefixtures("installed")
def test_a_known_label_of_a_class_whose_prior_single_precision_lacks():
    """Bayes' rule in logarithms: the prior shifts the density of a row of that class, no more."""
    base = fixed(np.eye(2)[np.arange(30) % 2], np.random.default_rng(0).normal(size=(30, 3)))
    found = [
        np.asarray(
            base._replace(prior=np.array([p, 1 - p])).log_density(None, POINTS[:1], ROWS[:1])
        )
        for p in (0.5, 1e-60)
    ]
    np.testing.assert_allclose(found[0] - found[1], np.log(0.5e60), rtol=1e-5)  # single precision


@pytest.mark.mcmc
@pytest.mark.usefixtures("installed")
def test_training_makes_classes_normal():
    """Squared distances from the class mean, in class deviations, are chi-squared: mean d."""
    rng = np.random.default_rng(1)
    label = rng.integers(2, size=600)
    normal = rng.normal(size=(600, 2)) + 4 * label[:, np.newaxis]
    bent = np.stack([normal[:, 0], normal[:, 1] + 0.5 * normal[:, 0] ** 2], axis=1)

    def correlation(points):
        """Mean over classes of |cor| between x and y, and between x^2 and y."""
        found = []
        for k in range(2):
            x, y = (points[label == k] - points[label == k].mean(axis=0)).T
            found += [abs(np.corrcoef(x, y)[0, 1]), abs(np.corrcoef(x**2, y)[0, 1])]
        return np.mean(found)

    straight = latent_points(bent, fixed(np.eye(2)[label], bent), FEW_EPOCHS, 0)
    assert correlation(straight) < 0.5 * correlation(bent)
