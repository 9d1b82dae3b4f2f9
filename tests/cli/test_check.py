"""``bayescal check``: sentences, JSON, exit codes, and what it takes."""

import json
from pathlib import Path

import numpy as np
import pytest

import bayescal as bc
from tests.cli.commands import ran
from tests.synthetic import make_result

HONEST = ("--label", "y", "--score", "honest")


@pytest.fixture(scope="module")
def kept(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("results") / "a.nc"
    bc.save(make_result(("vit", "gbm"), p_calibrated=0.3), path)
    return path


def test_each_condition_of_each_case_is_a_sentence(files: Path) -> None:
    both = (*HONEST, "--score", "bold", "--max", "tce=.1", "--min", "auc=.5")
    code, printed, said = ran("check", files / "scores.csv", *both)
    assert (code, said) == (1, "")
    words = [line.split(":")[0] for line in printed.splitlines() if line[0] != " "]
    assert words == ["pass", "FAIL", "pass", "pass"]
    assert "tce of bold is at most 0.1 with probability " in printed
    assert ran("check", files / "scores.csv", *HONEST, "--max", "tce=.1")[0] == 0


def test_probabilities_are_those_of_the_result(kept: Path) -> None:
    result = bc.load(kept)
    limit = float(result["posterior"]["tce"].median())
    given = ("--max", f"tce={limit!r}", "--min", "auc=.7", "--max", "cost:0.2=.1", "--json")
    code, printed, _ = ran("check", kept, *given, "--with-probability", 0.4)
    found = json.loads(printed)
    rows = {(row["var"], row["case"]): row for row in found["results"]}
    for name in ("vit", "gbm"):
        for var, at, beyond in (
            ("tce", limit, bc.prob_above),
            ("auc", 0.7, bc.prob_below),
            ("cost:0.2", 0.1, bc.prob_above),
        ):
            row = rows[var, name]
            expected = 1 - float(beyond(result, var, at).sel(classifier=name))
            assert row["probability"] == pytest.approx(expected, abs=1e-12)
            assert row["holds"] is (row["probability"] >= 0.4)
    assert found["holds"] is all(row["holds"] for row in found["results"])
    assert code == (0 if found["holds"] else 1)


def test_a_draw_at_the_limit_keeps_to_it(kept: Path) -> None:
    """P(tce <= 0) is the share of draws that are calibrated, about .3."""
    _, printed, _ = ran("check", kept, "--max", "tce=0", "--json")
    zero = (bc.load(kept)["posterior"]["tce"] == 0).mean(("chain", "draw"))
    found = [row["probability"] for row in json.loads(printed)["results"]]
    assert found == pytest.approx(zero.values)


def test_a_share_that_is_just_the_one_required_holds(kept: Path) -> None:
    draws = np.sort(bc.load(kept)["posterior"]["tce"].sel(classifier="vit").to_numpy().ravel())
    limit = draws[-len(draws) * 7 // 100 - 1]
    assert (draws > limit).mean() == 0.07
    given = ("--max", f"tce={float(limit)!r}", "--with-probability", "0.93", "--json")
    row = json.loads(ran("check", kept, *given)[1])["results"][0]
    assert (row["classifier"], row["holds"], row["probability"]) == ("vit", True, 0.93)


def test_a_probability_of_all_draws_is_a_bound(kept: Path) -> None:
    _, printed, _ = ran("check", kept, "--max", "tce=1", "--min", "tce=1")
    words = " ".join(printed.split())
    assert words.count("tce of vit is at most 1 with probability above 0.999, 0.9 required") == 1
    assert words.count("tce of vit is at least 1 with probability below 0.001, 0.9 required") == 1


def test_a_probability_beside_a_higher_one_has_its_digits(kept: Path) -> None:
    draws = np.sort(bc.load(kept)["posterior"]["tce"].sel(classifier="vit").to_numpy().ravel())
    limit = (draws[-1] + draws[-2]) / 2
    _, printed, _ = ran("check", kept, "--max", f"tce={limit}", "--with-probability", 0.9999)
    expected = f"with probability {1 - 1 / len(draws):.4f}, 0.9999 required"
    assert expected in " ".join(printed.split())


def test_counts_are_taken_and_the_seed_gives_the_same(files: Path, tmp_path: Path) -> None:
    counts = tmp_path / "day.counts"
    assert ran("count", files / "scores.csv", *HONEST, "-o", counts)[0] == 0
    first = ran("check", counts, "--max", "tce=.1", "--seed", 3)
    assert first[0] == 0
    assert first == ran("check", counts, "--max", "tce=.1", "--seed", 3)


def test_marginal_judges_and_names_each_class(tmp_path: Path) -> None:
    """Of the classes cat and dog the scores are right, of owl they are far too low."""
    rng = np.random.default_rng(3)
    scores = rng.dirichlet([4, 4, 1], 600)
    label = [
        rng.choice(3, p=row) for row in scores * [1, 1, 6] / (scores * [1, 1, 6]).sum(1)[:, None]
    ]
    names = np.array(["cat", "dog", "owl"])
    lines = [f"{names[k]},{a},{b},{c}" for k, (a, b, c) in zip(label, scores, strict=True)]
    path = tmp_path / "pets.csv"
    path.write_text("\n".join(["y,p_cat,p_dog,p_owl", *lines]))
    given = ("check", path, "--label", "y", "--score", "p_*", "--multiclass", "marginal")
    code, printed, _ = ran(*given, "--max", "tce=.22", "--with-probability", 0.5)
    said = [line for line in printed.splitlines() if line[0] != " "]
    for line, name in zip(said, names, strict=True):
        assert f": tce of pets, class {name} is at most 0.22" in line
    assert [line.split(":")[0] for line in said] == ["pass", "pass", "FAIL"]
    assert code == 1
    assert ran(*given, "--max", "tce=.9")[0] == 0


def test_what_has_not_converged_ends_with_3(tmp_path: Path) -> None:
    path = tmp_path / "a.nc"
    tree = make_result(("vit",), converged=False)
    tree.attrs["status"] = "vit: sample longer: draws=2000, tune=1000; or sample by method='nuts'."
    bc.save(tree, path)
    code, printed, said = ran("check", path, "--max", "tce=.9")
    assert code == 3
    assert printed.startswith("pass")
    assert "NOT CONVERGED" in said
    # Options of the command that made the result: check itself has no --tune.
    assert said.endswith("sample longer: --draws 2000 --tune 1000; or leave out --quick.\n")


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ((), "a check needs a condition: add --max"),
        (("--max", "tce"), "--max must be NAME=VALUE with a finite number; got 'tce'"),
        (("--max", "=.05"), "--max must be NAME=VALUE"),
        (("--min", "auc=much"), "--min must be NAME=VALUE with a finite number; got 'auc=much'"),
        (("--max", "tce=nan"), "with a finite number; got 'tce=nan'"),
        (("--max", "tce=inf"), "with a finite number"),
        (("--max", "tce=5"), "--max for tce must be a number in [0, 1]; got 5.0. Divide"),
        (("--max", "mce=10"), "--max for mce must be a number in [0, 1]; got 10.0."),
        (("--min", "auc=80"), "--min for auc must be a number in [0, 1]; got 80.0."),
        (("--max", "tcf=.05"), "did you mean 'tce'"),
        (("--max", "max_ece=.1"), "--max max_ece: results of 'temperature' have it"),
        (("--max", "cost:2=.05"), "--max cost:2: threshold must be a number in (0, 1); got 2.0"),
        (("--max", "tce=.05", "--with-probability", "90"), "--with-probability must be a number"),
        (("--max", "tce=.05", "--with-probability", "1"), "--with-probability must be a number"),
    ],
)
def test_wrong_conditions_are_refused_before_a_file_is_read(
    given: tuple[str, ...], message: str, tmp_path: Path
) -> None:
    (path := tmp_path / "empty.csv").touch()
    code, printed, said = ran("check", path, *HONEST, *given)
    assert (code, printed) == (2, "")
    assert message in said


@pytest.mark.parametrize(
    ("given", "message"),
    [
        (("--max", "tcf=.05"), "did you mean 'tce'"),
        (("--max", "label_rate=.05"), "bayescal: NAME must have one number a case"),
        (("--max", "p_calibrated=.5"), "Write --max tce=0 --with-probability 0.5, say."),
        (("--max", "tce=.05", "--label", "y"), "--label names a column of a table"),
        (("--max", "tce=.05", "--bins", "10"), "is of a fit, and FILE is a result"),
    ],
)
def test_what_a_result_does_not_take_is_refused(
    kept: Path, given: tuple[str, ...], message: str
) -> None:
    code, printed, said = ran("check", kept, *given)
    assert (code, printed) == (2, "")
    assert message in said


def test_a_result_comes_alone_in_whatever_order(kept: Path, tmp_path: Path) -> None:
    (other := tmp_path / "a.counts").touch()
    for files in ((kept, other), (other, kept)):
        code, _, said = ran("check", *files, "--max", "tce=.05")
        assert (code, "a result comes alone; got 'a.counts' beside it" in said) == (2, True)


def test_a_table_needs_its_columns(files: Path) -> None:
    code, _, said = ran("check", files / "scores.csv", "--max", "tce=.05")
    assert (code, "Missing option '--label'" in said) == (2, True)
