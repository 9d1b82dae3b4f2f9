"""What is wrong with a file is said in one line, with code 2, before anything is computed."""

from pathlib import Path

import pytest
from click.testing import CliRunner

from bayescal.cli.main import cli

GOOD = "y,p\n1,0.7\n0,0.2\n"


@pytest.mark.parametrize(
    ("content", "arguments", "said"),
    [
        (GOOD, ["--label", "y", "--score", "q"], "no column 'q'"),
        (GOOD, ["--label", "Y", "--score", "p"], "did you mean 'y'"),
        (GOOD, ["--label", "y", "--score", "p", "--group", "g"], "no column 'g'"),
        (GOOD, ["--label", "y", "--score", "p", "--pos-label", "yes"], "--pos-label"),
        ("", ["--label", "y", "--score", "p"], "it is empty"),
        ("y,p\n", ["--label", "y", "--score", "p"], "row"),
        ("y,p\n1,0.7\n0,1.2\n", ["--label", "y", "--score", "p"], "--from-logits"),
        ("y,p\n1,high\n0,low\n", ["--label", "y", "--score", "p"], "must be numbers"),
        ("y,p\n,0.7\n,0.2\n", ["--label", "y", "--score", "p"], "all 2 rows are missing"),
        ("PAR1 and then nothing", ["--label", "y", "--score", "p"], "cannot be read as Parquet"),
        ("y,<script>\n1,2\n", ["--label", "y", "--score", "<script>"], "<script>"),
    ],
)
@pytest.mark.parametrize("command", [["ece", "--estimate-only"], ["ece"], ["report"]])
def test_one_line_and_code_2(tmp_path: Path, content, arguments, said, command) -> None:
    file = tmp_path / "scores.csv"
    file.write_text(content, encoding="utf-8")
    output = [] if "--estimate-only" in command else ["-o", str(tmp_path / "out.html")]
    result = CliRunner().invoke(cli, [*command, str(file), *arguments, *output])
    assert result.exit_code == 2, result.output
    assert result.stdout == ""
    assert result.stderr.startswith("bayescal: ")
    assert said in result.stderr
    assert result.stderr.count("\n") == 1
    assert not (tmp_path / "out.html").exists()


def test_a_file_that_is_not_there_suggests_the_one_that_is(tmp_path: Path) -> None:
    (tmp_path / "scores.csv").write_text(GOOD, encoding="utf-8")
    arguments = ["ece", str(tmp_path / "score.csv"), "--label", "y", "--score", "p"]
    result = CliRunner().invoke(cli, arguments)
    assert result.exit_code == 2
    assert "Did you mean 'scores.csv'?" in result.stderr


@pytest.mark.parametrize("command", ["ece", "report"])
def test_an_output_that_cannot_be_written_is_found_first(tmp_path: Path, command: str) -> None:
    output = tmp_path / "no" / "such" / "folder" / "out.html"
    arguments = [command, "no-such-file.csv", "--label", "y", "--score", "p", "-o", str(output)]
    result = CliRunner().invoke(cli, arguments)
    assert result.exit_code == 1
    assert "no-such-file" not in result.stderr
    assert str(output.parent) in result.stderr
    assert result.stderr.count("\n") == 1
