"""The table and the JSON of a result."""

import json

import pytest

from bayescal.cli.finish import finish
from bayescal.cli.table import posterior_rows, print_json, print_posterior
from tests.synthetic import make_result


@pytest.fixture(scope="module")
def tree():
    return make_result(classifiers=("vit", "[bold]\x1b[31mred"))


def test_every_case_is_a_line_and_names_are_shown_as_they_are(tree, capsys) -> None:
    print_posterior(posterior_rows(tree, 0.9), 0.9)
    out = capsys.readouterr().out
    assert "90% interval" in out
    assert "vit" in out
    assert r"[bold]\x1b[31mred" in out
    assert "\x1b" not in out


def test_the_json_holds_the_numbers_of_the_summary(tree, capsys) -> None:
    from bayescal.results.summary import summary

    print_json({"quantity": "ece"}, posterior_rows(tree, 0.8))
    found = json.loads(capsys.readouterr().out)
    expected = summary(tree, 0.8)
    assert found["quantity"] == "ece"
    assert [row["classifier"] for row in found["results"]] == list(expected["classifier"])
    assert [row["ece_upper"] for row in found["results"]] == list(expected["ece_upper"])


def test_json_has_null_where_there_is_no_number(capsys) -> None:
    print_json({}, [{"case": "a", "rhat_max": float("nan")}])
    assert json.loads(capsys.readouterr().out) == {"results": [{"case": "a", "rhat_max": None}]}


def test_a_sound_result_ends_with_0_and_says_where_it_is(tree, tmp_path, capsys) -> None:
    assert finish(tree, prob=0.9, output=tmp_path / "a.html") == 0
    streams = capsys.readouterr()
    assert str(tmp_path / "a.html") in streams.out.replace("\n", "")
    assert streams.err == ""


def test_a_result_that_did_not_converge_is_loud_and_ends_with_3(capsys) -> None:
    tree = make_result(converged=False)
    assert finish(tree, prob=0.9, output=None) == 3
    streams = capsys.readouterr()
    assert "NOT CONVERGED" in streams.out
    assert streams.err.startswith("bayescal: warning: NOT CONVERGED")
    assert "R-hat" in streams.err


def test_a_warning_in_the_status_is_said_and_ends_with_0(capsys) -> None:
    assert finish(make_result(jump=True), prob=0.9, output=None) == 0
    streams = capsys.readouterr()
    assert "may jump" in streams.out
    assert "may jump" in streams.err


def test_with_json_on_stdout_the_rest_goes_to_stderr(tree, tmp_path, capsys) -> None:
    finish(tree, prob=0.9, output=tmp_path / "a.nc", table=False)
    streams = capsys.readouterr()
    assert streams.out == ""
    assert "a.nc" in streams.err
