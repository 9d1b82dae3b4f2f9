"""What a result says of itself in words."""

import pytest

from bayescal.core.health import REMEDY
from bayescal.results.assemble import CaseArrays
from bayescal.workflow.status import converged, status

GOOD = {
    "rhat_max": 1.001,
    "ess_min": 2000.0,
    "divergences": 0,
    "ebfmi_min": 0.9,
    "importance_ess": 3900.0,
    "jump_flag": False,
    "converged": True,
}


def result(name="vit", **figures):
    return CaseArrays(coords={"classifier": name}, posterior={}, diagnostics={**GOOD, **figures})


def test_a_good_fit_is_ok():
    assert status([result(), result("gbm")], [[], []]) == "ok"
    assert converged([result(), result("gbm")])


@pytest.mark.parametrize(
    ("figures", "words"),
    [
        ({"rhat_max": 1.3}, ["did not converge", "R-hat is 1.300", REMEDY]),
        ({"ess_min": 12.0}, ["the effective sample size is 12", REMEDY]),
        ({"divergences": 7}, ["7 transitions diverged", "target_accept=0.99"]),
        ({"importance_ess": 50.0}, ["rests on 50 effective draws", "Do not rely on it"]),
        ({"jump_flag": True}, ["a calibration curve that jumps", "try strategy='uniform'"]),
    ],
)
def test_every_trouble_names_its_remedy(figures, words):
    told = status([result(**figures)], [[]])
    assert told.startswith("vit: ")
    for word in words:
        assert word in told


def test_cases_with_the_same_trouble_share_a_sentence():
    told = status([result("vit", jump_flag=True), result("gbm", jump_flag=True)], [[], []])
    assert told.startswith("vit, gbm: ")
    assert told.count("jumps") == 1


def test_many_cases_are_counted():
    fits = [result(f"c{place}", jump_flag=True) for place in range(7)]
    assert status(fits, [[]] * 7).startswith("c0, c1, c2 and 4 more: ")


def test_notes_about_the_data_are_told_too():
    told = status([result(), result("gbm", jump_flag=True)], [["all labels are positive."], []])
    assert "vit: all labels are positive." in told
    assert "gbm: the data favour" in told


def test_classes_are_named_with_their_classifier():
    made = CaseArrays(
        coords={"classifier": "vit", "class": "cat"},
        posterior={},
        diagnostics={**GOOD, "jump_flag": True},
    )
    assert status([made], [[]]).startswith("vit, cat: ")


def test_one_that_did_not_converge_is_enough():
    assert not converged([result(), result("gbm", converged=False)])
