import numpy as np
import pytest
from scipy.optimize import minimize_scalar

from bayescal.core.errors import InputError
from bayescal.quantities.credal.venn_abers.cross import fit_cross_venn_abers, merge_folds
from bayescal.quantities.credal.venn_abers.ivap import fit_ivap, merged


def test_each_fold_is_a_predictor_of_its_own():
    rng = np.random.default_rng(0)
    score, fold = rng.random(90), rng.permutation(np.arange(90) % 3)
    label = (rng.random(90) < score).astype(int)
    new = rng.random((3, 20))
    found = fit_cross_venn_abers(score, label=label, fold=fold).predict(new)
    for k in range(3):
        expected = fit_ivap(score[fold == k], label=label[fold == k]).predict(new[k])
        assert np.array_equal([found.p0[k], found.p1[k]], expected)


@pytest.mark.parametrize("loss", ["log", "square"])
def test_the_merge_has_the_least_regret_in_the_worst_case(loss):
    p0, p1 = np.array([0.1, 0.3, 0.2]), np.array([0.3, 0.5, 0.9])

    def mean_loss(p, y):
        return -np.log(p if y else 1 - p) if loss == "log" else (y - p) ** 2

    def worst(p):
        regret_0 = mean_loss(p, 0) - np.mean([mean_loss(q, 0) for q in p0])
        regret_1 = mean_loss(p, 1) - np.mean([mean_loss(q, 1) for q in p1])
        return max(regret_0, regret_1)

    least = minimize_scalar(worst, bounds=(0.01, 0.99), method="bounded", options={"xatol": 1e-10})
    # A kink: the search is as exact as its step.
    assert float(merge_folds(p0, p1, loss)) == pytest.approx(least.x, abs=1e-8)


def test_one_fold_is_an_inductive_predictor():
    p0, p1 = np.array([0.0, 0.2, 0.6]), np.array([0.1, 0.4, 1.0])
    np.testing.assert_allclose(merge_folds(p0[None], p1[None]), merged(p0, p1), rtol=1e-14)


def test_certainty_in_one_fold_decides_and_a_contradiction_is_refused():
    assert merge_folds([1.0, 0.2], [1.0, 0.4]) == 1
    assert merge_folds([0.0, 0.2], [0.0, 0.4]) == 0
    with pytest.raises(InputError, match="must not contradict each other"):
        merge_folds([1.0, 0.0], [1.0, 0.0])


@pytest.mark.parametrize("fold", [[0, 2, 2], [1, 1, 2], [0.0, 1.0, 1.0], [0, -1, 1], [0, 1, 2**62]])
def test_folds_that_are_not_numbered_from_zero_are_refused(fold):
    with pytest.raises(InputError, match="fold must number the folds"):
        fit_cross_venn_abers([0.1, 0.2, 0.3], label=[0, 1, 0], fold=fold)


def test_other_than_one_score_a_fold_is_refused():
    fitted = fit_cross_venn_abers([0.1, 0.2], label=[0, 1], fold=[0, 1])
    with pytest.raises(InputError, match=r"score must have shape \(fold, obs\) with 2 folds"):
        fitted.predict([[0.5]])
    with pytest.raises(InputError, match="loss must be one of"):
        merge_folds([0.1], [0.2], "hinge")
    with pytest.raises(InputError, match="fold and score must have the same length"):
        fit_cross_venn_abers([0.1, 0.2], label=[0, 1], fold=[0, 1, 1])
