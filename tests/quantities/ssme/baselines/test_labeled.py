import numpy as np
import pytest
from sklearn.metrics import average_precision_score, log_loss, roc_auc_score

import bayescal as bc
from bayescal.core.errors import InputError
from bayescal.quantities.ssme.baselines import (
    labeled,
    labeled_by_group,
    labeled_interval,
)
from tests.quantities.ssme.baselines.made import simulated, stacked


def test_metrics_are_scikit_learns_on_the_labelled_rows():
    scores, y = simulated(n_labeled=50)
    found = labeled(scores)
    for m, score in enumerate(scores.y_prob[:, :50]):
        assert found.accuracy[m] == pytest.approx(np.mean((score > 0.5) == y[:50]), rel=1e-12)
        assert found.auc[m] == pytest.approx(roc_auc_score(y[:50], score), rel=1e-12)
        assert found.auprc[m] == pytest.approx(average_precision_score(y[:50], score), rel=1e-12)
        assert found.log_loss[m] == pytest.approx(log_loss(y[:50], score), rel=1e-12)


def test_unlabelled_rows_do_not_matter():
    scores, y = simulated(n_labeled=50)
    alone = stacked(
        np.stack([1 - scores.y_prob[:, :50], scores.y_prob[:, :50]], axis=2), list(map(int, y[:50]))
    )
    for with_rest, without in zip(labeled(scores), labeled(alone), strict=True):
        np.testing.assert_array_equal(with_rest, without)


@pytest.mark.slow
@pytest.mark.parametrize("prob", [0.5, 0.9])
def test_interval_of_accuracy_is_that_of_a_binomial(prob):
    # A resample's number of right rows is Binomial(n, accuracy).
    from scipy.stats import binom

    scores, _ = simulated(n_labeled=80)
    accuracy = labeled(scores).accuracy
    found = labeled_interval(scores, prob=prob, n_boot=20_000, seed=1)
    for end, level in ((found.lower, (1 - prob) / 2), (found.upper, (1 + prob) / 2)):
        # One row of 80, as a quantile between two numbers of rows may fall to either.
        np.testing.assert_allclose(end.accuracy, binom.ppf(level, 80, accuracy) / 80, atol=1 / 80)


def test_interval_is_that_of_resampled_rows():
    scores, y = simulated(n_labeled=30, n_classifiers=1)
    score, rng = scores.y_prob[0, :30], np.random.default_rng(5)
    drawn = rng.integers(30, size=(4000, 30))
    above = score[:, np.newaxis] > score  # no two are equal

    def auc_of(rows):
        positive, negative = rows[y[rows] == 1], rows[y[rows] == 0]
        return above[np.ix_(positive, negative)].mean()

    auc = [auc_of(rows) for rows in drawn if len(set(y[rows])) == 2]
    found = labeled_interval(scores, n_boot=4000, seed=2)
    # Quantiles of 4000 resamples whose spread is .06 are known to .005 at most.
    np.testing.assert_allclose(
        [found.lower.auc[0], found.upper.auc[0]], np.quantile(auc, [0.05, 0.95]), atol=0.015
    )


def test_the_same_seed_gives_the_same_interval():
    scores, _ = simulated()
    first, second = (labeled_interval(scores, n_boot=50, seed=7) for _ in range(2))
    np.testing.assert_array_equal(first.lower.ece, second.lower.ece)


def grouped(group):
    scores, y = simulated(n_obs=120, n_labeled=60)
    known = [*map(int, y[:60]), *[None] * 60]
    names = dict(zip(scores.classifiers, scores.y_prob, strict=True))
    return bc.Scores.stack(names, y_true=known, group=group(y)), y


def test_groups_have_the_metrics_of_their_rows():
    scores, y = grouped(lambda _: np.where(np.arange(120) % 3, "most", "few"))
    found = labeled_by_group(scores)
    for place, name in enumerate(scores.groups):
        rows = np.flatnonzero((np.arange(120) % 3 > 0) == (name == "most"))
        alone = scores.y_prob[:, rows]
        known = [int(y[i]) if i < 60 else None for i in rows]
        expected = labeled(stacked(np.stack([1 - alone, alone], axis=2), known))
        for ours, theirs in zip(found, expected, strict=True):
            np.testing.assert_allclose(ours[:, place], theirs, rtol=1e-12)


def test_what_does_not_exist_in_a_group_is_that_of_all():
    # No label in one group, and labels of one class only in another.
    scores, _ = grouped(
        lambda y: np.where(np.arange(120) >= 60, "none", np.where(y == 1, "ones", "zeros"))
    )
    found, overall = labeled_by_group(scores), labeled(scores)
    none, ones = scores.groups.index("none"), scores.groups.index("ones")
    for of_group, of_all in zip(found, overall, strict=True):
        np.testing.assert_array_equal(of_group[:, none], of_all)
    np.testing.assert_array_equal(found.auc[:, ones], overall.auc)
    assert (found.accuracy[:, ones] != overall.accuracy).any()


def test_scores_without_groups_have_no_metrics_by_group():
    with pytest.raises(InputError, match="need groups; got none"):
        labeled_by_group(simulated()[0])


def test_labels_of_one_class_are_refused():
    probs = np.full((1, 3, 2), 0.5)
    with pytest.raises(InputError, match=r"Labeled needs .* all 2 labels are 0"):
        labeled(stacked(probs, [0, 0, None]))


def test_numbers_outside_their_range_are_refused():
    scores, _ = simulated()
    with pytest.raises(InputError, match="prob"):
        labeled_interval(scores, prob=1.0)
    with pytest.raises(InputError, match="n_boot"):
        labeled_interval(scores, n_boot=0)


def test_resamples_that_all_hold_one_class_are_refused():
    scores = stacked([[[0.5, 0.5]] * 60], [1, *[0] * 59])
    with pytest.raises(InputError, match="none of 1 resamples holds rows of two classes"):
        [labeled_interval(scores, n_boot=1, seed=seed) for seed in range(30)]
