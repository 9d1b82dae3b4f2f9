import numpy as np

from bayescal.quantities.credal.venn_abers.ivap import fit_ivap
from bayescal.quantities.credal.venn_abers.one_vs_rest import fit_one_vs_rest


def random_rows(n, n_classes, seed):
    rng = np.random.default_rng(seed)
    score = rng.dirichlet(np.ones(n_classes), n)
    label = (score.cumsum(axis=1) < rng.random(n)[:, None]).sum(axis=1).clip(max=n_classes - 1)
    return score, label


def test_each_class_is_calibrated_against_the_rest():
    score, label = random_rows(200, 4, 0)
    new, _ = random_rows(50, 4, 1)
    lower, upper = fit_one_vs_rest(score, label=label).predict(new)
    assert lower.shape == upper.shape == (50, 4)
    for k in range(4):
        p0, p1 = fit_ivap(score[:, k], label=label == k).predict(new[:, k])
        assert np.array_equal(lower[:, k], p0)
        assert np.array_equal(upper[:, k], p1)


def test_two_classes_are_each_others_complement():
    # Scores whose complement is exact, so that ties stay ties.
    rng = np.random.default_rng(2)
    first = rng.integers(0, 65, 100) / 64
    score, label = np.column_stack([first, 1 - first]), rng.integers(0, 2, 100)
    lower, upper = fit_one_vs_rest(score, label=label).predict(score)
    # 1 - p rounds once more than p itself.
    np.testing.assert_allclose(lower[:, 0], 1 - upper[:, 1], atol=1e-15)
    np.testing.assert_allclose(upper[:, 0], 1 - lower[:, 1], atol=1e-15)


def test_a_class_never_seen_in_calibration_is_left_possible():
    score, label = random_rows(60, 3, 3)
    label = np.where(label == 2, 0, label)
    lower, upper = fit_one_vs_rest(score, label=label).predict(score)
    assert (lower[:, 2] == 0).all()
    assert (upper[:, 2] >= 1 / 61).all()


def test_rows_that_stand_for_several_are_that_often_there():
    score, label = random_rows(60, 3, 4)
    rows = np.random.default_rng(5).integers(1, 4, 60)
    found = fit_one_vs_rest(score, label=label, rows=rows).predict(score)
    expected = fit_one_vs_rest(np.repeat(score, rows, axis=0), label=np.repeat(label, rows))
    assert np.array_equal(found, expected.predict(score))
