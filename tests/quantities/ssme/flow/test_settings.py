"""Choices of SSME-NF: names, ranges, and the two that have a name."""

import pytest

from bayescal.core.errors import InputError
from bayescal.quantities.ssme.flow import JOINT, PAPER, FlowSettings, settings_of


def test_the_paper_s_text():
    """Appendix C: ten couplings, three layers, 128 units; 300 epochs of flow, then 700 of EM."""
    assert settings_of("paper") == PAPER == FlowSettings()
    assert (PAPER.n_couplings, PAPER.n_layers, PAPER.width) == (10, 3, 128)
    assert (PAPER.n_epochs, PAPER.em_epochs, PAPER.em_tolerance) == (300, 700, 0)
    assert (PAPER.base, PAPER.covariance) == ("fixed", "full")


def test_choices_of_one_s_own_are_taken_as_they_are():
    own = FlowSettings(width=8)
    assert settings_of(own) is own
    assert settings_of("joint") is JOINT


@pytest.mark.parametrize("name", ["release", "", None])
def test_unknown_names_are_refused(name):
    with pytest.raises(
        InputError, match="settings, if not FlowSettings, must be one of 'paper', 'joint'"
    ):
        settings_of(name)


@pytest.mark.parametrize(
    ("choice", "message"),
    [
        ({"width": 0}, "width must be a whole number >= 1"),
        ({"n_epochs": 2.5}, "n_epochs must be a whole number >= 1"),
        ({"learning_rate": 0.0}, r"learning_rate must be a number in \(0, inf\)"),
        ({"base": "free"}, "base must be one of"),
        ({"covariance": "tied"}, "covariance must be one of"),
        ({"em_tolerance": -1.0}, r"em_tolerance must be a number in \[0, inf\)"),
    ],
)
def test_choices_outside_their_range_are_refused(choice, message):
    with pytest.raises(InputError, match=message):
        FlowSettings(**choice)
