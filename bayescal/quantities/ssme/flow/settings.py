"""How a flow is built and trained: the choices of SSME-NF by name."""

from __future__ import annotations

from dataclasses import dataclass

from bayescal.core.checks import MOST_DRAWN, check_choice, check_number, check_whole

CHOICES = {"base": ("fixed", "joint"), "covariance": ("full", "diagonal")}
_COUNTS = ("n_couplings", "n_layers", "width", "n_epochs", "batch_size", "em_epochs")


@dataclass(frozen=True, slots=True, kw_only=True)
class FlowSettings:
    """Choices of a fit of SSME-NF.

    Parameters
    ----------
    n_couplings : int, default 10
        Affine coupling layers.
    n_layers : int, default 3
        Fully connected layers of each coupling's network, the one to the outputs among them.
    width : int, default 128
        Units between two fully connected layers.
    n_epochs : int, default 300
        Epochs of Adam, in which every row is looked at once.
    batch_size : int, default 256
        Rows looked at in one step; what does not fill a batch waits for the next epoch.
    learning_rate : float, default 2e-4
        Of Adam.
    base : {"fixed", "joint"}, default "fixed"
        Whether the normals, one a class, that the flow leads to stay what the scores say of them
        while it is trained, or are trained with it.
    covariance : {"full", "diagonal"}, default "full"
        Covariance of the normals.
    em_epochs : int, default 700
        Most epochs of EM for the normals, once the flow is trained.
    em_tolerance : float, default 0
        EM has converged once no label probability changes by more; 0 runs all epochs.

    Raises
    ------
    InputError
        If a choice is none of those listed, or a number is out of range.

    Notes
    -----
    The defaults are the paper's (appendix C), which leaves optimiser, learning rate and batches
    open; these two were chosen on splits of MultiNLI that no benchmark reports.

    Examples
    --------
    >>> from bayescal.quantities.ssme.flow.settings import FlowSettings
    >>> FlowSettings(base="joint").n_couplings
    10
    """

    n_couplings: int = 10
    n_layers: int = 3
    width: int = 128
    n_epochs: int = 300
    batch_size: int = 256
    learning_rate: float = 2e-4
    base: str = "fixed"
    covariance: str = "full"
    em_epochs: int = 700
    em_tolerance: float = 0.0

    def __post_init__(self) -> None:
        for name in _COUNTS:
            check_whole(getattr(self, name), name, most=MOST_DRAWN)
        check_number(self.learning_rate, "learning_rate", "(0, inf)")
        for name, choices in CHOICES.items():
            check_choice(getattr(self, name), choices, name)
        check_number(self.em_tolerance, "em_tolerance", "[0, inf)", "Pass 1e-4, say.")


PAPER = FlowSettings()
JOINT = FlowSettings(
    batch_size=1024,
    base="joint",
    covariance="diagonal",
    em_epochs=50,
    em_tolerance=1e-4,
)
NAMED = {"paper": PAPER, "joint": JOINT}


def settings_of(choice: str | FlowSettings) -> FlowSettings:
    """Look settings up by name."""
    if isinstance(choice, FlowSettings):
        return choice
    check_choice(choice, tuple(NAMED), "settings, if not FlowSettings,")
    return NAMED[choice]
