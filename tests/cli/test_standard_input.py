"""``-`` is standard input wherever rows are read."""

import gzip
import json
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

import bayescal as bc
from bayescal.cli.main import main
from tests.cli.commands import run

HONEST = ("--label", "y", "--score", "honest")
LIMITS = ("--max", "tce=.9")


@pytest.mark.parametrize(
    ("kind", "change"), [("csv", bytes), ("parquet", bytes), ("csv", gzip.compress)]
)
def test_the_numbers_are_those_of_the_file(
    files: Path, kind: str, change: Callable[[bytes], bytes]
) -> None:
    path = files / f"scores.{kind}"
    named = json.loads(run("ece", path, *HONEST, "--estimate-only", "--json").stdout)
    rows = change(path.read_bytes())
    piped = run("ece", "-", *HONEST, "--estimate-only", "--json", input=rows)
    found = json.loads(piped.stdout)
    assert found["file"] == "-"
    assert found["results"] == named["results"]


@pytest.mark.parametrize(
    "given",
    [
        ("agnostic", "-", *HONEST, "--estimate-only"),
        ("ssme", "-", *HONEST, "--estimate-only"),
        ("credal", "FILE", "-", *HONEST, "--estimate-only"),
        ("credal", "-", "FILE", *HONEST, "--estimate-only"),
        ("check", "-", *HONEST, *LIMITS),
        ("plan", "-", *HONEST, "--n", "50", "--replications", "2"),
        ("sensitivity", "ece", "-", *HONEST, "--quick", "--prior", "flat", "--prior", "jeffreys"),
        ("report", "-", *HONEST, "--quick", "-o", "OUT.html"),
        ("report", "-", *HONEST, "--quick", "--window", "region", "-o", "OUT.html"),
    ],
)
def test_every_command_reads_it(files: Path, tmp_path: Path, given: tuple[str, ...]) -> None:
    places = {"FILE": files / "scores.csv", "OUT.html": tmp_path / "page.html"}
    words = [places.get(word, word) for word in given]
    found = run(*words, input=(files / "scores.csv").read_bytes())
    assert found.exit_code == 0, found.output


def test_it_is_counted(files: Path, tmp_path: Path) -> None:
    rows = (files / "scores.csv").read_bytes()
    for source in (files / "scores.csv", "-"):
        kept = tmp_path / f"{source == '-'}.counts"
        assert run("count", source, *HONEST, "-o", kept, input=rows).exit_code == 0
    piped, named = (bc.Counts.load(tmp_path / f"{of}.counts")["honest"] for of in (True, False))
    np.testing.assert_array_equal(piped.cell, named.cell)
    assert (piped.n_obs, piped.n_labeled) == (named.n_obs, named.n_labeled)


@pytest.mark.parametrize(
    ("given", "message"),
    [
        (("ece", "-", *HONEST), "standard input must have a header and rows; it is empty"),
        (("check", "-", *HONEST, *LIMITS), "standard input must have a header and rows"),
        (("count", "-", *HONEST, "-o", "a.counts"), "standard input must have a header and rows"),
        (("credal", "-", "-", *HONEST), "- can be given once, as standard input can be read once"),
        (("count", "-", "-", *HONEST, "-o", "a.counts"), "- can be given once"),
    ],
)
def test_what_is_refused(
    given: tuple[str, ...], message: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    found = run(*given)
    assert found.exit_code == 2, found.output
    assert message in found.stderr
    assert len(found.stderr.splitlines()) == 1


def test_other_content_and_columns_are_refused(files: Path) -> None:
    rows = (files / "scores.csv").read_bytes()
    assert (
        "standard input has no column 'z'"
        in run("ece", "-", "--label=y", "--score=z", input=rows).stderr
    )
    assert "must be a CSV file in UTF-8 or a" in run("ece", "-", *HONEST, input=b"\x00\x01").stderr


def test_a_closed_one_is_refused(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("sys.stdin", None)
    assert main(["ece", "-", *HONEST]) == 2
    said = capsys.readouterr().err
    assert said == "bayescal: - needs standard input, which is closed. Name a file.\n"
