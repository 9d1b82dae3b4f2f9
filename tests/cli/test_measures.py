"""``--measure`` of every command whose result holds a curve, and ``bayescal measures``."""

import json
from pathlib import Path

import numpy as np
import pytest

import bayescal as bc
from tests.cli.commands import ran

QUICK = ("--label", "y", "--score", "honest", "--quick", "--draws", "250")
ASKED = ("--measure", "e90", "--measure", "net_benefit:.25")


def test_the_list_has_every_measure_and_its_options() -> None:
    code, printed, _ = ran("measures")
    assert code == 0
    for name, one in bc.measures.measures().items():
        assert f"\n{':'.join([name, *one.options[:1]])}".casefold() in f"\n{printed}".casefold()
    assert max(map(len, printed.splitlines())) <= 80


@pytest.mark.slow
def test_table_json_file_and_report_have_them(files: Path, tmp_path: Path) -> None:
    result, page = tmp_path / "a.nc", tmp_path / "a.html"
    given = ("ece", files / "scores.csv", *QUICK, *ASKED)
    code, printed, _ = ran(*given, "-o", result, "-o", page)
    assert code == 0
    assert "net_benefit:0.25" in printed
    _, printed, _ = ran(*given, "--json")
    (row,) = json.loads(printed)["results"]
    mean = float(bc.measure(bc.load(result), "e90").mean())
    assert row["e90_mean"] == pytest.approx(mean)
    assert {"net_benefit:0.25_point", "net_benefit:0.25_upper"} <= set(row)
    assert "Further measures" in page.read_text()
    other = tmp_path / "b.html"
    assert ran("report", result, "-o", other, "--measure", "slope")[0] == 0
    assert other.read_text().count("Calibration slope") == 1
    assert "Net benefit at 0.25" in other.read_text()


def test_measures_of_rows_and_of_metrics(files: Path) -> None:
    table = files / "scores.csv"
    for command in (("credal", table, table), ("agnostic", table)):
        code, printed, _ = ran(*command, *QUICK, *ASKED)
        assert code == 0
        assert "e90" in printed


@pytest.mark.parametrize(
    ("spec", "message"),
    [
        ("e99", "bayescal has no measure 'e99'; did you mean 'e90'"),
        ("net_benefit:2", "--measure net_benefit:2: threshold must be a number in (0, 1); got 2.0"),
        ("net_benefit", "net_benefit needs a threshold"),
    ],
)
def test_a_wrong_name_is_refused_before_a_file_is_read(
    spec: str, message: str, tmp_path: Path
) -> None:
    (path := tmp_path / "empty.csv").touch()
    code, _, said = ran("ece", path, *QUICK, "--measure", spec)
    assert code == 2
    assert message in said


def test_where_there_is_no_curve_the_commands_that_have_one_are_named(files: Path) -> None:
    code, _, said = ran("temperature", files / "scores.csv", *QUICK, "--measure", "e90")
    assert (code, "agnostic, credal, ece or pu-ece" in said) == (2, True)
    assert "--measure" not in ran("temperature", "--help")[1]


def test_one_without_a_value_leaves_the_others(tmp_path: Path) -> None:
    path, score = tmp_path / "a.csv", np.tile([0.0, 0.3, 0.6], 60)
    rows = [f"{int(k % 4 == 0)},{p}" for k, p in enumerate(score)]
    path.write_text("\n".join(["y,honest", *rows]))
    code, printed, said = ran("ece", path, *QUICK, "--measure", "log_loss", "--measure", "oe")
    assert code == 1
    assert "--measure log_loss is left out" in said
    assert "oe" in printed


@pytest.mark.filterwarnings("always:auc has no value")
def test_a_group_without_a_value_is_named_beside_those_that_have_one(tmp_path: Path) -> None:
    path = tmp_path / "rows.csv"
    rows = [
        f"{int(k % 5 < 5 * s and g == 'a')},{s},{g}"
        for k in range(40)
        for s in (0.3, 0.7)
        for g in "ab"
    ]
    path.write_text("\n".join(["y,honest,g", *rows]))
    given = ("ece", path, *QUICK, "--draws", 250, "--group", "g", "--measure", "auc", "--json")
    code, printed, said = ran(*given)
    assert code == 0
    first, second = json.loads(printed)["results"]
    # Of 80 rows 16 + 32 have the event: pairs in order or tied, by hand.
    assert first["auc_point"] == pytest.approx((32 * 24 + (16 * 24 + 32 * 8) / 2) / (48 * 32))
    assert second["auc_mean"] is None
    assert "auc has no value for honest, group b, the others have one" in said
