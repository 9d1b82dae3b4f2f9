"""``bayescal plan``, from a table and from a result."""

import csv
import json
from pathlib import Path

import pytest

import bayescal as bc
from bayescal.cli.limits import _case
from tests.cli.commands import ran
from tests.synthetic import make_result

FEW = ["--quick", "--draws", "250"]
QUICK = ["--n", "50", "--n", "100", "--replications", "2"]


@pytest.fixture(scope="module")
def pilot(files: Path) -> list[object]:
    return [files / "scores.csv", "--label", "y", "--score", "bold"]


def test_a_table_is_fitted_and_planned(pilot: list[object], tmp_path: Path) -> None:
    figure, table = tmp_path / "plan.png", tmp_path / "plan.csv"
    code, out, err = ran("plan", *pilot, *QUICK, "--limit", ".05", "-o", figure, "-o", table)
    assert (code, err) == (0, "")
    scores = bc.read_scores(pilot[0], label="y", score="bold")
    expected = bc.plan_labels(scores, n=(50, 100), limit=0.05, replications=2)
    assert expected.text in " ".join(out.split())
    assert figure.read_bytes().startswith(b"\x89PNG")
    with table.open() as file:
        rows = list(csv.DictReader(file))
    assert [float(row["width"]) for row in rows] == expected.table.width.tolist()


def test_a_result_is_planned(pilot: list[object], tmp_path: Path) -> None:
    kept = tmp_path / "two.nc"
    assert ran("ece", *pilot, "--score", "honest", *FEW, "-o", kept)[0] == 0
    few = ["--n", "50", "--replications", "2"]
    given = ["plan", kept, *few, "--case", "honest", "--var", "ece", "--json"]
    code, out, _ = ran(*given)
    assert code == 0
    found = json.loads(out)
    plan = bc.plan_labels(bc.load(kept), "ece", 50, replications=2, classifier="honest")
    assert (found["var"], found["enough"], found["text"]) == ("ece", None, plan.text)
    assert found["results"] == plan.table.to_dict("records")
    assert "--case must be one of" in ran("plan", kept, "--case", "other")[2]
    assert "--case must name one of 'bold', 'honest'. Give --case once" in ran("plan", kept)[2]
    assert "--label names a column of a table" in ran("plan", kept, "--label", "y")[2]
    short = tmp_path / "short.nc"
    assert ran("ece", *pilot, "--quick", "--draws", "20", "-o", short)[0] == 3
    code, out, said = ran("plan", short, *few)
    assert (code, "Unreliable: a fit did not converge." in out) == (3, True)
    assert "Draw more: --draws 4000; or leave out --quick." in said


def test_a_missing_case_is_refused_before_the_fit(
    pilot: list[object], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("bayescal.workflow.fit.fit_case", lambda *given: pytest.fail("fitted"))
    given = ["plan", *pilot, "--score", "honest"]
    assert "--case must name one of 'bold', 'honest'. Give --case once" in ran(*given)[2]
    assert "--case must be one of 'bold', 'honest'; got 'b'" in ran(*given, "--case", "b")[2]
    scores = bc.read_scores(pilot[0], label="y", score=["bold", "honest"])
    with pytest.raises(bc.InputError, match="classifier must be one of the result's; got none"):
        bc.plan_labels(scores)


def test_classifier_and_group_are_asked_for_at_once(tmp_path: Path) -> None:
    kept = tmp_path / "groups.nc"
    bc.save(make_result(groups=("f", "m")), kept)
    assert (
        "must name one of 'a', 'b'; and one of 'f', 'm'. Give --case once" in ran("plan", kept)[2]
    )
    both = ["--case", "a", "--case", "b", "--case", "f"]
    assert "--case must name one classifier; got 'a' and 'b'" in ran("plan", kept, *both)[2]


def test_a_classifier_and_a_group_of_one_name_are_named_twice() -> None:
    known = {"classifier": ["a", "b"], "class": [], "group": ["a", "m"]}
    assert _case(known.__getitem__, ("a", "a")) == {"classifier": "a", "group": "a"}


@pytest.mark.parametrize(
    ("given", "message"),
    [
        (["-o", "plan.nc"], "--output must end in .png, .pdf or .svg (a figure), or .csv"),
        (["-o", "a.csv", "-o", "a.csv"], "a file can be written once; got a.csv twice"),
        (["--n", "0"], "--n must be a whole number >= 1"),
        (["--var", "class_prior"], "--var must be one of 'tce', 'ece', 'mce', or a measure, which"),
        (["--prob", "2"], "--prob must be a number in (0, 1)"),
        (["--replications", "1"], "--replications must be a whole number >= 2"),
    ],
)
def test_what_is_refused(pilot: list[object], given: list[str], message: str) -> None:
    code, _, err = ran("plan", *pilot, *given)
    assert code == 2
    assert message in err


def test_a_table_needs_its_columns(files: Path) -> None:
    assert "Missing option '--label'" in ran("plan", files / "scores.csv")[2]
