"""The command itself, in a process of its own where that matters."""

import re
import subprocess
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner

import bayescal
from bayescal.__main__ import main as start
from bayescal.cli.main import cli, main
from bayescal.quantities import quantities

ECE = ["ece", "a.csv", "--label", "y", "--score", "p"]
# What only a posterior has.
OF_FIT = [
    *(["--draws", "50"], ["--tune", "50"], ["--target-accept", ".9"], ["--seed", "3"]),
    *(["--prob", ".5"], ["--prior", "bins"], ["--measure", "e90"], ["--checkpoint", "d"]),
]


def test_without_a_subcommand_it_prints_help() -> None:
    result = CliRunner().invoke(cli, [])
    assert result.exit_code == 0
    for name in ("credal", "ece", "pu-ece", "ssme", "sensitivity", "report", "plan", "demo"):
        assert f"\n  {name} " in result.stdout
    assert "..." not in result.stdout.partition("Commands:")[2]


def test_sensitivity_without_a_quantity_prints_help() -> None:
    result = CliRunner().invoke(cli, ["sensitivity"])
    assert (result.exit_code, result.stderr) == (0, "")
    assert "\n  pu-ece " in result.stdout


@pytest.mark.parametrize(
    "name", ["ece", "pu-ece", "count", "sensitivity", "sensitivity pu-ece", "plan", "demo"]
)
def test_every_subcommand_has_help(name: str) -> None:
    result = CliRunner().invoke(cli, [*name.split(), "-h"])
    assert result.exit_code == 0
    assert f"Usage: bayescal {name}" in result.stdout
    assert ("--multiclass," in result.stdout) == ("\n  --multiclass" in result.stdout)


@pytest.mark.parametrize("name", ["pu_ece", "sensitivity pu_ece", "count_sql"])
def test_names_of_python_are_commands_too(name: str) -> None:
    as_in_python, shown = (
        CliRunner().invoke(cli, [*each.split(), "-h"]) for each in (name, name.replace("_", "-"))
    )
    assert as_in_python.exit_code == 0
    assert as_in_python.stdout.replace("_", "-") == shown.stdout.replace("_", "-")


def test_version() -> None:
    result = CliRunner().invoke(cli, ["--version"])
    assert result.stdout == f"bayescal {bayescal.__version__}\n"


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["repotr"], "No such command 'repotr'; did you mean 'report'?"),
        (["sensitivity", "pu_ec", "a.csv"], "did you mean 'pu-ece'?"),
        (["ece", "a.csv", "--labl", "y"], "--labl"),
        (["ece", "a.csv", "--score", "p"], "Missing option '--label'"),
        *(
            ([*of_rows, "a.nc"], "a.nc is a result. Pass it to bayescal report, plan or check")
            for of_rows in (
                ["ece"],
                ["pu-ece"],
                ["credal", "b.csv"],
                ["sensitivity", "ece"],
                ["count", "-o", "a.counts"],
            )
        ),
        ([*ECE, "--draws", "few"], "'few' is not a valid integer"),
        ([*ECE, "-o", "a.txt"], "--output must end in .nc (the result), .html"),
        ([*ECE, "--report", "a.nc"], "--report must end in .html"),
        ([*ECE, "-o", "a.html", "--report", "./a.html"], "written once; got a.html twice"),
        ([*ECE, "-o", "a.nc", "--checkpoint", "a.nc"], "written once; got a.nc twice"),
        ([*ECE, "--estimate-only", "--quick"], "--quick needs one"),
        ([*ECE, "--estimate-only", "-o", "x.nc"], "--estimate-only computes no posterior"),
        *(([*ECE, "--estimate-only", *of_fit], f"{of_fit[0]} needs one") for of_fit in OF_FIT),
        ([*ECE, "--quick", "--tune", "500"], "--tune is of NUTS, and --quick does without"),
        ([*ECE, "--quick", "--target-accept", ".9"], "--target-accept is of NUTS, and --quick"),
        (["report", *ECE[1:], "--quick", "--tune", "500"], "--tune is of NUTS, and --quick"),
        (["sensitivity", *ECE, "--quick", "--tune", "500"], "--tune is of NUTS, and --quick"),
        (["count", "a.counts", "--pairs", "-o", "b.counts"], "--pairs counts rows"),
        (["check", "a.nc", "--max", "tce=.05", "--seed", "3"], "--seed is of a fit"),
        (["report", "a.nc", "--seed", "3"], "--seed is of a fit"),
        ([*ECE, "--strategy", "kmeans"], "'kmeans'"),
    ],
)
def test_bad_usage_is_one_line_on_stderr_and_code_2(
    arguments, said, capsys, tmp_path, monkeypatch
) -> None:
    monkeypatch.chdir(tmp_path)
    for name in ("a.csv", "b.csv", "a.nc", "a.counts"):
        Path(name).touch()
    assert main(arguments) == 2
    streams = capsys.readouterr()
    assert streams.out == ""
    assert said in streams.err
    assert "--help" in streams.err
    assert streams.err.count("\n") == 1


@pytest.mark.slow
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
    assert "a.csv" in run.stderr
    assert run.stderr.count("\n") == 1


def test_ctrl_c_while_the_command_loads_ends_it_as_later(monkeypatch, capsys) -> None:
    class Interrupting:
        @staticmethod
        def find_spec(*_: object) -> None:
            raise KeyboardInterrupt

    monkeypatch.delitem(sys.modules, "bayescal.cli.main")
    monkeypatch.setattr(sys, "meta_path", [Interrupting])
    assert start() == 130
    assert capsys.readouterr().err == "bayescal: interrupted\n"


def test_names_are_shown_with_what_they_are() -> None:
    out = CliRunner().invoke(cli, [], terminal_width=120).stdout
    for quantity in quantities().values():
        assert re.search(rf"{quantity.NAME.replace('_', '-')} +{quantity.TITLE[:30]}", out)


@pytest.mark.parametrize("text", ["draws", "prob", "seed"])
def test_settings_are_refused_by_the_name_of_their_option(text: str, tmp_path: Path) -> None:
    (path := tmp_path / "a.csv").touch()
    result = CliRunner().invoke(cli, ["ece", str(path), *ECE[2:], f"--{text}", "-1"])
    assert result.exit_code == 2
    assert result.stderr.startswith(f"bayescal: --{text} must")
