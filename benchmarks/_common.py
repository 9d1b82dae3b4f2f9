"""What every benchmark prints beside its numbers: the machine, its load, and a table."""

from __future__ import annotations

import argparse
import os
import platform
from collections.abc import Callable, Sequence
from importlib.metadata import version
from pathlib import Path
from time import perf_counter, process_time
from typing import Final, NamedTuple

STATIC: Final = Path(__file__).parents[1] / "docs" / "_static"
"""Pictures of the documentation."""


def processor() -> str:
    """Name of the processor, where the system has it."""
    info = Path("/proc/cpuinfo")
    if info.exists():
        for line in info.read_text().splitlines():
            if line.startswith("model name"):
                return line.split(":", 1)[1].strip()
    return platform.processor() or platform.machine()


def print_machine(*packages: str) -> None:
    """Print processor, cores, load and versions: a time means nothing without them."""
    load = ", ".join(f"{value:.1f}" for value in os.getloadavg())
    versions = ", ".join(f"{name} {version(name)}" for name in ("numpy", *packages))
    print(f"{processor()}, {os.cpu_count()} cores, load {load} (1, 5, 15 min)")
    print(f"Python {platform.python_version()}, {versions}")


def print_table(title: str, header: Sequence[str], rows: Sequence[Sequence[object]]) -> None:
    """Print rows under a title; numbers to the right, words to the left."""
    cells = [[_text(value) for value in row] for row in rows]
    widths = [max(len(line[i]) for line in [list(header), *cells]) for i in range(len(header))]
    numeric = [all(isinstance(row[i], int | float) for row in rows) for i in range(len(header))]

    def line(values: Sequence[str]) -> str:
        return "  ".join(
            value.rjust(width) if right else value.ljust(width)
            for value, width, right in zip(values, widths, numeric, strict=True)
        ).rstrip()

    print(f"\n{title}\n{'-' * len(title)}")
    print(line(header))
    for row in cells:
        print(line(row))


def _text(value: object) -> str:
    return f"{value:.4g}" if isinstance(value, float) else str(value)


class Timing(NamedTuple):
    """Seconds by the clock, and seconds that this process had a core."""

    wall: float
    cpu: float


def time_best(task: Callable[[], object], repeat: int = 1) -> Timing:
    """Time a task; the best of several runs, as noise only ever adds."""
    times = []
    for _ in range(repeat):
        wall, cpu = perf_counter(), process_time()
        task()
        times.append(Timing(perf_counter() - wall, process_time() - cpu))
    return Timing(min(t.wall for t in times), min(t.cpu for t in times))


def raw_parser(description: str | None) -> argparse.ArgumentParser:
    """A parser of arguments whose help shows the description line by line."""
    kind = argparse.RawTextHelpFormatter
    return argparse.ArgumentParser(description=description, formatter_class=kind)
