"""Markdown tables of the SSME paper's benchmarks."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np
from numpy.typing import NDArray

type Floats = NDArray[np.float64]


def markdown(title: str, header: Sequence[str], rows: Iterable[Sequence[str]]) -> None:
    """Print a table; nothing if it has no rows."""
    lines = list(rows)
    if lines:
        print(f"\n**{title}**\n")
        for line in (header, ["---"] * len(header), *lines):
            print("| " + " | ".join(line) + " |")


def number(value: float, digits: int = 2) -> str:
    """A figure, or a dash where there is none."""
    return f"{value:.{digits}f}" if np.isfinite(value) else "-"


def with_error(values: Floats) -> str:
    """Mean and standard error over splits."""
    held = values[np.isfinite(values)]
    if not held.size:
        return "-"
    return f"{held.mean():.2f} ± {standard_error(held):.2f}"


def standard_error(values: Floats) -> float:
    """Standard error of the mean; nan of a single number."""
    return float(values.std(ddof=1) / np.sqrt(len(values))) if len(values) > 1 else np.nan
