import numpy as np
import pytest
from scipy.optimize import approx_fprime
from scipy.special import rel_entr
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.estimator_checks import parametrize_with_checks

from bayescal.core.errors import InputError
from bayescal.quantities.credal.self_learning import LabelSets
from bayescal.quantities.credal.self_learning.learning import NetworkClassifier, optimistic_loss


@parametrize_with_checks([NetworkClassifier(hidden=4, alpha=0.01, random_state=0)])
def test_scikit_learn_finds_nothing_to_say(estimator, check):
    check(estimator)


def rows(n, seed, n_classes=3):
    rng = np.random.default_rng(seed)
    y = rng.integers(n_classes, size=n)
    return rng.normal(y[:, None], 1.0, (n, 2)), y


def random_sets(n, seed, n_classes=3):
    """Bounds around random probabilities, so that none is empty."""
    rng = np.random.default_rng(seed)
    inside = rng.dirichlet(np.ones(n_classes), n)
    lower = inside * rng.random((n, n_classes))
    return lower, inside + (1 - inside) * rng.random((n, n_classes))


def test_the_slopes_are_those_of_the_optimistic_loss():
    sets = LabelSets(*random_sets(20, 2))
    at = np.random.default_rng(3).normal(size=(20, 3))
    share = np.random.default_rng(4).dirichlet(np.ones(20))

    def loss(flat):
        return optimistic_loss(sets, share, flat.reshape(20, 3))[0]

    (found,) = optimistic_loss(sets, share, at)[1]
    # Forward differences are off by about the square root of the rounding error.
    np.testing.assert_allclose(found.ravel(), approx_fprime(at.ravel(), loss, 1e-7), atol=1e-5)


def test_the_loss_of_two_classes_is_that_of_the_clipped_probability():
    x, y = rows(60, 5, 2)
    low = np.where(y == 1, 0.6, 0.1)
    high = np.where(y == 1, 0.9, 0.3)
    lower = np.column_stack([1 - high, low])
    upper = np.column_stack([1 - low, high])
    fitted = NetworkClassifier(hidden=2, random_state=0).fit_credal(x, lower, upper)
    p = fitted.predict_proba(x)
    q = np.clip(p[:, 1], low, high)
    expected = (rel_entr(1 - q, p[:, 0]) + rel_entr(q, p[:, 1])).mean()
    # The projection sums to 1 up to rounding.
    assert fitted.loss_ == pytest.approx(expected, abs=1e-12)


def test_sets_that_say_nothing_teach_nothing():
    x, _ = rows(30, 6)
    zeros, ones = np.zeros((30, 3)), np.ones((30, 3))
    fitted = NetworkClassifier(hidden=2, alpha=0.0, random_state=1).fit_credal(x, zeros, ones)
    assert fitted.loss_ == pytest.approx(0, abs=1e-12)
    assert fitted.n_iter_ == 0


def test_probabilities_teach_what_weighted_labels_teach():
    x, _ = rows(40, 7)
    soft = np.random.default_rng(8).dirichlet(np.ones(3), 40)
    network = NetworkClassifier(hidden=2, alpha=0.05, random_state=2)
    by_sets = network.fit_credal(x, soft, soft).predict_proba(x)
    row, column = np.nonzero(soft)
    by_labels = network.fit(x[row], column, sample_weight=soft[row, column]).predict_proba(x)
    # The losses differ by a constant; L-BFGS stops within about 1e-5 of the least.
    np.testing.assert_allclose(by_sets, by_labels, atol=2e-3)


def test_probabilities_of_two_normals_are_found():
    rng = np.random.default_rng(9)
    y = rng.integers(2, size=5_000)
    x = rng.normal(2.0 * y - 1, 1)[:, None]
    fitted = NetworkClassifier(hidden=4, alpha=1e-4, random_state=0).fit(x, y)
    grid = np.linspace(-1.5, 1.5, 7)[:, None]
    truth = 1 / (1 + np.exp(-2 * grid[:, 0]))
    # Noise at 5,000 rows is about .015.
    np.testing.assert_allclose(fitted.predict_proba(grid)[:, 1], truth, atol=0.05)


def test_it_says_when_it_was_stopped():
    x, y = rows(50, 12)
    with pytest.warns(ConvergenceWarning, match="raise max_iter"):
        NetworkClassifier(max_iter=2, random_state=0).fit(x, y)


POINT = [[0.5, 0.5]]


@pytest.mark.parametrize(
    ("lower", "upper", "message"),
    [
        ([[0.6, 0.5]], [[1.0, 1.0]], "got sums 1.1 and 2 at row 0"),
        ([[0.0, 0.1]], [[0.4, 0.5]], "got sums 0.1 and 0.9 at row 0"),
        ([[0.5, 0.2]], [[0.4, 1.0]], "must not exceed upper; got 0.5 and 0.4 at row 0, class 0"),
        ([[-0.1, 0.2]], [[0.4, 1.0]], "lower must lie in"),
        ([[0.1, 0.2]], [[0.4, 1.1]], "upper must lie in"),
        ([[np.nan, 0.2]], [[0.4, 1.0]], "lower must be finite"),
        ([[0.1]], [[1.0]], "at least two classes"),
        ([[0.1, 0.2]], [[0.9]], "same shape"),
        ([0.5, 0.5], [0.5, 0.5], r"shape \(obs, class\)"),
        (POINT * 2, POINT * 2, "each of the 1 rows of X; got 2"),
    ],
)
def test_bounds_that_hold_nothing_are_refused(lower, upper, message):
    with pytest.raises(InputError, match=message):
        NetworkClassifier().fit_credal([[1.0]], lower, upper)


def test_parameters_out_of_range_are_refused():
    x, y = rows(10, 13)
    for parameters, message in (
        ({"hidden": 0}, "hidden must be a whole number >= 1"),
        ({"max_iter": 1.5}, "max_iter must be a whole number"),
        ({"alpha": -1}, "alpha must be a number in"),
    ):
        with pytest.raises(InputError, match=message):
            NetworkClassifier(**parameters).fit(x, y)
    with pytest.raises(InputError, match="classes must name each of the 2 columns"):
        NetworkClassifier().fit_credal([[1.0]], POINT, POINT, classes=["a"])
    with pytest.raises(InputError, match="two classes"):
        NetworkClassifier().fit(x, np.zeros(10, int))
    with pytest.raises(InputError, match="got 0 in every row"):
        NetworkClassifier().fit(x, y, sample_weight=np.zeros(10))
