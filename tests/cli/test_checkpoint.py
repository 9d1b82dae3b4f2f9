"""What is kept when a run is interrupted, and where the user is pointed to."""

from pathlib import Path

import pytest

from bayescal.cli.errors import Interrupted
from bayescal.cli.run import checkpoint


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


def test_another_error_keeps_the_results(tmp_path: Path) -> None:
    with pytest.raises(OSError, match="disk"), checkpoint(None, tmp_path / "a.html") as directory:
        kept = finish_one(directory)
        raise OSError("disk full")
    assert kept.exists()
