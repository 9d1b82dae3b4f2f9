"""Which mixture of kernel densities is fitted, and how: the choices of SSME-KDE by name."""

from __future__ import annotations

from dataclasses import dataclass

from bayescal.core.checks import (
    MOST_DRAWN,
    check_choice,
    check_flag,
    check_number,
    check_whole,
)
from bayescal.quantities.ssme.kde.alr import REFERENCES
from bayescal.quantities.ssme.kde.bandwidth import RULES

CHOICES = {
    "reference": tuple(REFERENCES),
    "sharing": ("all", "class"),
    "start": ("draw", "mean"),
    "prior_update": ("expected", "drawn"),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class KDESettings:
    """Choices of a fit of SSME-KDE.

    Parameters
    ----------
    reference : {"last", "first"}, default "last"
        Class whose logarithm is taken from those of the others. It matters with three classes or
        more: the paper's text has the last (appendix E.1), its published code the first.
    bandwidth : {"isj", "normal-reference"} or float, default "isj"
        Rule for the bandwidth (the least over coordinates), or the bandwidth itself.
    bandwidth_scale : float, default 1
        What the bandwidth is multiplied by.
    sharing : {"all", "class"}, default "all"
        One bandwidth from all rows for all classes, or one a class, from the rows whose label,
        known or drawn from the mean score, is that class.
    leave_one_out : bool, default False
        Whether a row is left out of the densities at its own place. With narrow kernels a row that
        is not left out mostly sees itself.
    labeled_weight : float, default 1
        Weight of a labeled row in the densities and in an expected class prior, against 1 of an
        unlabeled row: 1 / lambda_L of the paper's objective (section 4), whose lambda_L multiplies
        the unlabeled rows though the text calls it the weight of the labeled ones.
    weighted_start : bool, default True
        Whether labeled rows have their weight in the first epoch's densities too; in the published
        code these have every row once.
    start : {"draw", "mean"}, default "draw"
        Labels of unlabeled rows to start from: drawn from the mean score, or the mean score itself
        as their probability.
    prior_update : {"expected", "drawn"}, default "expected"
        A class prior to be learned is the mean label probability, or the share of labels drawn
        anew in each epoch (stochastic EM), in which every row counts once.
    clamp_densities : bool, default True
        Whether labeled rows enter the densities with their label; else with its probability.
    max_epochs : int, default 50
        Most epochs of EM.
    tolerance : float, default 1e-4
        EM has converged once no label probability changes by more; 0 runs all epochs.

    Raises
    ------
    InputError
        If a choice is none of those listed, or a number is out of range.

    Examples
    --------
    >>> from bayescal.quantities.ssme.kde.settings import KDESettings
    >>> KDESettings(sharing="class").sharing
    'class'
    """

    reference: str = "last"
    bandwidth: str | float = "isj"
    bandwidth_scale: float = 1.0
    sharing: str = "all"
    leave_one_out: bool = False
    labeled_weight: float = 1.0
    weighted_start: bool = True
    start: str = "draw"
    prior_update: str = "expected"
    clamp_densities: bool = True
    max_epochs: int = 50
    tolerance: float = 1e-4

    def __post_init__(self) -> None:
        if isinstance(self.bandwidth, str):
            check_choice(self.bandwidth, tuple(RULES), "bandwidth")
        else:
            check_number(self.bandwidth, "bandwidth", "(0, inf)")
        for name in ("bandwidth_scale", "labeled_weight"):
            check_number(getattr(self, name), name, "(0, inf)")
        for name, choices in CHOICES.items():
            check_choice(getattr(self, name), choices, name)
        for name in ("leave_one_out", "clamp_densities", "weighted_start"):
            check_flag(getattr(self, name), name)
        check_whole(self.max_epochs, "max_epochs", most=MOST_DRAWN)
        check_number(self.tolerance, "tolerance", "[0, inf)", "Pass 1e-4, say.")


PAPER = KDESettings()
RELEASE = KDESettings(
    reference="first",
    bandwidth="normal-reference",
    bandwidth_scale=0.25,
    labeled_weight=10.0,
    weighted_start=False,
    prior_update="drawn",
    clamp_densities=False,
    max_epochs=20,
    tolerance=0.0,
)
NAMED = {"paper": PAPER, "release": RELEASE}


def settings_of(choice: str | KDESettings) -> KDESettings:
    """Look settings up by name."""
    if isinstance(choice, KDESettings):
        return choice
    check_choice(choice, tuple(NAMED), "settings, if not KDESettings,")
    return NAMED[choice]
