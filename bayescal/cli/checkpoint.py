"""Where the results of finished classifiers wait while the others are fitted."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from bayescal.cli.errors import Interrupted


@contextmanager
def checkpoint(chosen: Path | None, output: Path | None) -> Iterator[Path]:
    """Keep finished results over Ctrl-C; clear them away once all is done."""
    directory = chosen or _beside(output)
    try:
        yield directory
    except KeyboardInterrupt as interrupt:
        finished = list(directory.glob("*.npz"))
        if not finished:
            _clear(directory)
            raise Interrupted("interrupted before the first result was finished") from interrupt
        repeats = output is not None or chosen is not None
        raise Interrupted(
            f"interrupted; finished results ({len(finished)}) are in {directory.resolve()}. "
            + ("The same command goes" if repeats else f"Add --checkpoint {directory} to go")
            + " on from there."
        ) from interrupt
    if chosen is None:
        _clear(directory)


def _beside(output: Path | None) -> Path:
    if output is None:
        return Path(tempfile.mkdtemp(prefix="bayescal-"))
    return output.with_name(output.name + ".partial")


def _clear(directory: Path) -> None:
    """Remove the results, and the directory unless it holds something else."""
    for path in directory.glob("*.npz"):
        path.unlink()
    if directory.is_dir() and not any(directory.iterdir()):
        directory.rmdir()
