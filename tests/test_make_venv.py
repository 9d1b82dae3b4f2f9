"""What `make` says on a machine without a Python that will do."""

import os
import shutil
import stat
import subprocess
from pathlib import Path

import pytest

SCRIPT = Path(__file__).parents[1] / "scripts" / "make-venv"


def make_venv(tmp_path: Path, candidates: dict[str, str]) -> subprocess.CompletedProcess[str]:
    """Run the script where only these candidates (name: shell script) can be found."""
    bin_ = tmp_path / "bin"
    bin_.mkdir()
    for tool in ("cat", "rm"):
        (bin_ / tool).symlink_to(shutil.which(tool) or tool)
    for name, body in candidates.items():
        (bin_ / name).write_text(f"#!/bin/sh\n{body}\n", encoding="utf-8")
        (bin_ / name).chmod(stat.S_IRWXU)
    return subprocess.run(
        ["/bin/sh", str(SCRIPT), str(tmp_path / "venv")],
        env={"PATH": str(bin_), "HOME": os.environ.get("HOME", "/")},
        capture_output=True,
        text=True,
        check=False,
    )


@pytest.mark.parametrize(
    "candidates",
    [
        {},
        {"python3": "exit 1"},  # an older Python answers the question with 1
        {"python3.12": "echo 'pyenv: python3.12: command not found' >&2; exit 127"},
    ],
    ids=["none", "too old", "a shim that does not run"],
)
def test_without_a_usable_python_it_says_what_to_do(tmp_path, candidates) -> None:
    run = make_venv(tmp_path, candidates)
    assert run.returncode == 1
    assert run.stderr.startswith("bayescal needs Python 3.12 or newer; none was found.")
    assert "then run make again" in run.stderr
    assert "pyenv: python3.12" not in run.stderr
    assert not (tmp_path / "venv").exists()


def test_a_shim_that_does_not_run_does_not_hide_a_python_that_does(tmp_path) -> None:
    made = tmp_path / "made"
    answer = f'case "$1" in -m) echo "$@" > {made};; esac'
    run = make_venv(tmp_path, {"python3.12": "exit 127", "python3": answer})
    assert run.returncode == 0, run.stderr
    assert made.read_text(encoding="utf-8") == f"-m venv {tmp_path / 'venv'}\n"


def test_a_python_without_venv_is_told_apart(tmp_path) -> None:
    run = make_venv(tmp_path, {"python3": 'case "$1" in -m) exit 1;; *) exit 0;; esac'})
    assert run.returncode == 1
    assert "apt install python3-venv" in run.stderr
