"""``bayescal ece``: priors in words, estimates alone, weights, the mean over classes."""

import json
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from pyarrow import parquet

import bayescal as bc
from bayescal.core import command
from bayescal.quantities.ece.command import priors_from_text
from bayescal.quantities.ece.estimator import estimate
from tests.cli.commands import run as run_any


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("curve", bc.ece.CurveAverage()),
        ("curve:0.3", bc.ece.CurveAverage(curve=bc.ece.SmoothCurve(0.3))),
        ("smooth", bc.ece.SmoothCurve()),
        ("smooth:0.3", bc.ece.SmoothCurve(0.3)),
        ("hierarchical", bc.ece.HierarchicalBins()),
        ("flat", bc.ece.IndependentBins(bc.Beta(1, 1))),
        ("Jeffreys", bc.ece.IndependentBins(bc.Beta(0.5, 0.5))),
        ("beta:4,16", bc.ece.IndependentBins(bc.Beta(4, 16))),
        (" beta: 0.3, 2 ", bc.ece.IndependentBins(bc.Beta(0.3, 2))),
    ],
)
def test_words_name_priors(text: str, expected: object) -> None:
    assert priors_from_text(text) == bc.ece.Priors(label_rate=expected)


@pytest.mark.parametrize("text", ["", "rough", "beta:4", "beta:a,b", "beta:-1,2", "normal:0,1"])
def test_other_words_are_refused(text: str) -> None:
    with pytest.raises(bc.InputError, match="--prior"):
        priors_from_text(text)


BOTH = ["--label", "y", "--score", "honest", "--score", "bold"]


def run(*arguments: object, code: int = 0) -> str:
    result = run_any("ece", *arguments, "--estimate-only")
    assert result.exit_code == code, result.output
    return result.stdout if code == 0 else result.stderr


def rows(*arguments: object) -> list[dict[str, object]]:
    return json.loads(run(*arguments, "--json"))["results"]


@pytest.mark.parametrize("kind", ["csv", "parquet"])
@pytest.mark.parametrize("streamed", [False, True])
def test_the_numbers_are_those_of_the_estimator(files: Path, kind, streamed, monkeypatch) -> None:
    if streamed:
        monkeypatch.setattr(command, "too_large", lambda *_: True)
    file = files / f"scores.{kind}"
    scores = bc.read_scores(file, label="y", score=["honest", "bold"])
    expected = estimate(scores, n_bins=8, strategy="uniform", closed="left")
    found = rows(file, *BOTH, "--n-bins", 8, "--strategy", "uniform", "--closed", "left")
    assert [row["case"] for row in found] == ["honest", "bold"]
    assert [row["n"] for row in found] == [570, 570]
    for name in ("ece", "mce", "l2", "l2_debiased"):
        key = f"{name}_point" if name in ("ece", "mce") else name
        np.testing.assert_allclose([row[key] for row in found], getattr(expected, name))


@pytest.mark.parametrize("streamed", [False, True])
def test_the_optimal_number_of_bins_is_that_of_the_labelled_rows(
    files: Path, streamed, monkeypatch
) -> None:
    if streamed:
        monkeypatch.setattr(command, "too_large", lambda *_: True)
    found = rows(files / "scores.csv", *BOTH, "--bins", "optimal")
    nine = rows(files / "scores.csv", *BOTH, "--n-bins", 9)  # 8^3 = 512 < 570 <= 9^3
    assert found == nine


def test_another_word_than_optimal_is_refused_before_the_file_is_read(tmp_path: Path) -> None:
    (path := tmp_path / "empty.csv").touch()
    words = run(path, *BOTH, "--bins", "best", code=2)
    assert "--bins must be a whole number >= 1; got 'best'" in words


def test_groups_share_the_optimal_number_of_bins(files: Path) -> None:
    given = ["--label", "y", "--score", "bold", "--group", "region"]
    found = rows(files / "scores.csv", *given, "--bins", "optimal")
    seven = rows(files / "scores.csv", *given, "--n-bins", 7)  # 570 rows in two groups: 6^3 < 285
    assert found == seven


def test_the_table_shows_them_rounded(files: Path) -> None:
    (row, _) = rows(files / "scores.csv", *BOTH)
    out = run(files / "scores.csv", *BOTH)
    assert f"{row['ece_point']:.4f}" in out
    assert "ECE, plug-in" in out


def test_groups_are_rows_of_their_own(files: Path, table: pa.Table) -> None:
    found = rows(files / "scores.csv", "--label", "y", "--score", "bold", "--group", "region")
    assert [row["group"] for row in found] == ["north", "south"]
    north = table.filter(pa.compute.equal(table["region"], "north"))
    alone = bc.Scores(y_true=north["y"], y_prob=north["bold"])
    assert found[0]["ece_point"] == pytest.approx(float(estimate(alone).ece))
    assert found[0]["n"] + found[1]["n"] == 570


def test_a_group_without_a_label_is_left_out(tmp_path: Path) -> None:
    table = pa.table({"y": [1, 0, None], "p": [0.8, 0.3, 0.5], "g": ["a", "a", "b"]})
    parquet.write_table(table, tmp_path / "a.parquet")
    found = rows(tmp_path / "a.parquet", "--label", "y", "--score", "p", "--group", "g")
    assert [row["group"] for row in found] == ["a"]


@pytest.mark.parametrize("kind", ["top-label", "class-wise", "marginal"])
def test_several_classes(tmp_path: Path, kind: str) -> None:
    rng = np.random.default_rng(3)
    p = rng.dirichlet(np.ones(3), 300)
    y = np.array([rng.choice(3, p=row) for row in p])
    names = ["cat", "dog", "owl"]
    columns = {"y": np.array(names)[y]} | dict(zip(names, p.T, strict=True))
    parquet.write_table(pa.table(columns), tmp_path / "pets.parquet")
    options = [part for name in names for part in ("--score", name)]
    found = rows(tmp_path / "pets.parquet", "--label", "y", *options, "--multiclass", kind)
    expected = estimate(bc.Scores(y_true=y, y_prob=p), multiclass=kind)
    np.testing.assert_allclose([row["ece_point"] for row in found], np.atleast_1d(expected.ece))
    np.testing.assert_allclose([row["mce_point"] for row in found], np.atleast_1d(expected.mce))
    cases = {
        "top-label": ["pets"],
        "class-wise": ["pets / cat", "pets / dog", "pets / owl"],
        "marginal": ["pets"],
    }
    assert [row["case"] for row in found] == cases[kind]


def test_a_table_of_estimates_may_be_kept(files: Path, tmp_path: Path) -> None:
    output = tmp_path / "estimates.csv"
    run(files / "scores.csv", *BOTH, "-o", output)
    assert output.read_text().splitlines()[0].startswith("case,classifier,n,ece_point")
    assert len(output.read_text().splitlines()) == 3


WEIGHTED = ["--label", "y", "--score", "honest", "--weight", "w"]


@pytest.fixture(scope="module")
def file(table: pa.Table, tmp_path_factory: pytest.TempPathFactory) -> Path:
    weight = np.random.default_rng(5).exponential(size=600).round(3)
    weight[::7] = 0
    path = tmp_path_factory.mktemp("weights") / "weighted.parquet"
    parquet.write_table(table.append_column("w", pa.array(weight)), path)
    return path


@pytest.mark.parametrize("streamed", [False, True])
def test_estimates_are_those_of_weighted_scores(file: Path, streamed, monkeypatch) -> None:
    if streamed:
        monkeypatch.setattr(command, "too_large", lambda *_: True)
    result = run_any("ece", file, *WEIGHTED, "--estimate-only", "--json")
    assert result.exit_code == 0, result.output
    (row,) = json.loads(result.stdout)["results"]
    scores = bc.read_scores(file, label="y", score="honest", weight="w")
    expected = bc.ece.estimate(scores)
    w = scores.sample_weight[scores.y_true >= 0]
    assert row["n"] == len(w) == scores.n_labeled
    assert row["effective_n"] == pytest.approx(w.sum() ** 2 / (w**2).sum(), abs=0.051)
    assert row["ece_point"] == pytest.approx(float(expected.ece))
    assert row["l2_debiased"] == pytest.approx(float(expected.l2_debiased))


@pytest.mark.parametrize("streamed", [False, True])
def test_a_fit_shows_rows_and_effective_rows(file: Path, streamed, monkeypatch, tmp_path) -> None:
    if streamed:
        monkeypatch.setattr(command, "too_large", lambda *_: True)
    page = tmp_path / "weighted.html"
    result = run_any("ece", file, *WEIGHTED, "--quick", "-o", page)
    assert result.exit_code == 0, result.output
    scores = bc.read_scores(file, label="y", score="honest", weight="w")
    w = scores.sample_weight[scores.y_true >= 0]
    effective = f"{w.sum() ** 2 / (w**2).sum():.0f}"
    assert "(effective)" in result.stdout
    assert f"{len(w)} ({effective})" in result.stdout
    assert f"(effective number {effective})" in page.read_text()


def test_warnings_of_estimates_are_in_terms_of_options(tmp_path: Path) -> None:
    score = np.linspace(0.01, 0.99, 200)
    path = tmp_path / "reversed.parquet"
    columns = {"y": (score < 0.5).astype(int), "p": score, "honest": 1 - score}
    parquet.write_table(pa.table(columns), path)
    given = ["ece", path, "--label", "y", "--estimate-only"]
    assert "the labels and --pos-label" in run_any(*given, "--score", "p").stderr
    logits = run_any(*given, "--score", "honest", "--from-logits").stderr
    assert "Leave --from-logits out." in logits


def test_patterns_leave_the_column_of_weights_out(file: Path) -> None:
    every = ["--label", "y", "--score", "?", "--weight", "w"]
    result = run_any("ece", file, *every, "--estimate-only")
    assert "weighted.parquet has no column that matches '?'" in result.stderr


@pytest.mark.parametrize(
    ("column", "message"),
    [
        ("weight", "weighted.parquet has no column 'weight'"),
        ("word", "column 'word' of weighted.parquet must be numbers; got"),
        ("y", "label and weight must be different columns; got 'y' for both. Name another"),
    ],
)
def test_bad_columns_are_refused_in_words(file: Path, column, message) -> None:
    result = run_any(
        "ece", file, "--label", "y", "--score", "honest", "--weight", column, "--quick"
    )
    assert result.exit_code != 0
    assert message in result.stderr


def test_pymc_needs_whole_rows(file: Path) -> None:
    result = run_any("ece", file, *WEIGHTED, "--prior", "flat")
    assert result.exit_code != 0
    assert "Add --quick." in result.stderr


def test_a_report_takes_weights(file: Path, tmp_path) -> None:
    page = tmp_path / "report.html"
    result = run_any("report", file, *WEIGHTED, "--quick", "-o", page)
    assert result.exit_code == 0, result.output
    assert "Effective rows" in page.read_text()


def test_pu_ece_has_no_weights(file: Path) -> None:
    result = run_any("pu-ece", file, "--weight", "w")
    assert result.exit_code != 0
    assert "--weight" in result.stderr


CLASSES = ("cat", "dog", "owl")


@pytest.fixture(scope="module")
def pets(tmp_path_factory: pytest.TempPathFactory) -> Path:
    rng = np.random.default_rng(4)
    p = rng.dirichlet((1, 2, 3), 400)
    y = (rng.random((400, 1)) > p.cumsum(axis=1)).sum(axis=1)
    path = tmp_path_factory.mktemp("pets") / "pets.csv"
    rows = [f"{CLASSES[k]},{a:.17g},{b:.17g},{c:.17g}" for k, (a, b, c) in zip(y, p, strict=True)]
    path.write_text("\n".join(["y,cat,dog,owl", *rows]))
    return path


def options(path: Path) -> list[str]:
    scores = [word for name in CLASSES for word in ("--score", name)]
    given = ["ece", str(path), "--label", "y", *scores, "--multiclass", "marginal"]
    return [*given, "--quick", "--draws", "250", "--seed", "2", "--n-bins", "5"]


@pytest.mark.mcmc
def test_the_json_has_the_classes_and_their_mean(pets: Path, tmp_path: Path) -> None:
    kept = tmp_path / "pets.nc"
    result = run_any(*options(pets), "--json", "-o", kept)
    assert result.exit_code == 0, result.output
    found = json.loads(result.stdout)
    *rows, mean = found["results"]
    assert [row["class"] for row in rows] == list(CLASSES)
    assert mean["case"] == "mean over classes"
    expected = bc.marginal(bc.load(kept))
    assert mean["ece_mean"] == pytest.approx(expected.mean)
    assert (mean["ece_lower"], mean["ece_upper"]) == pytest.approx(expected[1:3])
    assert mean["ece_point"] == pytest.approx(np.mean([r["ece_point"] for r in rows]))
    assert mean["tce_mean"] == pytest.approx(np.mean([r["tce_mean"] for r in rows]))
