"""Files of counts: Parquet with a header and a checksum of every byte."""

from __future__ import annotations

import hashlib
import io
import json
import os
from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import numpy as np
from numpy.typing import NDArray

from bayescal.core.bins.binning import Binning
from bayescal.core.cell_sums import ONE, PER_LOGIT, ZERO, SharedCounts, units_of
from bayescal.core.checks import shown
from bayescal.core.columns import arrow_to_numpy
from bayescal.core.errors import InputError
from bayescal.core.tables import PARQUET_MAGIC
from bayescal.core.writing import check_writable, checked_path, write_bytes

if TYPE_CHECKING:
    from bayescal.core.counts import Counts

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
        columns.append(_combinations(pairs, columns[0]))
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


def _combinations(pairs: SharedCounts, like: Mapping[str, NDArray[Any]]) -> dict[str, NDArray[Any]]:
    """Pairs in the columns of counts."""
    blank = {name: np.zeros(len(pairs.key), values.dtype) for name, values in like.items()}
    return blank | {"cell": pairs.key, "rows": pairs.rows, "positives": pairs.rows * pairs.label}


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
