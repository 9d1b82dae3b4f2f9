"""CSV and Parquet files: found, known to stay as they are, read whole or in batches by Arrow."""

from __future__ import annotations

import os
import re
import time
from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from difflib import get_close_matches
from io import TextIOWrapper
from itertools import groupby, islice
from os import PathLike
from pathlib import Path
from typing import Any, ClassVar, Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from bayescal.core.checks import check_columns, check_known, check_text, checked_scores, listing
from bayescal.core.columns import arrow_to_numpy, in_one_type, inexact, not_a_label, read_words
from bayescal.core.errors import InputError
from bayescal.core.intake import Column, collect_columns
from bayescal.core.scores import Scores, from_parts
from bayescal.core.sums import Batch, numbered
from bayescal.core.writing import checked_path, in_utf8

PARQUET_MAGIC: Final = b"PAR1"
# Changes of a file nearer than the steps of the file system's clock may have one time.
_CLOCK_STEP_NS: Final = 20_000_000
_CSV_BLOCK_BYTES = 1 << 23
_PARQUET_BUFFER_BYTES = 1 << 20
# Rows of a part that is read by itself, many times those of its sums; and parts, which each hold
# a batch, its copies, and sums of their own.
_PART_ROWS = 1 << 22
_MOST_PARTS = 4
_DELIMITERS = ",;\t|"
_MORE_NULLS = ["None", "<NA>"]
# Whole numbers and truth values, as a column of them in a Parquet file names them.
_NAMED = {r"^\+?(-?\d+)\.0*$": r"\1", "(?i)^true$": "True", "(?i)^false$": "False"}
# Fractions and times, which name nothing.
_NO_NAME = r"^([+-]?\d*\.\d*[1-9]\d*([eE][+-]?\d+)?|\d{4}-\d\d-\d\d[ T]\d\d.*)$"


def check_file(path: Path) -> None:
    """Check that there is a file with something in it."""
    if path.is_dir():
        raise InputError(
            f"{path} must be a CSV or Parquet file, or a directory of Parquet files; it is a "
            "directory without any. Name the file."
        )
    if path.exists() and not path.is_file():
        raise InputError(f"{path} must be a file; it is a pipe or a device. Save its rows to one.")
    if not path.is_file():
        others = sorted(p.name for p in path.parent.glob("*") if p.exists())  # no broken links
        near = get_close_matches(path.name, others, n=1)
        remedy = f" Did you mean {near[0]!r}?" if near else ""
        raise InputError(f"there is no file {path}.{remedy}")
    if path.stat().st_size == 0:
        raise InputError(f"{path.name} must have a header and rows; it is empty (0 bytes).")


def first_bytes(path: Path) -> bytes:
    """Read the start of a file, which shows its kind."""
    with reading(path, "CSV or Parquet"), path.open("rb") as file:
        return file.read(1024)


@contextmanager
def reading(path: Path, kind: str) -> Iterator[None]:
    """Turn errors of Arrow and the system into one line that names it."""
    import pyarrow as pa

    try:
        yield
    except (pa.ArrowException, OSError, UnicodeDecodeError) as error:
        reason = str(error).partition("\n")[0].strip().rstrip(".")
        if "utf" in reason.casefold():
            raise InputError(
                f"{path.name} must be UTF-8 text; got {_strange_byte(path)}. Save it as UTF-8 text."
            ) from error
        if "Empty CSV file" in reason:
            raise InputError(f"{path.name} must have a header and rows, each on a line.") from error
        raise InputError(
            f"{path.name} cannot be read as {kind}: {_in_words(reason)}. Write the file again, or "
            "correct it."
        ) from error


_TORN: Final = re.compile(
    r"CSV parse error: (?:Row #(\d+): )?Expected (\d+) columns, got (\d+): (.*)"
)
_UNLIKE: Final = re.compile(
    r"In CSV column #(\d+): Row #(\d+): CSV conversion error to (\w+).*: invalid value '(.*)'"
)


def _in_words(reason: str) -> str:
    """What Arrow says of a text, with rows counted from 0 and the header not among them."""
    if torn := _TORN.fullmatch(reason):
        row, expected, got, text = torn.groups()
        place = f"row {int(row) - 2}" if row else "a row"
        return f"{place} must have {expected} fields, as the header has; got {got}: {text!r}"
    if unlike := _UNLIKE.fullmatch(reason):
        column, row, kind, text = unlike.groups()
        kind = {"bool": "true or false", "date32": "days"}.get(kind, "numbers")
        return f"column {int(column) + 1} begins with {kind}; got {text!r} in row {int(row) - 2}"
    return reason


def _strange_byte(path: Path) -> str:
    """The first byte of a text that is none of UTF-8, and its line, from 1 as editors count."""
    import pyarrow as pa

    with pa.input_stream(path, compression="detect") as stream:
        for number, line in enumerate(TextIOWrapper(stream, "utf-8", "surrogateescape"), 1):
            if found := re.search("[\udc80-\udcff]", line):
                return f"the byte {ord(found[0]) - 0xDC00:#x} in line {number}"
    return "other bytes"


def _state(path: Path) -> tuple[int, ...] | None:
    """What the system knows of a file: a change of its content cannot leave all of it alone."""
    try:
        now = path.stat()
    except OSError:
        return None
    # The first is also set by a program that gives a file its old time of modification.
    return now.st_ctime_ns, now.st_mtime_ns, now.st_size, now.st_ino


@dataclass(frozen=True, slots=True)
class DataFile:
    """A file as it was when its table was opened."""

    path: Path
    state: tuple[int, ...] | None

    @classmethod
    def all_of(cls, paths: Iterable[Path]) -> tuple[DataFile, ...]:
        """Note how files are now."""
        found = tuple(cls(in_utf8(path), _state(path)) for path in paths)
        newest = max((file.state[0] for file in found if file.state), default=0)
        age = time.time_ns() - newest
        if not 0 <= age < _CLOCK_STEP_NS:
            return found
        time.sleep((_CLOCK_STEP_NS - age) / 1e9)
        return tuple(cls(file.path, _state(file.path)) for file in found)

    @contextmanager
    def opened(self, kind: str) -> Iterator[Path]:
        """Read the file, and check before it is used that it stayed as it was when opened."""
        try:
            with reading(self.path, kind):
                yield self.path
        except InputError:
            self.check_unchanged()
            raise
        self.check_unchanged()

    def check_unchanged(self) -> None:
        """Check that the file is as it was."""
        now = _state(self.path)
        if now != self.state or now is None:
            raise InputError(
                f"{self.path} must not change until its last reading; it was "
                f"{'removed' if now is None else 'written or replaced'} since it was opened. "
                "Read it anew when no program writes to it."
            )


def data_set(folder: Path) -> tuple[Path, ...]:
    """Parquet files below a directory, by name, each once; not those that begin with . or _."""
    found: dict[str, Path] = {}
    folders: set[str] = set()

    def visit(path: Path) -> None:
        real = os.path.realpath(path)
        if path.is_dir():
            if real not in folders:
                folders.add(real)
                for below in _entries(path):
                    visit(below)
        elif real not in found:
            _check_parquet(path)
            found[real] = path

    visit(folder)
    return tuple(sorted(found.values()))


def _entries(folder: Path) -> list[Path]:
    """What a folder holds, by name, hidden names left out."""
    with reading(folder, "directory of Parquet files"):
        return sorted(path for path in folder.iterdir() if not path.name.startswith((".", "_")))


def _check_parquet(path: Path) -> None:
    if not path.is_file() or not first_bytes(path).startswith(PARQUET_MAGIC):
        raise InputError(
            f"{path} must be a Parquet file, as all of a directory that is read are; it is "
            f"{'not' if path.is_file() else 'a link to nothing, or no file'}. Move it elsewhere, "
            "or begin its name with _ so that it is left out."
        )


@dataclass(frozen=True, slots=True)
class Table(ABC):
    """A file of named columns."""

    kind: ClassVar[str] = ""
    path: Path
    columns: tuple[str, ...]
    n_rows: int | None
    files: tuple[DataFile, ...]

    @property
    def of(self) -> str:
        """What messages append to the name of a column."""
        return f" of {self.path.name}"

    def read(self, columns: Sequence[str]) -> dict[str, NDArray[Any]]:
        """Read columns whole, (row,)."""
        names = self._checked(columns)
        table = self._read(names)
        return {name: arrow_to_numpy(table.column(name)) for name in names}

    def with_words(self, *names: str | None) -> Table:
        """The same table, with columns that hold names: text keeps ``01`` apart from ``1``."""
        return self

    def _checked(self, columns: Sequence[str]) -> list[str]:
        """Check that columns exist; one that is asked for twice is read once."""
        names = list(dict.fromkeys(columns))
        for name in names:
            check_known(name, self.columns, "column", self.path.name)
            if self.columns.count(name) > 1:
                raise InputError(
                    f"{self.path.name} has several columns {name!r}. Rename all but one of them."
                )
        return names

    @abstractmethod
    def has_more_rows(self, than: int) -> bool:
        """Whether there are more rows than a number."""

    @abstractmethod
    def _read(self, columns: list[str]) -> Any: ...

    @abstractmethod
    def parts(self, columns: Sequence[str], batch_rows: int) -> list[Iterator[Batch]]:
        """Parts in order, which are read anew when they are gone through."""


def _arrays(
    batches: Iterator[Any], names: Sequence[str], batch_rows: int
) -> Iterator[dict[str, NDArray[Any]]]:
    """Cut Arrow's batches, and turn them into NumPy."""
    for batch in batches:
        for start in range(0, batch.num_rows, batch_rows):
            part = batch.slice(start, batch_rows)
            yield {name: arrow_to_numpy(part.column(name)) for name in names}


@dataclass(frozen=True, slots=True)
class ParquetTable(Table):
    """A Parquet file, or the files of a directory and those below it as one table."""

    kind: ClassVar[str] = "Parquet"

    def has_more_rows(self, than: int) -> bool:
        """Whether the files say that they have more rows."""
        return (self.n_rows or 0) > than

    def _read(self, columns: list[str]) -> Any:
        import pyarrow as pa

        parts = []
        for file in self.files:
            with _open_parquet(file) as opened:
                parts.append(opened.read(columns=columns))
        with reading(self.path, self.kind):
            return pa.concat_tables(in_one_type(parts), promote_options="permissive")

    def parts(self, columns: Sequence[str], batch_rows: int) -> list[Iterator[Batch]]:
        """Cut the table into parts of whole row groups that can be read by threads."""
        names = self._checked(columns)
        n_rows = self.n_rows or 0
        n_parts = min(max(1, round(n_rows / _PART_ROWS)), _MOST_PARTS)
        # A group belongs to the part that it begins in.
        cut = groupby(self._row_groups(), lambda group: n_parts * group.place // n_rows)
        parts = [list(held) for _, held in cut]
        return [self._batches(part, names, batch_rows) for part in parts] or [iter(())]

    def _batches(self, groups: list[_RowGroup], names: list[str], size: int) -> Iterator[Batch]:
        """Read row groups, whose rows are counted within their files."""
        for file, held in groupby(groups, key=lambda group: group.file):
            own = list(held)
            numbers, first = [group.number for group in own], own[0].place - own[0].before
            inside = file.path != self.path
            of = f" of {file.path.relative_to(self.path)}" if inside else self.of
            with _open_parquet(file) as opened:
                read = opened.iter_batches(size, row_groups=numbers, columns=names)
                yield from numbered(_arrays(read, names, size), first, of)

    def _row_groups(self) -> Iterator[_RowGroup]:
        place = 0
        for file in self.files:
            before = place
            with _open_parquet(file) as opened:
                metadata = opened.metadata
            for number in range(metadata.num_row_groups):
                if rows := metadata.row_group(number).num_rows:
                    yield _RowGroup(file, number, place, before)
                place += rows


class _RowGroup(NamedTuple):
    """Rows that a Parquet file keeps together."""

    file: DataFile
    number: int
    place: int  # number of the first row in the table
    before: int  # rows of the files before


@contextmanager
def _open_parquet(file: DataFile) -> Iterator[Any]:
    """Open a file whose pages are compared with their checksums, where it has them."""
    import pyarrow.parquet as pq

    # Buffered, because otherwise a row group's whole columns are held, whatever the batch.
    with (
        file.opened(ParquetTable.kind) as path,
        pq.ParquetFile(
            path,
            buffer_size=_PARQUET_BUFFER_BYTES,
            pre_buffer=False,
            page_checksum_verification=True,
        ) as opened,
    ):
        yield opened


@dataclass(frozen=True, slots=True)
class CsvTable(Table):
    """A text file with a header and one row a line, perhaps compressed."""

    kind: ClassVar[str] = "CSV"
    delimiter: str
    words: tuple[str | None, ...] = ()

    def with_words(self, *names: str | None) -> Table:
        """The same table, with columns of names: as they are written, but 1 for 1.0."""
        return replace(self, words=names)

    def has_more_rows(self, than: int) -> bool:
        """Whether there are more lines, of which a quoted value may have several."""
        import pyarrow as pa

        lines = 0
        with (
            self.files[0].opened(self.kind) as path,
            pa.input_stream(path, compression="detect") as stream,
        ):
            while lines <= than + 1 and (block := stream.read(_CSV_BLOCK_BYTES)):
                lines += max(block.count(b"\n"), block.count(b"\r"))
        return lines > than + 1

    def _read(self, columns: list[str]) -> Any:
        from pyarrow import csv

        with self.files[0].opened(self.kind) as path:
            self._check_closed(path)
            table = csv.read_csv(path, **_csv_options(self.delimiter, columns, self._as_words()))
        return self._named(table, columns, 0)

    def parts(self, columns: Sequence[str], batch_rows: int) -> list[Iterator[Batch]]:
        """The rows as one part."""
        names = self._checked(columns)
        return [numbered(_arrays(self._batches(names), names, batch_rows), of=self.of)]

    def _batches(self, columns: list[str]) -> Iterator[Any]:
        import pyarrow as pa
        from pyarrow import csv

        first, as_words = 0, self._as_words()
        with self.files[0].opened(self.kind) as path:
            self._check_closed(path)
            with csv.open_csv(path, **_csv_options(self.delimiter, columns, as_words)) as reader:
                types = _streaming_types(reader)
                empty = [one.name for one in reader.schema if one.type == pa.null()]
            with csv.open_csv(path, **_csv_options(self.delimiter, columns, types)) as reader:
                for batch in reader:
                    named = self._named(batch, columns, first)
                    first += batch.num_rows
                    yield read_words(named, empty)

    def _check_closed(self, path: Path) -> None:
        """Refuse a text that ends within quotes, where Arrow takes the lines behind for a value."""
        import pyarrow as pa
        from pyarrow import csv

        quotes, end, last = 0, b"", self.columns[-1]
        with pa.input_stream(path, compression="detect") as stream:
            while block := stream.read(_CSV_BLOCK_BYTES):
                quotes, end = quotes + block.count(b'"'), block[-4:]
        if quotes % 2 == 0 or end.rstrip().endswith(b'"') or self.columns.count(last) > 1:
            return
        n, value = 0, ""
        with csv.open_csv(
            path, **_csv_options(self.delimiter, [last], {last: pa.string()})
        ) as reader:
            for batch in reader:
                if batch.num_rows:
                    n, value = n + batch.num_rows, batch.column(0)[-1].as_py() or ""
        if "\n" in value or "\r" in value:
            raise InputError(
                f"{path.name} must not end within quotes; those of column {last!r} in row {n - 1} "
                "are never closed, and take in all lines behind. Close them, or leave them out."
            )

    def _as_words(self) -> dict[str, Any]:
        import pyarrow as pa

        return {name: pa.string() for name in self.words if name is not None}

    def _named(self, table: Any, columns: Sequence[str], first: int) -> Any:
        """Names as those of Parquet: 1 for 1.0, and no fractions or times."""
        import pyarrow.compute as pc

        for name in set(columns) & set(self.words):
            values = table.column(name).unique()
            if len(wrong := values.filter(pc.match_substring_regex(values, _NO_NAME))):
                row = first + pc.index(table.column(name), wrong[0]).as_py()
                raise not_a_label(wrong[0].as_py(), row, f"column {name!r}{self.of}")
            for pattern, word in _NAMED.items():
                if pc.any(pc.match_substring_regex(values, pattern)).as_py():
                    column = pc.replace_substring_regex(table.column(name), pattern, word)
                    table = table.set_column(table.schema.get_field_index(name), name, column)
        return table


def _csv_options(
    delimiter: str, columns: Sequence[str] = (), types: dict[str, Any] | None = None
) -> dict[str, Any]:
    """How text is read, whole or in batches."""
    from pyarrow import csv

    nulls = [*csv.ConvertOptions().null_values, *_MORE_NULLS]
    return {
        "read_options": csv.ReadOptions(block_size=_CSV_BLOCK_BYTES),
        "parse_options": csv.ParseOptions(delimiter=delimiter, newlines_in_values=True),
        "convert_options": csv.ConvertOptions(
            include_columns=list(columns),
            column_types=types,
            null_values=nulls,
            strings_can_be_null=True,
        ),
    }


def _streaming_types(reader: Any) -> dict[str, Any]:
    """Widen the types of the first block, as a stream cannot go back when a later one differs."""
    import pyarrow as pa

    # Whole numbers may be followed by fractions, unless floats lack them; nothing by anything.
    wide = {pa.int64(): pa.float64(), pa.null(): pa.string()}
    types = {column.name: wide.get(column.type, column.type) for column in reader.schema}
    for batch in islice(reader, 1):
        for name, column in zip(batch.schema.names, batch.columns, strict=True):
            if column.type == pa.int64() and inexact(np.from_dlpack(column.drop_null())):
                types[name] = pa.int64()
    return types


def open_table(path: str | PathLike[str]) -> Table:
    r"""Open a CSV or Parquet file, or a directory of Parquet files, reading its column names only.

    In text, empty fields and the usual words for nothing (NA, NaN, null, None) are missing values.
    """
    path = checked_path(path).expanduser()
    if path.is_dir() and (files := data_set(path)):
        return _parquet_table(path, files)
    check_file(path)
    if first_bytes(path).startswith(PARQUET_MAGIC) or path.suffix.lower() in (".parquet", ".pq"):
        return _parquet_table(path, (path,))
    return _csv_table(path)


def _parquet_table(path: Path, paths: tuple[Path, ...]) -> Table:
    columns: tuple[str, ...] = ()
    n_rows = 0
    files = DataFile.all_of(paths)
    for place, file in enumerate(files):
        with _open_parquet(file) as part:
            names, held = tuple(part.schema_arrow.names), part.metadata.num_rows
        if place and set(names) != set(columns):
            raise InputError(
                f"all files of {path} must have the same columns; {file.path.name} has "
                f"{listing(names)}, and {files[0].path.name} {listing(columns)}. "
                "Move files of other tables elsewhere."
            )
        columns = columns or names
        n_rows += held
    return ParquetTable(path, columns, n_rows, files)


def _csv_table(path: Path) -> Table:
    import pyarrow as pa
    from pyarrow import csv

    files = DataFile.all_of([path])
    with files[0].opened(CsvTable.kind):
        with pa.input_stream(path, compression="detect") as stream:
            head = stream.read(1 << 16)
        check_text(head, path.name)
        header = head.partition(b"\n")[0].decode(errors="replace")
        # The separator is the one that the header has most of between its names.
        delimiter = max(_DELIMITERS, key=re.sub('"[^"]*"', "", header).count)
        with csv.open_csv(path, **_csv_options(delimiter)) as reader:
            return CsvTable(path, tuple(reader.schema.names), None, files, delimiter)


def read_scores(
    path: str | PathLike[str],
    *,
    label: str,
    score: str | Sequence[str],
    group: str | None = None,
    pos_label: Any = 1,
    from_logits: bool = False,
    weight: str | None = None,
) -> Scores:
    r"""Read binary scores of one or several classifiers from a CSV or Parquet file.

    Parameters
    ----------
    path : path-like
        The file; see `open_table`.
    label : str
        Column of the labels; an empty field is a missing label.
    score : str or sequence of str
        Column of each classifier's scores; classifiers are named after their columns.
    group : str, optional
        Column of the groups.
    pos_label : bool, int or str, default 1
        The label that the scores are the probability of.
    from_logits : bool, default False
        Whether the scores are logits.
    weight : str, optional
        Column of the sample weights; see `Scores`.

    Returns
    -------
    Scores
        Of all classifiers named.

    Raises
    ------
    InputError
        If the file cannot be read, a column is missing, or `Scores` refuses it. Rows count from 0.

    Examples
    --------
    >>> import tempfile, pathlib
    >>> from bayescal.core.tables import read_scores
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = pathlib.Path(folder, "scores.csv")
    ...     _ = path.write_text("y,vit\n1,0.75\n0,0.5\n,0.5\n")
    ...     read_scores(path, label="y", score="vit")
    <Scores: classifiers 'vit'; n_obs 3, n_labeled 2; classes 0, 1>
    """
    names = checked_scores(score)
    check_columns(names, label=label, group=group, weight=weight)
    how: Any = {"pos_label": pos_label, "from_logits": from_logits}
    table, scores = open_table(path), {name: [name] for name in names}
    return table_scores(table, scores, label, group, weight, **how)


def table_scores(
    table: Table,
    scores: Mapping[str, Sequence[str]],
    label: str | None,
    group: str | Column | None = None,
    weight: str | None = None,
    **how: Any,
) -> Scores:
    """Read scores of each classifier, from a column or one a class; without a label, none."""
    words = group if isinstance(group, str) else None
    names = [name for own in scores.values() for name in own]
    every = [name for name in (label, *names, words, weight) if name is not None]
    columns = table.with_words(words).read(every)
    labels = Column("no labels", [None] * len(columns[names[0]])) if label is None else label
    own: Any = {"group": group, "weight": weight, **how}
    return from_parts(collect_columns(columns, table.of, scores, labels, **own))
