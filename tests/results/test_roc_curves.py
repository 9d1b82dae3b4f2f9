"""Bands of a result's ROC curves, against its draws."""

import numpy as np
import pytest

import bayescal as bc
from bayescal.core.errors import InputError
from bayescal.results.curves import FPR, roc_band, roc_boxes, tpr_at
from tests.quantities.agnostic.made import rows


@pytest.fixture(scope="module")
def result():
    return bc.fit(bc.agnostic, rows(), method="direct", draws=300, seed=20)


@pytest.fixture(scope="module")
def panel():
    scores = rows(n_unlabeled=0)
    panel = bc.Scores.stack(
        {"many": scores.y_prob[0], "few": scores.y_prob[0].round(1)}, y_true=scores.y_true.tolist()
    )
    return bc.fit(bc.agnostic, panel, method="direct", draws=300, seed=20)


def _draws(tree, name, points):
    return tree["posterior"][name].values.reshape(1200, -1)[:, :points]


@pytest.mark.parametrize("prefix", ["", "unlabeled_"])
def test_boxes_hold_their_share_of_draws(result, prefix):
    found = roc_boxes(result, 0.9, unlabeled=bool(prefix))
    inside = np.ones(1200, bool)
    for name in ("fpr", "tpr"):
        draws = _draws(result, prefix + name, found.sizes["threshold"])
        inside &= (draws >= found[f"{name}_lower"].values).all(axis=1)
        inside &= (draws <= found[f"{name}_upper"].values).all(axis=1)
        assert found[name].values == pytest.approx(draws.mean(axis=0), abs=1e-5)
    assert inside.mean() >= 0.9


@pytest.mark.parametrize("unlabeled", [False, True])
def test_bands(result, unlabeled):
    whole = roc_band(result, 0.9, unlabeled=unlabeled)
    each = roc_band(result, 0.9, unlabeled=unlabeled, simultaneous=False)
    points = roc_boxes(result, unlabeled=unlabeled).sizes["threshold"]
    prefix = "unlabeled_" * unlabeled
    draws = tpr_at(*(_draws(result, prefix + name, points) for name in ("fpr", "tpr")), FPR)
    inside = ((draws >= whole.lower.values - 1e-6) & (draws <= whole.upper.values + 1e-6))[:, :-1]
    assert inside.all(axis=1).mean() >= 0.9
    assert (whole.lower <= each.lower + 1e-6).all()
    assert (whole.upper >= each.upper - 1e-6).all()
    assert whole.fpr.values.tolist() == np.linspace(0, 1, 101).tolist()


def test_thresholds_are_the_scores_of_a_classifier_of_few(panel):
    found = roc_boxes(panel, classifier="few").threshold.values
    distinct = np.unique(rows(n_unlabeled=0).y_prob[0].round(1))
    # 0 and 1 are cells of their own; above 1, and above the largest score below 1, is nothing.
    assert set(distinct[(distinct > 0) & (distinct < 1)]) <= set(found.round(12))
    assert found[-1] == -np.inf
    assert (np.diff(found) <= 0).all()
    first = roc_boxes(panel, classifier="few").isel(threshold=0)
    assert float(first.tpr_upper) == float(first.fpr_upper) == 0.0


def test_a_classifier_must_be_named(panel):
    assert roc_band(panel, classifier="many").attrs["prob"] == 0.9
    with pytest.raises(InputError, match="classifier must be one of the result's; got none"):
        roc_band(panel)


@pytest.mark.parametrize("read", [roc_band, roc_boxes])
def test_bad_input(panel, read):
    with pytest.raises(InputError, match="prob must be a number in"):
        read(panel, 0.0, classifier="few")
    with pytest.raises(InputError, match="no unlabelled rows"):
        read(panel, classifier="few", unlabeled=True)
