"""Ctrl-C while classifiers are being fitted, in a process of its own."""

import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from pyarrow import parquet

import bayescal as bc

NAMES = [f"model{number}" for number in range(60)]


@pytest.fixture
def command(tmp_path: Path) -> list[str]:
    rng = np.random.default_rng(0)
    truth = rng.random(500)
    columns = {"y": (rng.random(500) < truth).astype(int)}
    columns |= {name: 0.9 * truth + 0.1 * rng.random(500) for name in NAMES}
    parquet.write_table(pa.table(columns), tmp_path / "many.parquet")
    scores = [part for name in NAMES for part in ("--score", name)]
    file, output = str(tmp_path / "many.parquet"), str(tmp_path / "result.nc")
    base = [sys.executable, "-m", "bayescal", "ece", file, "--label", "y", "--quick"]
    return [*base, *scores, "-o", output]


@pytest.mark.mcmc
# preexec_fn forks; JAX, where another test has loaded it, warns of that.
@pytest.mark.filterwarnings("ignore:os.fork:RuntimeWarning")
def test_ctrl_c_keeps_what_is_finished_and_the_same_command_goes_on(command, tmp_path) -> None:
    kept = tmp_path / "result.nc.partial"
    # A shell's background jobs, and so their children, ignore Ctrl-C; here nobody is to.
    process = subprocess.Popen(
        command,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
    )
    try:
        deadline = time.monotonic() + 120
        while not list(kept.glob("cases/*.npz")) and process.poll() is None:
            assert time.monotonic() < deadline
            time.sleep(0.02)
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=60)
    finally:
        process.kill()
    assert process.returncode == 130, err
    assert out == ""
    assert err.startswith("bayescal: interrupted; finished results (")
    assert str(kept) in err
    assert err.count("\n") == 1
    assert not (tmp_path / "result.nc").exists()
    finished = len(list(kept.glob("cases/*.npz")))
    assert 0 < finished < len(NAMES)

    again = subprocess.run(command, capture_output=True, text=True, check=False)
    assert again.returncode == 0, again.stderr
    assert not kept.exists()
    assert bc.load(tmp_path / "result.nc").posterior.sizes["classifier"] == len(NAMES)
