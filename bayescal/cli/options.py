"""Options that subcommands share, each spelt once."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import click

Decorator = Callable[[Callable[..., Any]], Callable[..., Any]]

PATH: Final = click.Path(path_type=Path)

_DATA: Final = (
    click.argument("file", type=PATH, metavar="FILE"),
    click.option("--label", required=True, metavar="COLUMN", help="Column of the true labels."),
    click.option(
        "--score",
        "scores",
        required=True,
        multiple=True,
        metavar="COLUMN",
        help="Column of a classifier's scores; repeat it for several classifiers on the same rows "
        "(or, with --multiclass, once for each class of one classifier).",
    ),
    click.option("--group", metavar="COLUMN", help="Column that splits the rows into groups."),
    click.option(
        "--pos-label",
        default="1",
        show_default=True,
        metavar="VALUE",
        help="Label of the positive class.",
    ),
    click.option("--from-logits", is_flag=True, help="The scores are logits, not probabilities."),
    click.option(
        "--multiclass",
        type=click.Choice(["top-label", "class-wise", "marginal"]),
        help="Take the --score columns as the classes of one classifier, named by the columns, "
        "and measure the calibration of its top label, of each class, or their average.",
    ),
)

_REPORTED: Final = (
    click.argument("files", type=PATH, nargs=-1, required=True, metavar="FILE..."),
    click.option("--label", metavar="COLUMN", help="Column of the true labels."),
    click.option(
        "--score",
        "scores",
        multiple=True,
        metavar="COLUMN",
        help="Column of a classifier's scores; repeat it for several classifiers on the same rows "
        "(or, with --multiclass, once for each class of one classifier).",
    ),
    *_DATA[3:],
)

_BINS: Final = (
    click.option(
        "--n-bins", type=click.IntRange(min=1), default=15, show_default=True, help="Bins."
    ),
    click.option(
        "--strategy",
        type=click.Choice(["quantile", "uniform"]),
        default="quantile",
        show_default=True,
        help="Bins of equal counts, or of equal widths.",
    ),
    click.option(
        "--closed",
        type=click.Choice(["right", "left"]),
        default="right",
        show_default=True,
        help="Which edge belongs to a bin.",
    ),
)

PRIOR_HELP: Final = (
    "curve (a smooth calibration curve; curve:SCALE for another scale than 0.7), hierarchical "
    "(pooled bins), or independent bins: flat, jeffreys or beta:A,B."
)

_PRIOR: Final = click.option(
    "--prior",
    default="curve",
    show_default=True,
    metavar="PRIOR",
    help=PRIOR_HELP,
)

_SAMPLING: Final = (
    click.option(
        "--quick", is_flag=True, help="Importance sampling instead of NUTS; PyMC is not loaded."
    ),
    click.option(
        "--prob",
        type=click.FloatRange(0, 1, min_open=True, max_open=True),
        default=0.9,
        show_default=True,
        help="Probability of the intervals.",
    ),
    click.option(
        "--draws",
        type=click.IntRange(min=1),
        default=1000,
        show_default=True,
        help="Draws of each of the four chains.",
    ),
    click.option(
        "--tune",
        type=click.IntRange(min=1),
        default=300,
        show_default=True,
        help="Draws of each chain that NUTS is tuned on.",
    ),
    click.option(
        "--target-accept",
        type=click.FloatRange(0, 1, min_open=True, max_open=True),
        default=None,
        help="Acceptance that NUTS tunes its step to; by default what suits the prior.",
    ),
    click.option(
        "--seed",
        type=click.IntRange(min=0),
        default=0,
        show_default=True,
        help="Seed; the same seed gives the same numbers.",
    ),
    click.option(
        "--checkpoint",
        type=PATH,
        metavar="DIRECTORY",
        help="Keep the result of each finished classifier here, and take those found here.",
    ),
)


PANEL_PRIOR_HELP: Final = (
    "agreement (the classifiers pooled by agreement), mean (their plain mean), gaussian or "
    "student-t (mixtures); with :POWER for another power of the labels' likelihood than 0.6, "
    "1 being the plain posterior."
)

_PANEL: Final = (
    *_DATA[:2],
    click.option(
        "--score",
        "scores",
        required=True,
        multiple=True,
        metavar="COLUMN",
        help="Column of a classifier's scores; repeat it for each classifier.",
    ),
    *_DATA[3:6],
    click.option(
        "--labeling",
        type=click.Choice(["random", "one-per-class"]),
        default="random",
        show_default=True,
        help="How rows were chosen to be labelled: at random, or so that each class has a label.",
    ),
    click.option(
        "--ece",
        type=click.Choice(["equal-mass", "equal-width", "top-label"]),
        default="equal-mass",
        show_default=True,
        help="Convention of the calibration errors.",
    ),
)


ROW_PRIOR_HELP: Final = (
    "curve (smooth and rising), steps (rising in jumps; steps:BINS) or bins (imprecise Dirichlet, "
    "nothing rises; bins:BINS); with ,s=NUMBER for other imagined rows than --s."
)

_SPLIT: Final = (
    click.argument("calibration", type=PATH, metavar="CALIBRATION"),
    click.argument("target", type=PATH, metavar="TARGET"),
    click.option(
        "--label", required=True, metavar="COLUMN", help="Column of CALIBRATION's true labels."
    ),
    click.option(
        "--score",
        "scores",
        required=True,
        multiple=True,
        metavar="COLUMN",
        help="Column of a classifier's scores in both files; repeat it for several classifiers "
        "(or, with --multiclass, once for each class of one classifier).",
    ),
    *_DATA[4:6],
    click.option(
        "--multiclass",
        is_flag=True,
        help="Take the --score columns as the classes of one classifier, named by the columns.",
    ),
    click.option(
        "--s",
        type=click.FloatRange(0, min_open=True),
        default=1.0,
        show_default=True,
        help="Imagined calibration rows of either label, which make the bounds.",
    ),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Split:
    """Which columns of which two files, what they are, and how many rows are imagined."""

    calibration: Path
    target: Path
    label: str
    scores: tuple[str, ...]
    pos_label: str
    from_logits: bool
    multiclass: bool
    s: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Panel:
    """Which columns of which file, how rows were labelled, and which calibration error."""

    file: Path
    label: str
    scores: tuple[str, ...]
    group: str | None
    pos_label: str
    from_logits: bool
    labeling: str
    ece: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Data:
    """Which columns of which file, and what they are."""

    file: Path
    label: str
    scores: tuple[str, ...]
    group: str | None
    pos_label: str
    from_logits: bool
    multiclass: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Bins:
    """How scores are binned."""

    n_bins: int
    strategy: str
    closed: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Fit:
    """How the posterior is computed."""

    prior: str
    quick: bool
    prob: float
    draws: int
    tune: int
    target_accept: float | None
    seed: int
    checkpoint: Path | None


def data_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add FILE and the options that say what its columns are."""
    return _all(_DATA, command)


def report_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add FILE... and the options of its columns, of which results need none."""
    return _all(_REPORTED, command)


def bin_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add the options of binning."""
    return _all(_BINS, command)


def fit_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add the options of fitting."""
    return _all((_PRIOR, *_SAMPLING), command)


def sampling_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add the options of fitting, but for the prior."""
    return _all(_SAMPLING, command)


def nuts_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add the options of fitting by NUTS alone, but for the prior."""
    return _all(_SAMPLING[1:], command)


def panel_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add FILE, its columns and how labels and metrics are meant, for several classifiers."""
    return _all(_PANEL, command)


def split_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add CALIBRATION, TARGET, and the options that say what their columns are."""
    return _all(_SPLIT, command)


def take[T](kind: type[T], given: dict[str, Any]) -> T:
    """Make one of the records above from a command's arguments, leaving the others alone."""
    fields = kind.__dataclass_fields__  # type: ignore[attr-defined]
    return kind(**{name: given[name] for name in fields})


def _all(decorators: tuple[Decorator, ...], command: Callable[..., Any]) -> Callable[..., Any]:
    for decorate in reversed(decorators):
        command = decorate(command)
    return command
