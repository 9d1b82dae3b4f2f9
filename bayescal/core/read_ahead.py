"""Read the next part of a table while the one before is worked on."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

_END: Final = object()


def read_ahead[Part](parts: Iterator[Part]) -> Iterator[Part]:
    """Take each part in another thread, as soon as the one before it is handed out."""
    from concurrent.futures import ThreadPoolExecutor

    with ThreadPoolExecutor(1) as pool:
        coming = pool.submit(next, parts, _END)
        while (part := coming.result()) is not _END:
            coming = pool.submit(next, parts, _END)
            yield part  # type: ignore[misc]  # the end is no part
