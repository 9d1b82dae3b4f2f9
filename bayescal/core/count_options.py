"""Files of counts on the command line: which they are, and what they add up to."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Final

from bayescal.core import score_options as shared
from bayescal.core.command import Given, Option
from bayescal.core.errors import InputError

if TYPE_CHECKING:
    from bayescal.core.count_table import CountTable

COUNTS: Final = ".counts"
"""How the names of files of counts end."""
_OF_COLUMNS: Final = (
    shared.LABEL,
    shared.SCORE,
    shared.CLASSIFIER,
    shared.GROUP,
    shared.WEIGHT,
    shared.POS_LABEL,
    shared.FROM_LOGITS,
    shared.ONE_CLASSIFIER,
)


def files_of(given: Given) -> tuple[Path, ...]:
    """The files given, also where it is one."""
    files = given["file"]
    return (files,) if isinstance(files, Path) else tuple(files)


def are_counts(given: Given) -> bool:
    """Whether files hold counts, which have no columns; a table comes alone."""
    files = files_of(given)
    tables = [path.name for path in files if path.suffix.casefold() != COUNTS]
    if tables and len(tables) < len(files):
        raise InputError(
            f"files of counts go without others; got {tables[0]!r} among them. Count it first: "
            f"bayescal count {tables[0]} -o DAY{COUNTS}."
        )
    if len(tables) > 1:
        raise InputError(
            f"FILE must be one table, or files of counts ({COUNTS}); got {len(tables)} tables. "
            "Count them with bayescal count, and pass the counts."
        )
    if not tables:
        check_no_columns(given, _OF_COLUMNS)
    return not tables


def check_no_columns(given: Given, options: Iterable[Option]) -> None:
    """Refuse options that counts have no columns for."""
    for option in options:
        if given.get(option.name) not in (None, (), False, option.default):
            raise InputError(
                f"{option.flag} is about columns of a table, and counts have none. Leave it out."
            )


def sum_of(given: Given) -> CountTable:
    """Add up files of counts."""
    first, *others = files_of(given)
    total = read_counts(first)
    for path in others:
        found = read_counts(path)
        try:
            total += found
        except InputError as error:
            raise InputError(f"{path.name} cannot be added to {first.name}: {error}") from None
    return total


def read_counts(path: Path) -> CountTable:
    """Read a file of counts, of one classifier or of several."""
    from bayescal.core.count_frames import ALONE
    from bayescal.core.count_table import CountTable
    from bayescal.core.counts import Counts

    found = Counts.load(path)
    return CountTable({ALONE: found}) if isinstance(found, Counts) else found
