"""What a command loads: nothing that it does not need, module by module."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from bayescal.quantities import OWN

SAMPLING = {"pymc", "pytensor", "nutpie", "numba", "arviz", "arviz_base", "arviz_stats"}
RESULTS = {"xarray", "pandas", "h5py", "jinja2", "matplotlib"}
ARITHMETIC = {"scipy.interpolate", "scipy.optimize", "scipy.signal", "scipy.stats"}
NEVER = {"dask", "jax", "polars", "sklearn", "torch"}
OTHERS = {f"bayescal.quantities.{name}" for name in OWN if name != "ece"}


def loaded_by(*arguments: object) -> set[str]:
    """Run a command in a process of its own; give the modules that it left loaded."""
    code = (
        "import json, sys\n"
        "from bayescal.cli.main import main\n"
        "assert main() == 0\n"
        "print(json.dumps([name for name, module in sys.modules.items() if module is not None]))"
    )
    run = subprocess.run(
        [sys.executable, "-c", code, *map(str, arguments)],
        capture_output=True,
        text=True,
        check=True,
    )
    return set(json.loads(run.stdout.splitlines()[-1]))


@pytest.mark.slow
@pytest.mark.parametrize(
    "command", [(), ("ece",), ("check",), ("report",), ("plan",), ("sensitivity", "ece")]
)
def test_help(command: tuple[str, ...]) -> None:
    needless = SAMPLING | RESULTS | NEVER | {"scipy", "pyarrow", "rich"}
    assert loaded_by(*command, "--help").isdisjoint(needless)


@pytest.mark.mcmc
@pytest.mark.parametrize(
    ("options", "needless"),
    [
        (["--estimate-only"], SAMPLING | RESULTS | OTHERS | NEVER | {"scipy"}),
        (["--quick"], SAMPLING | RESULTS - {"xarray", "pandas"} | ARITHMETIC | OTHERS | NEVER),
        ([], {"arviz", "matplotlib", "scipy.stats", "scipy.optimize"} | OTHERS | NEVER),
    ],
)
def test_ece(
    options: list[str],
    needless: set[str],
    files: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.chdir(tmp_path)
    given = ["ece", files / "scores.csv", "--label", "y", "--score", "bold", *options]
    assert loaded_by(*given) & needless == set()
