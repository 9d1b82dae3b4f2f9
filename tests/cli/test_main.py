"""The command itself, in a process of its own where that matters."""

import subprocess
import sys

import pytest
from click.testing import CliRunner

import bayescal
from bayescal.cli.main import cli, main

ECE = ["ece", "no-such-file.csv", "--label", "y", "--score", "p"]


def test_without_a_subcommand_it_prints_help() -> None:
    result = CliRunner().invoke(cli, [])
    assert result.exit_code == 0
    for name in ("ece", "report", "demo", "cite"):
        assert f"\n  {name} " in result.stdout


@pytest.mark.parametrize("name", ["ece", "report", "demo", "cite"])
def test_every_subcommand_has_help(name: str) -> None:
    result = CliRunner().invoke(cli, [name, "-h"])
    assert result.exit_code == 0
    assert f"Usage: bayescal {name}" in result.stdout


def test_version() -> None:
    result = CliRunner().invoke(cli, ["--version"])
    assert result.stdout == f"bayescal {bayescal.__version__}\n"


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["repotr"], "No such command 'repotr'"),
        (["ece", "a.csv", "--labl", "y"], "--labl"),
        (["ece", "a.csv", "--label", "y"], "Missing option '--score'"),
        ([*ECE, "--n-bins", "0"], "0 is not in the range"),
        ([*ECE, "--prob", "1"], "1.0 is not in the range"),
        ([*ECE, "--strategy", "kmeans"], "'kmeans'"),
    ],
)
def test_bad_usage_is_one_line_on_stderr_and_code_2(arguments, said, capsys) -> None:
    assert main(arguments) == 2
    streams = capsys.readouterr()
    assert streams.out == ""
    assert said in streams.err
    assert "--help" in streams.err
    assert streams.err.count("\n") == 1


def test_python_m_bayescal_is_the_command() -> None:
    run = subprocess.run(
        [sys.executable, "-m", "bayescal", *ECE],
        capture_output=True,
        text=True,
        check=False,
    )
    assert run.returncode == 2
    assert run.stdout == ""
    assert run.stderr.startswith("bayescal: ")
    assert "no-such-file.csv" in run.stderr
    assert run.stderr.count("\n") == 1


def test_help_loads_nothing_heavy() -> None:
    code = """
import sys
from bayescal.cli.main import main
main(["ece", "--help"])
heavy = {"numpy", "pymc", "pandas", "rich", "xarray"} & set(sys.modules)
assert not heavy, heavy
"""
    subprocess.run([sys.executable, "-c", code], check=True, capture_output=True)
