"""SSME-KDE: settings, EM, and the estimates."""

from dataclasses import replace
from functools import partial

import numpy as np
import pytest
from scipy.special import expit
from scipy.stats import norm

import bayescal as bc
from bayescal.core.errors import InputError
from bayescal.core.scores import select_rows
from bayescal.quantities.ssme.data import ScoreMatrix, score_matrix
from bayescal.quantities.ssme.estimator import (
    NAMED,
    PAPER,
    RELEASE,
    KDESettings,
    check_prior,
    estimate,
    estimate_by_group,
    estimate_each,
    estimate_unbinned_ece,
    fit_mixture,
    fit_scores,
    settings_of,
)
from bayescal.quantities.ssme.kde import DenseKernel, bandwidth, squared_distances
from bayescal.quantities.ssme.metrics import Metrics, metrics, subgroup_metrics
from tests.quantities.ssme.made import binary, multiclass, weighted

WIDE = KDESettings(bandwidth=1.0)
# Nothing that depends on the number of rows, or is drawn.
ALIKE = KDESettings(bandwidth=1.0, start="mean")
CHOICES = {
    "paper": "paper",
    "release": "release",
    "per class": KDESettings(sharing="class"),
    "left out": KDESettings(leave_one_out=True),
    "from the mean": KDESettings(start="mean"),
    "wide": WIDE,
}


def same(first, second):
    for one, two in zip(first, second, strict=True):
        np.testing.assert_array_equal(one, two)


@pytest.mark.parametrize("choice", CHOICES)
@pytest.mark.parametrize("make", [binary, multiclass])
def test_every_variant_returns_probabilities(choice, make):
    scores, truth = make()
    found = estimate(scores, settings=CHOICES[choice], n_draws=20)
    k = scores.n_classes
    assert found.prob_label.shape == (200, k)
    np.testing.assert_allclose(found.prob_label.sum(axis=1), 1, atol=1e-12)
    np.testing.assert_array_equal(found.prob_label[:20], np.eye(k)[truth[:20]])
    np.testing.assert_allclose(found.class_prior.sum(), 1, atol=1e-12)
    assert (found.bandwidth > 0).all()
    assert found.bandwidth.shape == (k,)
    for values in Metrics._make(found[:7]):
        assert values.shape == (3,)
        assert np.isfinite(values).all()


def test_draws_average_to_the_expectation_where_metrics_are_linear():
    scores, _ = binary()
    drawn = estimate(scores, settings=WIDE, n_draws=4000)
    expected = estimate(scores, settings=WIDE, n_draws=None)
    assert np.ptp(expected.prob_label[20:], axis=1).min() < 0.9
    # Five standard errors: accuracy varies by at most sqrt(1/4 / 200) between draws.
    tolerance = 5 * np.sqrt(0.25 / 200 / 4000)
    np.testing.assert_allclose(drawn.accuracy, expected.accuracy, atol=tolerance)


def test_one_classifier_at_a_time():
    scores, _ = binary()
    found = estimate_each(scores, n_draws=10, seed=4)
    assert found.prob_label.shape == (3, 200, 2)
    assert found.n_iter.shape == found.converged.shape == (3,)
    for m, name in enumerate(scores.classifiers):
        alone = estimate(scores.select(name), n_draws=10, seed=4)
        np.testing.assert_array_equal(found.accuracy[m], alone.accuracy[0])
        np.testing.assert_array_equal(found.prob_label[m], alone.prob_label)
        np.testing.assert_array_equal(found.bandwidth[m], alone.bandwidth)


def test_groups_share_one_fit():
    group = np.array(["u", "v"])[np.arange(200) % 2]
    scores, _ = binary(group=group)
    found = estimate_by_group(scores, settings=WIDE, n_draws=None)
    whole = estimate(scores, settings=WIDE, n_draws=None)
    np.testing.assert_array_equal(found.prob_label, whole.prob_label)
    matrix = score_matrix(scores)
    expected = subgroup_metrics(matrix.probs, whole.prob_label, matrix.group, 2)
    np.testing.assert_array_equal(found.auc, expected.auc)
    assert found.accuracy.shape == (3, 2)
    assert estimate_by_group(scores, n_draws=5).ece.shape == (3, 2)


def test_groups_are_asked_for():
    with pytest.raises(InputError, match="scores must have groups"):
        estimate_by_group(binary()[0])


def test_a_group_without_labels():
    scores, _ = binary(group=["u"] * 20 + ["v"] * 180)
    found = estimate_by_group(scores, n_draws=5)
    assert np.isfinite(found.accuracy).all()


def test_two_columns_are_one_score():
    scores, _ = binary(m=2)
    s = scores.y_prob
    label = [None if y < 0 else int(y) for y in scores.y_true]
    columns = {name: np.stack([1 - s[j], s[j]], axis=1) for j, name in enumerate("ab")}
    two = bc.Scores.stack(columns, y_true=label)
    same(estimate(scores, n_draws=10), estimate(two, n_draws=10))


def test_a_class_without_a_label_lives_by_its_scores():
    scores, truth = multiclass(k=3)
    label = [int(y) if i < 30 and y != 2 else None for i, y in enumerate(truth)]
    pairs = zip(scores.classifiers, scores.y_prob, strict=True)
    found = estimate(bc.Scores.stack(pairs, y_true=label, classes=[0, 1, 2]), settings=WIDE)
    # One in three rows; the mean score says so within a few points.
    assert found.class_prior[2] == pytest.approx(1 / 3, abs=0.1)
    assert np.isfinite(found.accuracy).all()


def test_no_labels():
    matrix = score_matrix(binary()[0])
    blank = ScoreMatrix(
        matrix.probs, np.full(200, -1, np.int32), matrix.classifiers, matrix.classes
    )
    found = estimate(blank, n_draws=20)
    assert np.isfinite(found.auc).all()
    np.testing.assert_allclose(found.class_prior.sum(), 1, atol=1e-12)


@pytest.mark.parametrize(
    "take",
    [
        partial(estimate, settings=ALIKE, n_draws=None),
        partial(estimate_each, settings=ALIKE, n_draws=None),
        partial(estimate_by_group, settings=ALIKE, n_draws=None),
        partial(estimate_unbinned_ece, settings=ALIKE),
        bc.ssme.ensemble,
        bc.ssme.baselines.labeled,
        bc.ssme.baselines.labeled_by_group,
    ],
)
def test_whole_weights_are_repeated_rows(take):
    weight = np.random.default_rng(2).integers(1, 5, 200)
    scores = weighted(weight, group=np.arange(200) % 2)
    rows = np.repeat(np.arange(200), weight)
    repeated = select_rows(scores, rows, scores.group[rows], scores.groups).without_weight()
    for one, two in zip(take(scores)[:7], take(repeated)[:7], strict=True):
        np.testing.assert_allclose(one, two, rtol=1e-10)
    assert np.abs(take(scores.without_weight())[0] - take(scores)[0]).max() > 1e-3


@pytest.mark.parametrize(
    "take",
    [
        bc.ssme.estimate_flow,
        bc.ssme.baselines.labeled_interval,
        bc.ssme.baselines.majority_vote,
        bc.ssme.baselines.pseudo_labeled,
        bc.ssme.baselines.dawid_skene,
        bc.ssme.baselines.autoeval,
        bc.ssme.baselines.bayesian_calibration,
    ],
)
def test_other_methods_refuse_weights(take):
    with pytest.raises(InputError, match="this method cannot use sample weights; got those of 200"):
        take(weighted(np.arange(1, 201)))


@pytest.mark.parametrize("settings", ["paper", "release"])
def test_all_labels_are_the_answer(settings):
    scores, truth = binary(n_labeled=200)
    found = estimate(scores, settings=settings, n_draws=3)
    expected = metrics(score_matrix(scores).probs, np.eye(2)[truth])
    for name, value in expected._asdict().items():
        np.testing.assert_allclose(getattr(found, name), value, atol=1e-12, err_msg=name)


@pytest.mark.parametrize("settings", ["paper", "release"])
def test_identical_classifiers_get_identical_metrics(settings):
    scores, _ = binary(m=1)
    twins = bc.Scores.stack(
        {"a": scores.y_prob[0], "b": scores.y_prob[0]},
        y_true=[None if y < 0 else int(y) for y in scores.y_true],
    )
    found = estimate(twins, settings=settings)
    for values in found[:7]:
        assert values[0] == values[1]


RNG = np.random.default_rng(1)
ODD = {
    "0 and 1": RNG.integers(0, 2, (2, 60)).astype(float),
    "constant": np.repeat([[0.3], [0.6]], 30, axis=1),
    "two rows": np.array([[0.2, 0.9]]),
    "fifty alike": expit(RNG.normal(size=200) + 0.3 * RNG.normal(size=(50, 200))),
}


@pytest.mark.parametrize("choice", CHOICES)
@pytest.mark.parametrize("prob", ODD.values(), ids=ODD)
def test_odd_scores_have_probabilities_and_metrics(choice, prob):
    label = [0, None, 1, *[None] * 200][: prob.shape[1]]
    scores = bc.Scores.stack({f"c{j}": one for j, one in enumerate(prob)}, y_true=label)
    found = estimate(scores, settings=CHOICES[choice], n_draws=10)
    np.testing.assert_allclose(found.prob_label.sum(axis=1), 1, atol=1e-12)
    assert np.isfinite([found.accuracy, found.ece, found.log_loss, found.brier]).all()
    assert np.isfinite(found.auc).all() or prob.shape[1] == 2


@pytest.mark.slow
@pytest.mark.parametrize("choice", ["paper", "release"])
def test_fifty_classes(choice):
    scores, truth = multiclass(n=300, k=50, n_labeled=100)
    found = estimate(scores, settings=choice, n_draws=10)
    assert found.prob_label.shape == (300, scores.n_classes)
    np.testing.assert_allclose(found.prob_label.sum(axis=1), 1, atol=1e-12)
    for values in found[:7]:
        assert np.isfinite(values).all()
    np.testing.assert_array_equal(found.prob_label[:100], np.eye(50)[truth[:100]])


def test_many_rows_go_by_neighbours_with_the_same_answer(monkeypatch):
    scores, _ = binary(n=400, m=5)
    settings = KDESettings(bandwidth=0.5, start="mean")
    dense = estimate(scores, settings=settings, n_draws=None)
    monkeypatch.setattr("bayescal.quantities.ssme.kde.MOST_PAIRS", 0)
    near = estimate(scores, settings=settings, n_draws=None)
    # Kernels end where they are 3e-7 of their height.
    np.testing.assert_allclose(near.prob_label, dense.prob_label, rtol=0, atol=1e-3)


def test_the_paper_s_text():
    """Section 4, E.1: last class, ISJ bandwidth, one for all, rows clamped, labels drawn."""
    assert settings_of("paper", NAMED) == PAPER == KDESettings()
    assert (PAPER.bandwidth, PAPER.bandwidth_scale, PAPER.sharing) == ("isj", 1, "all")
    assert (PAPER.start, PAPER.labeled_weight, PAPER.clamp_densities) == ("draw", 1, True)
    assert PAPER.reference == "last"
    assert not PAPER.leave_one_out


def test_the_published_code():
    """First class, rows tenfold, 20 epochs, a quarter of the normal reference, labels redrawn."""
    assert settings_of("release", NAMED) == RELEASE
    assert (RELEASE.bandwidth, RELEASE.bandwidth_scale) == ("normal-reference", 0.25)
    assert (RELEASE.labeled_weight, RELEASE.max_epochs, RELEASE.tolerance) == (10, 20, 0)
    assert (RELEASE.reference, RELEASE.prior_update) == ("first", "drawn")
    assert not RELEASE.clamp_densities
    assert not RELEASE.weighted_start


def test_a_shared_bandwidth_is_the_least_over_classifiers():
    matrix = score_matrix(binary()[0])
    settings = KDESettings(bandwidth_scale=0.5, max_epochs=1)
    fit, widths = fit_scores(matrix, settings, None, np.random.default_rng(1))
    logit = np.log(matrix.probs[..., 1] / matrix.probs[..., 0])
    least = 0.5 * min(bandwidth(one[:, np.newaxis], "isj") for one in logit)
    # The sign of the log ratios moves the grid of the bandwidth rule by rounding.
    np.testing.assert_allclose(widths, [least, least], rtol=1e-6)
    assert fit.n_iter == 1


@pytest.mark.parametrize("prior", [[0.5, 0.6], [1.0, 0.0], [0.2, 0.3, 0.5]])
def test_a_prior_that_is_none_is_refused(prior):
    with pytest.raises(InputError, match="class_prior must hold 2 probabilities"):
        check_prior(prior, 2)


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
    found = fit(coords, start, known, labeled, settings, widths)
    q = found.prob_label[~labeled]
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


def test_long_run_is_the_harmonic_solution():
    """Propagation ends where each unlabelled row is the kernel mean of all (Zhu et al. 2003)."""
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


def test_the_widest_kernels_reach_every_row_alike():
    """Every row without label then has the class shares, by Bayes' rule with equal densities."""
    scores, _ = binary()
    found = estimate(scores, settings=replace(WIDE, bandwidth=1e9), n_draws=None)
    left = found.prob_label[20:]
    np.testing.assert_allclose(left, np.broadcast_to(left[0], left.shape), rtol=1e-9)
    # Wider ones overflowed, and reached none: rows kept the labels that they started from.
    for name in ("bandwidth", "bandwidth_scale", "labeled_weight"):
        with pytest.raises(bc.InputError, match=rf"{name} must be a number in \[1e-9, 1e9\]"):
            KDESettings(**{name: 1e300})


def test_given_prior_is_kept():
    prior = np.array([0.1, 0.2, 0.7])
    found = fit(*made(), KDESettings(), np.full(3, 0.5), prior)
    np.testing.assert_array_equal(found.class_prior, prior)


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


@pytest.mark.parametrize("make", [binary, multiclass])
def test_it_is_a_kernel_average_of_the_joint_fit(make):
    scores, _ = make(n=60)
    # Until next to nothing changes: then the class prior cancels against the classes' mass.
    settings = KDESettings(bandwidth=0.5, max_epochs=5000, tolerance=1e-13)
    q = estimate(scores, settings=settings, n_draws=1).prob_label
    found = estimate_unbinned_ece(scores, settings=settings)
    for m, own in enumerate(score_matrix(scores).probs):
        gaps = []
        for p in own:
            away = np.log(p[:-1] / p[-1]) - np.log(own[:, :-1] / own[:, -1:])
            kernel = norm.pdf(away / 0.5).prod(axis=1)
            gaps.append(abs(kernel @ q / kernel.sum() - p)[p.argmax()])
        assert found[m] == pytest.approx(np.mean(gaps), rel=1e-6)


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
