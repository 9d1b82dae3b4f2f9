"""Counts are taken where rows are, and give what the rows give; what needs rows says so."""

import numpy as np
import pandas as pd
import pytest

import bayescal as bc

FIT = {"method": "direct", "seed": 1}
FEW = FIT | {"draws": 300}
RNG = np.random.default_rng(0)
N = 20_000
LOGIT = RNG.normal(0, 2, N)
SCORES = {name: 1 / (1 + np.exp(-by * LOGIT)) for name, by in {"a": 1.2, "b": 0.7}.items()}
LABEL = (RNG.random(N) < 1 / (1 + np.exp(-LOGIT))).astype(int)
GROUP = RNG.choice(["x", "y"], N)
ROWS = bc.Scores.stack(SCORES, y_true=LABEL)
TABLE = bc.Counts.from_scores(ROWS, pairs=True)
ONE = TABLE["a"]


@pytest.fixture(scope="module")
def fitted():
    return {"rows": bc.fit(bc.ece, ROWS, **FIT), "counts": bc.fit(bc.ece, TABLE, **FIT)}


@pytest.mark.parametrize("var", ["tce", "slope", "e90"])
def test_intervals_are_those_of_the_rows(var, fitted):
    rows, counts = (bc.interval(fitted[kind], var).to_numpy() for kind in ("rows", "counts"))
    # The same draws of cells that differ by some rows, but for points of linear curves.
    np.testing.assert_allclose(counts, rows, atol={"tce": 5e-4, "e90": 1e-3, "slope": 2e-3}[var])


@pytest.mark.parametrize("options", [{}, {"n_bins": "optimal", "strategy": "uniform"}])
def test_groups_are_those_of_rows(options):
    rows = bc.Scores.stack({"a": SCORES["a"]}, y_true=LABEL, group=GROUP)
    results = [
        bc.fit(bc.ece, data, **FEW, **options) for data in (rows, bc.Counts.from_scores(rows))
    ]
    one, other = (bc.summary(result) for result in results)
    columns = ["classifier", "group", "n", "ece_point", "tce_lower", "tce_upper"]
    pd.testing.assert_frame_equal(other[columns], one[columns], atol=1e-3)
    for name in ("n_obs", "n_labeled", "n_bins", "binning_strategy", "classes", "status"):
        assert results[1].attrs[name] == results[0].attrs[name]


def test_a_group_without_labels_is_left_out():
    label = np.where(GROUP == "x", LABEL, np.nan)
    rows = bc.Scores.stack(SCORES, y_true=label, group=GROUP)
    result = bc.fit(bc.ece, bc.Counts.from_scores(rows), **FEW)
    assert "group y has no labelled row and is left out" in result.attrs["status"]
    assert list(result["posterior"].group.to_numpy()) == ["x"]


@pytest.mark.parametrize("var", ["tce", "slope"])
def test_classifiers_are_compared_as_on_rows(var, fitted):
    rows, counts = (bc.difference(fitted[kind], "a", "b", var) for kind in ("rows", "counts"))
    # A correlation over 20,000 rows has a standard error of .007.
    assert counts.correlation == pytest.approx(rows.correlation, abs=0.03)
    assert counts.upper - counts.lower == pytest.approx(rows.upper - rows.lower, rel=0.15)


def test_metrics_without_labels_are_compared_as_on_rows():
    label = np.where(RNG.random(N) < 0.3, LABEL, np.nan)
    rows = bc.Scores.stack(SCORES, y_true=label)
    fits = [
        bc.fit(bc.agnostic, data, **FEW) for data in (rows, bc.Counts.from_scores(rows, pairs=True))
    ]
    for metric in ("c", "auc"):
        one, other = (bc.difference(fitted, "a", "b", metric).correlation for fitted in fits)
        assert other == pytest.approx(one, abs=0.05)


def test_without_pairs_there_is_no_comparison():
    result = bc.fit(bc.ece, dict(TABLE), **FEW)
    with pytest.raises(bc.InputError, match="comparing classifiers"):
        bc.difference(result, "a", "b")


@pytest.mark.parametrize(
    "use",
    [
        lambda: bc.plan_labels(ONE, n=100, replications=2).text,
        lambda: bc.ece.expected_if_calibrated(TABLE, n_simulations=20)[1].text,
        lambda: bc.fit_many(bc.ece, {"monday": ONE, "tuesday": TABLE}, **FEW),
        lambda: bc.ece.build_model(ONE, n_bins=4),
        lambda: bc.agnostic.build_model(ONE),
        lambda: bc.fit("agnostic", ONE, **FEW),
    ],
)
def test_counts_are_taken(use):
    assert use()


def test_a_result_of_counts_answers_what_one_of_rows_does(fitted, tmp_path):
    result = fitted["counts"]
    assert bc.report(result, tmp_path / "a.html").stat().st_size > 10_000
    assert bc.calibration_band(result, classifier="a").sizes["point"] > 10
    assert bc.decision_curve(result).table.size
    assert "classifier" in bc.measure(result, "brier").dims


def test_positive_and_unlabelled_counts_are_those_of_the_rows():
    known = (LABEL == 1) & (RNG.random(N) < 0.5)
    score = SCORES["a"]
    priors = bc.pu_ece.Priors(bc.Beta(40, 80), bc.pu_ece.SmoothCurve())
    rows = bc.PUScores(positive=score[known], unlabeled=score[~known])
    counts = bc.Counts.from_arrays(np.where(known, 1, np.nan), score)
    found = [bc.fit(bc.pu_ece, data, priors=priors, **FEW) for data in (rows, counts)]
    one, other = (result["point_estimate"]["ece"].to_numpy() for result in found)
    np.testing.assert_allclose(other, one, atol=1e-4)


@pytest.mark.parametrize(
    ("use", "message"),
    [
        *(
            (
                lambda name=name: bc.fit(name, TABLE, **FEW),
                rf"hold no rows: keep these.*{name}.count_rows",
            )
            for name in ("ssme", "temperature", "credal")
        ),
        (lambda: bc.bin_scores(ONE), "hold no rows: keep these"),
        (lambda: bc.pu_ece.estimate(ONE, class_prior=0.3), "hold no rows"),
        (lambda: bc.fit(bc.pu_ece, ONE, priors=bc.pu_ece.Priors(bc.Beta(4, 6))), "negative rows"),
    ],
)
def test_what_counts_do_not_hold_is_said(use, message):
    with pytest.raises(bc.InputError, match=message):
        use()


@pytest.mark.parametrize(
    ("quantity", "priors"),
    [(bc.agnostic, None), (bc.pu_ece, bc.pu_ece.Priors(bc.Beta(4, 6), bc.pu_ece.MixtureBins()))],
)
def test_groups_that_a_quantity_has_not_are_added_up_and_said(quantity, priors):
    label = np.where(LABEL[:60] == 1, 1, 0 if quantity is bc.agnostic else np.nan)
    whole, *parts = (
        bc.Counts.from_arrays(label[rows], SCORES["a"][:60][rows])
        for rows in (slice(None), slice(20), slice(20, None))
    )
    table = bc.CountTable({"a": dict(zip("xy", parts, strict=True))})
    with pytest.warns(bc.DataWarning, match=f"{quantity.NAME} has no groups.*'x', 'y' are added"):
        found = quantity.plan(table, priors or quantity.Priors()).cases
    alone = quantity.plan({"a": whole}, priors or quantity.Priors()).cases
    assert [one.fingerprint() for one in found] == [one.fingerprint() for one in alone]
