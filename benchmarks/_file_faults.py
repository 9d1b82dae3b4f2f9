"""Files that change or are damaged while their rows are counted: numbers of the file, or none.

Real files of 50,000 rows, replaced, rewritten in place with their old times, cut, appended to or
removed at random moments of `count_rows`; and real files with page checksums, one bit of which is
flipped, half of them in what follows the pages.
"""

from __future__ import annotations

import os
import random
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from pyarrow import csv

import bayescal as bc

ROWS = 50_000
SCORE = np.random.default_rng(1).random(ROWS).round(6)
LABEL = (np.random.default_rng(2).random(ROWS) < SCORE).astype(np.int64)


def changes(trials: int) -> dict[str, dict[str, int]]:
    """Change files so many times, in each way as often; count whose numbers come back."""
    with tempfile.TemporaryDirectory() as folder:
        return {
            f"{kind}, {change.__name__}": changed(Path(folder), kind, change, trials // 10)
            for kind in ("parquet", "csv")
            for change in (replaced, rewritten, cut, appended, removed)
        }


def flips(number: int) -> dict[str, dict[str, int]]:
    """Flip so many bits, one at a time and as many of each kind of file."""
    with tempfile.TemporaryDirectory() as folder:
        return {
            name: flipped(Path(folder), number // 3, **settings)
            for name, settings in SETTINGS.items()
        }


def save(path: Path, label: np.ndarray, **settings: object) -> Path:
    table = pa.table({"y": label, "p": SCORE[: len(label)]})
    if path.suffix == ".csv":
        csv.write_csv(table, path)
    else:
        pq.write_table(table, path, row_group_size=20_000, **settings)
    return path


def counts(path: Path) -> bytes:
    found = bc.count_rows(path, label="y", score="p")["p"].bins
    fields = (found.edges, found.count, found.positives, found.mean_score)
    return b"".join(field.tobytes() for field in fields)


def replaced(path: Path, other: Path) -> None:
    os.replace(other, path)


def rewritten(path: Path, other: Path) -> None:
    before = path.stat()
    with path.open("r+b") as file:
        file.write(other.read_bytes())
    os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))


def cut(path: Path, other: Path) -> None:
    os.truncate(path, path.stat().st_size // 2)


def appended(path: Path, other: Path) -> None:
    with path.open("ab") as file:
        file.write(b"1,0.500000\n" * 1000)


def removed(path: Path, other: Path) -> None:
    path.unlink()


def changed(
    folder: Path, kind: str, change: Callable[[Path, Path], None], trials: int
) -> dict[str, int]:
    """Change a file at a random moment; count whose numbers came back."""
    path, other = folder / f"rows.{kind}", folder / f"other.{kind}"
    plain = {} if kind == "csv" else {"compression": "none", "use_dictionary": False}
    new = counts(save(other, 1 - LABEL, **plain))
    began = time.monotonic()
    old = counts(save(path, LABEL, **plain))
    duration, rng, found = time.monotonic() - began, random.Random(0), Counter[str]()
    for _ in range(trials):
        save(path, LABEL, **plain)
        save(other, 1 - LABEL, **plain)
        timer = threading.Timer(1.2 * duration * rng.random(), change, [path, other])
        timer.start()
        try:
            got = counts(path)
        except bc.InputError:
            found["refused"] += 1
        else:
            found["old" if got == old else "new" if got == new else "of neither"] += 1
        timer.join()
    return dict(found)


SETTINGS: dict[str, dict[str, object]] = {
    "snappy": {},
    "plain": {"compression": "none", "use_dictionary": False},
    "pages of version 2": {"data_page_version": "2.0"},
}


def flipped(folder: Path, number: int, **settings: object) -> dict[str, int]:
    """Flip one bit at a time."""
    path, rng, found = folder / "flipped.parquet", random.Random(1), Counter[str]()
    right = counts(save(path, LABEL, write_page_checksum=True, **settings))
    content = path.read_bytes()
    for trial in range(number):
        first = 0 if trial % 2 else len(content) - 8000
        place = rng.randrange(8 * first, 8 * len(content))
        damaged = bytearray(content)
        damaged[place // 8] ^= 1 << (place % 8)
        path.write_bytes(damaged)
        try:
            found["the same numbers" if counts(path) == right else "others"] += 1
        except bc.InputError:
            found["refused"] += 1
    return dict(found)
