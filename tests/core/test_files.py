import pytest

from bayescal.core.errors import InputError
from bayescal.core.tables import check_file, first_bytes, reading


def test_a_missing_file_suggests_the_nearest(tmp_path):
    (tmp_path / "scores.csv").write_text("y,p\n")
    with pytest.raises(InputError, match=r"there is no file .*score\.csv\. Did you mean 'scores"):
        check_file(tmp_path / "score.csv")
    with pytest.raises(InputError, match=r"there is no file .*other.bin\.$"):
        check_file(tmp_path / "nowhere" / "other.bin")


def test_a_directory_and_an_empty_file(tmp_path):
    with pytest.raises(InputError, match="it is a directory"):
        check_file(tmp_path)
    (tmp_path / "empty.csv").touch()
    with pytest.raises(InputError, match=r"empty\.csv must have a header and rows; it is empty"):
        check_file(tmp_path / "empty.csv")


def test_first_bytes(tmp_path):
    path = tmp_path / "long.bin"
    path.write_bytes(b"x" * 5000)
    check_file(path)
    assert first_bytes(path) == b"x" * 1024


def test_what_cannot_be_opened(tmp_path):
    with pytest.raises(InputError, match=f"{tmp_path.name} cannot be read as CSV or Parquet: "):
        first_bytes(tmp_path)


def test_an_error_of_the_system_becomes_one_line(tmp_path):
    path = tmp_path / "scores.csv"
    message = r"^scores\.csv cannot be read as CSV: disk on fire\. Write the file again"
    with pytest.raises(InputError, match=message) as caught, reading(path, "CSV"):
        raise OSError("disk on fire.\nand more")
    assert "\n" not in str(caught.value)


def test_other_errors_pass(tmp_path):
    with pytest.raises(ZeroDivisionError), reading(tmp_path, "CSV"):
        raise ZeroDivisionError
