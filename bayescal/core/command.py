"""What the command line needs of a quantity: its files, options, and how to read them.

Nothing here imports click or NumPy: the layer `cli` turns a `Command` into subcommands.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

from bayescal.core.errors import InputError

type Given = Mapping[str, Any]
"""Values of the options by `Option.name`, and paths by the argument's name in lower case."""
type Row = dict[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class Option:
    """An option of a command."""

    flags: tuple[str, ...]
    """``("--label",)``, ``("-o", "--output")``; the last one names the value."""
    help: str
    type: Callable[[str], Any] = str
    """From the word given to the value: str, int, float or pathlib.Path."""
    default: Any = None
    choices: tuple[str, ...] = ()
    """Words that it may be; any if empty."""
    required: bool = False
    multiple: bool = False
    """Whether it may be given repeatedly."""
    is_flag: bool = False
    hidden: bool = False
    """Whether ``--help`` leaves it out."""
    metavar: str | None = None
    read: Callable[[Any], Any] | None = None
    """From the value to what the quantity takes, such as its Priors; called before any file is
    read, so that its InputError comes early."""
    phrases: Mapping[str, str] = field(default_factory=dict)
    """What messages say of Python, and what takes its place on the command line. ``name=value`` and
    ``name must`` are put in terms of the option without it."""

    @property
    def flag(self) -> str:
        """The long flag."""
        return self.flags[-1]

    @property
    def name(self) -> str:
        """The long flag as a Python name: a key of `Given`."""
        return self.flag.lstrip("-").replace("-", "_")


class Estimates(NamedTuple):
    """Point estimates without a posterior."""

    rows: Sequence[Row]
    """Plain values by name, as JSON and CSV have them."""
    columns: Mapping[str, str]
    """The names that the printed table shows, with their headings."""
    notes: Sequence[str] = ()
    """Sentences printed below the table."""
    warnings: Sequence[str] = ()
    """What a reader must know of the data."""
    printed: int | None = None
    """Rows that the table shows; all by default."""
    spare: Sequence[str] = ()
    """Headings that a narrow terminal leaves out, the first one first."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Command:
    """How the command line reads what a quantity takes: the constant ``COMMAND`` of its package."""

    help: str
    """The help text; its first sentence stands in the list of commands."""
    example: str
    """A command that works, without the program's name."""
    options: Sequence[Option]
    """What the data are and how to analyse them; options of sampling and output are added to every
    command. One with the name of a keyword argument of `plan`, or of a field of its binning, is
    handed to `plan` unless it is a flag."""
    prior: Option
    """Chooses the prior. ``bayescal sensitivity`` takes it repeatedly."""
    read: Callable[[Given], Any]
    """From the values given to the data that `plan` takes."""
    estimates: Callable[[Any, Given], Estimates]
    """From the data and the values given to point estimates."""
    priors: Callable[[Given, Any], Any] | None = None
    """From the values given and the data to the quantity's Priors; by default what `prior.read`
    makes of its word."""
    arguments: tuple[str, ...] = ("FILE",)
    """The files; their paths are in `Given` under these names in lower case."""
    note: str = ""
    """A sentence printed below the table of a result."""
    reports: bool = False
    """Whether ``bayescal report FILE`` fits this quantity to a table of scores."""
    counts: bool = False
    """Whether FILE may be files of counts, which add up."""
    quick: bool = True
    """Whether some prior has a posterior without NUTS."""
    curve: bool = False
    """Whether a result holds draws of a calibration curve, of which ``--measure`` is a number."""
    details: Callable[[Any, float], Estimates] | None = None
    """A further table of a result: from the result and the probability of its intervals."""
    write_rows: Callable[[Any, Path, float, Callable[[str, int, int], None] | None], Any] | None = (
        None
    )
    """Writes every row of a result to a CSV or Parquet file: from the result, the path, the
    probability of the bounds, and what to call with progress or None. Without it a table has what
    the result holds."""

    def priors_of(self, given: Given, data: Any) -> Any:
        """Priors of the model."""
        if self.priors is not None:
            return self.priors(given, data)
        assert self.prior.read is not None
        return self.prior.read(given[self.prior.name])


def row_of(coords: Mapping[str, str], **values: Any) -> Row:
    """Row of one case: its name, its coords, and what was estimated."""
    return {"case": " / ".join(coords.values()), **coords, **values}


def prior_in_words(words: Mapping[str, Any], help: str = "Prior.") -> Option:
    """The option of a prior that is chosen by a word, the first by default."""
    return Option(
        flags=("--prior",),
        default=next(iter(words)),
        choices=tuple(words),
        help=help,
        read=words.__getitem__,
    )


def estimates_of(names: Sequence[str], found: NamedTuple) -> Estimates:
    """A row a classifier, a column a field of an estimate, whose arrays are by classifier."""
    fields = found._asdict()
    rows = [
        row_of({"classifier": name}, **{field: float(of[k]) for field, of in fields.items()})
        for k, name in enumerate(names)
    ]
    return Estimates(rows, {"case": "", **{field: field.replace("_", " ") for field in fields}})


def in_words[T](
    text: str, words: Mapping[str, Callable[..., T]], known: str, given: str | None = None
) -> T:
    """Read a prior from ``word`` or ``word:parameter``; a refusal shows `given`, or the text.

    A function of `words` raises TypeError or ValueError where its parameter is missing, too much or
    no number.
    """
    word, colon, parameter = (part.strip() for part in text.casefold().partition(":"))
    try:
        return words[word](*([parameter] if colon else []))
    except InputError as error:
        if not colon:
            raise
        raise InputError(f"--prior {given or text}: {error}") from None
    except (KeyError, TypeError, ValueError):
        raise InputError(f"--prior must be {known}; got {given or text!r}.") from None
