import numpy as np

import bayescal as bc
from bayescal.quantities.credal.credal_sets import is_proper
from bayescal.quantities.credal.data import CalibrationSplit
from bayescal.quantities.credal.estimator import estimate
from bayescal.quantities.credal.venn_abers import fit_ivap, merged


def binary(n, seed, classifier="a"):
    rng = np.random.default_rng(seed)
    score = rng.random(n)
    return bc.Scores(y_true=rng.random(n) < score, y_prob=score, classifier=classifier)


def multiclass(n, n_classes, seed):
    rng = np.random.default_rng(seed)
    prob = rng.dirichlet(np.full(n_classes, 0.5), n)
    label = (prob.cumsum(axis=1) < rng.random(n)[:, None]).sum(axis=1).clip(max=n_classes - 1)
    return bc.Scores(y_true=label, y_prob=prob)


def test_binary_scores():
    calibration, target = binary(200, 0), binary(50, 1)
    found = estimate(CalibrationSplit(calibration=calibration, target=target))
    p0, p1 = fit_ivap(calibration.y_prob[0], label=calibration.y_true).predict(target.y_prob[0])
    assert np.array_equal(found.p0, p0)
    assert np.array_equal(found.p1, p1)
    assert np.array_equal(found.prob, merged(p0, p1))
    assert np.array_equal(found.prob_lower, p0)
    assert np.array_equal(found.prob_upper, p1)
    assert not found.improper.any()


def test_several_classes_make_proper_reachable_sets():
    data = CalibrationSplit(calibration=multiclass(150, 4, 0), target=multiclass(80, 4, 1))
    found = estimate(data)
    assert found.p0.shape == found.prob.shape == (80, 4)
    np.testing.assert_allclose(found.prob.sum(axis=1), 1, rtol=1e-14)
    assert np.array_equal(found.improper, ~is_proper(found.p0, found.p1))
    assert is_proper(found.prob_lower, found.prob_upper).all()
    kept = ~found.improper
    assert (found.prob_lower[kept] >= found.p0[kept]).all()
    assert (found.prob_upper[kept] <= found.p1[kept]).all()


def test_some_rows_of_many_classes_are_improper():
    data = CalibrationSplit(calibration=multiclass(2000, 10, 0), target=multiclass(500, 10, 1))
    assert 0 < estimate(data).improper.mean() < 1


def test_classifiers_stand_side_by_side():
    rng = np.random.default_rng(2)
    y = rng.integers(0, 2, 100)
    panel = bc.Scores.stack({"a": rng.random(100), "b": rng.random(100)}, y_true=y)
    data = CalibrationSplit(calibration=panel, target=panel)
    found = estimate(data)
    assert found.p0.shape == (2, 100)
    assert found.improper.shape == (2, 100)
    for place, name in enumerate("ab"):
        alone = estimate(data.select(name))
        for both, one in zip(found, alone, strict=True):
            assert np.array_equal(both[place], one)


def test_unlabelled_calibration_rows_are_left_out():
    some = bc.Scores(y_true=[0, None, 1, None], y_prob=[0.2, 0.3, 0.7, 0.9])
    few = bc.Scores(y_true=[0, 1], y_prob=[0.2, 0.7])
    target = [0.1, 0.5, 0.8]
    assert np.array_equal(
        estimate(CalibrationSplit(calibration=some, target=target)),
        estimate(CalibrationSplit(calibration=few, target=target)),
    )
