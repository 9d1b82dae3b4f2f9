"""Counts of many rows are those of rows in memory, and so are fits of them."""

import numpy as np
import pytest

import bayescal as bc
from bayescal.core.binning import Binning
from bayescal.core.errors import InputError
from bayescal.quantities.pu_ece.data import count_rows, problems
from tests.row_sources import ODD_CUTS, SOURCES, dask_frame, data_set

SCORES = bc.datasets.pu_ece.truth("over").scores((600, 900), seed=1)
# Without two scores in a narrow cell nothing is approximated.
KINDS = {
    "rounded": lambda score: score.round(2),
    "three digits": lambda score: score.round(3),
    "ends": lambda score: np.where(score < 0.2, 0.0, np.where(score > 0.9, 1.0, score)).round(2),
}
PRIORS = (bc.pu_ece.Priors(0.4), bc.pu_ece.Priors(0.4, bc.pu_ece.MixtureBins()))


def made(kind, positives_last=False):
    """Rows in memory, and as columns in another order."""
    positive, unlabeled = (KINDS[kind](s[0]) for s in (SCORES.positive, SCORES.unlabeled))
    columns = {
        "s": np.repeat([0, 1], [len(unlabeled), len(positive)]),
        "p": np.concatenate([unlabeled, positive]),
    }
    if not positives_last:
        order = np.random.default_rng(0).permutation(len(columns["s"]))
        columns = {name: values[order] for name, values in columns.items()}
    return bc.PUScores(positive=positive, unlabeled=unlabeled, classifier="p"), columns


def assert_same_counts(found, expected, **fields):
    for priors in PRIORS:
        (one,) = problems(found, priors, Binning())
        (two,) = problems(expected, priors, Binning(**fields))
        np.testing.assert_array_equal(one.positive, two.positive)
        for a, b in ((one.cells, two.cells), (one.unlabeled.bins, two.unlabeled.bins)):
            np.testing.assert_array_equal(a.edges, b.edges)
            np.testing.assert_array_equal(a.count, b.count)
            np.testing.assert_allclose(a.mean_score, b.mean_score, rtol=1e-11)
            assert (a.closed, a.strategy) == (b.closed, b.strategy)


@pytest.mark.parametrize("source", SOURCES)
@pytest.mark.parametrize("kind", KINDS)
def test_counts_are_those_of_rows_in_memory(source, kind, tmp_path):
    expected, columns = made(kind)
    data = source(tmp_path, columns, ODD_CUTS)
    assert_same_counts(count_rows(data, positive_column="s", score="p"), expected)


def test_counts_of_any_scores_are_near_those_of_rows_in_memory(tmp_path):
    positive, unlabeled = (sample[0] for sample in (SCORES.positive, SCORES.unlabeled))
    columns = {
        "s": np.repeat([0, 1], [len(unlabeled), len(positive)]),
        "p": np.concatenate([unlabeled, positive]),
    }
    data = data_set(tmp_path, columns, ODD_CUTS)
    found = count_rows(data, positive_column="s", score="p")["p"]
    (expected,) = problems(SCORES, PRIORS[0], Binning())
    # Where two of 1,500 rows are in a narrow cell, one may change its bin.
    assert abs(found.bins.count - expected.unlabeled.bins.count).max() <= 1
    assert abs(found.positive_in_bins() - expected.positive_in_bins()).max() <= 2


@pytest.mark.parametrize("closed", ["left", "right"])
@pytest.mark.parametrize("strategy", ["uniform", "quantile", (0.0, 0.25, 0.25, 0.5, 1.0)])
def test_bins_of_every_kind(closed, strategy, tmp_path):
    expected, columns = made("ends", positives_last=True)
    fields = {"n_bins": 7, "closed": closed, "strategy": strategy}
    found = count_rows(
        data_set(tmp_path, columns, (900, 1400)), positive_column="s", score="p", **fields
    )
    assert_same_counts(found, expected, **fields)


@pytest.mark.filterwarnings("ignore::bayescal.ConvergenceWarning")  # few draws
def test_a_fit_is_that_of_rows_in_memory(tmp_path):
    expected, columns = made("three digits")
    counts = count_rows(data_set(tmp_path, columns, ODD_CUTS), positive_column="s", score=["p"])
    fits = [
        bc.fit(bc.pu_ece, data, priors=PRIORS[0], method="direct", draws=200, seed=1)
        for data in (counts, expected)
    ]
    found, whole = (
        {name: fit["posterior"][name].values for name in fit["posterior"]} for fit in fits
    )
    for name, values in whole.items():
        # Mean scores are sums in another order.
        np.testing.assert_allclose(found[name], values, rtol=1e-6, atol=1e-9, err_msg=name)
    for name in ("n_obs", "n_positive", "n_unlabeled", "n_bins", "binning_strategy", "closed"):
        assert fits[0].attrs[name] == fits[1].attrs[name]


def test_words_say_what_is_positive(tmp_path):
    expected, columns = made("rounded")
    words = np.where(columns["s"] == 1, "Yes", "").astype(object)
    found = count_rows(
        dask_frame(tmp_path, {**columns, "s": words}, ODD_CUTS), positive_column="s", score="p"
    )
    assert_same_counts(found, expected)


@pytest.mark.parametrize(
    ("row", "column", "value", "message"),
    [
        (1200, "s", 3, r"s \(rows counted from row 950\) must hold 1 .* got 3\.?0? at row 250"),
        (1200, "p", np.nan, r"p \(rows counted from row 950\) must not be missing.* at row 250"),
        (3, "p", 1.5, r"p .*must lie in \[0, 1\]; got 1.5 at row 2"),
    ],
)
def test_a_bad_row_is_named(row, column, value, message, tmp_path):
    _, columns = made("three digits")
    columns[column] = columns[column].astype(float)
    columns[column][row] = value
    with pytest.raises(InputError, match=message):
        count_rows(data_set(tmp_path, columns, ODD_CUTS), positive_column="s", score="p")


@pytest.mark.parametrize(("value", "missing"), [(0, "positive"), (1, "unlabelled")])
def test_a_sample_without_rows_is_refused(value, missing, tmp_path):
    columns = {"s": np.full(5, value), "p": np.linspace(0, 1, 5)}
    with pytest.raises(InputError, match=f"the {missing} rows"):
        count_rows(data_set(tmp_path, columns, (2,)), positive_column="s", score="p")


def test_a_number_of_bins_that_follows_the_class_prior_is_refused(tmp_path):
    data = data_set(tmp_path, made("rounded")[1], ODD_CUTS)
    with pytest.raises(InputError, match="optimal_n_bins"):
        count_rows(data, positive_column="s", score="p", n_bins="optimal")
