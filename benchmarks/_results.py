"""Figures of the long benchmarks on disk, with what is needed to judge and repeat them."""

from __future__ import annotations

import json
import os
import platform
import subprocess
import sys
from datetime import UTC, datetime
from functools import cache
from hashlib import sha256
from importlib.metadata import version
from pathlib import Path
from typing import Any

from _common import processor

import bayescal as bc

RESULTS = Path(__file__).parent / "results"


def write(name: str, **content: Any) -> None:
    """Write figures as JSON, whole or not at all, with machine, load, command and date."""
    RESULTS.mkdir(exist_ok=True)
    path = RESULTS / f"{name}.json"
    # Of this process, as others may write too.
    partial = path.with_suffix(f".{os.getpid()}.part")
    partial.write_text(json.dumps({"provenance": provenance()} | content, indent=None) + "\n")
    partial.replace(path)


def read(name: str) -> dict[str, Any]:
    """Read figures."""
    content: dict[str, Any] = json.loads((RESULTS / f"{name}.json").read_text())
    return content


def begun(name: str, **settings: Any) -> dict[str, Any]:
    """Read figures that a run of this source, under the same settings, has begun; else none."""
    if not (RESULTS / f"{name}.json").exists():
        return {}
    content = read(name)
    same = content["provenance"].get("source") == source()
    same &= all(content.get(key) == value for key, value in settings.items())
    return content if same else {}


@cache
def source() -> str:
    """Digest of the package's source: figures of another are not gone on with."""
    digest = sha256()
    package = Path(bc.__file__).parent
    for path in sorted(package.rglob("*.py")):
        digest.update(path.read_bytes())
    return digest.hexdigest()[:12]


def commit() -> str:
    """Give the commit of the source; "unknown" outside a clone."""
    git = ["git", "-C", Path(__file__).parent, "rev-parse", "--short", "HEAD"]
    found = subprocess.run(git, capture_output=True, text=True, check=False)
    return found.stdout.strip() or "unknown"


def provenance() -> dict[str, str]:
    """Say where and how figures were made."""
    packages = ("numpy", "scipy", "pymc", "nutpie")
    # Where somebody keeps the data is nobody else's business.
    arguments = [Path(given).name if Path(given).is_absolute() else given for given in sys.argv[1:]]
    return {
        "command": " ".join(["python", f"benchmarks/{Path(sys.argv[0]).name}", *arguments]),
        "commit": commit(),
        "source": source(),
        "date": datetime.now(UTC).strftime("%Y-%m-%d"),
        "machine": f"{processor()}, {os.cpu_count()} cores",
        "load": ", ".join(f"{value:.1f}" for value in os.getloadavg()),
        "versions": ", ".join(
            [
                f"Python {platform.python_version()}",
                *(f"{name} {version(name)}" for name in packages),
            ]
        ),
    }


def print_provenance(content: dict[str, Any]) -> None:
    """Print where and how figures were made."""
    for name, value in content["provenance"].items():
        print(f"{name}: {value}")
