"""Standard input, "-", as a file of rows, which is kept until the command ends."""

from __future__ import annotations

import shutil
import sys
from contextlib import ExitStack
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Final

import click

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
        folder = self.enter_context(TemporaryDirectory(prefix="bayescal-"))
        self.callback(setattr, self, "path", None)
        self.path = Path(folder, _NAME)
        with self.path.open("wb") as file:
            shutil.copyfileobj(sys.stdin.buffer, file)
        return self.path


KEPT: Final = _Kept()


class _Rows(click.Path):
    """A path of rows, of which one may be "-"."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        return KEPT.copied() if value == DASH else super().convert(value, param, ctx)


ROWS: Final = _Rows(path_type=Path)


def as_given(value: Any) -> Any:
    """A path as it was given, "-" for standard input."""
    return DASH if isinstance(value, Path) and value.name == _NAME else value
