"""What is refused before anything is computed, and what is kept when a run is interrupted."""

import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from click.testing import CliRunner
from pyarrow import parquet

import bayescal as bc
from bayescal.cli.main import cli
from bayescal.cli.output import Interrupted
from bayescal.cli.run import checkpoint

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
        ("y,p\n,0.7\n,0.2\n", ["--label", "y", "--score", "p"], "the column of --label must hold"),
        ("PAR1 and then nothing", ["--label", "y", "--score", "p"], "cannot be read as Parquet"),
        ("y,<script>\n1,2\n", ["--label", "y", "--score", "<script>"], "<script>"),
    ],
)
@pytest.mark.parametrize("command", [["ece"], ["report"]])
def test_one_line_and_code_2(tmp_path: Path, content, arguments, said, command) -> None:
    file = tmp_path / "scores.csv"
    file.write_text(content, encoding="utf-8")
    output = ["-o", str(tmp_path / "out.html")]
    result = CliRunner().invoke(cli, [*command, str(file), *arguments, *output])
    assert result.exit_code == 2, result.output
    assert result.stdout == ""
    assert result.stderr.startswith("bayescal: ")
    assert said in result.stderr
    assert result.stderr.count("\n") == 1
    assert not (tmp_path / "out.html").exists()


@pytest.mark.parametrize(
    "command", ["ece", "credal", "sensitivity ssme", "calibrate", "count", "check", "plan"]
)
def test_a_file_that_is_not_there_is_missed_before_options_are(command, tmp_path: Path) -> None:
    (tmp_path / "scores.csv").touch()
    wrong = tmp_path / "score.csv"
    result = CliRunner().invoke(cli, [*command.split(), str(wrong)])
    assert result.exit_code == 2
    said = f"bayescal: there is no file {wrong}. Did you mean 'scores.csv'?\n"
    assert (result.stdout, result.stderr) == ("", said)


@pytest.mark.parametrize("option", ["--checkpoint", "--output", "FILE"])
def test_an_empty_path_is_not_the_working_directory(
    option: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "s.csv").write_text(GOOD)
    monkeypatch.chdir(tmp_path)
    arguments = [""] if option == "FILE" else ["s.csv", option, ""]
    result = CliRunner().invoke(cli, ["ece", *arguments, "--label", "y", "--score", "p"])
    assert result.exit_code == 2
    assert "a path must not be empty" in result.stderr
    assert [path.name for path in tmp_path.iterdir()] == ["s.csv"]


@pytest.mark.parametrize("command", ["ece", "report"])
def test_an_output_that_cannot_be_written_is_found_first(tmp_path: Path, command: str) -> None:
    output = tmp_path / "no" / "such" / "folder" / "out.html"
    (path := tmp_path / "empty.csv").touch()
    arguments = [command, str(path), "--label", "y", "--score", "p", "-o", str(output)]
    result = CliRunner().invoke(cli, arguments)
    assert result.exit_code == 1
    assert "empty.csv" not in result.stderr
    assert str(output.parent) in result.stderr
    assert result.stderr.count("\n") == 1


def finish_one(directory: Path, name: str = "vit") -> Path:
    (directory / "cases").mkdir(parents=True, exist_ok=True)
    path = directory / "cases" / f"{name}.npz"
    path.write_bytes(b"result")
    return path


def test_results_wait_beside_the_output_and_are_cleared_away(tmp_path: Path) -> None:
    with checkpoint(None, tmp_path / "a.html") as directory:
        assert directory == tmp_path / "a.html.partial"
        finish_one(directory)
    assert list(tmp_path.iterdir()) == []


def test_a_directory_that_the_user_chose_is_left_as_it_is(tmp_path: Path) -> None:
    with checkpoint(tmp_path / "mine", tmp_path / "a.html") as directory:
        kept = finish_one(directory)
    assert kept.exists()


def test_clearing_away_spares_what_is_not_ours(tmp_path: Path) -> None:
    (tmp_path / "a.html.partial").mkdir()
    note = tmp_path / "a.html.partial" / "note.txt"
    note.write_text("mine")
    with checkpoint(None, tmp_path / "a.html") as directory:
        finish_one(directory)
    assert [*note.parent.iterdir()] == [note]


def interrupt(chosen: Path | None, output: Path | None, finished: list[str]) -> tuple[str, Path]:
    with pytest.raises(Interrupted) as stop, checkpoint(chosen, output) as directory:
        for name in finished:
            finish_one(directory, name)
        raise KeyboardInterrupt
    return str(stop.value), directory


def test_ctrl_c_says_how_many_results_are_where(tmp_path: Path) -> None:
    message, directory = interrupt(None, tmp_path / "a.html", ["vit", "resnet"])
    assert "finished results (2)" in message
    assert str(directory.resolve()) in message
    assert "The same command goes on from there." in message
    assert len(list(directory.glob("cases/*.npz"))) == 2


def test_without_output_it_says_how_to_go_on() -> None:
    message, directory = interrupt(None, None, ["vit"])
    assert f"Add --checkpoint {directory} to go on from there." in message


def test_ctrl_c_before_the_first_result_leaves_nothing(tmp_path: Path) -> None:
    message, _ = interrupt(None, tmp_path / "a.html", [])
    assert message == "interrupted before the first result was finished"
    assert list(tmp_path.iterdir()) == []


def test_an_error_before_the_first_result_leaves_nothing(tmp_path: Path, monkeypatch) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    with pytest.raises(bc.InputError), checkpoint(None, None) as directory:
        (directory / "cases").mkdir()
        raise bc.InputError("weights")
    assert list(tmp_path.iterdir()) == []


def test_a_checkpoint_that_cannot_be_written_is_found_before_the_fit(tmp_path: Path) -> None:
    path = tmp_path / "scores.csv"
    path.write_text(GOOD)
    given = ["--label", "y", "--score", "p", "--checkpoint", str(path)]
    result = CliRunner().invoke(cli, ["ece", str(path), *given])
    assert result.exit_code == 1
    assert f"{path} cannot be written: Not a directory" in result.stderr


def test_another_error_keeps_the_results(tmp_path: Path) -> None:
    with pytest.raises(OSError, match="disk"), checkpoint(None, tmp_path / "a.html") as directory:
        kept = finish_one(directory)
        raise OSError("disk full")
    assert kept.exists()


NAMES = [f"model{number}" for number in range(6)]


@pytest.fixture
def command(tmp_path: Path) -> list[str]:
    rng = np.random.default_rng(0)
    truth = rng.random(300)
    columns = {"y": (rng.random(300) < truth).astype(int)}
    columns |= {name: 0.9 * truth + 0.1 * rng.random(300) for name in NAMES}
    parquet.write_table(pa.table(columns), tmp_path / "many.parquet")
    scores = [part for name in NAMES for part in ("--score", name)]
    file, output = str(tmp_path / "many.parquet"), str(tmp_path / "result.nc")
    base = [sys.executable, "-m", "bayescal", "ece", file, "--label", "y", "--quick"]
    return [*base, *scores, "-o", output]


@pytest.mark.mcmc
# preexec_fn forks; JAX, where another test has loaded it, warns of that.
@pytest.mark.filterwarnings("ignore:os.fork:RuntimeWarning")
@pytest.mark.parametrize("sent", [signal.SIGINT, signal.SIGTERM])
def test_ctrl_c_keeps_what_is_finished_and_the_same_command_goes_on(
    command, tmp_path, sent
) -> None:
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
        process.send_signal(sent)
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

    again = CliRunner().invoke(cli, command[3:])
    assert again.exit_code == 0, again.output
    assert not kept.exists()
    assert bc.load(tmp_path / "result.nc").posterior.sizes["classifier"] == len(NAMES)
