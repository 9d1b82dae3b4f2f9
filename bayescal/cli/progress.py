"""How far a fit is: shown on a terminal, silent where nobody looks."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from bayescal.cli.errors import one_line

Update = Callable[[str, int, int], None]
"""Called with what was finished last, how many are finished, and of how many."""


@contextmanager
def progress(what: str) -> Iterator[Update | None]:
    """Show a bar on stderr while the block runs."""
    if not sys.stderr.isatty():
        yield None
        return

    from rich.console import Console
    from rich.markup import escape
    from rich.progress import (
        BarColumn,
        MofNCompleteColumn,
        Progress,
        SpinnerColumn,
        TextColumn,
        TimeElapsedColumn,
    )

    columns = (
        SpinnerColumn(),
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
    )
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task(what, total=None)

        def update(label: str, done: int, total: int) -> None:
            description = f"{what}: {escape(one_line(label))}" if label else what
            bar.update(task, description=description, completed=done, total=total)

        yield update
