"""``bayescal calibrate``, ``cite`` and ``demo``."""

import csv
import json
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner
from pyarrow import parquet

import bayescal as bc
from bayescal.cli import extras
from bayescal.cli.extras import held_out_scores
from bayescal.cli.main import cli, main
from bayescal.quantities import quantities
from tests.several import result_of


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    folder = tmp_path_factory.mktemp("calibrate")
    truth = bc.datasets.temperature.truth("heterogeneous")
    logits = truth.logits(300, seed=1)
    label = np.log(truth.probability(logits)) + np.random.default_rng(0).gumbel(size=logits.shape)
    head = [f"z_{k}" for k in range(10)]
    lines = [",".join([*head, "y"])]
    lines += [
        ",".join([*(f"{z:.17g}" for z in row), str(y)])
        for row, y in zip(logits, label.argmax(axis=1), strict=True)
    ]
    (folder / "rows.csv").write_text("\n".join(lines))
    code = main(
        [
            "temperature",
            str(folder / "rows.csv"),
            *("--label", "y", "--multiclass", "--score", "z_*", "--from-logits", "--quick"),
            *("--draws", "200", "-o", str(folder / "r.nc")),
        ]
    )
    assert code == 0
    return folder, logits


def test_columns_of_several_classifiers_need_the_name_of_one(files, tmp_path, capsys):
    folder, _ = files
    bc.save(result_of("temperature"), tmp_path / "several.nc")
    given = [str(tmp_path / "several.nc"), str(folder / "rows.csv"), "--score", "z_*"]
    assert main(["calibrate", *given, "-o", str(tmp_path / "p.csv")]) == 2
    assert "--classifier must be one of the result's; got none." in capsys.readouterr().err


def test_estimates_have_a_line_a_class(files, capsys):
    folder, _ = files
    given = ["--label", "y", "--multiclass", "--score", "z_*", "--from-logits"]
    assert main(["temperature", str(folder / "rows.csv"), *given, "--estimate-only", "--json"]) == 0
    assert capsys.readouterr().out.count('"alpha"') == 10


def test_probabilities_are_written_as_parquet_too(files, tmp_path):
    folder, _ = files
    expected = calibrated(folder, tmp_path / "a.csv", folder / "rows.csv", "--score", "z_*")
    out = tmp_path / "a.parquet"
    given = ["calibrate", str(folder / "r.nc"), str(folder / "rows.csv"), "--score", "z_*"]
    assert main([*given, "-o", str(out)]) == 0
    found = parquet.read_table(out)
    assert found.column_names == [f"p_{k}" for k in range(10)]
    np.testing.assert_array_equal(np.column_stack(found.columns), expected)
    assert sorted(tmp_path.iterdir()) == [tmp_path / "a.csv", out]


def test_other_results_and_endings_are_refused(files, tmp_path, capsys):
    folder, _ = files
    rows = str(folder / "rows.csv")
    assert main(["calibrate", str(folder / "r.nc"), rows, "--score", "z_*", "-o", "p.html"]) == 2
    assert "must end in .csv or .parquet" in capsys.readouterr().err
    words = tmp_path / "words.csv"
    words.write_text(
        "\n".join(",".join(row) for row in ([f"z_{k}" for k in range(10)], ["high"] * 10))
    )
    given = [str(words), "--score", "z_*", "-o", str(tmp_path / "p.csv")]
    assert main(["calibrate", str(folder / "r.nc"), *given]) == 2
    assert "column 'z_0' of words.csv must be numbers; got 'high'" in capsys.readouterr().err
    scores = bc.datasets.ece.truth("over").scores(500, seed=1)
    other = bc.fit(bc.ece, scores, method="direct", seed=1, draws=150)
    bc.save(other, tmp_path / "e.nc")
    given = [str(tmp_path / "e.nc"), rows, "--score", "z_*", "-o", str(tmp_path / "p.csv")]
    assert main(["calibrate", *given]) == 2
    assert "a result of ece calibrates no rows" in capsys.readouterr().err


def test_whole_weights_are_repeated_rows(files, tmp_path, capsys):
    head, *lines = (files[0] / "rows.csv").read_text().splitlines()
    times = [k % 3 for k in range(len(lines))]
    (tmp_path / "w.csv").write_text(
        "\n".join([f"{head},w", *(f"{line},{t}" for line, t in zip(lines, times, strict=True))])
    )
    repeated = [line for line, t in zip(lines, times, strict=True) for _ in range(t)]
    (tmp_path / "r.csv").write_text("\n".join([head, *repeated]))
    given = ("--label", "y", "--multiclass", "--score", "z_*", "--from-logits", "--estimate-only")
    found = []
    for name, more in (("w.csv", ("--weight", "w")), ("r.csv", ())):
        assert main(["temperature", str(tmp_path / name), *given, "--json", *more]) == 0
        rows = json.loads(capsys.readouterr().out)["results"]
        found.append([[row[key] for key in ("alpha", "ece", "ece_uncalibrated")] for row in rows])
    np.testing.assert_allclose(*found, rtol=1e-7)


def calibrated(folder, out, *given):
    """Probabilities of a call, (obs, class)."""
    assert main(["calibrate", str(folder / "r.nc"), *map(str, given), "-o", str(out)]) == 0
    with out.open() as file:
        return np.array([[float(row[f"p_{k}"]) for k in range(10)] for row in csv.DictReader(file)])


def test_columns_are_matched_by_the_names_of_the_classes(files, tmp_path, capsys):
    folder, logits = files
    expected = calibrated(folder, tmp_path / "a.csv", folder / "rows.csv", "--score", "z_*")
    np.testing.assert_allclose(
        expected, bc.temperature.calibrate(bc.load(folder / "r.nc"), logits), rtol=1e-12
    )
    for name in ("z_{}", "{}", "other_{}"):
        head = ",".join(name.format(k) for k in range(9, -1, -1))
        lines = [",".join(f"{z:.17g}" for z in row[::-1]) for row in logits]
        (tmp_path / "reversed.csv").write_text("\n".join([head, *lines]))
        given = ["--score", "z_*"] if name == "z_{}" else []
        given = given or [f"--score={name.format(k)}" for k in range(10)]
        if name == "other_{}":
            call = ["calibrate", str(folder / "r.nc"), str(tmp_path / "reversed.csv"), *given]
            assert main([*call, "-o", str(tmp_path / "b.csv")]) == 2
            assert "must name a column for each class of the result, '0', '1'" in (
                capsys.readouterr().err
            )
        else:
            found = calibrated(folder, tmp_path / "b.csv", tmp_path / "reversed.csv", *given)
            np.testing.assert_array_equal(found, expected)


def test_the_scale_is_that_of_the_fit(files, tmp_path, capsys):
    folder, _ = files
    prob = bc.datasets.temperature.truth("binary").scores(100, seed=1)
    fitted = bc.fit(
        bc.temperature,
        bc.Scores(y_true=prob.y_true, y_prob=prob.y_prob[0]),
        method="direct",
        seed=1,
        draws=200,
    )
    bc.save(fitted, tmp_path / "r.nc")
    (tmp_path / "p.csv").write_text("\n".join(["p", *map(str, prob.y_prob[0])]))
    given = ["calibrate", str(tmp_path / "r.nc"), str(tmp_path / "p.csv"), "--score", "p"]
    assert main([*given, "-o", str(tmp_path / "o.csv")]) == 0
    assert main([*given, "--from-logits", "-o", str(tmp_path / "o.csv")]) == 2
    assert "r.nc was fitted to probabilities, and --from-logits says" in capsys.readouterr().err
    # A single column is that of the positive class, 1.
    for value, said in (
        ("nan", "column 'p' of p.csv must not be missing; got NaN at row 1"),
        ("1.5", "column 'p' of p.csv must lie in [0, 1]; got 1.5 at row 1."),
    ):
        (tmp_path / "p.csv").write_text(f"p\n.5\n{value}")
        assert main([*given, "-o", str(tmp_path / "o.csv")]) == 2
        assert said in capsys.readouterr().err
    (tmp_path / "p.csv").write_text("p\n.5")
    assert main([*given, "--classifier", "b", "-o", str(tmp_path / "o.csv")]) == 2
    assert "--classifier must be one in the result; got 'b'" in capsys.readouterr().err
    (tmp_path / "p.csv").write_text("p_0\n.5")
    assert main([*given[:3], "--score", "p_*", "-o", str(tmp_path / "o.csv")]) == 2
    assert "--score must name a column for each class" in capsys.readouterr().err
    # Logits of a result of logits need no option.
    rows = str(folder / "rows.csv")
    both = [
        calibrated(folder, tmp_path / "a.csv", rows, "--score", "z_*", *more)
        for more in ((), ("--from-logits",))
    ]
    np.testing.assert_array_equal(*both)


def test_a_result_that_has_not_converged_is_announced(files, tmp_path, capsys):
    folder, _ = files
    result = bc.load(folder / "r.nc")
    result.attrs |= {"converged": "false", "status": "R-hat 1.3. Sample longer."}
    bc.save(result, tmp_path / "r.nc")
    given = [str(tmp_path / "r.nc"), str(folder / "rows.csv"), "--score", "z_*"]
    assert main(["calibrate", *given, "-o", str(tmp_path / "o.csv")]) == 3
    assert "NOT CONVERGED, do not use these numbers: R-hat 1.3" in capsys.readouterr().err
    assert (tmp_path / "o.csv").exists()


def test_every_quantity_and_every_paper() -> None:
    out = CliRunner().invoke(cli, ["cite"]).stdout
    for name, quantity in quantities().items():
        assert f"{name}: {quantity.TITLE}" in out
        for reference in quantity.REFERENCES:
            assert reference.citation in out
            assert reference.where in out


def test_an_unknown_quantity_is_refused() -> None:
    result = CliRunner().invoke(cli, ["cite", "auc"])
    assert result.exit_code == 2
    assert f"QUANTITY must be one of {', '.join(sorted(quantities()))}; got 'auc'" in result.stderr


def test_a_command_name_is_a_name_too() -> None:
    assert CliRunner().invoke(cli, ["cite", "pu-ece"]).stdout.startswith("pu_ece: ")


@pytest.fixture(scope="module")
def held_out() -> bc.Scores:
    return held_out_scores()


def test_four_classifiers_judged_on_rows_they_have_not_seen(held_out: bc.Scores) -> None:
    assert held_out.n_classifiers == 4
    assert held_out.n_labeled == 899


def test_the_most_accurate_is_not_the_best_calibrated(held_out: bc.Scores) -> None:
    wrong = ((held_out.y_prob > 0.5) != held_out.y_true).mean(axis=1)
    error = bc.ece.estimate(held_out).ece
    best, calibrated = held_out.classifiers[wrong.argmin()], held_out.classifiers[error.argmin()]
    assert best == "random forest"
    assert calibrated == "boosted trees"
    assert error[held_out.classifiers.index("random forest")] > 5 * error.min()
    assert error.max() > 0.3


@pytest.mark.mcmc
def test_it_trains_the_same_again_and_prints_a_table_and_where_the_report_is(
    tmp_path: Path, held_out: bc.Scores, monkeypatch: pytest.MonkeyPatch
) -> None:
    trained: list[bc.Scores] = []
    monkeypatch.setattr(
        extras, "held_out_scores", lambda: trained.append(held_out_scores()) or trained[0]
    )
    result = CliRunner().invoke(cli, ["demo", "-o", str(tmp_path / "demo.html")])
    assert result.exit_code == 0, result.output
    np.testing.assert_array_equal(trained[0].y_prob, held_out.y_prob)
    for name in held_out.classifiers:
        assert name in result.stdout
        assert name in (tmp_path / "demo.html").read_text(encoding="utf-8")
    assert f"Written: {tmp_path / 'demo.html'}" in result.stdout
    assert list(tmp_path.iterdir()) == [tmp_path / "demo.html"]


def test_a_place_that_cannot_be_written_is_found_before_training(tmp_path: Path) -> None:
    result = CliRunner().invoke(cli, ["demo", "-o", str(tmp_path / "no" / "demo.html")])
    assert result.exit_code == 1
    assert result.stdout == ""
