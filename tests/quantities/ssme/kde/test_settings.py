"""Choices of SSME-KDE: names, ranges, and the two that have a name."""

from dataclasses import FrozenInstanceError

import pytest

from bayescal.core.errors import InputError
from bayescal.quantities.ssme.estimator import PAPER, RELEASE, KDESettings, settings_of


def test_the_paper_s_text():
    """Section 4, E.1: last class, ISJ bandwidth, one for all, rows clamped, labels drawn."""
    assert settings_of("paper") == PAPER == KDESettings()
    assert (PAPER.bandwidth, PAPER.bandwidth_scale, PAPER.sharing) == ("isj", 1, "all")
    assert (PAPER.start, PAPER.labeled_weight, PAPER.clamp_densities) == ("draw", 1, True)
    assert PAPER.reference == "last"
    assert not PAPER.leave_one_out


def test_the_published_code():
    """First class, rows tenfold, 20 epochs, a quarter of the normal reference, labels redrawn."""
    assert settings_of("release") == RELEASE
    assert (RELEASE.bandwidth, RELEASE.bandwidth_scale) == ("normal-reference", 0.25)
    assert (RELEASE.labeled_weight, RELEASE.max_epochs, RELEASE.tolerance) == (10, 20, 0)
    assert (RELEASE.reference, RELEASE.prior_update) == ("first", "drawn")
    assert not RELEASE.clamp_densities
    assert not RELEASE.weighted_start


def test_choices_of_one_s_own_are_taken_as_they_are():
    own = KDESettings(bandwidth=0.3, leave_one_out=True)
    assert settings_of(own) is own
    with pytest.raises(FrozenInstanceError):
        own.start = "mean"


@pytest.mark.parametrize("name", ["code", "Paper", "", None, 3])
def test_unknown_names_are_refused(name):
    with pytest.raises(
        InputError, match="settings, if not KDESettings, must be one of 'paper', 'release'"
    ):
        settings_of(name)


@pytest.mark.parametrize(
    ("choice", "message"),
    [
        ({"reference": "second"}, "reference must be one of"),
        ({"bandwidth": "scott"}, "bandwidth must be one of"),
        ({"bandwidth": 0.0}, r"bandwidth must be a number in \(0, inf\)"),
        ({"bandwidth_scale": -1.0}, r"bandwidth_scale must be a number in \(0, inf\)"),
        ({"labeled_weight": float("nan")}, r"labeled_weight must be a number in \(0, inf\)"),
        ({"sharing": "none"}, "sharing must be one of"),
        ({"start": "zero"}, "start must be one of"),
        ({"prior_update": "none"}, "prior_update must be one of"),
        ({"max_epochs": 0}, "max_epochs must be a whole number >= 1"),
        ({"tolerance": -1.0}, r"tolerance must be a number in \[0, inf\)"),
    ],
)
def test_choices_outside_their_range_are_refused(choice, message):
    with pytest.raises(InputError, match=message):
        KDESettings(**choice)
