"""Standard input, "-", as a file of rows: kept in one until the command ends."""

from __future__ import annotations

import shutil
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Final

import click

from bayescal.core.errors import InputError

DASH: Final = "-"
_NAME: Final = "standard input"
_ONCE: Final = "bayescal.standard_input"


class _Rows(click.Path):
    """A path of rows, of which one may be "-"."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        if value != DASH or ctx is None:
            return super().convert(value, param, ctx)
        if _ONCE in ctx.meta:
            raise InputError(f"{DASH} can be given once, as {_NAME} can be read once. Name a file.")
        ctx.meta[_ONCE] = True
        copy = Path(ctx.with_resource(TemporaryDirectory(prefix="bayescal-")), _NAME)
        with copy.open("wb") as file:
            shutil.copyfileobj(click.get_binary_stream("stdin"), file)
        return copy


ROWS: Final = _Rows(path_type=Path)


def as_given(value: Any) -> Any:
    """A path as it was given, "-" for standard input."""
    return DASH if isinstance(value, Path) and value.name == _NAME else value
