"""What a command loads: nothing that it does not need, module by module."""

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


def loaded_by(*commands: list[object]) -> list[set[str]]:
    """Run commands in a process of their own; give the modules that are loaded after each."""
    code = (
        "import json, sys\n"
        "from bayescal.cli.main import main\n"
        "loaded = []\n"
        "for given in json.loads(sys.argv[1]):\n"
        "    sys.argv[1:] = given\n"
        "    assert main() in (0, 3)\n"
        "    loaded.append([name for name, module in sys.modules.items() if module is not None])\n"
        "print(json.dumps(loaded))"
    )
    given = json.dumps(commands, default=str)
    run = subprocess.run(
        [sys.executable, "-c", code, given], capture_output=True, text=True, check=True
    )
    return list(map(set, json.loads(run.stdout.splitlines()[-1])))


def test_help() -> None:
    needless = SAMPLING | RESULTS | NEVER | {"scipy", "pyarrow", "rich"}
    commands = ([], ["ece"], ["check"], ["report"], ["plan"], ["sensitivity", "ece"])
    assert loaded_by(*([*command, "--help"] for command in commands))[-1].isdisjoint(needless)


# Each needs what the former need, and more.
ECE = (
    (["--estimate-only"], SAMPLING | RESULTS | OTHERS | NEVER | {"scipy"}),
    (["--quick"], SAMPLING | RESULTS - {"xarray", "pandas"} | ARITHMETIC | OTHERS | NEVER),
    (
        ["--draws", 50, "--tune", 50],
        {"arviz", "matplotlib", "scipy.stats", "scipy.optimize"} | OTHERS | NEVER,
    ),
)


@pytest.mark.mcmc
def test_ece(files: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    given = ["ece", files / "scores.csv", "--label", "y", "--score", "bold"]
    found = loaded_by(*([*given, *map(str, options)] for options, _ in ECE))
    for loaded, (options, needless) in zip(found, ECE, strict=True):
        assert loaded & needless == set(), options
