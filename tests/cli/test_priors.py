"""--prior in words."""

import pytest

import bayescal as bc
from bayescal.quantities.ece.command import priors_from_text


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("curve", bc.ece.CurveAverage()),
        ("curve:0.7", bc.ece.SmoothCurve()),
        ("hierarchical", bc.ece.HierarchicalBins()),
        ("flat", bc.ece.IndependentBins(bc.Beta(1, 1))),
        ("Jeffreys", bc.ece.IndependentBins(bc.Beta(0.5, 0.5))),
        ("beta:4,16", bc.ece.IndependentBins(bc.Beta(4, 16))),
        (" beta: 0.3, 2 ", bc.ece.IndependentBins(bc.Beta(0.3, 2))),
    ],
)
def test_words_name_priors(text: str, expected: object) -> None:
    assert priors_from_text(text) == bc.ece.Priors(label_rate=expected)


@pytest.mark.parametrize("text", ["", "smooth", "beta:4", "beta:a,b", "beta:-1,2", "normal:0,1"])
def test_other_words_are_refused(text: str) -> None:
    with pytest.raises(bc.InputError):
        priors_from_text(text)
