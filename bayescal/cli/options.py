"""Options that every command has, and how the options of a quantity become click's."""

from __future__ import annotations

import shutil
import sys
from collections.abc import Iterable
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Final

import click

from bayescal.core.checks import check_number
from bayescal.core.command import Command, Given, Option, are_counts, check_no_columns
from bayescal.core.errors import InputError

DASH: Final = "-"
_NAME: Final = "standard input"


class _Kept(ExitStack):
    """The copy of standard input, removed when a command leaves it."""

    path: Path | None = None

    def copied(self) -> Path:
        """The copy, which can be made once."""
        if self.path is not None:
            raise InputError(f"{DASH} can be given once, as {_NAME} can be read once. Name a file.")
        if sys.stdin is None:
            raise InputError(f"{DASH} needs {_NAME}, which is closed. Name a file.")
        folder = self.enter_context(TemporaryDirectory(prefix="bayescal-"))
        self.callback(setattr, self, "path", None)
        self.path = Path(folder, _NAME)
        with self.path.open("w+b") as file:
            shutil.copyfileobj(sys.stdin.buffer, file)
            file.seek(0)
            packed = file.read(2) == b"\x1f\x8b"
        if packed:  # Arrow goes by the ending
            self.path = self.path.rename(self.path.with_suffix(".gz"))
        return self.path


KEPT: Final = _Kept()


class _Path(click.Path):
    """A path, not an empty word, as which a variable that is not set comes."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        if value == "":
            self.fail("a path must not be empty. Leave it out, or name a file.", param, ctx)
        return super().convert(value, param, ctx)


class _There(_Path):
    """A path of something, missed before options are: with a wrong name these are of no use."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        path: Any = super().convert(value, param, ctx)
        if not path.exists():
            from bayescal.core.tables import check_file

            check_file(path)
        return path


class _Rows(_There):
    """A path of rows, of which one may be "-"."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        return KEPT.copied() if value == DASH else super().convert(value, param, ctx)


class _RowsAlone(_Rows):
    """A path of rows, not of a result."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        path = super().convert(value, param, ctx)
        if path.suffix.casefold() == RESULT:
            raise click.UsageError(
                f"FILE must be a table of rows, or counts of them; {path.name} is a result. Pass "
                "it to bayescal report, plan or check, or to bayescal.load in Python.",
                ctx,
            )
        return path


RESULT: Final = ".nc"
"""How the names of results end."""
THERE: Final = _There(path_type=Path)
ROWS: Final = _Rows(path_type=Path)
ROWS_ALONE: Final = _RowsAlone(path_type=Path)


def as_given(value: Any) -> Any:
    """A path as it was given, "-" for standard input."""
    return DASH if isinstance(value, Path) and value.stem == _NAME else value


_COLUMN: Final = "COLUMN"
PATH: Final = _Path(path_type=Path)
OUTPUT: Final = Option(
    flags=("-o", "--output"),
    type=Path,
    multiple=True,
    metavar="FILE",
    help="Keep the result (.nc), write a report (.html) or the numbers as a table (.csv, "
    ".parquet) here; repeat it for several.",
)
SEED: Final = Option(
    flags=("--seed",), type=int, default=0, help="Seed; the same seed gives the same numbers."
)
SAMPLING: Final = (
    Option(
        flags=("--quick",),
        is_flag=True,
        help="Without NUTS (method='direct' in Python): importance sampling, quadrature or "
        "conjugacy, whichever the prior allows. PyMC is not loaded.",
        phrases={
            "Pass method='nuts'": "Leave out --quick",
            "sample by method='nuts'": "leave out --quick",
            "method='direct'": "--quick",
        },
    ),
    Option(flags=("--prob",), type=float, default=0.9, help="Probability of the intervals."),
    Option(flags=("--draws",), type=int, default=1000, help="Draws of each of the four chains."),
    Option(
        flags=("--tune",),
        type=int,
        help="Draws of each chain that NUTS is tuned on; by default what suits the prior.",
    ),
    Option(
        flags=("--target-accept",),
        type=float,
        help="Acceptance that NUTS tunes its step to; by default what suits the prior.",
    ),
    SEED,
    Option(
        flags=("--checkpoint",),
        type=Path,
        metavar="DIRECTORY",
        help="Keep the result of each finished model here, and take those found here.",
    ),
)
_REPORT: Final = Option(
    flags=("--report",), type=Path, metavar="FILE", help="Write a report (.html) here."
)
JSON: Final = Option(flags=("--json",), is_flag=True, help="Print JSON instead of a table.")
VERBOSE: Final = Option(
    flags=("-v", "--verbose"),
    is_flag=True,
    help="Print every column, the prior and all notes in full.",
)
_PRINTED: Final = (OUTPUT, _REPORT, JSON, VERBOSE)
_ESTIMATE_ONLY: Final = Option(
    flags=("--estimate-only",), is_flag=True, help="Point estimates, no posterior; fast."
)
_CONCLUSION: Final = (
    Option(
        flags=("--metric", "--var"),
        metavar="NAME",
        help="What the conclusion is on, such as tce or auc; by default the main variable.",
    ),
    Option(
        flags=("--threshold",),
        type=float,
        help="Value that is still tolerable: do all priors agree on which side of it the answer "
        "lies? Perfect calibration if left out.",
    ),
)


def check_measure(spec: str, flag: str = "--measure") -> None:
    """Refuse a name, or its options, before any file is read."""
    from bayescal.measures import resolve

    try:
        resolve(spec)
    except InputError as error:
        raise InputError(f"{flag} {spec}: {error}") from None


def check_share(name: str, limit: float, flag: str) -> None:
    """Refuse a limit in percent, to which every error keeps."""
    from bayescal.measures.registry import range_of

    check_number(limit, f"{flag} for {name}", range_of(name), "Divide percent by 100.")


def _no_measure(spec: str) -> None:
    """Refuse a measure, and name the commands that take one."""
    from bayescal.quantities import quantities

    *others, last = (
        name.replace("_", "-") for name, one in quantities().items() if one.COMMAND.curve
    )
    raise InputError(
        f"--measure needs a calibration curve, which results of this command do not hold; got "
        f"{spec!r}. Run bayescal {', '.join(others)} or {last} on labelled rows."
    )


MEASURE: Final = Option(
    flags=("--measure",),
    multiple=True,
    metavar="NAME[:VALUE]",
    help="A further number of the calibration curve, with its interval: e90, slope, oe, brier, "
    "net_benefit:0.25 or another that 'bayescal measures' lists. Repeat it for several.",
    read=check_measure,
)
_NO_MEASURE: Final = replace(MEASURE, hidden=True, read=_no_measure)


def _sampling(command: Command) -> list[Option]:
    """Options of the sampler; --quick is not shown where every prior refuses it."""
    quick, *others = SAMPLING
    return [replace(quick, hidden=not command.quick), *others]


def fit_options(command: Command) -> list[Option]:
    """Options of a quantity's own command."""
    measure = MEASURE if command.curve else _NO_MEASURE
    own = [*command.options, command.prior, measure]
    return [*own, *_sampling(command), _ESTIMATE_ONLY, *_PRINTED]


def sensitivity_options(command: Command) -> list[Option]:
    """Options of its sensitivity: several priors, and no estimates."""
    prior = command.prior
    alone = "once" if prior.required else "once, or not at all,"
    several = replace(
        prior,
        multiple=True,
        default=None,
        help=f"{prior.help} Repeat it for the priors to compare; given {alone} it is compared with "
        "a grid of others.",
    )
    return [*command.options, several, *_sampling(command), *_CONCLUSION, *_PRINTED]


def report_options(command: Command) -> list[Option]:
    """Options of a report on a table, of which a report on results needs none."""
    own = [replace(option, required=False) for option in (*command.options, command.prior)]
    return [*own, MEASURE, *SAMPLING, VERBOSE]


def parameters(
    command: Command, options: Iterable[Option], kind: click.Path = ROWS_ALONE
) -> list[click.Parameter]:
    """Click's parameters; of counts there may be several files, which need no option."""
    if not command.counts:
        files = [
            click.Argument([name.lower()], type=kind, metavar=name) for name in command.arguments
        ]
        return [*files, *map(click_option, options)]
    file = click.Argument(
        ["file"],
        type=kind,
        nargs=-1,
        required=True,
        metavar="FILE...",
        callback=lambda _context, _parameter, files: files if len(files) > 1 else files[0],
    )
    return [file, *(click_option(replace(option, required=False)) for option in options)]


def check_required(command: Command, given: Given) -> None:
    """Refuse a table without the options that name its columns, and counts with them."""
    options = (*command.options, command.prior)
    if command.counts and are_counts(given):
        check_no_columns(given, [option for option in options if option.metavar == _COLUMN])
        options = tuple(option for option in options if option.metavar != _COLUMN)
    for option in options:
        if option.required and not given[option.name]:
            raise click.UsageError(f"Missing option '{option.flag}'.")


def click_option(option: Option) -> click.Option:
    """Click's option."""
    kind = PATH if option.type is Path else option.type
    # Click takes a default of None for a value, with which nothing is missing.
    default = {} if option.default is None else {"default": option.default}
    return click.Option(
        [*option.flags, option.name],
        type=click.Choice(option.choices) if option.choices else None if option.is_flag else kind,
        required=option.required,
        multiple=option.multiple,
        # False would let the value be left out, and "-p" be taken for an option.
        is_flag=option.is_flag or None,
        hidden=option.hidden,
        metavar=option.metavar,
        help=option.help,
        show_default=bool(default),
        **default,
    )
