"""Which classifier is best: against the pairwise difference, and where the answer is known."""

import numpy as np
import pytest
import xarray as xr

import bayescal as bc
from bayescal.core.errors import InputError
from bayescal.results.compare import difference
from tests.synthetic import make_result


def prob_best(tree: xr.DataTree, class_: str | None = None) -> dict[str, float]:
    """Probability of the smallest TCE, by classifier."""
    shares = bc.best(tree, class_=class_).prob_best
    return dict(zip("abc", map(float, shares.values), strict=False))


def with_errors(
    errors: dict[str, np.ndarray], p_calibrated: float, correlation: float
) -> xr.DataTree:
    """A result whose TCE draws are given."""
    names = tuple(errors)
    draws = len(next(iter(errors.values())))
    tree = make_result(names, draws=draws, chains=1, p_calibrated=p_calibrated)
    tce = tree["posterior"]["tce"]
    values = np.stack(list(errors.values()), axis=-1)[None]
    values[:, : round(p_calibrated * draws)] = 0.0
    tree["posterior"]["tce"] = tce.copy(data=values)
    matrix = np.full((len(names),) * 2, correlation)
    np.fill_diagonal(matrix, 1.0)
    old = tree["error_correlation"]["correlation"]
    tree["error_correlation"]["correlation"] = old.copy(data=matrix)
    return tree


def test_two_classifiers_agree_with_their_difference() -> None:
    tree = make_result(("a", "b"), draws=2000, p_calibrated=0.3)
    pair = difference(tree, "a", "b")
    expected = 1 - pair.prob_first_larger - pair.prob_equal / 2
    assert prob_best(tree)["a"] == pytest.approx(expected, abs=0.02)


@pytest.fixture(scope="module")
def copies() -> xr.DataTree:
    rng = np.random.default_rng(2)
    score = rng.random(2000)
    label, other = rng.random(2000) < score**2, rng.permutation(score)
    rows = {"a": score, "b": score.round(6), "c": score.astype(np.float32), "other": other}
    data = bc.Scores.stack(rows, y_true=label)
    return bc.fit(bc.ece, data, method="direct", draws=250, seed=2)


@pytest.mark.parametrize("var", ["tce", "mce", "e90"])
def test_a_classifier_ties_with_its_copies(copies: xr.DataTree, var: str) -> None:
    np.testing.assert_allclose(bc.best(copies, var).prob_best[:3], 1 / 3, atol=1e-3)
    assert difference(copies, "c", "a", var).prob_equal == 1
    assert difference(copies, "b", "c", var).prob_equal == 1
    assert difference(copies, "other", "a", var).prob_equal == 0


def test_a_classifier_is_calibrated_where_its_copy_is() -> None:
    score = np.random.default_rng(3).random(500)
    label = np.random.default_rng(4).random(500) < score
    data = bc.Scores.stack({"a": score, "b": score.copy()}, y_true=label)
    tree = bc.fit(bc.ece, data, method="direct", draws=250, seed=2)
    assert bc.summary(tree)["p_calibrated"].min() > 0.5
    for var in ("tce", "slope"):
        found = difference(tree, "a", "b", var)
        assert (found.prob_equal, found.lower, found.upper) == (1, 0, 0)


@pytest.mark.parametrize("n", [2000, 50_000])
def test_a_classifier_ties_with_its_copy_of_four_digits(n: int) -> None:
    rng = np.random.default_rng(2)
    score = rng.beta(2, 3, n)
    label, rows = rng.random(n) < score**2, {"a": score, "b": score.round(4)}
    # Of the same ranks, and far from it where a score is low.
    rows |= {"sharper": score**1.1, "blurred": np.clip(score + rng.normal(0, 0.05, n), 0.01, 0.99)}
    tree = bc.fit(bc.ece, bc.Scores.stack(rows, y_true=label), method="direct", draws=150, seed=2)
    for var in ("tce", "ece", "brier", "auc", "net_benefit:0.3"):
        found = bc.best(tree, var).prob_best.values
        assert found[0] == pytest.approx(found[1], abs=1e-3), var
        assert difference(tree, "a", "b", var).prob_equal == 1
    for var, other in (("tce", "sharper"), ("brier", "sharper"), ("auc", "blurred")):
        assert difference(tree, "a", other, var).prob_equal < 0.1
    # A logarithm knows scores of one ten-thousandth apart.
    assert difference(tree, "a", "b", "log_loss").prob_equal < 0.1


@pytest.mark.slow
def test_the_closed_form_of_three_exponentials() -> None:
    """P(min is the i-th) of independent exponentials is rate_i / sum of the rates."""
    rng = np.random.default_rng(1)
    rates = {"a": 1.0, "b": 2.0, "c": 5.0}
    tree = with_errors({k: rng.exponential(1 / r, 10_000) for k, r in rates.items()}, 0.0, 0.0)
    expected = [rate / 8 for rate in rates.values()]
    # Four standard errors of a share of 10,000 draws.
    assert list(prob_best(tree).values()) == pytest.approx(expected, abs=0.02)


@pytest.mark.slow
def test_shared_rows_settle_what_is_open_without_them() -> None:
    """Of two normals with means d apart, the first is smaller with Phi(d / sqrt(2 - 2 rho) sd)."""
    rng = np.random.default_rng(2)
    noise = rng.normal(0, 0.01, (2, 10_000))
    draws = {"a": 0.1 + noise[0], "b": 0.11 + noise[1]}
    loose = prob_best(with_errors(draws, 0.0, 0.0))["a"]
    tight = prob_best(with_errors(draws, 0.0, 0.9))["a"]
    assert loose == pytest.approx(0.760, abs=0.02)
    assert tight == pytest.approx(0.987, abs=0.01)


def test_calibrated_ones_share_in_equal_parts() -> None:
    rng = np.random.default_rng(3)
    draws = rng.gamma(4.0, 0.01, (2, 20_000))
    found = prob_best(with_errors({"a": draws[0], "b": draws[1] + 1}, 0.5, 0.0))
    # a is best if only it is calibrated or neither is, and shares if both are.
    assert found["a"] == pytest.approx(0.25 + 0.25 + 0.125, abs=0.01)
    assert sum(found.values()) == pytest.approx(1.0)


def test_a_matrix_that_rounding_broke_is_repaired() -> None:
    rng = np.random.default_rng(4)
    draws = rng.gamma(4.0, 0.01, (3, 1000))
    tree = with_errors(dict(zip("abc", draws, strict=True)), 0.0, 0.0)
    old = tree["error_correlation"]["correlation"]
    broken = np.array([[1, 1, -1], [1, 1, 1], [-1, 1, np.nan]])
    tree["error_correlation"]["correlation"] = old.copy(data=broken)
    assert sum(prob_best(tree).values()) == pytest.approx(1.0)


def test_the_same_result_gives_the_same_numbers() -> None:
    tree = make_result(("a", "b", "c"), draws=100)
    assert prob_best(tree) == prob_best(tree)


def test_a_class_is_chosen() -> None:
    tree = make_result(("a", "b"), classes=("x", "y"), draws=200)
    assert prob_best(tree, class_="x") != prob_best(tree, class_="y")
    with pytest.raises(InputError, match="class"):
        prob_best(tree, class_="z")


def test_unpaired_classifiers_are_not_ranked() -> None:
    with pytest.raises(InputError, match="needs the rows that they share"):
        prob_best(make_result(("a", "b"), draws=20).drop_nodes("error_correlation"))
