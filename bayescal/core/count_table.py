"""Counts of several classifiers, and of groups of their rows; and the files of counts."""

from __future__ import annotations

import hashlib
import io
import json
import os
from collections.abc import Callable, Iterator, Mapping
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import numpy as np
from numpy.typing import NDArray

from bayescal.core.binning import Binning
from bayescal.core.checks import check_call, check_is, check_known, listing, shown
from bayescal.core.columns import Label, arrow_to_numpy
from bayescal.core.counts_sql import WHOLE
from bayescal.core.errors import DataWarning, InputError, warn_caller
from bayescal.core.intake import binary_classes, by_number, check_classifiers, position, same_label
from bayescal.core.scores import Task
from bayescal.core.shown import Showing, Shown
from bayescal.core.sums import ONE, PER_LOGIT, ZERO, SharedCounts, joined, units_of
from bayescal.core.tables import PARQUET_MAGIC
from bayescal.core.writing import check_writable, checked_path, write_bytes

if TYPE_CHECKING:
    from bayescal.core.counts import Counts


_NUMBERS: Final = ("Rows", "Labelled", "Positive")


class CountTable(Mapping[str, "Counts"], Showing):
    """Counts by classifier, and by group where rows have one; tables of parts add up.

    A mapping of each classifier to the counts of all its rows.

    Parameters
    ----------
    parts : mapping of str to Counts, or of str to mapping of str to Counts
        Counts by classifier, or by classifier and group.
    pairs : SharedCounts, optional
        Rows of all classifiers counted together, by which they are compared; made by `count_rows`
        and `Counts.from_scores`.

    Attributes
    ----------
    groups : tuple of str
        Names of the groups, sorted; empty without groups.

    Raises
    ------
    InputError
        If there are none, some have groups and others none, or labels or weights do not fit.

    Notes
    -----
    The counts of each classifier say nothing of which rows are whose, so that classifiers are
    compared as if on rows of their own: labels that by chance flatter both count against either.
    With `pairs` the posteriors are coupled as those of rows are.

    Examples
    --------
    >>> import bayescal as bc
    >>> north, south = (bc.Counts.from_arrays([0, 1], [p, 0.9]) for p in (0.1, 0.2))
    >>> table = bc.CountTable({"vit": {"north": north, "south": south}})
    >>> table
    <CountTable: classifiers 'vit'; groups 'north', 'south'; n_obs 4>
    >>> (table + table)["vit"].n_obs
    8
    """

    def __init__(
        self,
        parts: Mapping[str, Counts] | Mapping[str, Mapping[str, Counts]],
        pairs: SharedCounts | None = None,
    ) -> None:
        check_is(parts, Mapping, "parts", "Pass counts by classifier.")
        self._parts = {name: _by_group(name, found) for name, found in parts.items()}
        every = [one for own in self._parts.values() for one in own.values()]
        if not every or not all(self._parts.values()):
            raise InputError("parts must hold counts; got none. Count some rows.")
        labels = list[Label]()
        for one in every:
            check_alike("counts of a table", every[0], one)
            labels += [label for label in one.labels if position(label, labels) is None]
        binary_classes(labels, every[0].pos_label, "the table of counts")
        names = {group for own in self._parts.values() for group in own}
        check_classifiers(self._parts, names)
        if WHOLE in names and len(names) > 1:
            raise InputError(
                "counts of a table must all have groups, or none; got some of both. "
                "Leave the groups out, or count all by group."
            )
        self.groups = tuple(sorted(names - {WHOLE}, key=by_number))
        if pairs is not None:
            check_is(pairs, SharedCounts, "pairs", "Leave it out.")
            if set(pairs.classifiers) != set(self._parts):
                raise InputError(
                    f"pairs must be of the classifiers {listing(self._parts)}; got "
                    f"{listing(pairs.classifiers)}. Count the same scores."
                )
        self.pairs = pairs
        self._sums: dict[str, Counts] = {}

    def __getitem__(self, classifier: str) -> Counts:
        """Counts of all rows of a classifier."""
        if classifier not in self._sums:
            parts = self._parts[classifier].values()
            self._sums[classifier] = joined(parts, lambda one, other: one + other)
        return self._sums[classifier]

    def __iter__(self) -> Iterator[str]:
        """Names of the classifiers."""
        return iter(self._parts)

    def __len__(self) -> int:
        """Number of classifiers."""
        return len(self._parts)

    # Those of a mapping would leave groups and pairs out.
    __eq__, __hash__ = object.__eq__, object.__hash__

    @property
    def n_obs(self) -> int:
        """Number of rows of the classifier with the most; rows of weight 0 do not count."""
        return max(counts.n_obs for counts in self.values())

    def each(self, change: Callable[[Counts], Counts]) -> CountTable:
        """Change the counts of each classifier and group.

        Parameters
        ----------
        change : callable
            Takes and returns counts.

        Returns
        -------
        CountTable
            Of what it returns.

        Raises
        ------
        InputError
            If it is no function, or returns no counts.
        """
        check_call(change, "change", needed=True)
        return CountTable(
            {
                name: {group: change(counts) for group, counts in own.items()}
                for name, own in self._parts.items()
            },
            self.pairs,
        )

    def shared_tasks(self) -> list[Task]:
        """Make rows of all classifiers that stand for those counted together.

        Returns
        -------
        list of Task
            One a classifier, on the same rows; none where rows were not counted together.
        """
        if self.pairs is None:
            return []
        tasks = {task.coords["classifier"]: task for task in self.pairs.tasks(self)}
        return [tasks[name] for name in self]

    def groups_of(self, classifier: str) -> dict[str, Counts]:
        """Take the counts of a classifier by group.

        Parameters
        ----------
        classifier : str
            Its name.

        Returns
        -------
        dict of str to Counts
            Of each group that it has rows of.

        Raises
        ------
        InputError
            If there is no such classifier, or there are no groups.
        """
        check_known(classifier, tuple(self._parts), "classifier", "the table of counts")
        if not self.groups:
            raise InputError("groups_of() needs groups; got none. Count the rows by group.")
        own = self._parts[classifier]
        return {group: own[group] for group in self.groups if group in own}

    def by_group(self) -> dict[str, CountTable]:
        """Split the counts by their groups, as `bayescal.fit_many` takes them.

        Returns
        -------
        dict of str to CountTable
            The counts of each group, without groups.

        Raises
        ------
        InputError
            If there are no groups.
        """
        if not self.groups:
            raise InputError("by_group() needs groups; got none. Count the rows by group.")
        return {
            group: CountTable(
                {name: own[group] for name, own in self._parts.items() if group in own}
            )
            for group in self.groups
        }

    def save(self, path: str | os.PathLike[str]) -> Path:
        """Write the counts to a file, which `Counts.load` reads.

        Parameters
        ----------
        path : path
            The file; an existing one is replaced once the new one is complete.

        Returns
        -------
        pathlib.Path
            Where the counts are.

        Raises
        ------
        OutputError
            If the file cannot be written.
        """
        return write_counts(path, self._parts, self.pairs, table=True)

    def __add__(self, other: CountTable) -> CountTable:
        """Count the rows of both, by classifier and group."""
        check_is(other, CountTable, "what is added to a table of counts", "Make it a CountTable.")
        pairs = None
        if self.pairs is not None and other.pairs is not None:
            pairs = self.pairs.plus(other.pairs)
        elif self.pairs is not None or other.pairs is not None:
            raise InputError(
                "tables of counts that add up must both have pairs, or none; got one with and one "
                "without. Count both alike, or make CountTable(dict(table)) of the former."
            )
        parts = {name: dict(own) for name, own in self._parts.items()}
        for name, own in other._parts.items():
            held = parts.setdefault(name, {})
            for group, one in own.items():
                held[group] = held[group] + one if group in held else one
        return CountTable(parts, pairs)

    def __radd__(self, other: Any) -> CountTable:
        """Begin with 0, as the built-in `sum` does."""
        return self if isinstance(other, int) and other == 0 else self + other

    def _content_(self) -> tuple[Any, ...]:
        """All that it is made of, of which the items are sums, however it was added up."""
        return {name: dict(sorted(own.items())) for name, own in self._parts.items()}, self.pairs

    def _show_(self) -> Shown:
        parts = [
            ((name, group) if self.groups else (name,), counts)
            for name, own in self._parts.items()
            for group, counts in own.items()
        ]
        return Shown(
            lead=[] if self.pairs is None else ["Rows of all classifiers are counted together."],
            columns=("Classifier", *(["Group"] if self.groups else []), *_NUMBERS),
            rows=[
                (*names, *(f"{n:,}" for n in (one.n_obs, one.n_labeled, one.positives.sum())))
                for names, one in parts
            ],
        )

    def __repr__(self) -> str:
        """Name classifiers and groups."""
        groups = f"; groups {listing(self.groups)}" if self.groups else ""
        return f"<CountTable: classifiers {listing(self)}{groups}; n_obs {self.n_obs}>"


def without_groups(counts: Mapping[str, Any], quantity: str) -> Mapping[str, Any]:
    """Add up counts of groups, which a quantity does not have, and say so."""
    groups = getattr(counts, "groups", ())
    if not groups:
        return counts
    warn_caller(
        f"{quantity} has no groups: the counts of {listing(groups)} are added up. Take one of "
        "them alone for its own result.",
        DataWarning,
    )
    return CountTable(dict(counts), getattr(counts, "pairs", None))


def check_alike(what: str, *counts: Counts) -> None:
    """Check that two counts are of the same positive label, and both have weights or none."""
    one, other = counts
    # On the command line a label is a word.
    if not same_label(one.pos_label, other.pos_label) or one.weighted != other.weighted:
        kinds = ("with weights" if own.weighted else "without" for own in counts)
        raise InputError(
            f"{what} must have the same pos_label, and both have weights or none; got "
            f"{one.pos_label!r} and {other.pos_label!r}, {' and '.join(kinds)}. Count both alike."
        )


def _by_group(name: object, found: Any) -> dict[str, Counts]:
    own = found if isinstance(found, Mapping) else {WHOLE: found}
    for group, counts in own.items():
        if not hasattr(counts, "sums"):
            raise InputError(
                f"parts[{name!r}] must be Counts; got {type(counts).__name__}. Count rows with "
                "Counts.from_arrays."
            )
        check_is(group, str, f"a group of parts[{name!r}]", "Name it by a word.")
    check_is(name, str, "a classifier", "Name it by a word.")
    return dict(own)


type Parts[Part] = Mapping[str, Mapping[str, Part]]
"""By classifier and group."""
type Fields = tuple[Any, ...]
"""Those of `Counts`, in their order."""
type Read = tuple[dict[str, dict[str, Fields]], SharedCounts | None, bool]
"""Fields by classifier and group, pairs, and whether it is a table."""

VERSION: Final = 1
# What cells are, and what scores are summed up in.
_GRID: Final = {
    "per_logit": PER_LOGIT,
    "zero": ZERO,
    "one": ONE,
    "unit": float(units_of(np.zeros(1, np.int64))[0]),
}
_HEADER: Final = b"bayescal counts"
# Behind it the checksum of the file's bytes, which have zeros in the place of the checksum.
_MARK: Final = b"bayescal sha256:"
_ZEROS: Final = b"0" * 64
_COLUMNS: Final = ("cell", "rows", "positives", "unlabeled", "score_excess")
_WEIGHTS: Final = ("negative_weight", "positive_weight", "weight_squares")
# Two thirds of the bytes of the encodings that Arrow chooses.
_WRITTEN: Final[Mapping[str, Any]] = {
    "compression": "zstd",
    "use_dictionary": ["rows", "positives", "unlabeled"],
    "column_encoding": {"cell": "DELTA_BINARY_PACKED", "score_excess": "BYTE_STREAM_SPLIT"},
}
_KEPT: Final = ("labels", "pos_label", "n_read", "n_cells")


def write_counts(
    path: str | os.PathLike[str], parts: Parts[Counts], pairs: SharedCounts | None, *, table: bool
) -> Path:
    """Write counts, of a table or alone; behind their cells come the combinations of pairs."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    target = check_writable(path)
    every = [(name, group, one) for name, own in parts.items() for group, one in own.items()]
    columns = [_columns(one) for *_, one in every]
    if pairs is not None:
        own = {"cell": pairs.key, "rows": pairs.rows, "positives": pairs.rows * pairs.label}
        blank = {name: np.zeros(len(pairs.key), like.dtype) for name, like in columns[0].items()}
        columns.append(blank | own)
    held = {name: np.concatenate([own[name] for own in columns]) for name in columns[0]}
    header = {
        "version": VERSION,
        "grid": _GRID,
        "table": table,
        "parts": [_part(*part) for part in every],
        "pairs": None
        if pairs is None
        else {"classifiers": pairs.classifiers, "shift": pairs.shift},
    }
    words = pa.table({name: pa.array(values) for name, values in held.items()})
    buffer = io.BytesIO()
    with pq.ParquetWriter(buffer, words.schema, **_WRITTEN) as writer:
        writer.write_table(words)
        writer.add_key_value_metadata({_HEADER: json.dumps(header), "checksum": _MARK + _ZEROS})
    content = buffer.getvalue()
    before, after = _around(content)
    write_bytes(target, before, _checksum(content), after)
    return target


def read_counts(path: str | os.PathLike[str]) -> Read:
    """Read the fields of counts from a file that is as it was written."""
    source = checked_path(path)
    if not source.is_file():
        raise InputError(f"counts must be a file; there is none at {source}. Check the path.")
    content = source.read_bytes()
    if not content.startswith(PARQUET_MAGIC) or _MARK not in content:
        raise InputError(
            f"{source} must be a file that save of counts wrote, whole; it is none. Count the rows "
            "of a table with bayescal.count_rows."
        )
    before, after = _around(content)
    if before + _checksum(before + _ZEROS + after) + after != content:
        raise InputError(
            f"{source} must be as it was written; its checksum is another one. Save the counts "
            "again."
        )
    return _parsed(content, source)


def _around(content: bytes) -> tuple[bytes, bytes]:
    """What comes before and after the checksum."""
    place = content.rindex(_MARK) + len(_MARK)
    return content[:place], content[place + len(_ZEROS) :]


def _checksum(content: bytes) -> bytes:
    return hashlib.sha256(content).hexdigest().encode()


def _columns(counts: Counts) -> dict[str, NDArray[Any]]:
    """What of counts is by cell."""
    values = (counts.cell, counts.rows, counts.positives, counts.unlabeled, counts.sums[3])
    found = dict(zip(_COLUMNS, values, strict=True))
    return found | dict(zip(_WEIGHTS, counts.weights, strict=False))


def _part(classifier: str, group: str, counts: Counts) -> dict[str, Any]:
    """What of counts is not."""
    kept = {name: getattr(counts, name) for name in _KEPT}
    binning, cells = asdict(counts.binning), len(counts.cell)
    return {"classifier": classifier, "group": group, "cells": cells, "binning": binning, **kept}


def _parsed(content: bytes, source: Path) -> Read:
    import pyarrow.parquet as pq

    with pq.ParquetFile(io.BytesIO(content)) as file:
        header = json.loads(file.metadata.metadata[_HEADER])
        for name, ours in (("version", VERSION), ("grid", _GRID)):
            if header[name] != ours:
                raise InputError(
                    f"{source} must hold counts of the {name} {ours}; got {shown(header[name])}. "
                    "Count the rows again, or read the file with the bayescal that wrote it."
                )
        table = file.read()
    columns = {name: arrow_to_numpy(table.column(name)) for name in table.column_names}
    found: dict[str, dict[str, Fields]] = {}
    first = 0
    for part in header["parts"]:
        rows = slice(first, first := first + part["cells"])
        own = {name: values[rows] for name, values in columns.items()}
        found.setdefault(part["classifier"], {})[part["group"]] = _fields(own, part)
    pairs = None
    if header["pairs"] is not None:
        names, shift = tuple(header["pairs"]["classifiers"]), header["pairs"]["shift"]
        pairs = SharedCounts(names, shift, columns["cell"][first:], columns["rows"][first:])
    return found, pairs, header["table"]


def _fields(columns: Mapping[str, NDArray[Any]], part: Mapping[str, Any]) -> Fields:
    cell, rows, positives, unlabeled, excess = (columns[name] for name in _COLUMNS)
    weights = [columns[name] for name in _WEIGHTS if name in columns]
    return (
        cell,
        np.stack([rows - positives, positives, unlabeled, excess]),
        np.stack(weights) if weights else np.zeros((0, len(cell))),
        tuple(part["labels"]),
        part["pos_label"],
        part["n_read"],
        Binning(**part["binning"]),
        part["n_cells"],
    )
