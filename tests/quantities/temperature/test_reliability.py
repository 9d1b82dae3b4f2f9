import numpy as np

import bayescal as bc
from bayescal.quantities.temperature.errors import CellSums, reliability


def test_bins_of_a_class_are_those_of_its_labelled_rows():
    rng = np.random.default_rng(0)
    score, predicted = rng.uniform(0, 1, 200), rng.integers(0, 3, 200)
    label = np.where(rng.random(200) < 0.6, predicted, 3)
    label[::5] = -1
    found = reliability(CellSums.of(score, predicted, label, 4, bc.Binning(4, "uniform")))
    assert found["bin_rows"].shape == (4, 4)
    for k in range(3):
        for b in range(4):
            held = (predicted == k) & (label >= 0) & (score > b / 4) & (score <= (b + 1) / 4)
            assert found["bin_rows"][k, b] == held.sum()
            np.testing.assert_allclose(found["bin_confidence"][k, b], score[held].mean())
            np.testing.assert_allclose(found["bin_accuracy"][k, b], (label[held] == k).mean())
    assert found["bin_rows"][3].sum() == 0
    assert np.isnan(found["bin_accuracy"][3]).all()
