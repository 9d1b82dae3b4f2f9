"""PU-ECE: golden values by hand, and properties of its formula."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import bayescal as bc
from bayescal.quantities.pu_ece.estimator import estimate

SHARES = st.floats(0, 1).map(lambda value: round(value, 2))


def test_uniform_bins_by_hand() -> None:
    pu = bc.PUScores(positive=[0.1, 0.6, 0.7, 0.95], unlabeled=[0.0, 0.2, 0.5, 0.55, 0.8, 1.0])
    found = estimate(pu, class_prior=0.5, n_bins=4, strategy="uniform")
    # Bins (0, .25], (.25, .5], (.5, .75], (.75, 1]; 0 belongs to the first.
    assert found.count.tolist() == [2, 1, 1, 2]
    assert found.positive_count.tolist() == [1, 0, 2, 1]
    # |.5 1/4 - .2/6| + |0 - .5/6| + |.5 2/4 - .55/6| + |.5 1/4 - 1.8/6|
    by_hand = abs(0.125 - 0.2 / 6) + 0.5 / 6 + abs(0.25 - 0.55 / 6) + abs(0.125 - 0.3)
    assert found.ece == pytest.approx(by_hand, abs=1e-15)
    np.testing.assert_allclose(found.label_rate, [0.375, 0, 1.5, 0.375])
    assert found.exceeds_one.tolist() == [False, False, True, False]
    assert found.mce == pytest.approx(1.5 - 0.55)


def test_equal_mass_bins_are_cut_on_the_unlabelled_scores() -> None:
    pu = bc.PUScores(positive=[0.05, 0.9, 0.9], unlabeled=[0.1, 0.2, 0.3, 0.4, 0.5])
    found = estimate(pu, class_prior=0.3, n_bins=2, strategy="quantile")
    # floor(5 / 2) = 2: the edge is the second smallest unlabelled score, and belongs to the left.
    assert found.bin_edges.tolist() == [0, 0.2, 1]
    assert found.count.tolist() == [2, 3]
    assert found.positive_count.tolist() == [1, 2]
    assert found.ece == pytest.approx(abs(0.1 - 0.3 / 5) + abs(0.2 - 1.2 / 5), abs=1e-15)


def test_a_bin_of_positives_only_counts() -> None:
    pu = bc.PUScores(positive=[0.9, 0.2], unlabeled=[0.1, 0.3])
    found = estimate(pu, class_prior=0.5, n_bins=2, strategy="uniform")
    assert found.ece == pytest.approx(abs(0.25 - 0.2) + 0.25)
    assert np.isnan(found.label_rate[1])
    assert not found.exceeds_one[1]


def test_a_share_of_exactly_one_does_not_exceed_it() -> None:
    # .05 * 27 / 30 = 9 / 200, but for rounding.
    pu = bc.PUScores(positive=[0.9] * 27 + [0.1] * 3, unlabeled=[0.9] * 9 + [0.1] * 191)
    assert not estimate(pu, class_prior=0.05, n_bins=2, strategy="uniform").exceeds_one.any()


def test_ties_never_part() -> None:
    pu = bc.PUScores(positive=[0.5], unlabeled=[0.5] * 6)
    found = estimate(pu, class_prior=0.4, n_bins=3)
    assert found.count.tolist() == [6, 0, 0]
    assert found.ece == pytest.approx(0.1)


def test_a_whole_population_gives_the_ece_with_labels() -> None:
    # Positives that are the very positives of the unlabelled rows, and their share: no difference.
    rng = np.random.default_rng(1)
    score, label = bc.datasets.ece.truth("over").sample(3000, rng)
    pu = bc.PUScores(positive=score[label == 1], unlabeled=score)
    labelled = bc.ece.estimate(bc.Scores(y_true=label, y_prob=score), n_bins=12)
    found = estimate(pu, class_prior=float(label.mean()), n_bins=12)
    assert found.ece == pytest.approx(labelled.ece, abs=1e-12)
    np.testing.assert_allclose(found.label_rate, labelled.label_rate, atol=1e-12)


@pytest.mark.slow
@given(
    positive=st.lists(SHARES, min_size=1, max_size=30),
    unlabeled=st.lists(SHARES, min_size=1, max_size=30),
    one=st.floats(0.01, 0.99),
    other=st.floats(0.01, 0.99),
    strategy=st.sampled_from(["uniform", "quantile"]),
)
def test_a_wrong_class_prior_moves_it_by_no_more_than_itself(
    positive, unlabeled, one, other, strategy
) -> None:
    pu = bc.PUScores(positive=positive, unlabeled=unlabeled)
    at = [
        float(estimate(pu, class_prior=pi, n_bins=4, strategy=strategy).ece) for pi in (one, other)
    ]
    assert abs(at[0] - at[1]) <= abs(one - other) + 1e-12
    # The sum of absolute values is at least that of the whole, as one bin would have it.
    assert at[0] >= abs(one - np.mean(unlabeled)) - 1e-12


def test_classifiers_get_a_dim() -> None:
    pu = bc.PUScores.stack({"a": ([0.7], [0.1, 0.4]), "b": ([0.8], [0.2, 0.3])})
    found = estimate(pu, class_prior=0.4, n_bins=2)
    assert found.label_rate.shape == (2, 2)
    assert found.ece[1] == estimate(pu.select("b"), class_prior=0.4, n_bins=2).ece


@pytest.mark.parametrize("wrong", [0, 1, -0.1, 1.5, float("nan")])
def test_a_class_prior_outside_its_range_is_refused(wrong) -> None:
    with pytest.raises(bc.InputError, match=r"class_prior must be a number in \(0, 1\)"):
        estimate(bc.PUScores(positive=[0.5], unlabeled=[0.5]), class_prior=wrong)
