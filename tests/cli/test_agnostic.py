"""The command of the interval measure, with decisions from a file."""

import json

import pytest
from click.testing import CliRunner

from bayescal.cli.main import cli
from bayescal.core.errors import InputError
from bayescal.quantities.agnostic import command
from bayescal.quantities.agnostic.command import priors_from_text, rule_from_file
from bayescal.quantities.agnostic.estimator import interval_measure
from bayescal.quantities.ece.command import priors_from_text as ece_priors
from tests.quantities.agnostic.made import rows

TABLES = """
[keep]
positive = 5
negative = 0
[remove]
positive = 0
negative = 3
setup = 10
"""


@pytest.fixture
def files(tmp_path):
    scores = rows()
    labels = ["" if label < 0 else str(label) for label in scores.y_true]
    lines = [
        f"{label},{score!r}" for label, score in zip(labels, scores.y_prob[0].tolist(), strict=True)
    ]
    (tmp_path / "scores.csv").write_text("\n".join(["y,p", *lines]))
    (tmp_path / "costs.toml").write_text(TABLES)
    return tmp_path


def run(files, *words):
    given = ["agnostic", str(files / "scores.csv"), "--label", "y", "--score", "p", *words]
    return CliRunner().invoke(cli, given)


def test_estimates_only(files):
    done = run(files, "--estimate-only", "--json", "--decision", str(files / "costs.toml"))
    assert done.exit_code == 0, done.output
    scores = rows()
    labeled = scores.y_true >= 0
    expected = interval_measure(scores.y_prob[0][labeled], label=scores.y_true[labeled]).c
    assert f'"c": {expected!r}' in done.output
    assert '"cost":' in done.output


def test_a_posterior_with_a_report(files):
    page = files / "page.html"
    done = run(
        files, "--quick", "--seed", "1", "--decision", str(files / "costs.toml"), "-o", str(page)
    )
    assert done.exit_code == 0, done.output
    # Below the table where it does not fit.
    assert "cost, unlabelled rows" in " ".join(done.output.split())
    text = page.read_text()
    assert "Score intervals, costs and ROC curve" in text
    assert "P(c &gt; 0.02)" in text
    assert "Costs of decisions" in text


def test_files_in_batches_give_what_whole_files_give(files, monkeypatch):
    words = ("--estimate-only", "--json", "--decision", str(files / "costs.toml"))
    whole = json.loads(run(files, *words).output)["results"]
    monkeypatch.setattr(command, "MOST_ROWS", 10)
    batched = json.loads(run(files, *words).output)["results"]
    assert [row["n"] for row in batched] == [200]
    for one, other in zip(whole, batched, strict=True):
        assert one.keys() == other.keys()
        for name in ("c", "ks", "lower", "upper", "cost"):
            assert other[name] == pytest.approx(one[name], abs=1e-12)
    page = files / "batches.html"
    done = run(
        files, "--quick", "--seed", "1", "--decision", str(files / "costs.toml"), "-o", str(page)
    )
    assert done.exit_code == 0, done.output
    assert "Costs of decisions" in page.read_text()


def test_weighted_rows_count_as_often_as_their_weight(tmp_path):
    lines = ["y,p,w", "0,0.2,1", "1,0.4,2", "0,0.9,1", ",0.5,1"]
    (tmp_path / "scores.csv").write_text("\n".join(lines))
    done = run(tmp_path, "--weight", "w", "--estimate-only", "--json")
    expected = interval_measure([0.2, 0.4, 0.4, 0.9], label=[0, 1, 1, 0])
    (found,) = json.loads(done.output)["results"]
    assert found["c"] == pytest.approx(expected.c)
    assert (found["lower"], found["upper"]) == (expected.lower, expected.upper)


def test_the_posterior_refuses_weights(tmp_path):
    (tmp_path / "scores.csv").write_text("y,p,w\n0,0.2,1\n1,0.4,2\n")
    done = run(tmp_path, "--weight", "w", "--quick")
    assert done.exit_code != 0
    assert "cannot use sample weights" in done.output


def test_a_file_without_intervals_is_the_bayes_rule(files):
    rule = rule_from_file(str(files / "costs.toml"))
    assert rule.thresholds == (3 / 8,)
    assert rule.setup == 10


def test_a_file_with_intervals(files):
    path = files / "rule.toml"
    path.write_text(
        "[a]\npositive = 1\nnegative = 0\ninterval = [0, 0.5]\n"
        "[b]\npositive = 0\nnegative = 1\ninterval = [0.5, 1]\n"
    )
    assert rule_from_file(str(path)).thresholds == (0.5,)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("[a]\npositive = 1\n", "table of action 'a'"),
        ("a = 1\n", "table of action 'a'"),
        ("[a]\npositive = 1\nnegative = 0\ncost = 2\n", "table of action 'a'"),
        (
            "[a]\npositive = -1\nnegative = 0\n",
            r"--decision .*bad\.toml: positive must be a number in \[0, 1e300\]",
        ),
        ("[a\n", "is no TOML file"),
        ("", "must have a table an action; it has none"),
        ("# caf\xe9\n", r"must be UTF-8 text; got the byte 0xe9 at 5\. Save it"),
    ],
)
def test_bad_files(tmp_path, text, message):
    path = tmp_path / "bad.toml"
    path.write_text(text, encoding="latin-1")
    with pytest.raises(InputError, match=message):
        rule_from_file(str(path))


def test_a_missing_file_stops_before_the_scores_are_read(files):
    done = run(files, "--decision", str(files / "none.toml"))
    assert done.exit_code != 0
    assert "cannot read" in done.output


@pytest.mark.parametrize("text", ["flat", "curve:wide", "curve 2"])
def test_bad_priors(text):
    with pytest.raises(InputError, match="--prior must be curve"):
        priors_from_text(text)


@pytest.mark.parametrize("text", ["curve", "curve:0.3"])
def test_a_word_is_the_same_prior_as_of_the_calibration_error(text):
    assert priors_from_text(text).label_rate == ece_priors(text).label_rate


def test_a_smooth_curve_alone():
    prior = priors_from_text("smooth:0.3").label_rate
    assert prior.weights == {"smooth": 1}
    assert prior.curve == ece_priors("smooth:0.3").label_rate
