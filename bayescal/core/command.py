"""What the command line needs of a quantity: its files, options, and how to read them.

Nothing here imports click or NumPy: the layer `cli` turns a `Command` into subcommands.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

type Given = Mapping[str, Any]
"""Values of the options by `Option.name`, and paths by the argument's name in lower case."""
type Row = dict[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class Option:
    """An option of a command.

    Parameters
    ----------
    flags : tuple of str
        ``("--label",)``, ``("-o", "--output")``; the last one names the value.
    help : str
        A sentence for the help text.
    type : callable, default str
        From the word given to the value: str, int, float or pathlib.Path.
    default : object, optional
        Value where the option is not given.
    choices : tuple of str
        Words that it may be; any if empty.
    required, multiple, is_flag : bool, default False
        Whether it must be given, may be given repeatedly, or takes no value.
    metavar : str, optional
        What the help text calls the value.
    check : callable, optional
        Called with the value before any file is read; raises InputError.
    phrases : mapping of str to str
        What messages say of Python, and what takes its place on the command line. ``name=value``
        and ``name must`` are put in terms of the option without it.
    """

    flags: tuple[str, ...]
    help: str
    type: Callable[[str], Any] = str
    default: Any = None
    choices: tuple[str, ...] = ()
    required: bool = False
    multiple: bool = False
    is_flag: bool = False
    metavar: str | None = None
    check: Callable[[Any], object] | None = None
    phrases: Mapping[str, str] = field(default_factory=dict)

    @property
    def flag(self) -> str:
        """The long flag."""
        return self.flags[-1]

    @property
    def name(self) -> str:
        """The long flag as a Python name: a key of `Given`."""
        return self.flag.lstrip("-").replace("-", "_")


class Estimates(NamedTuple):
    """Point estimates without a posterior.

    Parameters
    ----------
    rows : sequence of dict
        Plain values by name, as JSON and CSV have them.
    columns : mapping of str to str
        The names that the printed table shows, with their headings.
    notes : sequence of str
        Sentences printed below the table.
    warnings : sequence of str
        What a reader must know of the data.
    printed : int, optional
        Rows that the table shows; all by default.
    """

    rows: Sequence[Row]
    columns: Mapping[str, str]
    notes: Sequence[str] = ()
    warnings: Sequence[str] = ()
    printed: int | None = None


def _no_options(given: Given) -> dict[str, Any]:
    return {}


@dataclass(frozen=True, slots=True, kw_only=True)
class Command:
    """How the command line reads what a quantity takes: the constant ``COMMAND`` of its package.

    Parameters
    ----------
    help : str
        The help text; its first sentence stands in the list of commands.
    example : str
        A command that works, without the program's name.
    options : sequence of Option
        Options that say what the data are and how to analyse them; those of sampling and output
        are added to every command.
    read : callable
        From the values given to the data that `plan` takes.
    priors : callable
        From the values given and the data to the quantity's Priors.
    estimates : callable
        From the data and the values given to `Estimates`.
    prior : Option
        Chooses the prior. ``bayescal sensitivity`` takes it repeatedly.
    plan_options : callable, optional
        From the values given to the options of `plan`.
    arguments : tuple of str, default ("FILE",)
        The files; their paths are in `Given` under these names in lower case.
    note : str
        A sentence printed below the table of a result.
    reports : bool, default False
        Whether ``bayescal report FILE`` fits this quantity to a table of scores.
    write_rows : callable, optional
        Writes every row of a result to a CSV or Parquet file: from the result, the path, the
        probability of the bounds, and what to call with progress or None. Without it a table has
        what the result holds.
    """

    help: str
    example: str
    options: Sequence[Option]
    prior: Option
    read: Callable[[Given], Any]
    priors: Callable[[Given, Any], Any]
    estimates: Callable[[Any, Given], Estimates]
    plan_options: Callable[[Given], dict[str, Any]] = _no_options
    arguments: tuple[str, ...] = ("FILE",)
    note: str = ""
    reports: bool = False
    write_rows: Callable[[Any, Path, float, Callable[[str, int, int], None] | None], Any] | None = (
        None
    )
